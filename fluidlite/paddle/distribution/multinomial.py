"""How often each of several things happens in some trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...functions.arithmetic import cast_to
from ...functions.creation import full_like
from ...functions.elementary import cast, clip, exp, log, log1p
from ...functions.reduction import sum as total
from ...functions.selection import where
from ...functions.shaping import broadcast_tensors, reshape
from ...functions.special import lgamma
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.functional import one_hot
from ..creation import arange
from .categorical import Categorical
from .distribution import (
    METHODS,
    Distribution,
    parameters_in,
    sizes_in,
    tensor_of,
    without_gradient,
)

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Multinomial(Distribution):
    """How often each of several things happens in some trials.

    Args:
        total_count: how many trials there are.
        probs: how likely each thing is, along the last dimension; divided by their sum.

    Raises:
        ArgumentError: ``total_count`` is no whole number from 1, or ``probs`` has no dimension.

    >>> dice = fluid.paddle.distribution.Multinomial(4, [1.0, 3.0])
    >>> dice.mean.tolist()
    [1.0, 3.0]
    """

    probs: Any

    def __init__(self, total_count: int, probs: ArrayLike) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ArgumentError(
                f"Multinomial: expected total_count as a whole number from 1, got {total_count!r}"
            )
        (weights,) = parameters_in(probs)
        if not weights.array.ndim:
            raise ArgumentError(
                "Multinomial: expected probs of one dimension or more, got a number"
            )
        self.total_count = total_count
        self.probs = weights / total(weights, -1, keepdim=True)
        self._categorical = Categorical(log(self.probs))
        sizes = tuple(weights.shape)
        super().__init__(sizes[:-1], sizes[-1:])

    @property
    def mean(self) -> Tensor:
        """The expected counts."""
        return self.probs * float(self.total_count)

    @property
    def variance(self) -> Tensor:
        """The variances of the counts."""
        return self.mean * (1.0 - self.probs)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the probability of counts that add up to ``total_count``."""
        counts = cast_to(tensor_of(value, self.probs), self.probs.array.dtype)
        logs, counts = broadcast_tensors([log(self.probs), counts])
        impossible = (counts == 0.0).logical_and(logs == -math.inf)
        powers = total(where(impossible, full_like(counts, 0), logs) * counts, -1)
        return lgamma(total(counts, -1) + 1.0) - total(lgamma(counts + 1.0), -1) + powers

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return without_gradient(self._counts, shape)

    def _counts(self, shape: Sequence[int]) -> Tensor:
        drawn = self._categorical.sample([self.total_count, *sizes_in(shape)])
        kinds = one_hot(drawn, self.probs.shape[-1])
        return cast_to(total(kinds, 0), self.probs.array.dtype)

    def entropy(self) -> Tensor:
        """The entropy, in nats: a sum over all counts of each thing alone."""
        n = float(self.total_count)
        kind = np.finfo(self.probs.array.dtype)
        # the logarithms of 0 are none: what they are multiplied by is 0
        inner = clip(self.probs, float(kind.tiny), 1.0 - float(kind.eps))
        known = self.probs * log(inner)
        count = cast(arange(1, self.total_count + 1), self.probs.dtype)
        count = reshape(count, [-1] + [1] * self.probs.array.ndim)
        chance = exp(_log_binomial(n, count, inner))
        spread = total(chance * lgamma(count + 1.0), [0, -1])
        return -n * total(known, -1) - math.lgamma(n + 1.0) + spread


def _log_binomial(n: float, count: Any, probs: Any) -> Any:
    """The logarithm of the probability that something happens so often in n trials."""
    ways = math.lgamma(n + 1.0) - lgamma(count + 1.0) - lgamma(n - count + 1.0)
    return ways + count * log(probs) + (n - count) * log1p(-probs)


list_public_names(globals())
api_boundaries(globals())
