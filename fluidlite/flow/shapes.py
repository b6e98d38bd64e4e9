"""Other shapes and orders of elements; tensors joined and parted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..eager import engine
from ..eager.recording import eager
from ..eager.views import parts, reforming, viewing
from ..errors import ArgumentError, ShapeError
from ..functions import arithmetic, elementary, reduction, selection, shaping
from .kinds import Size
from .spelling import ONEFLOW, Found, found_by

T = TypeVar("T")

if TYPE_CHECKING:
    from .spelling import Function, Picking
    from .tensor import Tensor


def _as_places(y: Tensor) -> Tensor:
    """Places in the element type that OneFlow has them in."""
    return elementary.cast(y, "int32")


def in_wide_integers(input: Tensor) -> Tensor:
    """The tensor, with integers and truth values as int64."""
    return input if input.array.dtype.kind == "f" else elementary.cast(input, "int64")


cat: Function = ONEFLOW(shaping.concat, "cat", x="tensors")
concat: Function = cat
stack: Function = ONEFLOW(shaping.stack, x="tensors")
reshape: Function = reforming(ONEFLOW(shaping.reshape, order="input, *shape"))
view: Function = reshape
squeeze: Function = reforming(ONEFLOW(shaping.squeeze))
unsqueeze: Function = reforming(ONEFLOW(shaping.unsqueeze))
flatten: Function = reforming(ONEFLOW(shaping.flatten, start_axis="start_dim", stop_axis="end_dim"))
transpose: Function = viewing(
    ONEFLOW(
        shaping.swapaxes,
        "transpose",
        """Two dimensions exchanged.

        >>> fluid.flow.transpose(fluid.flow.tensor([[1.0, 2.0]]), 0, 1).shape
        oneflow.Size([2, 1])
        """,
        axis0="dim0",
        axis1="dim1",
    )
)
t: Function = viewing(ONEFLOW(shaping.t))
permute: Function = viewing(
    ONEFLOW(shaping.transpose, "permute", order="input, *dims", perm="dims")
)
expand: Function = viewing(
    ONEFLOW(
        shaping.broadcast_to,
        "expand",
        """The tensor repeated along dimensions of size 1, and along new ones in front.

        >>> fluid.flow.tensor([[1.0], [2.0]]).expand(2, 3).shape
        oneflow.Size([2, 3])
        """,
        order="input, *sizes",
        shape="sizes",
    )
)
roll: Function = ONEFLOW(shaping.roll, axis="dims")
gather: Function = ONEFLOW(
    selection.take_along_axis,
    "gather",
    order="input, dim, index",
    fixed={"broadcast": False},
    arr="input",
    indices="index",
    doc="""
    >>> x = fluid.flow.tensor([[1, 2], [3, 4]])
    >>> fluid.flow.gather(x, 1, fluid.flow.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """,
)
index_select: Function = ONEFLOW(
    selection.index_select,
    order="input, dim, index",
    defaults={"dim": ...},
    doc="""
    >>> x = fluid.flow.tensor([[1, 2], [3, 4], [5, 6]])
    >>> fluid.flow.index_select(x, 0, fluid.flow.tensor([0, 2])).tolist()
    [[1, 2], [5, 6]]
    """,
)
masked_fill: Function = ONEFLOW(selection.masked_fill)
masked_select: Function = ONEFLOW(selection.masked_select, into={"mask": arithmetic.truths})
argsort: Function = ONEFLOW(selection.argsort, then=_as_places)
topk: Picking = ONEFLOW(selection.topk, then=found_by("topk"), defaults={"dim": -1})
cumsum: Function = ONEFLOW(
    reduction.cumsum,
    fixed={"dtype": None},
    defaults={"dim": ...},
    into={"x": in_wide_integers},
    doc="""
    >>> fluid.flow.cumsum(fluid.flow.tensor([1, 2, 3]), 0).tolist()
    [1, 3, 6]
    """,
)
tril: Function = ONEFLOW(shaping.tril)
triu: Function = ONEFLOW(shaping.triu)


def broadcast_shapes(*shapes: Sequence[int]) -> Size:
    """The shape that shapes broadcast to.

    Args:
        shapes: any number of them.

    Raises:
        ShapeError: they do not fit together.

    >>> fluid.flow.broadcast_shapes((2, 1), (1, 3))
    oneflow.Size([2, 3])
    """
    try:
        return Size(np.broadcast_shapes(*[tuple(shape) for shape in shapes]))
    except ValueError:
        raise engine.located(
            ShapeError, f"expected shapes that fit together, got {[list(s) for s in shapes]}"
        ) from None


def sort(input: Tensor, dim: int = -1, descending: bool = False) -> Found:
    """The tensor with its elements in order along a dimension, and their places before.

    >>> values, places = fluid.flow.sort(fluid.flow.tensor([3.0, 1.0, 2.0]))
    >>> values.tolist(), places.tolist()
    ([1.0, 2.0, 3.0], [1, 2, 0])
    """
    values, places = eager.argsort(input, axis=dim, descending=descending)
    return _sorted((values, elementary.cast(places, "int32")))


_sorted = found_by("sort")


def repeat(input: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """The tensor repeated along its dimensions, and along new ones in front.

    Args:
        input: a tensor.
        sizes: how often along each dimension, or a list of that.

    Raises:
        ArgumentError: there are fewer than dimensions.

    >>> fluid.flow.repeat(fluid.flow.tensor([1, 2]), 2, 2).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    times = numbers(sizes)
    if len(times) < input.array.ndim:
        raise engine.located(
            ArgumentError,
            f"expected a number for each of {input.array.ndim} dimensions or more, got "
            f"{list(times)}",
        )
    return shaping.tile(input, times)


def numbers(given: tuple[T | Sequence[T], ...]) -> Sequence[T]:
    """What a user wrote as ``f(1, 2)`` or ``f([1, 2])``: the numbers, or tensors."""
    several: Any = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
    listed: Sequence[T] = several
    return listed


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, without it.

    >>> [part.tolist() for part in fluid.flow.unbind(fluid.flow.tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return tuple(parts(input, shaping.unstack(input, dim), dim))


def split(
    x: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
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
    total = +x.array.shape[dim]
    if isinstance(split_size_or_sections, (list, tuple)):
        sizes = [int(n) for n in split_size_or_sections]
        if sum(sizes) != total or min(sizes, default=0) < 0:
            raise engine.located(
                ShapeError, f"expected sizes that add up to {total}, got {sizes} along {dim}"
            )
    else:
        each = int(cast("int", split_size_or_sections))
        if each < 1:
            raise engine.located(ShapeError, f"expected a size from 1 on, got {each}")
        sizes = [min(each, total - at) for at in range(0, total, each)]
    if len(sizes) == 1:
        return (x,)
    return tuple(parts(x, eager.split(x, sections=sizes, axis=dim), dim, sizes))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of a tensor along a dimension, of one size but for the last.

    >>> [part.tolist() for part in fluid.flow.chunk(fluid.flow.tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    size = input.array.shape[dim]
    if not size:  # parts of nothing
        return (input,) * chunks
    return split(input, -(-size // chunks), dim)


def flip(
    input: Tensor, *args: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Tensor:
    """The tensor with its elements in reverse order along dimensions.

    Args:
        input: a tensor.
        args: the dimensions, or a list of them.
        dims: the same, by its name.

    >>> fluid.flow.flip(fluid.flow.tensor([1, 2, 3]), [0]).tolist()
    [3, 2, 1]
    """
    return shaping.flip(input, numbers(args) if dims is None else dims)
