"""Sequences made of images, and samples chosen by their tags."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..ir.variable import Variable
from .layer import LayerBuilder, layer, stopped
from .sizes import integers


@layer
def im2sequence(
    f: LayerBuilder,
    input: Variable,
    filter_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    input_image_size: Variable | None = None,
    out_stride: int | Sequence[int] = 1,
    name: str | None = None,
) -> Variable:
    """The windows of each image, row by row, as a sequence.

    Args:
        input: images, [N, C, H, W].
        filter_size: height and width of a window, or one number for both.
        stride: the distances of windows below and beside each other, or one number for both.
        padding: zeros above, on the left, below and on the right; two numbers are for above and
            below, and for both sides.
        input_image_size: the sizes that each image had before it was scaled down, [N, 2]; windows
            beyond them are left out.
        out_stride: by what it was scaled down; read only with ``input_image_size``.

    Returns:
        A variable [windows, C * height * width], a sequence for each image.

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> images = fluid.data("images", [None, 3, 28, 28])
    >>> fluid.layers.im2sequence(images, filter_size=4, stride=4).shape
    (-1, 48)
    """
    edges = _pair(padding, "padding") if not _is_four(padding) else integers(padding, "padding")
    attrs = {
        "kernels": _pair(filter_size, "filter_size"),
        "strides": _pair(stride, "stride"),
        "paddings": edges * 2 if len(edges) == 2 else edges,
    }
    if input_image_size is not None:
        attrs["out_stride"] = _pair(out_stride, "out_stride")
    return f.im2sequence(input, input_image_size, **attrs)


def _is_four(padding: int | Sequence[int]) -> bool:
    return isinstance(padding, (list, tuple)) and len(padding) == 4


def _pair(given: int | Sequence[int], what: str) -> list[int]:
    pair = integers(given, what)
    pair = pair * 2 if len(pair) == 1 else pair
    if len(pair) != 2:
        raise ArgumentError(f"expected {what} of one or two numbers, got {given!r}")
    return pair


@layer
def filter_by_instag(
    f: LayerBuilder,
    ins: Variable,
    ins_tag: Variable,
    filter_tag: Variable,
    is_lod: bool,
    out_val_if_empty: int = 0,
) -> tuple[Variable, Variable]:
    """The samples that have one of some tags.

    Args:
        ins: samples: rows, or sequences.
        ins_tag: the tags of each sample, integers in a sequence for each.
        filter_tag: the tags that are looked for, integers.
        is_lod: whether samples are sequences.
        out_val_if_empty: what the single row holds where no sample is left.

    Returns:
        The samples, and weights for their losses, [samples, 1]: ones, or one 0 where no sample is
        left.

    >>> ins = fluid.data("ins", [None, 8], lod_level=1)
    >>> tags = fluid.data("tags", [None, 1], "int64", lod_level=1)
    >>> wanted = fluid.data("wanted", [None], "int64")
    >>> samples, weights = fluid.layers.filter_by_instag(ins, tags, wanted, is_lod=True)
    >>> samples.shape
    (-1, 8)
    """
    out, weight = f.result(), f.new_variable(DType.FP64)
    index = f.new_variable(DType.INT64)
    f.into(
        "filter_by_instag",
        {"Ins": ins, "Ins_tag": stopped(ins_tag), "Filter_tag": stopped(filter_tag)},
        {"Out": out, "LossWeight": weight, "IndexMap": index},
        is_lod=is_lod,
        out_val_if_empty=out_val_if_empty,
    )
    return out, weight
