"""What fluid put into its classes when it was imported: it is there without."""

from __future__ import annotations

compare_ops: list[str] = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


def monkey_patch_variable() -> None:
    """Nothing: variables have their operators."""


def monkey_patch_varbase() -> None:
    """Nothing: tensors have their methods."""


def monkey_patch_math_varbase() -> None:
    """Nothing: tensors have their operators."""
