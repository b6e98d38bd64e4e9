"""Cells of your own along time: what runs any cell forwards, backwards, or both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..eager.recurrence import kept, need_steps
from ..errors import UnsupportedError
from ..functions.creation import full
from ..functions.shaping import concat, stack, unbind
from ..layers import RNNCell
from ..layers import rnn as along_time
from ..layers.structure import Sizes, Structure, mapped_leaves
from .layer import Layer

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..functions.arguments import DTypeLike


class RNNCellBase(Layer):
    """The base of cells: a subclass says in ``forward(inputs, states)`` what it gives and the next
    states, and in ``state_shape`` the shapes of these, without the batch.

    >>> class Sum(fluid.nn.RNNCellBase):
    ...     state_shape = [3]
    ...
    ...     def forward(self, inputs, states):
    ...         after = states + inputs
    ...         return after, after
    >>> out, last = fluid.nn.RNN(Sum())(fluid.ones([2, 5, 3]))
    >>> out.shape, last[0].tolist()
    ([2, 5, 3], [5.0, 5.0, 5.0])
    """

    @property
    def state_shape(self) -> Sizes:
        """The shapes of the states, without the batch: sizes, or a list or tuple of such."""
        raise UnsupportedError(f"{type(self).__name__} needs an attribute state_shape")

    @property
    def state_dtype(self) -> DTypeLike | Sequence[DTypeLike]:
        """The element types of the states, nested as they are."""
        raise UnsupportedError(f"{type(self).__name__} needs an attribute state_dtype")

    def get_initial_states(
        self,
        batch_ref: Structure,
        shape: Sizes | None = None,
        dtype: DTypeLike = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one number, one for each row of a batch.

        Args:
            batch_ref: a tensor that has the batch, or a list or tuple whose first is one.
            shape: of the states, without the batch, nested as they are; ``state_shape`` when None.
            dtype: of the states; that of ``batch_ref`` when None.
            init_value: the number.
            batch_dim_idx: the dimension of the batch.
        """
        first: Any = batch_ref
        while isinstance(first, (list, tuple)):
            first = first[0]
        where = [slice(0, 1)] * len(first.shape)
        where[batch_dim_idx] = slice(None)
        column = first[tuple(where)].reshape([-1, 1])
        kind = str(first.dtype.dtype) if dtype is None else dtype
        zeros = column.cast(kind) * 0.0

        def filled(sizes: list[int]) -> Any:
            start = zeros + full([1, prod(sizes)], init_value, kind)
            return start if len(sizes) == 1 else start.reshape([-1, *sizes])

        return _shaped(self.state_shape if shape is None else shape, filled)


class _AlongTime(Layer):
    """What runs cells along time."""

    def forward(
        self,
        inputs: Structure,
        initial_states: Structure | None = None,
        sequence_length: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """The outputs of all steps, and the final states; a pair of these of two cells.

        Args:
            inputs: [N, T, ...].
            initial_states: what the cell begins with, a pair for two; its own, or zeros, when None.
            sequence_length: [N], steps of each row; behind them states stay as they are.
            kwargs: further arguments of the cell.

        Raises:
            ShapeError: the number of steps is unknown.
        """
        return self._run(inputs, initial_states, sequence_length, kwargs)

    def _run(self, inputs: Any, states: Any, lengths: Any, more: dict[str, Any]) -> Any:
        raise NotImplementedError


class RNN(_AlongTime):
    """A cell along time.

    Args:
        cell: what is run: an :class:`RNNCellBase`, such as :class:`LSTMCell`.
        is_reverse: from the last step to the first.
        time_major: inputs are [T, N, ...] instead of [N, T, ...].

    >>> out, last = fluid.nn.RNN(fluid.nn.GRUCell(3, 4))(fluid.ones([2, 5, 3]))
    >>> out.shape, last.shape
    ([2, 5, 4], [2, 4])
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.is_reverse = is_reverse
        self.time_major = time_major

    def _run(self, inputs: Any, states: Any, lengths: Any, more: dict[str, Any]) -> Any:
        axis = 0 if self.time_major else 1
        if inputs.appends is not None and inputs.array.shape[axis] == -1:
            return self._in_run(inputs, states, lengths, more)
        need_steps(self, inputs, axis)
        steps = unbind(inputs, axis)
        if states is None:
            states = self.cell.get_initial_states(inputs, batch_dim_idx=1 - axis)
        outs: list[Any] = [None] * len(steps)
        times = range(len(steps))
        for t in reversed(times) if self.is_reverse else times:
            outs[t], after = self.cell(steps[t], states, **more)
            states = after if lengths is None else kept(lengths > t, states, after)
        return mapped_leaves(lambda *parts: stack(parts, axis), *outs), states

    def _in_run(self, inputs: Any, states: Any, lengths: Any, more: dict[str, Any]) -> Any:
        """The same of variables whose number of steps a run knows."""
        where = dict(time_major=self.time_major, is_reverse=self.is_reverse)
        return along_time(_Stepping(self.cell), inputs, states, lengths, **where, **more)


class _Stepping(RNNCell):
    """A layer as a cell of :func:`fluidlite.layers.rnn`.

    Args:
        cell: the layer.
    """

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    def call(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        return self.cell(inputs, states, **kwargs)

    def get_initial_states(self, *args: Any, **kwargs: Any) -> Any:
        return self.cell.get_initial_states(*args, **kwargs)


class BiRNN(_AlongTime):
    """Two cells along time, one forwards and one backwards, with their outputs side by side.

    Args:
        cell_fw, cell_bw: what is run: of one size.
        time_major: inputs are [T, N, ...] instead of [N, T, ...].

    >>> net = fluid.nn.BiRNN(fluid.nn.GRUCell(3, 4), fluid.nn.GRUCell(3, 4))
    >>> out, (forwards, backwards) = net(fluid.ones([2, 5, 3]))
    >>> out.shape, backwards.shape
    ([2, 5, 8], [2, 4])
    """

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw = cell_fw
        self.cell_bw = cell_bw
        self.time_major = time_major

    def _run(self, inputs: Any, states: Any, lengths: Any, more: dict[str, Any]) -> Any:
        initial_pair: Any = (None, None) if states is None else states
        outs, last = [], []
        for k, cell in enumerate((self.cell_fw, self.cell_bw)):
            one = RNN(cell, bool(k), self.time_major)
            out, after = one.forward(inputs, initial_pair[k], lengths, **more)
            outs.append(out)
            last.append(after)
        return mapped_leaves(lambda *parts: concat(parts, -1), *outs), tuple(last)


def rnn(
    cell: Layer,
    inputs: Structure,
    initial_states: Structure | None = None,
    sequence_length: Tensor | None = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """What :class:`RNN` gives, in one call.

    Args:
        cell, time_major, is_reverse: as of the class.
        inputs, initial_states, sequence_length, kwargs: as of its calls.
    """
    runner = RNN(cell, is_reverse, time_major)
    return runner(inputs, initial_states, sequence_length, **kwargs)


def birnn(
    cell_fw: Layer,
    cell_bw: Layer,
    inputs: Structure,
    initial_states: Structure | None = None,
    sequence_length: Tensor | None = None,
    time_major: bool = False,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """What :class:`BiRNN` gives, in one call; arguments as of the class and of its calls."""
    runner = BiRNN(cell_fw, cell_bw, time_major)
    return runner(inputs, initial_states, sequence_length, **kwargs)


def _shaped(shape: Any, made: Callable[[list[int]], Any]) -> Any:
    """What is made of each list of sizes, nested as they are."""
    if isinstance(shape, int):
        return made([shape])
    if all(isinstance(n, int) for n in shape):
        return made(list(shape))
    return type(shape)(_shaped(each, made) for each in shape)
