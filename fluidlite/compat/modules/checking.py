"""What layers checked their arguments with."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError, DTypeError
from ...ground.dtypes import as_dtype


def convert_dtype(dtype: Any) -> str:
    """The name of an element type, such as "float32"."""
    return str(as_dtype(dtype).dtype)


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
        raise ArgumentError(
            f"{op_name}: expected {input_name} to be of {expected_type}, got "
            f"{type(input).__name__}. {extra_message}".rstrip()
        )


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
    if convert_dtype(input_dtype) not in expected_dtype:
        raise DTypeError(
            f"{op_name}: expected {input_name} to be of {' or '.join(expected_dtype)}, got "
            f"{convert_dtype(input_dtype)}. {extra_message}".rstrip()
        )


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
        raise ArgumentError(
            f"{op_name}: expected {input_name} to be a variable, got {type(input).__name__}. "
            f"{extra_message}".rstrip()
        )
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
