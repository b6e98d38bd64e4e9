"""A budget of memory for a program with gradients: what is computed again is chosen so that the
planned peak fits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..errors import ArgumentError, BudgetError
from ..ir.block import Block
from ..ir.costs import as_bytes
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.program import Program, copy_operator
from ..ir.rollback import all_or_nothing
from ..ir.variable import Parameter, declared_like
from .recompute import seeded
from .rematerialization import GradientTrace, Insertion, Schedule
from .selection import Selection

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TEXT = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*(%|([kmgt]?)i?b(?:ytes?)?)\s*", re.I)
_NAMED = 4  #: values at the peak


class Budget:
    """How much memory a program may take.

    Args:
        memory: bytes as a number, or a text: "64MB", "1.5GB", "512KiB", or "50%" of what the
            program takes otherwise.  A KB has 1024 bytes, as everywhere here.
        batch_size: what sizes of -1 are taken for; None where all sizes are known.

    Raises:
        ArgumentError: an argument is of another kind, or too small.
    """

    def __init__(self, memory: str | float, batch_size: int | None = None) -> None:
        self.memory = memory
        self.batch_size = batch_size
        self._share: float | None = None
        self._bytes = 0
        if isinstance(memory, str):
            self._read(memory)
        elif isinstance(memory, bool) or not isinstance(memory, (int, float)):
            raise _refused(memory)
        elif not 1 <= memory < math.inf:
            hint = f'; a share is a text, as "{memory:.0%}"' if 0 < memory < 1 else ""
            raise ArgumentError(f"expected memory of at least one byte, got {memory!r}{hint}")
        else:
            self._bytes = int(memory)
        if batch_size is not None and (
            isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1
        ):
            raise ArgumentError(f"expected batch_size to be a positive int, got {batch_size!r:.60}")

    def _read(self, text: str) -> None:
        parts = _TEXT.fullmatch(text)
        number = math.inf if parts is None else float(parts[1])
        if parts is None or number == math.inf:
            raise _refused(text)
        if parts[2] == "%":
            self._share = number / 100
        else:
            self._bytes = int(number * _UNITS[parts[3].lower()])
        if not (self._share or self._bytes):
            raise ArgumentError(f"expected memory of at least one byte, got {text!r:.60}")

    def of(self, whole: int) -> int:
        """The budget in bytes, for a program that takes ``whole`` without one."""
        return self._bytes if self._share is None else int(self._share * whole)


def _refused(memory: object) -> ArgumentError:
    return ArgumentError(
        f'expected memory to be a number of bytes or a text such as "64MB", "1.5GB" or "50%", '
        f"got {memory!r:.60}"
    )


@contextmanager
def within_budget(
    block: Block, memory: str | float | None, batch_size: int | None, *others: Program
) -> Iterator[list[str]]:
    """Rewrite what is appended to a block inside, so that the planned peak of the whole block is
    at most a budget; where that cannot be, the programs are as they were.  What is given takes the
    names of values that are read behind the last operator.

    Args:
        block: gets gradients.
        memory: see :class:`Budget`; without one nothing is rewritten.
        batch_size: what sizes of -1 are taken for.
        others: further programs that something is appended to.

    Raises:
        ArgumentError: an argument is of another kind; the batch size is not known; the block lies
            in another one.
        BudgetError: the budget is too small.
    """
    if memory is None:
        if batch_size is not None:
            raise ArgumentError(
                "batch_size says how large values are for a budget: give memory, too"
            )
        yield []
        return
    budget = Budget(memory, batch_size)
    if block.idx:
        raise ArgumentError(
            f"memory is planned for the values of block 0, and the gradients would be in block "
            f"{block.idx}: what lies in a branch or a loop is not counted"
        )
    with all_or_nothing(block.program, *others):
        before = {id(op) for op in block.ops}
        held: list[str] = []
        yield held
        _fit(block, before, budget, held)


def _fit(block: Block, before: set[int], budget: Budget, keep: Iterable[str]) -> None:
    """Rewrite a block whose gradients were appended."""
    places = [
        k for k, op in enumerate(block.ops) if id(op) not in before and op.role & OpRole.BACKWARD
    ]
    first = places[0] if places else len(block.ops)
    _check_sizes(block, budget)
    losses = [
        op.first_output.partition("@GRAD")[0]
        for op in block.ops
        if op.role == OpRole.BACKWARD | OpRole.LOSS
    ]
    trace = GradientTrace(block, first, before, [*keep, *losses], budget.batch_size or 1)
    stays = sum(trace.stays.values())
    selection = Selection(trace)
    most = budget.of(stays + selection.plain.schedule.peak) - stays
    choice = selection.best(most)
    if choice.schedule.peak > most:
        raise _too_small(selection, budget, most)
    if choice.schedule.copies:
        _write(trace, choice.schedule)


def _check_sizes(block: Block, budget: Budget) -> None:
    """Refuse where the size of a batch is not known."""
    if budget.batch_size is not None:
        return
    for op in block.ops:
        for name in (*op.input_arg_names, *op.output_arg_names):
            variable = None if name == EMPTY else block.find_var_recursive(name)
            if variable is not None and variable.has_shape and min(variable.shape, default=0) < 0:
                raise ArgumentError(
                    f"a budget of memory needs to know how large values are, and {name!r} has "
                    f"shape {list(variable.shape)}; give batch_size, which stands for sizes of -1"
                )


def _too_small(selection: Selection, budget: Budget, most: int) -> BudgetError:
    """What stands in the way of a budget, and the smallest one that can be met."""
    trace = selection.trace
    stays = sum(trace.stays.values())
    enough = selection.smallest_budget(most)
    smallest = selection.best(enough).schedule
    place, held = smallest.held.at_peak()
    op = trace.ops[place]
    named = ", ".join(f"{name} ({as_bytes(size)})" for name, size in held[:_NAMED])
    parameters = sum(
        size
        for name, size in trace.stays.items()
        if isinstance(trace.block.find_var_recursive(name), Parameter)
    )
    site = "" if op.callsite is None else f", built at {op.callsite}"
    told = f"memory={budget.memory!r} ({as_bytes(max(0, most + stays))})"
    needs = f"{stays + enough} bytes ({as_bytes(stays + enough)})"
    error = BudgetError(
        f"{told} cannot be met: the smallest budget found is {needs}: parameters take "
        f"{as_bytes(parameters)}, what else stays between runs {as_bytes(stays - parameters)}, and "
        f"values {as_bytes(smallest.peak)} while {op.type} runs{site}: {named}"
    )
    error.smallest = stays + enough
    return error


def _write(trace: GradientTrace, schedule: Schedule) -> None:
    """Let a block run as a schedule says."""
    block = trace.block
    ops: list[Operator] = []
    drawing: dict[int, Operator] = {}
    position = 0
    for op in block.ops:
        if position == len(trace.ops) or op is not trace.ops[position]:
            ops.append(op)  # a feed or a fetch
            continue
        for step in schedule.added.get(position, ()):
            origin = trace.ops[step.position]
            for name, copy in step.writes.items():
                if step.kind != "seed":
                    _declare(block, name, copy)
            if step.kind == "seed":
                seed, drawing[position] = seeded(origin, block)
                ops.append(seed)
            elif step.kind == "save":
                ins, outs = ({"X": tuple(step.reads)}, {"Out": tuple(step.writes.values())})
                ops.append(Operator(block, "assign", ins, outs, {}, callsite=origin.callsite))
            else:
                ops.append(_copied(drawing.get(step.position, origin), block, step))
        for name, other in schedule.names.get(position, {}).items():
            op.rename_input(name, other)
        ops.append(drawing.get(position, op))
        position += 1
    block.set_ops(ops)


def _declare(block: Block, name: str, copy: str) -> None:
    """Declare a variable that is like another one."""
    like = block.var_recursive(name)
    declared_like(like, block, copy, stop_gradient=like.stop_gradient)


def _copied(op: Operator, block: Block, step: Insertion) -> Operator:
    """An operator that computes again what another one has computed; what nobody reads it does not
    make.
    """
    again = copy_operator(op, block)
    for name, other in step.reads.items():
        again.rename_input(name, other)
    slots = op.instance().output_slots
    for slot, names in op.outputs.items():
        kept = [step.writes.get(name, EMPTY) for name in names]
        optional = slot not in slots or slots[slot].optional
        again.set_output(slot, *(() if optional and {*kept} == {EMPTY} else kept))
    again.role, again.role_vars = OpRole.BACKWARD, ()
    return again
