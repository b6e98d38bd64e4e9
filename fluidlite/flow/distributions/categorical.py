"""Numbers with probabilities of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.elementary import exp, log
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ..functions import logsumexp
from ..sampling import multinomial
from .distribution import Distribution

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The numbers from 0 on, each with a probability of its own.

    Args:
        probs: the probabilities, along the last dimension, which are divided by their sum; or
        logits: their logarithms.
        validate_args: accepted: arguments are checked.

    Raises:
        ArgumentError: neither or both are given, or a number.

    >>> coin = fluid.flow.distributions.Categorical(fluid.flow.tensor([0.0, 2.0]))
    >>> coin.probs.tolist(), coin.sample().item()
    ([0.0, 1.0], 1)
    """

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if (probs is None) == (logits is None):
            raise located(ArgumentError, "expected either probs or logits")
        weights = logits if probs is None else probs
        if weights is None or not weights.array.shape:
            raise located(ArgumentError, "expected one dimension or more, got a number")
        if probs is None:
            self.logits: Tensor = weights - logsumexp(weights, -1, keepdim=True)
            self.probs: Tensor = exp(self.logits)
        else:
            self.probs = weights / weights.sum(-1, keepdim=True)
            self.logits = log(self.probs)
        super().__init__(weights.array.shape[:-1], (), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Numbers that are drawn as often as their probabilities say.

        Args:
            sample_shape: how many for each distribution; one when empty.
        """
        rows = self.probs.reshape(-1, self.probs.shape[-1])
        drawn = multinomial(rows, math.prod(sample_shape), True)
        return drawn.t().reshape(*sample_shape, *self.batch_shape)


list_public_names(globals())
api_boundaries(globals())
