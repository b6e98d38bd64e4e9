"""What becomes of a distribution when its draws are changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .distribution import METHODS, Distribution, tensor_of
from .independent import Independent, summed
from .transform import ChainTransform
from .transforming import Transform, applied

if TYPE_CHECKING:
    from ...eager.tensor import Tensor
    from ...functions.arguments import ArrayLike


class TransformedDistribution(Distribution):
    """The distribution of what transforms make of the draws of another one.

    Args:
        base: a distribution.
        transforms: the first one comes first.

    Raises:
        ArgumentError: they are no distribution and no list of transforms, or draws of the
            distribution have too few dimensions.

    >>> D = fluid.paddle.distribution
    >>> moved = D.AffineTransform(fluid.to_tensor(1.0), fluid.to_tensor(2.0))
    >>> D.TransformedDistribution(D.Uniform(0.0, 1.0), [moved]).prob(2.0).item()
    0.5
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise ArgumentError(
                f"TransformedDistribution: expected base to be a distribution, got "
                f"{type(base).__name__}"
            )
        chain = ChainTransform(transforms)
        rank, sizes = chain._domain.event_rank, (*base.batch_shape, *base.event_shape)
        if len(sizes) < rank:
            raise ArgumentError(
                f"TransformedDistribution: expected a distribution with {rank} dimensions or more, "
                f"got shape {sizes}"
            )
        shape = chain.forward_shape(sizes)
        # the draws have the dimensions that the transforms take
        lacking = rank - len(base.event_shape)
        self._base = base
        self._inner = Independent(base, lacking) if lacking > 0 else base
        self._transforms = list(chain.transforms)
        last = len(base.event_shape) + max(lacking, 0) + chain._codomain.event_rank - rank
        super().__init__(shape[: len(shape) - last], shape[len(shape) - last :])

    @METHODS
    def sample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws."""
        return self._changed(self._base.sample(shape))

    @METHODS
    def rsample(self, shape: Sequence[int] = ()) -> Tensor:
        """Random draws, through which gradients flow to the parameters."""
        return self._changed(self._base.rsample(shape))

    def _changed(self, drawn: Any) -> Tensor:
        for each in self._transforms:
            drawn = each.forward(drawn)
        return drawn

    @METHODS
    def log_prob(self, value: ArrayLike) -> Tensor:
        """The logarithm of the density."""
        out: Any = 0.0
        y: Any = tensor_of(value)
        rank = len(self.event_shape)
        for transform in reversed(self._transforms):
            x = transform.inverse(y)
            rank += transform._domain.event_rank - transform._codomain.event_rank
            change = transform.forward_log_det_jacobian(x)
            out = out - summed(change, rank - transform._domain.event_rank)
            y = x
        return out + summed(self._inner.log_prob(y), rank - len(self._inner.event_shape))


@applied.register(Distribution)
def _changed_by(given: Distribution, transform: Transform) -> TransformedDistribution:
    return TransformedDistribution(given, [transform])


list_public_names(globals())
api_boundaries(globals())
