"""The interpreter of layers that run at once, on eager tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ground import state
from ..ground.aliases import Alias
from ..ground.dtypes import as_dtype
from ..opdef.definition import Op
from ..opdef.interpreter import Interpreter
from .engine import located
from .recording import EagerCall, TensorRecord, eager


class EagerLayer(Interpreter):
    """The interpreter that a layer gets where its arguments are tensors: operators run at once.

    It makes no parameters: those of a layer that runs at once are given to it, as its
    ``param_attr`` and ``bias_attr``.

    Args:
        kind: the class of the tensors that are made.
        layer_type: what the layer is called.
        name: the layer's name, where the user gave one.
    """

    def __init__(self, kind: type[TensorRecord], layer_type: str, name: str | None) -> None:
        self.kind = kind
        self.layer_type = layer_type
        self.given_name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        call = getattr(eager, name)
        if call.definition.execute is not None:
            self.refuse(f"has an operator, {name}, that drives a program")
        return _Call(call, self.kind)

    @property
    def name(self) -> str:
        """The layer's name: nothing is counted where nothing is named after it."""
        return self.layer_type if self.given_name is None else self.given_name

    @property
    def stem(self) -> str:
        """What messages call the layer's result."""
        return f"{self.name}.tmp"

    @property
    def block(self) -> NoBlock:
        """What stands in place of a block."""
        return NoBlock(self)

    @property
    def startup(self) -> Any:
        """The startup program: there is none."""
        return self.refuse("changes the programs that it is called in")

    @property
    def random_seed(self) -> int:
        """The seed of operators that have none of their own; 0 for other numbers every time."""
        return 0

    @property
    def is_tested(self) -> bool:
        """Whether the ``dygraph.Layer`` that is running was told so by its ``eval()``."""
        return not state.training.get()

    # -- operators ---------------------------------------------------------------------------------

    def apply(self, op: Op, ins: Mapping[str, Any], want: Any = None) -> dict[str, Any]:
        """Run an operator; the outputs by slot."""
        return _as_tensors(self.kind, eager.apply(op, ins, want))

    def into(self, type: str, ins: dict[str, Any], outs: dict[str, Any], **attrs: Any) -> None:
        """Run an operator that writes to tensors which are there already."""
        written = [t for targets in outs.values() for t in _listed(targets)]
        given = {slot: _read(value, written) for slot, value in ins.items() if value is not None}
        found = getattr(self, type).all(**given, **attrs)
        for slot, targets in outs.items():
            for target, value in zip(_listed(targets), _listed(found[slot])):
                if value is not None:
                    self._write(target, value)

    def _write(self, target: Any, value: Any) -> None:
        """Give a tensor the value of another one."""
        if target.__dict__.pop(_BLANK, False):
            type(target).__init__(target, value.array, value.origin, target.stop or value.stop)
        elif target.persistable and target.stop:  # a running mean, say: no part of the graph
            target.replace(value.array, counts=True)
        else:
            target._overwrite(value)

    def result(self, given: Any = None, dtype: Any = None) -> Any:
        """The tensor to write to: the one that the user gave, or a blank one.

        Args:
            given: what the user gave.
            dtype: of a blank one.

        Raises:
            ArgumentError: the user gave something else.
        """
        if given is None:
            return self.new_variable(dtype)
        if not isinstance(given, TensorRecord):
            raise located(
                ArgumentError,
                f"expected a tensor to write the result of {self.layer_type} to, got {given!r:.60}",
            )
        return given

    def new_variable(self, dtype: Any = None, stop_gradient: bool = False) -> Any:
        """A blank tensor, for a result."""
        made = blank(self.kind, dtype)
        made.stop = stop_gradient
        return made

    def named_result(self) -> Any:
        """A blank tensor."""
        return self.new_variable()

    def activation(self, x: Any, act: Op | None) -> Any:
        """``x``, or its activation.

        Args:
            x: what to activate.
            act: an operator of one input and one output, or nothing.
        """
        if act is None:
            return x
        return self.apply(act, {act.inputs[0].name: x})[act.outputs[0].name]

    # -- parameters --------------------------------------------------------------------------------

    def weight(self, attr: Any, shape: Any, *of_programs: Any, stop_gradient: bool = False) -> Any:
        """The weight that the layer was given; None for False.

        Args:
            attr: the weight.
            shape: the shape that it should have.
            of_programs, stop_gradient: of the one that is made in a program; without meaning here.
        """
        return self.parameter(attr, shape)

    def fixed(self, array: Any) -> Any:
        """A weight that stays as it is: not here."""
        return self.parameter(None, array.shape)

    def bias(self, x: Any, attr: Any, shape: Any, axis: int = 1) -> Any:
        """``x`` plus the bias that the layer was given, aligned with the dimensions from ``axis``.

        Args:
            x: what to add to.
            attr: the bias; False for none.
            shape: the shape that it should have.
            axis: where it is aligned.
        """
        bias = self.parameter(attr, shape)
        return x if bias is None else eager.elementwise_add(x, bias, axis=axis)

    def bias_parameter(self, attr: Any, shape: Any, dtype: Any) -> Any:
        """The bias that the layer was given; None for False.

        Args:
            attr: the bias.
            shape: the shape that it should have.
            dtype: of the one that is made in a program; without meaning here.
        """
        return self.parameter(attr, shape)

    def parameter(
        self, attr: Any, shape: Any, *of_programs: Any, stop_gradient: bool = False
    ) -> Any:
        """The parameter that the layer was given; None for False.

        Args:
            attr: the parameter.
            shape: the shape that it should have.
            of_programs, stop_gradient: of the one that is made in a program.

        Raises:
            ArgumentError: the layer was given none.
            ShapeError: it has another shape.
        """
        if attr is False:
            return None
        if not isinstance(attr, TensorRecord):
            self.refuse(
                "would make new parameters at every call; make them once, in one of the classes "
                "of fluid.dygraph (Linear, Conv2D, Embedding, ...), and call that"
            )
        if tuple(attr.array.shape) != tuple(int(n) for n in shape):
            raise located(
                ShapeError,
                f"{self.layer_type}: expected a parameter of shape {list(shape)}, got one of "
                f"shape {list(attr.array.shape)}",
            )
        return attr

    def own_parameter(self, *arguments: Any) -> Any:
        """A new parameter: not here."""
        self.refuse("makes a parameter of a program or of fluid.dygraph; call it within guard()")

    def persistable(self, *arguments: Any) -> Any:
        """A variable that stays between runs: not here."""
        self.refuse("keeps a variable between the runs of a program")

    def global_variable(self, *arguments: Any) -> Any:
        """A variable of block 0: not here."""
        return self.persistable()

    def refuse(self, why: str) -> NoReturn:
        """Say that the layer does not run at once.

        Raises:
            ArgumentError: always.
        """
        raise located(ArgumentError, f"{self.layer_type} cannot run on tensors: it {why}")


_BLANK = "has_no_value"  # an attribute of such tensors


def blank(kind: type[TensorRecord], dtype: Any = None) -> Any:
    """A tensor that takes the first value that a layer writes to it, of any shape.

    Args:
        kind: its class.
        dtype: element type; float32 when None.
    """
    made = kind(np.zeros(0, np.float32 if dtype is None else as_dtype(dtype).dtype), None, False)
    setattr(made, _BLANK, True)
    return made


class NoBlock:
    """Stands in place of the block that a layer appends to.

    Args:
        layer: whose block it would be.
    """

    def __init__(self, layer: EagerLayer) -> None:
        self._layer = layer

    random_seed: Alias[int] = Alias("_layer.random_seed", "The seed of the program.")

    @property
    def program(self) -> NoBlock:
        """The program that it would belong to."""
        return self

    def has_var(self, name: str) -> bool:
        """False: there are no names to be taken."""
        return False

    def create_var(self, dtype: Any = None, **more: Any) -> Any:
        """A blank tensor, that may be written later, too."""
        return self._layer.new_variable(dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._layer.refuse("changes the program that it is called in")


class _Call:
    """An operator type on eager tensors, whose results are tensors in any case."""

    __slots__ = ("_call", "_kind")

    def __init__(self, call: EagerCall, kind: type[TensorRecord]) -> None:
        self._call = call
        self._kind = kind

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        out = self._call(*inputs, **self._without_empty(named))
        if isinstance(out, tuple):
            return tuple(_as_tensor(self._kind, each) for each in out)
        return _as_tensor(self._kind, out)

    def all(self, *inputs: Any, **named: Any) -> dict[str, Any]:
        """All outputs by slot."""
        outs = self._call.all(*inputs, **self._without_empty(named))
        return _as_tensors(self._kind, outs)

    def _without_empty(self, named: dict[str, Any]) -> dict[str, Any]:
        """Inputs and attributes without lists of no inputs."""
        slots = self._call.definition.input_slots
        return {k: v for k, v in named.items() if k not in slots or _is_given(v)}


def _as_tensor(kind: type[TensorRecord], value: Any) -> Any:
    if value is None or isinstance(value, TensorRecord):
        return value
    if isinstance(value, list):
        return [_as_tensor(kind, each) for each in value]
    return kind(value)


def _as_tensors(kind: type[TensorRecord], outs: Mapping[str, Any]) -> dict[str, Any]:
    return {slot: _as_tensor(kind, value) for slot, value in outs.items()}


def _is_given(value: Any) -> bool:
    return not isinstance(value, (list, tuple)) or len(value) > 0


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


def _read(value: Any, written: list[Any]) -> Any:
    """An input; another handle of it where it is written to, so that the old value is kept."""
    if isinstance(value, (list, tuple)):
        return [_read(each, written) for each in value]
    return value.alias() if any(value is each for each in written) else value
