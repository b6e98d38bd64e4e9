"""The largest elements, the smallest ones, and orders."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable, is_tensor
from .layer import LayerBuilder, is_variable, layer, stopped
from .slicing import slice


@layer("arg_max")
def argmax(f: LayerBuilder, x: Variable, axis: int = 0) -> Variable:
    """The places of the largest elements along a dimension.

    Args:
        x: a variable of numbers.
        axis: the dimension; may count from the end.

    Returns:
        An int64 variable without the dimension.  No gradient flows through.

    >>> fluid.layers.argmax(fluid.data("x", [None, 10]), axis=-1).shape
    (-1,)
    """
    return stopped(f.arg_max(x, axis=axis))


@layer("arg_min")
def argmin(f: LayerBuilder, x: Variable, axis: int = 0) -> Variable:
    """The places of the smallest elements along a dimension.

    Args:
        x: a variable of numbers.
        axis: the dimension; may count from the end.

    Returns:
        An int64 variable without the dimension.  No gradient flows through.

    >>> fluid.layers.argmin(fluid.data("x", [None, 10]), axis=-1).shape
    (-1,)
    """
    return stopped(f.arg_min(x, axis=axis))


@layer("top_k")
def topk(
    f: LayerBuilder, input: Variable, k: int | Variable, name: str | None = None
) -> tuple[Variable, Variable]:
    """The ``k`` largest elements along the last dimension, the largest first, and their places.

    Args:
        input: a variable of numbers.
        k: how many; a number or a variable of one element.

    Returns:
        The elements and their int64 indices, both of the shape of ``input`` with ``k`` as last
        size.  No gradient flows through.

    >>> values, indices = fluid.layers.topk(fluid.data("x", [None, 10]), k=3)
    >>> values.shape, indices.dtype
    ((-1, 3), VarType.INT64)
    """
    found = f.top_k(input, k) if is_variable(k) else f.top_k(input, k=k)
    return stopped(found)


@layer
def argsort(
    f: LayerBuilder,
    input: Variable,
    axis: int = -1,
    descending: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The elements in order along a dimension, and their places.

    Args:
        input: a variable of numbers.
        axis: the dimension; may count from the end.
        descending: the largest come first.

    Returns:
        The elements and their int64 indices, both of the shape of ``input``.  Equal elements stay
        in the order they had.  No gradient flows through those of programs.

    >>> values, indices = fluid.layers.argsort(fluid.data("x", [None, 10]), axis=0)
    >>> values.shape, indices.dtype
    ((-1, 10), VarType.INT64)
    """
    values, places = f.argsort(input, axis=axis, descending=descending)
    return values if is_tensor(values) else stopped(values), stopped(places)


@layer("where_index")
def where(f: LayerBuilder, condition: Variable) -> Variable:
    """The places where a condition holds.

    Args:
        condition: truth values, or numbers, of which 0 does not count.

    Returns:
        An int64 variable with a row of indices for each place.

    >>> x = fluid.data("x", [3, 4])
    >>> fluid.layers.where(x > 0.5).shape
    (-1, 2)
    """
    return f.where_index(condition)


def nonzero(input: Variable, as_tuple: bool = False) -> Variable | tuple[Variable, ...]:
    """The places of the elements that are not 0.

    Args:
        input: truth values or numbers.
        as_tuple: give the indices along each dimension on their own.

    Returns:
        An int64 variable with a row of indices for each place; as a tuple, one of shape [n, 1] for
        each dimension.

    >>> fluid.layers.nonzero(fluid.data("x", [3, 4])).shape
    (-1, 2)
    """
    places = where(input)
    if not as_tuple:
        return places
    return tuple(slice(places, [1], [i], [i + 1]) for i in range(input.ndim))


@layer
def unique(f: LayerBuilder, x: Variable, dtype: Any = "int32") -> tuple[Variable, Variable]:
    """The values that occur in a vector, and which of them each element is.

    Args:
        x: a vector.
        dtype: the element type of the indices, int32 or int64.

    Returns:
        The values, in the order in which they first occur, and an index for each element of ``x``.

    >>> values, index = fluid.layers.unique(fluid.data("x", [4], "int64"))
    >>> values.shape, index.shape
    ((-1,), (4,))
    """
    return f.unique(x, dtype=dtype)


@layer
def unique_with_counts(
    f: LayerBuilder, x: Variable, dtype: Any = "int32"
) -> tuple[Variable, Variable, Variable]:
    """The values that occur in a vector, which of them each element is, and how often they occur.

    Args:
        x: a vector.
        dtype: the element type of the indices and counts, int32 or int64.

    Returns:
        The values, in the order in which they first occur, an index for each element of ``x``, and
        a count for each value.

    >>> values, index, count = fluid.layers.unique_with_counts(fluid.data("x", [4], "int64"))
    >>> values.shape, index.shape, count.shape
    ((-1,), (4,), (-1,))
    """
    return f.unique_with_counts(x, dtype=dtype)


@layer
def shard_index(
    f: LayerBuilder,
    input: Variable,
    index_num: int,
    nshards: int,
    shard_id: int,
    ignore_value: int = -1,
) -> Variable:
    """Indices counted within one of the shards that they are divided into.

    Args:
        input: indices below ``index_num``, with 1 as last size.
        index_num: how many indices there are in all shards.
        nshards: how many shards there are.
        shard_id: which one is meant.
        ignore_value: stands for indices of other shards.

    Returns:
        A variable of the shape of ``input``.

    >>> ids = fluid.data("ids", [None, 1], "int64")
    >>> fluid.layers.shard_index(ids, index_num=20, nshards=2, shard_id=0).shape
    (-1, 1)
    """
    return f.shard_index(
        input, index_num=index_num, nshards=nshards, shard_id=shard_id, ignore_value=ignore_value
    )
