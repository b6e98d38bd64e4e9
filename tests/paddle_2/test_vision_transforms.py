"""Transforms of pictures give what paddle 2.6.2 gave, pixel by pixel."""

import gzip
import json
import random

import numpy as np
import pytest
import vision_transforms

from fluidlite import paddle
from fluidlite.errors import ArgumentError, DTypeError
from fluidlite.paddle.vision import transforms as T
from fluidlite.paddle.vision.transforms import functional as F

images = pytest.importorskip("PIL.Image")
RECORDED = json.loads(gzip.decompress(vision_transforms.RECORDED.read_bytes()))
DRAWN = np.random.RandomState(1)
BYTES = DRAWN.randint(0, 256, (8, 10, 3)).astype("uint8")
NUMBERS = paddle.to_tensor(BYTES.transpose(2, 0, 1) / np.float32(255))
PILLOW = images.fromarray(BYTES)


@pytest.mark.parametrize("text", RECORDED)
def test_pictures_become_what_those_of_paddle_do(text):
    found, right = vision_transforms.evaluated(paddle, text), RECORDED[text]
    assert not isinstance(found, str), found
    pairs = zip(found, right) if isinstance(right[0], list) else [(found, right)]
    for one, other in pairs:
        assert one[:3] == other[:3]
        exact = "int" in other[2]
        tolerance = {} if exact else {"rtol": 1e-5, "atol": 1e-5}
        compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
        compare(one[3], other[3], **tolerance)


def test_all_expressions_are_recorded():
    assert [*RECORDED] == list(dict.fromkeys(vision_transforms.expressions()))


def test_arrays_are_turned_about_their_middle():
    turned = T.affine(BYTES, -30, (0, 0), 1.0, (0, 0))
    np.testing.assert_array_equal(turned, T.rotate(BYTES, 30))
    moved = T.affine(BYTES, 0, (2, 1), 1.0, 0.0)
    np.testing.assert_array_equal(moved[1:, 2:], BYTES[:-1, :-2])


def test_more_color_of_arrays_is_what_was_asked_for():
    more = F.adjust_saturation(BYTES, 1.5)
    np.testing.assert_array_equal(F.adjust_saturation(BYTES, 1.5), more)
    right = np.asarray(F.adjust_saturation(PILLOW, 1.5))
    assert abs(more.astype(int) - right).max() <= 2
    np.testing.assert_array_equal(F.adjust_saturation(BYTES, 1.0), BYTES)


def test_what_comes_from_outside_of_a_pillow_image_has_the_color():
    corner = T.affine(PILLOW, 45, (0, 0), 1.0, (0, 0), fill=(1, 2, 3)).getpixel((0, 0))
    assert corner == (1, 2, 3)


def test_to_rgb_turns_the_last_dimension_around_in_each_layout():
    for layout, mean in (("HWC", [1.0, 2.0, 3.0]), ("CHW", 1.0)):
        picture = T.normalize(BYTES, mean, 2.0, layout, to_rgb=True)
        expected = (BYTES[..., ::-1].astype("float32") - np.float32(mean)) / np.float32(2)
        np.testing.assert_array_equal(picture, expected)


@pytest.mark.parametrize(
    "change",
    [
        T.hflip, lambda x: T.pad(x, 2, padding_mode="edge"), lambda x: T.resize(x, 5),
        lambda x: T.rotate(x, 20), lambda x: T.rotate(x, 20, "bilinear", fill=0.5),
        lambda x: T.affine(x, 10, (1, 1), 0.9, (2, 3), "bilinear"),
        lambda x: T.perspective(x, *T.RandomPerspective().get_params(10, 8, 0.3)),
        lambda x: T.adjust_contrast(x, 0.7), lambda x: F.adjust_saturation(x, 0.7),
        lambda x: T.to_grayscale(x, 3), lambda x: T.normalize(x, [0.1], [0.2]),
        lambda x: T.erase(x, 0, 1, 2, 3, 0.5),
    ],
)  # fmt: skip
def test_gradients_flow_through_transforms_of_tensors(change):
    picture = NUMBERS.clone()
    picture.stop_gradient = False
    change(picture).sum().backward()
    assert float(picture.grad.abs().sum()) > 0


@pytest.mark.parametrize(
    "change", [lambda x: T.adjust_brightness(x, 0.5), lambda x: T.resize(x, 4)]
)
def test_tensors_of_a_batch_and_of_bytes_are_pictures_too(change):
    both = paddle.stack([NUMBERS, NUMBERS])
    np.testing.assert_allclose(change(both)[1].numpy(), change(NUMBERS).numpy(), rtol=1e-6)
    assert (
        F.adjust_brightness(paddle.to_tensor(BYTES.transpose(2, 0, 1)), 0.5).dtype == paddle.uint8
    )


class Shifted(T.BaseTransform):
    def _get_params(self, inputs):
        return len(inputs)

    def _apply_image(self, image):
        return image + self.params

    def _apply_boxes(self, boxes):
        return boxes - 1


def test_parts_of_an_input_are_changed_by_their_keys():
    assert Shifted()(1) == 2
    assert Shifted(keys=("image", "boxes", "label"))((1, 5, 7)) == (4, 4, 7)
    assert Shifted()((1, 9)) == (3, 9)
    with pytest.raises(NotImplementedError):
        Shifted(keys=["mask"])(1)


def test_a_chain_shows_its_parts():
    assert "Resize" in repr(T.Compose([T.Resize(3)])) and repr(T.Compose([])) == "Compose(\n)"


def test_a_part_that_fits_nowhere_is_the_middle():
    part = T.RandomResizedCrop(4, scale=(2.0, 2.0))
    np.testing.assert_array_equal(part(BYTES[:, :9]), T.resize(BYTES[:, :9], (4, 4)))
    for shape in ((2, 9), (9, 2)):
        assert part(np.zeros((*shape, 3), "uint8")).shape == (4, 4, 3)
    assert T.RandomErasing(1.0, scale=(1.0, 1.0))(BYTES) is BYTES


def test_erasing_in_place_writes_to_the_array():
    mine = BYTES.copy()
    assert T.erase(mine, 0, 0, 1, 1, 5, inplace=True) is mine and mine[0, 0].tolist() == [5] * 3
    T.erase(mine, 1, 1, 1, 1, 9)
    np.testing.assert_array_equal(mine[1:], BYTES[1:])


def test_chance_is_that_of_python():
    random.seed(5)
    first = T.ColorJitter(0.5, 0.5, 0.5, 0.5)(BYTES)
    random.seed(5)
    np.testing.assert_array_equal(T.ColorJitter(0.5, 0.5, 0.5, 0.5)(BYTES), first)
    assert T.ColorJitter()(BYTES) is BYTES


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: T.hflip("picture"), "expected a Pillow image.*str"),
        (lambda: T.vflip(np.zeros((2, 2, 3, 1))), "array of 4 dimensions"),
        (lambda: T.resize(BYTES, (1, 2, 3)), "a number or two"),
        (lambda: T.resize(BYTES, (2, 2), "cubic"), "'cubic'"),
        (lambda: T.pad(BYTES, (1, 2, 3)), "two or four"),
        (lambda: T.pad(BYTES, 1, padding_mode="wrap"), "'wrap'"),
        (lambda: T.pad(NUMBERS, 1, padding_mode="symmetric"), "of a tensor"),
        (lambda: T.adjust_hue(BYTES, 0.6), "-0.5 to 0.5"),
        (lambda: T.to_grayscale(BYTES, 2), "1 or 3"),
        (lambda: T.to_tensor(BYTES, "NCHW"), "'NCHW'"),
        (lambda: T.normalize(BYTES, 1.0, 1.0, "NHWC"), "'NHWC'"),
        (lambda: T.affine(BYTES, 0, (1,) * 3, 1.0, 0.0), "translate"),
        (lambda: T.affine(BYTES, 0, (1, 1), 0.0, 0.0), "positive scale"),
        (lambda: T.RandomCrop(9)(BYTES), "at least 9x9, got 8x10"),
        (lambda: T.RandomRotation(-3), "degrees"),
        (lambda: T.RandomRotation([1]), "degrees"),
        (lambda: T.RandomAffine(3, shear=(1, 2, 3)), "shear"),
        (lambda: T.RandomAffine(3, translate=(0.5, 2)), "translate"),
        (lambda: T.RandomAffine(3, scale=(-1, 2)), "scale"),
        (lambda: T.RandomPerspective(2), "prob from 0 to 1"),
        (lambda: T.RandomErasing(value="black"), '"random"'),
        (lambda: T.RandomErasing(scale=(0.5, 0.2)), "ascending"),
        (lambda: T.BrightnessTransform(-1), "brightness of at least 0"),
        (lambda: T.HueTransform(0.7), "between -0.5 and 0.5"),
        (lambda: T.ContrastTransform("x"), "contrast to be a number"),
        (lambda: T.Resize(3, keys="image"), "keys"),
    ],
)
def test_what_means_nothing_is_refused(call, words):
    with pytest.raises((ArgumentError, DTypeError), match=words):
        call()
