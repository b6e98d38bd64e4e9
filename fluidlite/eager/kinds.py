"""What kind of elements a tensor has, and the same tensor with others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..functions import elementary
from ..ground.brain_float import kind_of
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand
from . import engine
from .recording import TensorRecord, eager
from .views import layout

if TYPE_CHECKING:
    from typing_extensions import Self


class Kinds(TensorRecord, results=False):
    """Tensors that say the kind of their elements and their place."""

    def element_size(self) -> int:
        """How many bytes an element has."""
        return int(self.array.dtype.itemsize)

    def is_floating_point(self) -> bool:
        """Whether the elements are fractions."""
        return kind_of(self.array.dtype) == "f"

    def cpu(self) -> Any:
        """The tensor: there is one place."""
        return self

    def contiguous(self) -> Self:
        """The tensor; a copy where it is a view whose elements lie apart.

        >>> fluid.flow.tensor([1.0, 2.0]).contiguous().tolist()
        [1.0, 2.0]
        """
        tensor: Any = self
        lies = tensor.appends is None and layout(tensor).flags.c_contiguous
        return tensor if lies else eager.assign(tensor)

    def to(self, *wishes: Any, **named: Any) -> Any:
        """The tensor with another element type; there is one place.

        Args:
            wishes, named: an element type, "cpu", or a tensor whose type is taken, in any order;
                ``dtype``, ``device`` and ``blocking`` by name.

        Raises:
            ArgumentError: the place is another, or an argument has another name.

        >>> fluid.ones([2]).to("float64").dtype
        VarType.FP64
        """
        others = {*named} - {"dtype", "device", "blocking"}
        if others:
            raise engine.located(ArgumentError, f"to: unexpected arguments {sorted(others)}")
        dtype = named.get("dtype")
        for wish in (*wishes, named.get("device")):
            if isinstance(wish, Operand):
                dtype = str(wish.array.dtype)
            elif wish is None or isinstance(wish, bool) or "cpu" in str(wish).lower():
                continue
            elif any(word in str(wish).lower() for word in ("gpu", "cuda", "xpu")):
                raise engine.located(ArgumentError, f"to: there is one place, 'cpu'; got {wish!r}")
            else:
                dtype = wish
        tensor: Any = self
        if dtype is None or as_dtype(dtype).dtype == tensor.array.dtype:
            return tensor
        return elementary.cast(tensor, dtype)
