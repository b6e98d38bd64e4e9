"""Functions that arrange and select elements, with ``dim`` in the place of paddle's ``axis``."""

from __future__ import annotations

from typing import Any

from ..eager import engine
from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..functions import reduction, selection, shaping
from .functions import Found


def numbers(given: tuple[Any, ...]) -> Any:
    """What a user wrote as ``f(1, 2)`` or ``f([1, 2])``: the numbers."""
    return given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors behind each other along a dimension."""
    return shaping.concat(tensors, dim)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape along a new dimension."""
    return shaping.stack(tensors, dim)


def reshape(input: Any, *shape: Any) -> Any:
    """The same elements in another shape, one size of which may be -1."""
    return shaping.reshape(input, list(numbers(shape)))


def squeeze(input: Any, dim: Any = None) -> Any:
    """The tensor without a dimension, or without all, of size 1."""
    return shaping.squeeze(input, dim)


def unsqueeze(input: Any, dim: int) -> Any:
    """The tensor with a new dimension of size 1."""
    return shaping.unsqueeze(input, dim)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The tensor with some dimensions made one."""
    return shaping.flatten(input, start_dim, end_dim)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged.

    >>> fluid.flow.transpose(fluid.flow.tensor([[1.0, 2.0]]), 0, 1).shape
    [2, 1]
    """
    return shaping.swapaxes(input, dim0, dim1)


def permute(input: Any, *dims: Any) -> Any:
    """The dimensions in another order.

    Args:
        input: a tensor.
        dims: the dimension to come first, the second, ...; or a list of them.
    """
    return shaping.transpose(input, list(numbers(dims)))


def expand(input: Any, *sizes: Any) -> Any:
    """The tensor repeated along dimensions of size 1, and along new ones in front.

    Args:
        input: a tensor.
        sizes: the sizes of the result, or a list of them; -1 keeps one.

    >>> fluid.flow.tensor([[1.0], [2.0]]).expand(2, 3).shape
    [2, 3]
    """
    return shaping.broadcast_to(input, list(numbers(sizes)))


def repeat(input: Any, *sizes: Any) -> Any:
    """The tensor repeated along its dimensions, and along new ones in front.

    Args:
        input: a tensor.
        sizes: how often along each dimension, or a list of that.

    Raises:
        ArgumentError: there are fewer than dimensions.
    """
    times = list(numbers(sizes))
    if len(times) < input.array.ndim:
        raise engine.located(
            ArgumentError(
                f"expected a number for each of {input.array.ndim} dimensions or more, got {times}"
            )
        )
    return shaping.tile(input, times)


def split(x: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """The parts of a tensor along a dimension.

    Args:
        x: a tensor.
        split_size_or_sections: the size of each part, the last of which may be smaller; or a list
            of sizes.
        dim: the dimension.

    Raises:
        ShapeError: the sizes do not add up, or are negative.

    >>> [part.tolist() for part in fluid.flow.split(fluid.flow.tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    total = x.array.shape[dim]
    if isinstance(split_size_or_sections, (list, tuple)):
        sizes = [int(n) for n in split_size_or_sections]
        if sum(sizes) != total or min(sizes, default=0) < 0:
            raise engine.located(
                ShapeError(f"expected sizes that add up to {total}, got {sizes} along {dim}")
            )
    else:
        each = int(split_size_or_sections)
        if each < 1:
            raise engine.located(ShapeError(f"expected a size from 1 on, got {each}"))
        sizes = [min(each, total - at) for at in range(0, total, each)]
    if len(sizes) == 1:
        return (x,)
    return tuple(eager.split(x, sections=sizes, axis=dim))


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most so many parts of a tensor along a dimension, of one size but for the last."""
    size = input.array.shape[dim]
    if not size:  # parts of nothing
        return (input,) * chunks
    return split(input, -(-size // chunks), dim)


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices of a tensor along a dimension."""
    return tuple(shaping.unstack(input, dim))


def flip(input: Any, *args: Any, dims: Any = None) -> Any:
    """The tensor with its elements in reverse order along dimensions.

    Args:
        input: a tensor.
        args: the dimensions, or a list of them.
        dims: the same, by its name.
    """
    given = numbers(args) if dims is None else dims
    return shaping.flip(input, list(given) if isinstance(given, (list, tuple)) else [given])


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """The tensor with its elements moved along, what falls off at the end comes first."""
    return shaping.roll(input, shifts, dims)


def gather(input: Any, dim: int, index: Any) -> Any:
    """The elements at indices along a dimension.

    Args:
        input: a tensor.
        dim: the dimension.
        index: integers, of as many dimensions as the tensor.
    """
    return eager.take_along(input, index, axis=dim)


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices of a tensor along a dimension that an index names."""
    return selection.index_select(input, index, dim)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """The tensor with a number where a mask holds."""
    return selection.masked_fill(input, mask, value)


def masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask holds, as a vector."""
    return selection.masked_select(input, mask)


def sort(input: Any, dim: int = -1, descending: bool = False) -> Found:
    """The tensor with its elements in order along a dimension, and their places before."""
    return Found(*eager.argsort(input, axis=dim, descending=descending))


def argsort(input: Any, dim: int = -1, descending: bool = False) -> Any:
    """The places of the elements in order along a dimension."""
    return selection.argsort(input, dim, descending)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Found:
    """The k largest or smallest elements along a dimension, and their places.

    Args:
        input: a tensor.
        k: how many.
        dim: the dimension.
        largest: whether the largest; if not, the smallest.
        sorted: accepted: they are in order in any case.
    """
    return Found(*selection.topk(input, k, dim, largest))


def cumsum(input: Any, dim: int) -> Any:
    """The sums of the elements up to each one along a dimension."""
    return reduction.cumsum(input, dim)


def tril(input: Any, diagonal: int = 0) -> Any:
    """The elements on and below a diagonal, and 0 above."""
    return shaping.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """The elements on and above a diagonal, and 0 below."""
    return shaping.triu(input, diagonal)
