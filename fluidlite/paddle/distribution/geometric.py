"""How many trials fail before one succeeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ArgumentError
from ...functions.creation import full_like
from ...functions.elementary import floor, log, log1p, sqrt
from ...functions.selection import where
from ...functions.shaping import broadcast_tensors
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import noise
from .distribution import (
    METHODS,
    Distribution,
    known_elements,
    need_same,
    parameters_in,
    tensor_of,
    without_gradient,
)

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Geometric(Distribution):
    """How many trials fail before one succeeds.

    Args:
        probs: how likely a trial succeeds.

    Raises:
        ArgumentError: a probability of a tensor is not above 0, or above 1.

    >>> geometric = fluid.paddle.distribution.Geometric(0.5)
    >>> geometric.pmf(2).item(), geometric.cdf(4).item()
    (0.125, 0.96875)
    """

    probs: Any

    def __init__(self, probs: ArrayLike) -> None:
        (self.probs,) = parameters_in(probs)
        array = known_elements(self.probs)
        if not ((array > 0) & (array <= 1)).all():
            raise ArgumentError(
                f"Geometric: expected probs above 0, up to 1, got {array.tolist()!r:.60}"
            )
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Tensor:
        """The expectation: ``1 / probs - 1``."""
        return 1.0 / self.probs - 1.0

    @property
    def variance(self) -> Tensor:
        """``(1 - probs) / probs ** 2``."""
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return sqrt(self.variance)

    def pmf(self, k: ArrayLike) -> Tensor:
        """The probability of a count.

        Args:
            k: whole numbers from 0.
        """
        return (1.0 - self.probs) ** self._count(k) * self.probs

    def log_pmf(self, k: ArrayLike) -> Tensor:
        """The logarithm of :meth:`pmf`.

        Args:
            k: whole numbers from 0.
        """
        count, fails = broadcast_tensors([self._count(k), log1p(-self.probs)])
        # no failure is certain where each trial succeeds, though the logarithm of 0 is none
        return where(count == 0.0, full_like(count, 0), count * fails) + log(self.probs)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The same as :meth:`log_pmf`."""
        return self.log_pmf(value)

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return without_gradient(self.rsample, shape)

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws; the gradients are zero, as the draws are whole numbers."""
        least = float(np.finfo(self.probs.array.dtype).tiny)
        drawn = noise.uniform(shape, self.probs, low=least)
        return floor(log(drawn) / log1p(-self.probs))

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        fails = 1.0 - self.probs
        return -(fails * log(fails) + self.probs * log(self.probs)) / self.probs

    def cdf(self, k: ArrayLike) -> Tensor:
        """How likely a draw is not above a count.

        Args:
            k: whole numbers from 0.
        """
        return 1.0 - (1.0 - self.probs) ** (self._count(k) + 1.0)

    def _count(self, k: ArrayLike) -> Tensor:
        return tensor_of(k, self.probs)

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats."""
        second = need_same(self, other)
        fails = 1.0 - self.probs
        return log(self.probs / second.probs) + fails / self.probs * log(
            fails / (1.0 - second.probs)
        )


list_public_names(globals())
api_boundaries(globals())
