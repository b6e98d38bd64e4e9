"""The head of SSD: boxes for several feature maps, offsets and scores."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

from building import data, refused, run


def maps(count=3):
    image = data("image", [None, 3, 64, 64])
    return [data(f"map{i}", [None, 4, 16 >> i, 16 >> i]) for i in range(count)], image


def sizes():
    ops = fluid.default_main_program().global_block().ops
    boxes = [op for op in ops if op.type == "prior_box"]
    return [(op.attr("min_sizes"), op.attr("max_sizes")) for op in boxes]


def test_sizes_by_ratios_cover_the_range_evenly():
    inputs, image = maps()
    ratios = [[2.0], [2.0, 3.0], [2.0, 3.0]]
    found = fluid.layers.multi_box_head(inputs, image, 300, 5, ratios, min_ratio=20, max_ratio=90)
    assert sizes() == [([30.0], [60.0]), ([60.0], [270.0]), ([270.0], [480.0])]
    count = 4 * 16**2 + 6 * (8**2 + 4**2)
    assert [v.shape for v in found] == [(-1, count, 4), (-1, count, 5), (count, 4), (count, 4)]


def test_the_program_is_fluids(check_program):
    inputs, image = maps()
    fluid.layers.multi_box_head(
        inputs,
        image,
        100,
        5,
        aspect_ratios=[[2.0], 2.0, [2.0, 3.0]],
        min_sizes=[[10.0, 12.0], 20.0, 30.0],
        max_sizes=[[], 30.0, 40.0],
        step_w=[4.0, 8.0, 16.0],
        step_h=[5.0, 8.0, 16.0],
        flip=False,
        kernel_size=3,
        pad=1,
    )
    check_program(fluid.default_main_program(), "multi_box_head")


def test_offsets_scores_and_boxes_stand_in_the_same_order():
    inputs, image = maps(2)
    found = fluid.layers.multi_box_head(
        inputs, image, 64, 3, [[2.0], [2.0]], min_sizes=[4.0, 8.0], max_sizes=[8.0, 16.0]
    )
    rng = np.random.default_rng(0)
    feed = {v.name: rng.normal(size=[2, *v.shape[1:]]).astype("float32") for v in inputs}
    feed["image"] = np.zeros([2, 3, 64, 64], "float32")
    weights = [p for p in fluid.default_main_program().all_parameters() if ".w_" in p.name]
    values = run(*found, *weights, **feed)
    locations, scores, boxes, variances = values[:4]
    place = 0
    for i, v in enumerate(inputs):
        w_loc, w_score = values[4 + 2 * i : 6 + 2 * i]
        for y, x in np.ndindex(*v.shape[2:]):
            at = feed[v.name][:, :, y, x]
            for k in range(4):
                rows = slice(4 * k, 4 * k + 4)
                want = at @ w_loc[rows, :, 0, 0].T
                np.testing.assert_allclose(locations[:, place], want, rtol=1e-4, atol=1e-5)
                want = at @ w_score[3 * k : 3 * k + 3, :, 0, 0].T
                np.testing.assert_allclose(scores[:, place], want, rtol=1e-4, atol=1e-5)
                centre = (boxes[place, :2] + boxes[place, 2:]) / 2
                np.testing.assert_allclose(centre * v.shape[2], [x + 0.5, y + 0.5], rtol=1e-4)
                place += 1
    assert place == len(boxes) == len(variances)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"inputs": []}, r"expected inputs to be a list of variables, got \[\]"),
        ({}, "expected min_sizes, or min_ratio and max_ratio and at least 3 inputs"),
        ({"min_ratio": 50, "max_ratio": 50}, "expected max_ratio to be at least min_ratio"),
        ({"min_sizes": [1.0, 2.0]}, "expected min_sizes to be a list of 3, one for each input"),
        ({"min_ratio": 20, "max_ratio": 90, "steps": [1.0]}, "expected steps to be a list of 3"),
        ({"min_ratio": 20, "max_ratio": 90, "aspect_ratios": [2.0]}, "expected aspect_ratios to"),
    ],
)
def test_arguments_of_another_kind_are_refused(given, message):
    inputs, image = maps()
    arguments = dict(inputs=inputs, image=image, base_size=300, num_classes=5)
    with refused(ArgumentError, message):
        fluid.layers.multi_box_head(**{**arguments, "aspect_ratios": [[2.0]] * 3, **given})
