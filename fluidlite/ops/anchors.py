"""Boxes at each place of a feature map, which detectors move and scale."""

from __future__ import annotations

import math
from typing import Any

from ..errors import AttributeValueError
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float, need_ndim
from .inert_attributes import UseMkldnn, UseQuantizer


def need_variances(variances: Any) -> Any:
    """Check that there is a variance for each number of a box."""
    if len(variances) != 4 or min(variances) <= 0:
        raise AttributeValueError(f"expected 4 variances above 0, got {list(variances)}")


class Priors(Op, abstract=True):
    """Boxes around each place of Input, in parts of the height and width of Image.

    Input: feature maps; only their height and width matter.
    Image: the images that they were made of.
    Boxes: [height, width, boxes of a place, 4]: left, top, right, bottom, in parts of the image.
    Variances: ``variances`` for each box.
    variances: four numbers.
    clip: keep boxes within the image.
    step_w, step_h: the distances of places; 0 for those that follow from the sizes.
    offset: where in its part of the image a place is.
    """

    signature = "Input, Image -> Boxes, Variances"
    variances: list[float] = REQUIRED
    clip: bool = True
    step_w: float = 0.0
    step_h: float = 0.0
    offset: float = 0.5
    grad = None

    @property
    def count(self) -> Any:
        """How many boxes a place has."""
        raise NotImplementedError

    def check(self, Input: Spec, Image: Spec) -> Spec:
        """Check the inputs; the spec of the boxes."""
        need_float(Input=Input, Image=Image)
        need_ndim(4, Input=Input, Image=Image)
        need_variances(self.variances)
        return Input.with_shape([*Input.shape[2:], self.count, 4])

    def steps(self, Input: Array, Image: Array) -> list[float]:
        """The distances of places, down and across."""
        return [
            given if given else image / max(places, 1)
            for given, image, places in zip(
                (self.step_h, self.step_w), Image.shape[2:], Input.shape[2:]
            )
        ]

    def around(
        self, xp: Any, Input: Array, Image: Array, halves: list[Any], shifts: list[Any]
    ) -> Array:
        """The boxes around each place.

        Args:
            xp: the array namespace.
            Input, Image: as of the operator.
            halves: half the width and height of each box.
            shifts: how far its centre is to the right of the place, and below it.
        """
        height, width = Input.shape[2:]
        down, across = self.steps(Input, Image)
        x = xp.broadcast_to((xp.arange(width) + self.offset) * across, (height, width))
        y = xp.broadcast_to((xp.arange(height)[:, None] + self.offset) * down, (height, width))
        centres = xp.stack([x, y], axis=-1)[:, :, None] + xp.asarray(shifts)
        halves = xp.asarray(halves)
        sizes = xp.asarray([Image.shape[3], Image.shape[2]])
        return xp.concatenate([centres - halves, centres + halves], axis=-1) / xp.tile(sizes, 2)

    def finished(self, xp: Any, Input: Array, boxes: Array) -> Arrays:
        """The boxes and their variances in the element type of Input."""
        variances = xp.broadcast_to(xp.asarray(self.variances), boxes.shape)
        return boxes.astype(Input.dtype), variances.astype(Input.dtype)


class prior_box(UseMkldnn, UseQuantizer, Priors):
    """Boxes, Variances = boxes of some sizes and aspect ratios around each place of Input.

    (Liu et al., SSD: single shot multibox detector, ECCV 2016.)

    min_sizes: of squares, in pixels of Image; aspect ratios stretch them.
    max_sizes: for each of ``min_sizes`` another square, of the geometric mean of both.
    aspect_ratios: width over height; 1 is always there.
    flip: take the inverse of each ratio, too.
    min_max_aspect_ratios_order: a place has both squares first, then those with other ratios.
    """

    min_sizes: list[float] = REQUIRED
    max_sizes: list[float] = ()
    aspect_ratios: list[float] = REQUIRED
    flip: bool = True
    min_max_aspect_ratios_order: bool = False

    @property
    def ratios(self) -> list[float]:
        """All aspect ratios, 1 first."""
        ratios = [1.0]
        for ratio in self.aspect_ratios:
            if all(abs(ratio - other) >= 1e-6 for other in ratios):
                ratios += [ratio, 1 / ratio] if self.flip else [ratio]
        return ratios

    @property
    def count(self) -> int:
        """How many boxes a place has."""
        return len(self.ratios) * len(self.min_sizes) + len(self.max_sizes)

    def infer(self, Input: Spec, Image: Spec) -> Specs:
        if not self.min_sizes or min(self.min_sizes) <= 0:
            raise AttributeValueError(f"expected min_sizes above 0, got {list(self.min_sizes)}")
        if self.max_sizes and len(self.max_sizes) != len(self.min_sizes):
            raise AttributeValueError(
                f"expected as many max_sizes as min_sizes, got {len(self.max_sizes)} and "
                f"{len(self.min_sizes)}"
            )
        if any(high <= low for low, high in zip(self.min_sizes, self.max_sizes)):
            raise AttributeValueError(
                f"expected max_sizes above min_sizes, got {list(self.max_sizes)} and "
                f"{list(self.min_sizes)}"
            )
        if any(ratio <= 0 for ratio in self.aspect_ratios):
            raise AttributeValueError(
                f"expected aspect_ratios above 0, got {list(self.aspect_ratios)}"
            )
        boxes = self.check(Input, Image)
        return boxes, boxes

    def halves(self) -> list[Any]:
        """Half the width and height of each box of a place."""
        halves = []
        for k, size in enumerate(self.min_sizes):
            stretched = [
                (size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2) for ratio in self.ratios
            ]
            squares = [math.sqrt(size * self.max_sizes[k]) / 2] * 2 if self.max_sizes else None
            more = [tuple(squares)] if squares else []
            if self.min_max_aspect_ratios_order:
                halves += [stretched[0], *more, *stretched[1:]]
            else:
                halves += [*stretched, *more]
        return halves

    def run(self, xp: Any, Input: Array, Image: Array) -> Arrays:
        boxes = self.around(xp, Input, Image, self.halves(), [(0.0, 0.0)] * self.count)
        if self.clip:
            boxes = xp.minimum(xp.maximum(boxes, 0), 1)
        return self.finished(xp, Input, boxes)


class density_prior_box(Priors):
    """Boxes, Variances = boxes of some sizes and ratios around points close to each place of Input.

    (Zhang et al., FaceBoxes, IJCB 2017.)

    flatten_to_2d: Boxes and Variances have shape [all boxes, 4].
    fixed_sizes: of squares, in pixels of Image.
    fixed_ratios: width over height, which stretches them.
    densities: for each of ``fixed_sizes`` how many points there are in each direction.
    clip: accepted: boxes are kept within the image in any case, as in fluid.
    """

    flatten_to_2d: bool = False
    fixed_sizes: list[float] = ()
    fixed_ratios: list[float] = ()
    densities: list[int] = ()

    @property
    def count(self) -> int:
        """How many boxes a place has."""
        return sum(n * n for n in self.densities) * len(self.fixed_ratios)

    def infer(self, Input: Spec, Image: Spec) -> Specs:
        if len(self.fixed_sizes) != len(self.densities) or not self.fixed_sizes:
            raise AttributeValueError(
                f"expected a density for each of fixed_sizes, got {list(self.densities)} for "
                f"{list(self.fixed_sizes)}"
            )
        if min(*self.fixed_sizes, *self.fixed_ratios, *self.densities, 1) <= 0:
            raise AttributeValueError(
                f"expected fixed_sizes, fixed_ratios and densities above 0, got "
                f"{list(self.fixed_sizes)}, {list(self.fixed_ratios)} and {list(self.densities)}"
            )
        if not self.fixed_ratios:
            raise AttributeValueError("expected fixed_ratios, got none")
        boxes = self.check(Input, Image)
        if self.flatten_to_2d:
            height, width, count, _ = boxes.shape
            rows = -1 if -1 in (height, width) else height * width * count
            boxes = boxes.with_shape([rows, 4])
        return boxes, boxes

    def run(self, xp: Any, Input: Array, Image: Array) -> Arrays:
        xp.empty([*Input.shape[2:], self.count, 4], Input.dtype)  # fails here where it is too large
        step = int(sum(self.steps(Input, Image)) * 0.5)
        halves, shifts = [], []
        for size, density in zip(self.fixed_sizes, self.densities):
            apart = step // density
            for ratio in self.fixed_ratios:
                half = (size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)
                first = -step / 2 + apart / 2
                for i in range(density):
                    for j in range(density):
                        halves.append(half)
                        shifts.append((first + j * apart, first + i * apart))
        # left and top are not below 0, right and bottom not above 1, whatever ``clip`` says
        boxes = self.around(xp, Input, Image, halves, shifts)
        boxes = xp.concatenate([xp.maximum(boxes[..., :2], 0), xp.minimum(boxes[..., 2:], 1)], -1)
        boxes = xp.clip(boxes, 0, 1) if self.clip else boxes
        found = self.finished(xp, Input, boxes)
        return tuple(xp.reshape(v, (-1, 4)) if self.flatten_to_2d else v for v in found)


class anchor_generator(Op):
    """Anchors, Variances = boxes of some sizes and ratios around each place of Input, in pixels.

    (Ren, He, Girshick and Sun, Faster R-CNN, NIPS 2015.)

    Input: feature maps; only their height and width matter.
    Anchors: [height, width, boxes of a place, 4]: left, top, right, bottom.
    Variances: ``variances`` for each box.
    anchor_sizes: the side of a square of each area, in pixels.
    aspect_ratios: height over width.
    variances: four numbers.
    stride: the distances of places, across and down.
    offset: where in its part of the image a place is.
    """

    signature = "Input -> Anchors, Variances"
    anchor_sizes: list[float] = REQUIRED
    aspect_ratios: list[float] = REQUIRED
    variances: list[float] = REQUIRED
    stride: list[float] = (16.0, 16.0)
    offset: float = 0.5
    grad = None

    def infer(self, Input: Any) -> Specs:
        need_float(Input=Input)
        need_ndim(4, Input=Input)
        need_variances(self.variances)
        for name in ("anchor_sizes", "aspect_ratios", "stride"):
            numbers = getattr(self, name)
            if not numbers or min(numbers) <= 0:
                raise AttributeValueError(f"expected {name} above 0, got {list(numbers)}")
        if len(self.stride) != 2:
            raise AttributeValueError(f"expected stride of 2 numbers, got {list(self.stride)}")
        count = len(self.anchor_sizes) * len(self.aspect_ratios)
        boxes = Input.with_shape([*Input.shape[2:], count, 4])
        return boxes, boxes

    def halves(self) -> list[list[float]]:
        """Half the width and height of each box of a place."""
        across, down = self.stride
        halves = []
        for ratio in self.aspect_ratios:
            # the box of the area of a place, in whole pixels
            wide = math.floor(math.sqrt(across * down / ratio) + 0.5)
            high = math.floor(wide * ratio + 0.5)
            for size in self.anchor_sizes:
                sides = size / across * wide, size / down * high
                halves.append([(side - 1) / 2 for side in sides])
        return halves

    def run(self, xp: Any, Input: Array) -> Arrays:
        height, width = Input.shape[2:]
        across, down = self.stride
        halves = self.halves()
        x = xp.arange(width) * across + self.offset * (across - 1)
        y = xp.arange(height) * down + self.offset * (down - 1)
        centres = xp.stack(xp.meshgrid(x, y), axis=-1)[:, :, None]
        boxes = xp.concatenate(
            [centres - xp.asarray(halves), centres + xp.asarray(halves)], axis=-1
        )
        variances = xp.broadcast_to(xp.asarray(self.variances), boxes.shape)
        return boxes.astype(Input.dtype), variances.astype(Input.dtype)
