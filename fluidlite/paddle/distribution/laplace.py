"""Numbers around a mean whose distances from it are exponentially distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...functions.elementary import abs as absolute
from ...functions.elementary import exp, expm1, log, log1p, sign
from ...ground.aliases import Alias
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


class Laplace(Distribution):
    """Numbers whose distances from the mean are exponentially distributed.

    Args:
        loc: the means.
        scale: the mean distances.

    >>> laplace = fluid.paddle.distribution.Laplace(0.0, 1.0)
    >>> laplace.cdf([0.0]).tolist(), laplace.icdf([0.5]).tolist()
    ([0.5], [0.0])
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        self.loc, self.scale = parameters_in(loc, scale)
        super().__init__(self.loc.shape)

    mean: Alias[Tensor] = Alias("loc", "The means.")

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return self.scale * math.sqrt(2.0)

    @property
    def variance(self) -> Tensor:
        """The squares of the standard deviations."""
        return self.scale * self.scale * 2.0

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        return -log(self.scale * 2.0) - absolute(self._away(value))

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return 1.0 + log(self.scale * 2.0)

    @METHODS
    def cdf(self, value: ArrayLike) -> Tensor:
        """How likely a draw is below a value."""
        away = self._away(value)
        return 0.5 - 0.5 * sign(away) * expm1(-absolute(away))

    @METHODS
    def icdf(self, value: ArrayLike) -> Tensor:
        """The number that a draw is below with a probability: the inverse of :meth:`cdf`.

        Args:
            value: probabilities.
        """
        beside = tensor_of(value, self.loc) - 0.5
        return self.loc - self.scale * sign(beside) * log1p(absolute(beside) * -2.0)

    def _away(self, value: ArrayLike) -> Tensor:
        return (tensor_of(value, self.loc) - self.loc) / self.scale

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return without_gradient(self.rsample, shape)

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the parameters."""
        # the logarithm of 0 is none
        reach = 1.0 - float(np.finfo(self.loc.array.dtype).eps) / 2.0
        drawn = noise.uniform(shape, self.loc, low=-reach, high=reach)
        return self.loc - self.scale * sign(drawn) * log1p(-absolute(drawn))

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats."""
        second = need_same(self, other)
        ratio = self.scale / second.scale
        away = absolute(self.loc - second.loc)
        return away / second.scale + ratio * exp(-away / self.scale) - log(ratio) - 1.0


list_public_names(globals())
api_boundaries(globals())
