"""Which operators are batched by which rule."""

from __future__ import annotations

from typing import Any

from ..opdef.definition import Op
from ..ops.activation import Activation
from ..ops.compare import Compare, EachQuestion
from ..ops.complex_parts import OfParts
from ..ops.elementwise import Elementwise
from ..ops.families import OfPairs, PassesThrough
from ..ops.reduce import Reduce
from ..ops.special import Special
from ..ops.unary import Unary
from .batched_convolutions import filter_gradients, filters_of_each, input_gradients
from .batched_rows import RowsRule
from .batched_tables import rows_of_all, rows_of_each_table, tables_of_each
from .batched_whole import BatchingRule, Either, Reshaping, SameAs, Whole
from .batching_plans import (
    absolute_norm,
    along,
    as_many_rows,
    asked,
    clipped,
    drawn,
    each_for_itself,
    filled_like,
    flattened,
    flattened_product,
    in_tests,
    inner_products,
    matrices,
    multiplied,
    of_all,
    of_pairs,
    over_last,
    padded,
    ranked_alike,
    reduction,
    repeated,
    reshaped,
    rolled,
    rows_times,
    same,
    scaled,
    scaled_in_tests,
    sizes,
    sliced,
    square_norm,
    squeezed,
    stacks,
    stepped,
    transposed,
)

#: families whose definition says all
FAMILIES: list[tuple[type[Op], Any]] = [
    (Unary, Whole(same)),
    (Activation, Whole(same)),
    (Special, Whole(same)),
    (OfParts, Whole(same)),
    (PassesThrough, Whole(same)),
    (EachQuestion, Whole(same)),
    (Elementwise, Whole(of_pairs)),
    (Compare, Whole(of_pairs)),
    (OfPairs, Whole(of_pairs)),
    (Reduce, Whole(reduction)),
]

#: what says in numbers what a slice takes
BOUNDS = (
    "StartsTensor", "EndsTensor", "StridesTensor", "StartsTensorList", "EndsTensorList",
    "StridesTensorList",
)  # fmt: skip
RULES: dict[str, Any] = {
    **dict.fromkeys(
        ("cast", "logical_not", "leaky_relu", "swish", "fill_any_like", "fill_zeros_like",
         "fill_zeros_like2", "shard_index",
         "as_complex", "as_real"),
        Whole(same),
    ),
    **dict.fromkeys(("minus", "sum", "hinge_loss", "log_loss", "bce_loss", "huber_loss",
                     "scale_gradient", "modified_huber_loss", "rank_loss", "margin_rank_loss"),
                    Whole(ranked_alike)),
    "complex": Whole(of_pairs),
    "scale": Whole(same, common=("ScaleTensor",)),
    "clip": Whole(same, common=("Min", "Max")),
    "pow": Whole(same, common=("FactorTensor",)),
    "mean": SameAs("reduce_mean", of_all),
    "where": Whole(ranked_alike),
    "reshape": Reshaping(reshaped),
    "reshape2": Reshaping(reshaped),
    "flatten": Reshaping(flattened),
    "flatten2": Reshaping(flattened),
    **dict.fromkeys(("transpose", "transpose2"), Whole(transposed, "rule")),
    **dict.fromkeys(("squeeze", "squeeze2"), Whole(squeezed, "rule")),
    **dict.fromkeys(
        ("unsqueeze", "unsqueeze2"),
        Whole(along("axes"), "rule", absent=("AxesTensor", "AxesTensorList")),
    ),
    **dict.fromkeys(("slice", "strided_slice"), Whole(sliced, "rule", common=BOUNDS)),
    "expand": Whole(repeated, "rule", absent=("ExpandTimes", "expand_times_tensor")),
    "expand_as": Whole(ranked_alike),
    "pad": Whole(padded, "rule"),
    "pad_constant_like": Whole(ranked_alike),
    "flip": Whole(along("dims"), "rule"),
    "reverse": Whole(along("axis"), "rule"),
    "roll": Whole(rolled, "rule"),
    "concat": Whole(along("axis"), "rule", absent=("AxisTensor",)),
    "stack": Whole(along("axis"), "rule"),
    "split": Whole(along("axis"), "rule", common=("SectionsTensorList",), absent=("AxisTensor",)),
    "unstack": Whole(along("axis"), "rule"),
    "unbind": Whole(along("axis"), "rule"),
    "softmax": Whole(along("axis"), "rule"),
    "shape": BatchingRule(sizes),
    "matmul": Either((Whole(stacks), BatchingRule(multiplied))),
    "mul": Either(
        (Whole(rows_times, "rule"), SameAs("matmul", matrices), BatchingRule(flattened_product))
    ),
    "bmm": SameAs("matmul", matrices),
    "dot": BatchingRule(inner_products),
}  # fmt: skip

RULES |= {
    "batch_norm": Either(
        (RowsRule(("X",), ("Y",), in_tests), BatchingRule(scaled_in_tests))
    ),
    "layer_norm": Either((RowsRule(("X",)), BatchingRule(scaled))),
    "fill_constant_batch_size_like": BatchingRule(filled_like),
    "increment": BatchingRule(stepped),
    **dict.fromkeys(("uniform_random", "gaussian_random", "truncated_gaussian_random", "randint"),
                    BatchingRule(drawn)),
    **dict.fromkeys(("lookup_table_adjoint", "selected_rows", "gather_adjoint"),
                    BatchingRule(tables_of_each)),
    **dict.fromkeys(
        ("conv2d", "depthwise_conv2d"),
        Either((RowsRule(("Input",)), BatchingRule(filters_of_each))),
    ),
    **dict.fromkeys(
        ("conv3d", "conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose"),
        RowsRule(("Input",)),
    ),
    **dict.fromkeys(
        ("conv2d_adjoint_input", "conv3d_adjoint_input"), BatchingRule(input_gradients)
    ),
    "conv2d_adjoint_filter": BatchingRule(filter_gradients),
    **dict.fromkeys(
        ("pool2d", "pool3d", "max_pool2d_with_index", "max_pool3d_with_index", "lrn",
         *(f"{kind}_interp{version}" for version in ("", "_v2")
           for kind in ("linear", "bilinear", "trilinear", "nearest", "bicubic")),
         "pad2d", "pad3d", "channel_shuffle", "pixel_unshuffle", "fold",
         "affine_channel", "group_norm", "instance_norm", "prelu", "unfold",
         "pixel_shuffle", "space_to_depth", "shuffle_channel", "temporal_shift", "spp"),
        RowsRule(("X",)),
    ),
    **dict.fromkeys(("lookup_table", "lookup_table_v2"),
                    Either((RowsRule(("Ids",)), BatchingRule(rows_of_each_table)))),
    **dict.fromkeys(("bpr_loss", "teacher_student_sigmoid_loss", "sigmoid_focal_loss",
                     "index_sample"), RowsRule(("X", "Label", "Index"))),
    "smooth_l1_loss": RowsRule(("X", "Y", "InsideWeight", "OutsideWeight")),
    **dict.fromkeys(("squared_l2_distance", "cos_sim", "conv_shift",
                     "bilinear_tensor_product", "fsp"), RowsRule(("X", "Y"), None, as_many_rows)),
    "hierarchical_sigmoid": RowsRule(("X", "Label", "PathTable", "PathCode")),
    "gru_unit": RowsRule(("Input", "HiddenPrev")),
    "lstm_unit": RowsRule(("X", "C_prev")),
    "grid_sampler": RowsRule(("X", "Grid")),
    "affine_grid": RowsRule(("Theta",)),
    "multiplex": RowsRule(("Ids", "X")),
    "deformable_conv": RowsRule(("Input", "Offset", "Mask")),
    "deformable_conv_v1": RowsRule(("Input", "Offset")),
    "yolo_box": RowsRule(("X", "ImgSize")),
    "tree_conv": RowsRule(("NodesVector", "EdgeSet")),
    "cross_entropy": Whole(over_last),
    "cross_entropy2": Whole(over_last),
    "softmax_with_cross_entropy": Whole(along("axis"), "rule"),
    "sigmoid_cross_entropy_with_logits": Whole(each_for_itself),
    "kldiv_loss": Whole(each_for_itself),
    "label_smooth": Whole(same, common=("PriorDist",)),
    "one_hot": Whole(over_last, common=("depth_tensor",)),
    "one_hot_v2": Whole(same, common=("depth_tensor",)),
    "top_k": Whole(same, common=("K",)),
    **dict.fromkeys(("argsort", "cumsum", "norm", "p_norm", "arg_max", "arg_min", "take_along",
                     "add_along", "put_along", "maxout"), Whole(along("axis"), "rule")),
    "dropout": Whole(same, common=("Seed",)),
    "frexp": Whole(same),
    **dict.fromkeys(("tril_triu", "inverse", "inverse_or_nan", "determinant", "cofactors",
                     "cholesky", "svd", "eigh", "eig", "eigvals", "pseudo_inverse"), Whole(same)),
    "clip_by_norm": BatchingRule(clipped),
    "squared_l2_norm": BatchingRule(square_norm),
    "l1_norm": BatchingRule(absolute_norm),
    **dict.fromkeys(("isfinite", "isinf", "isnan"), BatchingRule(asked)),
    "gather": BatchingRule(rows_of_all),
    "index_select": Whole(along("dim"), "rule", common=("Index",)),
}  # fmt: skip


def rule_of(definition: type[Op]) -> Any:
    """The rule of batching of an operator; None where it has none."""
    found = RULES.get(definition.type)
    if found is not None or definition.derived_from is not None:
        return found
    return next((rule for family, rule in FAMILIES if issubclass(definition, family)), None)
