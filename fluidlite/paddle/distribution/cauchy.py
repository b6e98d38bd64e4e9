"""Quotients of normally distributed numbers: without a mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ArgumentError
from ...functions.elementary import atan, log, log1p, square, tan
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import noise
from .distribution import (
    METHODS,
    Distribution,
    need_same,
    parameters_in,
    tensor_of,
    without_gradient,
)

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Cauchy(Distribution):
    """Quotients of normally distributed numbers, stretched and moved.

    Args:
        loc: the numbers in the middle.
        scale: how far from it half of the draws are.
        name: kept.

    >>> cauchy = fluid.paddle.distribution.Cauchy(1.0, 2.0)
    >>> cauchy.cdf([1.0, 3.0]).tolist()
    [0.5, 0.75]
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike, name: str | None = None) -> None:
        self.loc, self.scale = parameters_in(loc, scale)
        self.name = "Cauchy" if name is None else name
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Tensor:
        """None: an error."""
        raise ArgumentError("Cauchy: expected a distribution with a mean, this one has none")

    @property
    def variance(self) -> Tensor:
        """None: an error."""
        raise ArgumentError("Cauchy: expected a distribution with a variance, this one has none")

    @property
    def stddev(self) -> Tensor:
        """None: an error."""
        raise ArgumentError("Cauchy: expected a distribution with a stddev, this one has none")

    @METHODS
    def sample(self, shape: Sequence[int], name: str | None = None) -> Tensor:  # type: ignore[override]
        """Random draws."""
        return without_gradient(self.rsample, shape)

    @METHODS
    def rsample(self, shape: Sequence[int], name: str | None = None) -> Tensor:  # type: ignore[override]
        """Random draws, through which gradients flow to the parameters."""
        angle = (noise.uniform(shape, self.loc) - 0.5) * math.pi
        return self.loc + self.scale * tan(angle)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        return -log1p(square(self._away(value))) - log(self.scale * math.pi)

    @METHODS
    def cdf(self, value: ArrayLike) -> Tensor:
        """How likely a draw is below a value."""
        return atan(self._away(value)) / math.pi + 0.5

    def _away(self, value: ArrayLike) -> Tensor:
        given = tensor_of(value, self.loc).astype(self.loc.dtype)
        return (given - self.loc) / self.scale

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return log(self.scale * (4.0 * math.pi))

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats (Chyzak and Nielsen, A
        closed-form formula for the Kullback-Leibler divergence between Cauchy distributions, 2019).
        """
        second = need_same(self, other)
        widths, away = self.scale + second.scale, self.loc - second.loc
        ways = square(widths) + square(away)
        return log(ways) - log(self.scale * 4.0) - log(second.scale)


list_public_names(globals())
api_boundaries(globals())
