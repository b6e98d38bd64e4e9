"""Gated recurrent units over sequences of several lengths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.values import LoDTensor, bare
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated_as
from ..opdef.sequences import lod_of, offsets_of
from ..opdef.spec import Spec, agree, known, need_ndim, same_float
from .gates import activate, activated, need_activations, sigmoid_of_half, slope
from .time_order import (
    by_sequence,
    gate_by_gate,
    need_states,
    of_gates,
    row_by_row,
    state_before,
    time_order,
)


class gru(Op):
    """Hidden = (1 - u) * Hidden_before + u * c: a gated recurrent unit, step by step over
    sequences.

    The gates are u = gate_activation(Input_u + Hidden_before W_u + Bias_u) and r likewise; the
    candidate is c = activation(Input_c + (r * Hidden_before) W_c + Bias_c).

    (Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.)

    Input: a row for each word, for u, r and c: [n, 3 size].
    H0: the state before the first word, [number of sequences, size].
    Weight: [size, 3 size]; its memory holds [W_u W_r], of shape [size, 2 size], and behind it W_c,
        of shape [size, size].
    Bias: [1, 3 size].
    BatchGate, BatchResetHiddenPrev, BatchHidden: u, r and c; r * Hidden_before; and Hidden; by
        steps, the longest sequence first.
    is_reverse: whether a sequence begins at its end.
    origin_mode: whether Hidden = u * Hidden_before + (1 - u) * c, as in the article.
    """

    signature = (
        "Input[], H0?, Weight, Bias? -> BatchGate~, BatchResetHiddenPrev~, BatchHidden~, Hidden[]"
    )
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    activation: str = "tanh"
    gate_activation: str = "sigmoid"
    is_reverse: bool = False
    origin_mode: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec, H0: Spec, Weight: Spec, Bias: Spec) -> Specs:
        same_float(Input=Input, H0=H0, Weight=Weight, Bias=Bias)
        need_activations(self, "activation", "gate_activation")
        need_ndim(2, Input=Input, Weight=Weight)
        size = Weight.shape[0]
        size = known(size, -1 if Weight.shape[1] % 3 else Weight.shape[1] // 3)
        whole = -1 if size == -1 else 3 * size
        rows = Input.shape[0]
        wanted = dict(Weight=(size, whole), Input=(rows, whole), H0=(-1, size), Bias=(1, whole))
        for name, s in dict(Weight=Weight, Input=Input, H0=H0, Bias=Bias).items():
            if s is not None and not (s.ndim == 2 and all(map(agree, s.shape, wanted[name]))):
                shape = ", ".join("n" if n == -1 else str(n) for n in wanted[name])
                raise ShapeError(
                    f"expected {name} [{shape}] for Weight {list(Weight.shape)}, got "
                    f"{list(s.shape)}"
                )
        out = Input.with_shape([rows, size])
        bare = out._replace(lod_level=0)
        return bare.with_shape([rows, whole]), bare, bare, out

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Hidden": lod_of(ins["Input"])}

    def order(self, Input: Any, H0: Any) -> Any:
        """The rows by steps."""
        offsets = offsets_of(Input, "Input")
        need_states(len(offsets) - 1, H0=H0)
        return time_order(offsets, self.is_reverse)

    def expand(self, f: Any, Input: Value, H0: Value, Weight: Value, Bias: Value) -> Values:
        order = self.order(Input, H0)
        d = Weight.shape[0]
        cut = lambda v, k, n=1: f.slice(v, axes=[1], starts=[k * d], ends=[(k + n) * d])
        rows = lambda v, a, b: f.slice(v, axes=[0], starts=[a], ends=[b])
        x = f.bare_rows(Input)
        if Bias is not None:
            x = f.elementwise_add(x, f.reshape(Bias, shape=[-1]), axis=1)
        x = f.take_rows(x, order.rows)
        flat = f.reshape(Weight, shape=[-1])
        for_gates = f.reshape(rows(flat, 0, 2 * d * d), shape=[d, 2 * d])
        for_candidate = f.reshape(rows(flat, 2 * d * d, 3 * d * d), shape=[d, d])
        h = f.take_rows(x, np.full(order.first, -1))  # zeros
        h = cut(h, 0) if H0 is None else f.take_rows(H0, order.order[: order.first])
        gates, resets, hidden = [], [], []
        for a, b in order.steps:
            g = rows(x, a, b)
            if h.shape[0] != b - a:
                h = rows(h, 0, b - a)
            both = activated(f, self.gate_activation, cut(g, 0, 2) + f.matmul(h, for_gates))
            u, reset = cut(both, 0), cut(both, 1) * h
            c = activated(f, self.activation, cut(g, 2) + f.matmul(reset, for_candidate))
            old, new = (c, h) if self.origin_mode else (h, c)
            h = old + u * (new - old)
            gates.append(f.concat([both, c], axis=1))
            resets.append(reset)
            hidden.append(h)
        joined = lambda values: f.concat(values, axis=0)
        return {
            "BatchGate": lambda: joined(gates),
            "BatchResetHiddenPrev": lambda: joined(resets),
            "BatchHidden": lambda: joined(hidden),
            "Hidden": lambda: f.like_rows(f.take_rows(joined(hidden), order.back), Input),
        }

    def run_numpy(self, xp: Any, Input: Array, H0: Array, Weight: Array, Bias: Array) -> Arrays:
        order, d = self.order(Input, H0), Weight.shape[0]
        gates = gate_by_gate(Input.data, order, 3)
        if Bias is not None:
            gates += Bias.reshape(3, 1, d)
        for_gates, for_candidate = _matrices(Weight)
        for_gates = np.ascontiguousarray(of_gates(for_gates, 2))
        halved = self.gate_activation == "sigmoid"
        if halved:  # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2
            for_gates *= 0.5
            gates[:2] *= 0.5
        n, first = len(order.rows), order.first
        resets, hidden = np.empty((n, d), gates.dtype), np.empty((n, d), gates.dtype)
        product, part = np.empty((2, first, d), gates.dtype), np.empty((first, d), gates.dtype)
        h = None if H0 is None else H0[order.order[:first]]
        for a, b in order.steps:
            m, both, c = b - a, gates[:2, a:b], gates[2, a:b]
            reset, now = resets[a:b], hidden[a:b]
            if h is not None:
                h, p = h[:m], product[:, :m]
                np.matmul(h, for_gates, out=p)
                both += p
            if halved:
                sigmoid_of_half(both)
            else:
                activate(self.gate_activation, both)
            u = both[0]
            if h is None:
                reset[...] = 0
            else:
                np.multiply(both[1], h, out=reset)
                p = part[:m]
                np.matmul(reset, for_candidate, out=p)
                c += p
            activate(self.activation, c)
            if h is None:
                np.multiply(u, c, out=now)
                if self.origin_mode:
                    np.subtract(c, now, out=now)
            else:
                old, new = (c, h) if self.origin_mode else (h, c)
                np.subtract(new, old, out=now)
                now *= u
                now += old
            h = now
        out = np.take(hidden, order.back, axis=0)
        return row_by_row(gates), resets, hidden, LoDTensor(out, Input.offsets)

    def grad_numpy(
        self,
        xp,
        Input,
        H0,
        Weight,
        Bias,
        BatchGate,
        BatchResetHiddenPrev,
        BatchHidden,
        Hidden,
        dHidden,
        dBatchGate=None,
        dBatchResetHiddenPrev=None,
        dBatchHidden=None,
    ):
        order, d = self.order(Input, H0), Weight.shape[0]
        from_gates, from_candidate = _matrices(Weight)  # transposed: faster so for few rows
        from_gates = np.ascontiguousarray(from_gates.reshape(d, 2, d).transpose(1, 2, 0))
        from_candidate = np.ascontiguousarray(from_candidate.T)
        before = state_before(order, BatchHidden, H0)
        dhidden = np.take(bare(dHidden), order.rows, axis=0)
        if dBatchHidden is not None:
            dhidden += dBatchHidden
        first, blocks = order.first, order.blocks()
        most = max((b - a for a, b, _ in blocks), default=0)
        empty = lambda *shape: np.empty(shape, BatchGate.dtype)
        gate_room, room, kepts = empty(3, most, d), empty(3, most, d), empty(most, d)
        flow, carry = empty(2, first, d), empty(first, d)
        dreset, t = empty(first, d), empty(first, d)
        dgates = np.empty_like(BatchGate)
        more, after = None, 0
        for start, end, steps in blocks:
            gates, parts = gate_room[:, : end - start], room[:, : end - start]
            gates[...] = of_gates(BatchGate[start:end], 3)
            u, r, c = gates
            slope(self.gate_activation, gates[:2], parts[:2])
            slope(self.activation, c, parts[2])
            if dBatchGate is not None:
                more = of_gates(dBatchGate[start:end], 3) * parts
            complement = np.subtract(1, u, out=kepts[: end - start])
            held = before[start:end]
            parts[1] *= held
            if self.origin_mode:
                parts[2] *= complement
                complement, u = u, np.subtract(held, c)
            else:
                parts[2] *= u
                u = np.subtract(c, held, out=c)
            parts[0] *= u
            for a, b in steps:
                m, at = b - a, slice(a - start, b - start)
                dh, dr, back, part = dhidden[a:b], dreset[:m], carry[:m], t[:m]
                if after:
                    dh[:after] += carry[:after]
                dc = parts[2, at]
                dc *= dh
                if more is not None:
                    dc += more[2, at]
                np.matmul(dc, from_candidate, out=dr)
                if dBatchResetHiddenPrev is not None:
                    dr += dBatchResetHiddenPrev[a:b]
                du, dreset_gate = parts[0, at], parts[1, at]
                du *= dh
                dreset_gate *= dr
                if more is not None:
                    parts[:2, at] += more[:2, at]
                np.matmul(parts[:2, at], from_gates, out=flow[:, :m])
                np.add(flow[0, :m], flow[1, :m], out=back)
                dh *= complement[at]
                back += dh
                np.multiply(dr, r[at], out=part)
                back += part
                after = m
            of_gates(dgates[start:end], 3)[...] = parts
        gradients = {"Input": np.take(dgates, order.back, axis=0)}
        if H0 is not None:
            gradients["H0"] = by_sequence(order, carry, H0)
        start = 0 if H0 is not None else order.first
        parts = (
            before[start:].T @ dgates[start:, : 2 * d],
            BatchResetHiddenPrev[start:].T @ dgates[start:, 2 * d :],
        )
        joined = np.concatenate([part.reshape(-1) for part in parts])
        gradients["Weight"] = joined.reshape(Weight.shape)
        if Bias is not None:
            gradients["Bias"] = np.add.reduce(dgates, axis=0)[None]
        return gradients

    grad = differentiated_as(grad_numpy)


def _matrices(weight):
    """What the memory of the weights holds: a matrix for both gates, and one for the candidate."""
    d = weight.shape[0]
    flat = weight.reshape(-1)
    return flat[: 2 * d * d].reshape(d, 2 * d), flat[2 * d * d :].reshape(d, d)
