"""Recurrent layers in ONNX: `LSTM` and `GRU`.

Sequences of several lengths lie one after the other here, and side by side in ONNX, padded to the
longest: rows are gathered by numbers that follow from the lengths.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...opdef.sequences import lengths_of, offsets_of
from ...opdef.spec import spec
from ...ops.recurrent_unit import activated
from ..graph import OnnxGraph
from ..rearranging import numbers
from ..tracing import SizesNeeded, TracedArray
from ..writing import maps

_NAMES = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}


class PaddedRows(NamedTuple):
    """How rows of sequences lie side by side."""

    padded: Any  #: of each step and sequence the number of the row, [steps, sequences]
    back: Any  #: of each row its place among steps and sequences
    lengths: Any


def rows_of(value: Any, least: int = 1) -> PaddedRows | None:
    """The rows of a value; None where a sequence has fewer than ``least``."""
    offsets = np.asarray(offsets_of(value, "Input"), np.int64)
    lengths = lengths_of(offsets)
    if not len(lengths) or lengths.min() < least or not lengths.max():
        return None
    steps = np.arange(lengths.max())[:, None]
    padded = np.where(steps < lengths, offsets[:-1] + steps, 0)
    number = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(offsets[-1]) - offsets[number]
    return PaddedRows(padded, position * len(lengths) + number, lengths.astype(np.int32))


def blocks_of(value: Any, size: int, order: Any) -> Any:
    """Blocks of columns of a matrix in another order, [blocks * size, rows]."""
    parts = [value[:, k * size : (k + 1) * size] for k in order]
    return np.transpose(np.concatenate(parts, axis=1))


def chosen(size: int, order: Any, dtype: Any) -> Any:
    """The matrix that puts blocks of columns in another order, [1, blocks * size, columns]."""
    columns = np.concatenate([np.arange(k * size, (k + 1) * size) for k in order])
    found = np.zeros((1, len(columns), len(columns)), dtype)
    found[0, np.arange(len(columns)), columns] = 1
    return found


def gathered(graph: OnnxGraph, made: Any, rows: PaddedRows, size: int, like: Any) -> Any:
    """The rows of what a layer gives, [steps, 1, sequences, size]."""
    flat = graph.Reshape(made, np.array([-1, size], np.int64))
    return graph.Gather(flat, rows.back, axis=0)


def first_state(graph: OnnxGraph, value: Any) -> Any:
    """A state before the first step, [1, sequences, size]; None if there is none."""
    return None if value is None else graph.Unsqueeze(value, np.array([0], np.int64))


@maps("lstm")
def lstm(
    graph: OnnxGraph, op: Any, Input: Any, H0: Any, C0: Any, Weight: Any, Bias: Any, want: Any
) -> Any:
    names = (op.gate_activation, op.candidate_activation, op.cell_activation)
    if want is None or not {*want} <= {"Hidden"} or not {*names} <= _NAMES.keys():
        return NotImplemented
    rows, size, order = rows_of(Input), Weight.shape[0], (1, 3, 2, 0)
    if rows is None:
        return NotImplemented
    weights = _unsqueezed(blocks_of(Weight, size, order))
    bias = np.concatenate([Bias[:, k * size : (k + 1) * size] for k in order], axis=1)
    zeros = np.zeros((1, 4 * size), Weight.dtype)
    peepholes = None
    if op.use_peepholes:
        looks = [Bias[:, k * size : (k + 1) * size] for k in (4, 6, 5)]
        peepholes = np.concatenate(looks, axis=1)
    x = graph.Gather(Input.bare(), rows.padded, axis=0)
    ins = [
        *(x, chosen(size, order, Weight.dtype), weights, np.concatenate([bias, zeros], axis=1)),
        *(rows.lengths, first_state(graph, H0), first_state(graph, C0), peepholes),
    ]
    return _hidden(graph, op, "LSTM", ins, 3, names, Input, rows, size)


@maps("gru")
def gru(graph: OnnxGraph, op: Any, Input: Any, H0: Any, Weight: Any, Bias: Any, want: Any) -> Any:
    names = (op.gate_activation, op.activation)
    turns = not op.origin_mode  # then u says how much of the candidate is taken, and 1 - u is meant
    if want is None or not {*want} <= {"Hidden"} or not {*names} <= _NAMES.keys():
        return NotImplemented
    rows, size = rows_of(Input), Weight.shape[0]
    if rows is None or (turns and op.gate_activation != "sigmoid"):
        return NotImplemented
    flat = np.reshape(Weight, (-1,))
    gates = np.transpose(np.reshape(flat[: 2 * size * size], (size, 2 * size)))
    candidate = np.transpose(np.reshape(flat[2 * size * size :], (size, size)))
    weights = np.concatenate([gates, candidate], axis=0)
    zeros = np.zeros((1, 3 * size), Weight.dtype)
    bias = zeros if Bias is None else Bias
    sign = np.ones((3 * size, 1), Weight.dtype)
    if turns:
        sign[:size] = -1  # 1 - sigmoid(x) = sigmoid(-x)
    by_input = chosen(size, (0, 1, 2), Weight.dtype) * sign
    bias = np.concatenate([bias * sign.T, zeros], axis=1)
    ins = [
        *(graph.Gather(Input.bare(), rows.padded, axis=0), by_input),
        *(_unsqueezed(weights * sign), bias, rows.lengths, first_state(graph, H0)),
    ]
    return _hidden(graph, op, "GRU", ins, 2, names, Input, rows, size)


def _hidden(
    graph: OnnxGraph,
    op: Any,
    type: str,
    ins: list[Any],
    count: int,
    names: tuple[str, ...],
    Input: Any,
    rows: Any,
    size: int,
) -> dict[str, Any]:
    """The states behind all steps, of a node with so many outputs, as rows like those of Input."""
    way = "reverse" if op.is_reverse else "forward"
    activations = [_NAMES[name] for name in names]
    outputs = graph.node(type, ins, count, hidden_size=size, direction=way, activations=activations)
    out = gathered(graph, outputs[0], rows, size, Input)
    return dict(Hidden=_with_spec(out, Input, size).having(Input.offsets))


def _unsqueezed(value: Any) -> Any:
    return np.reshape(value, (1, *value.shape))


def _with_spec(value: TracedArray, like: Any, size: int) -> TracedArray:
    value.spec = like.spec.with_shape([like.shape[0], size])
    return value


@maps("lstm_layers", "cudnn_lstm")
def lstm_layers(
    graph: OnnxGraph, op: Any, Input: Any, InitH: Any, InitC: Any, W: Any, Kept: Any
) -> Any:
    if Kept is not None or getattr(op, "drops", False):
        return NotImplemented
    size, ways = op.hidden_size, op.directions
    parts, _ = op.parts(Input.sizes[2])
    flat = np.reshape(np.asarray(W.constant) if W.constant is not None else W, (-1,))
    x, states, cells = Input, [], []
    for layer in range(op.num_layers):
        here = parts[layer * ways : (layer + 1) * ways]
        inputs = [_gates(flat, each.of_input, size, each.width) for each in here]
        by_state = [_gates(flat, each.of_state, size, size) for each in here]
        biases = [
            _gates(flat, each.of_bias + 4 * size * k, size, 1) for each in here for k in (0, 1)
        ]
        first = [
            graph.Slice(
                v, *(np.array([k], np.int64) for k in (layer * ways, layer * ways + ways, 0))
            )
            for v in (InitH, InitC)
        ]
        bias = np.reshape(np.concatenate(biases), (ways, 8 * size))
        out, h, c = graph.node(
            "LSTM",
            [x, np.stack(inputs), np.stack(by_state), bias, None, *first],
            3,
            hidden_size=size,
            direction="bidirectional" if ways == 2 else "forward",
        )
        together = graph.Transpose(out, perm=[0, 2, 1, 3])
        x = graph.Reshape(together, np.array([0, 0, -1], np.int64))
        states.append(h)
        cells.append(c)
    last = [graph.node("Concat", each, axis=0) for each in (states, cells)]
    return dict(Out=x, last_h=last[0], last_c=last[1])


def _gates(flat: Any, at: int, size: int, width: int) -> Any:
    """Weights of the gates i, f, g and o in the order i, o, f, g: [4 size, width]."""
    step = size * width
    parts = [flat[at + k * step : at + (k + 1) * step] for k in (0, 3, 1, 2)]
    return np.reshape(np.concatenate(parts), (4 * size, width))


#: mode of `rnn` -> ONNX's operator, and the order of its gates
_CELLS = {
    "LSTM": ("LSTM", (0, 3, 1, 2)),
    "GRU": ("GRU", (1, 0, 2)),
    "RNN_TANH": ("RNN", (0,)),
    "RNN_RELU": ("RNN", (0,)),
}


@maps("rnn", "recurrent_layers")
def stacked(
    graph: OnnxGraph,
    op: Any,
    Input: Any,
    PreState: Any,
    WeightList: Any,
    SequenceLength: Any,
    Kept: Any = None,
) -> Any:
    if Kept is not None or getattr(op, "drops", False):
        return NotImplemented
    size, ways = op.hidden_size, op.directions
    type, order = _CELLS[op.mode]
    lengths = None if SequenceLength is None else graph.like(SequenceLength, np.int32)
    attrs: dict[str, Any] = {"direction": "bidirectional" if ways == 2 else "forward"}
    if type == "RNN":
        attrs["activations"] = ["Relu" if op.mode == "RNN_RELU" else "Tanh"] * ways
    if type == "GRU":
        attrs["linear_before_reset"] = 1

    def of_each(numbers_: list[int]) -> list[Any]:
        """Some weights with their gates in the order of ONNX."""
        spans = [slice(k * size, (k + 1) * size) for k in order]
        return [np.concatenate([WeightList[k][s] for s in spans], axis=0) for k in numbers_]

    x, last = Input, []
    for layer in range(op.num_layers):
        cells = range(layer * ways, layer * ways + ways)
        inputs, by_state = (of_each([2 * k + part for k in cells]) for part in (0, 1))
        biases = of_each([2 * (op.count + k) + part for k in cells for part in (0, 1)])
        bounds = [np.array([k], np.int64) for k in (cells.start, cells.stop, 0)]
        first = [graph.Slice(state, *bounds) for state in PreState]
        bias = np.reshape(np.concatenate(biases), (ways, -1))
        ins = [x, np.stack(inputs), np.stack(by_state), bias, lengths, *first]
        out, *states = graph.node(type, ins, 1 + len(first), hidden_size=size, **attrs)
        together = graph.Transpose(out, perm=[0, 2, 1, 3])
        x = graph.Reshape(together, np.array([0, 0, -1], np.int64))
        last.append(states)
    states = [graph.node("Concat", [each[i] for each in last], axis=0) for i in range(len(first))]
    return dict(Out=x, State=states)


@maps("gru_unit")
def gru_unit(graph: OnnxGraph, op: Any, Input: Any, HiddenPrev: Any, Weight: Any, Bias: Any) -> Any:
    size = Weight.sizes[0]
    x = Input if Bias is None else Input + Bias
    flat = np.reshape(Weight, (-1,))
    for_gates = np.reshape(flat[: 2 * size * size], (size, 2 * size))
    for_candidate = np.reshape(flat[2 * size * size :], (size, size))
    gates = activated(np, op.gate_activation, x[:, : 2 * size] + np.matmul(HiddenPrev, for_gates))
    u, reset = gates[:, :size], gates[:, size:] * HiddenPrev
    c = activated(np, op.activation, x[:, 2 * size :] + np.matmul(reset, for_candidate))
    old, new = (c, HiddenPrev) if op.origin_mode else (HiddenPrev, c)
    return np.concatenate([gates, c], axis=1), reset, old + u * (new - old)


@maps("crf_decoding")
def crf_decoding(
    graph: OnnxGraph, op: Any, Emission: Any, Transition: Any, Label: Any, Length: Any
) -> Any:
    """The steps of all chains at once; where one has ended, its last label is kept."""
    tags = Transition.sizes[1]
    rows = rows_of(Emission, 0) if Length is None else None
    if rows is not None:
        lengths, steps = rows.lengths.astype(np.int64), len(rows.padded)
        count = len(lengths)
        scores = graph.Gather(Emission.bare(), rows.padded, axis=0)
    elif Length is None:
        return NotImplemented
    else:
        lengths, steps = graph.like(np.reshape(Length, (-1,)), np.int64), Emission.sizes[1]
        count = Emission.sizes[0]
        scores = graph.Transpose(Emission.bare(), perm=[1, 0, 2])
    if -1 in (steps, tags):
        raise SizesNeeded("the steps of chains are written out")
    scores.spec = spec([steps, count, tags], Emission.dtype)
    best, came = scores[0] + Transition[0], []
    same = np.arange(tags)[None]
    for t in range(1, steps):
        goes_on = np.expand_dims(np.less(t, lengths), 1)
        ways = np.expand_dims(best, 2) + Transition[2:]
        came.append(np.where(goes_on, np.argmax(ways, axis=1), same))
        best = np.where(goes_on, np.max(ways, axis=1) + scores[t], best)
    path = [np.argmax(best + Transition[1], axis=1, keepdims=True)]
    for places in reversed(came):
        path.append(graph.GatherElements(places, path[-1], axis=1))
    labels = graph.node("Concat", path[::-1], axis=1)
    labels.spec = spec([count, steps], np.int64)
    if rows is not None:
        flat = graph.Reshape(graph.Transpose(labels, perm=[1, 0]), numbers([-1]))
        labels = graph.Unsqueeze(graph.Gather(flat, rows.back, axis=0), numbers([1]))
        labels.spec = spec([len(rows.back), 1], np.int64)
    else:
        inside = np.less(np.arange(steps), np.expand_dims(lengths, 1))
        labels = np.where(inside, labels, np.zeros((), np.int64))
    if Label is not None:
        right = graph.Reshape(graph.like(Label.bare(), np.int64), graph.Shape(labels))
        labels = graph.like(graph.Equal(labels, right), np.int64)
        labels = labels if Length is None else np.where(inside, labels, np.zeros((), np.int64))
    return labels.having(Emission.offsets) if Length is None else labels
