"""Layers of sequences that fluid 1.8 keeps under ``contrib``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import ArgumentError, ShapeError
from ..ir.variable import Variable
from ..layers.layer import LayerBuilder, activation_of, layer, stopped
from ..layers.operator_layers import LayerCall, operator_layer
from ..layers.sizes import integers

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from ..param_attr import Attr


@layer
def fused_embedding_seq_pool(
    f: LayerBuilder,
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    padding_idx: int | None = None,
    combiner: str = "sum",
    param_attr: Attr = None,
    dtype: DTypeLike = "float32",
) -> Variable:
    """The sum of the rows of a table of weights that the ids of each sequence select.

    Args:
        input: ids, [N, 1] in sequences, int64.
        size: how many ids there are, and how wide a row is.
        is_sparse: the gradient of the table has only the rows that were used.
        padding_idx: the id that stands for zeros; may count from the end; None for none.
        combiner: ``"sum"``.
        param_attr: of the table.
        dtype: of the table.

    Returns:
        A variable [sequences, width].

    Raises:
        ArgumentError: ``size`` has not two numbers.

    >>> ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    >>> fluid.contrib.layers.fused_embedding_seq_pool(ids, size=[1000, 64]).shape
    (-1, 64)
    """
    sizes = integers(size, "size")
    if len(sizes) != 2:
        raise ArgumentError(f"expected size=[number of ids, width of a row], got {size!r}")
    padding = -1 if padding_idx is None else padding_idx
    if padding_idx is not None and padding_idx < 0:
        padding = sizes[0] + padding_idx
    table = f.weight(param_attr, sizes, dtype)
    attrs = {"is_sparse": is_sparse, "combiner": combiner, "padding_idx": padding}
    return f.fused_embedding_seq_pool(table, input, **attrs)


@operator_layer.signature("""
    search_pyramid_hash(input: X, num_emb=..., space_len=..., pyramid_layer=..., rand_len=...,
        drop_out_percent=..., is_training: bool, use_filter=..., white_list_len=...,
        black_list_len=..., seed=..., lr=..., param_attr, param_attr_wl, param_attr_bl, name,
        distribute_update_vars: Sequence[str] | None, dtype="float32") -> pyramid_hash
""")
def search_pyramid_hash(f: LayerBuilder, call: LayerCall) -> Variable:
    """A row for each n-gram of sequences: parts of a list of weights that its hashes choose.

    The weights stop gradients, as in fluid, where the gradient operator itself moves them by
    ``lr``; set ``stop_gradient = False`` on the parameter to have an optimizer train them here.

    Args:
        input: integers, [N, 1] in sequences, int32.
        num_emb: the length of a row, a multiple of ``rand_len``.
        space_len: how many places of the weights a part may begin at.
        pyramid_layer: the elements of the longest n-grams; the shortest have 2.
        rand_len: the length of a part.
        drop_out_percent: the share of n-grams that training leaves out; without training, what rows
            are multiplied with.
        is_training: whether n-grams are left out.
        use_filter: must be false: the lists are filters in files of another library's.
        white_list_len, black_list_len: the lengths of the lists, at least 1.
        seed: of the choice of what is left out.
        lr: accepted.
        param_attr: of the weights, [space_len + rand_len, 1].
        param_attr_wl, param_attr_bl: of the lists.
        name: of the layer.
        distribute_update_vars: accepted; names of parameters that servers hold.
        dtype: of the weights.

    Returns:
        A variable [n-grams, num_emb] in as many sequences.

    Raises:
        AttributeValueError: ``num_emb`` is no multiple of ``rand_len``, or ``use_filter`` is set.

    >>> ids = fluid.data("ids", [None, 1], "int32", lod_level=1)
    >>> rows = fluid.contrib.layers.search_pyramid_hash(
    ...     ids, 16, 1000, 3, 4, 0.1, True, False, 1, 1, seed=1, lr=0.1
    ... )
    >>> rows.shape
    (-1, 16)
    """
    wanted = (
        (call.param_attr, call.space_len + call.rand_len),
        (call.param_attr_wl, call.white_list_len),
        (call.param_attr_bl, call.black_list_len),
    )
    weights, *lists = (f.weight(attr, [length, 1], call.dtype) for attr, length in wanted)
    for each in (weights, *lists):
        if each is not None:
            each.stop_gradient = True
    names = ",".join(call.distribute_update_vars or ())
    attrs = dict(call.attrs, is_training=int(call.is_training), distribute_update_vars=names)
    return f.pyramid_hash(call.input, weights, *lists, **attrs)


@operator_layer.signature("""
    match_matrix_tensor(x, y, channel_num: int, act: str | None, param_attr, dtype="float32",
        name)
""")
def match_matrix_tensor(f: LayerBuilder, call: LayerCall) -> tuple[Variable, Variable]:
    """Each row of a sequence times a matrix times each row of the other, for several matrices: an
    image for each pair of sequences.

    Wan et al., Match-SRNN, IJCAI 2016.

    Args:
        x, y: [rows, D], in equally many sequences of one level.
        channel_num: how many matrices there are.
        param_attr: of the matrices, [D, channel_num, D].
        dtype: of the matrices.

    Returns:
        The images, one after the other, [channels * heights * widths, 1] in a sequence for each;
        and the products of ``x`` and the matrices.

    Raises:
        ShapeError: the rows of ``x`` and ``y`` are not matrices' rows of one size.

    >>> x, y = (fluid.data(name, [None, 8], lod_level=1) for name in "xy")
    >>> image, products = fluid.contrib.layers.match_matrix_tensor(x, y, channel_num=3)
    >>> image.shape
    (-1, 1)
    """
    x, y = call.x, call.y
    if len(x.shape) != 2 or len(y.shape) != 2 or x.shape[1] != y.shape[1]:
        raise ShapeError(
            f"expected x and y with rows of one size, got {list(x.shape)} and {list(y.shape)}"
        )
    weight = f.weight(call.param_attr, [x.shape[1], call.channel_num, y.shape[1]], call.dtype)
    found = f.match_matrix_tensor.all(x, y, weight, dim_t=call.channel_num)
    return f.activation(found["Out"], activation_of(call.act)), stopped(found["Tmp"])


@operator_layer.signature("""
    var_conv_2d(input: X, row, col: COLUMN, input_channel: int, output_channel: int,
        filter_size: int | Sequence[int], stride: int | Sequence[int] = 1, param_attr,
        act: str | None, dtype="float32", name)
""")
def var_conv_2d(f: LayerBuilder, call: LayerCall) -> Variable:
    """The convolution of images that have sizes of their own, with zeros around them.

    Args:
        input: the images one after the other, each of channels * height * width numbers, [N, 1] in
            a sequence for each.
        row: in sequences as long as the images are high.
        col: in sequences as long as they are wide.
        input_channel, output_channel: numbers of channels.
        filter_size: height and width of a filter, or one number for both.
        stride: the distances of windows, below and beside each other.
        param_attr: of the filters, [output_channel, input_channel * height * width].
        dtype: of the filters.

    Returns:
        A variable with the images that come of it, in the form of ``input``.

    Raises:
        ArgumentError: ``filter_size`` or ``stride`` are not one or two numbers.

    >>> image, row, col = (fluid.data(name, [None, 1], lod_level=1) for name in "irc")
    >>> fluid.contrib.layers.var_conv_2d(image, row, col, 3, 5, filter_size=3).shape
    (-1, 1)
    """
    high, wide = _pair(call.filter_size, "filter_size")
    down, beside = _pair(call.stride, "stride")
    shape = [call.output_channel, call.input_channel * high * wide]
    weight = f.weight(call.param_attr, shape, call.dtype)
    attrs = {"InputChannel": call.input_channel, "OutputChannel": call.output_channel}
    attrs |= {"StrideH": down, "StrideW": beside, "KernelH": high, "KernelW": wide}
    found = f.var_conv_2d.all(call.input, call.row, call.col, weight, **attrs)
    stopped(found["Col"])
    return f.activation(found["Out"], activation_of(call.act))


def _pair(given: int | Sequence[int], what: str) -> list[int]:
    found = integers(given, what)
    if len(found) not in (1, 2):
        raise ArgumentError(f"expected {what} of one or two numbers, got {given!r}")
    return found * 2 if len(found) == 1 else found


@layer
def sequence_topk_avg_pooling(
    f: LayerBuilder,
    input: Variable,
    row: Variable,
    col: Variable,
    topks: Sequence[int],
    channel_num: int,
) -> Variable:
    """For each row of each image, and each channel, the means of its largest numbers.

    Args:
        input: images as of ``var_conv_2d``.
        row: in sequences as long as the images are high.
        col: in sequences as long as they are wide.
        topks: how many numbers each mean is of.
        channel_num: how many channels the images have.

    Returns:
        A variable [heights, channel_num * len(topks)], in the sequences of ``row``.

    >>> image, row, col = (fluid.data(name, [None, 1], lod_level=1) for name in "irc")
    >>> pooled = fluid.contrib.layers.sequence_topk_avg_pooling(image, row, col, [1, 3], 5)
    >>> pooled.shape
    (-1, 10)
    """
    attrs = {"topks": integers(topks, "topks"), "channel_num": channel_num}
    found = f.sequence_topk_avg_pooling.all(input, row, col, **attrs)
    stopped(found["pos"])
    out: Variable = found["Out"]
    return out
