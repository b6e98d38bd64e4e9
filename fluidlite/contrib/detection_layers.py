"""Layers of detection that fluid 1.8 keeps under ``contrib``."""

from __future__ import annotations

from ..layers.operator_layers import Layers, OperatorLayers
from ..layers.suppression import SUPPRESSION, with_index

multiclass_nms2: Layers = OperatorLayers(SUPPRESSION, then=with_index).several(
    """
    multiclass_nms2(bboxes, scores, score_threshold, nms_top_k, keep_top_k, nms_threshold,
        normalized, nms_eta, background_label, return_index, name)

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 3, 10])
    >>> out, index = fluid.contrib.layers.multiclass_nms2(
    ...     boxes, scores, 0.1, 100, 20, return_index=True
    ... )
    >>> out.shape, index.shape
    ((-1, 6), (-1, 1))
    """,
    is_stopped=True,
)
