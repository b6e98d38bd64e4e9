"""The loss of a transducer: labels written into steps, of which each may get several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...eager.recording import eager
from ...errors import ArgumentError, ShapeError
from .loss import reduced

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


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
    attrs = dict(blank=blank, fastemit_lambda=fastemit_lambda)
    return reduced(eager.warprnnt(input, label, input_lengths, label_lengths, **attrs), reduction)


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
