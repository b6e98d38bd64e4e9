"""Losses that ask for a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import add, equal, minimum, multiply, not_equal, pow, subtract
from ...functions.creation import full_like
from ...functions.elementary import abs as size
from ...functions.elementary import cast
from ...functions.reduction import max as largest
from ...functions.reduction import mean
from ...functions.reduction import sum as total
from ...functions.selection import chosen, put_along_axis
from ...functions.shaping import reshape
from ...ground.docstrings import Family
from ...ground.spellings import given_first, parameters_of
from .loss import binary_cross_entropy, binary_cross_entropy_with_logits, reduced
from .projection import cosine_similarity

MARGINS = Family(
    {"label": "1 or -1.", "margin": "how far apart is enough.", "reduction": "mean, sum or none."},
    raises="ArgumentError: an option is out of range.",
)


def hinged_ranking(
    hinge: Callable[[Tensor], Tensor],
    input: Tensor,
    other: Tensor,
    label: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The larger of ``margin - label (input - other)`` and 0.

    Args:
        hinge: the larger of a number and 0.
        input, other: what is compared.
        label: 1 where the first is to be larger, -1 where the second is.
        margin: how far apart is enough.
        reduction: mean, sum or none.
    """
    apart = multiply(label, subtract(other, input))
    return reduced(hinge(add(apart, margin)), reduction)


def _relu(x: Tensor) -> Tensor:
    made: Tensor = eager.relu(x)
    return made


margin_ranking_loss: Final = MARGINS(
    given_first(
        hinged_ranking,
        _relu,
        "margin_ranking_loss",
        """The larger of ``margin - label (input - other)`` and 0.

        >>> a, b, one = fluid.to_tensor([1.0]), fluid.to_tensor([3.0]), fluid.to_tensor([1.0])
        >>> float(fluid.nn.functional.margin_ranking_loss(a, b, one))
        2.0
        """,
    )
)


@MARGINS
def hinge_embedding_loss(
    input: Tensor,
    label: Tensor,
    margin: float = 1.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """A distance where the label is 1, else how much of the margin it leaves.

    Args:
        input: distances.

    >>> x = fluid.to_tensor([2.0, 0.5])
    >>> fluid.nn.functional.hinge_embedding_loss(x, fluid.to_tensor([1.0, -1.0])).item()
    1.25
    """
    far = eager.relu(add(multiply(input, -1.0), margin))
    return reduced(chosen(equal(label, 1.0), input, far), reduction)


@MARGINS
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    label: Tensor,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``1 - cos`` of vectors where the label is 1, else the larger of ``cos - margin`` and 0.

    Args:
        input1, input2: [N, D] or [D].
        margin: from -1 to 1, mostly.

    >>> x = fluid.to_tensor([[1.0, 0.0]])
    >>> fluid.nn.functional.cosine_embedding_loss(x, x, fluid.to_tensor([1])).item()
    0.0
    """
    cosine = cosine_similarity(input1, input2, axis=-1)
    near, far = add(multiply(cosine, -1.0), 1.0), eager.relu(subtract(cosine, margin))
    return reduced(chosen(equal(label, 1.0), near, far), reduction)


@MARGINS
def soft_margin_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """``log(1 + exp(-label input))``.

    Args:
        input: of any shape.

    >>> x = fluid.to_tensor([0.0])
    >>> round(fluid.nn.functional.soft_margin_loss(x, fluid.to_tensor([1.0])).item(), 4)
    0.6931
    """
    apart = multiply(cast(label, input.dtype), input)
    return reduced(eager.softplus(multiply(apart, -1.0)), reduction)


def pairwise_distance(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The distance of each two vectors.

    Args:
        x, y: vectors along the last dimension.
        p: of the norm.
        epsilon: is added to differences.
        keepdim: keep the last dimension, with size 1.

    >>> x, y = fluid.to_tensor([[1.0, 0.0]]), fluid.to_tensor([[4.0, 4.0]])
    >>> fluid.nn.functional.pairwise_distance(x, y).numpy().round(3).tolist()
    [5.0]
    """
    apart = size(add(subtract(x, y), epsilon))
    if p == float("inf"):
        return largest(apart, -1, keepdim)
    if p == 0:
        return total(cast(not_equal(apart, 0.0), x.dtype), axis=-1, keepdim=keepdim)
    return pow(total(pow(apart, p), axis=-1, keepdim=keepdim), 1.0 / p)


def hinged_triplets(
    hinge: Callable[[Tensor], Tensor],
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The larger of 0 and ``margin`` plus the distance to what belongs together less that to what
    does not.

    Args:
        hinge: the larger of a number and 0.
        input, positive, negative: vectors along the last dimension.
        margin: how far apart is enough.
        p: of the norm.
        epsilon: is added to differences.
        swap: takes the distance of the other two where it is smaller.
        reduction: mean, sum or none.
    """

    def distance(a: Tensor, b: Tensor) -> Any:
        return pairwise_distance(a, b, p, epsilon)

    gap = triplet_gap(input, positive, negative, distance, swap)
    return reduced(hinge(add(gap, margin)), reduction)


def _above_0(margin: float) -> float:
    if margin <= 0:
        raise ArgumentError(f"expected margin above 0, got {margin!r}")
    return margin


triplet_margin_loss: Final = MARGINS(
    given_first(
        hinged_triplets,
        _relu,
        "triplet_margin_loss",
        """The larger of 0 and ``margin`` plus the distance to what belongs together less that to
    what does not.

    >>> anchor, far = fluid.to_tensor([[0.0, 0.0]]), fluid.to_tensor([[3.0, 4.0]])
    >>> round(fluid.nn.functional.triplet_margin_loss(anchor, anchor, far, margin=6.0).item(), 4)
    1.0
    """,
        into={"margin": _above_0},
    )
)


def triplet_gap(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    swap: bool,
) -> Tensor:
    """The distance to what belongs together less that to what does not.

    Args:
        input, positive, negative: what ``distance`` takes.
        distance: of two tensors.
        swap: takes the distance of the other two where it is smaller.
    """
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return subtract(near, far)


def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The larger of 0 and ``margin`` plus the distance to what belongs together less that to what
    does not, by a distance of your own.

    Args:
        input, positive, negative: what the function takes.
        distance_function: of two tensors; :func:`pairwise_distance` when None.
        margin: how far apart is enough, above 0.
        swap: takes the distance of the other two where it is smaller.
        reduction: mean, sum or none.

    >>> anchor, far = fluid.to_tensor([[0.0, 0.0]]), fluid.to_tensor([[3.0, 4.0]])
    >>> round(
    ...     fluid.nn.functional.triplet_margin_with_distance_loss(
    ...         anchor, anchor, far, margin=6.0
    ...     ).item(),
    ...     4,
    ... )
    1.0
    """
    if margin <= 0:
        raise ArgumentError(f"expected margin above 0, got {margin!r}")
    distance = pairwise_distance if distance_function is None else distance_function
    gap = triplet_gap(input, positive, negative, distance, swap)
    return reduced(eager.relu(add(gap, margin)), reduction)


@MARGINS
def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The average over the other classes of the larger of 0 and ``margin`` plus their element less
    that of the right class.

    Args:
        input: [N, classes].
        label: the right classes, [N].
        p: a power of these.
        weight: of the classes, [classes].

    >>> x, y = fluid.to_tensor([[1.0, 0.5]]), fluid.to_tensor([0])
    >>> float(fluid.nn.functional.multi_margin_loss(x, y))
    0.25
    """
    places = reshape(label, [-1, 1])
    right = eager.pick_label(input, places, axis=1)
    apart = eager.relu(add(subtract(input, right), margin))
    if weight is not None:
        factors = reshape(eager.gather(weight, reshape(label, [-1])), [-1, 1])
        apart = multiply(apart, factors)
    others = put_along_axis(full_like(input, 1.0), places, 0.0, 1)
    loss = multiply(pow(apart, float(p)) if p != 1 else apart, others)
    return reduced(mean(loss, 1), reduction)


@MARGINS
@parameters_of(binary_cross_entropy)
def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None, reduction: str, *given: Any
) -> Tensor:
    """The average over classes of the cross entropy of whether each one is there.

    Args:
        input: logits, [N, classes].
        label: 0 or 1, in the same shape.
        weight: of the classes.

    >>> x, y = fluid.to_tensor([[0.0, 0.0]]), fluid.to_tensor([[1.0, 0.0]])
    >>> round(fluid.nn.functional.multi_label_soft_margin_loss(x, y).item(), 4)
    0.6931
    """
    loss = binary_cross_entropy_with_logits(input, label, reduction="none")
    loss = loss if weight is None else multiply(loss, weight)
    return reduced(mean(loss, -1), reduction)
