"""Layers that often stand together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import ArgumentError
from .ir.variable import Variable
from .layers import conv, nn, norm


def simple_img_conv_pool(
    input: Variable,
    num_filters: int,
    filter_size: int | Sequence[int],
    pool_size: int | Sequence[int],
    pool_stride: int | Sequence[int],
    pool_padding: Any = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: int | Sequence[int] = 1,
    conv_padding: Any = 0,
    conv_dilation: int | Sequence[int] = 1,
    conv_groups: int | None = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
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
    convolved = conv.conv2d(
        input,
        num_filters,
        filter_size,
        stride=conv_stride,
        padding=conv_padding,
        dilation=conv_dilation,
        groups=conv_groups,
        param_attr=param_attr,
        bias_attr=bias_attr,
        act=act,
        use_cudnn=use_cudnn,
    )
    return conv.pool2d(
        convolved,
        pool_size,
        pool_type,
        pool_stride,
        pool_padding,
        global_pooling,
        use_cudnn=use_cudnn,
    )


def img_conv_group(
    input: Variable,
    conv_num_filter: Sequence[int],
    pool_size: int | Sequence[int],
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: str | None = None,
    param_attr: Any = None,
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
