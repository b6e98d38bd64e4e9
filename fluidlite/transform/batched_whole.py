"""Rules of batching of operators that work on the whole batch at once, and of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..ir.variable import Variable
from ..opdef.definition import Op, lookup
from ..opdef.gradient import DerivedGrad
from ..opdef.rule import RuleArgument
from ..opdef.spec import Spec
from .batching import (
    BatchedValue,
    Batching,
    Values,
    each_of,
    each_with_slot,
    flat,
    root_of,
    stands_for_shape,
)


@dataclass(frozen=True)
class WholePlan:
    """How an operator does for all examples what it does for one.

    attrs: attributes that differ.
    widened: dimensions of 1 that inputs get, by slot; counted in what has the examples first.
    narrowed: dimensions of 1 that outputs lose, likewise.
    shared: the inputs that may be the same for all examples.
    """

    attrs: Mapping[str, Any] = field(default_factory=dict)
    widened: Mapping[str, Sequence[int]] = field(default_factory=dict)
    narrowed: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()


#: makes the plan of an operator from its inputs by slot; None where it has none
Planner = Callable[[Op, Values], WholePlan | None]


@dataclass(frozen=True)
class Whole:
    """The operator itself, on values with the examples first.

    plan: what differs.
    way: ``derived`` where that follows from the definition of the operator, else ``rule``.
    common: inputs that have to be the same for all examples.
    absent: inputs that have to be absent, since they say in numbers what attributes say else.
    """

    plan: Planner
    way: str = "derived"
    common: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def apply(
        self, f: Batching, op: Op, ins: Values, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of an operator; None where it cannot be done."""
        if self._refuses(ins):
            return None
        plan = self.plan(op, ins)
        if plan is None:
            return None
        shared = {*self.common, *plan.shared}

        def prepared(slot: str, value: BatchedValue) -> BatchedValue:
            return _prepared(f, value, plan.widened.get(slot), slot in shared)

        outs = f.plain(changed(op, plan.attrs), each_with_slot(ins, prepared), want, 0)
        return _narrowed(f, outs, plan.narrowed)

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """The gradients of what :meth:`apply` computes.

        Args:
            f: the interpreter.
            op: the gradient operator.
            ins: its inputs by slot.
            want: its output slots that are needed.
            copies: whether values that examples share may be copied for each, so that each example
                has a gradient of its own.
        """
        reads = {read.slot: read for read in op.reads}
        if self._refuses({reads[s].of: held for s, held in ins.items() if reads[s].source == "in"}):
            return None
        wanted = {of for of, slot in op.grad_slots.items() if want is None or slot in want}
        operands = {}
        for slot, held in ins.items():
            of = reads[slot].of
            is_input = reads[slot].source == "in"
            if of in self.common and is_input:
                if of in wanted:
                    return None
                operands[slot] = held
            elif is_input and of not in wanted:
                operands[slot] = held
            else:
                if is_input and not copies and not _is_batched(held):
                    return None
                operands[slot] = each_of(held, partial(f.as_read, op, slot))
        is_first = root_of(type(op)) is op.derived_from
        forward = op.like(op.derived_from)
        inputs = {
            reads[slot].of: held for slot, held in operands.items() if reads[slot].source == "in"
        }
        plan = self.plan(forward, inputs if is_first else {})
        if plan is None or not (is_first or not (plan.widened or plan.narrowed)):
            return None

        def as_read(slot: str, value: BatchedValue) -> BatchedValue:
            return self._as_read(f, op, value, reads[slot], plan)

        final = each_with_slot(operands, as_read)
        on_all: Any = changed(op, plan.attrs)
        outs = f.plain(on_all, final, want, 0)
        if stands_for_shape(op, "XShape"):
            variable = final["XShape"].variable
            outs = _declared(outs, variable, variable.shape[1:])
        elif is_first:
            outs = _shaped(outs, on_all, final)
        lost = {name: plan.widened[of] for of, name in op.grad_slots.items() if of in plan.widened}
        return _narrowed(f, outs, lost)

    def _refuses(self, ins: Values) -> bool:
        """Whether inputs of the operator are not as they have to be."""
        common = flat({slot: ins.get(slot) for slot in self.common})
        absent = flat({slot: ins.get(slot) for slot in self.absent})
        return any(value.is_batched for value in common) or any(True for _ in absent)

    def _as_read(
        self, f: Batching, op: Op, value: BatchedValue, read: RuleArgument, plan: WholePlan
    ) -> BatchedValue:
        """A value as the gradient operator reads it."""
        if stands_for_shape(op, read.slot):
            return value
        if read.source != "in":
            return _prepared(f, value, plan.narrowed.get(read.of), False)
        is_first = root_of(type(op)) is op.derived_from
        is_shared = is_first and read.of in {*self.common, *plan.shared}
        return _prepared(f, value, plan.widened.get(read.of), is_shared)


def changed(op: Op, attrs: Mapping[str, Any]) -> Op:
    """An operator with some other attributes."""
    if not attrs:
        return op
    made = type(op)({**op.attr_values(), **attrs})
    made.output_widths = op.output_widths
    return made


def _declared(outs: dict[str, Any], variable: Variable, shape: Sequence[int]) -> dict[str, Any]:
    """Gradients of which nothing says the shape, with the one of what they are of."""
    for made in flat(outs):
        if not made.variable.has_shape:
            made.variable.declare(shape, variable.dtype)
    return outs


def _shaped(outs: dict[str, Any], op: DerivedGrad, ins: Values) -> dict[str, Any]:
    """Gradients of which nothing says the shape, with the one of a result of the operator, where
    that gives what it is given.

    Args:
        outs: the gradients by slot.
        op: the gradient operator, on the whole batch.
        ins: its inputs by slot.
    """
    forward = op.like(op.derived_from)
    specs = {r.of: each_of(ins.get(r.slot), _spec) for r in op.reads if r.source == "in"}
    absent = [s for s in forward.inputs if specs.get(s.name) is None and not s.optional]
    if len(absent) != 1 or absent[0].many or all(v.variable.has_shape for v in flat(outs)):
        return outs
    for read in sorted(op.reads, key=lambda read: read.source != "out"):
        value = ins.get(read.slot)
        if (
            read.source == "in"
            or not isinstance(value, BatchedValue)
            or not value.dtype.is_continuous
        ):
            continue
        given = {slot: spec for slot, spec in specs.items() if spec is not None}
        found = forward.infer_outputs({**given, absent[0].name: _spec(value)}).get(read.of)
        if found is not None and found.shape == value.variable.shape:
            return _declared(outs, value.variable, value.variable.shape)
    return outs


def _spec(value: BatchedValue) -> Spec:
    """What is known of the values of all examples."""
    return Spec(value.variable.shape, value.dtype)


def _is_batched(held: Any) -> bool:
    return held is not None and all(value.is_batched for value in flat({"": held}))


def _prepared(
    f: Batching, value: BatchedValue, axes: Sequence[int] | None, is_shared: bool
) -> BatchedValue:
    """A value with the examples first, but where they share it, and with more dimensions."""
    if is_shared and not value.is_batched:
        return value
    front = f.front(value)
    return f.value(f.parent.unsqueeze(front, axes=list(axes)) if axes else front, 0)


def _narrowed(
    f: Batching, outs: Mapping[str, Any], lost: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Outputs without some dimensions."""

    def without(value: BatchedValue, axes: Sequence[int]) -> BatchedValue:
        return f.value(f.parent.squeeze(value.variable, axes=list(axes)), 0)

    return each_with_slot(outs, lambda slot, v: without(v, lost[slot]) if lost.get(slot) else v)


@dataclass(frozen=True)
class BatchingRule:
    """A rule that says in other operators what an operator does for all examples.

    function: takes the interpreter, the operator, its inputs and the needed outputs; gives its
        outputs by slot, None where it has no way.
    """

    function: Callable[[Batching, Op, Values], dict[str, Any] | None]
    way: str = "rule"

    def apply(
        self, f: Batching, op: Op, ins: Values, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of an operator; None where it cannot be done."""
        return self.function(f, op, ins)

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """None: the gradient follows from the composition that its own rule is."""
        return None


@dataclass(frozen=True)
class SameAs:
    """The rule of another operator that computes the same and has the same slots.

    type: the other operator's.
    attrs: makes its attributes from the operator and its inputs by slot; None where it does not
        compute the same.
    """

    type: str
    attrs: Callable[[Op, Values], Mapping[str, Any] | None]
    way: str = "rule"

    def apply(
        self, f: Batching, op: Op, ins: Values, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of an operator; None where it cannot be done."""
        attrs = self.attrs(op, ins)
        return None if attrs is None else f.apply(lookup(self.type)(attrs), ins, want)

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """The gradients of the other operator; None where they cannot be had."""
        gradient = lookup(lookup(self.type).grad_type)
        attrs = self.attrs(op.like(op.derived_from), ins)
        if attrs is None or op.derived_from.derived_from is not None or not copies:
            return None
        return f.apply(
            gradient(attrs), {slot: ins.get(slot) for slot in gradient.input_slots}, want
        )


class Reshaping(BatchingRule):
    """The rule of an operator whose gradient gives a cotangent the shape of the input."""

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """The gradient operator as it is."""
        given = each_with_slot(ins, partial(f.as_read, op))
        outs = f.plain(op, given, want, 0)
        if stands_for_shape(op, "XShape"):
            variable = given["XShape"].variable
            return _declared(outs, variable, variable.shape[1:])
        return outs


@dataclass(frozen=True)
class Either:
    """Several rules, the first of which that has a way is taken."""

    rules: tuple[Any, ...]

    @property
    def way(self) -> str:
        return "rule"

    def apply(
        self, f: Batching, op: Op, ins: Values, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of an operator; None where it cannot be done."""
        found = (rule.apply(f, op, ins, want) for rule in self.rules)
        return next((outs for outs in found if outs is not None), None)

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """The gradients; None where they cannot be had."""
        found = (rule.gradient(f, op, ins, want, copies) for rule in self.rules)
        return next((outs for outs in found if outs is not None), None)
