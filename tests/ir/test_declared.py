"""Variables that are fed, declared to hold floats, where an operator needs integers."""

import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import DTypeError
from fluidlite.ir.verify import verify


def unsaid(name="y", shape=(1,)):
    """A variable as old scripts declare labels: without an element type, so as float32."""
    return layers.data(name, list(shape))


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y: layers.cross_entropy(layers.softmax(x), y),
        lambda x, y: layers.softmax_with_cross_entropy(x, y),
        lambda x, y: layers.accuracy(x, y),
        lambda x, y: layers.gather(x, y),
        lambda x, y: layers.one_hot(y, 3),
        lambda x, y: layers.multiplex([x, x * 2.0], y),
    ],
)
def test_labels_that_are_declared_as_floats_by_omission_are_taken_with_a_warning(build):
    x, y = unsaid("x", [3]), unsaid()
    with pytest.warns(
        UserWarning, match="needs integers of 'y', which is declared as float32"
    ) as said:
        build(x, y)
    assert [each.filename for each in said] == [__file__]
    verify(fluid.default_main_program(), ["x", "y"])


@pytest.mark.parametrize(
    "build",
    [
        lambda x, n: layers.reshape(x, [n, 3]),
        lambda x, n: layers.expand(x, [n, 1]),
        lambda x, n: layers.slice(x, [0], [n], [9]),
        lambda x, n: layers.split(x, [n, -1], dim=0),
        lambda x, n: layers.topk(x, n)[0],
        lambda x, n: layers.resize_bilinear(layers.unsqueeze(x, [0, 1]), [n, n]),
        lambda x, n: layers.fill_constant([2, n], "float32", 1.0),
    ],
)
def test_sizes_and_places_that_are_declared_as_floats_by_omission_are_taken_with_a_warning(build):
    x = layers.fill_constant([4, 3], "float32", 1.0)
    n = layers.data("n", [1], append_batch_size=False)
    with pytest.warns(UserWarning, match="needs integers of 'n', which is declared as float32"):
        build(x, n)


def test_floats_that_are_computed_or_checked_are_no_labels():
    x = unsaid("x", [3])
    for label in (fluid.data("z", [None, 1]), layers.data("w", [1], dtype="float64"), x * 1.0):
        with pytest.raises(DTypeError, match="expected Label to hold integers"):
            layers.softmax_with_cross_entropy(x, label)


def test_other_mistakes_are_told_as_ever():
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        layers.relu(layers.data("i", [1], dtype="int64"))
