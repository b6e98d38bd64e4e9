"""The largest of many numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...functions.elementary import exp, log, sqrt
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import noise
from .distribution import METHODS, parameters_in, tensor_of, without_gradient
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Gumbel(TransformedDistribution):
    """How the largest of many numbers is distributed.

    Args:
        loc: the likeliest numbers.
        scale: how widely they are spread.

    >>> largest = fluid.paddle.distribution.Gumbel(0.0, 1.0)
    >>> round(largest.mean.item(), 4)
    0.5772
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        self.loc, self.scale = parameters_in(loc, scale)
        zeros = self.loc * 0.0
        super().__init__(Uniform(zeros, zeros + 1.0), [])

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return self.loc + self.scale * float(np.euler_gamma)

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        return self.scale * self.scale * (math.pi**2 / 6.0)

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return sqrt(self.variance)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        away = self._away(value)
        return -away - exp(-away) - log(self.scale)

    @METHODS
    def cdf(self, value: ArrayLike) -> Tensor:
        """How likely a draw is below a value."""
        return exp(-exp(-self._away(value)))

    def _away(self, value: ArrayLike) -> Tensor:
        return (tensor_of(value, self.loc) - self.loc) / self.scale

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return log(self.scale) + (1.0 + float(np.euler_gamma))

    @METHODS
    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]
        """Random draws."""
        return without_gradient(self.rsample, shape)

    @METHODS
    def rsample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]
        """Random draws, through which gradients flow to the parameters."""
        kind = np.finfo(self.loc.array.dtype)
        # between the smallest number and the largest one below 1, whose logarithms are finite
        drawn = noise.uniform(shape, self.loc)
        least, most = float(kind.tiny), 1.0 - float(kind.eps)
        return self.loc - self.scale * log(-log(drawn * (most - least) + least))


list_public_names(globals())
api_boundaries(globals())
