"""Calls of ``paddle.vision.ops``, and what paddle 2.6.2 gives for them.

    FLUIDLITE_PADDLE26=/path/to/python python tests/aids/vision_cases.py

The variable names a Python that has paddlepaddle 2.6.2.  What its functions give is written to
``tests/data/paddle_2/vision_ops.json.gz``; the inputs are drawn anew by who compares.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).resolve().parents[1] / "data" / "paddle_2" / "vision_ops.json.gz"


def boxes(rng, *shape, size=1.0):
    corner = rng.uniform(0, 0.6, [*shape, 2])
    return f32(np.concatenate([corner, corner + rng.uniform(0.1, 0.5, [*shape, 2])], -1) * size)


def f32(value):
    return np.asarray(value, "float32")


def i32(value):
    return np.asarray(value, "int32")


def _regions(rng):
    images, counts = f32(rng.rand(2, 4, 9, 11)), i32([2, 1])
    rois = f32([[0.5, 1.5, 7.2, 6.1], [-3, -2, 14, 12], [4, 4, 4.2, 4.1]])
    shared = dict(x=images, boxes=rois, boxes_num=counts)
    for options in (
        dict(output_size=2),
        dict(output_size=(3, 2), aligned=False),
        dict(output_size=[2, 3], spatial_scale=0.6, sampling_ratio=2),
        dict(output_size=1, spatial_scale=0.5, sampling_ratio=3, aligned=False),
    ):
        yield "roi_align", {**shared, **options}
    odd = f32([[2, 2, 2, 5], [3, 3, 3, 3], [1, 4, 6, 4]])
    yield "roi_align", {**shared, "boxes": odd, "output_size": 2, "sampling_ratio": 2}
    for function in ("roi_pool", "psroi_pool"):
        yield function, dict(shared, output_size=2)
        yield function, dict(shared, output_size=(2, 1), spatial_scale=0.7)
    yield "roi_pool", dict(shared, output_size=3, boxes_num=i32([0, 3]))


def _detectors(rng):
    x, sizes = f32(rng.randn(2, 14, 3, 3)), i32([[60, 80], [96, 96]])
    shared = dict(x=x, img_size=sizes, anchors=[10, 13, 16, 30], class_num=2, downsample_ratio=32)
    yield "yolo_box", dict(shared, conf_thresh=0.5)
    yield "yolo_box", dict(shared, conf_thresh=0.01, clip_bbox=False, scale_x_y=1.2)
    aware = f32(rng.randn(2, 16, 3, 4))
    yield ("yolo_box", dict(shared, x=aware, conf_thresh=0.4, iou_aware=True, iou_aware_factor=0.3))
    truth = f32(rng.uniform(0.1, 0.9, [2, 3, 4]))
    shared = dict(
        x=x, gt_box=truth, gt_label=i32(rng.randint(0, 2, [2, 3])),
        anchors=[10, 13, 16, 30, 33, 23],
        anchor_mask=[0, 2], class_num=2, ignore_thresh=0.5, downsample_ratio=32,
    )  # fmt: skip
    yield "yolo_loss", shared
    score = f32(rng.rand(2, 3))
    yield "yolo_loss", dict(shared, gt_score=score, use_label_smooth=False, scale_x_y=1.1)


def _anchors(rng):
    maps, images = f32(np.zeros([1, 2, 3, 4])), f32(np.zeros([1, 3, 24, 30]))
    shared = dict(input=maps, image=images)
    yield (
        "prior_box",
        dict(shared, min_sizes=[4.0], max_sizes=[9.0], aspect_ratios=[2.0], flip=True),
    )
    yield (
        "prior_box",
        dict(
            shared, min_sizes=[4.0, 6.0], max_sizes=[8.0, 11.0], aspect_ratios=[1.0, 3.0],
            clip=True, steps=[5.0, 7.0], offset=0.3, min_max_aspect_ratios_order=True,
            variance=[0.1, 0.1, 0.3, 0.4],
        ),
    )  # fmt: skip
    yield "prior_box", dict(shared, min_sizes=5.0, aspect_ratios=0.5)
    priors, near = boxes(rng, 5), boxes(rng, 3)
    yield ("box_coder", dict(prior_box=priors, prior_box_var=[0.1, 0.1, 0.2, 0.2], target_box=near))
    decoding = dict(code_type="decode_center_size", prior_box=priors)
    variances, moves = f32(rng.rand(5, 4) + 0.1), f32(rng.randn(3, 5, 4) * 0.3)
    yield "box_coder", dict(decoding, prior_box_var=variances, target_box=moves)
    yield (
        "box_coder",
        dict(
            decoding, prior_box=priors[:3], prior_box_var=[0.1, 0.2, 0.3, 0.4], target_box=moves,
            axis=1, box_normalized=False,
        ),
    )  # fmt: skip


def _convolutions(rng):
    x = f32(rng.randn(2, 4, 6, 5))
    shared = dict(x=x, weight=f32(rng.randn(6, 4, 3, 2)))
    offset = f32(rng.randn(2, 2 * 6, 4, 4))
    yield "deform_conv2d", dict(shared, offset=offset)
    yield (
        "deform_conv2d",
        dict(shared, offset=offset, mask=f32(rng.rand(2, 6, 4, 4)), bias=f32(rng.randn(6))),
    )
    yield (
        "deform_conv2d",
        dict(
            x=x, weight=f32(rng.randn(6, 2, 3, 3)), offset=f32(rng.randn(2, 36, 3, 2)),
            mask=f32(rng.rand(2, 18, 3, 2)), stride=(2, 3), padding=[1, 1],
            dilation=1, groups=2, deformable_groups=2,
        ),
    )  # fmt: skip


def _suppression(rng):
    many, scores = boxes(rng, 14), f32(rng.rand(14))
    yield "nms", dict(boxes=many)
    yield "nms", dict(boxes=many, iou_threshold=0.1)
    yield "nms", dict(boxes=many, iou_threshold=0.2, scores=scores)
    yield "nms", dict(boxes=many, iou_threshold=0.2, scores=scores, top_k=2)
    kinds = dict(category_idxs=np.asarray(rng.randint(0, 4, 14)), categories=[0, 1, 2])
    yield "nms", dict(boxes=many, iou_threshold=0.3, scores=scores, **kinds)
    yield "nms", dict(boxes=many, iou_threshold=0.3, scores=scores, **kinds, top_k=3)
    yield "nms", dict(boxes=many, iou_threshold=0.3, scores=scores, **kinds, top_k=40)
    images = dict(bboxes=boxes(rng, 2, 7), scores=f32(rng.rand(2, 3, 7)))
    counts = dict(score_threshold=0.1, post_threshold=0.05, nms_top_k=6, keep_top_k=8)
    yield "matrix_nms", dict(images, **counts)
    yield (
        "matrix_nms",
        dict(images, **counts, use_gaussian=True, background_label=-1, return_index=True),
    )
    yield "matrix_nms", dict(images, **{**counts, "score_threshold": 2.0}, return_index=True)
    yield (
        "matrix_nms",
        dict(images, **{**counts, "keep_top_k": -1}, normalized=False, return_rois_num=False),
    )


def _proposals(rng):
    shared = dict(
        scores=f32(rng.rand(2, 3, 4, 4)), bbox_deltas=f32(rng.randn(2, 12, 4, 4) * 0.3),
        img_size=f32([[40, 50], [44, 36]]), anchors=boxes(rng, 4, 4, 3, size=40.0),
        variances=f32(rng.rand(4, 4, 3, 4) + 0.5), return_rois_num=True,
    )  # fmt: skip
    yield "generate_proposals", dict(shared, pre_nms_top_n=20, post_nms_top_n=6)
    yield "generate_proposals", dict(shared, nms_thresh=0.7, min_size=6.0, pixel_offset=True)
    yield "generate_proposals", dict(shared, nms_thresh=0.9, eta=0.9, post_nms_top_n=30)
    yield "generate_proposals", dict(shared, min_size=90.0)
    levels = dict(min_level=2, max_level=5, refer_level=4, refer_scale=60)
    rois = f32(boxes(rng, 9) * rng.uniform(10, 300, [9, 1]))
    yield "distribute_fpn_proposals", dict(fpn_rois=rois, rois_num=i32([4, 0, 5]), **levels)
    yield (
        "distribute_fpn_proposals",
        dict(fpn_rois=rois, rois_num=i32([9]), pixel_offset=True, **levels),
    )


def cases():
    """Pairs of a function's name and its arguments."""
    parts = (_regions, _detectors, _anchors, _convolutions, _suppression, _proposals)
    for seed, part in enumerate(parts):
        yield from part(np.random.RandomState(seed))


def tensors(paddle, arguments):
    """The arguments, with tensors where there are arrays."""
    return {
        name: paddle.to_tensor(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }


def plain(result):
    """What a function gave as shapes, types and numbers."""
    if isinstance(result, (list, tuple)):
        return [plain(each) for each in result]
    if result is None:
        return None
    array = result.numpy()
    return [[*array.shape], str(array.dtype), array.ravel().tolist()]


if __name__ == "__main__":
    if sys.argv[1:] == ["--real"]:
        import paddle

        for name, arguments in cases():
            try:
                found = plain(getattr(paddle.vision.ops, name)(**tensors(paddle, arguments)))
            except Exception as error:
                found = f"{type(error).__name__}: {error}"[-300:]
            print("CASE", json.dumps([name, found]), flush=True)
    else:
        command = [os.environ["FLUIDLITE_PADDLE26"], __file__, "--real"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        lines = [line[5:] for line in out.splitlines() if line.startswith("CASE ")]
        text = "[\n" + ",\n".join(lines) + "\n]\n"
        RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))
