"""Numbers around a mean: the distribution of Gauss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...functions.elementary import exp, log
from ...functions.shaping import broadcast_tensors
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import noise
from .distribution import METHODS, Distribution, need_same, parameters_in, stretched, tensor_of

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Normal(Distribution):
    """Normally distributed numbers.

    Args:
        loc: the means.
        scale: the standard deviations.
        name: kept.

    >>> normal = fluid.paddle.distribution.Normal([0.0], [1.0])
    >>> round(normal.entropy().item(), 4)
    1.4189
    """

    def __init__(self, loc: ArrayLike, scale: ArrayLike, name: str | None = None) -> None:
        self.loc, self.scale = parameters_in(loc, scale, spread=False)
        self.name = "Normal" if name is None else name
        super().__init__(stretched(self.loc, self.scale))

    mean: Alias[Tensor] = Alias("loc", "The means.")

    @property
    def variance(self) -> Tensor:
        """The squares of the deviations."""
        return self.scale * self.scale

    @METHODS
    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """Random draws.

        Args:
            seed: fixes them; 0 for none.
        """
        return noise.normal(shape, self.loc, self.scale, seed=seed) * self.scale + self.loc

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the parameters."""
        return self.sample(shape)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        _, scale = broadcast_tensors([self.loc, self.scale])
        return 0.5 + 0.5 * math.log(2 * math.pi) + log(scale)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        away = (tensor_of(value, self.loc).astype(self.loc.dtype) - self.loc) / self.scale
        return away * away * -0.5 - log(self.scale) - 0.5 * math.log(2 * math.pi)

    @METHODS
    def probs(self, value: ArrayLike) -> Tensor:
        """The density."""
        away = (tensor_of(value, self.loc).astype(self.loc.dtype) - self.loc) / self.scale
        return exp(away * away * -0.5) / (self.scale * math.sqrt(2 * math.pi))

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats."""
        second = need_same(self, other)
        ratio, away = self.scale / second.scale, (self.loc - second.loc) / second.scale
        square = ratio * ratio
        return 0.5 * (square + away * away - 1.0 - log(square))


list_public_names(globals())
api_boundaries(globals())
