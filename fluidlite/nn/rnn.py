"""Recurrent networks: cells, and layers of them that run along time.

Layers are unrolled: in programs, the number of steps has to be declared.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from ..eager.recurrence import RecurrentNet, StackedCells, alone_or_all, need_steps, next_state
from ..errors import ArgumentError, ShapeError
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..initializer import Uniform
from . import functional as F
from .containers import LayerList
from .layer import Layer, checked
from .running import RNN, BiRNN, RNNCellBase

if TYPE_CHECKING:
    from ..param_attr import Attr

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


class _Recurrent(RecurrentNet, Layer):
    """What cells and layers of them have in common."""

    def _take(self, given: dict[str, Any]) -> None:
        """Keep the arguments of the constructor."""
        if "activation" in given:
            self.kind: str = checked("activation", given["activation"], "tanh", "relu")
        Layer.__init__(self)
        self.input_size: int = given["input_size"]
        self.hidden_size: int = given["hidden_size"]
        if self.hidden_size < 1:
            raise ArgumentError(f"expected hidden_size above 0, got {self.hidden_size}")

    def make_weights(self, input_size: int, ending: str, given: dict[str, Any]) -> None:
        bound = 1 / sqrt(self.hidden_size)
        uniform = Uniform(-bound, bound)
        for name, shape in self.weight_shapes(input_size).items():
            weight = self.create_parameter(
                shape, given[f"{name}_attr"], is_bias=len(shape) == 1, default_initializer=uniform
            )
            setattr(self, name + ending, weight)

    def weights(self, ending: str) -> list[Any]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return [getattr(self, name + ending) for name in names]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}{self._also()}"

    def _also(self) -> str:
        """What ``repr`` says besides the sizes."""
        return ""


@from_fields
class _Sizes:
    input_size: int
    hidden_size: int


@from_fields
class _Activation:
    activation: str = "tanh"


@from_fields
class _Attributes:
    weight_ih_attr: Attr = None
    weight_hh_attr: Attr = None
    bias_ih_attr: Attr = None
    bias_hh_attr: Attr = None
    name: str | None = None


class _Cell(_Recurrent, RNNCellBase):
    """One step."""

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        self._take(given)
        self.make_weights(self.input_size, "", given)

    @property
    def state_shape(self) -> Any:
        """The shapes of the states, without the batch."""
        return alone_or_all(tuple((size,) for size in self.state_sizes))

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The output and the next state, from [N, I] and the state before; zeros when None."""
        given = states if isinstance(states, (list, tuple)) else (states,)
        before = self.zeros(inputs) if states is None else tuple(given)
        after = next_state(self.kind, inputs, before, self.weights(""))
        return after[0], alone_or_all(after)


@RECURRENT
@from_fields
class LSTMCell(_Cell, _Attributes, _Sizes):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    >>> y, (h, c) = fluid.nn.LSTMCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape, c.shape
    ([2, 4], [2, 4])
    """

    kind = "LSTM"


@RECURRENT
@from_fields
class GRUCell(_Cell, _Attributes, _Sizes):
    """A step of a GRU: gates r, z, c.

    >>> y, h = fluid.nn.GRUCell(3, 4)(fluid.ones([2, 3]))
    >>> y.shape
    [2, 4]
    """

    kind = "GRU"


@RECURRENT
@from_fields
class SimpleRNNCell(_Cell, _Attributes, _Activation, _Sizes):
    """A step of a network whose next state is a function of the input and of the state.

    >>> output, state = fluid.nn.SimpleRNNCell(2, 3)(fluid.ones([1, 2]))
    >>> output.shape, state.shape
    ([1, 3], [1, 3])
    """

    def _also(self) -> str:
        return "" if self.kind == "tanh" else f", activation={self.kind}"


@from_fields
class _Ways(_Sizes):
    num_layers: int = 1
    direction: str = "forward"
    time_major: bool = False
    dropout: float = 0.0


class _Along(StackedCells, LayerList, _Recurrent):
    """Cells along time, one layer on the other: a list of what runs them, :class:`RNN` or
    :class:`BiRNN`, whose weights are found in the layer, too.
    """

    _cell: ClassVar[Any]  #: the class of the cells

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if hasattr(cls._cell, "kind"):
            cls.kind = cls._cell.kind

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        self._take(given)
        checked("direction", given["direction"], "forward", "bidirect", "bidirectional")
        self.num_layers: Any = given["num_layers"]
        self.dropout: Any = given["dropout"]
        self.time_major: Any = given["time_major"]
        self._made: list[Any] = []
        both_ways = given["direction"] != "forward"
        self.num_directions = 2 if both_ways else 1
        self.make_cells(self.num_layers, both_ways, given)
        cells = iter(self.__dict__.pop("_made"))
        for _ in range(self.num_layers):
            first = next(cells)
            self.append(
                BiRNN(first, next(cells), self.time_major)
                if both_ways
                else RNN(first, False, self.time_major)
            )

    def make_weights(self, input_size: int, ending: str, given: dict[str, Any]) -> None:
        options = {name: given[name] for name in self._cell._fields if name in given}
        cell = self._cell(**{**options, "input_size": input_size, "name": None})
        for name in self.weight_shapes(input_size):
            setattr(self, name + ending, getattr(cell, name))
        self._made.append(cell)

    def flatten_parameters(self) -> None:
        """Nothing: weights lie where they are."""

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> Any:
        """The outputs of the last layer, and the final states of all layers.

        Args:
            inputs: [N, T, I].
            initial_states: [layers x directions, N, H]; two of them for an LSTM; zeros when None.
            sequence_length: [N], steps of each row; what is behind them gives zeros.
        """
        axis = 0 if self.time_major else 1

        def drop(x: Any) -> Any:
            return F.dropout(x, self.dropout, training=self.training)

        if inputs.array.ndim != 3:
            wanted = "[time, batch, " if self.time_major else "[batch, time, "
            raise ShapeError(
                f"{type(self).__name__}: expected inputs of shape {wanted}{self.input_size}], got "
                f"{list(inputs.array.shape)}"
            )
        if inputs.appends is None or inputs.array.shape[axis] != -1:
            need_steps(self, inputs, axis)
        between = drop if self.dropout else None
        outs, states = self.through(inputs, axis, initial_states, between, sequence_length)
        return outs, alone_or_all(states)

    def _also(self) -> str:
        told = {"num_layers": 1, "time_major": False, "dropout": 0}
        values = {name: getattr(self, name) for name in told}
        return "".join(f", {name}={v}" for name, v in values.items() if v != told[name])


@RECURRENT
@from_fields
class LSTM(_Along, _Attributes, _Ways):
    """An LSTM; the final states are a pair, outputs and memories.

    >>> y, (h, c) = fluid.nn.LSTM(3, 4, num_layers=2)(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 4], [2, 5, 4])
    """

    _cell = LSTMCell


@RECURRENT
@from_fields
class GRU(_Along, _Attributes, _Ways):
    """A GRU.

    >>> y, h = fluid.nn.GRU(3, 4, direction="bidirect")(fluid.ones([5, 7, 3]))
    >>> y.shape, h.shape
    ([5, 7, 8], [2, 5, 4])
    """

    _cell = GRUCell


@RECURRENT
@from_fields
class SimpleRNN(_Along, _Attributes, _Activation, _Ways):
    """A network whose next state is a function of the input and of the state.

    >>> output, last = fluid.nn.SimpleRNN(2, 3)(fluid.ones([1, 5, 2]))
    >>> output.shape, last.shape
    ([1, 5, 3], [1, 1, 3])
    """

    _cell = SimpleRNNCell
