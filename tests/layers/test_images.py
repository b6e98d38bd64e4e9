"""Images: their points, channels, windows and crops."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, started, written

VALUE = np.random.default_rng(0).normal(size=[2, 4, 6, 8]).astype("float32")


def images():
    return data(shape=[None, 4, 6, 8])


def test_an_affine_grid_turns_images():
    theta = data("theta", [None, 2, 3])
    out = layers.grid_sampler(images(), layers.affine_grid(theta, [2, 4, 6, 8]))
    assert out.shape == (-1, 4, 6, 8)
    half_turn = np.float32([[[-1, 0, 0], [0, -1, 0]]] * 2)
    found = run(out, x=VALUE, theta=half_turn)
    assert np.allclose(found, VALUE[:, :, ::-1, ::-1], atol=1e-5)


def test_the_shape_of_a_grid_may_be_a_variable():
    shape = data("shape", [4], "int32")
    out = layers.affine_grid(data("theta", [None, 2, 3]), shape)
    assert out.shape == (-1, -1, -1, 2)
    found = run(out, theta=np.ones([2, 2, 3], "float32"), shape=np.int32([2, 1, 3, 5]))
    assert found.shape == (2, 3, 5, 2)


def test_a_deformable_convolution_that_does_not_move_convolves():
    x, offset = images(), data("offset", [None, 18, 6, 8])
    out = layers.deformable_conv(
        x, offset, None, 3, 3, padding=1, modulated=False, param_attr="w", bias_attr=False
    )
    same = layers.conv2d(x, 3, 3, padding=1, param_attr="w", bias_attr=False)
    found = run(out, same, x=VALUE, offset=np.zeros([2, 18, 6, 8], "float32"))
    assert np.allclose(*found, atol=1e-5)


def test_a_deformable_convolution_says_what_it_lacks():
    x, offset, y = images(), data("offset", [None, 18, 6, 8]), data("y")
    with refused(ArgumentError, "expected a mask with modulated=True"):
        layers.deformable_conv(x, offset, None, 3, 3)
    with refused(ArgumentError, "groups to divide the channels"):
        layers.deformable_conv(x, offset, None, 3, 3, groups=3, modulated=False)
    with refused(ShapeError, "images of 4 dimensions"):
        layers.deformable_conv(y, offset, None, 3, 3, modulated=False)


@pytest.mark.parametrize(
    "build, shape",
    [
        (lambda x: layers.pixel_shuffle(x, 2), (-1, 1, 12, 16)),
        (lambda x: layers.shuffle_channel(x, 2), (-1, 4, 6, 8)),
        (lambda x: layers.space_to_depth(x, 2), (-1, 16, 3, 4)),
        (lambda x: layers.temporal_shift(x, 2), (-1, 4, 6, 8)),
        (lambda x: layers.unfold(x, [2, 3], 2, 1), (-1, 24, 16)),
        (lambda x: layers.unfold(x, 2, paddings=[1, 0, 2, 1]), (-1, 16, 64)),
        (lambda x: layers.similarity_focus(x, 1, [0, 2]), (-1, 4, 6, 8)),
    ],
)
def test_elements_are_rearranged(build, shape):
    out = build(images())
    assert out.shape == shape
    assert run(out, x=VALUE).shape == (2, *shape[1:])


def test_paddings_have_a_form():
    x = images()
    with refused(ArgumentError, "expected one, two or four paddings"):
        layers.unfold(x, 2, paddings=[1, 2, 3])


def test_positions_are_encoded():
    out = layers.add_position_encoding(data(shape=[None, 3, 4]), 1.0, 0.0)
    value = np.ones([2, 3, 4], "float32")
    assert np.array_equal(run(out, x=value), value)


def test_crops_differ_from_run_to_run_and_from_one_start_to_the_next_are_the_same():
    out = layers.random_crop(images(), [3, 4], seed=5)
    assert out.shape == (-1, 4, 3, 4)
    (line,) = started()
    assert "value=5.0" in line
    exe, crops = fluid.Executor(), []
    for _ in range(2):
        exe.run(fluid.default_startup_program())
        crops.append([exe.run(feed={"x": VALUE}, fetch_list=[out])[0] for _ in range(2)])
    assert not np.array_equal(crops[0][0], crops[0][1])
    assert np.array_equal(crops[0], crops[1])


def test_crops_of_a_program_that_gives_its_seed_no_value_begin_from_that_of_the_operator():
    """As programs of fluid 1.8's do."""
    out = layers.random_crop(images(), [3, 4], seed=5)
    exe, crops = fluid.Executor(), []
    for startups in ([], [fluid.default_startup_program()]):
        scope = fluid.Scope()
        for each in startups:
            exe.run(each, scope=scope)
        crops.append([exe.run(feed={"x": VALUE}, fetch_list=[out], scope=scope) for _ in range(3)])
    assert np.array_equal(*crops)
    assert not np.array_equal(crops[0][0], crops[0][1])


def test_the_seed_may_be_a_variable():
    seed = layers.fill_constant([1], "int64", 7)
    layers.random_crop(images(), [3, 4], seed=seed)
    assert f"SeedOut={seed.name}" in written()[1]
    x = images()
    with refused(ArgumentError, "expected seed to be an integer or a variable, got 0.5"):
        layers.random_crop(x, [3, 4], seed=0.5)
