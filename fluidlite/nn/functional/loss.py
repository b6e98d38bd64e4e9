"""How far predictions are from what is right."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from ...eager.composite import composite
from ...eager.engine import located
from ...eager.recording import eager, observed
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import (
    add,
    less_than,
    maximum,
    multiply,
    not_equal,
    operands,
    subtract,
    true_divide,
)
from ...functions.elementary import abs as size
from ...functions.elementary import cast, log, square
from ...functions.reduction import mean, rows_of
from ...functions.reduction import sum as total
from ...functions.selection import chosen
from ...functions.shaping import fits, reshape, squeeze, unsqueeze
from ...ground.doubts import warn_where_stretched
from ...ground.dtypes import DType, as_dtype
from ...opdef.operand import Operand
from .projection import label_smooth, one_hot


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of losses, or each of them.

    Raises:
        ArgumentError: ``reduction`` is another one.
    """
    if reduction == "mean":
        return mean(loss)
    if reduction == "sum":
        return total(loss)
    if reduction == "none":
        return loss
    raise located(
        ArgumentError, f"expected reduction to be 'mean', 'sum' or 'none', got {reduction!r:.60}"
    )


def _need_same_shape(input: Any, label: Any) -> None:
    wanted, came = (list(operand.array.shape) for operand in (input, label))
    if not fits(came, wanted):
        raise located(ShapeError, f"expected a label of shape {wanted}, as the input, got {came}")


@composite
def mse_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """The square of the difference.

    >>> float(fluid.nn.functional.mse_loss(fluid.ones([2]), fluid.zeros([2])))
    1.0
    """
    warn_where_stretched("mse_loss", input, label)
    return reduced(square(subtract(input, label)), reduction)


@composite
def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """The square of the difference, element by element.

    >>> x = fluid.to_tensor([1.0, 3.0])
    >>> fluid.nn.functional.square_error_cost(x, fluid.to_tensor([2.0, 5.0])).tolist()
    [1.0, 4.0]
    """
    warn_where_stretched("square_error_cost", input, label)
    return square(subtract(input, label))


@composite
def l1_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """The size of the difference.

    >>> x = fluid.to_tensor([1.0, 3.0])
    >>> fluid.nn.functional.l1_loss(x, fluid.to_tensor([2.0, 5.0])).item()
    1.5
    """
    warn_where_stretched("l1_loss", input, label)
    return reduced(size(subtract(input, label)), reduction)


@composite
def smooth_l1_loss(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """Half the square of the difference, and a line where it is larger than delta.

    >>> x = fluid.to_tensor([1.0])
    >>> fluid.nn.functional.smooth_l1_loss(x, fluid.to_tensor([3.0])).item()
    1.5
    """
    _need_same_shape(input, label)
    difference = size(subtract(input, label))
    near = multiply(square(difference), 0.5)
    far = multiply(subtract(difference, 0.5 * delta), delta)
    return reduced(chosen(less_than(difference, delta), near, far), reduction)


@composite
def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """The logarithm of the probability of the right class, with its sign changed.

    Args:
        input: logits with the classes along ``axis``, or probabilities.
        label: indices, without that dimension or with size 1 there; or probabilities.
        weight: of the classes.
        ignore_index: where the label is this, the loss is 0, and does not count in the mean.
        reduction: mean, sum or none.
        soft_label: the label holds probabilities.
        axis: the dimension of the classes.
        use_softmax: False: the input holds probabilities.
        label_smoothing: the share of the uniform distribution that is mixed into the label.

    >>> logits = fluid.to_tensor([[0.0, 0.0]])
    >>> round(float(fluid.nn.functional.cross_entropy(logits, fluid.to_tensor([1]))), 4)
    0.6931
    """
    axis = axis % input.array.ndim
    classes = input.array.shape[axis]
    hard = not soft_label
    narrow = hard and label.array.ndim == input.array.ndim - 1
    mask = None
    if hard:
        label = _class_numbers(label)
        indices = unsqueeze(label, axis) if narrow else label
        mask = _kept(indices, ignore_index, input)
    if label_smoothing and hard:
        inside: Any = (
            multiply(indices, cast(mask, indices.dtype))  # type: ignore[arg-type]
            if label.appends or observed()
            else label.results(np.where(mask == 1, indices.array, 0))
        )
        spread = one_hot(squeeze(inside, axis), classes)
        order = [*range(spread.array.ndim - 1)]
        order.insert(axis, spread.array.ndim - 1)
        label = label_smooth(
            cast(eager.transpose(spread, axis=tuple(order)), input.dtype), epsilon=label_smoothing
        )
        soft = True
    else:
        soft = soft_label
        if soft and label_smoothing:
            label = label_smooth(label, epsilon=label_smoothing)
    if not soft:
        label = indices
    loss = _entropy(input, label, soft, axis, use_softmax, ignore_index)
    count: Any = mask
    if weight is not None:
        factors = _weights(weight, label, soft, axis, input, ignore_index)
        loss = multiply(loss, factors)
        count = factors if mask is None else multiply(factors, mask)
    if mask is not None:
        loss = multiply(loss, mask)
    if reduction == "mean" and count is not None:
        number: Any = count.sum() if isinstance(count, np.ndarray) else total(count)
        if isinstance(number, Operand):
            number = number if weight is not None else maximum(number, 1.0)
        else:
            number = max(float(number), 1.0) if weight is None else float(number)
        return true_divide(total(loss), number)
    if reduction == "none" and narrow and not label_smoothing:
        return squeeze(loss, axis)
    return reduced(loss, reduction)


def _class_numbers(label: Any) -> Any:
    """Labels as integers: paddle takes fractions, which it rounds towards zero."""
    dtype = as_dtype(label.dtype)
    return cast(label, "int64") if dtype.is_continuous or dtype is DType.BOOL else label


def _kept(label: Any, ignore_index: int, input: Tensor) -> Any:
    """1 where a label counts, 0 where it is to be ignored: an array; of variables, and where each
    operator is to be seen, what operators give.
    """
    if label.appends is not None or observed():
        return cast(not_equal(label, ignore_index), input.dtype)
    return (label.array != ignore_index).astype(input.array.dtype)


def _entropy(
    input: Tensor, label: Any, soft: bool, axis: int, use_softmax: bool, ignore_index: int
) -> Tensor:
    """The loss of each place, with size 1 along ``axis``."""
    if use_softmax:
        return eager.softmax_with_cross_entropy(
            input, label, soft_label=soft, axis=axis, ignore_index=ignore_index
        )
    if soft:
        return total(multiply(multiply(label, log(input)), -1.0), axis, keepdim=True)
    picked = eager.pick_label(input, label, axis=axis, ignore_index=ignore_index, ignored=1.0)
    return multiply(log(picked), -1.0)


def _weights(
    weight: Tensor, label: Any, soft: bool, axis: int, input: Tensor, ignore_index: int
) -> Tensor:
    """The weight of each place, with size 1 along ``axis``."""
    shape = [1] * input.array.ndim
    shape[axis] = -1
    along = reshape(weight, shape)
    if soft:
        return total(multiply(label, along), axis, keepdim=True)
    if label.appends is not None or observed():
        places = multiply(label, cast(not_equal(label, ignore_index), label.dtype))
        return reshape(eager.gather(weight, reshape(places, [-1])), list(label.array.shape))
    index = np.where(label.array == ignore_index, 0, label.array)
    return reshape(eager.gather(weight, index.reshape(-1)), list(index.shape))


@overload
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: Literal[False] = False,
    axis: int = -1,
) -> Tensor: ...
@overload
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    *,
    return_softmax: Literal[True],
    axis: int = -1,
) -> tuple[Tensor, Tensor]: ...
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Tensor | tuple[Tensor, Tensor]:
    """The cross entropy of each place, with size 1 along ``axis``.

    Args:
        logits: a tensor with the classes along ``axis``.
        label: indices with size 1 there, or probabilities.
        soft_label: the label holds probabilities.
        ignore_index: where the label is this, the loss is 0.
        numeric_stable_mode: accepted; the computation is always stable.
        return_softmax: also give the probabilities.
        axis: the dimension of the classes.

    >>> x, y = fluid.to_tensor([[0.0, 0.0]]), fluid.to_tensor([[1]])
    >>> fluid.nn.functional.softmax_with_cross_entropy(x, y).numpy().round(4)
    array([[0.6931]], dtype=float32)
    """
    if not soft_label:
        label = _class_numbers(label)
    outs = eager.softmax_with_cross_entropy.all(
        logits, label, soft_label=soft_label, ignore_index=ignore_index, axis=axis
    )
    return (outs["Loss"], outs["Softmax"]) if return_softmax else outs["Loss"]


def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The element of the right class, with its sign changed.

    Args:
        input: logarithms of probabilities, [N, C, ...].
        label: classes, [N, ...]; [N, 1] for an input of two dimensions.
        weight: of the classes.
        ignore_index: where the label is this, the loss is 0, and does not count in the mean.
        reduction: mean, sum or none.

    >>> x = fluid.to_tensor([[-0.5, -1.0]])
    >>> fluid.nn.functional.nll_loss(x, fluid.to_tensor([1])).item()
    1.0
    """
    places = label if len(input.shape) == len(label.shape) == 2 else unsqueeze(label, 1)
    picked = eager.pick_label(input, places, axis=1, ignore_index=ignore_index)
    loss = multiply(picked, -1.0)
    count: Any = _kept(places, ignore_index, input)
    if weight is not None:
        factors = _weights(weight, places, False, 1, input, ignore_index)
        loss, count = multiply(loss, factors), multiply(factors, count)
    if reduction == "mean":
        whole = isinstance(count, np.ndarray)
        number: Any = max(float(count.sum()), 1.0) if whole else total(count)
        return true_divide(total(loss), number)
    return reduced(squeeze(loss, 1), reduction)


def binary_cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The cross entropy of probabilities of one class.

    Args:
        input: probabilities.
        label: 0 or 1, or probabilities, in the same shape.
        weight: of each element.
        reduction: mean, sum or none.

    >>> x = fluid.to_tensor([0.5])
    >>> round(fluid.nn.functional.binary_cross_entropy(x, fluid.to_tensor([1.0])).item(), 4)
    0.6931
    """
    loss = eager.bce_loss(input, label)
    return reduced(loss if weight is None else multiply(loss, weight), reduction)


def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy of the sigmoid of logits, without overflow.

    Args:
        logit: a tensor.
        label: 0 or 1, or probabilities, in the same shape.
        weight: of each element.
        reduction: mean, sum or none.
        pos_weight: of the class 1.

    >>> x, y = fluid.to_tensor([0.0]), fluid.to_tensor([1.0])
    >>> round(fluid.nn.functional.binary_cross_entropy_with_logits(x, y).item(), 4)
    0.6931
    """
    _need_same_shape(logit, label)
    negative = eager.softplus(logit)  # -log(1 - sigmoid)
    positive = subtract(negative, logit)  # -log(sigmoid)
    if pos_weight is not None:
        positive = multiply(positive, pos_weight)
    loss = add(multiply(label, positive), multiply(add(multiply(label, -1.0), 1.0), negative))
    return reduced(loss if weight is None else multiply(loss, weight), reduction)


def log_loss(
    input: Tensor, label: Tensor, epsilon: float = 1e-4, name: str | None = None
) -> Tensor:
    """The cross entropy of probabilities of one class, kept finite by ``epsilon``.

    >>> x = fluid.to_tensor([[0.5]])
    >>> fluid.nn.functional.log_loss(x, fluid.to_tensor([[1.0]])).numpy().round(4)
    array([[0.6929]], dtype=float32)
    """
    return eager.log_loss(input, label, epsilon=epsilon)


def kl_div(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """label (log(label) - input): the divergence of distributions.

    Args:
        input: logarithms of probabilities.
        label: probabilities, of the shape of input; no gradient flows there.
        reduction: mean, sum, batchmean or none.

    >>> p = fluid.to_tensor([[0.5, 0.5]])
    >>> fluid.nn.functional.kl_div(p.log(), p, reduction="sum").item()
    0.0
    """
    logarithms, probabilities = operands(input, label, "kl_div")
    loss = eager.kldiv_loss(logarithms, probabilities, reduction="none")
    if reduction == "batchmean" and loss.array.ndim:
        return true_divide(total(loss), rows_of(loss))
    return reduced(loss, "sum" if reduction == "batchmean" else reduction)
