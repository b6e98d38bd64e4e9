"""The place and the element type of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..eager.recording import TensorRecord, eager
from ..functions import elementary
from ..ground.dtypes import as_dtype
from ..ground.spellings import Spelling
from ..opdef.operand import Operand
from . import devices

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..functions.arguments import DTypeLike
    from .devices import DeviceLike
    from .spelling import Function
    from .tensor import Tensor

_METHOD = Spelling({"x": "self"})


def _cast(x: Any, dtype: DTypeLike) -> Any:
    """The tensor in an element type; itself where it has that already."""
    if as_dtype(dtype).dtype == x.array.dtype:
        return x
    return elementary.cast(x, dtype)


def _as(name: str, dtype: str, said: str | None = None) -> Function:
    """A method that gives the tensor in an element type."""
    doc = f"The tensor as {said or dtype}."
    method = _METHOD(_cast, name, doc, fixed={"dtype": dtype}, scope=globals())
    method.__qualname__ = f"Conversion.{name}"
    return method


class Conversion(TensorRecord, results=False):
    """Tensors that are moved and cast."""

    @property
    def device(self) -> devices.device:
        """The place of the tensor: the CPU."""
        return devices.device("cpu")

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def cpu(self) -> Self:
        """The tensor itself, which is there already."""
        return self

    def to(
        self, *args: Any, dtype: DTypeLike = None, device: DeviceLike = None, copy: Any = False
    ) -> Self:
        """The tensor in another element type; itself where nothing changes.

        Args:
            args: an element type, a device, both, or a tensor that has them.
            dtype: an element type.
            device: the CPU, where the tensor is already.
            copy: give another tensor in any case.

        Raises:
            ArgumentError: another device than the CPU, or something else.

        >>> fluid.flow.tensor([1, 2]).to("cpu", fluid.flow.float32).dtype
        oneflow.float32
        """
        for target in args:
            if isinstance(target, Operand):
                dtype = as_dtype(target.array.dtype)
            elif isinstance(target, devices.device) or str(target).split(":")[0] in ("cpu", "cuda"):
                device = target
            else:
                dtype = target
        devices.need_cpu(device)
        result = self if dtype is None else _cast(self, dtype)
        return eager.assign(self) if copy and result is self else result

    def contiguous_(self) -> Self:
        """The tensor itself: how its elements lie does not show."""
        return self

    def type_as(self, target: Tensor) -> Tensor:
        """The tensor in the element type of another."""
        return _cast(self, target.array.dtype)

    def type(self, dtype: DTypeLike = None) -> Any:
        """The tensor in another element type; the name of its own one when None."""
        if dtype is None:
            return f"oneflow.{_KINDS.get(self.array.dtype.name, self.array.dtype.name)}Tensor"
        named = dtype.removeprefix("oneflow.") if isinstance(dtype, str) else ""
        kind = _OF_NAMES.get(named, getattr(dtype, "dtype", dtype))
        return self.to(dtype=kind)

    def get_device(self) -> Any:
        """-1: tensors are on the CPU."""
        return -1

    def cuda(self, device: DeviceLike = None) -> Self:
        """An error: there are no tensors on other devices.

        Raises:
            ArgumentError: always.
        """
        devices.need_cpu("cuda" if device is None else device)
        return self

    bool: ClassVar[Function] = _as("bool", "bool", "truth values")
    byte: ClassVar[Function] = _as("byte", "uint8")
    int: ClassVar[Function] = _as("int", "int32")
    long: ClassVar[Function] = _as("long", "int64")
    half: ClassVar[Function] = _as("half", "float16")
    bfloat16: ClassVar[Function] = _as("bfloat16", "bfloat16")
    float: ClassVar[Function] = _as("float", "float32")
    double: ClassVar[Function] = _as("double", "float64")


_KINDS = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long"}
_KINDS |= {"int32": "Int", "int8": "Char", "uint8": "Byte", "bool": "Bool"}


_OF_NAMES = {f"{kind}Tensor": name for name, kind in _KINDS.items()}
