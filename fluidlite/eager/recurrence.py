"""Recurrent networks: the step of a cell, and cells along time, one layer on the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..functions.arithmetic import matmul
from ..functions.creation import full_like
from ..functions.elementary import sigmoid, tanh
from ..functions.shaping import chunk, concat, fits, stack, tile, transpose, unbind, unsqueeze
from .engine import located
from .recording import eager

State = tuple[Any, ...]  #: what goes from step to step: the output, and the memory of an LSTM
#: kind of a cell -> how many rows of weights there are for each element of its state
GATES = {"LSTM": 4, "GRU": 3, "tanh": 1, "relu": 1}
#: kind of a cell -> the mode of operator `rnn`
_MODES = {"LSTM": "LSTM", "GRU": "GRU", "tanh": "RNN_TANH", "relu": "RNN_RELU"}


def next_state(kind: str, x: Any, state: State, weights: Sequence[Any]) -> State:
    """The state behind a step.

    Args:
        kind: LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014), tanh or relu.
        x: [N, I].
        state: the one before, [N, H] each.
        weights: of the input [G H, I] and of the state [G H, H], their biases, and perhaps the
            projection of an LSTM's output; None for a missing one.
    """
    of_input, of_state, input_bias, state_bias, *more = weights
    from_input, from_state = (
        _linear(x, of_input, input_bias),
        _linear(state[0], of_state, state_bias),
    )
    if kind == "LSTM":
        enter, forget, new, out = chunk(from_input + from_state, 4, -1)
        memory = sigmoid(forget) * state[1] + sigmoid(enter) * tanh(new)
        shown = sigmoid(out) * tanh(memory)
        if more and more[0] is not None:
            shown = _linear(shown, more[0], None)
        return shown, memory
    if kind == "GRU":
        (r1, z1, n1), (r2, z2, n2) = chunk(from_input, 3, -1), chunk(from_state, 3, -1)
        new = tanh(n1 + sigmoid(r1 + r2) * n2)
        return ((state[0] - new) * sigmoid(z1 + z2) + new,)
    return (
        tanh(from_input + from_state) if kind == "tanh" else eager.relu(from_input + from_state),
    )


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    product = matmul(x, weight, transpose_y=True)
    return product if bias is None else product + bias


def need_steps(net: object, inputs: Any, axis: int) -> None:
    """Refuse sequences without steps, or with an unknown number of them.

    Args:
        net: runs along them.
        inputs: [N, T, ...] or [T, N, ...].
        axis: the dimension of steps.

    Raises:
        ShapeError: their number is unknown.
    """
    if int(inputs.array.shape[axis]) < 1:
        raise ShapeError(
            f"{type(net).__name__}: expected a known number of steps in dimension {axis}, got "
            f"shape {list(inputs.array.shape)}; declare it, or use fluid.layers.rnn"
        )


def kept(here: Any, old: Any, new: Any) -> Any:
    """The new states where a row has the step, else the old ones.

    Args:
        here: [N], whether a row has it.
        old, new: tensors, or lists and tuples of them.
    """
    if isinstance(new, (list, tuple)):
        return type(new)(kept(here, a, b) for a, b in zip(old, new))
    return old + (new - old) * _share(here, new)


def _share(here: Any, x: Any) -> Any:
    """1 in rows that have a step, else 0, beside ``x``."""
    return here.cast(str(x.dtype.dtype)).reshape([-1] + [1] * (len(x.shape) - 1))


def along(
    kind: str,
    steps: Sequence[Any],
    cells: Sequence[Sequence[str]],
    weights: Callable[[str], Sequence[Any]],
    start: Callable[[Any, int], State],
    between: Callable[[Any], Any] | None = None,
    lengths: Any = None,
) -> tuple[Sequence[Any], list[State]]:
    """The outputs of the last layer in each step, and the last states of all cells.

    Args:
        kind: of the cells; see :func:`next_state`.
        steps: the inputs, [N, I] each.
        cells: their names, layer by layer; those that end in ``_reverse`` go back.
        weights: gives those of a cell.
        start: gives the state that a cell begins with, of an input and the number of the cell.
        between: what happens to that which goes from layer to layer.
        lengths: [N], steps of each row, behind which outputs are 0 and states stay; all when None.
    """
    finals: list[State] = []
    for number, layer in enumerate(cells):
        if number and between is not None:
            steps = [between(x) for x in steps]
        sides = []
        for cell in layer:
            state, cell_weights = start(steps[0], len(finals)), weights(cell)
            outs: list[Any] = [None] * len(steps)
            times = range(len(steps))
            for t in reversed(times) if cell.endswith("_reverse") else times:
                after = next_state(kind, steps[t], state, cell_weights)
                outs[t] = after[0]
                if lengths is not None:
                    here = lengths > t
                    outs[t] = after[0] * _share(here, after[0])
                    after = kept(here, state, after)
                state = after
            sides.append(outs)
            finals.append(state)
        steps = sides[0] if len(sides) == 1 else [concat(list(pair), -1) for pair in zip(*sides)]
    return steps, finals


class RecurrentNet:
    """What cells and layers of cells are in every face.

    A face says in ``make_weights`` and in ``weights`` how parameters are made and read.
    """

    kind: str  #: of the cells; see :func:`next_state`
    input_size: int
    hidden_size: int
    proj_size: int = 0  #: elements of an LSTM's output, where it is a projection

    def make_weights(self, input_size: int, ending: str, given: dict[str, Any]) -> None:
        """Make the weights of one cell; their names end as said.

        Args:
            input_size: elements of its input.
            ending: of the names.
            given: the arguments of the constructor.
        """
        raise NotImplementedError

    def weights(self, ending: str) -> Sequence[Any]:
        """The weights of one cell, as :func:`next_state` takes them."""
        raise NotImplementedError

    def weight_shapes(self, input_size: int) -> dict[str, list[int]]:
        """The shapes of the weights of one cell, by name."""
        rows = GATES[self.kind] * self.hidden_size
        shapes = {"weight_ih": [rows, input_size], "weight_hh": [rows, self.state_sizes[0]]}
        shapes |= {"bias_ih": [rows], "bias_hh": [rows]}
        if self.proj_size:
            shapes["weight_hr"] = [self.proj_size, self.hidden_size]
        return shapes

    @property
    def state_sizes(self) -> tuple[int, ...]:
        """How many elements a row of each state has."""
        shown = self.proj_size or self.hidden_size
        return (shown, self.hidden_size) if self.kind == "LSTM" else (shown,)

    def zeros(self, x: Any) -> State:
        """The state to begin with, for each row of [N, I]."""
        if x.appends is None:
            return self._zeros_beside(x, x.array.shape[0])
        column = full_like(eager.slice(x, axes=[1], starts=[0], ends=[1]), 0)
        return tuple(tile(column, [1, size]) for size in self.state_sizes)

    def _zeros_beside(self, x: Any, rows: int) -> State:
        """The state to begin with, for some rows of a tensor's type."""
        dtype = x.array.dtype
        return tuple([x.results(np.zeros((rows, size), dtype)) for size in self.state_sizes])


class StackedCells(RecurrentNet):
    """Cells along time, one layer on the other."""

    _cells: list[list[str]]

    def make_cells(self, layers: int, both_ways: bool, given: dict[str, Any]) -> None:
        """Make the weights of all cells.

        Args:
            layers: how many stand one on the other.
            both_ways: whether each goes back as well.
            given: the arguments of the constructor.
        """
        ways = ("", "_reverse") if both_ways else ("",)
        self._cells = [[f"_l{k}{way}" for way in ways] for k in range(layers)]
        for number, layer in enumerate(self._cells):
            width = self.state_sizes[0] * len(ways) if number else self.input_size
            for cell in layer:
                self.make_weights(width, cell, given)

    def through(
        self,
        inputs: Any,
        axis: int,
        states: Any,
        between: Callable[[Any], Any] | None,
        lengths: Any = None,
    ) -> tuple[Any, tuple[Any, ...]]:
        """The outputs of the last layer, and the last states of all cells.

        Args:
            inputs: [T, N, I] or [N, T, I].
            axis: the dimension of steps, which is that of the outputs, too.
            states: to begin with, [layers x directions, N, H] each; zeros when None.
            between: what happens to that which goes from layer to layer.
            lengths: [N], steps of each row, behind which outputs are 0 and states stay; all when
                None.

        Raises:
            ArgumentError: ``states`` are more or fewer.
            ShapeError: one has another shape.
        """
        shape = inputs.array.shape
        begins = None if states is None else self._by_cell(states, shape[1 - axis])

        late = inputs.appends is not None and shape[axis] == -1 and not self.proj_size
        if (inputs.appends is not None and not late) or self.proj_size:
            steps = unbind(inputs, axis)

            def start(x: Any, number: int) -> State:
                return self.zeros(x) if begins is None else begins[number]

            found = along(self.kind, steps, self._cells, self.weights, start, between, lengths)
            outs, finals = stack(list(found[0]), axis), found[1]
        else:
            first = transpose(inputs, [1, 0, 2]) if axis else inputs
            run = self._in_run if late else self._at_once
            outs, finals = run(first, begins, between, lengths)
            outs = transpose(outs, [1, 0, 2]) if axis else outs
        return outs, tuple(
            unsqueeze(each[0], 0) if len(each) == 1 else stack(list(each)) for each in zip(*finals)
        )

    def _at_once(
        self, x: Any, given: list[State] | None, between: Callable[[Any], Any] | None, lengths: Any
    ) -> tuple[Any, list[State]]:
        """The same of tensors, [T, N, I], each direction of a layer as one operator."""
        finals: list[State] = []
        rows = x.array.shape[1]
        for number, layer in enumerate(self._cells):
            if number and between is not None:
                x = between(x)
            sides = []
            for cell in layer:
                h, *c = self._zeros_beside(x, rows) if given is None else given[len(finals)]
                weights = (*self.weights(cell), None, None)[:4]
                back = cell.endswith("_reverse")
                out, *state = eager.recurrent_layer(
                    x, h, c[0] if c else None, *weights, lengths, mode=self.kind, is_reverse=back
                )
                sides.append(out)
                finals.append(tuple(state[: len(c) + 1]))
            x = sides[0] if len(sides) == 1 else concat(sides, -1)
        return x, finals

    def _in_run(
        self, x: Any, given: list[State] | None, between: Callable[[Any], Any] | None, lengths: Any
    ) -> tuple[Any, list[State]]:
        """The same of variables whose number of steps a run knows, each layer as one operator."""
        finals: list[State] = []
        step = eager.slice(x, axes=[0], starts=[0], ends=[1], decrease_axis=[0])
        zeros = self.zeros(step) if given is None else ()
        for number, layer in enumerate(self._cells):
            if number and between is not None:
                x = between(x)
            begins = [zeros if given is None else given[len(finals) + k] for k in range(len(layer))]
            weights = [(*self.weights(cell), None, None)[:4] for cell in layer]
            biases = [
                each.results(np.zeros(each.array.shape[:1], each.array.dtype)) if b is None else b
                for each, *_, first, second in weights
                for b in (first, second)
            ]
            results = eager.rnn.asked(
                ("Out", "State"),
                x,
                [stack(list(parts)) for parts in zip(*begins)],
                [*(w for pair in weights for w in pair[:2]), *biases],
                lengths,
                mode=_MODES[self.kind],
                is_bidirec=len(layer) == 2,
                input_size=+x.array.shape[2],
                hidden_size=self.hidden_size,
                num_layers=1,
            )
            x = results["Out"]
            finals += zip(*(unbind(state, 0) for state in results["State"]))
        return x, finals

    def _by_cell(self, states: Any, rows: int) -> list[State]:
        parts = tuple(states) if isinstance(states, (list, tuple)) else (states,)
        sizes = self.state_sizes
        if len(parts) != len(sizes):
            raise located(
                ArgumentError,
                f"{type(self).__name__}: expected {len(sizes)} initial states, got {len(parts)}",
            )
        for part, size in zip(parts, sizes):
            wanted = [sum(map(len, self._cells)), rows, size]
            if not fits(part.array.shape, wanted):
                raise located(
                    ShapeError, f"expected a state of shape {wanted}, got {list(part.array.shape)}"
                )
        return list(zip(*(unbind(part, 0) for part in parts)))


def alone_or_all(states: tuple[Any, ...]) -> Any:
    """A state, where a network has one; a tuple of several."""
    return states if len(states) > 1 else states[0]
