"""Other shapes and orders of the same elements; tensors joined and parted."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground import state
from ..ground.dtypes import Kind
from ..opdef.operand import Operand, appends
from ..opdef.spec import broadcast, normal_axis, resolved
from .arithmetic import cast_to
from .items import get_item
from .mixing import common_type
from .reduction import integers_of, of_number, scalar_in

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..eager.tensor_core import TensorCore
    from .arguments import Numbers

_INT = np.dtype("int32")


def numbers_in(what: str, given: Any) -> tuple[int, ...]:
    """Integers from a list, a tensor, or a list with tensors of one element in it.

    Raises:
        ArgumentError: something else is among them.
    """
    if given.__class__ is int:
        return (given,)
    if given.__class__ is tuple or given.__class__ is list:
        for number in given:
            if number.__class__ is not int:
                break
        else:
            return tuple(given)
    if isinstance(given, Operand):
        given = given.array.reshape(-1).tolist()
    listed = list(given) if isinstance(given, (list, tuple, np.ndarray, range)) else [given]
    return integers_of(listed, f"{what} to be integers, got {given!r:.60}")


def known_in_run(what: str, given: Any) -> Any:
    """Sizes of which a program computes some: each as a variable of one element, or all as a
    vector; None where all are known.

    Args:
        what: for messages.
        given: as of :func:`numbers_in`.

    Raises:
        ArgumentError: a size is neither a variable nor an integer.
    """
    if appends([given]) is not None:
        return [given] if prod(map(int, given.array.shape)) == 1 else given
    listed = given if isinstance(given, (list, tuple)) else ()
    first = next((each for each in listed if appends([each]) is not None), None)
    if first is None:
        return None
    return [
        each
        if isinstance(each, Operand)
        else first.results(np.asarray(numbers_in(what, each), "int32"))
        for each in listed
    ]


def fits(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a shape is the one that is expected, as far as both are known before a run."""
    return len(shape) == len(wanted) and all(m == n or -1 in (m, n) for m, n in zip(shape, wanted))


def reshape(x: Tensor, shape: Numbers, *more: int, name: str | None = None) -> Tensor:
    """The elements of x, in their order, in another shape.

    Args:
        x: a tensor.
        shape: sizes; 0 copies the size of x there, one of -1 takes what is left.
        more: further sizes, where ``shape`` is the first of them.

    Raises:
        ShapeError: the number of elements is another.

    >>> fluid.reshape(fluid.to_tensor([1, 2, 3, 4]), [2, -1]).tolist()
    [[1, 2], [3, 4]]
    """
    target: Any = (shape, *more) if more else shape
    if x.appends is not None and isinstance(target, (list, tuple)) and _has_several_unknown(target):
        target = _unknown(target, x, 0)
    late = None if x.appends is None else known_in_run("shape", target)
    if late is None:
        sizes = numbers_in("shape", target)
        if 0 in sizes and 0 in x.array.shape:
            sizes = resolved(sizes, x.array.shape)
        return eager.reshape(x, shape=sizes)
    if isinstance(late, list):
        return eager.reshape2(x, ShapeTensor=late, shape=_declared(target))
    return eager.reshape2(x, late)


def _has_several_unknown(sizes: Sequence[Any]) -> bool:
    """Whether more than one of some sizes is -1."""
    return sum(isinstance(n, int) and n == -1 for n in sizes) > 1


def _unknown(sizes: Sequence[Any], x: Any, stays: int) -> list[Any]:
    """Sizes with variables in place of those of other variables that are known in a run only.

    Args:
        sizes: of a result.
        x: its elements; a size of x in its place is ``stays``.
        stays: the number that copies it.
    """
    return [
        n
        if getattr(n, "variable", None) is None
        else stays
        if n.variable is x and n.axis == k
        else in_run(n)
        for k, n in enumerate(sizes)
    ]


def in_run(size: Any) -> Any:
    """A size of a variable that is known in a run only, as a variable of one element."""
    return get_item(eager.shape(size.variable), slice(size.axis, size.axis + 1))


def _declared(sizes: Any) -> tuple[int, ...]:
    """Sizes, -1 where a variable stands for one."""
    listed = sizes if isinstance(sizes, (list, tuple)) else [sizes]
    return tuple(-1 if isinstance(each, Operand) else int(each) for each in listed)


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """x with some dimensions, from the first to the last that is named, made one.

    >>> fluid.flatten(fluid.ones([2, 3, 4]), 1).shape
    [2, 12]
    """
    shape = x.array.shape
    if not shape or (x.appends is None and start_axis == 0 and stop_axis == -1):
        return eager.reshape(x, shape=(prod(shape),))
    start, stop = normal_axis(start_axis, len(shape)), normal_axis(stop_axis, len(shape))
    if stop < start:
        raise ShapeError(f"expected start_axis before stop_axis, got {start_axis} and {stop_axis}")
    if -1 in shape:
        return eager.flatten_contiguous_range(x, start_axis=start, stop_axis=stop)
    middle = prod(shape[start : stop + 1])
    return eager.reshape(x, shape=(*shape[:start], middle, *shape[stop + 1 :]))


def squeeze(x: Tensor, axis: Numbers | None = None, name: str | None = None) -> Tensor:
    """x without dimensions of size 1.

    Args:
        x: a tensor.
        axis: the dimensions to drop, as far as their size is 1; all of size 1 when there is none.

    >>> fluid.squeeze(fluid.ones([1, 2, 1])).shape
    [2]
    """
    shape = x.array.shape
    listed = () if axis is None else numbers_in("axis", axis)
    named = {normal_axis(a, max(len(shape), 1)) for a in listed} or range(len(shape))
    if -1 in shape:
        axes = [a for a in named if shape[a] in (1, -1)] if listed else ()
        if listed and not axes:
            return eager.assign(x)
        return eager.squeeze2(x, axes=axes, skips_others=True)
    remaining = tuple(n for i, n in enumerate(shape) if n != 1 or i not in named)
    return eager.reshape(x, shape=remaining)


def unsqueeze(x: Tensor, axis: Numbers, name: str | None = None) -> Tensor:
    """x with further dimensions of size 1.

    Args:
        x: a tensor.
        axis: where they are in the result; each counted when those before it are there.

    >>> fluid.unsqueeze(fluid.ones([2, 3]), [0, 2]).shape
    [1, 2, 1, 3]
    """
    if appends([axis]) is not None:
        return eager.unsqueeze2(x, axis)
    shape, axes = list(x.array.shape), numbers_in("axis", axis)
    if -1 in shape:
        return eager.unsqueeze2(x, axes=axes)
    for a in axes:
        shape.insert(normal_axis(a, len(shape) + 1), 1)
    return eager.reshape(x, shape=shape)


def transpose(x: TensorCore, perm: Numbers, *more: int, name: str | None = None) -> Tensor:
    """x with its dimensions in another order.

    Args:
        x: a tensor.
        perm: which dimension of x each one of the result is.
        more: further ones, where ``perm`` is the first of them.

    >>> fluid.transpose(fluid.ones([2, 3, 4]), [2, 0, 1]).shape
    [4, 2, 3]
    """
    return eager.transpose(x, axis=numbers_in("perm", (perm, *more) if more else perm))


def t(input: Tensor, name: str | None = None) -> Tensor:
    """The transpose of a matrix; vectors and numbers as they are.

    >>> fluid.t(fluid.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    if input.array.ndim > 2:
        raise ShapeError(
            f"expected at most 2 dimensions, got shape {list(input.array.shape)}; use transpose"
        )
    return eager.transpose(input, axis=(1, 0)) if input.array.ndim == 2 else input


def moveaxis(x: Tensor, source: Numbers, destination: Numbers, name: str | None = None) -> Tensor:
    """x with some dimensions moved to other places.

    >>> fluid.moveaxis(fluid.zeros([2, 3, 4]), 0, 2).shape
    [3, 4, 2]
    """
    ndim = x.array.ndim
    sources = [normal_axis(a, ndim) for a in numbers_in("source", source)]
    targets = [normal_axis(a, ndim) for a in numbers_in("destination", destination)]
    if len(sources) != len(targets):
        raise ArgumentError(
            f"expected as many places as dimensions, got {source} and {destination}"
        )
    order = [d for d in range(ndim) if d not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return eager.transpose(x, axis=tuple(order))


def swapaxes(x: Tensor, axis0: int, axis1: int, name: str | None = None) -> Tensor:
    """x with two dimensions exchanged.

    >>> fluid.swapaxes(fluid.to_tensor([[1, 2]]), 0, 1).tolist()
    [[1], [2]]
    """
    order = list(range(x.array.ndim))
    a, b = normal_axis(axis0, len(order)), normal_axis(axis1, len(order))
    order[a], order[b] = order[b], order[a]
    return eager.transpose(x, axis=tuple(order))


def tensors_of(what: str, given: Any) -> list[Any]:
    """Several tensors in one element type.

    Raises:
        ArgumentError: something else is among them, or there is none.
    """
    listed = list(given) if isinstance(given, (list, tuple)) else None
    if not listed or not all(isinstance(each, Operand) for each in listed):
        raise ArgumentError(f"expected {what} to be a list of tensors, got {given!r:.60}")
    types = {each.array.dtype for each in listed}
    if len(types) > 1:
        dtype = listed[0].array.dtype
        for other in types:
            dtype = common_type(dtype, other)
        listed = [e if e.array.dtype == dtype else cast_to(e, dtype) for e in listed]
    return listed


def concat(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors, one after the other along a dimension.

    Args:
        x: a list of tensors of the same sizes but along ``axis``.
        axis: the dimension.

    >>> fluid.concat([fluid.ones([2, 1]), fluid.zeros([2, 2])], axis=1).shape
    [2, 3]
    """
    along = scalar_in("axis", axis)
    if _is_array(x):
        return eager.tensor_array_to_tensor(x, axis=along)[0]
    return eager.concat(tensors_of("x", x), axis=along)


def stack(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape, side by side along a new dimension.

    >>> fluid.stack([fluid.ones([3]), fluid.zeros([3])], axis=1).shape
    [3, 2]
    """
    if _is_array(x):
        return eager.tensor_array_to_tensor(x, axis=axis, use_stack=True)[0]
    return eager.stack(tensors_of("x", x), axis=axis)


def _is_array(x: object) -> bool:
    """Whether it is an array of tensors of a program."""
    return getattr(x, "kind", None) is Kind.LOD_TENSOR_ARRAY


def split(
    x: Tensor, num_or_sections: Numbers, axis: int = 0, name: str | None = None
) -> list[Tensor]:
    """The parts of x along a dimension.

    Args:
        x: a tensor.
        num_or_sections: how many parts of one size, or a list of their sizes, one of which may be
            -1.
        axis: the dimension.

    >>> [part.tolist() for part in fluid.split(fluid.to_tensor([1, 2, 3]), [1, 2])]
    [[1], [2, 3]]
    """
    (along,) = numbers_in("axis", axis)
    if isinstance(num_or_sections, (list, tuple)):
        sections = numbers_in("num_or_sections", num_or_sections)
        return eager.split(x, sections=sections, axis=along)
    (num,) = numbers_in("num_or_sections", num_or_sections)
    return eager.split(x, num=num, axis=along)


def chunk(x: Tensor, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """``chunks`` parts of one size along a dimension.

    >>> [part.tolist() for part in fluid.chunk(fluid.to_tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    return split(x, chunks, axis)


def unstack(x: TensorCore, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """The slices of x along a dimension, which they do not have.

    >>> [row.tolist() for row in fluid.unstack(fluid.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    along = normal_axis(axis, x.array.ndim)
    return eager.unstack(x, axis=along, num=+x.array.shape[along] if num is None else num)


def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of a tensor along a dimension; the same as ``unstack``.

    >>> [part.tolist() for part in fluid.unbind(fluid.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return unstack(input, axis)


def broadcast_to(x: Tensor, shape: Numbers, name: str | None = None) -> Tensor:
    """x repeated along dimensions of size 1, and new ones in front.

    Args:
        x: a tensor.
        shape: the sizes of the result; -1 keeps that of x.

    Raises:
        ShapeError: the sizes do not fit.

    >>> fluid.broadcast_to(fluid.to_tensor([1.0, 2.0]), [3, 2]).shape
    [3, 2]
    """
    old, late = x.array.shape, None
    if x.appends is not None:
        shape = _unknown(shape, x, -1) if isinstance(shape, (list, tuple)) else shape
        late = known_in_run("shape", shape)
    if late is not None:
        tensors, whole = (late, None) if isinstance(late, list) else (None, late)
        return eager.expand_v2(x, whole, tensors, shape=_declared(shape) if tensors else ())
    wanted = numbers_in("shape", shape)
    if wanted == old:
        return eager.assign(x)
    lead = len(wanted) - len(old)
    full = (1,) * lead + old
    if lead < 0 or any(n not in (1, m, -1) and m != -1 for n, m in zip(full, wanted)):
        raise ShapeError(f"cannot broadcast shape {list(old)} to {list(wanted)}")
    if -1 in old:  # it may be 1 in a run
        return eager.expand_v2(x, shape=wanted)
    times = tuple(1 if m in (-1, n) else m for n, m in zip(full, wanted))
    x = eager.reshape(x, shape=full) if lead else x
    if 0 in times:  # nothing of a dimension of size 1 is left
        x = get_item(x, tuple(slice(0 if n == 0 else None) for n in times))
        times = tuple(max(n, 1) for n in times)
    return eager.expand(x, expand_times=times)


def expand(x: Tensor, shape: Numbers, name: str | None = None) -> Tensor:
    """x repeated along dimensions of size 1, and new ones; the same as ``broadcast_to``.

    >>> fluid.expand(fluid.to_tensor([[1], [2]]), [2, 3]).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    return broadcast_to(x, shape)


def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """x broadcast to the shape of y.

    >>> fluid.expand_as(fluid.to_tensor([1, 2]), fluid.zeros([2, 2])).tolist()
    [[1, 2], [1, 2]]
    """
    if -1 in y.array.shape:  # known in a run only
        return eager.expand_as_v2(x, y)
    return broadcast_to(x, y.array.shape)


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that two shapes broadcast to.

    >>> fluid.broadcast_shape([2, 1, 3], [4, 1])
    [2, 4, 3]
    """
    return list(broadcast(tuple(x_shape), tuple(y_shape)))


def spread_alike(values: Sequence[Any]) -> list[Any]:
    """Variables and arrays in the shape that they all broadcast to when the program runs.

    Args:
        values: of any element types.
    """
    zeros = [
        cast_to(eager.fill_any_like(each, value=0.0), _INT)
        if isinstance(each, Operand)
        else np.zeros(each.shape, _INT)
        for each in values
    ]
    like = functools.reduce(eager.elementwise_add, zeros)
    return [_spread_like(each, like) for each in values]


def _spread_like(x: Any, zeros: Any) -> Any:
    """A variable or an array in the shape of a variable of zeros."""
    dtype = (x.array if isinstance(x, Operand) else x).dtype
    if dtype.kind == "b":
        return cast_to(_spread_like(cast_to(x, zeros.array.dtype), zeros), dtype)
    return eager.elementwise_add(cast_to(zeros, dtype), x)


def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Tensors in the shape that they all broadcast to.

    >>> y = fluid.to_tensor([[1], [2]])
    >>> [x.shape for x in fluid.broadcast_tensors([y, fluid.to_tensor([1, 2, 3])])]
    [[2, 3], [2, 3]]
    """
    listed = tensors_of("input", input)
    if any(-1 in each.array.shape for each in listed):  # a size that is known in a run only
        return spread_alike(listed)
    shape = functools.reduce(broadcast, [each.array.shape for each in listed])
    return [broadcast_to(each, shape) for each in listed]


def tile(x: Tensor, repeat_times: Numbers, name: str | None = None) -> Tensor:
    """x repeated along its dimensions.

    Args:
        x: a tensor.
        repeat_times: how often along each dimension, the last one last.

    >>> fluid.tile(fluid.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    late = None if x.appends is None else known_in_run("repeat_times", repeat_times)
    if isinstance(late, list):
        return eager.tile(x, None, late, repeat_times=_declared(repeat_times))
    if late is not None:
        return eager.tile(x, late)
    if -1 in x.array.shape:
        return eager.tile(x, repeat_times=numbers_in("repeat_times", repeat_times))
    times, old = numbers_in("repeat_times", repeat_times), x.array.shape
    ndim = max(len(times), len(old))
    times = (1,) * (ndim - len(times)) + times
    full = (1,) * (ndim - len(old)) + old
    x = eager.reshape(x, shape=full) if full != old else x
    return eager.expand(x, expand_times=times) if ndim else eager.assign(x)


def flip(x: Tensor, axis: Numbers, name: str | None = None) -> Tensor:
    """x with its elements in reverse order along some dimensions.

    >>> fluid.flip(fluid.to_tensor([1, 2, 3]), [0]).tolist()
    [3, 2, 1]
    """
    dims = numbers_in("axis", axis)
    if not dims:
        return eager.assign(x)
    return eager.flip(x, dims=dims) if x.array.ndim else of_number(flip, x, dims)


def roll(
    x: Tensor, shifts: Numbers, axis: Numbers | None = None, name: str | None = None
) -> Tensor:
    """x with its elements moved, those that fall off one end coming back at the other.

    Args:
        x: a tensor.
        shifts: how far, for each dimension.
        axis: the dimensions; of the flattened tensor when None.

    >>> fluid.roll(fluid.to_tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    dims = () if axis is None else numbers_in("axis", axis)
    if appends([shifts]) is not None:
        return eager.roll(x, shifts, dims=dims)
    return eager.roll(x, shifts=numbers_in("shifts", shifts), dims=dims)


def tril(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """x with zeros above a diagonal of its last two dimensions.

    >>> fluid.tril(fluid.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return eager.tril_triu(x, diagonal=diagonal, lower=True)


def triu(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """x with zeros below a diagonal of its last two dimensions.

    >>> fluid.triu(fluid.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return eager.tril_triu(x, diagonal=diagonal, lower=False)


def meshgrid(*args: Tensor | Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Vectors as the axes of a grid: each in the shape of the whole.

    >>> a, b = fluid.meshgrid(fluid.to_tensor([1, 2]), fluid.to_tensor([10, 20, 30]))
    >>> b.tolist()
    [[10, 20, 30], [10, 20, 30]]
    """
    vectors: list[Any] = (
        list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    )
    if any(-1 in v.array.shape for v in vectors):
        return eager.meshgrid(vectors)
    shape = [v.array.size for v in vectors]
    grids = []
    for i, v in enumerate(vectors):
        along = [1] * len(shape)
        along[i] = shape[i]
        grids.append(broadcast_to(eager.reshape(v, shape=tuple(along)), shape))
    return grids


def repeat_interleave(
    x: Tensor, repeats: int | Tensor, axis: int | None = None, name: str | None = None
) -> Tensor:
    """x with each element repeated in its place, along a dimension, or flattened when None.

    >>> fluid.repeat_interleave(fluid.to_tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    if axis is None:
        x, axis = eager.reshape(x, shape=(-1,)), 0
    if isinstance(repeats, Operand):
        return eager.repeat_interleave(x, repeats, dim=axis)
    if x.array.shape[axis] == -1:
        return eager.repeat_interleave(x, Repeats=repeats, dim=axis)
    index = np.repeat(np.arange(+x.array.shape[axis]), repeats)
    return eager.index_select(x, index, dim=axis)


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements of x.

    >>> fluid.numel(fluid.zeros([2, 3])).item()
    6
    """
    if -1 in x.array.shape:  # known in a run only
        count = eager.size(x)
        return eager.reshape(count, shape=()) if state.builds.get() else count
    return x.results(np.asarray(x.array.size, "int64"))


def rank(input: Tensor) -> Tensor:
    """The number of dimensions of a tensor.

    >>> fluid.rank(fluid.zeros([2, 3])).item()
    2
    """
    return input.results(np.asarray(input.array.ndim, "int32"))
