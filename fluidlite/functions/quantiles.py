"""What stands in the middle of others, or most often: medians and shares without NaN, modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError
from ..ground.spellings import parameters_of
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import add, equal, logical_not, maximum, minimum, multiply, subtract
from .counting import quantile
from .elementary import cast, floats, floor, isnan
from .reduction import sum as total
from .selection import chosen, sort, take_along_axis
from .shaping import reshape, squeeze, stack, transpose, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..eager.tensor import Tensor
    from .arguments import Axes


def mode(
    x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The elements that occur most often along a dimension, and where they stand last.

    Args:
        x: a tensor; of several elements that occur equally often the smallest is taken.
        axis: the dimension.
        keepdim: it stays, with size 1.

    >>> value, place = fluid.mode(fluid.to_tensor([2, 1, 2]))
    >>> int(value), int(place)
    (2, 2)
    """
    return eager.mode(x, axis=axis, keepdim=keepdim)


def _rows(x: Any, axis: Axes) -> tuple[Any, list[int]]:
    """A tensor with some dimensions as one, which is the last, and their numbers."""
    rank = x.array.ndim
    given: Any = [*range(rank)] if axis is None else axis
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    axes = [normal_axis(a, max(rank, 1)) for a in listed][:rank]
    rest = [a for a in range(rank) if a not in axes]
    row = transpose(x, [*rest, *axes]) if rank else reshape(x, [1])
    if len(axes) != 1:
        row = reshape(row, [*(x.array.shape[a] for a in rest), -1])
    return row, axes


def _among_numbers(
    x: Any, axis: Axes, keepdim: bool, shares: Sequence[Callable[[Any], Any]]
) -> list[Any]:
    """For each of some functions of how many numbers a row has, the elements, interpolated, at the
    place in their order that it gives; NaN where there are no numbers.
    """
    rows, axes = _rows(x, axis)
    if not rows.array.shape[-1]:  # a NaN stands in, which counts as no number
        paddings = [0] * (2 * rows.array.ndim - 1) + [1]
        rows = eager.pad(rows, paddings=paddings, pad_value=np.nan)
    count = total(cast(logical_not(isnan(rows)), "float64"), -1, keepdim=True)
    ordered, last = sort(rows, -1), subtract(count, 1.0)
    values = []
    for share in shares:
        place = maximum(share(last), 0.0)
        low = floor(place)
        ends = [
            take_along_axis(ordered, cast(k, "int64"), -1)
            for k in (low, minimum(add(low, 1.0), maximum(last, 0.0)))
        ]
        part = cast(subtract(place, low), str(ends[0].array.dtype))
        between = add(multiply(ends[0], subtract(1.0, part)), multiply(ends[1], part))
        value = squeeze(chosen(equal(part, 0.0), ends[0], between), -1)
        if keepdim:
            value = unsqueeze(value, sorted(axes))
        values.append(value)
    return values


def nanmedian(
    x: Tensor, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The median of what is no NaN: the element in the middle, or the mean of the two that are.

    Args:
        x: a tensor.
        axis: one dimension or several; all when None.
        keepdim: they stay, with size 1.

    >>> float(fluid.nanmedian(fluid.to_tensor([float("nan"), 1.0, 3.0])))
    2.0
    """
    whole = x.array.dtype.kind in "iu"
    numbers = cast(x, "float64") if whole else floats(x)
    (found,) = _among_numbers(numbers, axis, keepdim, [lambda last: multiply(last, 0.5)])
    return cast(found, x.dtype) if whole else found


@parameters_of(quantile)
def nanquantile(x: Tensor, q: Any, axis: Axes, keepdim: bool) -> Tensor:
    """The value below which a share of what is no NaN lies, interpolated between two, float64.

    >>> float(fluid.nanquantile(fluid.to_tensor([1.0, 2.0, float("nan")]), 0.5))
    1.5
    """
    shares = np.asarray(q.array if isinstance(q, Operand) else q, "float64")
    if ((shares < 0) | (shares > 1)).any():
        raise ArgumentError(f"expected q in [0, 1], got {q!r}")
    places = [lambda last, share=float(share): multiply(last, share) for share in shares.ravel()]
    values = _among_numbers(cast(x, "float64"), axis, keepdim, places)
    return stack(values, 0) if shares.ndim else values[0]
