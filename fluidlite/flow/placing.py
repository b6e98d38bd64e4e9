"""Elements at places that tensors say, in OneFlow's spelling."""

from __future__ import annotations

from builtins import slice as Slice
from collections.abc import Sequence
from math import nan, prod
from typing import TYPE_CHECKING

import numpy as np

from ..eager.engine import located
from ..errors import ArgumentError, ShapeError
from ..functions import arithmetic, composed, elementary, reduction, selection, shaping, special
from ..functions.items import get_item, set_item
from ..opdef.operand import appends
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from .spelling import Function
    from .tensor import Tensor

Slices = Sequence[Sequence[int | None]]

gather_nd: Function = ONEFLOW(selection.gather_nd)
scatter_nd: Function = ONEFLOW(selection.scatter_nd, updates="update")
nansum: Function = ONEFLOW(composed.nansum, order="input, dim, keepdim, *, dtype")
lgamma: Function = ONEFLOW(special.lgamma)


def erfinv(input: Tensor) -> Tensor:
    """The number whose ``erf`` is the input; NaN outside of [-1, 1].

    >>> fluid.flow.erfinv(fluid.flow.tensor([0.0, 0.5, 2.0])).numpy().round(4)
    array([0.    , 0.4769,    nan], dtype=float32)
    """
    outside = arithmetic.greater_than(elementary.abs(input), 1.0)
    return selection.chosen(outside, nan, special.erfinv(input))


def tensor_scatter_nd_update(tensor: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """The tensor with other elements, or slices, at places.

    Args:
        tensor: a tensor.
        indices: the places, whose numbers are in the last dimension.
        updates: what is put there.

    >>> places = fluid.flow.tensor([[1], [3]])
    >>> new = fluid.flow.tensor([-1, -2])
    >>> fluid.flow.tensor_scatter_nd_update(fluid.flow.arange(5), places, new).tolist()
    [0, -1, 2, -2, 4]
    """
    places = tuple(indices[..., k] for k in range(+indices.array.shape[-1]))
    return set_item(tensor, places, updates)


def _of_slices(slice_tup_list: Slices) -> tuple[Slice, ...]:
    return tuple(Slice(*each) for each in slice_tup_list)


def slice(input: Tensor, slice_tup_list: Slices) -> Tensor:
    """The elements from a start to an end in steps, along each dimension.

    Args:
        input: a tensor.
        slice_tup_list: start, end and step for each of the first dimensions; None for all.

    >>> fluid.flow.slice(fluid.flow.arange(6), [[1, 5, 2]]).tolist()
    [1, 3]
    """
    return input[_of_slices(slice_tup_list)]


def slice_update(input: Tensor, update: Tensor, slice_tup_list: Slices) -> Tensor:
    """Write a tensor to the elements that :func:`slice` would give, and give the input.

    >>> x = fluid.flow.tensor([1.0, 2.0, 3.0])
    >>> fluid.flow.slice_update(x, fluid.flow.tensor([9.0]), [[1, 2, 1]]).tolist()
    [1.0, 9.0, 3.0]
    """
    input[_of_slices(slice_tup_list)] = update
    return input


def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
) -> Tensor:
    """The elements of a tensor at steps of their own.

    Args:
        input: a tensor.
        size: the sizes of the result.
        stride: how many elements lie from one place to the next along each dimension.
        storage_offset: where the first one is.

    Raises:
        ShapeError: a place lies outside of the tensor, or the lists are of different lengths.

    >>> fluid.flow.as_strided(fluid.flow.arange(6), (2, 2), (1, 2), 1).tolist()
    [[1, 3], [2, 4]]
    """
    if len(size) != len(stride):
        raise located(ShapeError, f"expected a stride for each of {list(size)}, got {list(stride)}")
    steps = np.array([*stride, 0], "int64")[:-1]
    places = np.tensordot(steps, np.indices(tuple(size)), 1) + storage_offset
    flat, count = shaping.reshape(input, [-1]), prod(+n for n in input.array.shape)
    if places.size and not 0 <= places.min() <= places.max() < count:
        raise located(ShapeError, f"expected places within {count} elements, got {places.max()}")
    return get_item(flat, np.asarray(places, "int64"))


def batch_gather(input: Tensor, indices: Tensor) -> Tensor:
    """For each of a batch the rows that its indices name.

    Args:
        input: [batch, ..., n, ...].
        indices: [batch, ..., k], integers below n; [k] where there is no batch.

    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.batch_gather(x, fluid.flow.tensor([[0], [1]])).tolist()
    [[1.0], [4.0]]
    """
    rank = len(indices.array.shape)
    if rank < 1 or tuple(input.array.shape[: rank - 1]) != tuple(indices.array.shape[:-1]):
        raise located(
            ShapeError,
            f"expected indices for each of {list(input.array.shape)}, got "
            f"{list(indices.array.shape)}",
        )
    places = list(np.indices([+n for n in indices.array.shape]))[:-1]
    return get_item(input, (*places, indices))


def in_top_k(targets: Tensor, predictions: Tensor, k: int) -> Tensor:
    """Whether the target of each row is among its k largest predictions.

    Args:
        targets: [rows], integers.
        predictions: [rows, classes].
        k: how many.

    >>> scores = fluid.flow.tensor([[0.1, 0.9], [0.8, 0.2]])
    >>> fluid.flow.in_top_k(fluid.flow.tensor([1, 1]), scores, k=1).tolist()
    [True, False]
    """
    own = selection.take_along_axis(predictions, shaping.unsqueeze(targets, 1), 1)
    larger = reduction.sum(arithmetic.greater_than(predictions, own), 1)
    return arithmetic.less_than(larger, k)


def broadcast_like(x: Tensor, like_tensor: Tensor, broadcast_axes: Sequence[int] = ()) -> Tensor:
    """The tensor repeated to the shape of another one.

    Args:
        x: a tensor.
        like_tensor: the other one.
        broadcast_axes: the dimensions of the other one that x lacks; the first ones when empty.

    >>> x = fluid.flow.tensor([1.0, 2.0])
    >>> fluid.flow.broadcast_like(x, fluid.flow.zeros(2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    if broadcast_axes and len(x.array.shape) < len(like_tensor.array.shape):
        x = shaping.unsqueeze(x, list(broadcast_axes))
    return shaping.broadcast_to(x, [+n for n in like_tensor.array.shape])


def roc_auc_score(label: Tensor, pred: Tensor) -> Tensor:
    """How likely a positive sample is rated above a negative one; equal ratings count half.

    Args:
        label: 1 for positive samples, 0 for others.
        pred: the ratings.

    Raises:
        ArgumentError: all samples are of one kind; a variable of a program is given.

    >>> ratings = fluid.flow.tensor([0.1, 0.4, 0.35, 0.8])
    >>> fluid.flow.roc_auc_score(fluid.flow.tensor([0, 0, 1, 1]), ratings)
    tensor([0.7500], dtype=oneflow.float32)
    """
    if appends([label, pred]) is not None:
        raise located(ArgumentError, "roc_auc_score takes tensors, got a variable of a program")
    positive = np.asarray(label.array).reshape(-1) != 0
    ratings = np.asarray(pred.array, "float64").reshape(-1)
    others = np.sort(ratings[~positive])
    pairs = positive.sum() * len(others)
    if not pairs:
        raise located(ArgumentError, "expected samples of both kinds, got one")
    mine = ratings[positive]
    below = np.searchsorted(others, mine, "left") + np.searchsorted(others, mine, "right")
    return pred.results(np.array([below.sum() / 2 / pairs], "float32"))


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The boxes that overlap none of a higher score too much, the highest score first.

    Args:
        boxes: [n, 4]: left, top, right, bottom.
        scores: [n].
        iou_threshold: from which share of their union on two overlap too much.

    >>> boxes = fluid.flow.tensor(
    ...     [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]]
    ... )
    >>> fluid.flow.nms(boxes, fluid.flow.tensor([0.9, 0.8, 0.7]), 0.5).tolist()
    [0, 2]
    """
    edges, left = np.asarray(boxes.array, "float64"), np.argsort(-np.asarray(scores.array))
    areas = (edges[:, 2:] - edges[:, :2]).prod(1)
    chosen = []
    while len(left):
        first, left = left[0], left[1:]
        chosen.append(first)
        corners = np.minimum(edges[left, 2:], edges[first, 2:])
        common = np.maximum(corners - np.maximum(edges[left, :2], edges[first, :2]), 0).prod(1)
        left = left[common <= iou_threshold * (areas[left] + areas[first] - common)]
    return boxes.results(np.array(chosen, "int64"))
