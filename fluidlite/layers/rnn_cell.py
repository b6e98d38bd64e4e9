"""Cells of recurrent networks: what leads from a state to the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import unique_name
from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import as_dtype
from ..ground.fields import from_fields
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..initializer import Constant, Xavier
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from ..opdef.spec import agree
from .creation import fill_constant_batch_size_like
from .gated_units import GRU_UNITS, LSTM_UNITS, GatedUnit, GRUGates, LSTMGates, WithType, check_rows
from .layer import LayerBuilder, layer
from .structure import Sizes, Structure, filled, rebuilt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..functions.arguments import DTypeLike


@answers_protected
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
        batch_ref: Structure,
        shape: Sizes | None = None,
        dtype: DTypeLike = "float32",
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
        kinds = self.state_dtype if dtype is None else dtype
        state_shapes = list(_shapes(shapes))
        types = _dtypes(kinds, len(state_shapes))
        states = [
            fill_constant_batch_size_like(
                batch_ref, [-1, *sizes], type, float(init_value), input_dim_idx=batch_dim_idx
            )
            for sizes, type in zip(state_shapes, types)
        ]
        return filled(_form(shapes), iter(states))

    @property
    def state_shape(self) -> Sizes:
        """Sizes of the states behind the batch's, in the form of the states."""
        raise NotImplementedError(f"{type(self).__name__} does not say its state_shape")

    @property
    def state_dtype(self) -> DTypeLike | Sequence[DTypeLike]:
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
        return rebuilt(shapes, [_form(each) for each in shapes])
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
    f: LayerBuilder,
    input: Variable,
    attr: Any,
    shape: list[int],
    dtype: DTypeLike,
    is_bias: bool,
    name: str,
) -> Any:
    """A parameter of a cell."""
    start = Constant(0.0) if is_bias else Xavier()
    return f.own_parameter(attr, shape, dtype, "b" if is_bias else "w", start)


class _Weighted(RNNCell, GatedUnit):
    """A cell with parameters, which it makes at its first step."""

    _kind: ClassVar[str]

    def begin(self, given: dict[str, Any]) -> None:
        """Keep the arguments.

        Args:
            given: the arguments by name.
        """
        self._dtype = as_dtype(given["dtype"])
        self.take(given)
        self._name = unique_name.generate(f"{given['name']}/{self._kind}")
        self._parameters: list[Any] | None = None

    def _after(self, inputs: Any, *states: Any) -> tuple[Any, ...]:
        """The states behind a step."""
        check_rows("inputs", inputs)
        for what, each in zip(("the state", "the cell"), states):
            check_rows(what, each, self.hidden_size)
        return self.step(self._made(inputs), inputs, *states)

    def _made(self, input: Variable) -> list[Any]:
        """The parameters."""
        if self._parameters is None:
            self._parameters = [
                _parameter(input, attr, shape, self._dtype, is_bias, name=self._name)
                for attr, shape, is_bias in self.wanted(input.shape[1])
            ]
            self._width = input.shape[1]
        elif not agree(input.shape[1], self._width):
            raise ShapeError(
                f"expected inputs {self._width} wide, as at the cell's first step, got "
                f"{input.name!r} of shape {list(input.shape)}"
            )
        return self._parameters


@LSTM_UNITS
@from_fields
class LSTMCell(_Weighted, WithType, LSTMGates):
    """A long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``.

    The gates i, f and o are sigmoids, and the candidate g a tanh, of ``W [x, h] + b``; one is added
    to f (Hochreiter and Schmidhuber, Long short-term memory, Neural Computation 9(8), 1997; Gers et
    al., Learning to forget, Neural Computation 12(10), 2000).

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, (h, c) = fluid.layers.rnn(fluid.layers.LSTMCell(5), x)
    >>> out.shape, h.shape
    ((-1, 7, 5), (-1, 5))
    """

    name: str = "LSTMCell"

    _kind = "BasicLSTMUnit"

    def call(  # type: ignore[override]
        self, inputs: Variable, states: Sequence[Variable]
    ) -> tuple[Variable, list[Variable]]:
        """The state, and the state and the cell.

        Args:
            inputs: [batch, width].
            states: the state and the cell before, [batch, hidden_size] each.

        Raises:
            ArgumentError: ``states`` are not two variables.
            ShapeError: sizes do not fit.
        """
        if not isinstance(states, (list, tuple)) or len(states) != 2:
            raise ArgumentError(
                f"expected states of an LSTMCell as [state, cell], got {states!r:.60}"
            )
        h, c = self._after(inputs, *states)
        return h, [h, c]

    @property
    def state_shape(self) -> list[list[int]]:
        return [[self.hidden_size], [self.hidden_size]]


@GRU_UNITS
@from_fields
class GRUCell(_Weighted, WithType, GRUGates):
    """A gated recurrent unit: ``h = u * h + (1 - u) * candidate``.

    The gates u and r are sigmoids of ``W [x, h] + b``, the candidate is a tanh of
    ``W' [x, r * h] + b'`` (Cho et al., Learning phrase representations using RNN encoder-decoder,
    EMNLP 2014).

    >>> x = fluid.data("x", [None, 7, 4])
    >>> out, h = fluid.layers.rnn(fluid.layers.GRUCell(5), x)
    >>> out.shape, h.shape
    ((-1, 7, 5), (-1, 5))
    """

    name: str = "GRUCell"

    _kind = "BasicGRUUnit"

    def call(  # type: ignore[override]
        self, inputs: Variable, states: Variable
    ) -> tuple[Variable, Variable]:
        """The state, twice.

        Args:
            inputs: [batch, width].
            states: the state before, [batch, hidden_size].

        Raises:
            ShapeError: sizes do not fit.
        """
        (h,) = self._after(inputs, states)
        return h, h

    @property
    def state_shape(self) -> list[int]:
        return [self.hidden_size]
