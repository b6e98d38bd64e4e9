"""Convolutions whose windows are moved, element by element."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs, Value
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Op
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    need_float,
    need_ndim,
    need_shape,
    pooled,
    same_dtype,
    spec,
)
from .points import between


class Deformable(Op, abstract=True):
    """What deformable convolutions have in common.

    Input: images, [N, C, H, W].
    Offset: how far each element of the window is moved, (down, across) for each group, element and
        position: [N, groups * height * width * 2, rows, columns].
    Filter: [filters, channels / groups, height, width].
    strides, dilations: steps of the window, and of its elements, down and across.
    paddings: zeros around the image.
    groups: the channels are cut into so many groups, which do not mix.
    deformable_groups: so many parts of the channels have offsets of their own.
    """

    strides: list[int] = (1, 1)
    paddings: list[int] = (0, 0)
    dilations: list[int] = (1, 1)
    groups: int = 1
    deformable_groups: int = 1
    im2col_step: int = attr(64, inert=True)

    def check(self, Input: Any, Offset: Any, Mask: Any, Filter: Any) -> Any:
        """Check everything; the shape of Output."""
        given = dict(Input=Input, Offset=Offset, Mask=Mask, Filter=Filter)
        need_float(Input=Input)
        same_dtype(**given)
        for name, s in given.items():
            if s is not None:
                need_ndim(4, **{name: s})
        for name, least in (("strides", 1), ("dilations", 1), ("paddings", None)):
            numbers = getattr(self, name)
            if len(numbers) != 2 or (least is not None and min(numbers) < least):
                at = "" if least is None else f" from {least}"
                raise AttributeValueError(f"expected {name} of 2 numbers{at}, got {list(numbers)}")
        channels, filters = Input.shape[1], Filter.shape[0]
        for name in ("groups", "deformable_groups"):
            count = getattr(self, name)
            if count < 1 or (channels != -1 and channels % count):
                raise AttributeValueError(
                    f"expected {name} that divide {channels} channels, got {count}"
                )
        depth = -1 if Filter.shape[1] == -1 else Filter.shape[1] * self.groups
        if not agree(channels, depth) or (filters != -1 and filters % self.groups):
            raise ShapeError(
                f"expected Filter of shape [filters, channels / groups, height, width] with "
                f"groups={self.groups}, got {list(Filter.shape)} for Input {list(Input.shape)}"
            )
        sizes = self.positions(Input.shape, Filter.shape)
        known = -1 not in Filter.shape[2:]
        elements = self.deformable_groups * math.prod(Filter.shape[2:])
        for name, s, count in (("Offset", Offset, 2 * elements), ("Mask", Mask, elements)):
            wanted = (Input.shape[0], count if known else -1, *sizes)
            need_shape(name, s, wanted)
        return Input.with_shape((Input.shape[0], filters, *sizes))

    def positions(self, image: Shape, filter: Shape) -> list[int]:
        """How many positions the window has, down and across."""
        return [
            -1 if k == -1 else pooled(n, (k - 1) * dilation + 1, pad, pad, stride)
            for n, k, stride, pad, dilation in zip(
                image[2:], filter[2:], self.strides, self.paddings, self.dilations
            )
        ]

    def convolve(self, f: Any, Input: Any, Offset: Any, Mask: Value, Filter: Any) -> Any:
        """The sums over the moved elements of the window."""
        n, c, height, width = Input.shape
        kernel, positions = Filter.shape[2:], self.positions(Input.shape, Filter.shape)
        parts, elements = self.deformable_groups, math.prod(Filter.shape[2:])
        points = elements * math.prod(positions)
        offsets = f.reshape(Offset, shape=[n * parts, elements, 2, math.prod(positions)])

        def along(k):
            moved = f.slice(offsets, axes=[2], starts=[k], ends=[k + 1])
            straight = f.window_places(
                kernel=kernel[k],
                count=positions[k],
                stride=self.strides[k],
                padding=self.paddings[k],
                dilation=self.dilations[k],
                dtype=Offset.dtype,
            )
            # [element, position] of one dimension to [elements of both, positions of both]
            ones = [1, 1, 1, 1, 1]
            ones[1 + k], ones[3 + k] = kernel[k], positions[k]
            shape = [n * parts, *kernel, *positions]
            moved = f.elementwise_add(
                f.reshape(moved, shape=shape), f.reshape(straight, shape=ones)
            )
            return f.reshape(moved, shape=[n * parts, points])

        images = f.reshape(Input, shape=[n * parts, c // parts, height, width])
        mask = None if Mask is None else f.reshape(Mask, shape=[n * parts, points])
        values = between(f, images, along(0), along(1), mask, open_end=True)
        depth = c // self.groups * elements
        values = f.reshape(values, shape=[n, self.groups, depth, math.prod(positions)])
        filters = Filter.shape[0]
        weights = f.reshape(Filter, shape=[self.groups, filters // self.groups, depth])
        return f.reshape(f.matmul(weights, values), shape=[n, filters, *positions])


class deformable_conv(Deformable):
    """Output = Input convolved with Filter, each element of the window moved and weighted.

    (Zhu, Hu, Lin and Dai, Deformable ConvNets v2, CVPR 2019.)

    Mask: the weights: [N, groups * height * width, rows, columns].
    """

    signature = "Input, Offset, Mask, Filter -> Output"
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec, Offset: Spec, Mask: Spec, Filter: Spec) -> Specs:
        return self.check(Input, Offset, Mask, Filter)

    def expand(self, f: Any, Input: Value, Offset: Value, Mask: Value, Filter: Value) -> Value:
        return self.convolve(f, Input, Offset, Mask, Filter)


class deformable_conv_v1(Deformable):
    """Output = Input convolved with Filter, each element of the window moved.

    (Dai et al., Deformable convolutional networks, ICCV 2017.)
    """

    signature = "Input, Offset, Filter -> Output"
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec, Offset: Spec, Filter: Spec) -> Specs:
        return self.check(Input, Offset, None, Filter)

    def expand(self, f: Any, Input: Value, Offset: Value, Filter: Value) -> Value:
        return self.convolve(f, Input, Offset, None, Filter)


class window_places(Op):
    """Out[k, i] = the place of element k of a window at its position i.

    kernel: the number of elements.
    count: the number of positions.
    stride, dilation: steps of the window, and of its elements.
    padding: how far before the image the window begins.
    dtype: the element type.
    """

    signature = " -> Out"
    kernel: int = REQUIRED
    count: int = REQUIRED
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    dtype: DType = DType.FP32
    grad = None

    def infer(self) -> Specs:
        return spec([self.kernel, self.count], self.dtype)

    def run(self, xp: Any) -> Array:
        elements = xp.arange(self.kernel)[:, None] * self.dilation
        positions = xp.arange(self.count) * self.stride - self.padding
        return (elements + positions).astype(self.dtype.dtype)
