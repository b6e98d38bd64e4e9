"""Numbers from 0 on, each with a probability of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.counting import multinomial
from ...functions.elementary import cast, exp, log
from ...functions.reduction import logsumexp
from ...functions.reduction import sum as total
from ...functions.selection import gather, take_along_axis
from ...functions.shaping import reshape
from ...functions.views import transpose
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.functional import softmax
from ...opdef.operand import Operand
from ..creation import to_tensor
from .distribution import (
    METHODS,
    Distribution,
    need_same,
    parameters_in,
    sizes_in,
    without_gradient,
)

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Categorical(Distribution):
    """The numbers from 0 on, each with a probability of its own.

    ``logits`` are the logarithms of weights to draws, the entropy and the divergence, and weights
    themselves to probabilities, as in paddle 2.6.

    Args:
        logits: numbers, along the last dimension.
        name: kept.

    Raises:
        ArgumentError: it has no dimension.

    >>> dice = fluid.paddle.distribution.Categorical([1.0, 3.0])
    >>> dice.probs([0, 1]).tolist()
    [0.25, 0.75]
    """

    def __init__(self, logits: ArrayLike, name: str | None = None) -> None:
        (self.logits,) = parameters_in(logits)
        if not self.logits.array.ndim:
            raise ArgumentError("Categorical: expected logits of one dimension or more")
        self.name = "Categorical" if name is None else name
        self._prob: Tensor = self.logits / total(self.logits, -1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    @METHODS
    def sample(self, shape: Sequence[int]) -> Tensor:  # type: ignore[override]
        """Random draws, int64."""
        return without_gradient(self._places, shape)

    def _places(self, shape: Sequence[int]) -> Tensor:
        front = sizes_in(shape)
        rows = softmax(self.logits, -1)
        if rows.array.ndim > 2:
            rows = reshape(rows, [-1, rows.shape[-1]])
        drawn = multinomial(rows, math.prod(front), True)
        if rows.array.ndim > 1:
            drawn = transpose(drawn, [1, 0])
        return reshape(drawn, [*front, *self.batch_shape])

    @METHODS
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from another one, in nats, with a last dimension
        of size 1.
        """
        second = need_same(self, other)
        mine, theirs = _log_shares(self.logits), _log_shares(second.logits)
        return total(exp(mine) * (mine - theirs), -1, keepdim=True)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        shares = _log_shares(self.logits)
        return -total(exp(shares) * shares, -1)

    @METHODS
    def probs(self, value: ArrayLike) -> Tensor:
        """The probability of a number.

        Args:
            value: whole numbers below the size of the last dimension; one row for all
                distributions, or as many rows as there are distributions.
        """
        places: Any = value if isinstance(value, Operand) else to_tensor(value)
        if places.array.dtype.kind not in "iu":
            raise ArgumentError(
                f"Categorical: expected value as whole numbers, got {places.array.dtype}"
            )
        places = cast(places, "int64")
        if self.logits.array.ndim == 1:
            return reshape(gather(self._prob, reshape(places, [-1])), places.shape)
        if places.array.ndim == 1:
            places = reshape(places, [1] * (self.logits.array.ndim - 1) + [-1])
        return take_along_axis(self._prob, places, -1)

    @METHODS
    def prob(self, value: ArrayLike) -> Tensor:
        """The same as :meth:`probs`."""
        return self.probs(value)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of :meth:`probs`."""
        return log(self.probs(value))


def _log_shares(logits: Any) -> Any:
    return logits - logsumexp(logits, -1, keepdim=True)


list_public_names(globals())
api_boundaries(globals())
