"""Linear maps and lookups, and what thins them out, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ....eager.engine import located
from ....eager.flat import kinked
from ....eager.mode import no_grad
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions.arithmetic import add, equal, matmul, multiply, not_equal, true_divide
from ....functions.elementary import cast
from ....functions.selection import gather, unique
from ....functions.shaping import reshape, unsqueeze
from ....nn.functional import projection as lenient
from ....nn.functional.windows import of_rank
from ...elementary import where
from ...generators import Generator, drawing_from

if TYPE_CHECKING:
    from ...tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input weight^T + bias.

    Args:
        input: [..., m].
        weight: [n, m].
        bias: [n].

    >>> w = fluid.flow.tensor([[1.0, 10.0]])
    >>> fluid.flow.nn.functional.linear(fluid.flow.tensor([[1.0, 2.0]]), w).tolist()
    [[21.0]]
    """
    out = matmul(input, weight, transpose_y=True)
    return out if bias is None else add(out, bias)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of a table by number.

    Args:
        input: integers, of any shape.
        weight: the table, a row for each number.
        padding_idx: the number through whose row no gradient flows.
        max_norm: rows that are longer are made as long, in the table, before they are looked up.
        norm_type: the norm that says how long they are.
        scale_grad_by_freq: the gradient of a row is divided by how often it is looked up.

    >>> x = fluid.flow.tensor([2, 0])
    >>> y = fluid.flow.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> fluid.flow.nn.functional.embedding(x, y).tolist()
    [[4.0, 5.0], [0.0, 1.0]]
    """
    if max_norm is not None:
        _shorten(weight, np.unique(input.array), float(max_norm), norm_type)
    rows = eager.lookup_table_v2(weight, input)
    if padding_idx is None and not scale_grad_by_freq:
        return rows
    share: Any = 1.0
    if padding_idx is not None:
        share = cast(not_equal(input, _row(padding_idx, weight)), rows.dtype)
    if scale_grad_by_freq:
        _, places, counts = unique(input, return_inverse=True, return_counts=True)
        often = reshape(gather(cast(counts, rows.dtype), places), list(input.array.shape))
        share = true_divide(share, often)
    share = unsqueeze(share, -1).detach()
    still = multiply(rows, 1.0 - share).detach()
    return add(multiply(rows, share), still)


def _row(number: int, table: Tensor) -> int:
    """The number of a row, counted from the front."""
    return number if number >= 0 else number + table.array.shape[0]


def _shorten(table: Tensor, numbers: Any, most: float, norm_type: float) -> None:
    rows = table.array[numbers]
    lengths = np.linalg.norm(rows, norm_type, axis=1, keepdims=True)
    array = table.array.copy()
    array[numbers] = np.where(lengths > most, rows * (most / (lengths + 1e-7)), rows)
    with no_grad():
        table.write(lambda old: old.results(array))


def one_hot(
    input: Tensor, num_classes: int = -1, on_value: float = 1, off_value: float = 0
) -> Tensor:
    """Zeros, and a 1 where a number says, as integers.

    Args:
        input: integers from 0 on.
        num_classes: the size of the new last dimension; -1 for the largest number and 1.
        on_value, off_value: what stands in place of 1 and 0.

    >>> fluid.flow.nn.functional.one_hot(fluid.flow.tensor([0, 2]), num_classes=3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    if (on_value, off_value) != (1, 0):
        return where(cast(one_hot(input, num_classes), "bool"), on_value, off_value)
    classes = int(input.array.max()) + 1 if num_classes == -1 else int(num_classes)
    if input.appends is not None:
        return cast(equal(unsqueeze(input, -1), np.arange(classes)), "int64")
    if input.array.size and not 0 <= int(input.array.min()) <= int(input.array.max()) < classes:
        raise located(ArgumentError, f"expected numbers in [0, {classes})")
    return input.results(np.eye(classes, dtype="int64")[input.array])


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
    addend: Tensor | None = None,
) -> Tensor:
    """x with each element set to 0 with probability p, and divided by 1 - p elsewhere.

    Args:
        input: a tensor.
        p: the probability.
        training: False: x itself.
        inplace: write the result to ``input``.
        generator: draws what is set to 0; the default one when None.
        addend: a tensor that is added to the result, or None.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> fluid.flow.nn.functional.dropout(x, 0.5, training=False).tolist()
    [1.0, 2.0]
    """
    with drawing_from(generator):
        dropped = _dropped(input, None, p, training, inplace)
    return dropped if addend is None else add(dropped, addend)


def _dropped(x: Tensor, axes: list[int] | None, p: float, training: bool, inplace: bool) -> Tensor:
    """x with elements set to 0; where axes are given, whole slices along the others."""
    if not 0 <= p <= 1:
        raise located(ArgumentError, f"expected p in [0, 1], got {p!r:.60}")
    if not training or p == 0:
        return x
    drop = partial(lenient.dropout, p=p, axis=axes)
    return x.write(drop) if inplace else drop(x)


def _dropout_of_channels(
    rank: int,
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """The same for whole channels of [N, C, H, W]; see :func:`dropout`."""
    if input.array.ndim not in (rank + 1, rank + 2):
        raise located(
            ShapeError,
            f"expected {rank + 2} dimensions, [N, C, ...], got {list(input.array.shape)}",
        )
    with drawing_from(generator):
        return _dropped(input, [*range(input.array.ndim - rank)], p, training, inplace)


dropout1d: Final = of_rank(
    1,
    _dropout_of_channels,
    "dropout1d",
    example="""
    >>> fluid.flow.nn.functional.dropout1d(fluid.flow.ones(1, 2, 3), 0.5, training=False).shape
    oneflow.Size([1, 2, 3])
    """,
)
dropout2d: Final = of_rank(
    2,
    _dropout_of_channels,
    "dropout2d",
    example="""
    >>> x = fluid.flow.ones(1, 2, 3, 3)
    >>> fluid.flow.nn.functional.dropout2d(x, 0.5, training=False).shape
    oneflow.Size([1, 2, 3, 3])
    """,
)
dropout3d: Final = of_rank(
    3,
    _dropout_of_channels,
    "dropout3d",
    example="""
    >>> x = fluid.flow.ones(1, 2, 3, 3, 3)
    >>> fluid.flow.nn.functional.dropout3d(x, 0.5, training=False).shape
    oneflow.Size([1, 2, 3, 3, 3])
    """,
)


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """x with further elements around it.

    Args:
        input: a tensor.
        pad: two numbers, before and after, for the last dimension, then for the one before it, ...;
            negative ones cut elements off.
        mode: "constant"; or "reflect", "replicate" or "circular", which repeat elements of x.
        value: what ``constant`` adds; 0 when None.

    >>> fluid.flow.nn.functional.pad(fluid.flow.tensor([[1.0, 2.0]]), (1, 0), value=9.0).tolist()
    [[9.0, 1.0, 2.0]]
    """
    ways = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in ways:
        raise located(ArgumentError, f"expected mode one of {', '.join(ways)}, got {mode!r:.60}")
    ndim = input.array.ndim
    if len(pad) % 2 or len(pad) > 2 * ndim:
        raise located(
            ArgumentError, f"expected at most {ndim} pairs of numbers, got {list(pad)!r:.60}"
        )
    pairs = [(0, 0)] * (ndim - len(pad) // 2) + [
        (int(pad[i]), int(pad[i + 1])) for i in range(len(pad) - 2, -1, -2)
    ]
    # what repeats elements depends on them, as a maximum does, with a derivative of zero
    out = kinked(input) if mode in ("reflect", "replicate") else input
    for dim, (before, after) in enumerate(pairs):
        if before or after:
            around = (max(before, 0), max(after, 0))
            if mode != "constant" or min(before, after) < 0:
                places = np.arange(+out.array.shape[dim])
                places = places[max(-before, 0) : len(places) - max(-after, 0)]
                if mode != "constant" and any(around):
                    places = np.pad(places, around, mode=ways[mode])
                out = eager.index_select(out, places.astype("int64"), dim=dim)
            if mode == "constant" and any(around):
                paddings = [0, 0] * dim + [*around] + [0, 0] * (ndim - dim - 1)
                fill = 0.0 if value is None else float(value)
                out = eager.pad(out, paddings=paddings, pad_value=fill)
    return out
