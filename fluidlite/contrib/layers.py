"""Layers that fluid 1.8 keeps under ``contrib``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..initializer import Constant
from ..ir.variable import Variable
from ..layers.layer import LayerBuilder, activation_of, completed, layer
from ..layers.operator_layers import LayerCall, operator_layer
from ..layers.reshaping import reshape
from ..layers.sizes import integer
from ..layers.slicing import slice as slice_
from ..param_attr import ParamAttr
from ..unique_name import generate
from .detection_layers import multiclass_nms2
from .recurrent import BasicGRUUnit, BasicLSTMUnit, basic_gru, basic_lstm
from .sequence_layers import (
    fused_embedding_seq_pool,
    match_matrix_tensor,
    search_pyramid_hash,
    sequence_topk_avg_pooling,
    var_conv_2d,
)

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike
    from ..param_attr import Attr

#: modules that fluid 1.8 had below this one are found (ground/fluid_paths.py)
__path__: list[str] = []

__all__ = [
    "BasicGRUUnit", "BasicLSTMUnit", "basic_gru", "basic_lstm", "fused_elemwise_activation",
    "fused_embedding_seq_pool", "match_matrix_tensor", "multiclass_nms2", "partial_concat",
    "partial_sum", "rank_attention", "search_pyramid_hash", "sequence_topk_avg_pooling",
    "shuffle_batch", "tdm_child", "tdm_sampler", "var_conv_2d", "tree_conv",
]  # fmt: skip


@layer
def fused_elemwise_activation(
    f: LayerBuilder,
    x: Variable,
    y: Variable,
    functor_list: Sequence[str],
    axis: int = -1,
    scale: float = 0.0,
    save_intermediate_out: bool = True,
) -> Variable:
    """An operator of pairs of elements, before or after one of single elements.

    Args:
        x, y: tensors; ``y`` may be smaller.
        functor_list: two operators, the outer one first, as ``["elementwise_add", "relu"]`` for
            ``x + relu(y)``.
        axis: where ``y`` is aligned with ``x``.
        scale: of the operator ``scale``.
        save_intermediate_out: whether what the inner operator gives is kept.

    >>> x, y = fluid.data("x", [2, 3]), fluid.data("y", [2, 3])
    >>> functors = ["elementwise_add", "relu"]
    >>> fluid.contrib.layers.fused_elemwise_activation(x, y, functors).shape
    (2, 3)
    """
    attrs: dict[str, Any] = {"axis": axis, "scale": scale, "functor_list": list(functor_list)}
    return f.fused_elemwise_activation(x, y, save_intermediate_out=save_intermediate_out, **attrs)


@layer
def partial_concat(
    f: LayerBuilder, input: Sequence[Variable], start_index: int = 0, length: int = -1
) -> Variable:
    """The same columns of several matrices, side by side.

    Args:
        input: matrices of one shape.
        start_index: the first column; may count from the end.
        length: how many; -1 for all that follow.

    >>> x, y = fluid.data("x", [2, 4]), fluid.data("y", [2, 4])
    >>> fluid.contrib.layers.partial_concat([x, y], 1, 2).shape
    (2, 4)
    """
    return f.partial_concat(_listed(input), start_index=start_index, length=length)


@layer
def partial_sum(
    f: LayerBuilder, input: Sequence[Variable], start_index: int = 0, length: int = -1
) -> Variable:
    """The sum of the same columns of several matrices; arguments as of :func:`partial_concat`.

    Args:
        input, start_index, length: as of :func:`partial_concat`.

    >>> x, y = fluid.data("x", [2, 4]), fluid.data("y", [2, 4])
    >>> fluid.contrib.layers.partial_sum([x, y], 1, 2).shape
    (2, 2)
    """
    return f.partial_sum(_listed(input), start_index=start_index, length=length)


def _listed(input: Any) -> list[Variable]:
    return list(input) if isinstance(input, (list, tuple)) else [input]


@layer
def tdm_child(
    f: LayerBuilder,
    x: Variable,
    node_nums: int,
    child_nums: int,
    param_attr: Attr = None,
    dtype: DTypeLike = "int32",
) -> tuple[Variable, Variable]:
    """The children of nodes of a tree, which is a parameter, and which of them are items.

    Zhu et al., Learning tree-based deep model for recommender systems, KDD 2018.

    Args:
        x: nodes.
        node_nums: how many nodes the tree has.
        child_nums: how many children a node has at most.
        param_attr: of the parameter, [node_nums, 3 + child_nums]: for each node its item, layer,
            parent and children, of which 0 is none.
        dtype: int32 or int64, that of the results.

    Returns:
        the children, and 1 where they are items; each [..., child_nums].

    >>> tree = fluid.ParamAttr("tree", fluid.initializer.Constant(0))
    >>> x = fluid.data("x", [None, 1], "int32")
    >>> children, items = fluid.contrib.layers.tdm_child(x, 5, 2, tree)
    >>> children.shape
    (-1, 1, 2)
    """
    tree = f.weight(param_attr, [node_nums, 3 + child_nums], dtype, stop_gradient=True)
    return f.tdm_child(x, tree, child_nums=child_nums, dtype=dtype)


def tdm_sampler(
    x: Variable,
    neg_samples_num_list: Sequence[int],
    layer_node_num_list: Sequence[int],
    leaf_node_num: int,
    tree_travel_attr: Any = None,
    tree_layer_attr: Any = None,
    output_positive: bool = True,
    output_list: bool = True,
    seed: int = 0,
    tree_dtype: Any = "int32",
    dtype: DTypeLike = "int32",
) -> tuple[Any, Any, Any]:
    """For each item its nodes in the layers of a tree, and other nodes by chance.

    Zhu et al., Learning tree-based deep model for recommender systems, KDD 2018.

    Args:
        x: numbers of items, [n, 1].
        neg_samples_num_list: how many other nodes are drawn in each layer.
        layer_node_num_list: how many nodes each layer has.
        leaf_node_num: how many items there are.
        tree_travel_attr: of a parameter, [items, layers]: for each item its node in each layer, 0
            for none.
        tree_layer_attr: of a parameter, [nodes, 1]: the nodes, layer by layer.
        output_positive: whether an item's own node comes first in each layer.
        output_list: give lists, a variable [n, samples, 1] for each layer.
        seed: what the draw depends on; 0 for the program's.
        tree_dtype: of the parameters.
        dtype: int32 or int64, that of the results.

    Returns:
        samples; labels, which are 1 for an item's own nodes; and a mask, which is 0 where it has
        none.

    Raises:
        ArgumentError: there is not one number for each layer.
        AttributeValueError: more nodes are to be drawn than a layer has.

    >>> zeros = fluid.initializer.Constant(0)
    >>> x = fluid.data("x", [None, 1], "int32")
    >>> samples, labels, mask = fluid.contrib.layers.tdm_sampler(
    ...     x, [1, 2], [2, 4], 4, fluid.ParamAttr("a", zeros), fluid.ParamAttr("b", zeros)
    ... )
    >>> [each.shape for each in samples]
    [(-1, 2, 1), (-1, 3, 1)]
    """
    counts, sizes = list(neg_samples_num_list), list(layer_node_num_list)
    if len(counts) != len(sizes) or not counts:
        raise ArgumentError(
            f"tdm_sampler: expected a number for each layer in neg_samples_num_list and "
            f"layer_node_num_list, got {counts} and {sizes}"
        )
    attrs = (tree_travel_attr, tree_layer_attr)
    samples = _drawn(
        x, counts, sizes, leaf_node_num, attrs, tree_dtype, (output_positive, seed, dtype)
    )
    if not output_list:
        return samples
    widths = [count + bool(output_positive) for count in counts]
    lists: tuple[list[Variable], ...] = ([], [], [])
    for k, width in enumerate(widths):
        begin = sum(widths[:k])
        parts = [slice_(each, axes=[1], starts=[begin], ends=[begin + width]) for each in samples]
        for each, part in zip(lists, parts):
            each.append(reshape(part, [-1, width, 1]))
    return lists  # type: ignore[return-value]


@layer("tdm_sampler")
def _drawn(
    f: LayerBuilder,
    x: Variable,
    counts: list[int],
    sizes: list[int],
    items: int,
    attrs: tuple[Any, Any],
    tree_dtype: Any,
    rest: tuple[bool, int, Any],
) -> tuple[Variable, Variable, Variable]:
    """Nodes of all layers side by side, with labels and mask."""
    travel = f.weight(attrs[0], [items, len(sizes)], tree_dtype, stop_gradient=True)
    nodes = f.weight(attrs[1], [sum(sizes), 1], tree_dtype, stop_gradient=True)
    out, labels, mask = (f.new_variable(rest[2]) for _ in range(3))
    f.into(
        "tdm_sampler",
        {"X": x, "Travel": travel, "Layer": nodes},
        {"Out": out, "Labels": labels, "Mask": mask},
        output_positive=rest[0],
        neg_samples_num_list=counts,
        layer_offset_lod=[sum(sizes[:k]) for k in range(len(sizes) + 1)],
        seed=rest[1],
        dtype=rest[2],
    )
    return out, labels, mask


@operator_layer.signature("""
    tree_conv(nodes_vector, edge_set, output_size: int, num_filters: int = 1, max_depth,
        act="tanh", param_attr, bias_attr, name)
""")
def tree_conv(f: LayerBuilder, call: LayerCall) -> Variable:
    """Convolution over trees: for each node features of what is below it, by place.

    Mou et al., Convolutional neural networks over tree structures for programming language
    processing, AAAI 2016.

    Args:
        nodes_vector: features of nodes, [batch, nodes, features].
        edge_set: edges (parent, child), nodes counted from 1, and zeros behind the last one:
            [batch, edges, 2].
        output_size: how many features a filter gives.
        num_filters: how many filters there are.
        max_depth: how many layers of nodes a window has; at least 2.
        param_attr: of the filter, [features, 3, output_size, num_filters].
        bias_attr: of the bias, [nodes, output_size, num_filters]; False for none.

    Returns:
        [batch, nodes, output_size, num_filters].

    Raises:
        ShapeError: shapes do not fit.
        AttributeValueError: ``max_depth`` is less than 2.

    >>> nodes, edges = fluid.data("nodes", [None, 5, 3]), fluid.data("edges", [None, 4, 2], "int32")
    >>> fluid.contrib.layers.tree_conv(nodes, edges, 6, 2).shape
    (-1, 5, 6, 2)
    """
    nodes_vector = call.nodes_vector
    if nodes_vector.ndim != 3:
        raise ShapeError(
            f"expected nodes_vector of shape [batch, nodes, features], got "
            f"{list(nodes_vector.shape)}"
        )
    shape = [nodes_vector.shape[2], 3, call.output_size, call.num_filters]
    weight = f.weight(call.param_attr, shape, nodes_vector.dtype)
    out = f.tree_conv(nodes_vector, call.edge_set, weight, max_depth=call.max_depth)
    return f.activation(f.bias(out, call.bias_attr, out.shape[1:]), activation_of(call.act))


@layer
def rank_attention(
    f: LayerBuilder,
    input: Variable,
    rank_offset: Variable,
    rank_param_shape: Sequence[int],
    rank_param_attr: Attr,
    max_rank: int = 3,
) -> Variable:
    """For each row the sum over the rows of its page, each mapped by the matrix of their two ranks.

    Args:
        input: features of rows, [n, d].
        rank_offset: for each row its rank, then the rank and the place in ``input`` of up to
            ``max_rank`` rows of its page; ranks are counted from 1, and a missing one is -1 or
            0: int32 [n, 1 + 2 * max_rank].
        rank_param_shape: of the parameter: [max_rank * max_rank * d, columns].
        rank_param_attr: of the parameter.
        max_rank: the largest rank.

    Returns:
        [n, columns].

    Raises:
        ShapeError: shapes do not fit.

    >>> x = fluid.data("x", [None, 2])
    >>> ranks = fluid.data("ranks", [None, 7], "int32")
    >>> attr = fluid.ParamAttr("pairs")
    >>> fluid.contrib.layers.rank_attention(x, ranks, [18, 5], attr).shape
    (-1, 5)
    """
    matrices = f.weight(rank_param_attr, list(rank_param_shape), input.dtype)
    return f.rank_attention(input, rank_offset, matrices, MaxRank=max_rank)


@layer
def shuffle_batch(f: LayerBuilder, x: Variable, seed: int | Variable | None = None) -> Variable:
    """The rows of a tensor in another order, in each run another one.

    Args:
        x: numbers; rows are what the last dimension has.
        seed: a number that the orders follow from, or an int64 variable of one element that holds
            it, and gets the number of the next run; the program's own when None.

    Raises:
        ArgumentError: ``seed`` is something else.

    >>> fluid.contrib.layers.shuffle_batch(fluid.data("x", [None, 4])).shape
    (-1, 4)
    """
    if seed is None:
        return f.shuffle_batch(x, f.fill_constant(shape=[1], dtype=DType.INT64, value=0.0))
    if not isinstance(seed, Variable):
        start = Constant(integer(seed, "seed"))
        attr = ParamAttr(generate("shuffle_batch_seed"), start, trainable=False)
        seed = f.weight(attr, [1], "int64", stop_gradient=True)
    out, places = f.new_variable(x.dtype), f.new_variable("int64")
    outputs = {"Out": out, "ShuffleIdx": places, "SeedOut": seed}
    f.into("shuffle_batch", {"X": x, "Seed": seed}, outputs)
    return out


for _name in __all__:
    completed(globals()[_name])
list_public_names(globals())

answer(globals())
