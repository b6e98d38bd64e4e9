"""What a forward sweep puts into one block."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..backward.sweep import described, warn_of_missing_gradient
from ..errors import NoGradientError
from ..ground.dtypes import Kind
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.variable import Variable, declared_like
from ..opdef.conjugation import is_complex
from ..opdef.definition import Op
from ..opdef.gradient import is_constant, is_differentiable
from .activity import flowing_inputs, flowing_outputs, variable_behind
from .tangents import Flow, Push, push
from .twin_blocks import TWINNED

#: makes zeros of what has a value, and of what may have none
_ZEROS = ("fill_zeros_like", "zeros_if_written")


class Sweep(Protocol):
    """What the parts of a sweep ask of it."""

    active: set[str]
    inputs: list[str]

    def twin(self, name: str) -> str:
        """What the tangent of a name is called."""

    def seed_behind(self, op: Operator) -> Iterable[tuple[str, str]]:
        """Inputs that an operator makes, and what is fed beside the tangents that it gives them."""

    def emission(self, block: int) -> ForwardEmission:
        """What is put into a block."""

    def number(self) -> int:
        """One that names of the sweep have not had yet."""


class ForwardEmission:
    """The operators that tangents add to a block.

    Args:
        block: which is changed.
        sweep: that it is a part of.
    """

    def __init__(self, block: Block, sweep: Sweep) -> None:
        self.block = block
        self.sweep = sweep
        self.begin: list[Operator] = []
        self.end: list[Operator] = []
        self._ahead: list[Operator] = []  # of the operator that tangents are being put behind
        self._saved: dict[str, str] = {}  # what it overwrites -> the copies of what was there
        self._op: Operator | None = None
        self._ops: list[Operator] = []

    def emit(self) -> None:
        """Put tangents behind the operators of the block."""
        for op in self.block.ops:
            self._ahead, self._saved, self._op = [], {}, op
            wanted = [pair for pair in self._written(op) if pair[1] in self.sweep.active]
            seeds = dict(self.sweep.seed_behind(op))
            after = self._tangents(op, wanted, seeds) if wanted or op.type in TWINNED else []
            written = {name for each in (op, *after) for name in each.output_arg_names}
            for name, seed in seeds.items():
                twin = self.sweep.twin(name)
                type, terms = ("sum", [twin, seed]) if twin in written else ("assign", [seed])
                after.append(operator_beside(self.block, type, {"X": terms}, {"Out": [twin]}, op))
            if op.type == "feed":
                self._ops.append(op)
                self.begin += after
            else:
                self._ops += [*self._ahead, op, *after]

    def settle(self) -> None:
        """Give the block its operators, when all that belongs to its ends is known."""
        feeds = [op for op in self._ops if op.type == "feed"]
        fetches = [op for op in self._ops if op.type == "fetch"]
        others = [op for op in self._ops if op.type not in ("feed", "fetch")]
        self.block.set_ops([*feeds, *self.begin, *others, *self.end, *fetches])

    def zeros(
        self, name: str, target: str, like: Operator | None = None, if_written: bool = False
    ) -> list[Operator]:
        """What writes zeros in the form of a name.

        Args:
            name: of what.
            target: the name to write.
            like: the operator that it belongs to.
            if_written: whether the name may have no value, and neither the target then.
        """
        results, type = {"Out": [target]}, _ZEROS[if_written]
        ops = [operator_beside(self.block, type, {"X": [name]}, results, like)]
        if self.block.var_recursive(target).kind is Kind.LOD_TENSOR_ARRAY:  # has no elements yet
            both = {"X": [target], "Like": [name]}
            ops.append(operator_beside(self.block, "array_filled", both, results, like))
        return ops

    # -- what operators that drive blocks ask -----------------------------------------------------

    def of(self, name: str) -> str | None:
        """The twin of an active name; None of others."""
        return self.sweep.twin(name) if name in self.sweep.active else None

    def twin(self, name: str) -> str:
        """What the tangent of a name is called."""
        return self.sweep.twin(name)

    def held(self, name: str) -> str:
        """The twin of a name that has a value before the operator; zeros where it is not active."""
        return self.of(name) or self._zeros_ahead(name)

    def first(self, block: int, source: str, target: str, like: str) -> None:
        """Let a block begin with an assignment."""
        emission = self.sweep.emission(block)
        for name in (source, target):
            if emission.block.find_var_recursive(name) is None:
                declare_like(emission.block, like, name)
        ends = {"X": [source]}, {"Out": [target]}
        emission.begin.append(operator_beside(emission.block, "assign", *ends, self._op))

    def last(self, block: int, source: str, target: str, like: str, zeros: bool = False) -> None:
        """Let a block end with an assignment, or with zeros in the form of ``source``."""
        emission, type = self.sweep.emission(block), "fill_zeros_like" if zeros else "assign"
        declare_like(emission.block, like, target)
        ends = {"X": [source]}, {"Out": [target]}
        emission.end.append(operator_beside(emission.block, type, *ends, self._op))

    # -- tangents of one operator -----------------------------------------------------------------

    def _written(self, op: Operator) -> Iterable[tuple[str, str]]:
        """Slots and names of the outputs of an operator that hold something behind it."""
        definition = op.definition
        for slot, names in op.outputs.items():
            if definition is None or (
                slot in definition.output_slots and slot not in definition.fluid.idle
            ):
                yield from ((slot, name) for name in names if name != EMPTY)

    def _tangents(
        self, op: Operator, wanted: list[tuple[str, str]], but: Container[str]
    ) -> list[Operator]:
        """The operators that compute the tangents of what an operator writes.

        Args:
            op: the operator.
            wanted: slots and names of active outputs.
            but: names that get no zeros.
        """
        definition = op.definition
        if op.type in TWINNED:
            TWINNED[op.type](op, self)
            written = {name for names in op.outputs.values() for name in names}
            return [
                zero
                for _, name in wanted
                if self.sweep.twin(name) not in written and name not in but
                for zero in self.zeros(name, self.sweep.twin(name), op, if_written=True)
            ]
        active = {name for _, name in flowing_inputs(op, self.sweep.inputs)}
        active &= self.sweep.active
        flowing = {name for _, name in flowing_outputs(op, self.sweep.active)}
        after: list[Operator] = []
        constant = definition is not None and is_constant(definition)
        if definition is not None and definition.fluid.lacks_gradient and active:
            warn_of_missing_gradient(op)
        updates = definition is not None and bool(definition.fluid.updates)
        if (active or updates) and not constant and any(name in flowing for _, name in wanted):
            if definition is None or not is_differentiable(definition) or definition.calls_out:
                raise NoGradientError(
                    f"a tangent flows to operator {op.type!r}, which has no rule that forward mode "
                    f"can be derived from; stop it before (stop_gradient){described(op)}"
                )
            after += self._pushed(op, definition, [(s, n) for s, n in wanted if n in flowing])
        made = {name for each in after for name in each.output_arg_names}
        for _, name in wanted:
            twin = self.sweep.twin(name)
            if twin not in made and name not in but:
                after += self.zeros(name, twin, op, _may_leave_out(op))
        return after

    def _pushed(
        self, op: Operator, definition: type[Op], wanted: list[tuple[str, str]]
    ) -> list[Operator]:
        """The operators that compute tangents of some outputs."""
        flowing = set(flowing_inputs(op, self.sweep.inputs))
        slots, gives = definition.input_slots, definition.output_slots
        own = {slot: op.inputs[slot] for slot in op.inputs if slot in slots}
        ins = {
            slot: _held([_Before(n) if n != EMPTY else None for n in names], slots[slot].many)
            for slot, names in own.items()
        }
        outs = {
            slot: _held([n if n != EMPTY else None for n in names], gives[slot].many)
            for slot, names in op.outputs.items()
            if slot in gives
        }
        tangents = {}
        for slot, names in own.items():
            twins = [self.of(n) if (slot, n) in flowing else None for n in names]
            if any(twins):
                tangents[slot] = _held(twins, slots[slot].many)
        zeros: list[Operator] = []

        def zeros_like(name: str) -> str:
            target = declare_like(self.block, name, f"{name}@ZERO_{self.sweep.number()}").name
            type = _ZEROS[_may_leave_out(op)]
            zeros.append(self._beside(type, {"X": [name]}, {"Out": [target]}))
            return target

        if not tangents:  # what is updated, an element of an array, becomes zero
            slot = definition.inputs[0].name
            tangents = {slot: zeros_like(ins[slot])}
        known = [variable_behind(self.block, name) for name in op.input_arg_names if name != EMPTY]
        results = {slot: None for slot, _ in wanted}
        flow = Flow(ins, outs, tangents, results, zeros_like)
        pushed = push(op.instance(), flow, of_complex=is_complex(known))
        read = {
            slot: [
                EMPTY if v is None else v for v in (value if isinstance(value, list) else [value])
            ]
            for slot, value in pushed.ins.items()
        }
        written = self._results(op, pushed, set(wanted))
        return [*zeros, self._beside(pushed.op.type, read, written, pushed.op.attr_values())]

    def _results(
        self, op: Operator, pushed: Push, wanted: set[tuple[str, str]]
    ) -> dict[str, list[str]]:
        """What an operator that computes tangents writes."""
        written = {}
        for slot, of in pushed.slots.items():
            names = op.outputs.get(of, ())
            optional = pushed.op.output_slots[slot].optional
            if optional and not any((of, name) in wanted for name in names):
                continue
            written[slot] = [
                self.sweep.twin(name)
                if (of, name) in wanted
                else EMPTY
                if optional
                else declare_like(self.block, name, f"{name}@UNUSED_{self.sweep.number()}").name
                for name in names
            ]
        return {slot: names for slot, names in written.items() if names}

    def _beside(
        self,
        type: str,
        inputs: Mapping[str, Sequence[str]],
        outputs: Mapping[str, Sequence[str]],
        attrs: Mapping[str, Any] | None = None,
    ) -> Operator:
        """An operator behind the one that is looked at, which reads values from before it."""
        inputs = {slot: [self._as_read(name) for name in names] for slot, names in inputs.items()}
        return operator_beside(self.block, type, inputs, outputs, self._op, attrs)

    def _as_read(self, name: str) -> str:
        """What a value is called behind the operator, which may have written another one there."""
        op = self._op
        if not isinstance(name, _Before) or op is None or not op.writes(name):
            return str(name)
        if name not in self._saved:
            copy = declare_like(self.block, name, f"{name}@BEFORE_{self.sweep.number()}").name
            ends = {"X": [str(name)]}, {"Out": [copy]}
            self._ahead.append(operator_beside(self.block, "assign", *ends, op))
            self._saved[name] = copy
        return self._saved[name]

    def _zeros_ahead(self, name: str) -> str:
        target = declare_like(self.block, name, f"{name}@ZERO_{self.sweep.number()}").name
        # a branch that was not taken leaves names without a value
        is_branch = self._op is not None and self._op.type.startswith("conditional_block")
        self._ahead += self.zeros(name, target, self._op, if_written=is_branch)
        return target


def _may_leave_out(op: Operator) -> bool:
    """Whether an operator may leave what it reads or writes without a value, as a choice does."""
    return op.definition is not None and op.definition.execute is not None


class _Before(str):
    """The name of a value that an operator reads, and may overwrite."""

    __slots__ = ()


def _held(names: list[Any], many: bool) -> Any:
    return names if many else names[0]


def declare_like(block: Block, name: str, twin: str) -> Variable:
    """A variable in the form of another one, which gradients flow through.

    Args:
        block: where to declare it.
        name: of the other.
        twin: its own name.
    """
    found = variable_behind(block, name)
    like = block.var_recursive(name) if found is None else found
    return declared_like(like, block, twin)


def operator_beside(
    block: Block,
    type: str,
    inputs: Mapping[str, Sequence[str]],
    outputs: Mapping[str, Sequence[str]],
    like: Operator | None,
    attrs: Mapping[str, Any] | None = None,
) -> Operator:
    """An operator that is not yet in its block.

    Args:
        block: where it will stand.
        type, inputs, outputs, attrs: of the operator.
        like: the operator that it belongs to, whose role, device, place and marks it shares.
    """
    beside = Operator(
        block,
        type,
        {slot: tuple(names) for slot, names in inputs.items()},
        {slot: tuple(names) for slot, names in outputs.items()},
        dict(attrs or {}),
    )
    if like is not None:
        beside.role = like.role & ~OpRole.LOSS
        beside.device, beside.callsite = like.device, like.callsite
        beside.namescope, beside.foreign = like.namescope, like.foreign
    return beside
