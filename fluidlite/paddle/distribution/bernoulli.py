"""Ones and zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...errors import ArgumentError
from ...functions.creation import full_like
from ...functions.elementary import clip, log, log1p
from ...functions.selection import where
from ...functions.shaping import broadcast_tensors, expand
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.functional import sigmoid, softplus
from . import noise
from .distribution import (
    METHODS,
    Distribution,
    known_elements,
    need_same,
    parameters_in,
    sizes_in,
    tensor_of,
    without_gradient,
)
from .exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Bernoulli(ExponentialFamily):
    """Ones and zeros.

    Args:
        probs: how likely ones are.
        name: kept.

    Raises:
        ArgumentError: a probability of a tensor is below 0 or above 1.

    >>> coin = fluid.paddle.distribution.Bernoulli([0.5])
    >>> coin.prob([1.0]).tolist(), coin.variance.tolist()
    ([0.5], [0.25])
    """

    probs: Any

    def __init__(self, probs: ArrayLike, name: str | None = None) -> None:
        (chances,) = parameters_in(probs)
        array = known_elements(chances)
        if not ((array >= 0) & (array <= 1)).all():
            raise ArgumentError(
                f"Bernoulli: expected probs from 0 to 1, got {array.tolist()!r:.60}"
            )
        eps = float(np.finfo(chances.array.dtype).eps)
        self.probs = clip(chances, eps, 1 - eps)
        self.logits: Tensor = log(self.probs) - log1p(-self.probs)
        self.name = "Bernoulli" if name is None else name
        super().__init__(self.probs.shape)

    mean: Alias[Tensor] = Alias("probs", "The probabilities of ones.")

    @property
    def variance(self) -> Tensor:
        """``probs * (1 - probs)``."""
        return self.probs * (1.0 - self.probs)

    @METHODS
    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]
        """Random draws."""
        spread = expand(self.probs, [*sizes_in(shape), *self.batch_shape])
        return without_gradient(eager.bernoulli, spread)

    @METHODS
    def rsample(self, shape: Sequence[int], temperature: float = 1.0) -> Tensor:  # type: ignore[override]
        """Random numbers whose ``sigmoid`` is near to ones and zeros, and through which gradients
        flow to the probabilities (Maddison et al., The concrete distribution, 2017).

        Args:
            temperature: how far from ones and zeros they may be.
        """
        if not isinstance(temperature, (int, float)):
            raise ArgumentError(f"rsample: expected temperature as a number, got {temperature!r}")
        drawn = noise.uniform(shape, self.probs)
        return (log(drawn) - log1p(-drawn) + self.logits) / float(temperature)

    @METHODS
    def cdf(self, value: ArrayLike) -> Tensor:
        """How likely a draw is not above a value."""
        probs, given = broadcast_tensors([self.probs, self._value(value)])
        from_zero = where(given < 1.0, 1.0 - probs, full_like(probs, 1))
        return where(given < 0.0, full_like(probs, 0), from_zero)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the probability."""
        given = self._value(value)
        return given * self.logits - softplus(self.logits)

    def _value(self, value: ArrayLike) -> Tensor:
        return tensor_of(value, self.probs).astype(self.probs.dtype)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return softplus(self.logits) - self.probs * self.logits

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats."""
        second = need_same(self, other)
        mine, theirs = self.logits, second.logits
        return softplus(theirs) - softplus(mine) + sigmoid(mine) * (mine - theirs)


list_public_names(globals())
api_boundaries(globals())
