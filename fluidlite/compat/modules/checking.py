"""What layers checked their arguments with."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError, DTypeError
from ...ground.dtypes import as_dtype


def convert_dtype(dtype: Any) -> str:
    """The name of an element type, such as "float32"."""
    return str(as_dtype(dtype).dtype)


def _said(op_name: str, input_name: str, expected: str, got: str) -> str:
    """What is wrong with an argument."""
    return f"{op_name}: expected {input_name} to be {expected}, got {got}."


def check_type(
    input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = ""
) -> None:
    """Check the class of an argument.

    Args:
        input: the argument.
        input_name: its name.
        expected_type: the class, or several.
        op_name: what takes it.
        extra_message: more to say.

    Raises:
        ArgumentError: it is of another class.
    """
    if not isinstance(input, expected_type):
        said = _said(op_name, input_name, f"of {expected_type}", type(input).__name__)
        raise ArgumentError(f"{said} {extra_message}".rstrip())


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Check the element type of an argument.

    Args:
        input_dtype: the element type.
        input_name: the argument's name.
        expected_dtype: the types that will do.
        op_name: what takes it.
        extra_message: more to say.

    Raises:
        DTypeError: it is another one.
    """
    kind = convert_dtype(input_dtype)
    if kind not in expected_dtype:
        said = _said(op_name, input_name, f"of {' or '.join(expected_dtype)}", kind)
        raise DTypeError(f"{said} {extra_message}".rstrip())


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Check that an argument has one of some element types.

    Args:
        input, input_name, expected_dtype, op_name, extra_message: as of :func:`check_dtype`.

    Raises:
        ArgumentError: it has none at all.
        DTypeError: it is another one.
    """
    if not hasattr(input, "dtype") or not hasattr(input, "name"):
        said = _said(op_name, input_name, "a variable", type(input).__name__)
        raise ArgumentError(f"{said} {extra_message}".rstrip())
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
