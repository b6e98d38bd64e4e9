"""Shares: numbers between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functions.shaping import stack
from ...functions.special import lgamma
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .dirichlet import Dirichlet
from .distribution import METHODS, parameters_in, tensor_of
from .exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Beta(ExponentialFamily):
    """Numbers between 0 and 1, with the density ``x ** (alpha - 1) * (1 - x) ** (beta - 1)``, up to
    a factor.

    Args:
        alpha, beta: numbers above 0.

    >>> beta = fluid.paddle.distribution.Beta(1.0, 3.0)
    >>> beta.mean.item(), round(beta.variance.item(), 4)
    (0.25, 0.0375)
    """

    def __init__(self, alpha: ArrayLike, beta: ArrayLike) -> None:
        self.alpha, self.beta = parameters_in(alpha, beta)
        self._dirichlet = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(self.alpha.shape)

    @property
    def mean(self) -> Tensor:
        """The expectation: ``alpha / (alpha + beta)``."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        whole = self.alpha + self.beta
        return self.alpha * self.beta / (whole * whole * (whole + 1.0))

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        given = tensor_of(value, self.alpha)
        return self._dirichlet.log_prob(stack([given, 1.0 - given], -1))

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return self._dirichlet.sample(shape)[..., 0]

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self._dirichlet.entropy()

    @property
    def _natural_parameters(self) -> Any:
        return self.alpha, self.beta

    def _log_normalizer(self, *natural_parameters: Any) -> Any:
        x, y = natural_parameters
        return lgamma(x) + lgamma(y) - lgamma(x + y)


list_public_names(globals())
api_boundaries(globals())
