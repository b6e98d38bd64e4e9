"""Losses of predicted probabilities, and of their logits and logarithms."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .nn import one_hot
from .reduce import reduce_mean, reduce_sum


@layer
def log_loss(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    epsilon: float = 1e-4,
    name: str | None = None,
) -> Variable:
    """Minus the logarithm of the probability of the right one of two classes.

    Args:
        input: probabilities of the class 1, [N, 1].
        label: 0 or 1, or a probability, of the shape and element type of ``input``.
        epsilon: is added to the probabilities.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.log_loss(fluid.data("x", [None, 1]), fluid.data("y", [None, 1])).shape
    (-1, 1)
    """
    return f.log_loss(input, label, epsilon=epsilon)


@layer
def kldiv_loss(
    f: LayerBuilder,
    x: Variable,
    target: Variable,
    reduction: str = "mean",
    name: str | None = None,
) -> Variable:
    """The relative entropy of a distribution to another: ``target * (log(target) - x)``.

    Args:
        x: logarithms of probabilities, float.
        target: probabilities, of the shape and element type of ``x``.
        reduction: "none"; or "mean", "sum", or "batchmean", which divides the sum by the first
            size.

    Returns:
        A variable of shape [1], or of the shape of ``x`` without a reduction.

    >>> x, target = fluid.data("x", [None, 4]), fluid.data("target", [None, 4])
    >>> fluid.layers.kldiv_loss(x, target, reduction="batchmean").shape
    (1,)
    """
    return f.kldiv_loss(x, target, reduction=reduction)


def dice_loss(
    input: Variable, label: Variable, epsilon: float = 1e-5, name: str | None = None
) -> Variable:
    """1 less the share that a predicted and a true region have in common.

    Milletari et al., V-Net, 3DV 2016.

    Args:
        input: probabilities of classes in the last dimension.
        label: the right classes, int64 with 1 as last size.
        epsilon: is added to what is divided by.
        name: accepted, without a meaning.

    Returns:
        A variable of shape [1]: the mean over the batch.

    Raises:
        ShapeError: the number of classes is not known.

    >>> x, label = fluid.data("x", [None, 9, 4]), fluid.data("label", [None, 9, 1], "int64")
    >>> fluid.layers.dice_loss(x, label).shape
    (1,)
    """
    if input.ndim < 2 or input.shape[-1] == -1:
        raise ShapeError(
            f"expected input to have a known number of classes, got {list(input.shape)}"
        )
    found: Any = input
    right: Any = one_hot(label, depth=input.shape[-1])
    dims = list(range(1, input.ndim))
    sums: list[Any] = [reduce_sum(v, dim=dims) for v in (found * right, found, right)]
    sizes = sums[1] + sums[2]
    return reduce_mean(1 - sums[0] * 2 / (sizes + epsilon))


@layer
def sigmoid_focal_loss(
    f: LayerBuilder,
    x: Variable,
    label: Variable,
    fg_num: Variable,
    gamma: float = 2.0,
    alpha: float = 0.25,
) -> Variable:
    """Cross entropy of independent classes in which examples that are easy weigh little.

    Lin et al., Focal loss for dense object detection, ICCV 2017.

    Args:
        x: logits of the classes, [N, C].
        label: the right classes counted from 1, int32 of shape [N, 1]; 0 for background, -1 for
            no loss.
        fg_num: how many examples are no background, int32 of shape [1]; losses are divided by it.
        gamma: how little easy examples weigh.
        alpha: the weight of the right class; the others have ``1 - alpha``.

    Returns:
        A variable of the shape of ``x``.

    >>> x, label = fluid.data("x", [None, 8]), fluid.data("label", [None, 1], "int32")
    >>> fluid.layers.sigmoid_focal_loss(x, label, fluid.data("n", [1], "int32")).shape
    (-1, 8)
    """
    return f.sigmoid_focal_loss(x, label, fg_num, gamma=gamma, alpha=alpha)


@layer
def teacher_student_sigmoid_loss(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    soft_max_up_bound: float = 15.0,
    soft_max_lower_bound: float = -15.0,
) -> Variable:
    """The loss of a logit by a click and by the score of a teacher.

    Args:
        input: logits, [N, 1].
        label: of the shape and element type of ``input``: -2 no click and no score, -1 a click and
            no score, s in [0, 1) a score only, 1 + s a click and a score.
        soft_max_up_bound: no gradient flows where ``input`` is above.
        soft_max_lower_bound: no gradient flows where ``input`` is below.

    Returns:
        A variable of shape [N, 1].

    >>> x, label = fluid.data("x", [None, 1]), fluid.data("label", [None, 1])
    >>> fluid.layers.teacher_student_sigmoid_loss(x, label).shape
    (-1, 1)
    """
    return f.teacher_student_sigmoid_loss(
        input,
        label,
        soft_max_up_bound=soft_max_up_bound,
        soft_max_lower_bound=soft_max_lower_bound,
    )
