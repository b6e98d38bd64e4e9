"""What looks like images whose channels come last is not taken silently for others."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import FluidWarning, ShapeError

SAID = r"taken for NC.*, but looks like N.*C of . channels; pass data_format='N.*C'"
IMAGES, VOLUMES = [1, 8, 8, 3], [1, 8, 8, 8, 3]


def build(layer, shape):
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        return layer(fluid.data("x", shape))


LAYERS = {
    "conv2d": (lambda x: fluid.layers.conv2d(x, 4, 3), IMAGES),
    "conv2d with unknown sizes": (lambda x: fluid.layers.conv2d(x, 4, 3), [-1, 224, -1, 3]),
    "conv2d_transpose": (lambda x: fluid.layers.conv2d_transpose(x, 4, filter_size=3), IMAGES),
    "conv3d": (lambda x: fluid.layers.conv3d(x, 4, 3), VOLUMES),
    "conv3d_transpose": (lambda x: fluid.layers.conv3d_transpose(x, 4, filter_size=3), VOLUMES),
    "pool2d": (lambda x: fluid.layers.pool2d(x, 2), IMAGES),
    "pool3d": (lambda x: fluid.layers.pool3d(x, 2), VOLUMES),
    "adaptive_pool2d": (lambda x: fluid.layers.adaptive_pool2d(x, 2, "avg"), IMAGES),
    "grey": (lambda x: fluid.layers.conv2d(x, 4, 5, padding=2), [-1, 28, 28, 1]),
    "not square": (lambda x: fluid.layers.conv2d(x, 4, 3), [-1, 480, 640, 3]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_a_program_warns_of_channels_that_come_last(name):
    layer, shape = LAYERS[name]
    with pytest.warns(FluidWarning, match=SAID) as caught:
        build(layer, shape)
    assert f"{Path(__file__).name}:" in str(caught[0].message)


ones = np.ones(IMAGES, "float32")
EAGER = {
    "conv2d": lambda x: fluid.nn.functional.conv2d(x, fluid.ones([4, 8, 3, 3])),
    "conv2d_transpose": lambda x: fluid.nn.functional.conv2d_transpose(x, fluid.ones([8, 4, 3, 3])),
    "max_pool2d": lambda x: fluid.nn.functional.max_pool2d(x, 2),
    "max_pool2d with places": lambda x: fluid.nn.functional.max_pool2d(x, 2, return_mask=True),
    "avg_pool2d": lambda x: fluid.nn.functional.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: fluid.nn.functional.adaptive_avg_pool2d(x, 2),
    "a module": lambda x: fluid.nn.MaxPool2D(2)(x),
    "a module of OneFlow": lambda x: flow.nn.MaxPool2d(2)(flow.tensor(ones)),
    "a convolution of OneFlow": lambda x: flow.nn.Conv2d(8, 4, 3)(flow.tensor(ones)),
}


@pytest.mark.parametrize("name", EAGER)
def test_tensors_are_warned_of_by_their_line(name):
    with pytest.warns(FluidWarning, match=SAID) as caught:
        EAGER[name](fluid.to_tensor(ones))
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_fluids_own_layers_warn_when_they_run_at_once():
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(ones)
        with pytest.warns(FluidWarning, match=SAID):
            fluid.layers.pool2d(x, 2)
        with pytest.warns(FluidWarning, match=SAID):
            fluid.dygraph.Pool2D(2, "max")(x)


def test_a_line_is_warned_of_once():
    pool = fluid.nn.MaxPool2D(2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            pool(fluid.to_tensor(ones))
        pool(fluid.to_tensor(ones))
    assert len(caught) == 2


@pytest.mark.parametrize(
    "shape, kernel",
    [
        ([2, 3, 32, 32], 3),
        ([2, 3, 3, 3], 3),
        ([2, 64, 64, 1], (3, 1)),  # sequences
        ([2, 64, 50, 1], (3, 1)),
        ([2, 512, 16, 4], 3),
        ([2, 64, 7, 3], 3),
        ([2, 1, 40, 3], 3),
        ([2, 4, 4, 4], 3),
    ],
)
def test_images_whose_channels_come_first_are_left_alone(shape, kernel):
    build(lambda x: fluid.layers.conv2d(x, 4, kernel, padding=1), shape)
    build(lambda x: fluid.layers.pool2d(x, kernel, pool_padding=1), shape)


def test_images_whose_format_is_said_are_left_alone():
    build(lambda x: fluid.layers.conv2d(x, 4, 3, data_format="NHWC"), IMAGES)
    fluid.nn.Conv2D(3, 4, 3, data_format="NHWC")(fluid.to_tensor(ones))


@pytest.mark.parametrize("layer", [fluid.nn.Conv2D, fluid.nn.Conv2DTranspose])
@pytest.mark.filterwarnings("ignore::fluidlite.errors.FluidWarning")
def test_an_error_of_channels_says_where_they_are(layer):
    with pytest.raises(ShapeError, match=r"dimension 3 has 3: pass data_format='NHWC'"):
        layer(3, 4, 3)(fluid.to_tensor(ones))
    with pytest.raises(ShapeError, match=r"dimension 1 has 3: pass data_format='NCHW'"):
        layer(3, 4, 3, data_format="NHWC")(fluid.ones([1, 3, 8, 8]))
    with pytest.raises(ShapeError, match=r"expected an input of 3 channels") as error:
        layer(3, 4, 3)(fluid.ones([1, 5, 8, 8]))
    assert "data_format" not in str(error.value)
