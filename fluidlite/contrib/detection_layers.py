"""Layers of detection that fluid 1.8 keeps under ``contrib``."""

from __future__ import annotations

from ..ir.variable import Variable
from ..layers.layer import LayerBuilder, layer, stopped
from ..layers.suppression import SUPPRESSION


@layer(family=SUPPRESSION)
def multiclass_nms2(
    f: LayerBuilder,
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    return_index: bool = False,
    name: str | None = None,
) -> Variable | tuple[Variable, Variable]:
    """The boxes that no better one of their class overlaps too much; no row if there is none.

    >>> boxes, scores = fluid.data("boxes", [None, 10, 4]), fluid.data("scores", [None, 3, 10])
    >>> out, index = fluid.contrib.layers.multiclass_nms2(
    ...     boxes, scores, 0.1, 100, 20, return_index=True
    ... )
    >>> out.shape, index.shape
    ((-1, 6), (-1, 1))
    """
    overlap = dict(nms_top_k=nms_top_k, nms_threshold=nms_threshold, nms_eta=nms_eta)
    kept = dict(background_label=background_label, score_threshold=score_threshold)
    sizes = dict(keep_top_k=keep_top_k, normalized=normalized)
    outs = f.multiclass_nms2.all(bboxes, scores, **overlap, **kept, **sizes)
    out, index = stopped((outs["Out"], outs["Index"]))
    return (out, index) if return_index else out
