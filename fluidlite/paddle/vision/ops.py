"""``paddle.vision.ops`` of paddle 2.6: what detectors are made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arguments import Integers
from ...functions.creation import to_tensor
from ...functions.elementary import cast
from ...functions.selection import argsort, gather, nonzero
from ...functions.views import reshape
from ...ground.docstrings import Family
from ...ground.fields import from_fields
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...initializer import Normal
from ...layer_helper import LayerHelper
from ...modules.convolution import filter_shape, need_groups
from ...nn.functional import deformable
from ...nn.functional.windows import each
from ...nn.layer import TensorLayer
from ...opdef.operand import Operand
from ...param_attr import Attr
from ..modes import in_dynamic_mode
from .normalized import ConvNormActivation as ConvNormActivation
from .regions import PSRoIPool, RoIAlign, RoIPool, psroi_pool, roi_align, roi_pool

__all__ = [
    "yolo_loss", "yolo_box", "prior_box", "box_coder", "deform_conv2d", "DeformConv2D",
    "distribute_fpn_proposals", "generate_proposals", "read_file", "decode_jpeg", "roi_pool",
    "RoIPool", "psroi_pool", "PSRoIPool", "roi_align", "RoIAlign", "nms", "matrix_nms",
]  # fmt: skip

_YOLO = Family(
    {
        "x": "what the detector gives: [N, anchors * (5 + class_num), H, W].",
        "anchors": "widths and heights, in pixels.",
        "class_num": "how many classes there are.",
        "downsample_ratio": "how many pixels of the network's input a place has in each direction.",
        "scale_x_y": "stretches how far centres may be from the middle of their place.",
        "name": "accepted.",
    }
)


@_YOLO
def yolo_loss(
    x: Tensor,
    gt_box: Tensor,
    gt_label: Tensor,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Tensor | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Tensor:
    """How far the detector YOLO is from the boxes that it was to find, for each image.

    Args:
        gt_box: centre, width and height of these boxes, in parts of the image: [N, boxes, 4].
        gt_label: their classes, int32: [N, boxes].
        anchor_mask: the numbers of the anchors that are looked at.
        ignore_thresh: objects overlapping a box by more are not held against the detector.
        gt_score: how much each box counts: [N, boxes].
        use_label_smooth: expect a little less than 1 of the class.

    Returns:
        [N].
    """
    return eager.yolov3_loss.all(
        x, gt_box, gt_label, gt_score, anchors=anchors, anchor_mask=anchor_mask,
        class_num=class_num, ignore_thresh=ignore_thresh, downsample_ratio=downsample_ratio,
        use_label_smooth=use_label_smooth, scale_x_y=scale_x_y,
    )["Loss"]  # fmt: skip


@_YOLO
def yolo_box(
    x: Tensor,
    img_size: Tensor,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """What the detector YOLO found at each place, and how sure it is of each class.

    Args:
        img_size: height and width of each image, int32: [N, 2].
        conf_thresh: boxes whose objectness is lower are zeros.
        clip_bbox: keep boxes within their image.
        iou_aware: ``x`` begins with a number for each anchor that says how far a box is to be
            trusted.
        iou_aware_factor: the power of that in the objectness, which has the rest.

    Returns:
        boxes in pixels, [N, anchors * H * W, 4]; scores, [N, anchors * H * W, class_num].
    """
    return eager.yolo_box(
        x, img_size, anchors=anchors, class_num=class_num, conf_thresh=conf_thresh,
        downsample_ratio=downsample_ratio, clip_bbox=clip_bbox, scale_x_y=scale_x_y,
        iou_aware=iou_aware, iou_aware_factor=iou_aware_factor, by_side=True,
    )  # fmt: skip


def _listed(value: Any) -> list[float]:
    return [*value] if isinstance(value, (list, tuple)) else [value]


def prior_box(
    input: Tensor,
    image: Tensor,
    min_sizes: float | Sequence[float],
    max_sizes: float | Sequence[float] | None = None,
    aspect_ratios: float | Sequence[float] = [1.0],
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = [0.0, 0.0],
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Boxes of several sizes and shapes around each place of a map.

    Args:
        input: the map, [N, C, H, W].
        image: the images, [N, C, height, width].
        min_sizes, max_sizes: of boxes, in pixels.
        aspect_ratios: widths by heights.
        variance: four numbers that go with each box.
        flip: have heights by widths, too.
        clip: keep boxes within the image.
        steps: of places, across and down, in pixels; 0 for what the sizes of both say.
        offset: where the middle of a place is.
        min_max_aspect_ratios_order: the boxes of the largest size come second.
        name: accepted.

    Returns:
        boxes in parts of the image, and what goes with them: [H, W, boxes, 4].

    >>> from fluidlite import paddle
    >>> maps, images = paddle.ones([1, 3, 2, 2]), paddle.ones([1, 3, 8, 8])
    >>> boxes, variances = paddle.vision.ops.prior_box(maps, images, [4.0], flip=True)
    >>> boxes[0, 0].tolist()
    [[0.0, 0.0, 0.5, 0.5]]
    """
    if not isinstance(steps, (list, tuple)) or len(steps) != 2:
        raise ArgumentError(f"expected two steps, across and down, got {steps!r:.60}")
    largest = {} if not max_sizes else {"max_sizes": _listed(max_sizes)}
    return eager.prior_box(
        input, image, min_sizes=_listed(min_sizes), **largest,
        aspect_ratios=_listed(aspect_ratios), variances=list(variance), flip=flip, clip=clip,
        step_w=steps[0], step_h=steps[1], offset=offset,
        min_max_aspect_ratios_order=min_max_aspect_ratios_order,
    )  # fmt: skip


def box_coder(
    prior_box: Tensor,
    prior_box_var: Tensor | Sequence[float] | None,
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """Boxes relative to prior boxes: centres by sizes, sizes by logarithms; or back.

    Args:
        prior_box: the boxes that others are relative to, [M, 4].
        prior_box_var: what the numbers are divided by: [M, 4], or four numbers for all; None for 1.
        target_box: [N, 4] to encode, each by each; [N, M, 4] to decode.
        code_type: "encode_center_size" or "decode_center_size".
        box_normalized: boxes are in parts of the image; if not, in whole pixels, the last one
            included.
        axis: to decode: 0 where boxes of one column have a prior box in common, 1 for a row.
        name: accepted.

    Returns:
        [N, M, 4].
    """
    of_tensor = prior_box_var is None or isinstance(prior_box_var, Operand)
    variance = {} if of_tensor else {"variance": _listed(prior_box_var)}
    return eager.box_coder(
        prior_box, prior_box_var if of_tensor else None, target_box, code_type=code_type,
        box_normalized=box_normalized, axis=axis, **variance,
    )  # fmt: skip


deform_conv2d: Callable[..., Tensor] = Spelling({}, types={"int | None": "int"})(
    deformable.deform_conv2d,
    words={
        "; as many as\n        ``offset`` has when None": "",
        "; as many as\n        ``weight`` says when None": "",
    },
)


@from_fields
class DeformConv2D(TensorLayer):
    """A convolution whose windows are moved, with filters of its own: ``deform_conv2d``.

    Args:
        in_channels, out_channels: how many come in and out.
        kernel_size: of the filters.
        stride, padding, dilation, deformable_groups, groups: as of the function.
        weight_attr: of the filters.
        bias_attr: of the bias; False for none.

    >>> from fluidlite import paddle
    >>> layer = paddle.vision.ops.DeformConv2D(3, 8, 3)
    >>> layer(paddle.ones([1, 3, 5, 5]), paddle.zeros([1, 18, 3, 3])).shape
    [1, 8, 3, 3]
    """

    in_channels: int
    out_channels: int
    kernel_size: Integers
    stride: Integers = 1
    padding: Integers = 0
    dilation: Integers = 1
    deformable_groups: int = 1
    groups: int = 1
    weight_attr: Attr = None
    bias_attr: Attr = None

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        TensorLayer.__init__(self)
        sizes = each("kernel_size", given.pop("kernel_size"), 2)
        channels, filters = given.pop("in_channels"), given.pop("out_channels")
        need_groups(channels, filters, given["groups"])
        shape = filter_shape(channels, filters, given["groups"], sizes, False)
        start = Normal(0.0, sqrt(2.0 / (channels * prod(sizes))))
        attr, bias_attr = given.pop("weight_attr"), given.pop("bias_attr")
        self.weight: Any = self.create_parameter(shape, attr, default_initializer=start)
        self.bias: Any = self.create_parameter([filters], bias_attr, is_bias=True)
        self._options = given

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """The result for ``[N, in_channels, H, W]``, with offsets and weights of the function."""
        return deform_conv2d(x, offset, self.weight, self.bias, mask=mask, **self._options)


def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """The numbers of the boxes that no better one, of their category, overlaps too much.

    Args:
        boxes: [M, 4], the best first when there are no scores.
        iou_threshold: overlaps above it suppress.
        scores: [M].
        category_idxs: the category of each box, [M].
        categories: all categories.
        top_k: of categories: how many numbers are given, those of the best boxes; all when None.

    >>> from fluidlite import paddle
    >>> boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]])
    >>> paddle.vision.ops.nms(boxes, 0.3, paddle.to_tensor([0.5, 0.9, 0.1])).tolist()
    [1, 2]
    """
    if scores is None:
        return eager.nms(boxes, iou_threshold=iou_threshold)
    if top_k is not None and -1 < boxes.shape[0] < top_k:
        raise ArgumentError(f"expected top_k of at most {boxes.shape[0]} boxes, got {top_k!r}")
    if category_idxs is None:
        order = argsort(scores, descending=True)
        return gather(order, eager.nms(gather(boxes, order), iou_threshold=iou_threshold))
    if categories is None:
        raise ArgumentError("expected categories, the list of all of them, got None")
    mask = eager.fill_zeros_like(cast(scores, "int32"))
    for category in categories:
        of_it = reshape(nonzero(category_idxs == category), [-1])
        if not of_it.shape[0]:
            continue
        order = gather(of_it, argsort(gather(scores, of_it), descending=True))
        kept = gather(order, eager.nms(gather(boxes, order), iou_threshold=iou_threshold))
        mask = eager.scatter(mask, kept, cast(kept, "int32") * 0 + 1, overwrite=True)
    kept = reshape(nonzero(mask), [-1])
    return gather(kept, argsort(gather(scores, kept), descending=True)[:top_k])


def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The regions with the best scores, of which none overlap too much.

    Ren et al., Faster R-CNN, 2015.

    Args:
        scores: of an object in each anchor, [N, anchors, H, W].
        bbox_deltas: boxes relative to anchors, [N, 4 * anchors, H, W].
        img_size: height and width of each image, [N, 2].
        anchors, variances: [H, W, anchors, 4].
        pre_nms_top_n: how many anchors of an image are looked at, the best; 0 for all.
        post_nms_top_n: how many regions of an image are kept; 0 for all.
        nms_thresh: overlaps above it suppress.
        min_size: of a region, in pixels; at least 1.
        eta: what ``nms_thresh`` is multiplied with at each region kept, while it is above 0.5.
        pixel_offset: the last pixel lies within a box.
        return_rois_num: whether to say how many regions each image has.
        name: accepted.

    Returns:
        the regions of all images, [n, 4]; their scores, [n, 1]; and how many each image has, or
        None.
    """
    counted = ("RpnRoisNum",) if return_rois_num else ()
    outs = eager.generate_proposals_v2.asked(
        counted, scores, bbox_deltas, img_size, anchors, variances, pre_nms_topN=pre_nms_top_n,
        post_nms_topN=post_nms_top_n, nms_thresh=nms_thresh, min_size=min_size, eta=eta,
        pixel_offset=pixel_offset,
    )  # fmt: skip
    counts = outs["RpnRoisNum"] if return_rois_num else None
    return outs["RpnRois"], outs["RpnRoiProbs"], counts


def distribute_fpn_proposals(
    fpn_rois: Tensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:
    """The regions of each level of a pyramid, by their sizes.

    Lin et al., Feature pyramid networks for object detection, 2017.

    Args:
        fpn_rois: regions, [n, 4].
        min_level, max_level: the finest and the coarsest.
        refer_level: the level of regions of ``refer_scale``.
        refer_scale: the square root of an area, in pixels.
        pixel_offset: the last pixel lies within a box.
        rois_num: how many regions each image has.
        name: accepted.

    Returns:
        the regions of each level; where each of ``fpn_rois`` is among them, [n, 1]; and how many
        each image has on each level, or None.
    """
    counted = () if rois_num is None else ("MultiLevelRoIsNum",)
    outs = eager.distribute_fpn_proposals.asked(
        counted, fpn_rois, rois_num, min_level=min_level, max_level=max_level,
        refer_level=refer_level, refer_scale=refer_scale, pixel_offset=pixel_offset,
    )  # fmt: skip
    counts = None if rois_num is None else list(outs["MultiLevelRoIsNum"])
    return list(outs["MultiFpnRois"]), outs["RestoreIndex"], counts


def matrix_nms(
    bboxes: Tensor,
    scores: Tensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Boxes whose scores sink by how much better ones of their class overlap them.

    Wang et al., SOLOv2: dynamic and fast instance segmentation, 2020.

    Args:
        bboxes: of images, [N, M, 4].
        scores: [N, classes, M].
        score_threshold: what a score must be above.
        post_threshold: what it must be above after that.
        nms_top_k: how many boxes of a class are looked at, the best; -1 for all.
        keep_top_k: how many boxes of an image are kept; -1 for all.
        use_gaussian: scores sink by exp(-sigma overlap^2); if not, by 1 - overlap.
        gaussian_sigma: the sigma.
        background_label: the class that is left out; -1 for none.
        normalized: boxes are in parts of the image; if not, in whole pixels, the last one included.
        return_index: whether to give the numbers of the boxes.
        return_rois_num: whether to say how many boxes each image has.
        name: accepted.

    Returns:
        class, score and box of each, [n, 6]; how many each image has, and their numbers among the
        boxes of all images, [n, 1], or None for results that are not requested.
    """
    counted = ("RoisNum",) if return_rois_num else ()
    outs = eager.matrix_nms.asked(
        counted, bboxes, scores, score_threshold=score_threshold, post_threshold=post_threshold,
        nms_top_k=nms_top_k, keep_top_k=keep_top_k, use_gaussian=use_gaussian,
        gaussian_sigma=gaussian_sigma, background_label=background_label, normalized=normalized,
    )  # fmt: skip
    counts = outs["RoisNum"] if return_rois_num else None
    return outs["Out"], counts, outs["Index"] if return_index else None


def read_file(filename: str, name: str | None = None) -> Any:
    """The bytes of a file: uint8, [n].

    Args:
        filename: its path.
        name: accepted.

    Raises:
        FileError: it cannot be read.
    """
    options = {"filename": os.fspath(filename)}
    if in_dynamic_mode():
        return to_tensor(eager.read_file(**options))
    out = LayerHelper("read_file").create_variable_for_type_inference("uint8")
    out.block.append_op("read_file", {}, {"Out": out}, options)
    return out


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """The picture that bytes of a JPEG file are; Pillow decodes it.

    Args:
        x: the bytes, uint8.
        mode: "unchanged", "gray" for one channel, or "rgb" for three.
        name: accepted.

    Returns:
        [C, H, W], uint8.

    Raises:
        UnsupportedError: Pillow is not installed.
        FileFormatError: ``x`` is no such file.
    """
    return eager.decode_jpeg(x, mode=mode)


list_public_names(globals())
api_boundaries(globals())
