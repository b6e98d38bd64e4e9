"""Recurrent networks: cells, and layers of them that run along time.

Layers are unrolled: in programs, the number of steps has to be declared.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

from ..errors import ArgumentError, ShapeError
from ..imperative.creation import zeros
from ..imperative.shaping import concat, stack
from ..initializer import Uniform
from . import functional as F
from .layer import Layer, checked
from .running import RNNCellBase


def _step(kind: str, x: Any, state: tuple[Any, ...], weights: tuple[Any, ...]) -> tuple[Any, ...]:
    """The next state: the output, and the memory of an LSTM.

    Args:
        kind: LSTM, GRU, tanh or relu.
        x: [N, I].
        state: the one before, [N, H] each.
        weights: of the input [G H, I] and of the state [G H, H], and their biases.
    """
    of_input, of_state, input_bias, state_bias = weights
    given = x.matmul(of_input, transpose_y=True)
    given = given if input_bias is None else given + input_bias
    kept = state[0].matmul(of_state, transpose_y=True)
    kept = kept if state_bias is None else kept + state_bias
    if kind == "LSTM":
        enter, forget, new, out = (given + kept).chunk(4, axis=-1)
        memory = F.sigmoid(forget) * state[1] + F.sigmoid(enter) * F.tanh(new)
        return F.sigmoid(out) * F.tanh(memory), memory
    if kind == "GRU":
        (r1, z1, n1), (r2, z2, n2) = given.chunk(3, axis=-1), kept.chunk(3, axis=-1)
        new = F.tanh(n1 + F.sigmoid(r1 + r2) * n2)
        return ((state[0] - new) * F.sigmoid(z1 + z2) + new,)
    return ((F.tanh if kind == "tanh" else F.relu)(given + kept),)


_GATES = {"LSTM": 4, "GRU": 3, "tanh": 1, "relu": 1}


class _Recurrent(Layer):
    """What cells and layers of them have in common."""

    _kind: str
    hidden_size: int

    def _weights(self, input_size: int, attrs: tuple[Any, ...], ending: str) -> None:
        """Make the weights of one cell; names end as said."""
        rows, bound = _GATES[self._kind] * self.hidden_size, 1 / sqrt(self.hidden_size)
        start = Uniform(-bound, bound)
        shapes = ([rows, input_size], [rows, self.hidden_size], [rows], [rows])
        for name, shape, attr in zip(_NAMES, shapes, attrs):
            made = self.create_parameter(
                shape, attr, is_bias=len(shape) == 1, default_initializer=start
            )
            setattr(self, name + ending, made)

    def _read(self, ending: str) -> tuple[Any, ...]:
        return tuple(getattr(self, name + ending) for name in _NAMES)

    def _begin(self, x: Any) -> tuple[Any, ...]:
        """Zeros for each row of [N, I]."""
        start = x[:, 0:1] * 0.0 + zeros([1, self.hidden_size], str(x.dtype.dtype))
        return (start,) * (2 if self._kind == "LSTM" else 1)


_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Cell(_Recurrent, RNNCellBase):
    """One step.

    Args:
        input_size, hidden_size: elements of an input, and of the state.
        weight_ih_attr, weight_hh_attr: of the weights of the input and of the state.
        bias_ih_attr, bias_hh_attr: of their biases; False for none.
        name: stands in the names of parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.input_size, self.hidden_size = input_size, hidden_size
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._weights(input_size, attrs, "")

    @property
    def state_shape(self) -> Any:
        """The shapes of the states, without the batch."""
        one = (self.hidden_size,)
        return (one, one) if self._kind == "LSTM" else one

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The output and the next state, from [N, I] and the state before; zeros when None."""
        given = states if isinstance(states, (list, tuple)) else (states,)
        before = self._begin(inputs) if states is None else tuple(given)
        after = _step(self._kind, inputs, before, self._read(""))
        return after[0], (after if len(after) > 1 else after[0])

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class LSTMCell(_Cell):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    >>> y, (h, c) = fluid.nn.LSTMCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape, c.shape
    ([2, 4], [2, 4])
    """

    _kind = "LSTM"


class GRUCell(_Cell):
    """A step of a GRU: gates r, z, c.

    >>> y, h = fluid.nn.GRUCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape
    [2, 4]
    """

    _kind = "GRU"


class SimpleRNNCell(_Cell):
    """A step of a network whose next state is a function of the input and of the state.

    Args:
        input_size, hidden_size: elements of an input, and of the state.
        activation: tanh or relu.
        weight_ih_attr, weight_hh_attr: of the weights of the input and of the state.
        bias_ih_attr, bias_hh_attr: of their biases; False for none.
        name: stands in the names of parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        self._kind = checked("activation", activation, "tanh", "relu")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, *attrs, name)


class _Along(_Recurrent):
    """Cells along time, one layer on the other.

    Args:
        input_size, hidden_size: elements of an input, and of a state.
        num_layers: how many.
        direction: forward, or bidirect (bidirectional): back as well, results side by side.
        time_major: inputs are [T, N, I] instead of [N, T, I].
        dropout: of what goes from layer to layer, in training.
        weight_ih_attr, weight_hh_attr: of the weights of inputs and of states.
        bias_ih_attr, bias_hh_attr: of their biases; False for none.
        name: stands in the names of parameters.
    """

    _sizes: ClassVar[int] = 1  #: tensors in a state

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        checked("direction", direction, "forward", "bidirect", "bidirectional")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.time_major, self.dropout = time_major, dropout
        self._ways = ("",) if direction == "forward" else ("", "_reverse")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        for layer in range(num_layers):
            size = input_size if layer == 0 else hidden_size * len(self._ways)
            for way in self._ways:
                self._weights(size, attrs, f"_l{layer}{way}")

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> Any:
        """The outputs of the last layer, and the final states of all layers.

        Args:
            inputs: [N, T, I].
            initial_states: [layers x directions, N, H]; two of them for an LSTM; zeros when None.
            sequence_length: [N], steps of each row; what is behind them gives zeros.
        """
        axis = 0 if self.time_major else 1
        steps = int(inputs.shape[axis])
        if steps < 1:
            raise ShapeError(
                f"{type(self).__name__}: expected a known number of steps in dimension {axis}, "
                f"got shape {list(inputs.shape)}; declare it, or use fluid.layers.rnn"
            )
        row = [inputs[t] if self.time_major else inputs[:, t] for t in range(steps)]
        given = self._given(initial_states)
        finals: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                row = [F.dropout(x, self.dropout, training=self.training) for x in row]
            ways = []
            for way in self._ways:
                start = self._begin(row[0]) if given is None else given[len(finals)]
                outs, last = self._run(row, start, f"_l{layer}{way}", sequence_length)
                ways.append(outs)
                finals.append(last)
            row = ways[0] if len(ways) == 1 else [concat(list(pair), -1) for pair in zip(*ways)]
        states = tuple(stack([each[k] for each in finals]) for k in range(self._sizes))
        return stack(row, axis), (states if len(states) > 1 else states[0])

    def _given(self, states: Any) -> list[tuple[Any, ...]] | None:
        if states is None:
            return None
        parts = tuple(states) if isinstance(states, (list, tuple)) else (states,)
        if len(parts) != self._sizes:
            raise ArgumentError(
                f"{type(self).__name__}: expected {self._sizes} initial states, got {len(parts)}"
            )
        count = self.num_layers * len(self._ways)
        return [tuple(part[k] for part in parts) for k in range(count)]

    def _run(
        self, row: list[Any], state: tuple[Any, ...], ending: str, lengths: Any
    ) -> tuple[list[Any], tuple[Any, ...]]:
        weights = self._read(ending)
        times = range(len(row))
        outs: list[Any] = [None] * len(row)
        for t in reversed(times) if ending.endswith("_reverse") else times:
            after = _step(self._kind, row[t], state, weights)
            outs[t] = after[0]
            if lengths is not None:
                here = (lengths > t).cast(str(row[t].dtype.dtype)).reshape([-1, 1])
                outs[t] = after[0] * here
                after = tuple(old + (new - old) * here for old, new in zip(state, after))
            state = after
        return outs, state

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}"


class LSTM(_Along):
    """An LSTM; the final states are a pair, outputs and memories.

    >>> y, (h, c) = fluid.nn.LSTM(3, 4, num_layers=2)(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 4], [2, 5, 4])
    """

    _kind, _sizes = "LSTM", 2


class GRU(_Along):
    """A GRU.

    >>> y, h = fluid.nn.GRU(3, 4, direction="bidirect")(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 8], [2, 5, 4])
    """

    _kind = "GRU"


class SimpleRNN(_Along):
    """A network whose next state is a function of the input and of the state.

    Args:
        input_size, hidden_size, num_layers, direction, time_major, dropout: as of :class:`LSTM`.
        activation: tanh or relu.
        weight_ih_attr, weight_hh_attr: of the weights of inputs and of states.
        bias_ih_attr, bias_hh_attr: of their biases; False for none.
        name: stands in the names of parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        self._kind = checked("activation", activation, "tanh", "relu")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        size = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        super().__init__(*size, *attrs, name)
