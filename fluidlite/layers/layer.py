"""The form of a layer: a function of an interpreter.

    @layer
    def softmax(f, input, use_cudnn=False, name=None, axis=-1):
        \"""Softmax of ``input`` along ``axis``.\"""
        return f.softmax(input, axis=axis)

``@layer`` supplies the interpreter, which names the layer and its results, checks arguments that
are annotated as variables, applies ``act`` where the layer has one, and undoes what was built when
the layer fails.  The visible signature is the written one without ``f``; the docstring is completed
by what the layer's family says, and by what all layers do (``LAYERS``).

Called with variables, a layer appends to their program; called with eager tensors, it runs at once;
where there are neither, as for a constant, ``dygraph.guard()`` decides.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast, overload

from .. import unique_name
from ..errors import ArgumentError, FluidError, UnknownOperatorError, with_context
from ..ground import state
from ..ground.callsite import caller
from ..ground.docstrings import Family
from ..ground.tracebacks import cut, is_boundary
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.operator_arguments import attributes_given
from ..ir.program import default_main_program, default_startup_program
from ..ir.variable import Variable
from ..opdef.arithmetic import Arithmetic
from ..opdef.definition import Op, lookup
from .params import Parameters

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ..functions.arguments import DTypeLike
    from ..ir.program import Program

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
V = TypeVar("V", bound="Variable | tuple[Variable, ...] | list[Variable]")

#: arguments that mean the same for every layer
LAYERS = Family(
    {
        "name": "of the layer.",
        "act": "the activation.",
        "out": "the variable to write to; a new one when None.",
        "cond": "the variable to write to; a new one when None.",
        "bias_attr": "of the bias; False for none.",
        "stop_gradient": "whether gradients stop here.",
        "force_cpu": "kept in the operator; there is one place.",
        "use_cudnn": "accepted, without meaning here.",
        "device": "accepted, without meaning here.",
    }
)


class LayerBuilder(Builder, Parameters):
    """The interpreter that a layer gets: appends to the current block; results are
    ``<layer>_<n>.tmp_<k>``.

    Args:
        layer_type: the stem of the layer's name.
        name: the layer's name, where the user gave one.
    """

    def __init__(self, layer_type: str, name: str | None) -> None:
        self.block: Block = default_main_program().current_block()  # the stem follows from the name
        self.startup: Program = default_startup_program()
        self.layer_type = layer_type
        self.given_name = name
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

    def result(self, given: Variable | None = None, dtype: DTypeLike = None) -> Variable:
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

    @property
    def is_tested(self) -> bool:
        """Whether the ``dygraph.Layer`` that is made a program of was set so by its ``eval()``;
        for other programs use ``clone(for_test=True)``.
        """
        return not state.training.get()

    def named_result(self) -> Variable:
        """A new variable called exactly as the user called the layer, as a few of fluid's layers
        do; called like every other result where the user gave no name, or one that is taken.
        """
        name = self.given_name
        if name is None or self.block.has_var(name):
            return self.new_variable()
        return self.block.declare_var(name=name)

    def activation(self, x: Variable, act: Op | None) -> Variable:
        """``x``, or its activation.

        Args:
            x: what to activate.
            act: an operator of one input and one output, or nothing.
        """
        if act is None:
            return x
        outs = self.apply(act, {act.inputs[0].name: x})
        found: Variable = outs[act.outputs[0].name]
        return found


def activation_of(act: str | dict[str, Any] | None) -> Op | None:
    """The operator that a layer's ``act`` means.

    Args:
        act: the type of an operator of one input, or a dictionary with its ``type`` and attributes.

    Raises:
        ArgumentError: there is no such activation.
    """
    if act is None:
        return None
    attrs = dict(act) if isinstance(act, dict) else {"type": act}
    kind = attrs.pop("type", None)
    if not isinstance(kind, str):
        name = getattr(act, "__name__", None)
        raise ArgumentError(
            f"expected act to be the name of an activation, got {act!r:.60}"
            + (f"; write act={name!r}" if isinstance(name, str) else "")
        )
    try:
        definition = lookup(kind)
    except UnknownOperatorError as error:
        raise ArgumentError(f"act={kind!r} is no activation: {error}") from None
    return definition(attributes_given(definition, attrs, caller()))


Written = Callable[Concatenate[LayerBuilder, P], R]


@overload
def layer(function: Written[P, R]) -> Callable[P, R]: ...
@overload
def layer(
    function: str | None = None, *, act: bool = False, family: Family = LAYERS
) -> Callable[[Written[P, R]], Callable[P, R]]: ...
def layer(function: Any = None, *, act: bool = False, family: Family = LAYERS) -> Any:
    """Make a layer of a function whose first parameter is the interpreter.

    Args:
        function: the function, or the stem of the layer's name where that is not the function's.
        act: whether the function's parameter ``act`` is applied to what it returns.
        family: completes the docstring.
    """
    if callable(function):
        return family(_layer(function, None, act))
    return lambda f: family(_layer(f, function, act))


class _Arguments:
    """Finds and checks the arguments of a layer, as its parameters are annotated."""

    __slots__ = ("_positions", "_variables")

    def __init__(self, function: FunctionType) -> None:
        signature = getattr(function, "__signature__", None)
        if signature is None:
            annotations = _annotations(function)
        else:
            annotations = {p.name: p.annotation for p in list(signature.parameters.values())[1:]}
        self._positions = {name: at for at, name in enumerate(annotations)}
        self._variables = [
            (name, at, _OPTIONAL[annotation])
            for at, (name, annotation) in enumerate(annotations.items())
            if annotation in _OPTIONAL
        ]

    def get(self, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The argument of that name; ``_ABSENT`` where it was not given."""
        if what in kwargs:
            return kwargs[what]
        at = self._positions.get(what)
        return args[at] if at is not None and at < len(args) else _ABSENT

    def checked(self, args: tuple[Any, ...], kwargs: dict[str, Any], kind: Any) -> str | None:
        """Refuse what is no variable, or no tensor, where one is expected; the layer's name."""
        count = len(args)
        for what, at, optional in self._variables:
            value = args[at] if at < count else kwargs.get(what, _ABSENT)
            if isinstance(value, Variable):
                if kind is None:
                    continue
            elif kind is not None and isinstance(value, Arithmetic):
                continue
            if value is _ABSENT or (value is None and optional):
                continue
            raise ArgumentError(
                f"expected {what} to be a {'variable' if kind is None else 'tensor'}, got "
                f"{value!r:.60} of type {type(value).__name__}"
            )
        name = self.get("name", args, kwargs)
        if name is _ABSENT or name is None or isinstance(name, str):
            return None if name is _ABSENT else name
        raise ArgumentError(f"expected name to be a text, got {name!r:.60}")


def _layer(function: FunctionType, stem: str | None, act: bool) -> Callable[..., Any]:
    name = function.__name__
    shown = stem if stem and name.startswith("_") else name
    made = functools.wraps(function)(_wrapped(stem or name, shown, act, lambda: function))
    made.__signature__ = LayerSignature(lambda: function)  # type: ignore[attr-defined]
    return made


def deferred_layer(
    name: str, module: str, make: Callable[[], FunctionType], *, stem: str | None, act: bool
) -> Callable[..., Any]:
    """A layer whose function is made when it is first called, or completed.

    Args:
        name, module: of the function.
        make: gives the function, whose first parameter is the interpreter.
        stem: of the layer's name; the function's name when None.
        act: whether the function's parameter ``act`` is applied to what it returns.
    """
    cached = functools.cache(make)
    layer = _wrapped(stem or name, name, act, cached)
    layer.__name__ = layer.__qualname__ = name
    layer.__module__ = module
    layer.__signature__ = LayerSignature(cached)  # type: ignore[attr-defined]
    layer.__deferred__ = cached  # type: ignore[attr-defined]
    return layer


def completed(layer: T) -> T:
    """A layer with its docstring and its annotations, which a deferred one has not at first.

    Args:
        layer: the layer; another value stays what it is.
    """
    if isinstance(layer, FunctionType) and hasattr(layer, "__deferred__"):
        functools.update_wrapper(layer, layer.__dict__.pop("__deferred__")())
    return layer


def _wrapped(
    layer_type: str, shown: str, act: bool, make: Callable[[], FunctionType]
) -> FunctionType:
    """What users call.

    Args:
        layer_type: the stem of the layer's name.
        shown: what messages call it.
        act: whether the function's parameter ``act`` is applied to what it returns.
        make: gives the function, when the layer is first called.
    """
    function: Any = None
    arguments: Any = None

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal function, arguments
        undo = None
        try:
            if arguments is None:
                function = make()
                arguments = _Arguments(function)
            kind = eager_kind(args, kwargs)
            try:
                name = arguments.checked(args, kwargs, kind)
                activation = arguments.get("act", args, kwargs) if act else _ABSENT
                last = None if activation is _ABSENT else activation_of(activation)
                if kind is not None:
                    f = kind.layer(kind, shown, name)
                    with _at_once(kind):
                        out = function(f, *args, **kwargs)
                else:
                    f = LayerBuilder(layer_type, name)
                    undo = Undo(f.block, f.startup.blocks[0])
                    out = function(f, *args, **kwargs)
                return f.activation(out, last) if act else out
            except BaseException as error:
                if undo is not None:
                    undo()
                said = _with_call(error, shown)
                if said is None:
                    raise
                try:
                    raise said.with_traceback(error.__traceback__)
                finally:
                    del said  # this frame is in its traceback
        except Exception as error:
            cut(error)
            raise

    return cast("FunctionType", is_boundary(wrapped))


def _with_call(error: BaseException, shown: str) -> FluidError | None:
    """An error that says where the user called the layer; None where it needs no such line."""
    site = caller()
    if not isinstance(error, FluidError) or site is None or f" at {site}" in str(error):
        return None
    return with_context(error, f"  in {shown}, called at {site}")


def _annotations(function: FunctionType) -> dict[str, Any]:
    """The annotation of each parameter behind the first one, in order; None if there is none."""
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return {name: function.__annotations__.get(name) for name in names}


class LayerSignature(inspect.Signature):
    """The signature of a layer, that of its function less the first parameter: made when somebody
    looks at it, as it would cost every import as much as all layers' files.

    Args:
        function: gives what the layer is made of.
    """

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], FunctionType]) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        """What is there as soon as the signature is made."""
        if name.startswith("__") or name == "_function":
            raise AttributeError(name)
        found = inspect.signature(self._function())
        _, *visible = found.parameters.values()
        super().__init__(visible, return_annotation=found.return_annotation)
        return object.__getattribute__(self, name)

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """A plain signature with other parameters, or another result."""
        own = inspect.Signature(
            list(self.parameters.values()), return_annotation=self.return_annotation
        )
        return own.replace(**changes)


def eager_kind(args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """The class of the tensors that a layer makes where it runs at once; None where it appends.

    Args:
        args, kwargs: what it is called with; the first variable or tensor among them decides, and
            the guard if there is none.
    """
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Variable):
            return None
        if isinstance(value, (list, tuple)):
            value = next((each for each in value if isinstance(each, Arithmetic)), None)
            if isinstance(value, Variable):
                return None
        if isinstance(value, Arithmetic):
            return type(value).results  # type: ignore[attr-defined]
    return state.eager.get() or None


def _at_once(kind: Any) -> AbstractContextManager[Any]:
    """A guard under which layers without variables run at once, too."""
    return nullcontext() if state.eager.get() is kind else state.eager.guard(kind)


#: annotations of parameters that take variables only -> whether None stands for an absent one
_OPTIONAL = {"Variable": False, "Variable | None": True}
_ABSENT: Any = object()


class Undo:
    """Takes what was added to blocks since it was made out of them again."""

    def __init__(self, *blocks: Block) -> None:
        if blocks[0].idx:
            whole = [b if b.idx == 0 else b.program.blocks[0] for b in blocks]
            blocks = tuple(dict.fromkeys((*blocks, *whole)))
        self._marks: list[tuple[Block, int, int, Any]] = []
        for b in blocks:
            ops = b.ops
            self._marks.append((b, len(b.vars), len(ops), ops[0] if ops else None))

    def __call__(self) -> None:
        """Undo."""
        for block, variables, ops, first in self._marks:
            front = len(block.ops)
            if first is not None:
                front = next((k for k, op in enumerate(block.ops) if op is first), -1)
            if front < 0:  # what was there before has been taken out, too
                continue
            block.set_vars(list(block.vars.values())[:variables])
            block.set_ops(block.ops[front : front + ops])


def stopped(variables: V) -> V:
    """A variable, or several, marked so that no gradient flows through."""
    for each in variables if isinstance(variables, (tuple, list)) else [variables]:
        each.stop_gradient = True
    return variables


def is_variable(value: Any) -> TypeIs[Variable]:
    """Whether a value is a variable, or an eager tensor, which layers take in the same places."""
    return isinstance(value, Arithmetic)


def variables_of(value: Any, what: str) -> list[Variable]:
    """One variable or a list of them, as a list; tensors where the layer runs at once.

    Raises:
        ArgumentError: something else is among them.
    """
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    for variable in listed:
        if not is_variable(variable):
            raise ArgumentError(
                f"expected {what} to be a "
                f"variable{' or a list of them' if len(listed) > 1 else ''}, "
                f"got {variable!r:.60} of type {type(variable).__name__}"
            )
    return listed
