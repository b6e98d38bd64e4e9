"""Boxes at each place of a feature map, and what detectors make of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from .layer import LAYERS
from .operator_layers import Layer, Layers, OperatorLayers, operator_layer

Floats = float | Sequence[float]

_ANCHORS = LAYERS.extended(
    {
        "variance": "four numbers, which each box gets.",
        "steps": "the distances of places, across and down; 0 for those that follow from the "
        "sizes.",
        "stride": "the distances of places, across and down.",
    },
    returns="Boxes and variances, [H, W, boxes of a place, 4], in parts of the image.",
    raises="ArgumentError: a parameter is no number or list of numbers.",
)


def _floats(value: Floats | None, what: str) -> list[float]:
    """One number or a list of them, as a list.

    Raises:
        ArgumentError: it is neither.
    """
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in listed):
        raise ArgumentError(f"expected {what} to be a number or a list of them, got {value!r:.60}")
    return [float(n) for n in listed]  # type: ignore[arg-type]


def _boxes(variance: Sequence[float], steps: Sequence[float]) -> dict[str, Any]:
    """What boxes around places have in common."""
    distances = _floats(steps, "steps")
    if len(distances) != 2:
        raise ArgumentError(f"expected steps across and down, got {steps!r:.60}")
    numbers = dict(zip(("step_w", "step_h"), distances))
    return {**numbers, "variances": _floats(variance, "variance")}


def _priors(
    min_sizes: Floats,
    max_sizes: Floats | None = None,
    aspect_ratios: Sequence[float] = [1.0],
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    steps: Sequence[float] = [0.0, 0.0],
) -> dict[str, Any]:
    return {
        **_boxes(variance, steps),
        "min_sizes": _floats(min_sizes, "min_sizes"),
        "max_sizes": [] if max_sizes is None else _floats(max_sizes, "max_sizes"),
        "aspect_ratios": _floats(aspect_ratios, "aspect_ratios"),
    }


prior_box: Layers = OperatorLayers(_ANCHORS, _priors).several(
    """
    prior_box(input, image, min_sizes, max_sizes, aspect_ratios, variance, flip=False,
        clip=False, steps, offset, name, min_max_aspect_ratios_order)

    >>> maps, images = fluid.data("maps", [None, 8, 3, 4]), fluid.data("images", [None, 3, 24, 32])
    >>> [v.shape for v in fluid.layers.prior_box(maps, images, [4.0], [8.0], [2.0], flip=True)]
    [(3, 4, 4, 4), (3, 4, 4, 4)]
    """,
    is_stopped=True,
)


def _dense(
    densities: Sequence[int] | None = None,
    fixed_sizes: Sequence[float] | None = None,
    fixed_ratios: Sequence[float] | None = None,
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    steps: Sequence[float] = [0.0, 0.0],
) -> dict[str, Any]:
    return {
        **_boxes(variance, steps),
        "densities": [int(n) for n in _floats(densities, "densities")],
        "fixed_sizes": _floats(fixed_sizes, "fixed_sizes"),
        "fixed_ratios": _floats(fixed_ratios, "fixed_ratios"),
    }


density_prior_box: Layers = OperatorLayers(_ANCHORS, _dense).several(
    """
    density_prior_box(input, image, densities, fixed_sizes, fixed_ratios, variance,
        clip=False, steps, offset, flatten_to_2d, name)

    >>> maps, images = fluid.data("maps", [None, 8, 3, 4]), fluid.data("images", [None, 3, 24, 32])
    >>> boxes, _ = fluid.layers.density_prior_box(maps, images, [2], [4.0], [1.0, 2.0])
    >>> boxes.shape
    (3, 4, 8, 4)
    """,
    is_stopped=True,
)


def _anchors(
    anchor_sizes: Floats | None = None,
    aspect_ratios: Floats | None = None,
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    stride: Sequence[float] | None = None,
) -> dict[str, Any]:
    given = {"anchor_sizes": anchor_sizes, "aspect_ratios": aspect_ratios, "stride": stride}
    numbers = {name: _floats(value, name) for name, value in given.items()}
    return {**numbers, "variances": _floats(variance, "variance")}


anchor_generator: Layers = OperatorLayers(_ANCHORS, _anchors).several(
    """
    anchor_generator(input, anchor_sizes, aspect_ratios, variance, stride, offset, name)

    >>> maps = fluid.data("maps", [None, 8, 3, 4])
    >>> boxes, _ = fluid.layers.anchor_generator(maps, [32.0, 64.0], [0.5, 1.0], stride=[16, 16])
    >>> boxes.shape
    (3, 4, 4, 4)
    """,
    is_stopped=True,
)
yolo_box: Layers = operator_layer.several("""
    yolo_box(x, img_size, anchors=..., class_num, conf_thresh=..., downsample_ratio=...,
        clip_bbox, name, scale_x_y)

    >>> x, size = fluid.data("x", [None, 14, 4, 4]), fluid.data("size", [None, 2], "int32")
    >>> [v.shape for v in fluid.layers.yolo_box(x, size, [10, 13, 16, 30], 2, 0.01, 32)]
    [(-1, 32, 4), (-1, 32, 2)]
""")
yolov3_loss: Layer = operator_layer("""
    yolov3_loss(x, gt_box, gt_label, anchors=..., anchor_mask=..., class_num,
        ignore_thresh=..., downsample_ratio=..., gt_score, use_label_smooth, name,
        scale_x_y)

    >>> x, boxes = fluid.data("x", [None, 14, 4, 4]), fluid.data("boxes", [None, 5, 4])
    >>> labels, anchors = fluid.data("labels", [None, 5], "int32"), [10, 13, 16, 30, 33, 23]
    >>> fluid.layers.yolov3_loss(x, boxes, labels, anchors, [0, 1], 2, 0.7, 32).shape
    (-1,)
""")
