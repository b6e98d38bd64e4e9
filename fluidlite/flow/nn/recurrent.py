"""Recurrent networks: cells, and layers of them along time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eager.engine import located
from ...eager.recurrence import RecurrentNet, StackedCells, alone_or_all, next_state
from ...errors import ArgumentError, ShapeError
from ...ground.docstrings import Family
from ...ground.fields import from_fields
from ...symbolic import in_program
from ..shapes import squeeze, unsqueeze
from . import functional as F
from .dense import AroundZero, near_zero, uniform_parameter
from .module import Module
from .utils.rnn import PackedSequence

if TYPE_CHECKING:
    from ...functions.arguments import DTypeLike
    from ..devices import DeviceLike

RECURRENT = Family(
    {
        "input_size": "elements of an input.",
        "hidden_size": "elements of a state.",
        "num_layers": "how many cells stand one on the other.",
        "bias": "whether there are biases.",
        "nonlinearity": "tanh or relu.",
        "batch_first": "inputs are [N, T, I] instead of [T, N, I].",
        "dropout": "of what goes from layer to layer, in training.",
        "bidirectional": "back as well, results side by side.",
        "proj_size": "elements of the output, made of the ``hidden_size``; 0 for all of those.",
        "device": "the CPU, or None.",
        "dtype": "element type of the weights.",
    },
    raises="ArgumentError: an argument is none of those that there are.",
)


class _Recurrent(RecurrentNet, AroundZero):
    """What cells and layers of them have in common."""

    bias: bool

    def _take(self, given: dict[str, Any]) -> None:
        """Keep the arguments, as attributes, but for where weights are made."""
        function = given.get("nonlinearity", "tanh")
        if function not in ("tanh", "relu"):
            raise located(
                ArgumentError, f"expected nonlinearity 'tanh' or 'relu', got {function!r:.60}"
            )
        Module.__init__(self)
        vars(self).update({n: v for n, v in given.items() if n not in ("device", "dtype")})
        if "nonlinearity" in given:
            vars(self)["kind"] = function

    def make_weights(self, input_size: int, ending: str, given: dict[str, Any]) -> None:
        bound = self._bound = near_zero(self.hidden_size)
        placed = given["dtype"], given["device"]
        for name, shape in self.weight_shapes(input_size).items():
            is_there = self.bias or not name.startswith("bias")
            made = uniform_parameter(bound, *placed, *shape) if is_there else None
            self.register_parameter(name + ending, made)

    def weights(self, ending: str) -> list[Any]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [in_program(self.own_parameters.get(name + ending)) for name in names]

    def _need_input(self, input: Any, *ranks: int) -> None:
        shape = list(input.array.shape)
        if len(shape) not in ranks or shape[-1] != self.input_size:
            raise located(
                ShapeError,
                f"expected an input of {ranks[0]} or {ranks[1]} dimensions, the last one of "
                f"size {self.input_size}, got shape {shape}",
            )


@from_fields
class _Sizes:
    input_size: int
    hidden_size: int


@from_fields
class _Bias:
    bias: bool = True


@from_fields
class _Nonlinearity:
    nonlinearity: str = "tanh"


@from_fields
class _Placing:
    device: DeviceLike = None
    dtype: DTypeLike = None


class _Cell(_Recurrent):
    """One step."""

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        self._take(given)
        self.make_weights(self.input_size, "", given)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state, of [N, I] or [I] and the state before; zeros when None.

        Raises:
            ShapeError: the input has another rank or size.
        """
        self._need_input(input, 1, 2)
        alone = len(input.array.shape) == 1
        x = unsqueeze(input, 0) if alone else input
        given = hx if isinstance(hx, (list, tuple)) else (hx,)
        parts = [unsqueeze(s, 0) if alone else s for s in given if s is not None]
        state = tuple(parts) or self.zeros(x)
        after = next_state(self.kind, x, state, self.weights(""))
        return alone_or_all(tuple(squeeze(s, 0) if alone else s for s in after))

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


@RECURRENT
@from_fields
class LSTMCell(_Cell, _Placing, _Bias, _Sizes):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    >>> h, c = fluid.flow.nn.LSTMCell(3, 4)(fluid.flow.ones(2, 3))
    >>> h.shape, c.shape
    (oneflow.Size([2, 4]), oneflow.Size([2, 4]))
    """

    kind = "LSTM"


@RECURRENT
@from_fields
class GRUCell(_Cell, _Placing, _Bias, _Sizes):
    """A step of a GRU: gates r, z, n.

    >>> fluid.flow.nn.GRUCell(2, 3)(fluid.flow.ones(1, 2)).shape
    oneflow.Size([1, 3])
    """

    kind = "GRU"


@RECURRENT
@from_fields
class RNNCell(_Cell, _Placing, _Nonlinearity, _Bias, _Sizes):
    """A step of a network whose next state is a function of the input and of the state.

    >>> fluid.flow.nn.RNNCell(2, 3)(fluid.flow.ones(1, 2)).shape
    oneflow.Size([1, 3])
    """


@from_fields
class _Layers(_Sizes):
    num_layers: int = 1


@from_fields
class _Ways(_Bias):
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False


@from_fields
class _Projection:
    proj_size: int = 0


class _Along(StackedCells, _Recurrent):
    """Cells along time, one layer on the other."""

    num_layers: int
    batch_first: bool
    dropout: float
    bidirectional: bool

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        size, hidden = given.get("proj_size", 0), given["hidden_size"]
        if not 0 <= size < hidden:
            raise located(ArgumentError, f"expected proj_size in [0, {hidden}), got {size!r:.60}")
        self._take(given)
        self.make_cells(self.num_layers, self.bidirectional, given)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        first = "weight_ih"
        endings = [n.removeprefix(first) for n in self.own_parameters if n.startswith(first)]
        return [[w for w in self.weights(ending) if w is not None] for ending in endings]

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the states of all layers behind the last step.

        Args:
            input: [T, N, I], or [T, I] of one sequence; see ``batch_first``.  Or a
                ``PackedSequence``: so are the outputs then.
            hx: [layers x directions, N, H], a pair of them for an LSTM; zeros when None.

        Raises:
            ArgumentError: there are more or fewer states.
            ShapeError: the input or a state has another rank or size.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        self._need_input(input, 2, 3)
        alone = len(input.array.shape) == 2
        time = 1 if self.batch_first and not alone else 0
        rows = unsqueeze(input, 1) if alone else input
        if alone and hx is not None:
            hx = [unsqueeze(s, 1) for s in (hx if isinstance(hx, (list, tuple)) else [hx])]
        out, states = self.through(rows, time, hx, self._drop if self.dropout else None)
        out = squeeze(out, 1) if alone else out
        return out, alone_or_all(tuple(squeeze(s, 1) if alone else s for s in states))

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        """The same of sequences of different lengths, behind which states stay."""
        states = None if hx is None else hx if isinstance(hx, (list, tuple)) else (hx,)
        if states is not None:
            states = [input.sorted(state) for state in states]
        rows = input.padded()
        self._need_input(rows, 2, 3)
        drop, lengths = self._drop if self.dropout else None, rows.results(input.lengths)
        out, after = self.through(rows, 0, states, drop, lengths)
        after = tuple(input.unsorted(state) for state in after)
        return input.like(out), alone_or_all(after)

    def _drop(self, x: Any) -> Any:
        return F.dropout(x, self.dropout, self.training)

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        shown += [f"num_layers={self.num_layers}"] * (self.num_layers != 1)
        shown += [f"{n}={v}" for n, v in (("bias", self.bias),) if not v]
        shown += [f"{n}=True" for n in ("batch_first", "bidirectional") if getattr(self, n)]
        shown += [f"{n}={getattr(self, n)}" for n in ("dropout", "proj_size") if getattr(self, n)]
        return ", ".join(shown)


@RECURRENT
@from_fields
class LSTM(_Along, _Placing, _Projection, _Ways, _Layers):
    """An LSTM along time: gates i, f, g, o; the state is a pair, output and memory.

    >>> out, (h, c) = fluid.flow.nn.LSTM(3, 4, num_layers=2)(fluid.flow.ones(5, 2, 3))
    >>> out.shape, h.shape
    (oneflow.Size([5, 2, 4]), oneflow.Size([2, 2, 4]))
    """

    kind = "LSTM"


@RECURRENT
@from_fields
class GRU(_Along, _Placing, _Ways, _Layers):
    """A GRU along time: gates r, z, n.

    >>> output, last = fluid.flow.nn.GRU(2, 3)(fluid.flow.ones(5, 1, 2))
    >>> output.shape, last.shape
    (oneflow.Size([5, 1, 3]), oneflow.Size([1, 1, 3]))
    """

    kind = "GRU"


@RECURRENT
@from_fields
class RNN(_Along, _Placing, _Ways, _Nonlinearity, _Layers):
    """A network along time whose next state is a function of the input and of the state.

    >>> output, last = fluid.flow.nn.RNN(2, 3)(fluid.flow.ones(5, 1, 2))
    >>> output.shape, last.shape
    (oneflow.Size([5, 1, 3]), oneflow.Size([1, 1, 3]))
    """
