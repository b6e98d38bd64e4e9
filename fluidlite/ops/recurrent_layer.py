"""One direction of a layer of recurrent cells, over all steps of sequences."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Specs, Values
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Op
from ..opdef.gradient import differentiated_as
from ..opdef.spec import agree, need_integer, need_ndim, need_shape, same_float

#: kind of a cell -> how many rows of weights there are for each element of its state
GATES = {"LSTM": 4, "GRU": 3, "tanh": 1, "relu": 1}


class recurrent_layer(Op):
    """Out[t] = the state of a cell behind step t, which reads Input[t] and the state before.

    With a = WeightIh Input[t] + BiasIh and b = WeightHh h + BiasHh, s for the logistic function:

    LSTM (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997): the
    rows of a + b are i, f, g, o; c = s(f) c + s(i) tanh(g); h = s(o) tanh(c).
    GRU (Cho et al., Learning phrase representations, EMNLP 2014): the rows of a and b are r, z, n;
    n = tanh(a_n + s(r) b_n) with r and z of a + b; h = s(z) h + (1 - s(z)) n.
    tanh, relu: h is that function of a + b.

    Input: [steps, batch, width].
    InitH, InitC: the first state and, of an LSTM, the first cell: [batch, size].
    WeightIh, WeightHh: [gates * size, width] and [gates * size, size].
    BiasIh, BiasHh: [gates * size].
    Lengths: how many steps each row has, [batch]; behind them Out is 0 and states stay.
    Out: [steps, batch, size].
    LastH, LastC: the last state and cell, of the shape of InitH.
    Gates: what the functions of the gates gave, [steps, batch, gates * size].
    Memory: the cells of an LSTM; of a GRU, b_n: [steps, batch, size].
    mode: LSTM, GRU, tanh or relu.
    is_reverse: whether the last step comes first.
    """

    signature = (
        "Input, InitH, InitC?, WeightIh, WeightHh, BiasIh?, BiasHh?, Lengths?! -> "
        "Out, LastH, LastC?, Gates~, Memory?~"
    )
    mode: str = REQUIRED
    is_reverse: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, *specs: Any) -> Specs:
        Input, InitH, InitC, WeightIh, WeightHh, BiasIh, BiasHh, Lengths = specs
        if self.mode not in GATES:
            raise AttributeValueError(f"expected mode {', '.join(GATES)}, got {self.mode!r}")
        if (InitC is not None) != (self.mode == "LSTM"):
            raise ShapeError("expected InitC for an LSTM, and for nothing else")
        floats = zip(self.input_slots, specs[:-1])
        same_float(**{name: spec for name, spec in floats if spec is not None})
        need_ndim(3, Input=Input)
        need_ndim(2, InitH=InitH)
        steps, rows, width = Input.shape
        size = InitH.shape[1]
        height = -1 if size == -1 else GATES[self.mode] * size
        need_shape("InitH", InitH, (rows, size), "[batch, size]")
        need_shape("WeightIh", WeightIh, (height, width), "[gates * size, width]")
        need_shape("WeightHh", WeightHh, (height, size), "[gates * size, size]")
        for name, spec in dict(BiasIh=BiasIh, BiasHh=BiasHh).items():
            if spec is not None:
                need_shape(name, spec, (height,), "[gates * size]")
        if InitC is not None:
            need_shape("InitC", InitC, InitH.shape, "as InitH")
        if Lengths is not None:
            need_integer(Lengths=Lengths)
            if len(Lengths.shape) != 1 or not agree(Lengths.shape[0], rows):
                raise ShapeError(f"expected Lengths of shape [batch], got {list(Lengths.shape)}")
        out = Input.with_shape([steps, rows, size])
        memory = out if self.mode in ("LSTM", "GRU") else None
        return out, InitH, InitC, Input.with_shape([steps, rows, height]), memory

    def order(self, steps: int) -> range:
        """The numbers of steps, the first first."""
        return range(steps)[:: -1 if self.is_reverse else 1]

    def expand(self, f, Input, InitH, InitC, WeightIh, WeightHh, BiasIh, BiasHh, Lengths) -> Values:
        steps, size = Input.shape[0], InitH.shape[1]
        here = None
        if Lengths is not None:
            mask = f.sequence_mask(Lengths, maxlen=steps, out_dtype=Input.dtype)
            here = [f.slice(mask, axes=[1], starts=[t], ends=[t + 1]) for t in range(steps)]
        h, c = InitH, InitC
        behind: list[Any] = [None] * steps
        for t in self.order(steps):
            cut = f.slice(Input, axes=[0], starts=[t], ends=[t + 1])
            x = f.reshape(cut, shape=list(Input.shape[1:]))
            a, b = _affine(f, x, WeightIh, BiasIh), _affine(f, h, WeightHh, BiasHh)
            new_h, new_c, gates, memory = self._cell(f, a, b, h, c, size)
            out = new_h
            if here is not None:
                out = new_h * here[t]
                new_h = h + (new_h - h) * here[t]
                new_c = None if c is None else c + (new_c - c) * here[t]
                memory = memory if c is None else new_c
            h, c = new_h, new_c
            behind[t] = out, gates, memory
        out, gates, memory = (
            None if values[0] is None else f.stack(list(values), axis=0) for values in zip(*behind)
        )
        return out, h, c, gates, memory

    def _cell(self, f: Any, a: Any, b: Any, h: Any, c: Any, size: int) -> tuple[Any, ...]:
        """The next state and cell, the gates, and what is kept beside them."""
        cut = lambda v, k: f.slice(v, axes=[1], starts=[k * size], ends=[(k + 1) * size])
        if self.mode == "LSTM":
            both = a + b
            i, v, o = (f.sigmoid(cut(both, k)) for k in (0, 1, 3))
            g = f.tanh(cut(both, 2))
            c = v * c + i * g
            return o * f.tanh(c), c, f.concat([i, v, g, o], axis=1), c
        if self.mode == "GRU":
            r, z = (f.sigmoid(cut(a, k) + cut(b, k)) for k in (0, 1))
            from_state = cut(b, 2)
            n = f.tanh(cut(a, 2) + r * from_state)
            return (h - n) * z + n, None, f.concat([r, z, n], axis=1), from_state
        h = (f.tanh if self.mode == "tanh" else f.relu)(a + b)
        return h, None, h, None

    def run_numpy(
        self,
        xp: Any,
        Input: Array,
        InitH: Array,
        InitC: Array,
        WeightIh: Array,
        WeightHh: Array,
        BiasIh: Array,
        BiasHh: Array,
        Lengths: Array,
    ) -> Arrays:
        steps, rows, width = Input.shape
        size = InitH.shape[1]
        of_state = None if BiasHh is None else BiasHh[2 * size :]
        bias = self._bias(BiasIh, BiasHh, size)
        gates = np.dot(Input.reshape(-1, width), WeightIh.T)
        if bias is not None:
            gates += bias
        gates = gates.reshape(steps, rows, gates.shape[-1])
        out = np.empty((steps, rows, size), gates.dtype)
        memory: Any = np.empty_like(out) if self.mode in ("LSTM", "GRU") else None
        by_state = np.ascontiguousarray(WeightHh.T)
        if self.mode == "LSTM" and Lengths is None:
            order = self.order(steps)
            if xp.lstm_steps(order, gates, by_state, InitH, InitC, memory, out):
                return out, out[order[-1]], memory[order[-1]], gates, memory
        if self.mode in _HALVED:  # as the logistic function of x is (tanh(x / 2) + 1) / 2
            halves, *scales = _scales(self.mode, rows, size, Input.dtype)
            by_state = by_state * halves  # a new array: it may be the weights themselves
            gates *= halves
        product, room = np.empty_like(gates[0]), np.empty_like(out[0])
        here = _here(Lengths, steps)
        h, c = InitH, InitC
        for t in self.order(steps):
            before, at = (h, c), gates[t]
            np.dot(h, by_state, product)
            if self.mode == "LSTM":
                c = _lstm_step(at, product, c, scales, memory[t], room)
                h = np.multiply(at[:, 3 * size :], np.tanh(c, out=room), out=out[t])
            elif self.mode == "GRU":
                h = _gru_step(at, product, of_state, h, memory[t], out[t])
            else:
                np.add(at, product, out=at)
                h = np.tanh(at, out=at) if self.mode == "tanh" else _relu(at, out=at)
                out[t] = h
            if here is not None:
                new_h = h
                h = np.where(here[t], h, before[0])
                np.multiply(new_h, here[t], out=out[t])
                if c is not None:
                    c = memory[t] = np.where(here[t], c, before[1])
        return out, h, c, gates, memory

    def grad_numpy(
        self,
        xp,
        Input,
        InitH,
        InitC,
        WeightIh,
        WeightHh,
        BiasIh,
        BiasHh,
        Lengths,
        Out,
        Gates,
        Memory,
        dOut=None,
        dLastH=None,
        dLastC=None,
        dGates=None,
        dMemory=None,
    ):
        steps, rows, width = Input.shape
        here = _here(Lengths, steps)
        before_h = self._before(self._carried(Out, InitH, here), InitH)
        by_kernel = None
        if self.mode == "LSTM" and Lengths is None and dGates is None and dMemory is None:
            ends = (np.zeros_like(InitH) if flow is None else flow for flow in (dLastH, dLastC))
            order = reversed(self.order(steps))
            by_kernel = xp.lstm_slopes(order, Gates, Memory, InitC, WeightHh, dOut, *ends)
        if by_kernel is not None:
            to_gates, dh, dc = by_kernel
            to_state = to_input = to_gates.reshape(steps * rows, WeightHh.shape[0])
        else:
            flows = dOut, dLastH, dLastC, dGates, dMemory
            values = InitH, InitC, WeightHh, Gates, Memory
            to_input, to_state, dh, dc = self._back(*values, before_h, here, *flows)
        states = before_h.reshape(steps * rows, before_h.shape[-1])
        gradients = dict(
            Input=(to_input @ WeightIh).reshape(Input.shape),
            InitH=dh,
            WeightIh=to_input.T @ Input.reshape(-1, width),
            WeightHh=to_state.T @ states,
        )
        if dc is not None:
            gradients["InitC"] = dc
        ones = np.ones(steps * rows, Input.dtype)
        if BiasIh is not None:
            gradients["BiasIh"] = np.dot(ones, to_input)
        if BiasHh is not None:
            same = BiasIh is not None and to_state is to_input
            gradients["BiasHh"] = gradients["BiasIh"].copy() if same else np.dot(ones, to_state)
        return gradients

    grad = differentiated_as(grad_numpy)

    def _back(
        self,
        InitH: Array,
        InitC: Array,
        WeightHh: Array,
        Gates: Array,
        Memory: Array,
        before_h: Array,
        here: Any,
        dOut: Any,
        dLastH: Any,
        dLastC: Any,
        dGates: Any,
        dMemory: Any,
    ) -> tuple[Any, ...]:
        """Flows to what inputs and states give the gates at all steps, as matrices; and to the
        first state and cell.
        """
        steps, rows, _ = before_h.shape
        if self.mode == "LSTM":
            slopes = _lstm_slopes(Gates, Memory, self._before(Memory, InitC), dGates)
        elif self.mode == "GRU":
            slopes = _gru_slopes(Gates, Memory, before_h, dGates, dMemory)
        else:
            slopes = _simple_slopes(self.mode, Gates, dGates)
        dh = np.zeros_like(InitH) if dLastH is None else dLastH
        dc = dLastC if dLastC is not None else None if InitC is None else np.zeros_like(InitC)
        room = np.empty_like(InitH)
        for t in reversed(self.order(steps)):
            stays_h = stays_c = None
            flow = dh if dOut is None else dh + dOut[t]
            if dc is not None and dMemory is not None:
                dc = dc + dMemory[t]
            if here is not None:
                stays_h, flow = np.where(here[t], 0, dh), np.where(here[t], flow, 0)
                if dc is not None:
                    stays_c, dc = np.where(here[t], 0, dc), np.where(here[t], dc, 0)
            by_state = slopes.by_state[t]
            if self.mode == "LSTM":
                assert dc is not None
                dc = np.add(dc, np.multiply(flow, slopes.of_cell[t], out=room))
                by_cell, by_output = by_state[:, :3], by_state[:, 3]
                np.multiply(by_cell, dc[:, None], out=by_cell)
                np.multiply(by_output, flow, out=by_output)
                np.multiply(dc, slopes.stays[t], out=dc)
            else:
                np.multiply(by_state, flow[:, None], out=by_state)
            if slopes.more is not None:
                by_state += slopes.more[t]
            dh = np.dot(by_state.reshape(rows, WeightHh.shape[0]), WeightHh)
            if self.mode == "GRU":
                slopes.of_cell[t] *= flow
                dh += flow * slopes.stays[t]
            if stays_h is not None:
                dh += stays_h
            if stays_c is not None:
                dc = dc + stays_c
        if slopes.of_cell_more is not None:
            slopes.of_cell[...] += slopes.of_cell_more
        to_state = slopes.by_state.reshape(steps * rows, WeightHh.shape[0])
        to_input = to_state
        if self.mode == "GRU":
            parts = [slopes.by_state[:, :, :2], slopes.of_cell[:, :, None]]
            to_input = np.concatenate(parts, axis=2).reshape(steps * rows, WeightHh.shape[0])
        return to_input, to_state, dh, dc

    def _bias(self, BiasIh: Any, BiasHh: Any, size: int) -> Any:
        """What is added to the gates at all steps; a GRU's candidate takes the state's later."""
        if BiasHh is None:
            return BiasIh
        if self.mode == "GRU":
            BiasHh = BiasHh.copy()
            BiasHh[2 * size :] = 0
        return BiasHh if BiasIh is None else BiasIh + BiasHh

    def _before(self, values: Array, first: Array) -> Array:
        """What each step found: values behind the step before, at the begin those of the first."""
        steps = [first[None], values[1:]] if self.is_reverse else [first[None], values[:-1]]
        return np.concatenate(steps[::-1] if self.is_reverse else steps)

    def _carried(self, Out: Array, first: Array, here: Any) -> Array:
        """The states behind all steps; those of rows that have ended stay."""
        if here is None:
            return Out
        carried, state = np.empty_like(Out), first
        for t in self.order(len(Out)):
            carried[t] = state = np.where(here[t], Out[t], state)
        return carried


class Slopes(NamedTuple):
    """Derivatives at all steps, made at once; flows are multiplied into some of them."""

    by_state: Array  #: of what the product with the state gave, by that which it flows from
    stays: Any  #: of a cell or a state by the one before, beside that product
    of_cell: Any  #: of a state by its cell; of a GRU's state by its candidate
    more: Any  #: what flows from the gates themselves; None for nothing
    of_cell_more: Any = None  #: of that, what flows to a GRU's candidate


def _affine(f: Any, x: Any, weight: Any, bias: Any) -> Any:
    product = f.matmul(x, weight, transpose_Y=True)
    return product if bias is None else f.elementwise_add(product, bias, axis=1)


def _here(Lengths: Any, steps: int) -> Any:
    """Whether each row has each step, [steps, batch, 1]; None where all have all."""
    return None if Lengths is None else (Lengths > np.arange(steps)[:, None])[:, :, None]


def _relu(x: Array, out: Array) -> Array:
    return np.maximum(x, 0, out=out)


#: what is multiplied to which gates before their functions
_HALVED = {"LSTM": (0.5, 0.5, 1, 0.5), "GRU": (0.5, 0.5, 1)}
_SMALL = 1 << 15  #: elements of all gates at a step, up to which scales are kept for each


@functools.lru_cache(16)
def _scales(mode: str, rows: int, size: int, dtype: Any) -> tuple[Array, Array, Array]:
    """What the gates of a row are multiplied by before their functions; and what all are multiplied
    by behind them, and get added.
    """
    halves = np.repeat(np.asarray(_HALVED[mode], dtype), size)
    scales = np.stack([halves, np.where(halves == 1, np.zeros_like(halves), halves)])
    if rows * len(halves) <= _SMALL:  # arrays of the same shape are faster than one row
        scales = np.repeat(scales[:, None], rows, 1)
    return halves, scales[0], scales[1]


def _lstm_step(
    gates: Array, product: Array, cell: Array, scales: Sequence[Array], out: Array, room: Array
) -> Array:
    """The next cell; the gates, all but the third halved, become what their functions give."""
    size = cell.shape[1]
    np.add(gates, product, out=gates)
    np.tanh(gates, out=gates)
    np.multiply(gates, scales[0], out=gates)
    np.add(gates, scales[1], out=gates)
    np.multiply(gates[:, size : 2 * size], cell, out=out)
    np.multiply(gates[:, :size], gates[:, 2 * size : 3 * size], out=room)
    return np.add(out, room, out=out)


def _gru_step(
    gates: Array, product: Array, bias: Any, state: Array, from_state: Array, out: Array
) -> Array:
    """The next state; the gates, the first two halved, become what their functions give."""
    size = state.shape[1]
    turns, n = gates[:, : 2 * size], gates[:, 2 * size :]
    turns += product[:, : 2 * size]
    np.tanh(turns, out=turns)
    turns *= 0.5
    turns += 0.5
    from_state[...] = product[:, 2 * size :]
    if bias is not None:
        from_state += bias
    n += turns[:, :size] * from_state
    np.tanh(n, out=n)
    np.subtract(state, n, out=out)
    out *= turns[:, size:]
    out += n
    return out


def _lstm_slopes(Gates: Array, cells: Array, before: Array, dGates: Any) -> Slopes:
    steps, rows, size = cells.shape
    gates = Gates.reshape(steps, rows, 4, size)
    i, v, g, o = (gates[:, :, k] for k in range(4))
    squashed = np.tanh(cells)
    slopes = np.subtract(1, gates)
    slopes *= gates
    slopes[:, :, 2] = 1 - g * g
    more = None if dGates is None else dGates.reshape(gates.shape) * slopes
    slopes[:, :, 0] *= g
    slopes[:, :, 1] *= before
    slopes[:, :, 2] *= i
    slopes[:, :, 3] *= squashed
    squashed *= squashed
    return Slopes(slopes, v, o * (1 - squashed), more)


def _gru_slopes(
    Gates: Array, from_state: Array, before: Array, dGates: Any, dMemory: Any
) -> Slopes:
    steps, rows, size = from_state.shape
    gates = Gates.reshape(steps, rows, 3, size)
    r, z, n = (gates[:, :, k] for k in range(3))
    of_gates = np.subtract(1, gates)
    of_gates *= gates
    of_gates[:, :, 2] = 1 - n * n
    of_candidate = (1 - z) * of_gates[:, :, 2]
    by_state = of_gates.copy()
    by_state[:, :, 0] *= of_candidate * from_state
    by_state[:, :, 1] *= before - n
    np.multiply(of_candidate, r, out=by_state[:, :, 2])
    if dGates is None and dMemory is None:
        return Slopes(by_state, z, of_candidate, None)
    more = of_gates * (0 if dGates is None else dGates.reshape(gates.shape))
    of_candidate_more = more[:, :, 2].copy()
    more[:, :, 0] += of_candidate_more * from_state * of_gates[:, :, 0]
    more[:, :, 2] *= r
    if dMemory is not None:
        more[:, :, 2] += dMemory
    return Slopes(by_state, z, of_candidate, more, of_candidate_more)


def _simple_slopes(mode: str, states: Array, dGates: Any) -> Slopes:
    slopes = 1 - states * states if mode == "tanh" else (states > 0).astype(states.dtype)
    more = None if dGates is None else (dGates * slopes)[:, :, None]
    return Slopes(slopes[:, :, None], None, None, more)
