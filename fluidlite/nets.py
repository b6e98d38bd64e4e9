"""Layers that often stand together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError, ShapeError
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries
from .ir.variable import Variable
from .layers import activation, conv, elementwise, joining, math, nn, norm, reshaping, sequence
from .layers.convolution import Padding

if TYPE_CHECKING:
    from .param_attr import Attr


def simple_img_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: int | Sequence[int],
    pool_size: int | Sequence[int],
    pool_stride: int | Sequence[int],
    pool_padding: Padding = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: int | Sequence[int] = 1,
    conv_padding: Padding = 0,
    conv_dilation: int | Sequence[int] = 1,
    conv_groups: int | None = 1,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    act: str | None = None,
    use_cudnn: bool = True,
) -> Variable:
    """A convolution of images, then a pooling.

    Args:
        input: images, [N, C, H, W].
        num_filters, filter_size, conv_stride, conv_padding, conv_dilation, conv_groups: as of
            ``layers.conv2d``.
        pool_size, pool_stride, pool_padding, pool_type, global_pooling: as of ``layers.pool2d``.
        param_attr, bias_attr: of the convolution; False for no bias.
        act: the activation of the convolution.
        use_cudnn: as of ``layers.conv2d``.

    Returns:
        A variable of shape [N, num_filters, H', W'].

    >>> images = fluid.data("images", [None, 1, 28, 28])
    >>> fluid.nets.simple_img_conv_pool(images, 20, 5, 2, 2, act="relu").shape
    (-1, 20, 12, 12)
    """
    steps = (conv_stride, conv_padding, conv_dilation, conv_groups)
    windows = (pool_size, pool_type, pool_stride, pool_padding, global_pooling, use_cudnn)
    attrs = (param_attr, bias_attr, use_cudnn, act)
    return conv.pool2d(conv.conv2d(input, num_filters, filter_size, *steps, *attrs), *windows)


def img_conv_group(
    input: Variable,
    conv_num_filter: Sequence[int],
    pool_size: int | Sequence[int],
    conv_padding: Padding | Sequence[Padding] = 1,
    conv_filter_size: int | Sequence[int | Sequence[int]] = 3,
    conv_act: str | None = None,
    param_attr: Attr = None,
    conv_with_batchnorm: bool | Sequence[bool] = False,
    conv_batchnorm_drop_rate: float | Sequence[float] = 0.0,
    pool_stride: int | Sequence[int] = 1,
    pool_type: str = "max",
    use_cudnn: bool = True,
) -> Variable:
    """Several convolutions of images, each with batch normalisation and dropout, then a pooling.

    Args:
        input: images, [N, C, H, W].
        conv_num_filter: the channels of each convolution's output.
        pool_size, pool_stride, pool_type: as of ``layers.pool2d``.
        conv_padding, conv_filter_size: as of ``layers.conv2d``; a list has one for each
            convolution.
        conv_act: the activation of the convolutions, or of their normalisations.
        param_attr: of the filters; a list has one for each convolution.
        conv_with_batchnorm: whether the output is normalised; a list has one for each.
        conv_batchnorm_drop_rate: the probability of the dropout after the normalisation, 0 for
            none; a list has one for each.
        use_cudnn: as of ``layers.conv2d``.

    Returns:
        A variable of shape [N, conv_num_filter[-1], H', W'].

    Raises:
        ArgumentError: a list has not as many entries as there are convolutions.

    >>> images = fluid.data("images", [None, 3, 32, 32])
    >>> fluid.nets.img_conv_group(images, [64, 64], 2, conv_act="relu", pool_stride=2).shape
    (-1, 64, 16, 16)
    """
    if not isinstance(conv_num_filter, (list, tuple)):
        raise ArgumentError(f"expected conv_num_filter to be a list, got {conv_num_filter!r:.60}")
    count = len(conv_num_filter)
    rows = zip(
        conv_num_filter,
        _for_each(conv_padding, "conv_padding", count),
        _for_each(conv_filter_size, "conv_filter_size", count),
        _for_each(param_attr, "param_attr", count),
        _for_each(conv_with_batchnorm, "conv_with_batchnorm", count),
        _for_each(conv_batchnorm_drop_rate, "conv_batchnorm_drop_rate", count),
    )
    out = input
    for filters, padding, size, attr, normalised, drop_rate in rows:
        out = conv.conv2d(
            out,
            filters,
            size,
            padding=padding,
            param_attr=attr,
            act=None if normalised else conv_act,
            use_cudnn=use_cudnn,
        )
        if normalised:
            out = norm.batch_norm(out, act=conv_act)
            if abs(drop_rate) > 1e-5:
                out = nn.dropout(out, dropout_prob=drop_rate)
    return conv.pool2d(out, pool_size, pool_type, pool_stride, use_cudnn=use_cudnn)


def _for_each(value: Any, what: str, count: int) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ArgumentError(
            f"expected {what} to have one entry for each of {count} convolutions, got {len(value)}"
        )
    return list(value)


def glu(input: Variable, dim: int = -1) -> Variable:
    """The first half of a variable times the sigmoid of the second: a gated linear unit.

    Dauphin et al., Language modeling with gated convolutional networks, ICML 2017.

    Args:
        input: a float variable.
        dim: the dimension that is halved; may count from the end.

    Returns:
        A variable of half the size along ``dim``.

    Raises:
        ShapeError: the size along ``dim`` is odd.

    >>> fluid.nets.glu(fluid.data("x", [None, 6])).shape
    (-1, 3)
    """
    value, gate = joining.split(input, 2, dim=dim)
    return elementwise.elementwise_mul(value, activation.sigmoid(gate))


def scaled_dot_product_attention(
    queries: Variable,
    keys: Variable,
    values: Variable,
    num_heads: int = 1,
    dropout_rate: float = 0.0,
) -> Variable:
    """The mean of values, weighted by how well their keys fit each query.

    The weights are ``softmax(queries keys^T / sqrt(width))``.  Vaswani et al., Attention is all you
    need, NIPS 2017.

    Args:
        queries: [N, queries, width].
        keys: [N, keys, width].
        values: [N, keys, size].
        num_heads: with more than one, all three go through a ``layers.fc`` each, and each head
            sees its part of the widths only; divides both.
        dropout_rate: of the weights.

    Returns:
        A variable of shape [N, queries, size].

    Raises:
        ShapeError: the shapes do not fit together, or a size other than N is unknown.
        ArgumentError: ``num_heads`` does not divide the widths.

    >>> q, k = fluid.data("q", [None, 3, 8]), fluid.data("k", [None, 5, 8])
    >>> fluid.nets.scaled_dot_product_attention(q, k, k, num_heads=2).shape
    (-1, 3, 8)
    """
    _check_attention(queries, keys, values, num_heads)
    q, k, v = (
        _heads(x, num_heads) if num_heads > 1 else x
        for x in _projected(queries, keys, values, num_heads)
    )
    scaled = math.scale(q, scale=(keys.shape[-1] // num_heads) ** -0.5)
    product = math.matmul(scaled, k, transpose_y=True)
    rows = reshaping.reshape(product, [-1, product.shape[-1]], act="softmax")
    weights = reshaping.reshape(rows, product.shape)
    if dropout_rate:
        weights = nn.dropout(weights, dropout_prob=dropout_rate, is_test=False)
    mean = math.matmul(weights, v)
    if num_heads == 1:
        return mean
    beside = reshaping.transpose(mean, [0, 2, 1, 3])
    return reshaping.reshape(beside, [*beside.shape[:2], beside.shape[2] * beside.shape[3]])


def _check_attention(q: Variable, k: Variable, v: Variable, num_heads: int) -> None:
    for what, x in (("queries", q), ("keys", k), ("values", v)):
        if x.ndim != 3 or -1 in x.shape[1:]:
            raise ShapeError(
                f"expected {what} of 3 dimensions, the last two of known size, got {x.name!r} of "
                f"shape {list(x.shape)}"
            )
    if q.shape[2] != k.shape[2] or k.shape[1] != v.shape[1]:
        raise ShapeError(
            f"expected queries as wide as keys, and as many keys as values, got {q.name!r} "
            f"{list(q.shape)}, {k.name!r} {list(k.shape)} and {v.name!r} {list(v.shape)}"
        )
    if num_heads < 1 or k.shape[2] % num_heads or v.shape[2] % num_heads:
        raise ArgumentError(
            f"expected num_heads to divide the widths of keys and values, got "
            f"num_heads={num_heads} for {k.shape[2]} and {v.shape[2]}"
        )


def _projected(q: Variable, k: Variable, v: Variable, num_heads: int) -> list[Variable]:
    """What attention compares: the inputs, or with several heads linear functions of them."""
    if num_heads == 1:
        return [q, k, v]
    return [nn.fc(x, size=x.shape[2], num_flatten_dims=2) for x in (q, k, v)]


def _heads(x: Variable, count: int) -> Variable:
    """[N, rows, width] as [N, count, rows, width / count]."""
    apart = reshaping.reshape(x, [*x.shape[:2], count, x.shape[2] // count])
    return reshaping.transpose(apart, [0, 2, 1, 3])


def sequence_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: int,
    param_attr: Attr = None,
    act: str | None = "sigmoid",
    pool_type: str = "max",
    bias_attr: Attr = None,
) -> Variable:
    """A convolution along sequences, then one row for each sequence.

    Args:
        input: [rows, D], in sequences.
        num_filters, filter_size: as of ``layers.sequence_conv``.
        param_attr, bias_attr: of the convolution; False for no bias.
        act: the activation of the convolution.
        pool_type: as of ``layers.sequence_pool``.

    Returns:
        A variable [sequences, num_filters].

    >>> words = fluid.data("words", [None, 8], lod_level=1)
    >>> fluid.nets.sequence_conv_pool(words, num_filters=16, filter_size=3).shape
    (-1, 16)
    """
    convolved = sequence.sequence_conv(
        input, num_filters, filter_size, param_attr=param_attr, bias_attr=bias_attr, act=act
    )
    return sequence.sequence_pool(convolved, pool_type)


list_public_names(globals())
api_boundaries(globals())
answer(globals())
