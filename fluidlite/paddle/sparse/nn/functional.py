"""``paddle.sparse.nn.functional``: activations, convolutions and pooling of sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....eager.recording import eager
from ....errors import ShapeError
from ....functions import elementary
from ....functions.creation import to_tensor
from ....functions.views import reshape, transpose
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling
from ....ground.tracebacks import api_boundaries
from ....nn import functional as F
from ....nn.functional.windows import each
from ....opdef.spec import normal_axis
from ...holders import hold
from ..products import masked_matmul, matmul
from ..tensor import CooTensor, SparseTensor, need_sparse, numbers_of, taken
from .windows import convolved, images, moves_of

__all__ = [
    "attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax",
    "subm_conv2d", "subm_conv3d",
]  # fmt: skip

_OF = Family({"x": "a sparse tensor.", "name": "accepted."})


@_OF
def relu(x: SparseTensor, name: str | None = None) -> Any:
    """Each value, or 0 where it is negative.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 1]], [-1.0, 2.0], [3])
    >>> paddle.sparse.nn.functional.relu(x).values().tolist()
    [0.0, 2.0]
    """
    need_sparse("relu", x=x)
    return x.with_values(F.relu(x.values()))


@_OF
def relu6(x: SparseTensor, name: str | None = None) -> Any:
    """Each value, kept between 0 and 6."""
    need_sparse("relu6", x=x)
    return x.with_values(F.relu6(x.values()))


@_OF
def leaky_relu(x: SparseTensor, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """Each value, or a part of it where it is negative.

    Args:
        negative_slope: the part.
    """
    need_sparse("leaky_relu", x=x)
    return x.with_values(F.leaky_relu(x.values(), negative_slope))


@_OF
def softmax(x: SparseTensor, axis: int = -1, name: str | None = None) -> Any:
    """The softmax of what is stored along a dimension; what is not stored has no share.

    Args:
        axis: the dimension.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1.0, 1.0, 5.0], [2, 3])
    >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
    [0.5, 0.5, 1.0]
    """
    need_sparse("softmax", x=x)
    axis, split = normal_axis(axis, x.ndim), len(x.sparse_shape())
    if axis >= split:
        return x.with_values(F.softmax(x.values(), axis - split + 1))
    others = [i for i in range(split) if i != axis]
    sizes = [x.shape[i] for i in others]
    return x.with_values(_softmax(x.values(), numbers_of(x.coordinates()[others], sizes)))


def _softmax(values: Any, numbers: Any) -> Any:
    """The softmax among the rows of values that have one number."""
    groups, inverse = np.unique(numbers, return_inverse=True)
    of, size = inverse.reshape(-1), len(groups)
    index = to_tensor(of)
    largest = eager.pool_rows(values.detach(), index, None, how="MAX", size=size)
    powers = elementary.exp(values - taken(largest, of))
    return powers / taken(eager.pool_rows(powers, index, None, how="SUM", size=size), of)


_WINDOWS = Family(
    {
        "x": "[N, *sizes, C]: a COO tensor with coordinates of all but the channels.",
        "weight": "[*kernel, C, filters]: a dense tensor.",
        "bias": "[filters], or None.",
        "stride": "a number, or one for each dimension.",
        "padding": "a number, or one for each dimension; SAME or VALID.",
        "dilation": "a number, or one for each dimension.",
        "groups": "1.",
        "data_format": "with the channels last.",
        "name": "accepted.",
    },
    raises="ArgumentError: it is another tensor, or ``groups`` is not 1.",
)


_SAME = Family(
    {
        "stride": "accepted: the result has the places of the input.",
        "padding": "accepted: windows lie around these places.",
        "key": "accepted.",
    }
)


def _convolution(
    rank: int,
    same_places: bool,
    x: CooTensor,
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> Any:
    """Convolved with filters."""
    given = (stride, padding, dilation, groups, data_format)
    return convolved(x, weight, bias, *given, rank=rank, same_places=same_places)


_SPELLED = Spelling({})
_ALL = {"same_places": False, "key": None}
_IMAGES = {"data_format": "NHWC"}
conv3d: Callable[..., Any] = _WINDOWS(
    _SPELLED(
        _convolution,
        "conv3d",
        """Volumes convolved with filters: the result has elements wherever one of the input
        reaches.

        >>> from fluidlite import paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [2], [0]], [[2.0]], [1, 3, 4, 5, 1])
        >>> y = paddle.sparse.nn.functional.conv3d(x, paddle.ones([2, 2, 2, 1, 3]))
        >>> y.shape, y.nnz()
        ([1, 2, 3, 4, 3], 4)
        """,
        fixed={"rank": 3, **_ALL},
    )
)
conv2d: Callable[..., Any] = _WINDOWS(
    _SPELLED(
        _convolution,
        "conv2d",
        "Images convolved with filters: the result has elements wherever one of the input reaches.",
        fixed={"rank": 2, **_ALL},
        defaults=_IMAGES,
    )
)
subm_conv3d: Callable[..., Any] = _WINDOWS(
    _SAME(
        _SPELLED(
            _convolution,
            "subm_conv3d",
            """Volumes convolved with filters at the places of the input alone (Graham and van der
            Maaten, Submanifold sparse convolutional networks, 2017).
            """,
            fixed={"rank": 3, "same_places": True},
        )
    )
)
subm_conv2d: Callable[..., Any] = _WINDOWS(
    _SAME(
        _SPELLED(
            _convolution,
            "subm_conv2d",
            "Images convolved with filters at the places of the input alone.",
            fixed={"rank": 2, "same_places": True},
            defaults=_IMAGES,
        )
    )
)


@_WINDOWS
def max_pool3d(
    x: CooTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | str | Sequence[int] = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The largest of what is stored in each window; windows without elements have none.

    Args:
        kernel_size: the size of the window, a number or one for each dimension.
        stride: as of the convolution; ``kernel_size`` when None.
        ceil_mode: windows may begin that end behind the input.
    """
    x = images("max_pool3d", x, 3, data_format)
    kernel = each("kernel_size", kernel_size, 3)
    step = kernel if stride is None else stride
    moves = moves_of(x, kernel, step, padding, 1, ceil_mode=ceil_mode)
    terms = taken(x.values(), np.concatenate(moves.sources))
    targets = to_tensor(np.concatenate(moves.targets))
    size = moves.places.shape[1]
    values = eager.pool_rows(terms, targets, None, how="MAX", size=size)
    return CooTensor(moves.places, values, [*moves.sizes, x.shape[-1]])


def attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_mask: SparseTensor,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Any:
    """Attention where a sparse tensor says which element looks at which.  paddle 2.6 has it on GPUs
    alone.

    Args:
        query, key, value: [batch, heads, length, width].
        sparse_mask: [batch * heads, length, length]: its places are looked at.
        key_padding_mask: [batch, length]: what is 0 is not looked at.
        attn_mask: [length, length]: what is 0 is not looked at.
        name: accepted.

    Returns:
        [batch, heads, length, width].

    Raises:
        ShapeError: the mask is of another shape.
    """
    need_sparse("attention", sparse_mask=sparse_mask)
    batch, heads, length, width = query.shape
    if sparse_mask.shape != [batch * heads, length, length]:
        raise ShapeError(
            f"attention: expected a sparse_mask of shape {[batch * heads, length, length]}, got "
            f"{sparse_mask.shape}"
        )
    q, k, v = (reshape(part, [-1, length, width]) for part in (query, key, value))
    places = sparse_mask.coordinates()
    looked = np.ones(places.shape[1], bool)
    if key_padding_mask is not None:
        looked &= key_padding_mask.numpy()[places[0] // heads, places[2]] != 0
    if attn_mask is not None:
        looked &= attn_mask.numpy()[places[1], places[2]] != 0
    ones = taken(sparse_mask.values(), np.flatnonzero(looked))
    mask = type(sparse_mask).of(places[:, looked], ones, sparse_mask.shape)
    turned = transpose(k, [0, 2, 1])
    scores = masked_matmul(q / math.sqrt(width), turned, mask)
    return reshape(matmul(softmax(scores), v), [batch, heads, length, width])


list_public_names(globals())
api_boundaries(globals())
hold(globals())
