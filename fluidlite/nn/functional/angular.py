"""Losses between many classes that lie on a sphere, and the choice of some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import add, greater_equal, multiply, subtract
from ...functions.elementary import cast, scale
from ...functions.noise import uniform_like
from ...functions.reduction import cumsum, max
from ...functions.selection import gather, nonzero, topk
from ...functions.shaping import concat, reshape
from .loss import reduced
from .projection import one_hot

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


def margin_cross_entropy(
    logits: Tensor,
    label: Tensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: object = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Tensor | tuple[Tensor, Tensor]:
    """The cross entropy of scaled cosines, that of the right class made smaller by margins:
    ``cos(margin1 angle + margin2) - margin3`` (Deng et al. 2019, "ArcFace").

    Args:
        logits: cosines, [N, classes].
        label: the right classes, [N] or [N, 1].
        margin1: times the angle.
        margin2: added to the angle.
        margin3: less than the cosine.
        scale: of all cosines.
        group: accepted: there is one process.
        return_softmax: give a pair, the loss and the probabilities.
        reduction: mean, sum, or None for the losses, [N, 1].

    >>> cosines, right = fluid.to_tensor([[0.9, 0.1]]), fluid.to_tensor([0])
    >>> loss = fluid.nn.functional.margin_cross_entropy(cosines, right, scale=2.0)
    >>> round(float(loss), 3)
    0.324
    """
    if reduction not in ("mean", "sum", "none", None):
        raise ArgumentError(f"expected reduction to be mean, sum or None, got {reduction!r}")
    margins = dict(margin1=margin1, margin2=margin2, margin3=margin3)
    found = eager.margin_cross_entropy.all(logits, label, scale=scale, **margins)
    losses = found["Loss"]
    loss = losses if reduction in ("none", None) else reduced(losses, str(reduction))
    return (loss, found["Softmax"]) if return_softmax else loss


def class_center_sample(
    label: Tensor, num_classes: int, num_samples: int, group: object = None
) -> tuple[Tensor, Tensor]:
    """The classes that labels name, and others drawn at random: the labels among these, and which
    they are, the named ones first (An et al. 2022, "Partial FC").

    Args:
        label: [N].
        num_classes: how many there are.
        num_samples: how many to take; all that are named, where these are more.
        group: accepted: there is one process.

    Raises:
        ArgumentError: there are fewer classes than samples.
        ShapeError: ``label`` has not one dimension.

    >>> label = fluid.to_tensor([7, 2, 7])
    >>> remapped, classes = fluid.nn.functional.class_center_sample(label, 10, 4)
    >>> remapped.tolist(), classes.tolist()[:2], classes.shape
    ([1, 0, 1], [2, 7], [4])
    """
    if len(label.array.shape) != 1:
        raise ShapeError(f"expected label of one dimension, got shape {list(label.shape)}")
    if num_samples > num_classes:
        raise ArgumentError(f"expected num_samples up to {num_classes}, got {num_samples}")
    dtype = str(label.array.dtype)
    numbers: Any = cast(label, "int64")
    named = max(one_hot(numbers, num_classes), 0)
    drawn = uniform_like(label.results(np.zeros(num_classes, "float32")), 0.0, 1.0)
    order = add(scale(drawn, 0.5), named)  # the named ones come first
    least = topk(order, num_samples)[0][-1]
    others = multiply(cast(greater_equal(order, least), "float32"), subtract(1.0, named))
    chosen = [cast(reshape(nonzero(each), [-1]), dtype) for each in (named, others)]
    places = subtract(cumsum(cast(named, "int64")), 1)
    return cast(gather(places, numbers), dtype), concat(chosen)
