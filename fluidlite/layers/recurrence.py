"""Recurrent networks over padded sequences, made of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, ShapeError
from ..ir.variable import Variable
from ..opdef.spec import agree
from .elementwise import elementwise_mul
from .layer import is_variable
from .lengths import sequence_mask
from .reshaping import reverse, shape, transpose
from .rnn_cell import RNNCell
from .static_rnn import StaticRNN
from .structure import Structure, filled, leaves, mapped_leaves

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


def flipped(x: Variable) -> Variable:
    """``x`` with its first two dimensions exchanged: steps first, or the batch."""
    return transpose(x, [1, 0, *range(2, x.ndim)])


def kept(before: Any, after: Any, mask: Any) -> Any:
    """``after`` where the mask, one number a row, is 1, and ``before`` where it is 0."""
    new: Any = elementwise_mul(after, mask, axis=0)
    return new - elementwise_mul(before, mask - 1, axis=0)


def steps_mask(x: Variable, lengths: Any, dtype: DTypeLike) -> Variable:
    """1 where sequences have a step, 0 behind their ends: [steps, batch].

    Args:
        x: [steps, batch, ...].
        lengths: how many steps each sequence has.
        dtype: of the mask.
    """
    mask = sequence_mask(lengths, maxlen=shape(x)[0], dtype=dtype)
    return transpose(mask, [1, 0])


def check_lengths(lengths: Any, batch: int) -> None:
    """Refuse what are no lengths of a batch.

    Raises:
        ArgumentError: they are no variable of integers.
        ShapeError: there is not one for each sequence.
    """
    if not is_variable(lengths):
        raise ArgumentError(
            f"expected sequence_length to be a variable of lengths, got {lengths!r:.60} of type "
            f"{type(lengths).__name__}"
        )
    if lengths.dtype.is_float:
        raise ArgumentError(
            f"expected sequence_length {lengths.name!r} to hold integers, got {lengths.dtype}; "
            "cast it first"
        )
    if lengths.ndim != 1 or not agree(lengths.shape[0], batch):
        raise ShapeError(
            f"expected sequence_length of shape [{batch}], a length for each sequence, got "
            f"{lengths.name!r} of shape {list(lengths.shape)}"
        )


def rnn(
    cell: RNNCell,
    inputs: Structure,
    initial_states: Structure | None = None,
    sequence_length: Variable | None = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """What a cell makes of sequences of one length, step by step, and its last states.

    Args:
        cell: leads from one state to the next one.
        inputs: sequences, [batch, steps, ...], or a structure of them.
        initial_states: the first states; what ``cell.get_initial_states`` gives when None.
        sequence_length: how many steps of each sequence count, [batch], integers; behind them
            states stay as they are.  All steps when None.
        time_major: whether sequences are [steps, batch, ...], and the outputs, too.
        is_reverse: begin with the last step.
        kwargs: are handed to the cell.

    Returns:
        The outputs of all steps, and the last states, in the forms that the cell gives them.

    Raises:
        ArgumentError: ``cell`` is no cell, ``inputs`` are no variables, or the states that the cell
            gives are of another number than ``initial_states``.
        ShapeError: ``inputs`` have no dimension of steps, or ``sequence_length`` does not fit them.

    >>> x, n = fluid.data("x", [None, 7, 4]), fluid.data("n", [None], "int64")
    >>> out, last = fluid.layers.rnn(fluid.layers.GRUCell(5), x, sequence_length=n)
    >>> out.shape, last.shape
    ((-1, 7, 5), (-1, 5))
    """
    if not callable(getattr(cell, "call", None)):
        raise ArgumentError(f"expected cell to be an RNNCell, got {cell!r:.60}")
    for leaf in leaves(inputs):
        if not isinstance(leaf, Variable):
            raise ArgumentError(f"expected inputs of rnn to be variables, got {leaf!r:.60}")
        if leaf.ndim < 2:
            raise ShapeError(
                f"expected inputs of shape [batch, steps, ...], got {leaf.name!r} of shape "
                f"{list(leaf.shape)}"
            )
    batch_at = 1 if time_major else 0
    if sequence_length is not None:
        check_lengths(sequence_length, leaves(inputs)[0].shape[batch_at])
    if initial_states is None:
        initial_states = cell.get_initial_states(batch_ref=inputs, batch_dim_idx=batch_at)
    for leaf in leaves(initial_states):
        if not isinstance(leaf, Variable):
            raise ArgumentError(f"expected initial_states to be variables, got {leaf!r:.60}")
        leaf.stop_gradient = False
    if not time_major:
        inputs = mapped_leaves(flipped, inputs)
    mask = None
    if sequence_length is not None:
        dtype = leaves(initial_states)[0].dtype
        mask = steps_mask(leaves(inputs)[0], sequence_length, dtype)
    if is_reverse:
        inputs = mapped_leaves(lambda x: reverse(x, axis=[0]), inputs)
        mask = None if mask is None else reverse(mask, axis=[0])
    outputs, states = _through_time(cell, inputs, initial_states, mask, kwargs)
    states = mapped_leaves(lambda x: x[-1], states)
    if is_reverse:
        outputs = mapped_leaves(lambda x: reverse(x, axis=[0]), outputs)
    if not time_major:
        outputs = mapped_leaves(flipped, outputs)
    return outputs, states


def _through_time(
    cell: RNNCell, inputs: Any, initial_states: Any, mask: Any, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Outputs and states of all steps."""
    network = StaticRNN()
    with network.step():
        now = mapped_leaves(network.step_input, inputs)
        before = mapped_leaves(lambda x: network.memory(init=x), initial_states)
        there = None if mask is None else network.step_input(mask)
        outputs, after = cell.call(now, before, **kwargs)
        check_states(before, after)
        if there is not None:
            after = mapped_leaves(lambda a, b: kept(a, b, there), before, after)
        mapped_leaves(network.update_memory, before, after)
        for each in (*leaves(outputs), *leaves(after)):
            network.step_output(each)
    found = network()
    listed = iter(found if isinstance(found, list) else [found])
    return filled(outputs, listed), filled(after, listed)


def check_states(before: Any, after: Any) -> None:
    """Refuse states that do not fit those before.

    Raises:
        ArgumentError: they are more or fewer, or no variables.
        ShapeError: one has another shape.
    """
    old, new = leaves(before), leaves(after)
    if len(old) != len(new):
        raise ArgumentError(
            f"expected the cell to give {len(old)} states, as it is given, got {len(new)}"
        )
    for a, b in zip(old, new):
        if not is_variable(b):
            raise ArgumentError(f"expected the cell to give variables as states, got {b!r:.60}")
        if a.ndim != b.ndim or not all(map(agree, a.shape, b.shape)):
            raise ShapeError(
                f"expected the state that follows on {a.name!r} to be of its shape "
                f"{list(a.shape)}, got {b.name!r} of shape {list(b.shape)}"
            )
