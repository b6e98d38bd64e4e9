"""Losses that are likelihoods of distributions, or made of how sets and sequences agree."""

from __future__ import annotations

from math import log as log_of
from math import pi
from typing import Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import (
    add,
    equal,
    greater_than,
    matmul,
    maximum,
    multiply,
    subtract,
    true_divide,
)
from ...functions.arithmetic import pow as power
from ...functions.elementary import cast, exp, log, square
from ...functions.reduction import mean
from ...functions.reduction import sum as total
from ...functions.selection import chosen
from ...functions.shaping import reshape, squeeze, t
from ...ground.docstrings import Family
from .loss import binary_cross_entropy_with_logits, cross_entropy, reduced
from .projection import one_hot

LIKELIHOODS = Family(
    {
        "full": "also count the part that does not depend on the input.",
        "reduction": "mean, sum or none.",
    },
    raises="ArgumentError: an option is out of range.",
)


@LIKELIHOODS
def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the logarithm of the density of normal distributions.

    Args:
        input: their means.
        label: what was seen.
        variance: in the shape of ``input``, or with size 1 in the last dimension, or without it; no
            gradient flows through it.
        epsilon: the smallest variance that is used.

    >>> x, v = fluid.zeros([2]), fluid.ones([2])
    >>> float(fluid.nn.functional.gaussian_nll_loss(x, v, v))
    0.5
    """
    if variance.array.ndim == input.array.ndim - 1:
        variance = reshape(variance, [*[0] * variance.array.ndim, 1])
    if variance.appends is None and (variance.array < 0).any():
        raise ArgumentError("expected variance of at least 0, got a negative element")
    wide = maximum(variance.detach(), epsilon)
    loss = multiply(add(log(wide), true_divide(square(subtract(input, label)), wide)), 0.5)
    return reduced(add(loss, 0.5 * log_of(2 * pi)) if full else loss, reduction)


@LIKELIHOODS
def poisson_nll_loss(
    input: Tensor,
    label: Tensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """Minus the logarithm of the probability of counts in Poisson distributions.

    Args:
        input: the expected counts, or their logarithms.
        label: what was counted.
        log_input: the input holds logarithms.
        full: also count Stirling's approximation of ``log(label!)``, for labels above 1.
        epsilon: keeps logarithms finite where ``log_input`` is False.

    >>> one = fluid.ones([2])
    >>> float(fluid.nn.functional.poisson_nll_loss(one, one, log_input=False))
    1.0
    """
    if epsilon <= 0:
        raise ArgumentError(f"expected epsilon above 0, got {epsilon!r}")
    if log_input:
        loss = subtract(exp(input), multiply(label, input))
    else:
        loss = subtract(input, multiply(label, log(add(input, epsilon))))
    if full:
        many: Any = greater_than(label, 1.0)
        safe = chosen(many, label, 1.0)
        rest = add(
            subtract(multiply(safe, log(safe)), safe), multiply(log(multiply(safe, 2 * pi)), 0.5)
        )
        loss = add(loss, chosen(many, rest, 0.0))
    return reduced(loss, reduction)


def dice_loss(
    input: Tensor, label: Tensor, epsilon: float = 1e-5, name: str | None = None
) -> Tensor:
    """One less twice what predicted and right elements share, by how many both have.

    Args:
        input: probabilities, [N, ..., classes].
        label: the right classes, [N, ..., 1].
        epsilon: keeps the denominator away from 0.

    >>> x, y = fluid.to_tensor([[1.0, 0.0]]), fluid.to_tensor([[0]])
    >>> abs(float(fluid.nn.functional.dice_loss(x, y))) < 1e-5
    True
    """
    right = cast(one_hot(squeeze(label, -1), input.array.shape[-1]), input.dtype)
    axes = [*range(1, input.array.ndim)]
    both = total(multiply(input, right), axes)
    each = add(total(input, axes), total(right, axes))
    score = true_divide(multiply(both, 2.0), add(each, epsilon))
    return mean(add(multiply(score, -1.0), 1.0))


def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """The cross entropy of the products of anchors with what belongs to them or to others (Sohn
    2016, "Improved deep metric learning with multi-class N-pair loss objective").

    Args:
        anchor, positive: [N, D].
        labels: [N]; rows with the same label belong together.
        l2_reg: how much the squares of both count.

    >>> anchor, positive = fluid.ones([2, 3]), fluid.ones([2, 3])
    >>> x = fluid.to_tensor([0, 1])
    >>> round(fluid.nn.functional.npair_loss(anchor, positive, x).item(), 4)
    0.6961
    """
    column = reshape(labels, [-1, 1])
    same = cast(equal(column, t(column)), anchor.dtype)
    target = true_divide(same, total(same, 1, keepdim=True))
    squares = add(mean(total(square(anchor), 1)), mean(total(square(positive), 1)))
    entropy = cross_entropy(matmul(anchor, t(positive)), target, soft_label=True)
    return add(entropy, multiply(squares, 0.25 * l2_reg))


@LIKELIHOODS
def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: Tensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """The cross entropy of the sigmoid of logits, by how wrong each one is (Lin et al. 2017, "Focal
    loss for dense object detection").

    Args:
        logit: of any shape.
        label: 0 or 1, in the same shape.
        normalizer: a number that the loss is divided by.
        alpha: the weight of the class 1; that of 0 is one less it.
        gamma: the power of how wrong each one is.

    >>> x = fluid.to_tensor([[0.0]])
    >>> round(fluid.nn.functional.sigmoid_focal_loss(x, fluid.to_tensor([[1.0]])).item(), 4)
    0.0433
    """
    other = add(multiply(label, -1.0), 1.0)
    right = eager.sigmoid(logit)
    wrong = add(multiply(right, add(multiply(label, -2.0), 1.0)), label)
    share = add(multiply(label, alpha), multiply(other, 1.0 - alpha))
    entropy = binary_cross_entropy_with_logits(logit, label, reduction="none")
    loss = multiply(multiply(share, power(wrong, gamma)), entropy)
    return reduced(loss if normalizer is None else true_divide(loss, normalizer), reduction)


@LIKELIHOODS
def ctc_loss(
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability of all ways to write labels into steps, with blanks
    between them: connectionist temporal classification (Graves et al. 2006).

    Args:
        log_probs: logits, [steps, N, classes]: their softmax is taken here.
        labels: [N, width].
        input_lengths, label_lengths: how many steps and labels of each row count, [N].
        blank: the class that stands for none.
        reduction: mean: of losses divided by the number of their labels; sum or none.
        norm_by_times: divide gradients by the number of steps.

    >>> x, y = fluid.zeros([2, 1, 3]), fluid.to_tensor([[1]])
    >>> n, m = fluid.to_tensor([2]), fluid.to_tensor([1])
    >>> round(float(fluid.nn.functional.ctc_loss(x, y, n, m)), 4)  # log(9 / 3)
    1.0986
    """
    lengths = cast(label_lengths, "int64")
    loss = eager.warpctc(
        log_probs,
        labels,
        cast(input_lengths, "int64"),
        lengths,
        blank=blank,
        norm_by_times=norm_by_times,
    )
    loss = squeeze(loss, -1)
    if reduction == "mean":
        return mean(true_divide(loss, cast(lengths, loss.dtype)))
    return reduced(loss, reduction)


def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The loss of the turns on the way to the right leaf of a tree of classes, [N, 1] (Morin and
    Bengio 2005, "Hierarchical probabilistic neural network language model").

    Args:
        input: [N, D].
        label: the right classes, [N] or [N, 1].
        num_classes: how many there are, from 2.
        weight: a row for each inner node: [num_classes - 1, D].
        bias: [num_classes - 1, 1] or [num_classes - 1].
        path_table, path_code: nodes and turns of each row, [N, L], with -1 for none; the complete
            binary tree when None.
        is_sparse: the gradient of the weight has only the rows that were used.

    >>> x, label = fluid.ones([2, 3]), fluid.to_tensor([[0], [1]])
    >>> y = fluid.zeros([1, 3])
    >>> fluid.nn.functional.hsigmoid_loss(x, label, 2, y).numpy().round(4).tolist()
    [[0.6930999755859375], [0.6930999755859375]]
    """
    if num_classes < 2:
        raise ArgumentError(f"expected num_classes of at least 2, got {num_classes!r}")
    flat = None if bias is None else reshape(bias, [-1, 1])
    return eager.hierarchical_sigmoid(
        input,
        weight,
        label,
        path_table,
        path_code,
        flat,
        num_classes=num_classes,
        is_sparse=is_sparse,
    )
