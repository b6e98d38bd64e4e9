"""What detectors are made of: ``paddle.vision.ops`` gives what paddle 2.6.2 gave."""

import gzip
import json

import numpy as np
import pytest
import vision_cases

from fluidlite import paddle
from fluidlite.errors import ArgumentError, FileError, FileFormatError

ops = paddle.vision.ops
CASES = [
    pytest.param(name, arguments, right, id=f"{place}-{name}")
    for place, ((name, arguments), (_, right)) in enumerate(
        zip(
            vision_cases.cases(),
            json.loads(gzip.decompress(vision_cases.RECORDED.read_bytes())),
            strict=True,
        )
    )
    if not isinstance(right, str)  # refused by paddle
]


def compare(result, right):
    if right is None or (isinstance(right[0], list) and isinstance(right[1], str)):
        assert (result is None) == (right is None)
        if right is not None:
            shape, kind, values = right
            array = np.asarray(result)
            assert [[*array.shape], str(array.dtype)] == [shape, kind]
            np.testing.assert_allclose(array.ravel(), values, rtol=1e-4, atol=1e-5)
        return
    assert len(result) == len(right)
    for one, other in zip(result, right):
        compare(one, other)


@pytest.mark.parametrize("name, arguments, right", CASES)
def test_functions_give_what_those_of_paddle_give(name, arguments, right):
    compare(getattr(ops, name)(**vision_cases.tensors(paddle, arguments)), right)


def flat(result):
    return (
        [each for part in result for each in flat(part)]
        if isinstance(result, (list, tuple))
        else [result]
    )


@pytest.mark.parametrize("name, arguments, right", CASES[::3])
def test_programs_give_the_same(name, arguments, right):
    paddle.enable_static()
    try:
        feed = {key: value for key, value in arguments.items() if isinstance(value, np.ndarray)}
        declared = {
            key: paddle.static.data(key, value.shape, str(value.dtype))
            for key, value in feed.items()
        }
        results = getattr(ops, name)(**{**arguments, **declared})
        fetched = [each for each in flat(results) if each is not None]
        arrays = paddle.static.Executor().run(feed=feed, fetch_list=fetched, return_numpy=False)
        found = iter(np.asarray(each) for each in arrays)
        fill = lambda part: (
            [fill(each) for each in part]
            if isinstance(part, (list, tuple))
            else None
            if part is None
            else next(found)
        )
        compare(fill(results), right)
    finally:
        paddle.disable_static()


def test_layers_are_the_functions_with_their_arguments():
    images = paddle.rand([1, 8, 6, 6])
    boxes, counts = paddle.to_tensor([[0.0, 1.0, 5.0, 4.0]]), paddle.to_tensor([1])
    for layer, function in (
        (ops.RoIAlign(2, 0.5), ops.roi_align),
        (ops.RoIPool(2, 0.5), ops.roi_pool),
        (ops.PSRoIPool(2, 0.5), ops.psroi_pool),
    ):
        right = function(images, boxes, counts, 2, 0.5).numpy()
        np.testing.assert_array_equal(layer(images, boxes, counts).numpy(), right)
    assert str(ops.RoIPool(2, 0.5)) == "RoIPool(output_size=2, spatial_scale=0.5)"


def test_a_layer_of_deformable_convolution_without_moves_is_a_convolution():
    layer = ops.DeformConv2D(4, 6, 3, padding=1, groups=2)
    plain = paddle.nn.Conv2D(4, 6, 3, padding=1, groups=2)
    plain.set_state_dict(layer.state_dict())
    images = paddle.rand([2, 4, 5, 6])
    moves, mask = paddle.zeros([2, 18, 5, 6]), paddle.ones([2, 9, 5, 6])
    for more in ((), (mask,)):
        result = layer(images, moves, *more)
        np.testing.assert_allclose(result.numpy(), plain(images).numpy(), rtol=1e-4, atol=1e-5)
    result.sum().backward()
    assert all(each.grad is not None for each in layer.parameters())


def test_a_file_is_read_and_decoded(tmp_path):
    images = pytest.importorskip("PIL.Image")
    pixels = np.arange(4 * 6 * 3, dtype="uint8").reshape(4, 6, 3) * 3
    images.fromarray(pixels).save(tmp_path / "a.jpg", quality=100, subsampling=0)
    data = ops.read_file(str(tmp_path / "a.jpg"))
    assert data.dtype == paddle.uint8 and data.shape == [(tmp_path / "a.jpg").stat().st_size]
    decoded = ops.decode_jpeg(data)
    assert decoded.shape == [3, 4, 6]
    assert abs(decoded.numpy().astype(int) - pixels.transpose(2, 0, 1)).max() < 12
    assert ops.decode_jpeg(data, mode="gray").shape == [1, 4, 6]
    paddle.enable_static()
    try:
        picture = ops.decode_jpeg(ops.read_file(str(tmp_path / "a.jpg")))
        (again,) = paddle.static.Executor().run(fetch_list=[picture])
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(again, decoded.numpy())
    with pytest.raises(FileError, match=r"nothing\.jpg"):
        ops.read_file(str(tmp_path / "nothing.jpg"))
    with pytest.raises(FileFormatError, match="JPEG"):
        ops.decode_jpeg(data[5:])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: ops.nms(x, scores=x[:, 0], top_k=9), "at most 3 boxes, got 9"),
        (lambda x: ops.nms(x, 0.3, x[:, 0], x[:, 0]), "categories"),
        (lambda x: ops.psroi_pool(paddle.ones([1, 5, 4, 4]), x, x[:1, 0], 2), "4 parts divide"),
        (lambda x: ops.prior_box(x, x, [1.0], steps=2.0), "two steps"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(paddle.ones([3, 4]))


def test_a_region_without_a_size_is_zeros():
    images, regions = paddle.ones([1, 2, 4, 4]), paddle.to_tensor([[2.0, 2, 2, 3], [1, 1, 3, 3]])
    parts = ops.roi_align(images, regions, paddle.to_tensor([2]), 2)
    assert parts[0].tolist() == [[[0.0, 0.0]] * 2] * 2
    assert parts[1].tolist() == [[[1.0, 1.0]] * 2] * 2


def test_no_box_keeps_no_box():
    assert ops.nms(paddle.zeros([0, 4])).shape == [0]
    none = paddle.zeros([0])
    assert ops.nms(paddle.zeros([0, 4]), 0.3, none, none, [0, 1]).shape == [0]
    images, counts = paddle.ones([2, 3, 4, 4]), paddle.to_tensor([0, 0])
    assert ops.roi_align(images, paddle.zeros([0, 4]), counts, 2).shape == [0, 3, 2, 2]
