"""Values in lists, tuples, named tuples and dictionaries, as recurrent networks hold states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import ArgumentError
from ..opdef.operand import Operand

#: operands, in lists, tuples, named tuples and dictionaries of such
Structure: TypeAlias = "Operand | Sequence[Structure] | Mapping[str, Structure]"
#: sizes, in the form of a structure
Sizes: TypeAlias = "int | Sequence[Sizes] | Mapping[str, Sizes]"


def leaves(value: Any) -> list[Any]:
    """The values in a structure, those of dictionaries in the order of their keys.

    >>> leaves([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def filled(structure: Any, values: Iterator[Any]) -> Any:
    """A structure with other values in the places of its own, in the order of :func:`leaves`.

    >>> filled([1, (2, {"b": 4, "a": 3})], iter("wxyz"))
    ['w', ('x', {'b': 'z', 'a': 'y'})]
    """
    if isinstance(structure, Mapping):
        found = {key: filled(structure[key], values) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    if isinstance(structure, (list, tuple)):
        return rebuilt(structure, [filled(each, values) for each in structure])
    return next(values)


def rebuilt(structure: Any, parts: list[Any]) -> Any:
    """A list, tuple, named tuple or dictionary with other parts, in its order."""
    if isinstance(structure, Mapping):
        return dict(zip(structure, parts))
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A function applied within lists, tuples and dictionaries, in their order; None stays."""
    if isinstance(value, (list, tuple, Mapping)):
        parts = value.values() if isinstance(value, Mapping) else value
        return rebuilt(value, [mapped(each, function) for each in parts])
    return None if value is None else function(value)


def mapped_leaves(function: Callable[..., Any], *structures: Any) -> Any:
    """A function applied to the values of structures of one form.

    Args:
        function: takes a value of each.
        structures: the first one gives the form of the result.

    Raises:
        ArgumentError: the structures hold different numbers of values.

    >>> mapped_leaves(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}])
    [11, {'x': 22}]
    """
    flat = [leaves(each) for each in structures]
    if len({len(each) for each in flat}) > 1:
        counts = " and ".join(str(len(each)) for each in flat)
        raise ArgumentError(f"expected structures of as many values each, got {counts} values")
    return filled(structures[0], iter([function(*each) for each in zip(*flat)]))
