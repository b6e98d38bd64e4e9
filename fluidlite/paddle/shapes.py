"""Checks of shapes as paddle 2's own layers make them, and elements as lists of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.recording import TensorRecord
from ..errors import ArgumentError, DTypeError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable
from .modes import in_dynamic_mode

__all__ = ["check_shape", "tolist"]


def check_shape(
    shape: Any,
    op_name: str,
    expected_shape_type: tuple[type, ...] = (list, tuple, Variable),
    expected_element_type: tuple[type, ...] = (int, Variable),
    expected_tensor_dtype: Sequence[str] = ("int32", "int64"),
) -> None:
    """Check what a layer of a program is given as a shape; nothing in dynamic mode.

    Args:
        shape: sizes, some of which may be variables; or a variable of them.
        op_name: what takes it, for the message.
        expected_shape_type: what it may be.
        expected_element_type: what a size may be.
        expected_tensor_dtype: which element types variables may have.

    Raises:
        ArgumentError: it is something else.
        DTypeError: a variable is of another element type.

    >>> fluid.paddle.check_shape([2, 3], "full")
    """
    if in_dynamic_mode():
        return
    _check("shape", shape, op_name, expected_shape_type, expected_tensor_dtype)
    for size in () if isinstance(shape, Variable) else shape:
        _check("a size of shape", size, op_name, expected_element_type, expected_tensor_dtype)


def _check(
    what: str, value: Any, op_name: str, kinds: tuple[type, ...], types: Sequence[str]
) -> None:
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ArgumentError(
            f"{op_name}: expected {what} to be {expected}, got {type(value).__name__}"
        )
    if isinstance(value, Variable) and value.dtype.plain not in types:
        raise DTypeError(
            f"{op_name}: expected {what} to be of {' or '.join(types)}, got {value.dtype.plain}"
        )


def tolist(x: TensorRecord) -> Any:
    """The elements of a tensor as lists within lists; a number where it has no dimension.

    Args:
        x: a tensor.

    Raises:
        ArgumentError: it is no tensor.

    >>> from fluidlite import paddle
    >>> paddle.tolist(paddle.to_tensor([[1, 2], [3, 4]]))
    [[1, 2], [3, 4]]
    """
    if not isinstance(x, TensorRecord):
        raise ArgumentError(f"tolist: expected a tensor, got {type(x).__name__}")
    return x.array.tolist()


list_public_names(globals())
api_boundaries(globals())
