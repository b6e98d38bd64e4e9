"""Recurrent layers that fluid 1.8 keeps under ``contrib``: several cells, one above the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..dygraph.layer import Layer
from ..errors import ArgumentError, ShapeError
from ..ground.aliases import Alias
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..ground.spellings import Spelling
from ..ir.variable import Variable
from ..layers.gated_units import (
    GRU_UNITS,
    LSTM_UNITS,
    Activation,
    GatedUnit,
    GRUGates,
    LSTMGates,
    WithType,
    check_rows,
    checked_size,
    named,
)
from ..layers.joining import concat
from ..layers.nn import dropout
from ..layers.recurrence import check_lengths, flipped, kept, steps_mask
from ..layers.reshaping import reshape, reverse
from ..layers.static_rnn import StaticRNN
from ..opdef.spec import agree

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from ..param_attr import Attr


@from_fields
class _Scope:
    name_scope: str


class _BasicUnit(Layer, GatedUnit):
    """A unit that owns its parameters, and makes them at its first step."""

    _hiden_size: Alias[int] = Alias("hidden_size")  # written so in fluid 1.8

    def begin(self, given: dict[str, Any]) -> None:
        """Keep the arguments.

        Args:
            given: the arguments by name.
        """
        self._name = given["name_scope"]
        Layer.__init__(self, f"{self._name}/{type(self).__name__}", given["dtype"])
        self.take(given)

    def _build_once(self, input: Any, *states: Any) -> None:
        check_rows("input", input)
        for part, (attr, shape, is_bias) in zip(self.parts, self.wanted(input.shape[1])):
            setattr(self, part.name, self.create_parameter(shape, attr, is_bias=is_bias))

    def _after(self, input: Any, **before: Any) -> tuple[Any, ...]:
        """The states behind a step, of the states before by their names."""
        parameters = [getattr(self, part.name) for part in self.parts]
        check_rows("input", input, parameters[0].shape[0] - self.hidden_size)
        for what, each in before.items():
            check_rows(what, each, self.hidden_size)
        return self.step(parameters, input, *before.values())


@LSTM_UNITS
@from_fields
class BasicLSTMUnit(_BasicUnit, WithType, LSTMGates, _Scope):
    """A step of a long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``.

    Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997.

    >>> with fluid.dygraph.guard():
    ...     unit = fluid.contrib.layers.BasicLSTMUnit("unit", 3)
    ...     x, h = (fluid.dygraph.to_variable(np.ones([2, n], "float32")) for n in (4, 3))
    ...     state, cell = unit(x, h, h)
    >>> state.shape, cell.shape
    ([2, 3], [2, 3])
    """

    def forward(self, input: Any, pre_hidden: Any, pre_cell: Any) -> tuple[Any, Any]:
        """The next state and the next cell.

        Args:
            input: [batch, width].
            pre_hidden, pre_cell: the state and the cell before, [batch, hidden_size] each.

        Raises:
            ShapeError: sizes do not fit.
        """
        state, cell = self._after(input, pre_hidden=pre_hidden, pre_cell=pre_cell)
        return state, cell


@GRU_UNITS
@from_fields
class BasicGRUUnit(_BasicUnit, WithType, GRUGates, _Scope):
    """A step of a gated recurrent unit: ``u * hidden + (1 - u) * candidate``.

    Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.

    >>> with fluid.dygraph.guard():
    ...     unit = fluid.contrib.layers.BasicGRUUnit("unit", 3)
    ...     x, h = (fluid.dygraph.to_variable(np.ones([2, n], "float32")) for n in (4, 3))
    ...     state = unit(x, h)
    >>> state.shape
    [2, 3]
    """

    def forward(self, input: Any, pre_hidden: Any) -> Any:
        """The next state.

        Args:
            input: [batch, width].
            pre_hidden: the state before, [batch, hidden_size].

        Raises:
            ShapeError: sizes do not fit.
        """
        (state,) = self._after(input, pre_hidden=pre_hidden)
        return state


_STACKS = Family(
    {
        "input": "[batch, steps, width], or [steps, batch, width].",
        "hidden_size": "the size of a state.",
        "num_layers": "how many layers there are; each reads what the one below hands out.",
        "sequence_length": "how many steps of each sequence count, [batch]; all when None.",
        "dropout_prob": "how probable it is that an element which a layer hands out becomes 0.",
        "bidirectional": "whether all layers go forth, and others back; their states lie side by "
        "side.",
        "batch_first": "whether ``input`` and the result have the batch first.",
        "bias_attr": "of the biases, likewise; False for none.",
        "dtype": "element type of the parameters.",
        "name": "the stem of the parameters' names.",
    }
)


@_STACKS
def _stacked(
    kind: type[BasicLSTMUnit | BasicGRUUnit],
    input: Variable,
    init_hidden: Variable | None,
    init_cell: Variable | None,
    hidden_size: int,
    num_layers: int = 1,
    sequence_length: Variable | None = None,
    dropout_prob: float = 0.0,
    bidirectional: bool = False,
    batch_first: bool = True,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    gate_activation: Activation | None = None,
    activation: Activation | None = None,
    forget_bias: float = 1.0,
    dtype: DTypeLike = "float32",
    name: str = "basic_lstm",
) -> tuple[Variable, ...]:
    """Several layers of units over padded sequences.

    Args:
        kind: of the units.
        init_hidden, init_cell: the first states and cells, [layers * directions, batch,
            hidden_size], or their rows, [layers * directions * batch, hidden_size]; zeros when
            None.
        param_attr: of the weights; a name gets the endings of layer, direction and part.
        gate_activation, activation, forget_bias: as of ``BasicLSTMUnit``.

    Raises:
        ArgumentError: a size is none, or only one of ``init_hidden`` and ``init_cell`` is given.
        ShapeError: shapes do not fit.
    """
    has_cells = kind is BasicLSTMUnit
    if has_cells and (init_hidden is None) != (init_cell is None):
        raise ArgumentError("expected both of init_hidden and init_cell, or none of them, got one")
    way = "upscale_in_train" if has_cells else "downgrade_in_infer"
    stack = _Stack(num_layers, hidden_size, bidirectional, dropout_prob, way)
    options = (gate_activation, activation, *[forget_bias] * has_cells, dtype)

    def unit(scope: str, weight: Any, bias: Any) -> Layer:
        made: Any = kind
        unit_of_stack: Layer = made(scope, hidden_size, weight, bias, *options)
        return unit_of_stack

    stack.make_units(unit, name, param_attr, bias_attr)
    first = [each for each in (init_hidden, init_cell) if each is not None] or None
    found, last = stack(input, first, sequence_length, batch_first, states=1 + has_cells)
    return found, *last


basic_lstm: Callable[..., tuple[Variable, Variable, Variable]] = Spelling({})(
    _stacked,
    "basic_lstm",
    """Several layers of long short-term memories over padded sequences.

    Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997.

    Returns:
        The states of the last layers, [batch, steps, hidden_size * directions]; the last states and
        the last cells, [layers * directions, batch, hidden_size] each.

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, h, c = fluid.contrib.layers.basic_lstm(x, None, None, 5, num_layers=2)
    >>> out.shape, h.shape
    ((-1, 7, 5), (2, -1, 5))
    """,
    fixed={"kind": BasicLSTMUnit},
)
basic_gru: Callable[..., tuple[Variable, Variable]] = Spelling({})(
    _stacked,
    "basic_gru",
    """Several layers of gated recurrent units over padded sequences.

    Cho et al., Learning phrase representations using RNN encoder-decoder, EMNLP 2014.

    Returns:
        The states of the last layers, [batch, steps, hidden_size * directions], and the last
        states, [layers * directions, batch, hidden_size].

    Raises:
        ArgumentError: a size is none.
        ShapeError: shapes do not fit.

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, h = fluid.contrib.layers.basic_gru(x, None, 5, bidirectional=True)
    >>> out.shape, h.shape
    ((-1, 7, 10), (2, -1, 5))
    """,
    fixed={"kind": BasicGRUUnit, "init_cell": None, "forget_bias": 1.0},
    defaults={"name": "basic_gru"},
    words={"states and cells": "states", "BasicLSTMUnit": "BasicGRUUnit"},
)


class _Stack:
    """Layers of units, in one direction or in two."""

    def __init__(
        self, layers: int, size: int, both_ways: bool, dropout_prob: float | None, way: str
    ) -> None:
        self.layers, self.size = checked_size(layers, "num_layers"), checked_size(size)
        self.directions = 2 if both_ways else 1
        self._dropout, self._way = dropout_prob, way
        self._units: list[list[Layer]] = []

    def make_units(self, unit: Any, name: str, weight: Any, bias: Any) -> None:
        """Make the units of all layers of a direction, then those of the other."""
        for direction in range(self.directions):
            scope = f"{name}_layers_" if direction == 0 else f"{name}_reverse_layers_"
            way = "bw" if direction else "fw"
            self._units.append(
                [
                    unit(f"{scope}{k}", named(weight, f"{way}_w_{k}"), named(bias, f"{way}_b_{k}"))
                    for k in range(self.layers)
                ]
            )

    def __call__(
        self, x: Any, first: Any, lengths: Any, batch_first: bool, states: int
    ) -> tuple[Any, list[Any]]:
        """The states of the last layers, and all last states."""
        if not isinstance(x, Variable):
            raise ArgumentError(f"expected input to be a variable of a program, got {x!r:.60}")
        if x.ndim != 3:
            raise ShapeError(f"expected input of 3 dimensions, got shape {list(x.shape)}")
        batch = x.shape[0 if batch_first else 1]
        if lengths is not None:
            check_lengths(lengths, batch)
        x = flipped(x) if batch_first else x
        mask = None if lengths is None else steps_mask(x, lengths, "float32")
        if first is not None:
            first = [self._by_layer(each, batch) for each in first]
        outputs, last = self._one_way(x, mask, first, 0, states)
        if self.directions == 2:
            back = reverse(x, axis=[0])
            mask = None if mask is None else reverse(mask, axis=[0])
            other, other_last = self._one_way(back, mask, first, 1, states)
            outputs = concat([outputs, reverse(other, axis=[0])], axis=2)
            last = [
                reshape(concat([a, b], axis=1), [self.layers * 2, -1, self.size])
                for a, b in zip(last, other_last)
            ]
        return (flipped(outputs) if batch_first else outputs), last

    def _by_layer(self, x: Any, batch: int) -> Any:
        states = self.layers * self.directions
        wanted = (states, batch, self.size)
        rows = (-1 if batch == -1 else states * batch, self.size)
        if not isinstance(x, Variable):
            raise ArgumentError(f"expected first states to be variables, got {x!r:.60}")
        if not any(
            len(shape) == x.ndim and all(map(agree, x.shape, shape)) for shape in (wanted, rows)
        ):
            raise ShapeError(
                f"expected first states of shape {list(wanted)}, [layers * directions, batch, "
                f"hidden_size], or rows of shape {list(rows)}, got {x.name!r} of shape "
                f"{list(x.shape)}"
            )
        return reshape(x, [self.layers, self.directions, -1, self.size])

    def _one_way(
        self, x: Any, mask: Any, first: Any, direction: int, states: int
    ) -> tuple[Any, list[Any]]:
        """The states of the last layer of a direction, and the last states of all its layers."""
        if first is not None:  # in the block around that of the steps
            first = [[each[k, direction] for each in first] for k in range(self.layers)]
        network = StaticRNN()
        with network.step():
            now = network.step_input(x)
            there = None if mask is None else network.step_input(mask)
            for k, unit in enumerate(self._units[direction]):
                if first is None:
                    before = [
                        network.memory(batch_ref=x, shape=[-1, self.size]) for _ in range(states)
                    ]
                else:
                    before = [network.memory(init=each) for each in first[k]]
                after = unit(now, *before)
                after = list(after) if states > 1 else [after]
                if there is not None:
                    after = [kept(a, b, there) for a, b in zip(before, after)]
                for a, b in zip(before, after):
                    network.update_memory(a, b)
                for state in after:
                    network.step_output(state)
                now = after[0]
                if self._dropout is not None and self._dropout > 0:
                    now = dropout(now, self._dropout, dropout_implementation=self._way)
            network.step_output(now)
        *found, out = network()
        last = [each[-1] for each in found]
        joined = []
        for k in range(states):
            whole = concat(last[k::states], axis=0)
            joined.append(reshape(whole, [self.layers, -1, self.size]))
        return out, joined
