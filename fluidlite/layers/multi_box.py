"""The head of SSD: what a detector says about boxes around each place of some feature maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .anchors import prior_box
from .conv import conv2d
from .joining import concat
from .layer import is_variable
from .reshaping import flatten, reshape, transpose

Sizes = Sequence[float | Sequence[float]]


def multi_box_head(
    inputs: Sequence[Variable],
    image: Variable,
    base_size: int,
    num_classes: int,
    aspect_ratios: Sequence[float | Sequence[float]],
    min_ratio: int | None = None,
    max_ratio: int | None = None,
    min_sizes: Sizes | None = None,
    max_sizes: Sizes | None = None,
    steps: Sequence[float] | None = None,
    step_w: Sequence[float] | None = None,
    step_h: Sequence[float] | None = None,
    offset: float = 0.5,
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    flip: bool = True,
    clip: bool = False,
    kernel_size: int = 1,
    pad: int = 0,
    stride: int = 1,
    name: str | None = None,
    min_max_aspect_ratios_order: bool = False,
) -> tuple[Variable, Variable, Variable, Variable]:
    """Prior boxes for some feature maps, and for each box an offset and scores, by convolutions.

    Liu et al., SSD: single shot multibox detector, ECCV 2016.

    Args:
        inputs: the feature maps, [N, C, H, W] each, from the finest to the coarsest.
        image: the images that they were made of, [N, C, height, width].
        base_size: the size of images, of which ratios are taken.
        num_classes: the number of scores for each box.
        aspect_ratios: for each map a number or a list of them, width over height.
        min_ratio, max_ratio: sizes of boxes in per cent of ``base_size``, from the second map to
            the last; used when there are no ``min_sizes``, of three maps and more.
        min_sizes, max_sizes: for each map a size or a list of them, in pixels.
        steps: for each map the distance of places in pixels; computed when None.
        step_w, step_h: the same across and down.
        offset, variance, flip, clip, min_max_aspect_ratios_order: as of :func:`prior_box`.
        kernel_size, pad, stride: of the convolutions.
        name: not used; fluid 1.8 has it.

    Returns:
        offsets, [N, boxes, 4]; scores, [N, boxes, num_classes]; the boxes, [boxes, 4]; and their
        variances, [boxes, 4].

    Raises:
        ArgumentError: an argument is of another kind, or there is not one entry for each map.

    >>> image = fluid.data("image", [None, 3, 32, 32], "float32")
    >>> maps = [fluid.data(f"map{n}", [None, 8, n, n], "float32") for n in (8, 4)]
    >>> locs, scores, boxes, variances = fluid.layers.multi_box_head(
    ...     maps, image, 32, 5, aspect_ratios=[[2.0], [2.0]], min_sizes=[4.0, 8.0]
    ... )
    >>> boxes.shape, scores.shape
    ((240, 4), (-1, 240, 5))
    """
    maps = _maps(inputs)
    count = len(maps)
    if min_sizes is None:
        smallest, largest = _by_ratios(count, base_size, min_ratio, max_ratio)
    else:
        smallest = _one_each("min_sizes", min_sizes, count)
        largest = [[]] * count if max_sizes is None else _one_each("max_sizes", max_sizes, count)
    ratios = _one_each("aspect_ratios", aspect_ratios, count)
    across, down = (
        _one_each(what, given, count) if steps is None else _one_each("steps", steps, count)
        for what, given in (("step_w", step_w), ("step_h", step_h))
    )
    boxes: list[Variable] = []
    variances: list[Variable] = []
    locations: list[Variable] = []
    scores: list[Variable] = []
    for i, feature in enumerate(maps):
        box, var = prior_box(
            feature,
            image,
            _listed(smallest[i]),
            _listed(largest[i]) or None,
            _listed(ratios[i]),
            variance,
            flip,
            clip,
            [across[i], down[i]],
            offset,
            None,
            min_max_aspect_ratios_order,
        )
        boxes.append(box)
        variances.append(var)
        shapes = box.shape[2]
        for found, numbers in ((locations, 4), (scores, num_classes)):
            made = conv2d(feature, shapes * numbers, kernel_size, stride, pad)
            found.append(flatten(transpose(made, [0, 2, 3, 1]), axis=1))
    rows = [flatten(each, axis=3) for pair in zip(boxes, variances) for each in pair]
    joined = concat(rows[::2]), concat(rows[1::2])
    location = reshape(concat(locations, axis=1), [0, -1, 4])
    score = reshape(concat(scores, axis=1), [0, -1, num_classes])
    for each in joined:
        each.stop_gradient = True
    return location, score, *joined


def _maps(inputs: Any) -> list[Variable]:
    if not isinstance(inputs, (list, tuple)) or not inputs or not all(map(is_variable, inputs)):
        raise ArgumentError(
            f"multi_box_head: expected inputs to be a list of variables, got {inputs!r:.60}"
        )
    return list(inputs)


def _by_ratios(
    count: int, base_size: int, least: int | None, most: int | None
) -> tuple[list[Any], list[Any]]:
    """The smaller and the larger sizes of boxes for each map."""
    if least is None or most is None or count < 3:
        raise ArgumentError(
            f"multi_box_head: expected min_sizes, or min_ratio and max_ratio and at least 3 "
            f"inputs, got min_ratio {least!r}, max_ratio {most!r} and {count} inputs"
        )
    step = math.floor((most - least) / (count - 2))
    if step < 1:
        raise ArgumentError(
            f"multi_box_head: expected max_ratio to be at least min_ratio + {count - 2}, one more "
            f"for each input, got min_ratio {least} and max_ratio {most}"
        )
    ratios = list(range(least, most + 1, step))
    smaller = [base_size * 0.10] + [base_size * ratio / 100.0 for ratio in ratios]
    larger = [base_size * 0.20] + [base_size * (ratio + step) / 100.0 for ratio in ratios]
    return smaller[:count], larger[:count]


def _one_each(what: str, given: Any, count: int) -> list[Any]:
    """An entry for each map; zeros when None."""
    if given is None:
        return [0.0] * count
    if not isinstance(given, (list, tuple)) or len(given) != count:
        raise ArgumentError(
            f"multi_box_head: expected {what} to be a list of {count}, one for each input, got "
            f"{given!r:.60}"
        )
    return list(given)


def _listed(value: Any) -> list[float]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
