"""Values of tensors in Python, and checks of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .modes import in_dynamic_mode

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def tolist(x: Tensor) -> Any:
    """The elements of a tensor as lists of Python numbers.

    Args:
        x: a tensor.

    >>> from fluidlite import paddle
    >>> paddle.tolist(paddle.to_tensor([1, 2]))
    [1, 2]
    """
    return x.tolist()


def check_shape(
    shape: Sequence[int | Variable] | Variable,
    op_name: str,
    expected_shape_type: tuple[type, ...] = (list, tuple, Variable),
    expected_element_type: tuple[type, ...] = (int, Variable),
    expected_tensor_dtype: Sequence[str] = ("int32", "int64"),
) -> None:
    """Refuse what is no shape, where programs are built.

    Args:
        shape: sizes, or a variable of them.
        op_name: who asks, for the message.
        expected_shape_type: what a shape may be.
        expected_element_type: what a size may be.
        expected_tensor_dtype: element types of variables.

    Raises:
        ArgumentError: it is something else.
    """
    if in_dynamic_mode():
        return
    if not isinstance(shape, expected_shape_type):
        raise ArgumentError(f"{op_name}: expected a shape, got {shape!r:.60}")
    sizes = [shape] if isinstance(shape, Variable) else list(shape)
    for size in sizes:
        if not isinstance(size, expected_element_type):
            raise ArgumentError(f"{op_name}: expected sizes, got {size!r:.60}")
        if isinstance(size, Variable) and size.dtype.dtype.name not in expected_tensor_dtype:
            raise ArgumentError(f"{op_name}: expected integers in a shape, got {size.dtype}")


list_public_names(globals())
api_boundaries(globals())
