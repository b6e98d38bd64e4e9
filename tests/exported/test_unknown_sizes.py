"""Layers whose batch is not known go to ONNX so that any batch can be fed."""

import numpy as np
import pytest
from exported.models import assert_same, run

import fluidlite as fluid
from fluidlite import layers

IMAGE = [None, 8, 4, 6]
#: name -> shapes of what is fed, and the layer
CALLS = {
    "pad": ([[None, 3]], lambda x: layers.pad(x, [0, 0, 1, 2], 0.5)),
    "pad2d": ([IMAGE], lambda x: layers.pad2d(x, [1, 0, 2, 1], mode="reflect")),
    "pixel_shuffle": ([IMAGE], lambda x: layers.pixel_shuffle(x, 2)),
    "space_to_depth": ([IMAGE], lambda x: layers.space_to_depth(x, 2)),
    "group_norm": ([IMAGE], lambda x: layers.group_norm(x, 4)),
    "unstack": ([[None, 3]], lambda x: layers.unstack(x, 1)),
    "slice": ([[None, 5]], lambda x: layers.slice(x, [0, 1], [1, 1], [9, 4])),
    "row of a batch": ([[None, 5]], lambda x: x[-1]),
    "expand_as": ([[None, 2], [None, 6]], layers.expand_as),
    "grid_sampler": (
        [IMAGE, [None, 3, 5, 2]],
        lambda x, grid: layers.grid_sampler(x, layers.tanh(grid)),
    ),
    "prior_box": (
        [IMAGE, [None, 3, 16, 24]],
        lambda x, image: layers.prior_box(x, image, [4.0])[0],
    ),
    "anchors": (
        [IMAGE],
        lambda x: layers.anchor_generator(x, [16.0], [0.5, 1.0], stride=[4.0, 4.0])[0],
    ),
    "yolo_box": (
        [[None, 14, 4, 4]],
        lambda x: layers.yolo_box(
            x,
            layers.cast(layers.abs(layers.reshape(x, [-1, 112, 2])[:, 0]) * 50.0 + 9.0, "int32"),
            [5, 6, 7, 8],
            2,
            0.01,
            8,
        ),
    ),
    "lstm_unit": ([[None, 3], [None, 2], [None, 2]], lambda x, h, c: layers.lstm_unit(x, h, c)),
    "add_position_encoding": ([[None, 3, 4]], lambda x: layers.add_position_encoding(x, 0.5, 2.0)),
    "smooth_l1": ([[None, 3], [None, 3]], layers.smooth_l1),
    "image as columns": ([IMAGE], lambda x: layers.unfold(x, [2, 3], strides=2, paddings=1)),
    "a batch of ones": (
        [[None, 3]],
        lambda x: layers.fill_constant_batch_size_like(x, [-1, 2], "float32", 1.0),
    ),
    "rows of samples": (
        [[None, 3]],
        lambda x: layers.index_select(x, layers.assign(np.array([2, 0])), 1),
    ),
}


def flat(found):
    return (
        [v for each in found for v in flat(each)] if isinstance(found, (list, tuple)) else [found]
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_layer_takes_batches_of_all_sizes(name, tmp_path):
    shapes, layer = CALLS[name]
    path = str(tmp_path / "model.onnx")
    inputs = [fluid.data(f"x{i}", shape, "float32") for i, shape in enumerate(shapes)]
    out = flat(layer(*inputs))
    startup, executor = fluid.default_startup_program(), fluid.Executor()
    if startup.global_block().ops:
        executor.run(startup)
    fluid.onnx.export(fluid.default_main_program(), path, fetches=out)
    rng = np.random.default_rng(0)
    for batch in (2, 3, 7):
        feed = {
            v.name: rng.normal(size=[batch, *shape[1:]]).astype("float32")
            for v, shape in zip(inputs, shapes, strict=True)
        }
        right = executor.run(feed=feed, fetch_list=out)
        for found, value in zip(run(path, feed).values(), right, strict=True):
            assert_same(found, value)
