"""Losses that ask for a margin between what belongs together and what does not."""

from __future__ import annotations

from typing import Any

from ...docstrings import Family
from ...errors import ArgumentError
from ...imperative.arithmetic import add, equal, maximum, minimum, multiply, pow, subtract
from ...imperative.elementary import abs as size
from ...imperative.elementary import exp, log1p
from ...imperative.reduction import sum as total
from ...imperative.selection import where
from ...imperative.tensor import Tensor
from .loss import reduced
from .projection import cosine_similarity

MARGINS = Family(
    {
        "label": "1 or -1.",
        "margin": "how far apart is enough.",
        "reduction": "mean, sum or none.",
    },
    raises="ArgumentError: an option is out of range.",
)


def _hinge(x: Any) -> Any:
    return maximum(x, multiply(x, 0.0))


@MARGINS
def margin_ranking_loss(
    input: Tensor,
    other: Tensor,
    label: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The larger of ``margin - label (input - other)`` and 0.

    Args:
        input, other: what is compared.
        label: 1 where the first is to be larger, -1 where the second is.

    >>> a, b, one = fluid.to_tensor([1.0]), fluid.to_tensor([3.0]), fluid.to_tensor([1.0])
    >>> float(fluid.nn.functional.margin_ranking_loss(a, b, one))
    2.0
    """
    apart = multiply(label, subtract(other, input))
    return reduced(_hinge(add(apart, margin)), reduction)


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
    """
    far = _hinge(add(multiply(input, -1.0), margin))
    return reduced(where(equal(label, 1.0), input, far), reduction)


@MARGINS
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    label: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """``1 - cos`` of vectors where the label is 1, else the larger of ``cos - margin`` and 0.

    Args:
        input1, input2: [N, D] or [D].
        margin: from -1 to 1.
    """
    if not -1 <= margin <= 1:
        raise ArgumentError(f"expected margin in [-1, 1], got {margin!r}")
    cosine = cosine_similarity(input1, input2, axis=-1)
    near, far = add(multiply(cosine, -1.0), 1.0), _hinge(subtract(cosine, margin))
    return reduced(where(equal(label, 1.0), near, far), reduction)


@MARGINS
def soft_margin_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """``log(1 + exp(-label input))``.

    Args:
        input: of any shape.
    """
    x = multiply(multiply(label, input), -1.0)
    return reduced(add(_hinge(x), log1p(exp(multiply(size(x), -1.0)))), reduction)


@MARGINS
def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The larger of 0 and ``margin`` plus the distance to what belongs together less that to what
    does not.

    Args:
        input, positive, negative: vectors along the last dimension.
        p: of the norm.
        epsilon: is added to differences.
        swap: takes the distance of the other two where it is smaller.
    """

    def distance(a: Tensor, b: Tensor) -> Any:
        powers = pow(size(add(subtract(a, b), epsilon)), p)
        return pow(total(powers, axis=-1), 1.0 / p)

    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(_hinge(add(subtract(near, far), margin)), reduction)
