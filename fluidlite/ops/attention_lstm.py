"""A long short-term memory that looks at its whole sequence in every step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..opdef.definition import ValueShaped
from ..opdef.sequences import lengths_of, lod_of, offsets_of
from ..opdef.spec import known, need_float, need_ndim, need_shape, same_dtype
from .gates import activated, need_activations
from .time_order import need_states, time_order


class attention_lstm(ValueShaped):
    """Hidden = o * cell_activation(Cell), Cell = f * (the Cell before) + i * v: a long short-term
    memory whose input is a mean of all rows of its sequence, with other weights in each step.

    The weights are softmax(e) over the rows of a sequence, e = relu(X AttentionWeight_X + Cell
    AttentionWeight_C + AttentionBias), and where there is an AttentionScalar, relu(AttentionScalar
    * e + AttentionScalarBias).

    X: a row for each word, [n, m].
    C0, H0: the states before the first word, [number of sequences, size].
    AttentionWeight: [m + size, 1].
    AttentionBias, AttentionScalar, AttentionScalarBias: [1, 1].
    LSTMWeight: [size + m, 4 size], for the state before and the input: the gates of forgetting,
        input and output, then the candidate.
    LSTMBias: [1, 4 size].
    AttentionedX: X AttentionWeight_X + AttentionBias, [n, 1].
    AttentionFCOut: the weights of the last step of the last sequence; LSTMX, LSTMOUT: the mean of
        rows, and gates and candidate there.
    gate_activation, cell_activation, candidate_activation: as of ``lstm``.
    """

    signature = (
        "X[], C0, H0?, AttentionWeight, AttentionBias?, AttentionScalar?, AttentionScalarBias?, "
        "LSTMWeight, LSTMBias -> Hidden[], Cell[], AttentionedX~, AttentionFCOut~, LSTMX~, LSTMOUT~"
    )
    gate_activation: str = "sigmoid"
    cell_activation: str = "tanh"
    candidate_activation: str = "tanh"

    def infer(self, X, C0, H0, AttentionWeight, *others):
        AttentionBias, AttentionScalar, AttentionScalarBias, LSTMWeight, LSTMBias = others
        need_float(X=X)
        weights = dict(AttentionWeight=AttentionWeight, LSTMWeight=LSTMWeight, LSTMBias=LSTMBias)
        single = dict(
            AttentionBias=AttentionBias,
            AttentionScalar=AttentionScalar,
            AttentionScalarBias=AttentionScalarBias,
        )
        states = dict(C0=C0, H0=H0)
        same_dtype(X=X, **weights, **single, **states)
        need_activations(self, "gate_activation", "cell_activation", "candidate_activation")
        if AttentionScalarBias is not None and AttentionScalar is None:
            raise ShapeError("expected an AttentionScalar for AttentionScalarBias, got none")
        need_ndim(2, X=X, C0=C0)
        m, size = X.shape[1], C0.shape[1]
        both = -1 if -1 in (m, size) else m + size
        whole = -1 if size == -1 else 4 * size
        wanted = dict(AttentionWeight=(both, 1), LSTMWeight=(both, whole), LSTMBias=(1, whole))
        wanted |= dict.fromkeys(single, (1, 1)) | dict.fromkeys(states, (-1, size))
        for name, s in (weights | single | states).items():
            need_shape(name, s, wanted[name], f"for X {list(X.shape)} and C0", C0)
        out = X.with_shape([X.shape[0], size])
        bare = out._replace(lod_level=0)
        return (
            out,
            out,
            bare.with_shape([X.shape[0], 1]),
            bare.with_shape([-1, 1]),
            bare.with_shape([1, m]),
            bare.with_shape([1, known(whole, LSTMWeight.shape[1])]),
        )

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        lod = lod_of(ins["X"])
        return {"Hidden": lod, "Cell": lod}

    def expand(
        self,
        f,
        X,
        C0,
        H0,
        AttentionWeight,
        AttentionBias,
        AttentionScalar,
        AttentionScalarBias,
        LSTMWeight,
        LSTMBias,
    ):
        offsets = offsets_of(X, "X")
        need_states(len(offsets) - 1, C0=C0, H0=H0)
        order, lengths = time_order(offsets), lengths_of(offsets)
        if not order.steps:
            raise ShapeError("expected a sequence with a row in X, all of them are empty")
        x = f.bare_rows(X)
        m, d, widest = x.shape[1], C0.shape[1], int(lengths.max())
        rows = lambda v, a, b: f.slice(v, axes=[0], starts=[a], ends=[b])
        flat = lambda v: f.reshape(v, shape=[-1])
        looked = f.matmul(x, rows(AttentionWeight, 0, m))
        if AttentionBias is not None:
            looked = f.elementwise_add(looked, flat(AttentionBias), axis=1)
        live = order.order[: order.first]
        places = np.arange(widest)
        there = places < lengths[live][:, None]
        numbers = np.where(there, np.asarray(offsets)[live][:, None] + places, -1).reshape(-1)
        padded = f.reshape(f.take_rows(x, numbers), shape=[len(live), widest, m])
        scores = f.reshape(f.take_rows(looked, numbers), shape=[len(live), widest])
        mask = np.where(there, 0, -1e30).astype(x.dtype)
        c = f.take_rows(C0, live)
        h = None if H0 is None else f.take_rows(H0, live)
        hidden, cells, seen, means, gates = [], [], [], [], []
        for a, b in order.steps:
            n = b - a
            if c.shape[0] != n:
                c, h = rows(c, 0, n), rows(h, 0, n)
                padded, scores = rows(padded, 0, n), rows(scores, 0, n)
            own = flat(f.matmul(c, rows(AttentionWeight, m, m + d)))
            e = f.relu(f.elementwise_add(scores, own, axis=0))
            if AttentionScalar is not None:
                e = f.elementwise_mul(e, flat(AttentionScalar), axis=1)
                if AttentionScalarBias is not None:
                    e = f.elementwise_add(e, flat(AttentionScalarBias), axis=1)
                e = f.relu(e)
            weights = f.softmax(e + mask[:n])
            mean = f.matmul(f.reshape(weights, shape=[n, 1, widest]), padded)
            mean = f.reshape(mean, shape=[n, m])
            g = f.matmul(mean, rows(LSTMWeight, d, d + m))
            g = f.elementwise_add(g, flat(LSTMBias), axis=1)
            if h is not None:
                g = g + f.matmul(h, rows(LSTMWeight, 0, d))
            cut = lambda k, n=1, g=g: f.slice(g, axes=[1], starts=[k * d], ends=[(k + n) * d])
            forget, i, o = (activated(f, self.gate_activation, cut(k)) for k in range(3))
            v = activated(f, self.candidate_activation, cut(3))
            c = forget * c + i * v
            h = o * activated(f, self.cell_activation, c)
            hidden.append(h)
            cells.append(c)
            seen.append(weights)
            means.append(mean)
            gates.append(f.concat([forget, i, o, v], axis=1))
        ordered = lambda v: f.like_rows(f.take_rows(f.concat(v, axis=0), order.back), X)
        # the last step of the last sequence that has one
        last = int(np.flatnonzero(lengths)[-1])
        t, place = int(lengths[last]) - 1, int(np.flatnonzero(order.order == last)[0])
        final = lambda v: rows(v[t], place, place + 1)
        weights = lambda: f.slice(final(seen), axes=[1], starts=[0], ends=[t + 1])
        return {
            "Hidden": lambda: ordered(hidden),
            "Cell": lambda: ordered(cells),
            "AttentionedX": looked,
            "AttentionFCOut": lambda: f.reshape(weights(), shape=[-1, 1]),
            "LSTMX": lambda: final(means),
            "LSTMOUT": lambda: final(gates),
        }
