"""Functions of random numbers: how they change numbers, densities and shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.creation import full_like
from ...functions.reduction import sum as total
from ...functions.shaping import reshape, stack
from ...functions.views import unbind
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import variable
from .independent import summed
from .single_transforms import AbsTransform as AbsTransform
from .single_transforms import AffineTransform as AffineTransform
from .single_transforms import ExpTransform as ExpTransform
from .single_transforms import PowerTransform as PowerTransform
from .single_transforms import SigmoidTransform as SigmoidTransform
from .single_transforms import SoftmaxTransform as SoftmaxTransform
from .single_transforms import StickBreakingTransform as StickBreakingTransform
from .single_transforms import TanhTransform as TanhTransform
from .transforming import Transform as Transform
from .transforming import Type as Type
from .transforming import applied, need_transforms

if TYPE_CHECKING:
    pass

__all__ = [
    "AbsTransform", "AffineTransform", "ChainTransform", "ExpTransform", "IndependentTransform",
    "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
]  # fmt: skip


class ReshapeTransform(Transform):
    """Each draw in another shape.

    Args:
        in_event_shape: the shape of a draw.
        out_event_shape: the shape that it gets.

    Raises:
        ArgumentError: they are no shapes, or of unequal numbers of elements.
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        for what, sizes in zip(("in", "out"), (in_event_shape, out_event_shape)):
            if not isinstance(sizes, Sequence):
                raise ArgumentError(
                    f"ReshapeTransform: expected {what}_event_shape to be a tuple of sizes, got "
                    f"{sizes!r:.60}"
                )
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ArgumentError(
                f"ReshapeTransform: expected shapes of equal numbers of elements, got "
                f"{tuple(in_event_shape)} and {tuple(out_event_shape)}"
            )
        self._in_event_shape = tuple(in_event_shape)
        self._out_event_shape = tuple(out_event_shape)

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of a draw."""
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape that it gets."""
        return self._out_event_shape

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x: Any) -> Any:
        return reshape(x, list(self._forward_shape(tuple(x.shape))))

    def _inverse(self, y: Any) -> Any:
        return reshape(y, list(self._inverse_shape(tuple(y.shape))))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return total(x * 0.0, list(range(-len(self._in_event_shape), 0)))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return _exchanged(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return _exchanged(shape, self._out_event_shape, self._in_event_shape)


def _exchanged(
    shape: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, ...]:
    """A shape with other last sizes."""
    kept = len(shape) - len(old)
    if kept < 0 or shape[kept:] != old:
        raise ArgumentError(f"ReshapeTransform: expected a shape that ends with {old}, got {shape}")
    return (*shape[:kept], *new)


class IndependentTransform(Transform):
    """A transform whose last dimensions are taken for one draw: volumes are those of all of them.

    Args:
        base: a transform.
        reinterpreted_batch_rank: how many dimensions, from 1.

    Raises:
        ArgumentError: ``base`` is no transform, or the number is below 1.
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise ArgumentError(
                f"IndependentTransform: expected base to be a transform, got {type(base).__name__}"
            )
        if reinterpreted_batch_rank <= 0:
            raise ArgumentError(
                f"IndependentTransform: expected reinterpreted_batch_rank from 1, got "
                f"{reinterpreted_batch_rank}"
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank

    def _is_injective(self) -> bool:
        return self._base._is_injective()

    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return summed(self._base.forward_log_det_jacobian(x), self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._base.inverse_shape(shape)


class StackTransform(Transform):
    """A transform for each place along a dimension.

    Args:
        transforms: one for each place.
        axis: the dimension.

    Raises:
        ArgumentError: they are no transforms, none, or ``axis`` is no whole number.
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        self._transforms = need_transforms("StackTransform", transforms)
        if not self._transforms:
            raise ArgumentError("StackTransform: expected one transform or more, got none")
        if not isinstance(axis, int):
            raise ArgumentError(f"StackTransform: expected axis to be an integer, got {axis!r:.60}")
        self._axis = axis

    def _is_injective(self) -> bool:
        return all(each._is_injective() for each in self._transforms)

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms of the places."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The dimension."""
        return self._axis

    @property
    def _domain(self) -> variable.Variable:
        return variable.Stack([each._domain for each in self._transforms], self._axis)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Stack([each._codomain for each in self._transforms], self._axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)

    def _each(self, method: str, value: Any) -> Any:
        ndim, axis = value.array.ndim, self._axis
        if not -ndim <= axis < ndim or value.array.shape[axis] != len(self._transforms):
            raise ArgumentError(
                f"StackTransform: expected size {len(self._transforms)} in dimension {axis}, got "
                f"shape {list(value.array.shape)}"
            )
        parts: list[Any] = unbind(value, axis)
        return stack(
            [getattr(each, method)(part) for each, part in zip(self._transforms, parts)], axis
        )


class ChainTransform(Transform):
    """Transforms one after the other.

    Args:
        transforms: the first one comes first.

    Raises:
        ArgumentError: they are no transforms.

    >>> D = fluid.paddle.distribution
    >>> chain = D.ChainTransform([D.ExpTransform(), D.TanhTransform()])
    >>> chain.inverse(chain.forward(fluid.to_tensor([0.5]))).numpy().round(4).tolist()
    [0.5]
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms: Sequence[Transform] = need_transforms("ChainTransform", transforms)

    def _is_injective(self) -> bool:
        return all(each._is_injective() for each in self.transforms)

    def _forward(self, x: Any) -> Any:
        for each in self.transforms:
            x = each.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in reversed(self.transforms):
            y = each.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        value: Any = 0.0 if self.transforms else full_like(x, 0)
        rank = self._domain.event_rank
        for transform in self.transforms:
            inner = transform._domain.event_rank
            value = value + summed(transform.forward_log_det_jacobian(x), rank - inner)
            rank += transform._codomain.event_rank - inner
            x = transform.forward(x)
        return value

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        for each in self.transforms:
            shape = each.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        for each in reversed(self.transforms):
            shape = each.inverse_shape(shape)
        return shape

    @property
    def _domain(self) -> variable.Variable:
        return self._end("_domain", "_codomain", list(self.transforms))

    @property
    def _codomain(self) -> variable.Variable:
        return self._end("_codomain", "_domain", list(self.transforms)[::-1])

    def _end(self, near: str, far: str, transforms: list[Any]) -> variable.Variable:
        """The numbers at one end, with as many dimensions as the transform with the most needs."""
        if not transforms:
            return variable.real
        rank = getattr(transforms[-1], far).event_rank
        for each in reversed(transforms):
            rank += getattr(each, near).event_rank - getattr(each, far).event_rank
            rank = max(rank, getattr(each, near).event_rank)
        base = getattr(transforms[0], near)
        return variable.Independent(base, rank - base.event_rank)


@applied.register(Transform)
def _after(given: Transform, transform: Transform) -> Any:
    return ChainTransform([transform, given])


list_public_names(globals())
api_boundaries(globals())
