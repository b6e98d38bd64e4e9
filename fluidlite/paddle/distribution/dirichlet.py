"""Shares that add up to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...eager.recording import eager
from ...errors import ArgumentError
from ...functions.arithmetic import subtract
from ...functions.elementary import log
from ...functions.reduction import sum as total
from ...functions.shaping import expand
from ...functions.special import digamma, lgamma
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .distribution import METHODS, parameters_in, sizes_in, tensor_of, without_gradient
from .exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class Dirichlet(ExponentialFamily):
    """Shares that add up to 1, along the last dimension.

    Args:
        concentration: numbers above 0, [..., n]: how near to the mean shares are.

    Raises:
        ArgumentError: it has no dimension.

    >>> dirichlet = fluid.paddle.distribution.Dirichlet([1.0, 3.0])
    >>> dirichlet.mean.tolist()
    [0.25, 0.75]
    """

    def __init__(self, concentration: ArrayLike) -> None:
        (self.concentration,) = parameters_in(concentration)
        if not self.concentration.array.ndim:
            raise ArgumentError(
                "Dirichlet: expected concentration of one dimension or more, got a number"
            )
        sizes = tuple(self.concentration.shape)
        super().__init__(sizes[:-1], sizes[-1:])

    @property
    def mean(self) -> Tensor:
        """The expected shares."""
        return self.concentration / total(self.concentration, -1, keepdim=True)

    @property
    def variance(self) -> Tensor:
        """The variances of the shares."""
        whole = total(self.concentration, -1, keepdim=True)
        mean = self.concentration / whole
        return mean * (1.0 - mean) / (whole + 1.0)

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        spread = expand(self.concentration, [*sizes_in(shape), *self.concentration.shape])
        return without_gradient(eager.dirichlet, spread)

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        given = tensor_of(value, self.concentration)
        powers = total(log(given) * (self.concentration - 1.0), -1)
        return powers - self._log_normalizer(self.concentration)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        a = self.concentration
        whole = total(a, -1)
        lacking = (whole - float(self.event_shape[-1])) * digamma(whole)
        return self._log_normalizer(a) + lacking - total((a - 1.0) * digamma(a), -1)

    @property
    def _natural_parameters(self) -> Any:
        return (self.concentration,)

    def _log_normalizer(self, *natural_parameters: Any) -> Any:
        (x,) = natural_parameters
        return subtract(total(lgamma(x), -1), lgamma(total(x, -1)))


list_public_names(globals())
api_boundaries(globals())
