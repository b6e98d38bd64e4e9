"""Recurrent networks: cells, and layers of them along time."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ...eager.engine import located
from ...eager.recurrence import GATES, State, along, next_state
from ...errors import ArgumentError, ShapeError
from ...functions.creation import full_like
from ...functions.items import get_item
from ...functions.shaping import fits, tile
from ...ground.docstrings import Family
from ...ground.fields import from_fields
from ...symbolic import in_program
from ..shapes import squeeze, stack, unbind, unsqueeze
from . import functional as F
from .dense import near_zero, uniform_parameter
from .module import Module

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


class _Recurrent(Module):
    """What cells and layers of them have in common."""

    kind: str
    input_size: int
    hidden_size: int
    bias: bool
    proj_size: int = 0

    def make_weights(self, input_size: int, ending: str, dtype: Any, device: Any) -> None:
        """Make the weights of one cell; their names end as said."""
        rows, out = GATES[self.kind] * self.hidden_size, self.proj_size or self.hidden_size
        made = functools.partial(uniform_parameter, near_zero(self.hidden_size), dtype, device)
        setattr(self, "weight_ih" + ending, made(rows, input_size))
        setattr(self, "weight_hh" + ending, made(rows, out))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name + ending, made(rows) if self.bias else None)
        if self.proj_size:
            setattr(self, "weight_hr" + ending, made(out, self.hidden_size))

    def weights(self, ending: str) -> list[Any]:
        """The weights of one cell."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [in_program(self.own_parameters.get(name + ending)) for name in names]

    def zeros(self, x: Any) -> State:
        """The state to begin with, for each row of [N, I]."""
        rows, out = x.array.shape[0], self.proj_size or self.hidden_size
        sizes = (out, self.hidden_size) if self.kind == "LSTM" else (out,)
        if x.appends is not None:
            first = get_item(x, (slice(None), slice(1)))
            return tuple(tile(full_like(first, 0), [1, size]) for size in sizes)
        return tuple(x.new_zeros(rows, size) for size in sizes)


class _Cell(_Recurrent):
    """One step."""

    def begin(self, given: dict[str, Any]) -> None:
        """Make the weights.

        Args:
            given: the arguments by name.
        """
        _take(self, given)
        self.make_weights(self.input_size, "", given["dtype"], given["device"])

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state, of [N, I] or [I] and the state before; zeros when None.

        Raises:
            ShapeError: the input has another rank or size.
        """
        _need_input(input, self.input_size, (1, 2))
        alone = len(input.array.shape) == 1
        x = unsqueeze(input, 0) if alone else input
        given = hx if isinstance(hx, (list, tuple)) else (hx,)
        parts = [unsqueeze(s, 0) if alone else s for s in given if s is not None]
        state = tuple(parts) or self.zeros(x)
        after = next_state(self.kind, x, state, self.weights(""))
        found = tuple(squeeze(s, 0) if alone else s for s in after)
        return found if len(found) > 1 else found[0]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


def _need_input(input: Any, size: int, ranks: tuple[int, int]) -> None:
    shape = list(input.array.shape)
    if len(shape) not in ranks or shape[-1] != size:
        raise located(
            ShapeError(
                f"expected an input of {ranks[0]} or {ranks[1]} dimensions, the last one of size "
                f"{size}, got shape {shape}"
            )
        )


@from_fields
class _GatedCell(_Cell):
    """One step, of gates."""

    input_size: int
    hidden_size: int
    bias: bool = True
    device: Any = None
    dtype: Any = None


@RECURRENT
@from_fields
class LSTMCell(_GatedCell):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    >>> h, c = fluid.flow.nn.LSTMCell(3, 4)(fluid.flow.ones(2, 3))
    >>> h.shape, c.shape
    ([2, 4], [2, 4])
    """

    kind = "LSTM"


@RECURRENT
@from_fields
class GRUCell(_GatedCell):
    """A step of a GRU: gates r, z, n."""

    kind = "GRU"


@RECURRENT
@from_fields
class RNNCell(_Cell):
    """A step of a network whose next state is a function of the input and of the state."""

    input_size: int
    hidden_size: int
    bias: bool = True
    nonlinearity: str = "tanh"
    device: Any = None
    dtype: Any = None


def _take(module: _Recurrent, given: dict[str, Any]) -> None:
    """Keep the arguments of a module, as attributes, but for where weights are made."""
    function = given.get("nonlinearity", "tanh")
    if function not in ("tanh", "relu"):
        raise located(
            ArgumentError(f"expected nonlinearity 'tanh' or 'relu', got {function!r:.60}")
        )
    Module.__init__(module)
    vars(module).update({n: v for n, v in given.items() if n not in ("device", "dtype")})
    if "nonlinearity" in given:
        vars(module)["kind"] = function


class _Along(_Recurrent):
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
            raise located(ArgumentError(f"expected proj_size in [0, {hidden}), got {size!r:.60}"))
        _take(self, given)
        ways = ("", "_reverse") if self.bidirectional else ("",)
        self._cells = [[f"_l{k}{way}" for way in ways] for k in range(self.num_layers)]
        for number, layer in enumerate(self._cells):
            width = (size or hidden) * len(ways) if number else self.input_size
            for cell in layer:
                self.make_weights(width, cell, given["dtype"], given["device"])

    _pair: ClassVar[bool] = False

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the states of all layers behind the last step.

        Args:
            input: [T, N, I], or [T, I] of one sequence; see ``batch_first``.
            hx: [layers x directions, N, H], a pair of them for an LSTM; zeros when None.

        Raises:
            ShapeError: the input or a state has another rank or size.
        """
        _need_input(input, self.input_size, (2, 3))
        alone = len(input.array.shape) == 2
        time = 1 if self.batch_first and not alone else 0
        row = [unsqueeze(x, 0) if alone else x for x in unbind(input, time)]
        given = self._states(hx, row[0].array.shape[0], alone)

        def start(x: Any, number: int) -> State:
            return self.zeros(x) if given is None else given[number]

        def drop(x: Any) -> Any:
            return F.dropout(x, self.dropout, self.training)

        between = drop if self.dropout else None
        shown, finals = along(self.kind, row, self._cells, self.weights, start, between)
        joined = map(stack, zip(*finals))
        states = tuple(squeeze(part, 1) if alone else part for part in joined)
        out = stack([squeeze(x, 0) for x in shown] if alone else shown, time)
        return out, (states if self._pair else states[0])

    def _states(self, hx: Any, rows: int, alone: bool) -> list[State] | None:
        """The given states of each layer and direction."""
        if hx is None:
            return None
        parts = [unsqueeze(s, 1) if alone else s for s in (hx if self._pair else (hx,))]
        count = sum(map(len, self._cells))
        out = self.proj_size or self.hidden_size
        for part, size in zip(parts, (out, self.hidden_size)):
            if not fits(part.array.shape, [count, rows, size]):
                raise located(
                    ShapeError(
                        f"expected a state of shape {[count, rows, size]}, got "
                        f"{list(part.array.shape)}"
                    )
                )
        return list(zip(*(unbind(part, 0) for part in parts)))

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        shown += [f"num_layers={self.num_layers}"] * (self.num_layers != 1)
        shown += [f"{n}={v}" for n, v in (("bias", self.bias),) if not v]
        shown += [f"{n}=True" for n in ("batch_first", "bidirectional") if getattr(self, n)]
        shown += [f"{n}={getattr(self, n)}" for n in ("dropout", "proj_size") if getattr(self, n)]
        return ", ".join(shown)


@RECURRENT
@from_fields
class LSTM(_Along):
    """An LSTM along time: gates i, f, g, o; the state is a pair, output and memory.

    >>> out, (h, c) = fluid.flow.nn.LSTM(3, 4, num_layers=2)(fluid.flow.ones(5, 2, 3))
    >>> out.shape, h.shape
    ([5, 2, 4], [2, 2, 4])
    """

    kind = "LSTM"
    _pair = True

    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    proj_size: int = 0
    device: Any = None
    dtype: Any = None


@RECURRENT
@from_fields
class GRU(_Along):
    """A GRU along time: gates r, z, n."""

    kind = "GRU"

    input_size: int
    hidden_size: int
    num_layers: int = 1
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    device: Any = None
    dtype: Any = None


@RECURRENT
@from_fields
class RNN(_Along):
    """A network along time whose next state is a function of the input and of the state."""

    input_size: int
    hidden_size: int
    num_layers: int = 1
    nonlinearity: str = "tanh"
    bias: bool = True
    batch_first: bool = False
    dropout: float = 0.0
    bidirectional: bool = False
    device: Any = None
    dtype: Any = None
