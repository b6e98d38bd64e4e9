"""Numbers whose logarithms are normally distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...functions.elementary import exp, expm1
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .distribution import METHODS, Distribution, need_same
from .normal import Normal
from .transform import ExpTransform
from .transformed_distribution import TransformedDistribution

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normally distributed.

    Args:
        loc: the means of the logarithms.
        scale: the standard deviations of the logarithms.

    >>> numbers = fluid.paddle.distribution.LogNormal([0.0], [1.0])
    >>> round(numbers.mean.item(), 4)
    1.6487
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike) -> None:
        self._normal = Normal(loc, scale)
        self.loc, self.scale = self._normal.loc, self._normal.scale
        super().__init__(self._normal, [ExpTransform()])

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        return exp(self._normal.mean + self._normal.variance / 2.0)

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        square = self._normal.variance
        return expm1(square) * exp(2.0 * self._normal.mean + square)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self._normal.entropy() + self._normal.mean

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats."""
        second = need_same(self, other)
        return self._normal.kl_divergence(second._normal)


list_public_names(globals())
api_boundaries(globals())
