"""How far predictions are from what is right, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.engine import located
from ....eager.flat import kinked
from ....eager.recording import eager
from ....errors import ArgumentError, DTypeError, FluidError, ShapeError
from ....functions.arithmetic import (
    add,
    equal,
    greater_equal,
    less_than,
    multiply,
    not_equal,
    pow,
    shared_maximum,
    subtract,
    true_divide,
)
from ....functions.counting import take
from ....functions.elementary import abs as size
from ....functions.elementary import cast, exp, log, neg, square
from ....functions.reduction import rows_of
from ....functions.reduction import sum as total
from ....functions.selection import chosen
from ....functions.shaping import fits, reshape, squeeze, unsqueeze
from ....ground.spellings import parameters_of
from ....nn.functional import loss as lenient
from ....nn.functional import margins
from ....nn.functional.loss import reduced
from ...elementary import clamp
from ...functions import log_softmax
from ...spelling import ONEFLOW

if TYPE_CHECKING:
    from ...spelling import Function
    from ...tensor import Tensor


l1_loss: Function = ONEFLOW(lenient.l1_loss)
mse_loss: Function = ONEFLOW(lenient.mse_loss)
soft_margin_loss: Function = ONEFLOW(margins.soft_margin_loss)
hinge_embedding_loss: Function = ONEFLOW(margins.hinge_embedding_loss)
pairwise_distance: Function = ONEFLOW(margins.pairwise_distance, x="x1", y="x2")


@parameters_of(ONEFLOW(lenient.binary_cross_entropy_with_logits, logit="input"))
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, *options: Any) -> Tensor:
    """The cross entropy of the sigmoid of logits, without overflow.

    Args:
        target: 0 or 1, or probabilities, in the same shape; its element type is the loss's.

    >>> x, y = fluid.flow.tensor([0.0]), fluid.flow.tensor([1.0])
    >>> round(fluid.flow.nn.functional.binary_cross_entropy_with_logits(x, y).item(), 4)
    0.6931
    """
    loss, kind = lenient.binary_cross_entropy_with_logits(input, target, *options), target.dtype
    return cast(loss, kind) if kind != loss.dtype and kind.is_float else loss


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The square of the difference over 2 beta, and a line of slope 1 where that is beyond beta.

    Args:
        input, target: tensors.
        reduction: as of :func:`l1_loss`.
        beta: where the line begins; 0 for the size of the difference.

    >>> x = fluid.flow.tensor([1.0])
    >>> fluid.flow.nn.functional.smooth_l1_loss(x, fluid.flow.tensor([3.0])).item()
    1.5
    """
    if beta < 0:
        raise located(ArgumentError, f"expected beta from 0 on, got {beta!r}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    away = size(subtract(input, target))
    near = multiply(square(away), 0.5 / beta)
    return reduced(chosen(less_than(away, beta), near, subtract(away, 0.5 * beta)), reduction)


def _hinge(x: Tensor) -> Tensor:
    """The larger of x and 0, whose gradient flows where both are 0."""
    return clamp(x, min=0.0)


margin_ranking_loss: Function = ONEFLOW(
    margins.hinged_ranking,
    "margin_ranking_loss",
    """The larger of margin - target (input1 - input2) and 0; the gradient flows where both are 0.

    >>> a, b, one = (fluid.flow.tensor([n]) for n in (1.0, 3.0, 1.0))
    >>> float(fluid.flow.nn.functional.margin_ranking_loss(a, b, one))
    2.0
    """,
    fixed={"hinge": _hinge},
    input="input1",
    other="input2",
)
triplet_margin_loss: Function = ONEFLOW(
    margins.hinged_triplets,
    "triplet_margin_loss",
    """The larger of 0 and ``margin`` plus the distance to the similar sample, less the distance
    to the other one; the gradient flows where both are 0.

    >>> near, far = fluid.flow.tensor([[0.0, 0.0]]), fluid.flow.tensor([[3.0, 4.0]])
    >>> loss = fluid.flow.nn.functional.triplet_margin_loss(near, near, far, margin=6.0)
    >>> round(loss.item(), 4)
    1.0
    """,
    fixed={"hinge": _hinge},
    defaults={"p": 2.0},
    input="anchor",
)


def sparse_softmax_cross_entropy(labels: Tensor, logits: Tensor) -> Tensor:
    """The cross entropy of each sample.

    Args:
        labels: [N], classes.
        logits: [N, C].

    >>> logits = fluid.flow.zeros(1, 2)
    >>> fluid.flow.nn.functional.sparse_softmax_cross_entropy(fluid.flow.tensor([1]), logits)
    tensor([0.6931], dtype=oneflow.float32)
    """
    return cross_entropy(logits, labels, reduction="none")


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half the square of the difference, and a line of slope delta beyond delta.

    >>> x = fluid.flow.tensor([1.0])
    >>> fluid.flow.nn.functional.huber_loss(x, fluid.flow.tensor([3.0])).item()
    1.5
    """
    return multiply(smooth_l1_loss(input, target, reduction, delta), delta)


@parameters_of(ONEFLOW(lenient.nll_loss))
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    """The element of the right class, with its sign changed.

    Args:
        input: logarithms of probabilities, [N, C, ...] or [C].
        target: classes, [N, ...] or [].
        weight: of the classes; the mean divides by the weights of the classes that occur.
        ignore_index: where the target is this, the loss is 0, and does not count in the mean.
        reduction: as of :func:`l1_loss`.

    Raises:
        ShapeError: the target has another shape.

    >>> x = fluid.flow.tensor([[-0.5, -1.0]])
    >>> fluid.flow.nn.functional.nll_loss(x, fluid.flow.tensor([1])).item()
    1.0
    """
    shape = input.array.shape
    if len(shape) == 1:
        loss = nll_loss(unsqueeze(input, 0), unsqueeze(target, 0), weight, ignore_index, reduction)
        return squeeze(loss, 0) if reduction == "none" else loss
    wanted = (shape[0], *shape[2:])
    if not fits(target.array.shape, wanted):
        raise located(
            ShapeError,
            f"expected a target of shape {list(wanted)} for an input {list(shape)}, got "
            f"{list(target.array.shape)}",
        )
    if target.array.dtype.kind == "f":
        raise _no_labels(target)
    places = unsqueeze(target, 1)
    picked = squeeze(eager.pick_label(kinked(input), places, axis=1, ignore_index=ignore_index), 1)
    factors = _counted(target, ignore_index, input)
    if weight is not None:
        factors = multiply(_of_classes(weight, target, ignore_index), factors)
        picked = multiply(picked, factors)
    loss = neg(picked)
    if reduction == "mean":
        return true_divide(total(loss), total(factors))
    return reduced(loss, reduction)


def _no_labels(target: Tensor, other: str = "") -> FluidError:
    given = f"{target.array.dtype}{list(target.array.shape)}"
    return located(
        DTypeError, f"expected target to hold labels, which are integers{other}, got {given}"
    )


def _counted(target: Tensor, ignore_index: int, input: Tensor) -> Tensor:
    """1 where a target counts, 0 where it is to be ignored, in the element type of the input."""
    return cast(not_equal(target, ignore_index), input.array.dtype)


def _of_classes(weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """The weight of the class of each target; of class 0 where it is to be ignored."""
    return take(weight, chosen(equal(target, ignore_index), 0, target))


@parameters_of(
    ONEFLOW(lenient.cross_entropy, fixed={"soft_label": False, "axis": -1, "use_softmax": True})
)
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None, *given: Any) -> Tensor:
    """The logarithm of the softmax at the right class, with its sign changed.

    Args:
        input: logits, [N, C, ...] or [C].
        target: classes, [N, ...] or []; or probabilities in the shape of ``input``.
        weight: of the classes.
        ignore_index: where the target is this class, the loss is 0, and does not count in the mean.
        reduction: as of :func:`l1_loss`.
        label_smoothing: the share of the uniform distribution that is mixed into the target.

    >>> logits = fluid.flow.tensor([[0.0, 0.0]])
    >>> round(fluid.flow.nn.functional.cross_entropy(logits, fluid.flow.tensor([1])).item(), 4)
    0.6931
    """
    ignore_index, reduction, label_smoothing = given
    if not 0 <= label_smoothing <= 1:
        raise located(ArgumentError, f"expected label_smoothing in [0, 1], got {label_smoothing!r}")
    dim = 0 if input.array.ndim == 1 else 1
    logs = log_softmax(input, dim)
    classes = input.array.shape[dim]
    along = [-1 if d == dim else 1 for d in range(input.array.ndim)]
    weights = None if weight is None else reshape(weight, along)
    if target.array.dtype.kind == "f":
        if not fits(target.array.shape, input.array.shape):
            raise _no_labels(target, f", or probabilities of shape {list(input.array.shape)}")
        mixed = add(multiply(target, 1.0 - label_smoothing), label_smoothing / +classes)
        parts = multiply(logs, mixed if weights is None else multiply(mixed, weights))
        loss = neg(total(parts, dim))
        return reduced(loss, reduction)
    options = weight, ignore_index, reduction
    right = nll_loss(logs, target, *options)
    if not label_smoothing:
        return right
    counted = _counted(target, ignore_index, input)
    every = neg(total(logs if weights is None else multiply(logs, weights), dim))
    every = multiply(every, counted)
    if reduction == "mean":
        shares = counted
        if weight is not None:
            shares = multiply(_of_classes(weight, target, ignore_index), counted).detach()
        every = true_divide(total(every), total(shares))
    else:
        every = reduced(every, reduction)
    return add(multiply(right, 1.0 - label_smoothing), multiply(every, label_smoothing / +classes))


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The cross entropy of probabilities of one class; logarithms below -100 count as that.

    The derivative is (input - target) / (input (1 - input)), where less than 1e-12 below the line
    counts as that: it is finite at 0 and 1.

    Args:
        input: probabilities.
        target: 0 or 1, or probabilities, in the same shape.
        weight: of each element.
        reduction: as of :func:`l1_loss`.

    >>> x, y = fluid.flow.tensor([0.5]), fluid.flow.tensor([1.0])
    >>> round(fluid.flow.nn.functional.binary_cross_entropy(x, y).item(), 4)
    0.6931
    """
    inside = greater_equal(multiply(input, 1.0 - input), _LEAST)
    parabola = multiply(square(subtract(input, target.detach())), 0.5 / _LEAST)
    slope = subtract(parabola, parabola.detach())  # 0, with a gradient
    edge = add(_two_class_loss(input.detach(), target), slope)
    loss = chosen(inside, _two_class_loss(chosen(inside, input, 0.5), target), edge)
    return reduced(loss if weight is None else multiply(loss, weight), reduction)


#: what the denominator of the derivative of :func:`binary_cross_entropy` is at least
_LEAST = 1e-12


def _two_class_loss(input: Tensor, target: Tensor) -> Tensor:
    right = multiply(target, shared_maximum(log(input), -100.0))
    wrong = multiply(1.0 - target, shared_maximum(log(1.0 - input), -100.0))
    return neg(add(right, wrong))


def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target (log(target) - input): the divergence of distributions.

    Args:
        input: logarithms of probabilities.
        target: probabilities, or their logarithms.
        reduction: as of :func:`l1_loss`; or "batchmean", the sum over the first size.
        log_target: whether the target holds logarithms.

    >>> x, y = fluid.flow.tensor([[0.0, 0.0]]), fluid.flow.tensor([[0.5, 0.5]])
    >>> round(fluid.flow.nn.functional.kl_div(x, y, reduction="sum").item(), 4)
    -0.6931
    """
    if log_target:
        loss = multiply(exp(target), subtract(target, input))
    else:
        loss = lenient.kl_div(input, target, "none")
    if reduction == "batchmean":
        return true_divide(total(loss), rows_of(loss))
    return reduced(loss, reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension; lengths count as eps at least.

    >>> x, y = fluid.flow.tensor([[1.0, 0.0]]), fluid.flow.tensor([[1.0, 1.0]])
    >>> fluid.flow.nn.functional.cosine_similarity(x, y).numpy().round(4)
    array([0.7071], dtype=float32)
    """
    one, other = (pow(shared_maximum(total(square(x), dim), eps * eps), 0.5) for x in (x1, x2))
    return true_divide(total(multiply(x1, x2), dim), multiply(one, other))


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where the target is 1, and max(0, cosine - margin) where it is -1.

    Args:
        input1, input2: vectors in the last dimension.
        target: 1 or -1 for each pair.
        margin: up to which cosine unlike vectors cost nothing.
        reduction: as of :func:`l1_loss`.

    >>> x, y = fluid.flow.tensor([[1.0, 0.0]]), fluid.flow.tensor([[0.0, 1.0]])
    >>> fluid.flow.nn.functional.cosine_embedding_loss(x, y, fluid.flow.tensor([1])).item()
    1.0
    """
    shared = np.sqrt(np.finfo(input1.array.dtype).eps)
    cosine = cosine_similarity(input1, input2, -1, float(shared) ** 2)
    alike = equal(target, 1)
    unlike = eager.relu(subtract(cosine, margin))
    return reduced(chosen(alike, 1.0 - cosine, unlike), reduction)
