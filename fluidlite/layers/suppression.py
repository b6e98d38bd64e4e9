"""Of boxes that overlap, those with the best scores."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LAYERS
from .operator_layers import Layer, Layers, OperatorLayers

SUPPRESSION = LAYERS.extended(
    {
        "bboxes": "boxes of images, [N, M, 4]; or of each class, [M, classes, 4], those of an "
        "image being a sequence. Polygons have 8, 16, 24 or 32 numbers.",
        "scores": "[N, classes, M]; or [M, classes], those of an image being a sequence.",
        "score_threshold": "what a score must be above.",
        "nms_top_k": "how many boxes of a class are looked at, the best; -1 for all.",
        "keep_top_k": "how many boxes of an image are kept; -1 for all.",
        "nms_threshold": "overlaps above it suppress.",
        "normalized": "boxes are in parts of the image; if not, in whole pixels, the last one "
        "included.",
        "nms_eta": "what ``nms_threshold`` is multiplied with at each box that is kept, while it "
        "is above 0.5.",
        "background_label": "the class that is left out; -1 for none.",
        "return_index": "whether to give the numbers of the boxes, too: [n, 1], those of all "
        "images counted on.",
    },
    returns="A variable of shape [n, 6]: class, score and box, those of an image being a sequence.",
)
_suppression = OperatorLayers(SUPPRESSION)


multiclass_nms: Layer = _suppression(
    """
    multiclass_nms(bboxes, scores, score_threshold, nms_top_k, keep_top_k, nms_threshold,
        normalized, nms_eta, background_label, name)

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 3, 10])
    >>> fluid.layers.multiclass_nms(boxes, scores, 0.1, 100, 20).shape
    (-1, 6)
    """,
    is_stopped=True,
)
locality_aware_nms: Layer = _suppression(
    """
    locality_aware_nms(bboxes, scores, score_threshold, nms_top_k, keep_top_k,
        nms_threshold, normalized, nms_eta, background_label, name)

    >>> quadrangles, scores = (
    ...     fluid.data("boxes", [None, 10, 8]),
    ...     fluid.data("scores", [None, 1, 10]),
    ... )
    >>> fluid.layers.locality_aware_nms(quadrangles, scores, 0.1, 100, 20).shape
    (-1, 10)
    """,
    is_stopped=True,
)


def with_index(
    found: tuple[Variable, Variable], return_index: bool = False
) -> Variable | tuple[Variable, Variable]:
    """What was found, with its places if they are requested.

    Args:
        found: boxes, and which ones they are.
        return_index: whether to return that.
    """
    return found if return_index else found[0]


matrix_nms: Layers = OperatorLayers(SUPPRESSION, then=with_index).several(
    """
    matrix_nms(bboxes, scores, score_threshold, post_threshold=..., nms_top_k, keep_top_k,
        use_gaussian, gaussian_sigma, background_label, normalized, return_index, name)

    Returns:
        A variable of shape [n, 6]: class, score and box, those of an image being a sequence.

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 3, 10])
    >>> fluid.layers.matrix_nms(boxes, scores, 0.1, 0.05, 100, 20).shape
    (-1, 6)
    """,
    is_stopped=True,
)
