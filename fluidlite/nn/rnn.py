"""Recurrent networks: cells, and layers of them that run along time.

Layers are unrolled: in programs, the number of steps has to be declared.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

from ..eager.recurrence import GATES, along, next_state
from ..errors import ArgumentError, ShapeError
from ..functions.creation import zeros
from ..functions.shaping import stack
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..initializer import Uniform
from . import functional as F
from .layer import Layer, checked
from .running import RNNCellBase

RECURRENT = Family(
    {
        "input_size": "elements of an input.",
        "hidden_size": "elements of a state.",
        "num_layers": "how many stand one on the other.",
        "direction": "forward, or bidirect (bidirectional): back as well, results side by side.",
        "time_major": "inputs are [T, N, I] instead of [N, T, I].",
        "dropout": "of what goes from layer to layer, in training.",
        "activation": "tanh or relu.",
        "weight_ih_attr": "of the weights of inputs.",
        "weight_hh_attr": "of the weights of states.",
        "bias_ih_attr": "of the biases of inputs; False for none.",
        "bias_hh_attr": "of the biases of states; False for none.",
        "name": "stands in the names of parameters.",
    },
    raises="ArgumentError: an argument is none of those that there are.",
)


class _Recurrent(Layer):
    """What cells and layers of them have in common."""

    _kind: str
    hidden_size: int

    def _weights(self, input_size: int, attrs: tuple[Any, ...], ending: str) -> None:
        """Make the weights of one cell; names end as said."""
        rows, bound = GATES[self._kind] * self.hidden_size, 1 / sqrt(self.hidden_size)
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


def _attrs(given: dict[str, Any]) -> tuple[Any, ...]:
    """What users said of weights and biases."""
    return tuple(given[f"{name}_attr"] for name in _NAMES)


_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Cell(_Recurrent, RNNCellBase):
    """One step."""

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        if "activation" in given:
            self._kind = checked("activation", given["activation"], "tanh", "relu")
        RNNCellBase.__init__(self, given["name"])
        self.input_size, self.hidden_size = given["input_size"], given["hidden_size"]
        self._weights(self.input_size, _attrs(given), "")

    @property
    def state_shape(self) -> Any:
        """The shapes of the states, without the batch."""
        one = (self.hidden_size,)
        return (one, one) if self._kind == "LSTM" else one

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The output and the next state, from [N, I] and the state before; zeros when None."""
        given = states if isinstance(states, (list, tuple)) else (states,)
        before = self._begin(inputs) if states is None else tuple(given)
        after = next_state(self._kind, inputs, before, self._read(""))
        return after[0], (after if len(after) > 1 else after[0])

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


@from_fields
class _GatedCell(_Cell):
    """One step, of gates."""

    input_size: int
    hidden_size: int
    weight_ih_attr: Any = None
    weight_hh_attr: Any = None
    bias_ih_attr: Any = None
    bias_hh_attr: Any = None
    name: str | None = None


@RECURRENT
@from_fields
class LSTMCell(_GatedCell):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    >>> y, (h, c) = fluid.nn.LSTMCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape, c.shape
    ([2, 4], [2, 4])
    """

    _kind = "LSTM"


@RECURRENT
@from_fields
class GRUCell(_GatedCell):
    """A step of a GRU: gates r, z, c.

    >>> y, h = fluid.nn.GRUCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape
    [2, 4]
    """

    _kind = "GRU"


@RECURRENT
@from_fields
class SimpleRNNCell(_Cell):
    """A step of a network whose next state is a function of the input and of the state."""

    input_size: int
    hidden_size: int
    activation: str = "tanh"
    weight_ih_attr: Any = None
    weight_hh_attr: Any = None
    bias_ih_attr: Any = None
    bias_hh_attr: Any = None
    name: str | None = None


class _Along(_Recurrent):
    """Cells along time, one layer on the other."""

    _sizes: ClassVar[int] = 1  #: tensors in a state

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        if "activation" in given:
            self._kind = checked("activation", given["activation"], "tanh", "relu")
        Layer.__init__(self, given["name"])
        checked("direction", given["direction"], "forward", "bidirect", "bidirectional")
        self.input_size, self.hidden_size = given["input_size"], given["hidden_size"]
        self.num_layers, self.dropout = given["num_layers"], given["dropout"]
        self.time_major = given["time_major"]
        ways = ("",) if given["direction"] == "forward" else ("", "_reverse")
        self._cells = [[f"_l{k}{way}" for way in ways] for k in range(self.num_layers)]
        for number, layer in enumerate(self._cells):
            size = self.hidden_size * len(ways) if number else self.input_size
            for cell in layer:
                self._weights(size, _attrs(given), cell)

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

        def start(x: Any, number: int) -> tuple[Any, ...]:
            return self._begin(x) if given is None else given[number]

        def drop(x: Any) -> Any:
            return F.dropout(x, self.dropout, training=self.training)

        between = drop if self.dropout else None
        cells = (self._cells, self._read)
        outs, finals = along(self._kind, row, *cells, start, between, sequence_length)
        states = tuple(stack([each[k] for each in finals]) for k in range(self._sizes))
        return stack(list(outs), axis), (states if len(states) > 1 else states[0])

    def _given(self, states: Any) -> list[tuple[Any, ...]] | None:
        if states is None:
            return None
        parts = tuple(states) if isinstance(states, (list, tuple)) else (states,)
        if len(parts) != self._sizes:
            raise ArgumentError(
                f"{type(self).__name__}: expected {self._sizes} initial states, got {len(parts)}"
            )
        count = sum(map(len, self._cells))
        return [tuple(part[k] for part in parts) for k in range(count)]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}"


@from_fields
class _Gated(_Along):
    """Cells of gates along time."""

    input_size: int
    hidden_size: int
    num_layers: int = 1
    direction: str = "forward"
    time_major: bool = False
    dropout: float = 0.0
    weight_ih_attr: Any = None
    weight_hh_attr: Any = None
    bias_ih_attr: Any = None
    bias_hh_attr: Any = None
    name: str | None = None


@RECURRENT
@from_fields
class LSTM(_Gated):
    """An LSTM; the final states are a pair, outputs and memories.

    >>> y, (h, c) = fluid.nn.LSTM(3, 4, num_layers=2)(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 4], [2, 5, 4])
    """

    _kind, _sizes = "LSTM", 2


@RECURRENT
@from_fields
class GRU(_Gated):
    """A GRU.

    >>> y, h = fluid.nn.GRU(3, 4, direction="bidirect")(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 8], [2, 5, 4])
    """

    _kind = "GRU"


@RECURRENT
@from_fields
class SimpleRNN(_Along):
    """A network whose next state is a function of the input and of the state."""

    input_size: int
    hidden_size: int
    num_layers: int = 1
    direction: str = "forward"
    time_major: bool = False
    dropout: float = 0.0
    activation: str = "tanh"
    weight_ih_attr: Any = None
    weight_hh_attr: Any = None
    bias_ih_attr: Any = None
    bias_hh_attr: Any = None
    name: str | None = None
