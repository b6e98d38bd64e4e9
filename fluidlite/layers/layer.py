"""The form of a layer: a function of an interpreter.

    @layer
    def softmax(f, input, use_cudnn=False, name=None, axis=-1):
        \"""Softmax of ``input`` along ``axis``.\"""
        return f.softmax(input, axis=axis)

``@layer`` supplies the interpreter, which names the layer and its results, applies ``act`` where
the layer has one, and undoes what was built when the layer fails.  The visible signature is the
written one without ``f``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from .. import unique_name
from ..errors import ArgumentError, UnknownOperatorError
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.program import default_main_program, default_startup_program
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .params import Parameters

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V", bound="Variable | tuple[Variable, ...] | list[Variable]")


class LayerBuilder(Builder, Parameters):
    """The interpreter that a layer gets: appends to the current block; results are
    ``<layer>_<n>.tmp_<k>``.

    Args:
        layer_type: the stem of the layer's name.
        name: the layer's name, where the user gave one.
    """

    def __init__(self, layer_type: str, name: str | None) -> None:
        super().__init__(default_main_program().current_block(), "")
        self.startup = default_startup_program()
        self.layer_type = layer_type
        self._name = name

    @property
    def name(self) -> str:
        """The layer's name, generated when it is first needed."""
        if self._name is None:
            self._name = unique_name.generate(self.layer_type)
        return self._name

    @property
    def stem(self) -> str:
        """What results are called after."""
        return f"{self.name}.tmp"

    @stem.setter
    def stem(self, value: str) -> None:
        """Results are named after the layer only."""

    def into(self, type: str, ins: dict[str, Any], outs: dict[str, Any], **attrs: Any) -> None:
        """Append an operator that writes variables which are there already, or made in another
        order than its slots.
        """
        self.append(lookup(type)(attrs), ins, outs)

    def result(self, given: Variable | None = None, dtype: Any = None) -> Variable:
        """The variable to write to: the one that the user gave, or a new one.

        Args:
            given: what the user gave.
            dtype: of a new one; inferred when None.

        Raises:
            ArgumentError: the user gave something else.
        """
        stem = self.stem  # generated in any case: so are the names of fluid's layers counted
        if given is None:
            return self.new_variable(dtype)
        if not isinstance(given, Variable):
            raise ArgumentError(
                f"expected a variable to write the result of {stem} to, got {given!r:.60}"
            )
        return given

    def activation(self, x: Variable, act: str | dict[str, Any] | None) -> Variable:
        """``x``, or its activation.

        Args:
            x: what to activate.
            act: the type of an operator of one input, or a dictionary with its ``type`` and
                attributes.

        Raises:
            ArgumentError: there is no such activation.
        """
        if act is None:
            return x
        attrs = dict(act) if isinstance(act, dict) else {"type": act}
        kind = attrs.pop("type", None)
        if not isinstance(kind, str):
            raise ArgumentError(f"expected act to be the name of an activation, got {act!r:.60}")
        try:
            op = lookup(kind)(attrs)
        except UnknownOperatorError as error:
            raise ArgumentError(f"act={kind!r} is no activation: {error}") from None
        outs = self.apply(op, {op.inputs[0].name: x})
        found: Variable = outs[op.outputs[0].name]
        return found


Written = Callable[Concatenate[LayerBuilder, P], R]


@overload
def layer(function: Written[P, R]) -> Callable[P, R]: ...
@overload
def layer(
    function: str | None = None, *, act: bool = False
) -> Callable[[Written[P, R]], Callable[P, R]]: ...
def layer(function: Any = None, *, act: bool = False) -> Any:
    """Make a layer of a function whose first parameter is the interpreter.

    Args:
        function: the function, or the stem of the layer's name where that is not the function's.
        act: whether the function's parameter ``act`` is applied to what it returns.
    """
    if callable(function):
        return _layer(function, None, act)
    return lambda f: _layer(f, function, act)


def _layer(function: Callable[..., Any], stem: str | None, act: bool) -> Callable[..., Any]:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    positions = {p.name: i for i, p in enumerate(parameters)}
    layer_type = stem or function.__name__

    def given(what: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if what in kwargs:
            return kwargs[what]
        at = positions.get(what)
        return args[at] if at is not None and at < len(args) else None

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        name = given("name", args, kwargs)
        if name is not None and not isinstance(name, str):
            raise ArgumentError(
                f"{function.__name__}: expected name to be a text, got {name!r:.60}"
            )
        f = LayerBuilder(layer_type, name)
        undo = Undo(f.block, f.startup.global_block())
        try:
            out = function(f, *args, **kwargs)
            return f.activation(out, given("act", args, kwargs)) if act else out
        except BaseException:
            undo()
            raise

    wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapped


class Undo:
    """Takes what was added to blocks since it was made out of them again."""

    def __init__(self, *blocks: Block) -> None:
        owners = {id(b): b for block in blocks for b in (block, block.program.global_block())}
        self._marks = [
            (b, len(b.vars), len(b.ops), b.ops[0] if b.ops else None) for b in owners.values()
        ]

    def __call__(self) -> None:
        """Undo."""
        for block, variables, ops, first in self._marks:
            for name in list(block.vars)[variables:]:
                del block.vars[name]
            front = 0
            while first is not None and block.ops[front] is not first:
                front += 1
            if first is None:
                front = len(block.ops)
            block.ops = block.ops[front : front + ops]
            block.program.touch()


def stopped(variables: V) -> V:
    """A variable, or several, marked so that no gradient flows through."""
    for each in variables if isinstance(variables, (tuple, list)) else [variables]:
        each.stop_gradient = True
    return variables


def variables_of(value: Any, what: str) -> list[Variable]:
    """One variable or a list of them, as a list.

    Raises:
        ArgumentError: something else is among them.
    """
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    for each in listed:
        if not isinstance(each, Variable):
            raise ArgumentError(
                f"expected {what} to be a "
                f"variable{' or a list of them' if len(listed) > 1 else ''}, "
                f"got {each!r:.60} of type {type(each).__name__}"
            )
    return listed
