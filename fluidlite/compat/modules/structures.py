"""``fluid.layers.utils``: lists, tuples and dictionaries within each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...errors import ArgumentError


def is_sequence(seq: Any) -> bool:
    """Whether a value holds others: a list, a tuple or a dictionary, no text."""
    return isinstance(seq, (Sequence, Mapping)) and not isinstance(seq, (str, bytes))


def flatten(nest: Any) -> list[Any]:
    """The values within a structure, those of dictionaries in the order of their keys.

    >>> fluid.compat.modules.structures.flatten([1, (2, {"b": 3, "a": 4})])
    [1, 2, 4, 3]
    """
    return list(_leaves(nest)) if is_sequence(nest) else [nest]


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """A structure of what a function makes of the values of one or several structures.

    Args:
        func: takes a value of each structure.
        structure: structures of one form.

    Raises:
        ArgumentError: their forms differ.

    >>> fluid.compat.modules.structures.map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)])
    [4, (6,)]
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    made = [func(*values) for values in zip(*map(flatten, structure))]
    return pack_sequence_as(structure[0], made)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """A structure of the form of another one, with values of a list.

    Args:
        structure: the form.
        flat_sequence: the values.

    Raises:
        ArgumentError: their number is not that of the form.
    """
    if not is_sequence(flat_sequence):
        raise ArgumentError(f"expected a list of values, got {flat_sequence!r:.60}")
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ArgumentError(f"expected {wanted} values for the structure, got {len(flat_sequence)}")
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, values: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(values)
    if isinstance(structure, Mapping):
        by_key = {key: _packed(structure[key], values) for key in _keys(structure)}
        make: Any = type(structure)
        return make((key, by_key[key]) for key in structure)
    made = [_packed(each, values) for each in structure]
    if hasattr(structure, "_fields"):
        return type(structure)(*made)
    return type(structure)(made)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Check that two structures are of one form.

    Args:
        nest1, nest2: the structures.
        check_types: whether their lists and tuples must be of the same classes.

    Raises:
        ArgumentError: they are not.
    """
    counts = [len(flatten(nest)) if is_sequence(nest) else 1 for nest in (nest1, nest2)]
    if counts[0] != counts[1]:
        raise ArgumentError(
            f"expected two structures of as many values, got {nest1!r:.60} and {nest2!r:.60}"
        )
    _compare(nest1, nest2, check_types)


def _compare(one: Any, other: Any, check_types: bool) -> None:
    if is_sequence(one) != is_sequence(other):
        raise ArgumentError(f"expected structures of one form, got {one!r:.60} and {other!r:.60}")
    if not is_sequence(one):
        return
    if check_types and type(one) is not type(other):
        raise ArgumentError(
            f"expected structures of one type, got {type(one).__name__} and {type(other).__name__}"
        )
    if check_types and isinstance(one, Mapping) and set(one) != set(other):
        raise ArgumentError(f"expected dictionaries of the same keys, got {one} and {other}")
    for first, second in zip(_parts(one), _parts(other)):
        _compare(first, second, check_types)


def _leaves(nest: Any) -> Iterator[Any]:
    for part in _parts(nest):
        if is_sequence(part):
            yield from _leaves(part)
        else:
            yield part


def _parts(nest: Any) -> list[Any]:
    return [nest[key] for key in _keys(nest)] if isinstance(nest, Mapping) else list(nest)


def _keys(nest: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(nest)
    except TypeError as error:
        raise ArgumentError("expected a dictionary whose keys can be sorted") from error


def copy_mutable_vars(structure: Any) -> Any:
    """The same structure in new lists, tuples and dictionaries."""
    return pack_sequence_as(structure, flatten(structure))


def hold_mutable_vars(structure: Any) -> list[Any]:
    """The values of a structure as a list."""
    return flatten(structure)


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """A number as a list of as many, a list as it is.

    Args:
        value: a number, or ``n`` of them.
        n: how many.
        name: of the argument, for messages.
        dtype: the class of the numbers.

    Raises:
        ArgumentError: it is something else.
    """
    if isinstance(value, dtype):
        return [value] * n
    try:
        numbers = list(value)
    except TypeError:
        numbers = []
    if len(numbers) != n or not all(isinstance(each, dtype) for each in numbers):
        raise ArgumentError(f"expected {name} to be of {n} {dtype.__name__}, got {value!r:.60}")
    return numbers
