"""Runs a chain of element-wise instructions piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernels import threads
from ..kernels.memory_order import as_row, empty_in, from_row, order_of
from .chain_nodes import ChainNode, ElementwiseChain, PieceStep, flat, row_of

Call = Callable[..., Any]
#: a kind and a number: ``"in"`` and ``"out"`` are arrays of a chain, ``"room"`` is one of its
#: rooms, ``"new"`` an array that a node makes, by the number of the node
Place = tuple[str, int]


class ChainRooms:
    """Where the nodes of a chain read and write.

    Args:
        chain: the chain.
        nodes, steps: what it applies.
    """

    def __init__(
        self, chain: ElementwiseChain, nodes: Sequence[ChainNode], steps: Sequence[Any]
    ) -> None:
        self.count = 0
        last = {number: k for k, node in enumerate(nodes) for number in node.read}
        place: dict[Any, Place] = {v.number: ("in", k) for k, v in enumerate(chain.inputs)}
        outputs = {v.number: ("out", k) for k, v in enumerate(chain.outputs)}
        free: list[int] = []
        #: of each node where its operands are, and where its result goes
        self.calls: list[tuple[list[Any], Place]] = []
        for k, (node, step) in enumerate(zip(nodes, steps, strict=True)):
            operands = [_placed(operand, place) for operand in node.operands]
            dying = {place[n] for n in node.read if last[n] == k and place[n][0] == "room"}
            if node.result in outputs:
                target = outputs[node.result]
            elif not step.writes:
                target = "new", k
            else:
                own = next((p for p in dying if _may_be(p, operands, step)), None)
                if own is None and not free:
                    free.append(self.count)
                    self.count += 1
                target = ("room", free.pop()) if own is None else own
                dying.discard(target)
            free += [number for _, number in dying]
            place[node.result] = target
            self.calls.append((operands, target))
        first = next(k for k, node in enumerate(nodes) if node.result in outputs)
        operands, step = self.calls[first][0], steps[first]
        #: the inputs that are not read once a result has been written
        self.over: tuple[int, ...] = tuple(
            number
            for number, value in enumerate(chain.inputs)
            if last[value.number] < first
            or (last[value.number] == first and _may_be(("in", number), operands, step))
        )


def _placed(operand: Any, place: dict[Any, Place]) -> Any:
    if isinstance(operand, list):
        return [place[each] for each in operand]
    return None if operand is None else place[operand]


def _may_be(place: Place, operands: Sequence[Any], step: PieceStep) -> bool:
    """Whether a step may write where it reads."""
    at = [k for k, each in enumerate(operands) if each == place or _holds(each, place)]
    return step.writes and all(k in step.over for k in at)


def _holds(operand: Any, place: Place) -> bool:
    return isinstance(operand, list) and place in operand


class ChainRun:
    """Runs a chain piece by piece."""

    def __init__(
        self,
        chain: ElementwiseChain,
        rooms: ChainRooms,
        steps: dict[int, Any],
        size: int,
        workers: int,
    ) -> None:
        self._size, self._workers, self._rooms = size, workers, rooms.count
        whole = chain.outputs[0].shape
        self._whole = [value.shape == whole for value in chain.inputs]
        #: the places of rows, which are repeated, and what these are in a result
        self._rows = {
            k: row_of(value.shape)
            for k, value in enumerate(chain.inputs)
            if value.size > 1 and value.shape != whole
        }
        self.rows: int = len(self._rows)  #: how many there are
        self._stored = [value.stored for value in chain.outputs]
        self._inputs = len(chain.inputs)
        self._calls = {n: _written(rooms.calls, own) for n, own in steps.items()}

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        *operands, memory = arrays
        several = len(self._stored) > 1
        targets = list(out) if several and out is not None else [out] * len(self._stored)
        like = next(a for a, whole in zip(operands, self._whole) if whole)
        order = order_of(like)
        results = [
            empty_in(order, shape, dtype) if target is None else target
            for (shape, dtype), target in zip(self._stored, targets)
        ]
        whole, rows = self._whole, self._rows
        repeated, memory = memory[: len(rows)], memory[len(rows) :]
        memory = memory.reshape(self._workers, self._rooms, self._size)
        if rows and order is not None:  # parts of a row lie apart
            whole = [cut or k in rows for k, cut in enumerate(whole)]
            for k, row in rows.items():
                operands[k] = np.broadcast_to(operands[k].reshape(row), like.shape)
            rows = {}
        for k, room in zip(rows, repeated):
            np.copyto(room.reshape(-1, operands[k].size), operands[k].reshape(-1))
            operands[k] = room
        ins = [
            as_row(a, order) if cut else a if k in rows else a.reshape((1,) * min(1, a.ndim))
            for k, (a, cut) in enumerate(zip(operands, whole))
        ]
        outs = [as_row(m, order) for m in results]
        size, calls = self._size, self._calls
        total = outs[0].size

        def piece(number: int, worker: int) -> None:
            some = slice(number * size, min(total, (number + 1) * size))
            count = some.stop - some.start
            own = [a[some] if cut else a for a, cut in zip(ins, whole)]
            for k in rows if count < size else ():
                own[k] = own[k][:count]
            calls[count](own, [each[some] for each in outs], memory[worker, :, :count])

        threads.each(piece, -(-total // size), self._workers)
        for target, row in zip(results, outs):
            if not np.shares_memory(target, row):
                target[...] = from_row(row, target.shape, order)
        return tuple(results) if several else results[0]


def _written(calls: Sequence[Any], steps: Sequence[PieceStep]) -> Call:
    """A function of pieces of inputs, of outputs and of rooms that calls each member."""
    names: dict[str, Any] = {"copyto": np.copyto}
    lines = ["def run(ins, outs, rooms):"]

    def said(place: Any) -> str:
        if place is None:
            return "None"
        if isinstance(place, list):
            return f"[{', '.join(map(said, place))}]"
        kind, number = place
        return {"in": "i{}", "out": "o{}", "room": "r{}", "new": "n{}"}[kind].format(number)

    places = [p for operands, target in calls for p in (*flat(operands), target)]
    for kind, array in (("in", "ins"), ("out", "outs"), ("room", "rooms")):
        for place in dict.fromkeys(p for p in places if p[0] == kind):
            lines.append(f"    {said(place)} = {array}[{place[1]}]")
    for k, ((operands, target), step) in enumerate(zip(calls, steps)):
        names[f"f{k}"] = step.run
        read = ", ".join(map(said, operands))
        if step.writes:
            lines.append(f"    f{k}({read}, out={said(target)})")
        elif target[0] == "out":
            lines.append(f"    copyto({said(target)}, f{k}({read}))")
        else:
            lines.append(f"    {said(target)} = f{k}({read})")
    exec(compile("\n".join(lines), "<pieces>", "exec"), names)
    run: Call = names["run"]
    return run
