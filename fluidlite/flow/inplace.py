"""Writing to tensors, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..eager import engine
from ..eager.mode import no_grad, thread
from ..eager.sweep import described
from ..eager.writing import Writing, need_no_leaf
from ..errors import InplaceError
from ..functions import arithmetic, shaping
from ..functions.elementary import cast
from ..functions.items import set_item
from ..ground.spellings import Spelling
from ..ground.tracebacks import quick_api_boundary
from ..opdef.operand import Operand
from . import algebra, arranging, elementary, functions, placing, shapes

if TYPE_CHECKING:
    from ..functions.arguments import ArrayLike, Other
    from .tensor import Tensor


def _replaced(x: Any, change: Callable[[Any], Any]) -> Any:
    """What Python's ``x += y`` and the like do: write what a function makes of a tensor to it.

    Raises:
        InplaceError: it has fractions and the tensor none, or the tensor cannot be written.
    """

    def checked(old: Any) -> Any:
        result = change(old)
        if result.array.dtype.kind == "f" and old.array.dtype.kind != "f":
            raise engine.located(
                InplaceError,
                f"{described(x)} cannot take the result of type {result.array.dtype} in "
                f"place; write x = x.float() first",
            )
        return result

    return x.write(checked)


def _added(input: Tensor, other: Other, *, alpha: float = 1) -> Tensor:
    """input + alpha * other."""
    return elementary.add(input, other, alpha=alpha)


_NAMES = {"x": "self", "input": "self", "y": "other"}
WRITTEN = Spelling(_NAMES, ["name"], writes="write")
RESHAPED = Spelling(_NAMES, ["name"], writes="write_shape")
REPLACED = Spelling(_NAMES, ["name"], writes=_replaced)


def _updating(function: Callable[..., Any], method: str) -> Callable[..., Any]:
    """Python's method that writes to a tensor what a function makes of it."""
    return quick_api_boundary(REPLACED(function, method))


class InPlace(Writing, results=False):
    """Tensors that Python's ``x += y`` and methods that end in ``_`` write to."""

    __iadd__: ClassVar[Callable[..., Any]] = _updating(arithmetic.add, "__iadd__")
    __isub__: ClassVar[Callable[..., Any]] = _updating(arithmetic.subtract, "__isub__")
    __imul__: ClassVar[Callable[..., Any]] = _updating(arithmetic.multiply, "__imul__")
    __itruediv__: ClassVar[Callable[..., Any]] = _updating(arithmetic.true_divide, "__itruediv__")
    # ``**=``, ``//=`` and ``%=`` make new tensors, as in OneFlow
    add_: ClassVar[Callable[..., Any]] = REPLACED(_added, "add_")
    sub_: ClassVar[Callable[..., Any]] = REPLACED(elementary.sub)
    mul_: ClassVar[Callable[..., Any]] = REPLACED(elementary.mul)
    div_: ClassVar[Callable[..., Any]] = REPLACED(
        elementary.div,
        fixed={"rounding_mode": None},
        doc="""
    >>> fluid.flow.tensor([6.0, 8.0]).div_(2.0).tolist()
    [3.0, 4.0]
    """,
    )
    floor_divide_: ClassVar[Callable[..., Any]] = REPLACED(algebra.floor_divide)
    relu_: ClassVar[Callable[..., Any]] = WRITTEN(functions.relu, fixed={"inplace": False})
    clamp_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.clamp)
    clamp_min_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.clamp_min)
    clamp_max_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.clamp_max)
    addcmul_: ClassVar[Callable[..., Any]] = WRITTEN(algebra.addcmul)
    addcdiv_: ClassVar[Callable[..., Any]] = WRITTEN(algebra.addcdiv)
    scatter_: ClassVar[Callable[..., Any]] = WRITTEN(arranging.scatter)
    scatter_add_: ClassVar[Callable[..., Any]] = WRITTEN(arranging.scatter_add)
    index_add_: ClassVar[Callable[..., Any]] = WRITTEN(
        arranging.index_add,
        doc="""
    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> x.index_add_(0, fluid.flow.tensor([0, 0]), fluid.flow.tensor([10.0, 20.0])).tolist()
    [31.0, 2.0]
    """,
    )
    index_fill_: ClassVar[Callable[..., Any]] = WRITTEN(arranging.index_fill)
    cumsum_: ClassVar[Callable[..., Any]] = WRITTEN(shapes.cumsum)
    round_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.round)
    clip_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.clip, "clip_")
    erfinv_: ClassVar[Callable[..., Any]] = WRITTEN(placing.erfinv, "erfinv_")
    transpose_: ClassVar[Callable[..., Any]] = RESHAPED(shapes.transpose)
    t_: ClassVar[Callable[..., Any]] = RESHAPED(shaping.t)

    def copy_(self, src: ArrayLike) -> Tensor:
        """Take the elements of another tensor, or of an array, in place.

        Gradients notice if the other one wants them and this is the result of an operator.
        """

        def copied(old: Any) -> Any:
            given = src if isinstance(src, Operand) else old.results(np.asarray(src))
            return shaping.broadcast_to(cast(given, old.array.dtype), list(old.array.shape))

        is_noticed = not (self.stop or self.origin is None or getattr(src, "stop", True))
        with nullcontext() if is_noticed else no_grad():
            return self.write(copied)

    def zero_(self) -> Tensor:
        """Make all elements 0, in place; gradients do not notice."""
        if thread.recording:
            need_no_leaf(self)
        with no_grad():
            return Writing.fill_(self, 0)

    def fill_(self, value: Other) -> Tensor:
        """Make all elements one number, in place; gradients flow to that alone."""
        if thread.recording and not (self.stop and getattr(value, "stop", True)):
            return self.write(lambda old: set_item(old, ..., value))
        return Writing.fill_(self, value)
