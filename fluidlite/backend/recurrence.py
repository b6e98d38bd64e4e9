"""The steps of an LSTM by kernels in C, where these are there."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

_KERNELS = f"{__package__}.native.lstm"  # read when an LSTM first runs
_PLAIN = np.dtype("float32")


def _kernel(name: str, *arrays: Any) -> Any:
    """The kernel that takes such arrays, if it is there."""
    if any(type(a) is not np.ndarray or a.dtype != _PLAIN or not a.size for a in arrays):
        return None
    return import_module(_KERNELS).KERNELS.get().function(name)


def lstm_steps(
    order: Iterable[int], gates: Any, by_state: Any, h: Any, c: Any, memory: Any, out: Any
) -> bool:
    """Have all steps computed; whether they are.

    Args:
        order: the numbers of steps.
        gates: [steps, batch, 4 * size], what flows to the gates i, f, g, o but from states; then
            what their functions give.
        by_state: [size, 4 * size], the weights of states.
        h, c: [batch, size], the first state and cell.
        memory, out: [steps, batch, size], for the cells and the states.
    """
    run = _kernel("lstm_step", gates, by_state, h, c)
    if run is None:
        return False
    c = np.ascontiguousarray(c)
    product = np.empty_like(gates[0])
    for t in order:
        np.dot(h, by_state, product)
        if run((product, c, gates[t], memory[t], out[t])):
            return False
        h, c = out[t], memory[t]
    return True


def lstm_slopes(
    order: Iterable[int],
    gates: Any,
    memory: Any,
    first: Any,
    weights: Any,
    flows: Any,
    dh: Any,
    dc: Any,
) -> tuple[Any, Any, Any] | None:
    """Flows to what flows to the gates at all steps, to the first state and to the first cell; None
    where there is no kernel.

    Args:
        order: the numbers of steps, the last one first.
        gates, memory: of :func:`lstm_steps`.
        first: the first cell.
        weights: [4 * size, size], of states.
        flows: [steps, batch, size], to the states; None for none.
        dh, dc: [batch, size], to the last state and the last cell.
    """
    run = _kernel("lstm_slope", gates, memory, first, weights, dh, dc)
    if run is None:
        return None
    gates, memory, first = map(np.ascontiguousarray, (gates, memory, first))
    dh, dc, to_gates = np.array(dh), np.array(dc), np.empty_like(gates)
    steps = list(order)
    for t, before in zip(steps, [memory[t] for t in steps[1:]] + [first], strict=True):
        flow = np.ascontiguousarray(dh) if flows is None else np.add(dh, flows[t], order="C")
        if run((gates[t], memory[t], before, flow, dc, to_gates[t])):
            return None
        dh = np.dot(to_gates[t], weights)
    return to_gates, dh, dc
