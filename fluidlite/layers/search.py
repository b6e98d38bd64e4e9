"""The largest elements, the smallest ones, and orders."""

from __future__ import annotations

from ..ir.variable import Variable, is_tensor
from .layer import LAYERS, stopped
from .operator_layers import Layer, Layers, OperatorLayers, operator_layer, same_shape
from .slicing import slice

_place = OperatorLayers(
    LAYERS.extended(
        {},
        example="""
        >>> fluid.layers.{name}(fluid.data("x", [None, 10]), axis=-1).shape
        (-1,)
        """,
    )
)
argmax: Layer = _place("argmax(x, axis=0) -> arg_max", stem="arg_max", is_stopped=True)
argmin: Layer = _place("argmin(x, axis=0) -> arg_min", stem="arg_min", is_stopped=True)
topk: Layers = operator_layer.several(
    """
    topk(input: X, k=..., name) -> top_k

    Returns:
        The elements and their int64 indices, both of the shape of ``input`` with ``k`` as last
        size. No gradient flows through.

    >>> values, indices = fluid.layers.topk(fluid.data("x", [None, 10]), k=3)
    >>> values.shape, indices.dtype
    ((-1, 3), VarType.INT64)
    """,
    stem="top_k",
    is_stopped=True,
)


def _stopped_in_programs(found: tuple[Variable, Variable]) -> tuple[Variable, Variable]:
    values, places = found
    return values if is_tensor(values) else stopped(values), stopped(places)


argsort: Layers = OperatorLayers(then=_stopped_in_programs).several("""
    argsort(input: X, axis, descending, name)

    Returns:
        The elements and their int64 indices, both of the shape of ``input``.  Equal elements stay
        in the order they had.  No gradient flows through those of programs.

    >>> values, indices = fluid.layers.argsort(fluid.data("x", [None, 10]), axis=0)
    >>> values.shape, indices.dtype
    ((-1, 10), VarType.INT64)
""")
where: Layer = operator_layer(
    """
    where(condition) -> where_index

    >>> x = fluid.data("x", [3, 4])
    >>> fluid.layers.where(x > 0.5).shape
    (-1, 2)
    """,
    stem="where_index",
)


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


unique: Layers = operator_layer.several("""
    unique(x, dtype='int32')

    Returns:
        The values, in the order in which they first occur, and an index for each element of
        ``x``.

    >>> values, index = fluid.layers.unique(fluid.data("x", [4], "int64"))
    >>> values.shape, index.shape
    ((-1,), (4,))
""")
unique_with_counts: Layers = operator_layer.several("""
    unique_with_counts(x, dtype='int32')

    Returns:
        The values, in the order in which they first occur, an index for each element of ``x``,
        and a count for each value.

    >>> values, index, count = fluid.layers.unique_with_counts(fluid.data("x", [4], "int64"))
    >>> values.shape, index.shape, count.shape
    ((-1,), (4,), (-1,))
""")
shard_index: Layer = same_shape("""
    shard_index(input: X, index_num, nshards, shard_id, ignore_value)

    >>> ids = fluid.data("ids", [None, 1], "int64")
    >>> fluid.layers.shard_index(ids, index_num=20, nshards=2, shard_id=0).shape
    (-1, 1)
""")
