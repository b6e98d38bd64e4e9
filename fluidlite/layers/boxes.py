"""Boxes (left, top, right, bottom): compared, written relative to others, matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import is_variable
from .operator_layers import Layer, Layers, OperatorLayers, operator_layer, same_shape

iou_similarity: Layer = operator_layer("""
    iou_similarity(x, y, box_normalized, name)

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [3, 4])
    >>> fluid.layers.iou_similarity(x, y).shape
    (-1, 3)
""")


def _variance(prior_box_var: Variable | Sequence[float] | None) -> dict[str, Any]:
    if prior_box_var is None:
        return {}
    if is_variable(prior_box_var):
        return {"PriorBoxVar": prior_box_var}
    if not isinstance(prior_box_var, (list, tuple)):
        raise ArgumentError(
            f"expected prior_box_var to be a variable or a list of 4 numbers, got "
            f"{prior_box_var!r:.60}"
        )
    return {"variance": list(prior_box_var)}


box_coder: Layer = OperatorLayers(convert=_variance)("""
    box_coder(prior_box, prior_box_var, target_box, code_type, box_normalized, name, axis)

    Args:
        prior_box_var: what the numbers are divided by: [m, 4], or four numbers for all; None for 1.

    Raises:
        ArgumentError: ``prior_box_var`` has none of the forms above.

    >>> priors, boxes = fluid.data("priors", [3, 4]), fluid.data("boxes", [None, 4])
    >>> fluid.layers.box_coder(priors, [0.1, 0.1, 0.2, 0.2], boxes).shape
    (-1, 3, 4)
""")
box_clip: Layer = same_shape("""
    box_clip(input, im_info, name)

    >>> boxes, info = fluid.data("boxes", [None, 5, 4]), fluid.data("info", [None, 3])
    >>> fluid.layers.box_clip(boxes, info).shape
    (-1, 5, 4)
""")
polygon_box_transform: Layer = same_shape("""
    polygon_box_transform(input, name)

    >>> fluid.layers.polygon_box_transform(fluid.data("x", [None, 8, 4, 4])).shape
    (-1, 8, 4, 4)
""")
box_decoder_and_assign: Layers = operator_layer.several("""
    box_decoder_and_assign(prior_box, prior_box_var=..., target_box, box_score,
        box_clip=..., name)

    Returns:
        Variables of shapes [n, classes * 4] and [n, 4].

    >>> priors, variances = fluid.data("priors", [None, 4]), fluid.data("variances", [4])
    >>> boxes, scores = fluid.data("boxes", [None, 8]), fluid.data("scores", [None, 2])
    >>> decoded, best = fluid.layers.box_decoder_and_assign(priors, variances, boxes, scores, 4.1)
    >>> decoded.shape, best.shape
    ((-1, 8), (-1, 4))
""")
bipartite_match: Layers = operator_layer.several("""
    bipartite_match(dist_matrix: DistMat, match_type=None, dist_threshold=None, name)

    >>> alike = fluid.data("alike", [None, 5], lod_level=1)
    >>> [v.shape for v in fluid.layers.bipartite_match(alike)]
    [(-1, 5), (-1, 5)]
""")
target_assign: Layers = operator_layer.several("""
    target_assign(input: X, matched_indices: MatchIndices, negative_indices: NegIndices,
        mismatch_value=None, name)

    Returns:
        Variables of shapes [samples, columns, numbers] and [samples, columns, 1]: what they are
        to be, and whether they count.

    >>> rows, match = (
    ...     fluid.data("rows", [None, 1, 4], lod_level=1),
    ...     fluid.data("m", [2, 5], "int32"),
    ... )
    >>> [v.shape for v in fluid.layers.target_assign(rows, match)]
    [(2, 5, 4), (2, 5, 1)]
""")
