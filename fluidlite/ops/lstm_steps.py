"""The fast kernels of long short-term memories.

At each step only the rows that are still there are computed, in buffers that are made once.  Gates
lie one after the other there, so that what is computed is contiguous, and products are small
enough for the kernels of BLAS that rearrange nothing.  The gradients of all gates are collected, so
that weights need one product for all steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..ground.values import bare
from ..opdef.annotations import Array
from .gates import activate, sigmoid_of_half, slope
from .time_order import (
    by_sequence,
    gate_by_gate,
    of_gates,
    part_before,
    row_by_row,
    sequence_before,
)


class MemoryValues(NamedTuple):
    """What the operator handed out, or what flows to it; None where there is nothing."""

    gates: Any  #: by steps
    activated: Any  #: of the cells, by steps
    cells: Any  #: by sequences
    out: Any  #: what is fed back, by sequences
    hidden: Any  #: before a projection, by steps


class LSTMSteps:
    """All steps of a long short-term memory.

    Args:
        op: the operator, with its attributes.
        order: the rows by steps.
        H0, C0, Weight, Bias, ProjWeight: as the operator takes them; None if there is none.
    """

    def __init__(self, op, order, H0, C0, Weight, Bias, ProjWeight):
        self.op, self.order = op, order
        self.H0, self.C0, self.W, self.P = H0, C0, Weight, ProjWeight
        self.size = Weight.shape[1] // 4
        self.bias = Bias[0, : 4 * self.size]
        d = self.size
        self.peep = Bias[0, 4 * d : 7 * d].reshape(3, d) if op.use_peepholes else None

    def ordered(self, values: Array) -> Array:
        """Rows by steps, as rows of the sequences."""
        return np.take(values, self.order.back, axis=0)

    def forward(self, x):
        """Go through all steps; what they made stays in ``gates``, ``cells``, ``activated``,
        ``hidden`` and ``out``, by steps.
        """
        op, order, d, peep = self.op, self.order, self.size, self.peep
        n, first, bias = len(order.rows), order.first, self.bias.reshape(4, 1, d)
        gates = gate_by_gate(x, order, 4)
        W = np.ascontiguousarray(self.W.reshape(-1, 4, d).transpose(1, 0, 2))
        gates += bias
        whole = op.gate_activation == "sigmoid" and op.candidate_activation == "tanh"
        if whole:  # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2, so that one tanh does for all
            gates[1:] *= 0.5
            W[1:] *= 0.5
            peep = None if peep is None else peep * peep.dtype.type(0.5)
        cells = self.cells = np.empty((n, d), x.dtype)
        pre = self.activated = np.empty((n, d), x.dtype)
        hidden = self.hidden = np.empty((n, d), x.dtype)
        out = self.out = hidden if self.P is None else np.empty((n, self.P.shape[1]), x.dtype)
        product, part = np.empty((4, first, d), x.dtype), np.empty((first, d), x.dtype)
        h = c = None
        if self.H0 is not None:
            h, c = (v[order.order[:first]] for v in (self.H0, self.C0))
        middle = 4 if peep is None else 3  # the gate of output has to wait for the cell
        for a, b in order.steps:
            m, g, now, last, r = b - a, gates[:, a:b], cells[a:b], pre[a:b], hidden[a:b]
            t = part[:m]
            if h is not None:
                h, c, p = h[:m], c[:m], product[:, :m]
                np.matmul(h, W, out=p)
                g += p
                if peep is not None:
                    for k in (0, 1):
                        np.multiply(c, peep[k], out=t)
                        g[k + 1] += t
            if whole:
                np.tanh(g[:middle], out=g[:middle])
                v = g[1:middle]
                v *= 0.5
                v += 0.5
            else:
                activate(op.candidate_activation, g[0])
                activate(op.gate_activation, g[1:middle])
            np.multiply(g[0], g[1], out=now)
            if c is not None:
                np.multiply(c, g[2], out=t)
                now += t
            if op.clips("cell_clip"):
                np.clip(now, -op.cell_clip, op.cell_clip, out=now)
            o = g[3]
            if peep is not None:
                np.multiply(now, peep[2], out=t)
                o += t
                if whole:
                    sigmoid_of_half(o)
                else:
                    activate(op.gate_activation, o)
            activate(op.cell_activation, now, out=last)
            np.multiply(o, last, out=r)
            if self.P is not None:
                r = out[a:b]
                np.matmul(hidden[a:b], self.P, out=r)
                activate(op.proj_activation, r)
                if op.clips("proj_clip"):
                    np.clip(r, -op.proj_clip, op.proj_clip, out=r)
            h, c = r, now
        self.gates = row_by_row(gates)
        return self

    def backward(self, made, flows):
        """Gradients by input slot.

        Args:
            made: what the operator handed out.
            flows: what flows there; at least to ``out``.
        """
        op, order, d, peep = self.op, self.order, self.size, self.peep
        rows, first = order.rows, order.first
        take = lambda v: None if v is None else np.take(bare(v), rows, axis=0)
        gates, pre = made.gates, made.activated
        cells, dout, dcell = map(take, (made.cells, flows.out, flows.cells))
        din = np.empty_like(gates)
        unproject = None if self.P is None else np.ascontiguousarray(self.P.T)
        dproduct = None if self.P is None else self._slopes_of_projection(take(made.out))
        blocks = order.blocks()
        most = max((b - a for a, b, _ in blocks), default=0)
        empty = lambda *shape: np.empty(shape, gates.dtype)
        rooms = [empty(4, most, d), empty(4, most, d)]  # a block reads the one behind it
        gate_room, befores, to_cells = empty(4, most, d), empty(most, d), empty(most, d)
        # a gate at a time, and transposed: faster so for few rows
        back = np.ascontiguousarray(self.W.reshape(-1, 4, d).transpose(1, 2, 0))
        flow, through = empty(4, first, len(self.W)), empty(first, d)
        carry, dc, t = (empty(first, d) for _ in range(3))
        of_peep = np.zeros((3, d), gates.dtype)
        behind, more, after = None, None, 0
        for start, end, steps in blocks:
            rooms.reverse()
            room, block = rooms[0][:, : end - start], gate_room[:, : end - start]
            block[...] = of_gates(gates[start:end], 4)
            slope(op.candidate_activation, block[0], room[0])
            slope(op.gate_activation, block[1:], room[1:])
            if flows.gates is not None:
                more = of_gates(flows.gates[start:end], 4) * room
            before = part_before(order, start, end, cells, self.C0, befores)
            room[0] *= block[1]
            room[1] *= block[0]
            room[2] *= before
            room[3] *= pre[start:end]
            to_cell = slope(op.cell_activation, pre[start:end], to_cells[: end - start])
            direct = None if flows.activated is None else flows.activated[start:end] * to_cell
            to_cell *= block[3]
            for a, b in steps:
                m, at = b - a, slice(a - start, b - start)
                dh, c, now = dout[a:b], dc[:m], room[:, at]
                if after:
                    np.matmul(behind, back, out=flow[:, :after])
                    np.add.reduce(flow[:, :after], axis=0, out=flow[0, :after])
                    dh[:after] += flow[0, :after]
                if self.P is not None:
                    dproduct[a:b] *= dh
                    dh = through[:m]
                    np.matmul(dproduct[a:b], unproject, out=dh)
                    if flows.hidden is not None:
                        dh += flows.hidden[a:b]
                np.multiply(dh, to_cell[at], out=c)
                if dcell is not None:
                    c += dcell[a:b]
                if direct is not None:
                    c += direct[at]
                if after:
                    c[:after] += carry[:after]
                o = now[3]
                o *= dh
                if more is not None:
                    o += more[3, at]
                if peep is not None:
                    np.multiply(o, peep[2], out=t[:m])
                    c += t[:m]
                if op.clips("cell_clip"):
                    c *= np.abs(cells[a:b]) < op.cell_clip
                three = now[:3]
                three *= c
                if more is not None:
                    three += more[:3, at]
                np.multiply(c, block[2, at], out=carry[:m])
                if peep is not None:
                    for k in (0, 1):
                        np.multiply(now[k + 1], peep[k], out=t[:m])
                        carry[:m] += t[:m]
                behind, after = now, m
            din.reshape(-1, d)[order.places(4)[:, start:end]] = room
            if peep is not None:
                for k, state in enumerate((before, before, cells[start:end])):
                    of_peep[k] += np.einsum("nd,nd->d", room[k + 1], state)
        gradients = {"Input": din}
        if self.H0 is not None:
            to_first = 0 if behind is None else np.add.reduce(np.matmul(behind, back), axis=0)
            gradients["H0"] = by_sequence(order, to_first, self.H0)
            gradients["C0"] = by_sequence(order, carry, self.C0)
        gradients["Weight"] = sequence_before(order, bare(made.out), self.H0).T @ din
        bias = np.add.reduce(din, axis=0)
        gradients["Bias"] = (bias if peep is None else np.concatenate([bias, of_peep.reshape(-1)]))[
            None
        ]
        if self.P is not None:
            gradients["ProjWeight"] = made.hidden.T @ dproduct
        return gradients

    def _slopes_of_projection(self, out):
        """The derivatives of projections, by steps."""
        found = slope(self.op.proj_activation, out, np.empty_like(out))
        if self.op.clips("proj_clip"):
            found *= np.abs(out) < self.op.proj_clip
        return found
