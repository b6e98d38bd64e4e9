"""Recurrent networks: cells, and layers of them along time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from ...errors import ArgumentError, ShapeError
from ...imperative.engine import located
from ..shapes import cat, chunk, stack
from . import functional as F
from .dense import near_zero, uniform_parameter
from .module import Module

State = tuple[Any, ...]  #: what goes from step to step: the output, and the memory of an LSTM
_GATES = {"LSTM": 4, "GRU": 3, "tanh": 1, "relu": 1}


def _next(kind: str, x: Any, state: State, weights: Sequence[Any]) -> State:
    """The state behind a step.

    Args:
        kind: LSTM, GRU, tanh or relu.
        x: [N, I].
        state: the one before, [N, H] each.
        weights: of the input and of the state, their biases, and the projection of an LSTM's
            output; None for what is not there.
    """
    of_input, of_state, input_bias, state_bias, projection = weights
    given = F.linear(x, of_input, input_bias)
    kept = F.linear(state[0], of_state, state_bias)
    if kind == "LSTM":
        enter, forget, new, out = chunk(given + kept, 4, -1)
        memory = F.sigmoid(forget) * state[1] + F.sigmoid(enter) * F.tanh(new)
        shown = F.sigmoid(out) * F.tanh(memory)
        return (shown if projection is None else F.linear(shown, projection)), memory
    if kind == "GRU":
        (r1, z1, n1), (r2, z2, n2) = chunk(given, 3, -1), chunk(kept, 3, -1)
        new = F.tanh(n1 + F.sigmoid(r1 + r2) * n2)
        return (new + F.sigmoid(z1 + z2) * (state[0] - new),)
    return ((F.tanh if kind == "tanh" else F.relu)(given + kept),)


class _Recurrent(Module):
    """What cells and layers of them have in common."""

    kind: str
    input_size: int
    hidden_size: int
    bias: bool
    proj_size: int = 0

    def make_weights(self, input_size: int, ending: str, dtype: Any, device: Any) -> None:
        """Make the weights of one cell; their names end as said."""
        rows, out = _GATES[self.kind] * self.hidden_size, self.proj_size or self.hidden_size
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
        return [self.own_parameters.get(name + ending) for name in names]

    def zeros(self, x: Any) -> State:
        """The state to begin with, for each row of [N, I]."""
        rows, out = x.array.shape[0], self.proj_size or self.hidden_size
        sizes = (out, self.hidden_size) if self.kind == "LSTM" else (out,)
        return tuple(x.new_zeros(rows, size) for size in sizes)


class _Cell(_Recurrent):
    """One step."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, device: Any, dtype: Any
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.make_weights(input_size, "", dtype, device)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state, of [N, I] or [I] and the state before; zeros when None.

        Raises:
            ShapeError: the input has another rank or size.
        """
        _need_input(input, self.input_size, (1, 2))
        alone = len(input.array.shape) == 1
        x = input.unsqueeze(0) if alone else input
        given = hx if isinstance(hx, (list, tuple)) else (hx,)
        parts = [s.unsqueeze(0) if alone else s for s in given if s is not None]
        state = tuple(parts) or self.zeros(x)
        after = _next(self.kind, x, state, self.weights(""))
        found = tuple(s.squeeze(0) if alone else s for s in after)
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


class LSTMCell(_Cell):
    """A step of an LSTM: gates i, f, g, o; the state is a pair, output and memory.

    Args:
        input_size, hidden_size: elements of an input, and of the state.
        bias: whether there are biases.
        device: the CPU, or None.
        dtype: element type of the weights.

    >>> h, c = fluid.flow.nn.LSTMCell(3, 4)(fluid.flow.ones(2, 3))
    >>> h.shape, c.shape
    ([2, 4], [2, 4])
    """

    kind = "LSTM"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)


class GRUCell(_Cell):
    """A step of a GRU: gates r, z, n.

    Args:
        input_size, hidden_size, bias, device, dtype: as of :class:`LSTMCell`.
    """

    kind = "GRU"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)


class RNNCell(_Cell):
    """A step of a network whose next state is a function of the input and of the state.

    Args:
        input_size, hidden_size, bias, device, dtype: as of :class:`LSTMCell`.
        nonlinearity: tanh or relu.

    Raises:
        ArgumentError: there is no such function.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.__dict__["kind"] = _function(nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)


def _function(given: str) -> str:
    if given not in ("tanh", "relu"):
        raise located(ArgumentError(f"expected nonlinearity 'tanh' or 'relu', got {given!r:.60}"))
    return given


class _Along(_Recurrent):
    """Cells along time, one layer on the other.

    Args:
        input_size, hidden_size: elements of an input, and of a state.
        num_layers: how many.
        bias: whether there are biases.
        batch_first: inputs are [N, T, I] instead of [T, N, I].
        dropout: of what goes from layer to layer, in training.
        bidirectional: back as well, results side by side.
        proj_size: elements of an LSTM's output, made of the ``hidden_size``; 0 for all of those.
        device: the CPU, or None.
        dtype: element type of the weights.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if not 0 <= proj_size < hidden_size:
            raise located(
                ArgumentError(f"expected proj_size in [0, {hidden_size}), got {proj_size!r:.60}")
            )
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, dropout
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._ways = ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            width = (proj_size or hidden_size) * len(self._ways)
            for way in self._ways:
                size = width if layer else input_size
                self.make_weights(size, f"_l{layer}{way}", dtype, device)

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
        row = [x.unsqueeze(0) if alone else x for x in input.unbind(time)]
        given = self._states(hx, row[0].array.shape[0], alone)
        finals: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                row = [F.dropout(x, self.dropout, self.training) for x in row]
            sides = []
            for way in self._ways:
                start = self.zeros(row[0]) if given is None else given[len(finals)]
                shown, last = self._run(row, start, f"_l{layer}{way}")
                sides.append(shown)
                finals.append(last)
            row = sides[0] if len(sides) == 1 else [cat(pair, -1) for pair in zip(*sides)]
        states = tuple(stack(parts).squeeze(1) if alone else stack(parts) for parts in zip(*finals))
        out = stack([x.squeeze(0) for x in row] if alone else row, time)
        return out, (states if self._pair else states[0])

    def _run(self, row: Sequence[Any], state: State, ending: str) -> tuple[list[Any], State]:
        back, weights, shown = ending.endswith("_reverse"), self.weights(ending), []
        for x in reversed(row) if back else row:
            state = _next(self.kind, x, state, weights)
            shown.append(state[0])
        return (shown[::-1] if back else shown), state

    def _states(self, hx: Any, rows: int, alone: bool) -> list[State] | None:
        """The given states of each layer and direction."""
        if hx is None:
            return None
        parts = [s.unsqueeze(1) if alone else s for s in (hx if self._pair else (hx,))]
        count = self.num_layers * len(self._ways)
        out = self.proj_size or self.hidden_size
        for part, size in zip(parts, (out, self.hidden_size)):
            if list(part.array.shape) != [count, rows, size]:
                raise located(
                    ShapeError(
                        f"expected a state of shape {[count, rows, size]}, got "
                        f"{list(part.array.shape)}"
                    )
                )
        return list(zip(*(part.unbind(0) for part in parts)))

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        shown += [f"num_layers={self.num_layers}"] * (self.num_layers != 1)
        shown += [f"{n}={v}" for n, v in (("bias", self.bias),) if not v]
        shown += [f"{n}=True" for n in ("batch_first", "bidirectional") if getattr(self, n)]
        shown += [f"{n}={getattr(self, n)}" for n in ("dropout", "proj_size") if getattr(self, n)]
        return ", ".join(shown)


class LSTM(_Along):
    """An LSTM along time: gates i, f, g, o; the state is a pair, output and memory.

    Args:
        input_size, hidden_size: elements of an input, and of a state.
        num_layers: how many cells stand one on the other.
        bias: whether there are biases.
        batch_first: inputs are [N, T, I] instead of [T, N, I].
        dropout: of what goes from layer to layer, in training.
        bidirectional: back as well, results side by side.
        proj_size: elements of the output, made of the ``hidden_size``; 0 for all of those.
        device: the CPU, or None.
        dtype: element type of the weights.

    >>> out, (h, c) = fluid.flow.nn.LSTM(3, 4, num_layers=2)(fluid.flow.ones(5, 2, 3))
    >>> out.shape, h.shape
    ([5, 2, 4], [2, 2, 4])
    """

    kind = "LSTM"
    _pair = True


class GRU(_Along):
    """A GRU along time: gates r, z, n.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device,
            dtype: as of :class:`LSTM`.
    """

    kind = "GRU"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*sizes, device=device, dtype=dtype)


class RNN(_Along):
    """A network along time whose next state is a function of the input and of the state.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device,
            dtype: as of :class:`LSTM`.
        nonlinearity: tanh or relu.

    Raises:
        ArgumentError: there is no such function.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.__dict__["kind"] = _function(nonlinearity)
        sizes = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*sizes, device=device, dtype=dtype)
