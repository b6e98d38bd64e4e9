"""The loss of a transducer: labels written into steps, of which each may get several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import add, multiply, subtract
from ...functions.composed import logaddexp
from ...functions.elementary import cast, scale
from ...functions.selection import index_select, take_along_axis
from ...functions.shaping import concat, reshape, squeeze, stack, unsqueeze
from .loss import reduced

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

_NEVER = -1e30  #: the logarithm of the probability of what does not happen


def rnnt_loss(
    input: Tensor,
    label: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the logarithm of the probability of all ways to write labels into steps (Graves 2012,
    "Sequence transduction with recurrent neural networks").

    Args:
        input: logarithms of probabilities, [N, steps, width + 1, classes]: of what follows a step
            and the labels before.
        label: [N, width], int32.
        input_lengths, label_lengths: how many steps and labels of each row count, [N], int32.
        blank: the class that leads to the next step.
        fastemit_lambda: by how much gradients of labels are larger than those of the loss (Yu et
            al. 2021, "FastEmit").
        reduction: mean, sum or none.

    Raises:
        ArgumentError: ``reduction`` is none of these, or integers are not int32.
        ShapeError: shapes do not fit together.

    >>> x = fluid.nn.functional.log_softmax(fluid.zeros([1, 2, 2, 3]))
    >>> one = fluid.to_tensor([1], "int32")
    >>> loss = fluid.nn.functional.rnnt_loss(x, fluid.to_tensor([[1]], "int32"), one * 2, one)
    >>> round(float(loss), 4)  # two ways of probability 1 / 27
    2.6027
    """
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(f"expected reduction to be mean, sum or none, got {reduction!r}")
    steps, nodes = _sizes(input, label)
    for what, numbers in dict(
        label=label, input_lengths=input_lengths, label_lengths=label_lengths
    ).items():
        if str(numbers.array.dtype) != "int32":
            raise ArgumentError(f"expected {what} of type int32, got {numbers.array.dtype}")
    _need_lengths(input_lengths, steps, "input_lengths")
    _need_lengths(label_lengths, nodes - 1, "label_lengths")
    waits = input[:, :, :, blank]
    places = unsqueeze(cast(label, "int64"), [1, 3])
    writes: Any = None
    if nodes > 1:
        labels = multiply(places, input.results(np.ones([1, steps, 1, 1], "int64")))
        writes = squeeze(take_along_axis(input[:, :, : nodes - 1], labels, 3), 3)
        writes = add(writes, scale(subtract(writes, writes.detach()), fastemit_lambda))
        writes = concat([writes, scale(waits[:, :, :1], 0.0)], 2)
    before, waited = _before_diagonals(waits, writes, steps, nodes)
    last = subtract(add(cast(input_lengths, "int64"), cast(label_lengths, "int64")), 1)
    where = add(multiply(last, nodes), cast(label_lengths, "int64"))
    loss = scale(_at(before, where), -1.0)
    return reduced(subtract(loss, _at(waited, where)), reduction)


def _sizes(input: Tensor, label: Tensor) -> tuple[int, int]:
    """The numbers of steps, and of labels that may be written, and one more."""
    shape = tuple(input.array.shape)
    if len(shape) != 4 or min(shape[1:]) < 1:
        raise ShapeError(
            f"expected input of shape [N, steps, width + 1, classes], got {list(input.shape)}"
        )
    steps, nodes = int(shape[1]), int(shape[2])
    if len(label.array.shape) != 2 or int(label.array.shape[1]) != nodes - 1:
        raise ShapeError(
            f"expected label of shape [N, {nodes - 1}] for input of shape {list(input.shape)}, "
            f"got {list(label.shape)}"
        )
    return steps, nodes


def _need_lengths(lengths: Tensor, most: int, what: str) -> None:
    if lengths.appends is None and lengths.array.size and int(lengths.array.max()) > most:
        raise ArgumentError(f"expected {what} up to {most}, got {int(lengths.array.max())}")


def _before_diagonals(waits: Any, writes: Any, steps: int, nodes: int) -> tuple[Any, Any]:
    """What may happen before each node, and that it waits there, [N, diagonals, nodes] each.

    Diagonal n has the nodes of t steps and u labels with n = t + u, by their u.
    """
    diagonals = np.arange(steps + nodes - 1)[:, None] - np.arange(nodes)
    there = (diagonals >= 0) & (diagonals < steps)
    flat = np.where(there, diagonals, 0) * nodes + np.arange(nodes)
    dtype = waits.array.dtype

    def by_diagonals(x: Any) -> Any:
        found = index_select(reshape(x, [0, -1]), x.results(flat.ravel().astype("int64")), 1)
        skewed = reshape(found, [0, *there.shape])
        kept = multiply(skewed, x.results(there.astype(dtype)))
        return add(kept, x.results(np.where(there, 0.0, _NEVER).astype(dtype)))

    waited = by_diagonals(waits)
    written = None if writes is None else by_diagonals(writes)
    nothing = np.full([1, nodes], _NEVER, dtype)
    nothing[0, 0] = 0.0
    before = [add(scale(waited[:, 0], 0.0), waits.results(nothing))]
    never = scale(waited[:, 0, :1], 0.0)
    never = add(never, waits.results(np.full([1, 1], _NEVER, dtype)))
    for n in range(1, len(there)):
        by_waiting = add(before[-1], waited[:, n - 1])
        if written is None:
            before.append(by_waiting)
            continue
        by_writing = add(before[-1], written[:, n - 1])[:, : nodes - 1]
        before.append(logaddexp(by_waiting, concat([never, by_writing], 1)))
    return stack(before, 1), waited


def _at(x: Any, places: Any) -> Any:
    """The element of each row at a place of its own."""
    return squeeze(take_along_axis(reshape(x, [0, -1]), unsqueeze(places, 1), 1), 1)
