"""What transforms of random numbers have in common."""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import ArgumentError
from ...ground.docstrings import Family
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand
from . import variable

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

TRANSFORMS = Family(
    {
        "x": "numbers that the transform takes.",
        "y": "numbers that the transform gives.",
        "shape": "a shape.",
    },
    raises="ArgumentError: it is no tensor, or has too few dimensions.",
)


class Type(enum.Enum):
    """Which numbers a transform gives, and how often."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @property
    def is_injective(self) -> bool:
        """Whether no number comes of two."""
        return self in (Type.BIJECTION, Type.INJECTION)


class Transform(Described):
    """The base of transforms: a subclass has ``_forward``, ``_inverse``, and one of
    ``_forward_log_det_jacobian`` and ``_inverse_log_det_jacobian``.

    >>> D = fluid.paddle.distribution
    >>> doubled = D.AffineTransform(fluid.to_tensor(0.0), fluid.to_tensor(2.0))
    >>> doubled.forward(fluid.to_tensor([1.0])).tolist()
    [2.0]
    """

    _type: ClassVar[Type] = Type.INJECTION

    def __call__(self, input: Any) -> Any:
        """The numbers of numbers, the distribution of a distribution, or a chain of transforms.

        Args:
            input: numbers, a distribution, or a transform that comes before this one.
        """
        return applied(input, self)

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    def _is_injective(self) -> bool:
        return self._type.is_injective

    @TRANSFORMS
    def forward(self, x: Tensor) -> Tensor:
        """What becomes of numbers."""
        return self._forward(_numbers("forward", "x", x, self._domain.event_rank))

    @TRANSFORMS
    def inverse(self, y: Tensor) -> Any:
        """The numbers that become these; two of them where there are two."""
        return self._inverse(_numbers("inverse", "y", y, self._codomain.event_rank))

    @TRANSFORMS
    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """The logarithm of how much a small volume at x grows.

        Raises:
            NotImplementedError: several numbers become the same.
        """
        _numbers("forward_log_det_jacobian", "x", x, self._domain.event_rank)
        if not self._is_injective():
            raise NotImplementedError(
                f"forward_log_det_jacobian: expected a transform that gives no number twice, got "
                f"{type(self).__name__}"
            )
        return volume_change(self, x)

    @TRANSFORMS
    def inverse_log_det_jacobian(self, y: Tensor) -> Any:
        """The logarithm of how much a small volume at y grows on the way back."""
        _numbers("inverse_log_det_jacobian", "y", y, self._codomain.event_rank)
        own: Any = getattr(self, "_inverse_log_det_jacobian", None)
        return -volume_change(self, self._inverse(y)) if own is None else own(y)

    @TRANSFORMS
    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what becomes of numbers of a shape."""
        return tuple(self._forward_shape(_sizes("forward_shape", shape)))

    @TRANSFORMS
    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the numbers that become such of a shape."""
        return tuple(self._inverse_shape(_sizes("inverse_shape", shape)))

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs a method _forward(self, x)")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} needs a method _inverse(self, y)")

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return shape


@functools.singledispatch
def applied(given: Any, transform: Transform) -> Any:
    """What the call of a transform gives, by the class of what it is called with."""
    return transform.forward(given)


def volume_change(transform: Any, x: Any) -> Any:
    """The logarithm of how much a small volume at x grows, whatever a transform has for it."""
    if hasattr(transform, "_forward_log_det_jacobian"):
        return transform._forward_log_det_jacobian(x)
    if hasattr(transform, "_inverse_log_det_jacobian"):
        return -transform._inverse_log_det_jacobian(transform._forward(x))
    raise NotImplementedError(
        f"{type(transform).__name__} needs a method _forward_log_det_jacobian(self, x)"
    )


def _numbers(method: str, what: str, value: Any, ndim: int) -> Any:
    if not isinstance(value, Operand):
        raise ArgumentError(
            f"{method}: expected {what} to be a tensor, got {value!r:.60} of type "
            f"{type(value).__name__}"
        )
    if value.array.ndim < ndim:
        raise ArgumentError(
            f"{method}: expected {what} of {ndim} dimensions or more, got {value.array.ndim}"
        )
    return value


def _sizes(method: str, shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise ArgumentError(f"{method}: expected shape to be a tuple of sizes, got {shape!r:.60}")
    return tuple(shape)


def need_tensor(kind: str, what: str, value: Any) -> Any:
    if not isinstance(value, Operand):
        raise ArgumentError(f"{kind}: expected {what} to be a tensor, got {type(value).__name__}")
    return value


def need_transforms(kind: str, values: Any) -> Sequence[Any]:
    listed = isinstance(values, Sequence)
    if not listed or not all(isinstance(each, Transform) for each in values):
        raise ArgumentError(f"{kind}: expected a list of transforms, got {values!r:.60}")
    return list(values)


list_public_names(globals())
api_boundaries(globals())
