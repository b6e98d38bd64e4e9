"""Modules that are a function with options say what their function says."""

import inspect

import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import FluidError


def test_a_class_without_a_docstring_has_that_of_its_function_without_the_inputs():
    text = inspect.getdoc(fluid.nn.AvgPool2D)
    assert text.startswith("The average under a window that moves over an image.")
    assert "Computed by :func:`~fluidlite.nn.functional.avg_pool2d`." in text
    assert "    divisor_override: what averages are divided by" in text
    assert "    x: " not in text


def test_a_docstring_of_the_class_is_kept_and_gets_the_options_of_the_function():
    text = inspect.getdoc(fluid.nn.MaxPool2D)
    assert text.startswith("The largest element under a window: ")
    assert text.index("    kernel_size: of the window") < text.index(">>> fluid.nn.MaxPool2D(2)")


@pytest.mark.parametrize("library", [fluid.nn, flow.nn])
def test_every_class_has_a_docstring(library):
    classes = {name: getattr(library, name) for name in library.__all__}
    bare = [name for name, c in classes.items() if isinstance(c, type) and not vars(c)["__doc__"]]
    assert bare == []


@pytest.mark.parametrize(
    "layer, shown",
    [
        (lambda: fluid.nn.Flatten(), "Flatten()"),
        (lambda: fluid.nn.Flatten(2), "Flatten()"),
        (
            lambda: fluid.nn.Unfold(2, strides=2),
            "Unfold(kernel_size=2, dilation=1, padding=0, stride=2)",
        ),
        (
            lambda: fluid.nn.UpsamplingNearest2D([2, 3]),
            "UpsamplingNearest2D(size=[2, 3], data_format=NCHW)",
        ),
        (
            lambda: fluid.nn.Pad1D(1, name="p"),
            "Pad1D(padding=[1, 1], mode=constant, value=0.0, data_format=NCL, name=p)",
        ),
        (
            lambda: fluid.nn.RReLU(0.25, 0.5),
            "RReLU(lower=0.25, upper=0.5, training=True, dtype=float32)",
        ),
        (lambda: fluid.nn.AlphaDropout(0.25), "AlphaDropout(p=0.25)"),
        (lambda: flow.nn.ReLU(inplace=True), "ReLU(inplace=True)"),
        (lambda: flow.nn.Flatten(), "Flatten(start_dim=1, end_dim=-1)"),
    ],
)
def test_a_module_shows_its_options(layer, shown):
    assert repr(layer()) == shown


@pytest.mark.parametrize("name", ["Tanh", "Dropout", "Unfold", "Pad2D", "CrossEntropyLoss"])
def test_an_unknown_argument_is_refused_at_once(name):
    with pytest.raises(TypeError, match=f"{name}|_Pad"):
        getattr(fluid.nn, name)(no_such=1)


def test_a_data_format_of_another_rank_is_refused():
    with pytest.raises(FluidError, match="expected data_format to be 'NCL' or 'NLC', got 'NCHW'"):
        fluid.nn.Pad1D(1, data_format="NCHW")
