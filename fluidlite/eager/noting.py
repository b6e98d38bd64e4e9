"""Operators noted on values without elements, in place of running them, and their gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..ground.shaped import Shaped
from ..opdef.arithmetic import WITH_NUMBER, is_rounded
from ..opdef.definition import Op, lookup
from ..opdef.gradient import is_constant
from ..opdef.operand import Operand
from ..opdef.spec import Spec
from .specialization import Specialization
from .straight_line import AbstractValue, NotStraight, ShapeDtype, StraightLine


class _Shape(tuple[int, ...]):
    """A shape that is no key of anything that is kept for a shape of an array."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("abstract", *self))

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) if isinstance(other, tuple) else False


class _Array(Shaped):
    """What functions see of the array of a value without elements."""

    __slots__ = ("_spec",)

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    @property
    def shape(self) -> _Shape:
        """The sizes."""
        return _Shape(self._spec.shape)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._spec.dtype.dtype


class Standing(Operand):
    """Stands in place of a tensor.

    Args:
        value: on the line.
        like: the tensor, or one of its kind.
        stop: whether no gradient flows through it.
    """

    __slots__ = ("_line", "like", "stop", "value")
    origin = None

    def __init__(self, line: Noted, value: AbstractValue, like: Any, stop: bool) -> None:
        self._line = line
        self.value = value
        self.like = like
        self.stop = stop

    @property
    def array(self) -> _Array:
        """Its shape and type."""
        return _Array(self.value.spec)

    @property
    def shape(self) -> list[int]:
        """The sizes."""
        return list(self.value.spec.shape)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.value.spec.dtype

    @property
    def promotion(self) -> Any:
        """As that of the tensor."""
        return self.like.promotion

    @property
    def appends(self) -> Callable[[Op, Mapping[str, Any]], dict[str, Any]]:
        """Notes operators."""
        return functools.partial(self._line.noted, self.like)


class _Step(NamedTuple):
    """An operator that was applied."""

    op: Op
    ins: dict[str, Any]
    outs: dict[str, Any]


class Noted(StraightLine):
    """Remembers operators for their gradients, too."""

    is_differentiated = True

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[_Step] = []
        self.flowing: set[int] = set()  #: by identity: values that depend on what wants a gradient

    def noted(self, like: Any, op: Op, ins: Mapping[str, Any]) -> dict[str, Any]:
        """Apply an operator to standing tensors and arrays."""
        outs = self.apply(
            op, {s: v.value if isinstance(v, Standing) else v for s, v in ins.items()}
        )
        return {
            slot: None if v is None else Standing(self, v, like, id(v) not in self.flowing)
            for slot, v in outs.items()
        }

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        outs = super().apply(op, ins, want)
        self._note(op, dict(ins), outs)
        return outs

    def combine(
        self, method: str, kind: str | None, x: AbstractValue, other: Any, reflected: bool
    ) -> AbstractValue:
        result = super().combine(method, kind, x, other, reflected)
        if kind is not None and isinstance(other, AbstractValue):
            ins = dict(zip("XY", (other, x) if reflected else (x, other)))
            self._note(lookup(kind)(), ins, {"Out": result})
            return result
        if kind is not None and is_constant(lookup(kind)):  # as a comparison with a number
            self._note(lookup(kind)(), {}, {"Out": result})
            return result
        name = f"__r{method[2:]}" if reflected else method
        if kind is not None and (name not in WITH_NUMBER or is_rounded(name, other)):
            raise NotStraight(f"{name} with {other!r:.60}")
        means = {"scale": -1.0} if kind is None else WITH_NUMBER[name](other)
        self._note(lookup("scale")(means), {"X": x}, {"Out": result})
        return result

    def prepared(self, op: Op, ins: Any, specs: Any) -> None:
        """None: kernels of gradients have no gradients of their own."""

    def _note(self, op: Op, ins: dict[str, Any], outs: dict[str, Any]) -> None:
        if any(isinstance(v, (list, tuple)) for v in (*ins.values(), *outs.values())):
            raise NotStraight("a list of values")
        self.steps.append(_Step(op, ins, outs))
        if not is_constant(type(op)) and not self.flowing.isdisjoint(map(id, ins.values())):
            self.flowing.update(id(v) for v in outs.values() if v is not None)


def swept_back(
    line: Noted, back: StraightLine, mirrors: dict[int, Any], flows: dict[int, Any]
) -> dict[int, Any]:
    """Cotangents of values by identity.

    Args:
        line: the operators.
        back: takes those of their gradients; may be the same line.
        mirrors: gets the values that stand there for those of the line, by identity.
        flows: the first cotangents.
    """

    def mirrored(value: Any) -> Any:
        if not isinstance(value, AbstractValue) or back is line:
            return value
        if id(value) not in mirrors:
            mirrors[id(value)] = back.value(value.spec, value.name)
        return mirrors[id(value)]

    for op, ins, outs in reversed(line.steps):
        came = {slot: flows[id(v)] for slot, v in outs.items() if id(v) in flows}
        operands = [ins.get(slot) for slot in op.input_slots]
        mask = sum([1 << k for k, v in enumerate(operands) if id(v) in line.flowing])
        if not came or not mask:
            continue
        plan = Specialization(op, list(map(_form, operands)), _forms(outs), None)
        if not plan.flows:
            continue
        pairs = plan.pullback(mask).on_line(
            back,
            {slot: mirrored(v) for slot, v in ins.items()},
            {slot: mirrored(v) for slot, v in outs.items()},
            came,
        )
        for place, flow in pairs:
            if flow is not None:
                old = flows.get(id(operands[place]))
                flows[id(operands[place])] = (
                    flow
                    if old is None
                    else back.combine("__add__", "elementwise_add", old, flow, False)
                )
    return flows


def _form(value: Any) -> Any:
    """The form of a value of a line, or of an array."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        raise NotStraight("a list of values")
    return ShapeDtype(tuple(value.shape), np.dtype(getattr(value.dtype, "dtype", value.dtype)))


def _forms(outs: Mapping[str, Any]) -> dict[str, Any]:
    return {slot: _form(value) for slot, value in outs.items()}
