"""Recurrent networks: the step of a cell, and cells along time, one layer on the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..functions.arithmetic import matmul
from ..functions.elementary import sigmoid, tanh
from ..functions.shaping import chunk, concat
from .recording import eager

State = tuple[Any, ...]  #: what goes from step to step: the output, and the memory of an LSTM
#: kind of a cell -> how many rows of weights there are for each element of its state
GATES = {"LSTM": 4, "GRU": 3, "tanh": 1, "relu": 1}


def next_state(kind: str, x: Any, state: State, weights: Sequence[Any]) -> State:
    """The state behind a step.

    Args:
        kind: LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014), tanh or relu.
        x: [N, I].
        state: the one before, [N, H] each.
        weights: of the input [G H, I] and of the state [G H, H], their biases, and perhaps the
            projection of an LSTM's output; None for what is not there.
    """
    of_input, of_state, input_bias, state_bias, *more = weights
    given, kept = _linear(x, of_input, input_bias), _linear(state[0], of_state, state_bias)
    if kind == "LSTM":
        enter, forget, new, out = chunk(given + kept, 4, -1)
        memory = sigmoid(forget) * state[1] + sigmoid(enter) * tanh(new)
        shown = sigmoid(out) * tanh(memory)
        if more and more[0] is not None:
            shown = _linear(shown, more[0], None)
        return shown, memory
    if kind == "GRU":
        (r1, z1, n1), (r2, z2, n2) = chunk(given, 3, -1), chunk(kept, 3, -1)
        new = tanh(n1 + sigmoid(r1 + r2) * n2)
        return ((state[0] - new) * sigmoid(z1 + z2) + new,)
    return (tanh(given + kept) if kind == "tanh" else eager.relu(given + kept),)


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    product = matmul(x, weight, transpose_y=True)
    return product if bias is None else product + bias


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
            state, made = start(steps[0], len(finals)), weights(cell)
            outs: list[Any] = [None] * len(steps)
            times = range(len(steps))
            for t in reversed(times) if cell.endswith("_reverse") else times:
                after = next_state(kind, steps[t], state, made)
                outs[t] = after[0]
                if lengths is not None:
                    here = (lengths > t).cast(str(after[0].dtype.dtype)).reshape([-1, 1])
                    outs[t] = after[0] * here
                    after = tuple(old + (new - old) * here for old, new in zip(state, after))
                state = after
            sides.append(outs)
            finals.append(state)
        steps = sides[0] if len(sides) == 1 else [concat(list(pair), -1) for pair in zip(*sides)]
    return steps, finals
