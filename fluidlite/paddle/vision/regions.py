"""Parts of images, each pooled to one size."""

from __future__ import annotations

from math import prod
from typing import Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arguments import Integers
from ...ground.docstrings import Family
from ...ground.spellings import parameters_of
from ...ground.tracebacks import api_boundaries
from ...nn import Layer
from ...nn.functional.windows import each

__all__: list[str] = []

_BOXES = Family(
    {
        "x": "images, [N, C, H, W].",
        "boxes": "regions (left, top, right, bottom), [n, 4].",
        "boxes_num": "how many of them each image has, [N], int32.",
        "output_size": "how many parts a region has down and across: a number, or two.",
        "spatial_scale": "what the numbers of ``boxes`` are multiplied with.",
        "sampling_ratio": "how many points a part has in each direction; below 1, one for each "
        "element.",
        "aligned": "the number of an element is the place of its middle; if not, it is half an "
        "element before that.",
        "pixel_offset": "the last pixel lies within a box.",
        "name": "accepted.",
    },
    returns="For each region, and each channel, its parts: [n, C, rows, columns].",
)


def _parts(output_size: Integers) -> dict[str, int]:
    """How many parts a region has."""
    sizes = each("output_size", output_size, 2)
    return {"pooled_height": sizes[0], "pooled_width": sizes[1]}


@_BOXES
def roi_align(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: Integers,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Tensor:
    """For each region the means of points between the elements of its parts.

    He, Gkioxari, Dollar and Girshick, Mask R-CNN, 2017.

    >>> from fluidlite import paddle
    >>> images = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
    >>> boxes, counts = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1])
    >>> paddle.vision.ops.roi_align(images, boxes, counts, 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    return eager.roi_align(
        x, boxes, RoisNum=boxes_num, **_parts(output_size), spatial_scale=spatial_scale,
        sampling_ratio=sampling_ratio, aligned=aligned,
    )  # fmt: skip


@_BOXES
def roi_pool(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: Integers,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """For each region the maxima over its parts; 0 for a part without elements.

    Girshick, Fast R-CNN, 2015.
    """
    return eager.roi_pool(
        x, boxes, RoisNum=boxes_num, **_parts(output_size), spatial_scale=spatial_scale
    )


@parameters_of(roi_pool)
def psroi_pool(*given: Any) -> Tensor:
    """For each region the means over its parts, each part of channels of its own.

    Dai, Li, He and Sun, R-FCN, 2016.

    Args:
        x: images, [N, C * rows * columns, H, W].
    """
    x, boxes, boxes_num, output_size, spatial_scale, _ = given
    parts = _parts(output_size)
    channels, rest = divmod(x.shape[1], prod(parts.values()))
    if rest:
        raise ArgumentError(
            f"expected x of channels that {prod(parts.values())} parts divide, got {x.shape[1]}"
        )
    return eager.psroi_pool(
        x, boxes, boxes_num, **parts, spatial_scale=spatial_scale, output_channels=channels
    )


class RoIPool(Layer):
    """For each region the maxima over its parts: ``roi_pool``.

    Args:
        output_size: how many parts a region has down and across: a number, or two.
        spatial_scale: what the numbers of regions are multiplied with.
    """

    def __init__(self, output_size: Integers, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = output_size
        self._spatial_scale = spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """The parts of regions of images ``[N, C, H, W]``."""
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(RoIPool):
    """For each region the means of points between the elements of its parts: ``roi_align``.

    Args:
        output_size: how many parts a region has down and across: a number, or two.
        spatial_scale: what the numbers of regions are multiplied with.
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor:
        """The parts of regions of images ``[N, C, H, W]``."""
        size, scale = self._output_size, self._spatial_scale
        return roi_align(x, boxes, boxes_num, size, scale, aligned=aligned)

    def extra_repr(self) -> str:
        return ""


class PSRoIPool(RoIPool):
    """For each region the means over its parts, each of channels of its own: ``psroi_pool``.

    Args:
        output_size: how many parts a region has down and across: a number, or two.
        spatial_scale: what the numbers of regions are multiplied with.
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """The parts of regions of images ``[N, C * rows * columns, H, W]``."""
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return ""


api_boundaries(globals())
