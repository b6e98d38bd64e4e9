"""Constructors of tensors of one element type, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..functions import arithmetic
from ..ground.dtypes import DType
from . import devices, kinds
from .tensor import Tensor, filled

if TYPE_CHECKING:
    from .devices import DeviceLike


class TypedTensor:
    """What makes tensors of one element type; what it makes is a :class:`Tensor`."""

    dtype: ClassVar[DType]

    def __init_subclass__(cls, dtype: DType | None = None) -> None:
        cls.dtype = dtype or cls.dtype
        if cls.__doc__ is None and TypedTensor.__doc__ is not None:  # Python -OO drops docstrings
            example = f">>> fluid.flow.{cls.__name__}([1, 0]).dtype\n{cls.dtype!r}"
            cls.__doc__ = (
                f"Makes tensors of {repr(cls.dtype).removeprefix('oneflow.')}.\n\n{example}"
            )

    def __new__(cls, *data: Any, device: DeviceLike = None) -> Any:
        """A tensor of the element type.

        Args:
            data: sizes, or one list, array, number or tensor that it holds.
            device: the CPU, or None.

        >>> fluid.flow.IntTensor([1.5, 2]), fluid.flow.DoubleTensor(2, 3).dtype
        (tensor([1, 2], dtype=oneflow.int32), oneflow.float64)
        """
        devices.need_cpu(device)
        return Tensor.results(filled(data, cls.dtype.dtype))


class FloatTensor(TypedTensor, dtype=kinds.float32): ...


class DoubleTensor(TypedTensor, dtype=kinds.float64): ...


class HalfTensor(TypedTensor, dtype=kinds.float16): ...


class ByteTensor(TypedTensor, dtype=kinds.uint8): ...


class CharTensor(TypedTensor, dtype=kinds.int8): ...


class IntTensor(TypedTensor, dtype=kinds.int32): ...


class LongTensor(TypedTensor, dtype=kinds.int64): ...


class BoolTensor(TypedTensor, dtype=kinds.bool): ...


def set_default_tensor_type(tensor_type: type[TypedTensor] | str) -> None:
    """Say which element type fractions have that are given without one.

    Args:
        tensor_type: what makes tensors of it, or the name, as "oneflow.DoubleTensor".

    Raises:
        TypeError: something else, or a type of integers.

    >>> fluid.flow.set_default_tensor_type(fluid.flow.DoubleTensor)
    >>> fluid.flow.Tensor([1.0])
    tensor([1.], dtype=oneflow.float64)
    >>> fluid.flow.set_default_tensor_type("oneflow.FloatTensor")
    """
    kind: Any = tensor_type
    if isinstance(kind, str):
        kind = globals().get(kind.removeprefix("oneflow."), kind)
    if not (isinstance(kind, type) and issubclass(kind, TypedTensor)):
        raise TypeError(f"expected a type as oneflow.FloatTensor, got {tensor_type!r:.60}")
    if not kind.dtype.is_float:
        raise TypeError(f"expected a type of fractions, got {kind.__name__}")
    arithmetic.set_default_dtype(kind.dtype)
