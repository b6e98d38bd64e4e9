"""Whether all processes run the same program, from the same values: collective operators of other
programs would not meet, and from other values each would train by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotInitializedError
from ..ground.dtypes import Kind
from ..ground.process_group import ProcessGroup, groups
from ..ground.values import on_host
from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.definition import find
from ..scope import Scope

#: the operator that divides the gradient of a loss by the number of processes
SCALES_LOSS = "c_scale_loss_grad"
_BYTES = 16  #: of a digest
#: attributes that each process has of its own
_OWN = frozenset({"seed", "rank", "endpoint", "other_endpoints", "trainer_id"})


def agree(program: Program) -> None:
    """Check that the other processes run the same program, where they have to.

    Raises:
        ArgumentError: they do not; names the ranks, and the first operator that differs.
    """
    group = groups.get()
    if group.size == 1 or not any(
        _communicates(op) for block in program.blocks for op in block.ops
    ):
        return
    begun = group.begin_run()  # a run that is repeated is not compared again
    try:
        _compare(list(_lines(program)), group)
    finally:
        group.end_run(begun)


def share_first_values(program: Program, scope: Scope) -> None:
    """Let all processes go on from the values of process 0, where they sum gradients.

    A start-up program that nobody has rewritten gives each its own, and so may files.

    Raises:
        NotInitializedError: a variable has a value in some of them only.
    """
    group = groups.get()
    if group.size == 1 or not sums_gradients(program):
        return
    variables = sorted(
        (v for v in program.list_vars() if v.persistable and v.kind is Kind.LOD_TENSOR),
        key=lambda v: v.name,
    )
    holders = [scope.find_var(variable.name) for variable in variables]
    values = [on_host(held.value) if held is not None else None for held in holders]
    begun = group.begin_run()  # a run that is repeated has them
    try:
        there = np.array([[isinstance(value, np.ndarray) for value in values]], np.uint8)
        every = group.all_gather(there, 0)
        for number, variable in enumerate(variables):
            holder, value = holders[number], values[number]
            if (every[:, number] != every[0, number]).any():
                has = [rank for rank in range(group.size) if every[rank, number]]
                raise NotInitializedError(
                    f"expected variable {variable.name!r} to have a value in all {group.size} "
                    f"processes or in none, got one on ranks {has[:8]}; run the start-up program, "
                    "or load the file, everywhere"
                )
            if holder is not None and isinstance(value, np.ndarray):
                holder.value = group.broadcast(value, 0, 0)
    finally:
        group.end_run(begun)


def sums_gradients(program: Program) -> bool:
    """Whether a program was rewritten to sum its gradients over all processes."""
    return any(op.type == SCALES_LOSS for block in program.blocks for op in block.ops)


def _communicates(op: Operator) -> bool:
    definition = find(op.type)
    return definition is not None and definition.communicates


def _lines(program: Program) -> Iterator[str]:
    """What has to be the same, line by line."""
    for block in program.blocks:
        for op in block.ops:
            attrs = {k: v for k, v in sorted(op.attrs.items()) if k not in _OWN}
            yield f"{op.type}(in={dict(op.inputs)}, out={dict(op.outputs)}, attrs={attrs})"
        for variable in block.vars.values():
            if variable.persistable and variable.has_shape:
                yield f"variable {variable.name}: {variable.dtype}{list(variable.shape)}"


def _compare(lines: list[str], group: ProcessGroup) -> None:
    from hashlib import blake2b

    written = (line.encode("utf-8", "surrogatepass") for line in lines)
    digests = [blake2b(line, digest_size=_BYTES).digest() for line in written]
    own = blake2b(b"".join(digests), digest_size=_BYTES).digest()
    every = group.all_gather(np.frombuffer(own, np.uint8)[None], 0)
    if (every == every[0]).all():
        return
    counts = group.all_gather(np.array([len(lines)]), 0)
    padded = np.zeros([1, counts.max(), _BYTES], np.uint8)
    padded[0, : len(lines)] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _BYTES)
    tables = group.all_gather(padded, 0)
    others = [rank for rank in range(group.size) if (every[rank] != every[0]).any()]
    differs = (tables[others[0]] != tables[0]).any(axis=1)
    place = int(differs.argmax()) if differs.any() else int(counts.min())
    text = lines[place] if place < len(lines) else "nothing any more"
    first, other = _text_of(0, text, group), _text_of(others[0], text, group)
    raise ArgumentError(
        f"expected all {group.size} processes to run the same program, got another one on rank"
        f"{'s' * (len(others) > 1)} {', '.join(map(str, others[:8]))} than on rank 0; the first "
        f"difference is number {place}:\n  rank 0: {first}\n  rank {others[0]}: {other}\n"
        f"Build it in the same order everywhere, and let nothing in it depend on the rank."
    )


def _text_of(rank: int, text: str, group: ProcessGroup) -> str:
    """A line of one process."""
    written: Any = np.zeros(300, np.uint8)
    data = np.frombuffer(text.encode("utf-8", "replace")[: len(written)], np.uint8)
    written[: len(data)] = data
    return bytes(group.broadcast(written, rank, 0)).rstrip(b"\0").decode(errors="replace")
