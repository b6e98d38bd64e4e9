"""The interpreter of batches: operators on values that stand for one value an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from ..errors import FluidError
from ..ground.aliases import Alias
from ..ir.block import Block
from ..ir.builder import Builder, op_width
from ..ir.variable import Variable
from ..opdef.arithmetic import InterpretedValue
from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad
from ..opdef.interpreter import Interpreter
from ..opdef.spec import Shape
from ..ops.shape import KeepsShape

Values = Mapping[str, Any]


class BatchedValue(InterpretedValue):
    """A variable as each example sees it.

    Args:
        f: the interpreter.
        variable: of a block.
        batch_axis: the dimension of the examples; None where all have the same value.
    """

    __slots__ = ("batch_axis", "f", "variable")

    def __init__(self, f: Batching, variable: Variable, batch_axis: int | None = None) -> None:
        self.f: Batching = f
        self.variable: Variable = variable
        self.batch_axis: int | None = batch_axis

    interpreter: Alias[Batching] = Alias("f", "What applies operators to the value.")

    @property
    def is_batched(self) -> bool:
        """Whether examples have values of their own."""
        return self.batch_axis is not None

    @property
    def shape(self) -> Shape:
        """The shape of the value of one example."""
        shape, axis = self.variable.shape, self.batch_axis
        return shape if axis is None else (*shape[:axis], *shape[axis + 1 :])

    dtype: Alias[Any] = Alias("variable.dtype", "The element type.")

    @property
    def ndim(self) -> int:
        """The number of dimensions of the value of one example."""
        return len(self.shape)


class BatchingWay(NamedTuple):
    """How an operator was batched.

    op_type: the operator.
    way: ``derived``, ``rule``, ``expanded`` or ``looped``.
    why: of one that is looped, what is missing.
    """

    op_type: str
    way: str
    why: str = ""


class NeedsLoopError(FluidError):
    """A part of a composition has no rule, so that the whole is looped."""


class Batching(Interpreter):
    """Appends operators that do for all examples at once what one operator does for one.

    Args:
        block: where to append.
        size: the number of examples; -1 where it is known when the program runs.
        rule_of: gives the rule of an operator's definition; None if there is none.
        loop: appends an operator that runs for one example after the other.
        stem: what new variables are called; the program has none that begins so.
    """

    def __init__(
        self,
        block: Block,
        size: int,
        rule_of: Callable[[type[Op]], Any],
        loop: Callable[[Batching, Op, Values, frozenset[str] | None], dict[str, Any]],
        stem: str,
    ) -> None:
        self.block: Block = block
        self.stem: str = stem
        self.parent: Builder = block.builder(stem)
        self.size: int = size
        #: a variable with the examples as its first dimension
        self.like: Variable | None = None
        self.ways: list[BatchingWay] = []
        self._rule_of = rule_of
        self._loop = loop
        self._within_composition = 0

    # -- values ------------------------------------------------------------------------------------

    def value(self, variable: Variable, batch_axis: int | None = None) -> BatchedValue:
        """A variable as a value of this interpreter."""
        return BatchedValue(self, variable, batch_axis)

    def front(self, value: BatchedValue) -> Variable:
        """The variable of a value with the examples as its first dimension, repeated where all have
        the same one.
        """
        variable, axis = value.variable, value.batch_axis
        if axis is None:
            return self._repeated(variable)
        if axis:
            order = [axis, *(d for d in range(variable.ndim) if d != axis)]
            return self.parent.transpose(variable, axis=order)
        return variable

    def reshaped(self, variable: Variable, shape: Sequence[int]) -> Variable:
        """A variable in another shape, in which one size may be -1.

        Raises:
            NeedsLoopError: two are.
        """
        if list(shape).count(-1) > 1:
            raise NeedsLoopError(f"two sizes of {list(shape)} are known only when the program runs")
        return self.parent.reshape(variable, shape=list(shape))

    def batched(self, value: BatchedValue) -> BatchedValue:
        """The value with the examples as its first dimension."""
        return value if value.batch_axis == 0 else self.value(self.front(value), 0)

    def as_read(self, op: Op, slot: str, value: BatchedValue) -> BatchedValue:
        """The value as a gradient operator of the batch reads it: with the examples first, or, in
        what only stands for a shape, behind its dimension of 0.
        """
        if not stands_for_shape(op, slot):
            return self.batched(value)
        if value.batch_axis == 1:
            return value
        order = [1, 0, *range(2, value.ndim + 1)]
        return self.value(self.parent.transpose(self.front(value), axis=order), 1)

    def _repeated(self, variable: Variable) -> Variable:
        f = self.parent
        one = f.unsqueeze(variable, axes=[0])
        if self.size != -1:
            return f.expand(one, expand_times=[self.size, *(1 for _ in variable.shape)])
        rows = f.fill_constant_batch_size_like(self.like, shape=[-1], dtype="int64", value=0.0)
        rows.stop_gradient = True
        return f.gather(one, rows)

    # -- operators ---------------------------------------------------------------------------------

    def apply(
        self, op: Op, ins: Values, want: Iterable[str] | None = None
    ) -> dict[str, BatchedValue | list[BatchedValue]]:
        wanted = None if want is None else frozenset(want)
        if wanted is None and isinstance(op, DerivedGrad):  # those of what there is
            given = {read.of for read in op.reads if ins.get(read.slot) is not None}
            wanted = frozenset(name for slot, name in op.grad_slots.items() if slot in given)
        if not op.random and not any(value.is_batched for value in flat(ins)):
            return self.plain(op, ins, wanted)
        for way, attempt in (
            ("rule", self._by_rule),
            ("derived", self._by_gradient),
            ("expanded", self._by_expansion),
            ("derived", self._by_gradient_of_copies),
        ):
            before = len(self.block.ops), len(self.block.vars), len(self.ways)
            try:
                outs = attempt(op, ins, wanted)
            except (FluidError, AttributeError, TypeError):  # a rule that reads more than shapes
                outs = None
            if outs is not None and not self._is_vague(outs):
                if way == "rule":
                    way = self._rule_of(type(op)).way
                del self.ways[before[2] :]
                self.ways.append(BatchingWay(op.type, way))
                return outs
            self._undo(*before)
        if self._within_composition:
            raise NeedsLoopError(f"{op.type} has no rule of batching")
        self.ways.append(BatchingWay(op.type, "looped", self._why(op, ins)))
        return self._loop(self, op, ins, wanted)

    def _why(self, op: Op, ins: Values) -> str:
        """Why an operator is looped."""
        if any(-1 in value.shape for value in flat(ins)):
            return "a size in an example is not known"
        if self._rule_of(root_of(type(op))) is not None:
            return "its rule is for other inputs"
        return "it has no rule" if op.expand is None else "a part of it has no rule"

    def _is_vague(self, outs: Values) -> bool:
        """Whether a part of a composition gives what nobody knows the shape of."""
        return self._within_composition > 0 and not all(v.variable.has_shape for v in flat(outs))

    def _undo(self, ops: int, variables: int, ways: int) -> None:
        """Take out what an attempt appended that came to nothing."""
        if len(self.block.ops) > ops:
            self.block.set_ops(self.block.ops[:ops])
        for name in [*islice(reversed(self.block.vars), len(self.block.vars) - variables)]:
            self.block.drop_var(name)
        del self.ways[ways:]

    def plain(
        self, op: Op, ins: Values, want: Iterable[str] | None = None, batch_axis: int | None = None
    ) -> dict[str, Any]:
        """Append an operator as it is.

        Args:
            op: the operator.
            ins: values by input slot; variables are taken as they are.
            want: as of :meth:`apply`.
            batch_axis: where the results have the examples; None where they have none.
        """
        given = each(ins, lambda v: v.variable)
        outs = self.results_of(op, given, want, self.parent)
        self.parent.append(op, given, outs)

        def wrapped(slot: str, variable: Variable) -> BatchedValue:
            is_behind = batch_axis is not None and stands_for_shape(op, slot)
            return self.value(variable, 1 if is_behind else batch_axis)

        return each_with_slot(outs, wrapped)

    def results_of(
        self, op: Op, ins: Values, want: Iterable[str] | None, builder: Builder
    ) -> dict[str, Any]:
        """New variables for the outputs of an operator, for optional ones where they are needed; of
        one that is looped for hidden ones, too.
        """
        results: dict[str, Any] = {}
        for slot in op.outputs:
            is_needed = want is not None and slot.name in want
            is_unsure = slot.hidden and builder is not self.parent  # a loop hands out what is made
            if not is_needed and (slot.optional or (is_unsure and want is not None)):
                continue
            results[slot.name] = (
                [builder.new_variable() for _ in range(op_width(op, ins, slot.name))]
                if slot.many
                else builder.new_variable()
            )
        return results

    def _by_rule(self, op: Op, ins: Values, want: frozenset[str] | None) -> dict[str, Any] | None:
        rule = self._rule_of(type(op))
        return None if rule is None else rule.apply(self, op, ins, want)

    def _by_gradient(
        self, op: Op, ins: Values, want: frozenset[str] | None, copies: bool = False
    ) -> dict[str, Any] | None:
        """The gradient of the operator that works on the whole batch is the batch of gradients,
        where the examples share nothing that a gradient is needed of.
        """
        if not isinstance(op, DerivedGrad):
            return None
        rule = self._rule_of(root_of(type(op)))
        return None if rule is None else rule.gradient(self, op, ins, want, copies)

    def _by_gradient_of_copies(
        self, op: Op, ins: Values, want: frozenset[str] | None
    ) -> dict[str, Any] | None:
        return self._by_gradient(op, ins, want, copies=True)

    def _by_expansion(
        self, op: Op, ins: Values, want: frozenset[str] | None
    ) -> dict[str, Any] | None:
        if op.expand is None or op.host or any(-1 in value.shape for value in flat(ins)):
            return None
        self._within_composition += 1
        try:
            outs = op.outputs_for(self, ins, want)
        finally:
            self._within_composition -= 1
        if any(-1 in value.shape for value in flat(outs)):
            return None
        return {slot: made for slot, made in outs.items() if made is not None}


def root_of(definition: type[Op]) -> type[Op]:
    """The operator that a gradient operator of any order is derived from."""
    while definition.derived_from is not None:
        definition = definition.derived_from
    return definition


def stands_for_shape(op: Op, slot: str) -> bool:
    """Whether a slot of an operator, or of its gradient, holds a shape behind a dimension of 0."""
    definition = type(op)
    is_there = slot in definition.input_slots or slot in definition.output_slots
    return slot == "XShape" and is_there and issubclass(root_of(definition), KeepsShape)


def flat(slots: Values) -> Iterator[Any]:
    """The values of slots that are there, those of lists included."""
    for held in slots.values():
        listed = held if isinstance(held, (list, tuple)) else [held]
        yield from (value for value in listed if value is not None)


def each_of(held: Any, function: Callable[[Any], Any]) -> Any:
    """What a slot holds, with a function of each value in its place."""
    if held is None:
        return None
    if isinstance(held, (list, tuple)):
        return [None if value is None else function(value) for value in held]
    return function(held)


def each_with_slot(slots: Values, function: Callable[[str, Any], Any]) -> dict[str, Any]:
    """What slots hold, with a function of the slot and each value in its place."""
    return {slot: each_of(held, partial(function, slot)) for slot, held in slots.items()}


def each(slots: Values, function: Callable[[Any], Any]) -> dict[str, Any]:
    """What slots hold, with a function of each value in its place."""
    return {slot: each_of(held, function) for slot, held in slots.items()}
