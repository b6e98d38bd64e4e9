"""Numbers that are equally likely everywhere between two bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...functions.arithmetic import less_than
from ...functions.elementary import log
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import noise
from .distribution import METHODS, Distribution, parameters_in, stretched, tensor_of

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Uniform(Distribution):
    """Numbers that are equally likely everywhere between two bounds.

    Args:
        low, high: the bounds.
        name: kept.

    >>> uniform = fluid.paddle.distribution.Uniform(0.0, 2.0)
    >>> uniform.probs([1.0, 3.0]).tolist()
    [0.5, 0.0]
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, name: str | None = None) -> None:
        self.low, self.high = parameters_in(low, high, spread=False)
        self.name = "Uniform" if name is None else name
        super().__init__(stretched(self.low, self.high))

    @property
    def mean(self) -> Tensor:
        """The middles."""
        return (self.low + self.high) / 2.0

    @property
    def variance(self) -> Tensor:
        """A twelfth of the squares of the widths."""
        width = self.high - self.low
        return width * width / 12.0

    @METHODS
    def sample(self, shape: Sequence[int] = (), seed: int = 0) -> Tensor:
        """Random draws.

        Args:
            seed: fixes them; 0 for none.
        """
        drawn = noise.uniform(shape, self.low, self.high, seed=seed)
        return drawn * (self.high - self.low) + self.low

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the bounds."""
        return self.sample(shape)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density: minus infinity outside of the bounds."""
        return log(self._inside(value)) - log(self.high - self.low)

    @METHODS
    def probs(self, value: ArrayLike) -> Tensor:
        """The density."""
        return self._inside(value) / (self.high - self.low)

    def _inside(self, value: ArrayLike) -> Tensor:
        kind = self.low.dtype
        given = tensor_of(value, self.low).astype(kind)
        above, below = less_than(self.low, given), less_than(given, self.high)
        return above.astype(kind) * below.astype(kind)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return log(self.high - self.low)


list_public_names(globals())
api_boundaries(globals())
