"""Several distributions as one, whose draws are those of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.reduction import sum as total
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .distribution import METHODS, Distribution

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Independent(Distribution):
    """A distribution whose last dimensions of distributions are taken for dimensions of draws.

    Args:
        base: a distribution.
        reinterpreted_batch_rank: how many dimensions.

    Raises:
        ArgumentError: ``base`` is no distribution, or has fewer dimensions.

    >>> D = fluid.paddle.distribution
    >>> several = D.Independent(D.Uniform([0.0, 0.0], [1.0, 2.0]), 1)
    >>> several.batch_shape, several.event_shape, several.prob([0.5, 0.5]).item()
    ((), (2,), 0.5)
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise ArgumentError(
                f"Independent: expected base to be a distribution, got {type(base).__name__}"
            )
        sizes, rank = tuple(base.batch_shape), reinterpreted_batch_rank
        if not 0 < rank <= len(sizes):
            raise ArgumentError(
                f"Independent: expected reinterpreted_batch_rank from 1 to {len(sizes)}, got {rank}"
            )
        self._base, self._reinterpreted_batch_rank = base, rank
        kept = len(sizes) - rank
        super().__init__(sizes[:kept], sizes[kept:] + tuple(base.event_shape))

    mean: Alias[Tensor] = Alias("_base.mean", "The expectation.")
    variance: Alias[Tensor] = Alias("_base.variance", "The variances.")

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return self._base.sample(shape)

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the parameters."""
        return self._base.rsample(shape)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        return summed(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return summed(self._base.entropy(), self._reinterpreted_batch_rank)


def summed(value: Any, ndim: int) -> Any:
    """The sum over the last dimensions.

    Args:
        value: a tensor.
        ndim: how many.
    """
    return total(value, list(range(-ndim, 0))) if ndim else value


list_public_names(globals())
api_boundaries(globals())
