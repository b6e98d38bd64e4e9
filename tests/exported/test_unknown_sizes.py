"""Layers whose batch is not known go to ONNX so that any batch can be fed."""

import numpy as np
import pytest
from exported.models import assert_same, run

import fluidlite as fluid
from fluidlite import layers
from fluidlite.layer_helper import LayerHelper

import saved_models

IMAGE = [None, 8, 4, 6]
FLOAT = {"Out": "float32"}


def operator(type, ins, dtypes, **attrs):
    """The outputs of an operator without a layer, by their element types."""
    helper = LayerHelper(type)
    outs = {k: helper.create_variable_for_type_inference(v) for k, v in dtypes.items()}
    helper.append_op(type, inputs=ins, outputs=outs, attrs=attrs)
    return list(outs.values())


def negative_likelihoods(x, weight):
    ins = {"X": x, "Label": layers.argmax(x * 1.5, 1), "Weight": layers.abs(weight)}
    return operator("nll_loss", ins, {**FLOAT, "Total_weight": "float32"})


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
    "backwards": (
        [[None, 5]],
        lambda x: layers.strided_slice(x, [0, 1], [9, 3], [-1, 0], [-1, -2]),
    ),
    "expand_as": ([[None, 2], [None, 6]], layers.expand_as),
    "repetition by a tensor": (
        [[None, 3]],
        lambda x: layers.expand(x, [2, layers.fill_constant([1], "int32", 3)]),
    ),
    "stretched": (
        [[None, 1, 2]],
        lambda x: operator("expand_v2", {"X": x}, FLOAT, shape=[4, -1, 3, 2]),
    ),
    "stretched to a batch": (
        [[1, 3], [None, 3]],
        lambda x, y: operator(
            "expand_v2",
            {"X": x, "expand_shapes_tensor": [layers.shape(y)[0], layers.shape(x)[1] * 0 - 1]},
            FLOAT,
            shape=[-1, -1],
        ),
    ),
    "stretched as another": (
        [[1, 3], [None, 3]],
        lambda x, y: operator("expand_as_v2", {"X": x, "Y": y}, FLOAT),
    ),
    "tiles": ([[None, 3]], lambda x: operator("tile", {"X": x}, FLOAT, repeat_times=[2, 1, 3])),
    "tiles of the last": (
        [[None, 3]],
        lambda x: operator("tile", {"X": x}, FLOAT, repeat_times=[2]),
    ),
    "chosen": (
        [[None, 3], [None, 1]],
        lambda x, y: operator("masked_select", {"X": x, "Mask": y > 0.3}, {"Y": "float32"}),
    ),
    "rows repeated": (
        [[None, 3]],
        lambda x: operator("repeat_interleave", {"X": x}, FLOAT, Repeats=2, dim=0),
    ),
    "columns repeated": (
        [[None, 3]],
        lambda x: operator("repeat_interleave", {"X": x}, FLOAT, Repeats=2, dim=1),
    ),
    "rows repeated by numbers": (
        [[None, 3], [None, 1]],
        lambda x, y: operator(
            "repeat_interleave",
            {"X": x, "RepeatsTensor": layers.cast(layers.abs(y[:, 0]) * 3.0, "int32")},
            FLOAT,
            dim=0,
        ),
    ),
    "columns": ([[None, None, 2]], lambda x: layers.unstack(x, -1)),
    "products by indices": (
        [[None, 2, 3], [None, 3], [1, 2]],
        lambda x, y, z: operator(
            "einsum", {"Operands": [x, y, z]}, FLOAT, equation="...ij,bj,...i->...b"
        ),
    ),
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
    "uneven largest": ([IMAGE], lambda x: layers.adaptive_pool2d(x, [3, 4], "max")),
    "uneven means": ([IMAGE], lambda x: layers.adaptive_pool2d(x, [3, 4], "avg")),
    "means beyond the padding": (
        [IMAGE],
        lambda x: layers.pool2d(x, 3, "avg", [3, 4], 1, ceil_mode=True, exclusive=False),
    ),
    "a pyramid": (
        [IMAGE],
        lambda x: operator("spp", {"X": x}, FLOAT, pyramid_height=2, pooling_type="max"),
    ),
    "rows in place of others": (
        [[None, 3], [2, 3]],
        lambda x, new: layers.scatter(x, layers.assign(np.array([1, 0])), new),
    ),
    "rows added to others": (
        [[None, 3], [3, 3]],
        lambda x, new: layers.scatter(x, layers.assign(np.array([1, 0, 1])), new, overwrite=False),
    ),
    "numbers added at places": (
        [[None, 3], [2]],
        lambda x, new: layers.scatter_nd_add(x, layers.assign(np.array([[1, 2], [0, 0]])), new),
    ),
    "sums before each": ([[None, 3]], lambda x: layers.cumsum(x, 0, exclusive=True)),
    "sums from behind": ([[None, 3]], lambda x: layers.cumsum(x, 0, reverse=True)),
    "sums of all": ([[None, 3]], lambda x: layers.cumsum(layers.reshape(x, [-1]), 0)),
    "Kronecker's product": ([[None, 3], [2, 2]], layers.kron),
    "points of a grid": ([[None], [None]], lambda x, y: layers.meshgrid([x, y])),
    "a diagonal's sum": ([[None, 3, 4]], lambda x: layers.trace(x, 1, 1, 2)),
    "whether there is anything": ([[None, 3]], lambda x: layers.is_empty(x)),
    "entropy of others": (
        [[None, 4]],
        lambda x: layers.cross_entropy(
            layers.softmax(x), layers.unsqueeze(layers.argmax(x, 1), [1]), ignore_index=2
        ),
    ),
    "a distribution's distance": (
        [[None, 4], [None, 4]],
        lambda x, y: layers.kldiv_loss(x, layers.softmax(y), "batchmean"),
    ),
    "a mean distance": (
        [[None, 4], [None, 4]],
        lambda x, y: layers.kldiv_loss(x, layers.softmax(y), "mean"),
    ),
    "order of two": ([[None, 1]] * 3, layers.rank_loss),
    "ranks": (
        [[None, 4]],
        lambda x: layers.bpr_loss(x, layers.unsqueeze(layers.argmin(x, 1), [1])),
    ),
    "labels with weights": ([[None, 4], [4]], negative_likelihoods),
    "rows of samples": (
        [[None, 3]],
        lambda x: layers.index_select(x, layers.assign(np.array([2, 0])), 1),
    ),
}


def pooled_and_back(x):
    """The places of the largest elements, and an image of these elements alone."""
    windows = dict(ksize=[2, 2], strides=[2, 2], paddings=[0, 0])
    outs = {"Out": "float32", "Mask": "int32"}
    largest, places = operator("max_pool2d_with_index", {"X": x}, outs, **windows)
    ins = {"X": largest, "Indices": places}
    return places, *operator("unpool", ins, FLOAT, unpooling_type="max", **windows)


def linear(x, **options):
    return layers.resize_bilinear(x, **options)


def clipped(x, **options):
    options.update(ksize=[3, 2], strides=[2, 2], paddings=[1, 0, 0, 1], exclusive=False, clips=True)
    return operator("pool2d", {"X": x}, FLOAT, pooling_type="avg", **options)


def pool(x, *args, **options):
    return layers.pool2d(x, *args, **options)


#: images whose sizes are not known either: name -> number of channels, and the layer
OF_IMAGES = {
    "linear": (3, lambda x: linear(x, scale=1.7)),
    "linear edges": (3, lambda x: linear(x, scale=0.6, align_corners=False, align_mode=0)),
    "linear first": (3, lambda x: linear(x, scale=2.0, align_corners=False, align_mode=1)),
    "nearest": (2, lambda x: layers.resize_nearest(x, scale=2.3, align_corners=False)),
    "nearest of corners": (2, lambda x: layers.resize_nearest(x, scale=1.5)),
    "cubic": (2, lambda x: layers.image_resize(x, scale=1.8, resample="BICUBIC")),
    "to one row": (2, lambda x: linear(x, out_shape=[1, 5])),
    "as large as another": (
        3,
        lambda x: linear(
            pool(x, 2, pool_stride=2), out_shape=[2, 2], actual_shape=layers.shape(x)[2:4]
        ),
    ),
    "size by size": (
        3,
        lambda x: linear(
            pool(x, 2, pool_stride=2), out_shape=[layers.shape(x)[2], layers.shape(x)[3]]
        ),
    ),
    "a scale that is computed": (
        2,
        lambda x: layers.resize_nearest(
            x, scale=layers.reduce_max(x, dim=[0, 1, 2, 3]) * 0.0 + 2.5
        ),
    ),
    "pixel_shuffle": (8, lambda x: layers.pixel_shuffle(x, 2)),
    "space_to_depth": (16, lambda x: layers.space_to_depth(layers.pixel_shuffle(x, 2), 2)),
    "shuffle_channel": (6, lambda x: layers.shuffle_channel(x, 3)),
    "largest of parts": (2, lambda x: layers.adaptive_pool2d(x, [3, 2], "max")),
    "means of parts": (2, lambda x: layers.adaptive_pool2d(x, [2, 3], "avg")),
    "means beyond the padding": (
        2,
        lambda x: pool(x, 3, "avg", 2, 1, ceil_mode=True, exclusive=False),
    ),
    "means without the padding": (2, lambda x: pool(x, [2, 3], "avg", 2, 1, ceil_mode=True)),
    "means with the padding": (2, lambda x: pool(x, 3, "avg", 2, [1, 0], exclusive=False)),
    "as many windows as steps": (2, lambda x: pool(x, 3, "avg", 2, pool_padding="SAME")),
    "means of paddle 2 beyond the padding": (2, lambda x: clipped(x, ceil_mode=True)),
    "as many means of paddle 2": (2, lambda x: clipped(x, padding_algorithm="SAME")),
    "largest of as many": (2, lambda x: pool(x, 2, "max", 2, pool_padding="SAME")),
    "places of the largest, and back": (8, lambda x: pooled_and_back(layers.pixel_shuffle(x, 2))),
    "places of the largest of parts": (
        2,
        lambda x: layers.adaptive_pool2d(x, [3, 2], "max", require_index=True),
    ),
    "gates of channels": (
        4,
        lambda x: layers.elementwise_mul(x, layers.reduce_mean(x, dim=[2, 3]), axis=0),
    ),
    "gates that end with ones": (
        4,
        lambda x: layers.elementwise_max(
            x, layers.unsqueeze(layers.reduce_sum(x, dim=[0, 2, 3]), [1]), axis=1
        ),
    ),
    "the shorter one in front": (
        4,
        lambda x: layers.elementwise_pow(layers.exp(layers.reduce_mean(x, dim=[2, 3])), x, axis=0),
    ),
    "anchors": (
        2,
        lambda x: layers.anchor_generator(x, [16.0, 32.0], [0.5, 1.0], stride=[4.0, 8.0])[0],
    ),
    "boxes around places": (
        2,
        lambda x: layers.prior_box(
            pool(x, 2, pool_stride=2), x, [4.0], [9.0], [1.0, 2.0], flip=True, clip=True
        ),
    ),
    "boxes with steps": (2, lambda x: layers.prior_box(x, x, [4.0], steps=[8.0, 4.0])[0]),
    "what a detector found": (
        14,
        lambda x: layers.yolo_box(
            x,
            layers.cast(layers.reduce_max(layers.abs(x), dim=[2, 3])[:, :2] * 40.0, "int32"),
            [5, 6, 7, 8],
            2,
            0.3,
            8,
        ),
    ),
    "images as columns": (
        3,
        lambda x: layers.unfold(x, [2, 3], strides=[2, 1], paddings=[1, 0, 2, 1], dilations=[1, 2]),
    ),
    "larger in paddle 2's words": (
        2,
        lambda x: fluid.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
    ),
    "larger in OneFlow's words": (2, fluid.flow.nn.Upsample(scale_factor=3)),
    "sums along rows": (2, lambda x: layers.cumsum(x, 3, exclusive=True, reverse=True)),
    "sums of columns before": (2, lambda x: layers.cumsum(x, 2, exclusive=True)),
    "frames": (8, lambda x: layers.temporal_shift(layers.concat([x, x], 0), 2, 0.25)),
    "moved rows and columns": (2, lambda x: layers.roll(x, [3, -1], [3, 2])),
    "channels by each other": (3, lambda x: layers.fsp_matrix(x, layers.abs(x))),
    "padded as another": (
        2,
        lambda x: layers.pad_constant_like(layers.pad2d(x, [1, 2, 0, 3]), x, 0.5),
    ),
    "without its border": (2, lambda x: layers.crop_tensor(x, [-1, 2, -1, -1], [0, 0, 1, 1])),
    "as much as another": (2, lambda x: layers.crop(layers.pad2d(x, [1, 2, 0, 3]), x)),
}


def flat(found):
    return (
        [v for each in found for v in flat(each)] if isinstance(found, (list, tuple)) else [found]
    )


def written(path, out):
    """An executor that has begun, of layers that are written as a model."""
    startup, executor = fluid.default_startup_program(), fluid.Executor()
    if startup.global_block().ops:
        executor.run(startup)
    fluid.onnx.export(fluid.default_main_program(), path, fetches=out)
    return executor


def assert_computes_the_same(executor, path, feed, out):
    right = executor.run(feed=feed, fetch_list=out)
    for found, value in zip(run(path, feed).values(), right, strict=True):
        assert_same(found, value)


@pytest.mark.parametrize("name", CALLS)
def test_a_layer_takes_batches_of_all_sizes(name, tmp_path):
    shapes, layer = CALLS[name]
    path, rng = str(tmp_path / "model.onnx"), np.random.default_rng(0)
    inputs = [fluid.data(f"x{i}", shape, "float32") for i, shape in enumerate(shapes)]
    out = flat(layer(*inputs))
    executor = written(path, out)
    for batch in (2, 3, 7):
        feed = {
            v.name: rng.normal(size=[n or batch for n in shape]).astype("float32")
            for v, shape in zip(inputs, shapes, strict=True)
        }
        assert_computes_the_same(executor, path, feed, out)


@pytest.mark.parametrize("name", OF_IMAGES)
def test_a_layer_takes_images_of_all_sizes(name, tmp_path):
    channels, layer = OF_IMAGES[name]
    path, rng = str(tmp_path / "model.onnx"), np.random.default_rng(0)
    x = fluid.data("x", [None, channels, None, None], "float32")
    out = flat(layer(x))
    executor = written(path, out)
    for batch, *image in ((2, 4, 6), (1, 5, 5), (3, 9, 4)):
        feed = {"x": rng.normal(size=[batch, channels, *image]).astype("float32")}
        assert_computes_the_same(executor, path, feed, out)


def test_a_block_that_gates_channels_takes_images_of_all_sizes(tmp_path):
    folder = saved_models.unpack(tmp_path, "inference", "excitation.zip")
    path, known = str(tmp_path / "model.onnx"), saved_models.arrays("io.npz", "excitation.zip")
    fluid.onnx.export(folder, path)
    for k in range(2):
        (found,) = run(path, {"x": known[f"x{k}"]}).values()
        assert_same(found, known[f"y{k}"])
