"""Lowering: from steps on names to a graph of instructions on values, for given shapes.

Nothing is computed here but what depends on constants alone.  Operators that are compositions, the
derived gradient operators among them, are expanded until only operators with kernels remain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.values import LoDTensorArray
from ..ir.analysis import writes_of
from ..ir.operator import EMPTY
from ..opdef.definition import Op
from ..opdef.interpreter import Eval, Interpreter
from ..opdef.spec import Spec, size_of
from .driver import Driver
from .graph import Graph, Instruction
from .plan import BlockPlan
from .step import Step
from .typed_op import Calling, TypedOp, TypedOps
from .value import Unsupported, Value

FOLDED_SIZE = 1 << 16  #: constants of more elements than this are computed in every run
UNROLLED = 5000  #: operators that the passes through blocks may run in all
_TENSOR = Kind.LOD_TENSOR
#: operators that take or give arrays of tensors, and look at no element
_ON_ARRAYS = frozenset({
    "empty_array", "write_to_array", "keep_statistic", "read_from_array", "array_without", "assign",
    "sum", "fill_zeros_like",
})  # fmt: skip
#: those that give one where they are given none
_MAKING_ARRAYS = frozenset({"empty_array", "write_to_array", "keep_statistic"})


def lowered(
    steps: Sequence[Step],
    given: Mapping[str, Spec],
    wanted: Iterable[str],
    backend: Any,
    bodies: bool = False,
) -> Graph:
    """The graph of steps.

    Args:
        steps: in order.
        given: shapes and element types of the values that come from outside, by name.
        wanted: the names whose values are needed at the end.
        backend: evaluates what depends on constants alone.
        bodies: whether control-flow operators become instructions with bodies, where they cannot be
            unrolled.

    Raises:
        Unsupported: a control-flow operator has no such form, an operator works on sequences, or
            gives shapes that depend on values.
    """
    graph = Graph()
    lowering = Lowering(graph, backend, bodies)
    env: dict[str, Any] = {name: graph.add_input(name, spec) for name, spec in given.items()}
    for step in steps:
        lowering.lower(step, env)
    for name in wanted:
        if name in env:
            if not isinstance(env[name], Value):
                raise Unsupported("a result of a block is no tensor")
            graph.set_output(name, env[name])
    return graph


class Lowering(Interpreter):
    """The interpreter that puts instructions into a graph.

    Args:
        graph: takes them.
        backend: evaluates what depends on constants alone.
        bodies: see :func:`lowered`.
    """

    def __init__(self, graph: Graph, backend: Any = None, bodies: bool = False) -> None:
        self.graph = graph
        self._backend = backend
        self._bodies = bodies
        graph.builder = self
        self._eval = None if backend is None else Eval(backend)
        self._origin: Any = None
        self._before: Instruction | None = None
        #: the numbers of the passes through blocks that the step is part of
        self._turns: tuple[int, ...] = ()
        self._unrolled = 0
        self._has_arrays = graph.around is not None  # whether there may be arrays of tensors
        self.typed_ops: TypedOps = TypedOps()

    @contextmanager
    def at(self, instruction: Instruction) -> Iterator[Lowering]:
        """Put instructions before one, as parts of the same step, inside a ``with`` block."""
        before, self._before = self._before, instruction
        origin, self._origin = self._origin, instruction.origin
        try:
            yield self
        finally:
            self._before, self._origin = before, origin

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        calling = self.typed_ops.calling(op)
        if calling.function is None and calling.is_composite:
            fused = self._fused(op, ins, calling, want) if calling.fuses else None
            return op.outputs_for(self, ins, want) if fused is None else fused
        if not calling.runs:
            raise Unsupported(op.type)
        ins = self._wholes(ins, op.fluid.rows)
        operands = [ins.get(slot.name) for slot in op.inputs] if op.composition is not None else []
        if operands and op.takes_composition(*operands):
            return op.by_slot(op.composition(self, *operands))
        if (
            not calling.draws
            and op.folds
            and _is_known([ins.get(n) for n in calling.slots], op)
            and self._eval is not None
            and not (op.reads_shapes and _is_large(self.typed_ops.of(op, ins, calling)))
        ):
            return self._folded(op, ins)
        return self._instruction(self.typed_ops.of(op, ins, calling), op, ins, want)

    def _instruction(
        self, shared: TypedOp, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None
    ) -> dict[str, Any]:
        """Insert an instruction; what it makes, by output slot."""
        value, outs = self.graph.value, {}
        for slot, spec, optional in shared.results_for(ins):
            if not optional or want is None or slot in want:
                outs[slot] = [value(s) for s in spec] if type(spec) is list else value(spec)
        slots = shared.calling.slots
        instruction = Instruction(op, slots, [ins.get(s) for s in slots], outs, self._origin)
        instruction.typed = shared
        self.graph.insert(instruction, self._before)
        if shared.calling.draws and self._origin is not None:
            key = self._origin.instance.random_key(self._origin.op.first_output)
            instruction.random_key = (*self._turns, key) if self._turns else key
        return dict(outs)

    def _fused(
        self, op: Op, ins: Mapping[str, Any], calling: Calling, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of a composition that one prepared kernel computes; None without a kernel."""
        ins = self._wholes(ins, ())
        if want is not None and not set(want) & set(op.output_slots):
            return None
        if (shared := self.typed_ops.fused(op, ins, calling)) is None or not shared.kernel:
            return None
        unread = {calling.slots[place] for place in shared.kernel.unread}
        without = {s: None for s in unread if f"{s}@GRAD" not in op.output_slots}
        return self._instruction(shared, op, {**ins, **without}, None)

    def _wholes(self, ins: Mapping[str, Any], rows: Sequence[str]) -> dict[str, Any]:
        """Values by slot with tensors in place of SelectedRows, but for the slots that may take
        them.
        """
        for value in ins.values():
            if value is not None and (type(value) is not Value or value.kind is not _TENSOR):
                return {slot: self._whole(value, slot in rows) for slot, value in ins.items()}
        return ins if type(ins) is dict else dict(ins)

    def _whole(self, value: Any, takes_rows: bool) -> Any:
        """A value with a tensor in place of SelectedRows, where an operator takes none."""
        if isinstance(value, list):
            return [self._whole(each, takes_rows) for each in value]
        if takes_rows or not isinstance(value, Value) or value.kind is _TENSOR:
            return value
        return self.get_tensor_from_selected_rows(value)

    def _folded(self, op: Op, ins: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of an operator on constants."""
        assert self._eval is not None
        outs = self._eval.apply(op, {slot: _array_of(value) for slot, value in ins.items()})
        return {
            slot: None
            if value is None
            else [self.known(v) for v in value]
            if isinstance(value, list)
            else self.known(value)
            for slot, value in outs.items()
        }

    def folds(self, instruction: Instruction) -> bool:
        """Replace an instruction by constants, where it depends on nothing else.

        Returns:
            whether that was done.
        """
        op = instruction.op
        if instruction.draws or not op.folds or self._eval is None or instruction.bodies:
            return False
        if instruction.typed is None or not _is_known(instruction.operands, op):
            return False
        if op.reads_shapes and _is_large(instruction.typed):
            return False
        found = self._folded(op, dict(zip(instruction.slots, instruction.operands, strict=True)))
        known = [found.get(slot) for slot in instruction.outs]
        self.graph.replace(instruction, *(v for v in _listed(known)))
        return True

    def known(self, array: Any) -> Value:
        """A constant."""
        if not array.flags.c_contiguous and array.size <= FOLDED_SIZE:
            array = array.copy()  # kernels are several times slower on one that is stretched
        return self.graph.constant(array)

    # -- steps of a block --------------------------------------------------------------------------

    def lower(self, step: Step, env: dict[str, Any]) -> None:
        """Insert the instructions of a step on values by name, which take the results."""
        self._origin = step
        op = step.instance
        if step.loss is not None and step.loss in env and env[step.loss].size != 1:
            raise Unsupported("a loss of several elements")
        self._has_arrays = self._has_arrays or op.execute is not None or op.type in _MAKING_ARRAYS
        if op.execute is not None:
            self._unroll(step, env)
            return
        ins: dict[str, Any] = {}
        try:
            for slot, names, many in step.inputs:
                if many:
                    ins[slot] = [None if n == EMPTY else env[n] for n in names]
                else:
                    ins[slot] = None if names[0] == EMPTY else env[names[0]]
        except KeyError as error:
            raise Unsupported(f"{error.args[0]!r} may not be written") from None
        for slot, name in step.updates:
            ins[slot] = env.get(name)
        if self._has_arrays and (op.type in _MAKING_ARRAYS or any(map(_is_array, ins.values()))):
            self._on_arrays(op, ins, step, env)
            return
        outs = self.apply(op, ins, step.want)
        for _, _, name, value in step.named(outs, ins, self.fill_zeros_like):
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
                self.graph.names.append((step, name, value))

    def _on_arrays(self, op: Op, ins: Mapping[str, Any], step: Step, env: dict[str, Any]) -> None:
        """Follow what an operator does to arrays of tensors, whose elements are values here."""
        if op.type not in _ON_ARRAYS:
            raise Unsupported(f"{op.type} takes an array of tensors")
        operands = dict(ins)
        if "I" in operands:
            if not _has_constant(operands["I"]):
                raise Unsupported("a position in an array depends on values")
            operands["I"] = operands["I"].constant
        run: Any = op.run
        (name,) = step.op.outputs["Out"]
        env[name] = run(_OfArrays(self), *map(operands.get, self.typed_ops.calling(op).slots))

    def _unroll(self, step: Step, env: dict[str, Any]) -> None:
        """Insert the instructions of all passes through the block of a step."""
        conditions = step.op.inputs.get(step.instance.condition_slot, ())
        unrolls = step.instance.unrolls or "StepScopes" in step.op.inputs
        if not unrolls and not all(_has_constant(env.get(name)) for name in conditions):
            self._with_body(step, env)
            return
        step.instance.execute(_LoweringDriver(_Passes(self), step, env))
        self.graph.names += [
            (step, name, env[name])
            for name in writes_of(step.op)
            if isinstance(env.get(name), Value)
        ]

    def _with_body(self, step: Step, env: dict[str, Any]) -> None:
        """Insert a control-flow operator with the graph of its block.

        What the block reads and writes of outer names are inputs and outputs of the body, in the
        operands and results by the same names; what it only reads is captured.
        """
        block, slot = step.body, step.instance.condition_slot
        if not self._bodies or block is None or block.saved or block.overwritten or not slot:
            raise Unsupported(step.instance.type)
        carried = [name for name in block.exports if name in env]
        graph = Graph(self.graph)
        inner = Lowering(graph, self._backend, bodies=True)
        local = {**env, **{name: graph.add_input(name, env[name].spec) for name in carried}}
        for each in block.steps:
            inner.lower(each, local)
        for name in block.exports:
            if name in env and local[name].spec != env[name].spec:
                raise Unsupported(f"{name!r} has another shape behind a pass")
            graph.set_output(name, local[name])
        self.graph.count = graph.count
        conditions = [env[name] for name in step.op.inputs[slot]]
        outs = {name: self.graph.value(local[name].spec) for name in block.exports}
        operands = [conditions, *(env[name] for name in carried)]
        made = Instruction(step.instance, (slot, *carried), operands, dict(outs), step)
        made.bodies = (graph,)
        self.graph.insert(made, self._before)
        env.update(outs)
        self.graph.names += [(step, name, value) for name, value in outs.items()]

    def run_pass(self, body: BlockPlan, env: dict[str, Any], turn: int) -> None:
        """Insert the instructions of the pass of a number through a block.

        Raises:
            Unsupported: as of :func:`lowered`, or there are too many passes.
        """
        around = self._origin
        self._turns = (*self._turns, turn)
        self._unrolled += len(body.steps)
        if self._unrolled > UNROLLED:
            raise Unsupported("more passes than a plan is to hold")
        for step in body.steps:
            self.lower(step, env)
        self._turns = self._turns[:-1]
        self._origin = around


class _LoweringDriver(Driver):
    """What a control-flow operator gets whose passes are put one after the other."""

    def condition(self, name: str) -> bool:
        """A truth that follows from constants.

        Raises:
            Unsupported: it does not.
        """
        value = self.value(name)
        if not _has_constant(value) or value.size != 1:
            raise Unsupported(f"the condition {name!r} depends on values")
        return bool(value.constant.reshape(()))


def _is_array(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_array, value))
    return isinstance(value, LoDTensorArray)


def _has_constant(value: Any) -> bool:
    return isinstance(value, Value) and value.constant is not None


class _OfArrays:
    """What kernels that pass on elements of arrays of tensors compute with."""

    def __init__(self, f: Lowering) -> None:
        self._f = f

    def zeros_like(self, value: Any) -> Any:
        """Zeros in the form of a value, or of an array."""
        return value.zeros_like() if _is_array(value) else self._f.fill_zeros_like(value)


class _Passes:
    """What runs the blocks of control-flow operators while they are lowered."""

    def __init__(self, lowering: Lowering) -> None:
        self.f = lowering

    def run(self, plan: BlockPlan, env: Any, turn: int | None = None) -> None:
        self.f.run_pass(plan, env, turn or 0)


def _listed(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _is_known(value: Any, op: Op) -> bool:
    """Whether all that an operator takes of a value is known."""
    if value is None:
        return True
    if isinstance(value, list):
        for each in value:  # noqa: SIM110  (asked for every operator: a generator takes longer)
            if not _is_known(each, op):
                return False
        return True
    if op.reads_shapes:
        return value.kind is _TENSOR
    return value.constant is not None and value.size <= FOLDED_SIZE


def _is_large(typed: TypedOp) -> bool:
    """Whether a result has more elements than a constant is to have."""
    specs = _listed(spec for _, spec, _ in typed.results)
    return any(size_of(spec.shape) > FOLDED_SIZE for spec in specs)


def _array_of(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return None if value is None else [_array_of(each) for each in value]
    known = value.constant
    return np.broadcast_to(np.zeros((), value.dtype), value.shape) if known is None else known
