"""Cells of recurrent networks: what leads from a state to the next one."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from .. import unique_name
from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import as_dtype
from ..ground.reprs import Described
from ..initializer import Constant, Xavier
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from ..opdef.spec import agree
from ..param_attr import ParamAttr, as_param_attr
from .activation import sigmoid, tanh
from .creation import fill_constant, fill_constant_batch_size_like
from .elementwise import elementwise_add, elementwise_mul
from .joining import concat, split
from .layer import LayerBuilder, is_variable, layer
from .math import matmul
from .structure import filled

Activation = Callable[[Any], Any]


def checked_size(size: Any, what: str = "hidden_size") -> int:
    """The size of a state that a user gave.

    Raises:
        ArgumentError: it is no positive whole number.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(f"expected {what} to be a positive whole number, got {size!r:.60}")
    return size


def check_rows(what: str, x: Any, width: int | None = None) -> None:
    """Refuse what is no matrix of that width.

    Raises:
        ArgumentError: it is no variable.
        ShapeError: it has another shape.
    """
    if not is_variable(x):
        raise ArgumentError(f"expected {what} to be a variable, got {x!r:.60}")
    if x.ndim != 2 or (width is not None and not agree(x.shape[1], width)):
        wanted = "width" if width is None else width
        raise ShapeError(
            f"expected {what} of shape [batch, {wanted}], got {x.name!r} of shape {list(x.shape)}"
        )


def named(attr: Any, part: str) -> Any:
    """What a user gave for several parameters, for one of them: their names get an ending.

    Args:
        attr: what ``as_param_attr`` takes.
        part: the ending.
    """
    given = attr if attr is False else as_param_attr(attr)
    if not isinstance(given, ParamAttr) or given.name is None:
        return attr
    own = copy(given)
    own.name = f"{given.name}_{part}"
    return own


def lstm_step(
    input: Any,
    state: Any,
    cell: Any,
    weight: Any,
    bias: Any,
    forget_bias: Any,
    gate: Activation,
    activation: Activation,
) -> tuple[Any, Any]:
    """The next state and cell of a long short-term memory.

    Args:
        input, state, cell: [batch, ...].
        weight, bias: of i, g, f and o side by side: [input + size, 4 * size], [4 * size].
        forget_bias: added to f.
        gate, activation: of the gates, and of the candidate and the cell.
    """
    found = matmul(concat([input, state], 1), weight)
    if bias is not None:
        found = elementwise_add(found, bias)
    i, g, f, o = split(found, 4, dim=-1)
    kept = elementwise_mul(cell, gate(elementwise_add(f, forget_bias)))
    after = elementwise_add(kept, elementwise_mul(gate(i), activation(g)))
    return activation(after) * gate(o), after


def gru_step(
    input: Any,
    state: Any,
    weights: tuple[Any, Any],
    biases: tuple[Any, Any],
    gate: Activation,
    activation: Activation,
) -> Any:
    """The next state of a gated recurrent unit.

    Args:
        input, state: [batch, ...].
        weights: of the gates r and u, [input + size, 2 * size]; of the candidate.
        biases: likewise; None for none.
        gate, activation: of the gates, and of the candidate.
    """
    found = matmul(concat([input, state], 1), weights[0])
    if biases[0] is not None:
        found = elementwise_add(found, biases[0])
    parts: list[Any] = split(gate(found), 2, dim=1)
    r, u = parts
    found = matmul(concat([input, r * state], 1), weights[1])
    if biases[1] is not None:
        found = elementwise_add(found, biases[1])
    candidate = activation(found)
    return u * state + (1 - u) * candidate


class RNNCell(Described):
    """A cell: a subclass says in ``call`` what leads from a state to the next one.

    >>> class Sum(fluid.layers.RNNCell):
    ...     def call(self, inputs, states):
    ...         total = inputs + states
    ...         return total, total
    ...
    ...     @property
    ...     def state_shape(self):
    ...         return [2]
    >>> x = fluid.layers.fill_constant([1, 3, 2], "float32", 1.0)
    >>> sums, last = fluid.layers.rnn(Sum(), x)
    >>> fluid.Executor().run(fetch_list=[sums])[0][0, :, 0]
    array([1., 2., 3.], dtype=float32)
    """

    def call(self, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output and the next states: written by subclasses.

        Args:
            inputs: one step: a variable, or a structure of them.
            states: the states before.
            kwargs: what ``layers.rnn`` was given beyond its own arguments.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method call(self, ...)")

    def __call__(self, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self.call(inputs, states, **kwargs)

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = "float32",
        init_value: float = 0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one value, one row for each of a batch.

        Args:
            batch_ref: a variable, or a structure of them, that says how large the batch is.
            shape: sizes behind the batch's, in the form of the states; ``state_shape`` when None.
            dtype: the element type, or a structure of them; ``state_dtype`` when None.
            init_value: the value.
            batch_dim_idx: the dimension of ``batch_ref`` that is the batch.

        Raises:
            ArgumentError: a shape is none.
        """
        while isinstance(batch_ref, (list, tuple, dict)):
            batch_ref = next(iter(batch_ref.values() if isinstance(batch_ref, dict) else batch_ref))
        shapes = self.state_shape if shape is None else shape
        dtype = self.state_dtype if dtype is None else dtype
        found = list(_shapes(shapes))
        types = _dtypes(dtype, len(found))
        made = [
            fill_constant_batch_size_like(
                batch_ref, [-1, *sizes], type, float(init_value), input_dim_idx=batch_dim_idx
            )
            for sizes, type in zip(found, types)
        ]
        return filled(_form(shapes), iter(made))

    @property
    def state_shape(self) -> Any:
        """Sizes of the states behind the batch's, in the form of the states."""
        raise NotImplementedError(f"{type(self).__name__} does not say its state_shape")

    @property
    def state_dtype(self) -> Any:
        """The element type of the states, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} does not say its state_dtype")


def _is_shape(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(n, int) for n in value)


def _form(shapes: Any) -> Any:
    """A structure of shapes with zeros in their places."""
    if _is_shape(shapes):
        return 0
    if isinstance(shapes, dict):
        return {key: _form(shapes[key]) for key in shapes}
    if isinstance(shapes, (list, tuple)):
        parts = [_form(each) for each in shapes]
        return type(shapes)(*parts) if hasattr(shapes, "_fields") else type(shapes)(parts)
    raise ArgumentError(f"expected sizes of a state as a list of whole numbers, got {shapes!r:.60}")


def _shapes(shapes: Any) -> Any:
    """The shapes of a structure of them, without the size of a batch."""
    if _is_shape(shapes):
        yield [whole_number(n) for n in (shapes[1:] if shapes and shapes[0] == -1 else shapes)]
    elif isinstance(shapes, dict):
        for key in sorted(shapes):
            yield from _shapes(shapes[key])
    elif isinstance(shapes, (list, tuple)):
        for each in shapes:
            yield from _shapes(each)


def _dtypes(dtype: Any, count: int) -> list[Any]:
    """An element type for each of so many states."""
    if isinstance(dtype, dict):
        dtype = [dtype[key] for key in sorted(dtype)]
    listed = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * count
    if len(listed) != count:
        raise ArgumentError(f"expected one dtype, or one for each of {count} states, got {dtype!r}")
    return listed


@layer("rnn_cell")
def _parameter(
    f: LayerBuilder, input: Variable, attr: Any, shape: list[int], dtype: Any, kind: str, name: str
) -> Any:
    """A parameter of a cell: a weight ("w") or a bias ("b")."""
    start = Xavier() if kind == "w" else Constant(0.0)
    return f.own_parameter(attr, shape, dtype, kind, start)


class _Weighted(RNNCell):
    """A cell with parameters, which it makes at its first step."""

    def __init__(self, name: str, kind: str, size: int, dtype: Any) -> None:
        self.hidden_size = checked_size(size)
        self._dtype = as_dtype(dtype)
        self._name = unique_name.generate(f"{name}/{kind}")
        self._parameters: list[Any] | None = None

    def _made(self, input: Variable, wanted: list[tuple[Any, list[int], str]]) -> list[Any]:
        """The parameters: of these attributes and shapes, weights ("w") or biases ("b")."""
        if self._parameters is None:
            self._parameters = [
                _parameter(input, attr, shape, self._dtype, kind, name=self._name)
                for attr, shape, kind in wanted
            ]
            self._width = input.shape[1]
        elif not agree(input.shape[1], self._width):
            raise ShapeError(
                f"expected inputs {self._width} wide, as at the cell's first step, got "
                f"{input.name!r} of shape {list(input.shape)}"
            )
        return self._parameters


class LSTMCell(_Weighted):
    """A long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``.

    The gates i, f and o are sigmoids, and the candidate g a tanh, of ``W [x, h] + b``; one is added
    to f (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; Gers et
    al., Learning to forget, Neural Computation 12(10), 2000).

    Args:
        hidden_size: the size of the state and of the cell.
        param_attr: of the weight, [input + hidden_size, 4 * hidden_size]: of i, g, f and o.
        bias_attr: of the bias, [4 * hidden_size]; False for none.
        gate_activation: a layer for the gates; sigmoid when None.
        activation: a layer for the candidate and the cell; tanh when None.
        forget_bias: what is added to f.
        dtype: element type of the parameters.
        name: the stem of their names.

    Raises:
        ArgumentError: ``hidden_size`` is none.

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, (h, c) = fluid.layers.rnn(fluid.layers.LSTMCell(5), x)
    >>> out.shape, h.shape
    ((-1, 7, 5), (-1, 5))
    """

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        forget_bias: float = 1.0,
        dtype: Any = "float32",
        name: str = "LSTMCell",
    ) -> None:
        super().__init__(name, "BasicLSTMUnit", hidden_size, dtype)
        self._attrs = (param_attr, bias_attr)
        self._activations = (gate_activation or sigmoid, activation or tanh)
        self._forget_bias = fill_constant([1], self._dtype, float(forget_bias))
        self._forget_bias.stop_gradient = False

    def call(self, inputs: Any, states: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """The state, and the state and the cell.

        Args:
            inputs: [batch, width].
            states: the state and the cell before, [batch, hidden_size] each.

        Raises:
            ArgumentError: ``states`` are not two variables.
            ShapeError: sizes do not fit.
        """
        check_rows("inputs", inputs)
        if not isinstance(states, (list, tuple)) or len(states) != 2:
            raise ArgumentError(
                f"expected states of an LSTMCell as [state, cell], got {states!r:.60}"
            )
        for what, each in zip(("the state", "the cell"), states):
            check_rows(what, each, self.hidden_size)
        size = self.hidden_size
        wanted = [
            (self._attrs[0], [inputs.shape[1] + size, 4 * size], "w"),
            (self._attrs[1], [4 * size], "b"),
        ]
        made = self._made(inputs, wanted)
        weight, bias = made
        h, c = lstm_step(
            inputs, states[0], states[1], weight, bias, self._forget_bias, *self._activations
        )
        return h, [h, c]

    @property
    def state_shape(self) -> Any:
        return [[self.hidden_size], [self.hidden_size]]


class GRUCell(_Weighted):
    """A gated recurrent unit: ``h = u * h + (1 - u) * candidate``.

    The gates u and r are sigmoids of ``W [x, h] + b``, the candidate is a tanh of
    ``W' [x, r * h] + b'`` (Cho et al., Learning phrase representations using RNN encoder-decoder,
    EMNLP 2014).

    Args:
        hidden_size: the size of the state.
        param_attr: of the weights, [input + hidden_size, 2 * hidden_size] of the gates, and
            [input + hidden_size, hidden_size] of the candidate; a name gets the endings ``_gate``
            and ``_candidate``.
        bias_attr: of the biases, likewise; False for none.
        gate_activation: a layer for the gates; sigmoid when None.
        activation: a layer for the candidate; tanh when None.
        dtype: element type of the parameters.
        name: the stem of their names.

    Raises:
        ArgumentError: ``hidden_size`` is none.

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, h = fluid.layers.rnn(fluid.layers.GRUCell(5), x)
    >>> out.shape, h.shape
    ((-1, 7, 5), (-1, 5))
    """

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Activation | None = None,
        activation: Activation | None = None,
        dtype: Any = "float32",
        name: str = "GRUCell",
    ) -> None:
        super().__init__(name, "BasicGRUUnit", hidden_size, dtype)
        self._attrs = (param_attr, bias_attr)
        self._activations = (gate_activation or sigmoid, activation or tanh)

    def call(self, inputs: Any, states: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """The state, twice.

        Args:
            inputs: [batch, width].
            states: the state before, [batch, hidden_size].

        Raises:
            ShapeError: sizes do not fit.
        """
        check_rows("inputs", inputs)
        check_rows("the state", states, self.hidden_size)
        weight, bias = self._attrs
        size, width = self.hidden_size, inputs.shape[1] + self.hidden_size
        wanted = [
            (named(weight, "gate"), [width, 2 * size], "w"),
            (named(weight, "candidate"), [width, size], "w"),
            (named(bias, "gate"), [2 * size], "b"),
            (named(bias, "candidate"), [size], "b"),
        ]
        made = self._made(inputs, wanted)
        h = gru_step(inputs, states, tuple(made[:2]), tuple(made[2:]), *self._activations)
        return h, h

    @property
    def state_shape(self) -> Any:
        return [self.hidden_size]
