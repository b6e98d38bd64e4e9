"""Variables that are fed, declared to hold floats, where an operator needs integers."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import DTypeError, FluidError, ShapeError
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


def ran(feed, fetch):
    exe = fluid.Executor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is fed
        return [exe.run(feed=feed, fetch_list=[fetch])[0] for _ in range(3)][-1]


@pytest.mark.parametrize("label", ["float32", "float64"])
def test_what_does_not_fit_as_declared_is_refused_when_it_runs(label):
    """As in fluid: the rest of the program runs."""
    x, y = fluid.data("x", [2, 3]), fluid.data("y", [2, 1], label)
    with pytest.warns(UserWarning, match="expected Label to hold integers.*it will not run"):
        loss = layers.softmax_with_cross_entropy(x, y)
    with pytest.warns(UserWarning, match="expected one element type, got X float32, Y int64"):
        total = layers.elementwise_add(x, layers.cast(x, "int64"))
    with pytest.warns(UserWarning, match=r"size 1 along each of the axes \[1\].*it will not run"):
        flat = layers.squeeze(x, [1])
    assert (loss.shape, total.dtype, flat.shape) == ((2, 1), x.dtype, (2,))
    feed = {"x": np.ones([2, 3], "float32"), "y": np.zeros([2, 1], label)}
    for name, message in ((loss, "Label"), (total, "one element type"), (flat, "size 1")):
        exe = fluid.Executor()
        with pytest.raises(FluidError, match=message):
            exe.run(feed=feed, fetch_list=[name], use_prune=True)
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[x * 2.0], use_prune=True)
    assert found.tolist() == [[2.0] * 3] * 2


def test_labels_made_of_what_is_fed_are_taken_with_a_warning():
    x, y = unsaid("x", [3]), unsaid()
    label = layers.unsqueeze(layers.squeeze(layers.concat([y, y]), [1]), [1])
    with pytest.warns(UserWarning, match="needs integers of '.*', which is declared as float32"):
        loss = layers.softmax_with_cross_entropy(x, layers.slice(label, [0], [0], [2]))
    feed = {"x": np.zeros([2, 3], "float32"), "y": np.array([[1], [2]])}
    np.testing.assert_allclose(ran(feed, loss), np.log([[3.0], [3.0]]), rtol=1e-6)


def test_a_size_that_is_fed_otherwise_is_dropped():
    x = layers.data("x", [3])
    with pytest.warns(UserWarning, match="it will not run with what is declared"):
        y = layers.squeeze(x, [1])
    assert ran({"x": np.ones([2, 1], "float32")}, y).tolist() == [1.0, 1.0]


def test_a_variable_of_another_program_stands_for_its_name():
    with fluid.program_guard(fluid.Program()):
        z = layers.data("z", [2], append_batch_size=False)
    with pytest.warns(UserWarning, match="'z' is a variable of another program") as said:
        y = layers.relu(z)
    assert [each.filename for each in said] == [__file__]
    assert ran({"z": np.array([-1.0, 2.0], "float32")}, y).tolist() == [0.0, 2.0]


def test_other_mistakes_are_told_as_ever():
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64, got int64"):
        layers.relu(layers.data("i", [1], dtype="int64"))


def boxes(layer):
    """A layer of detection that is given variables of other shapes than it takes."""
    made = {
        "priors": fluid.data("priors", [10, 4]),
        "located": fluid.data("located", [2, 21, 4]),
        "scored": fluid.data("scored", [2, 21, 5]),
        "rows": fluid.data("rows", [None, 21]),
        "by_class": fluid.data("by_class", [None, 21, 4]),
        "objects": fluid.data("objects", [None, 4, 5, 5]),
        "moves": fluid.data("moves", [None, 16, 5, 5]),
        "sizes": fluid.data("sizes", [None, 3]),
        "anchors": fluid.data("anchors", [None, 5, 4, 4]),
        "variances": fluid.data("variances", [None, 5, 10, 4]),
    }
    return layer(made)


@pytest.mark.parametrize(
    "layer, shapes",
    [
        (
            lambda v: layers.detection_output(
                v["located"], v["scored"], v["priors"], v["priors"], return_index=True
            ),
            [(-1, 6), (-1, 1)],
        ),
        (
            lambda v: layers.generate_proposals(
                v["objects"], v["moves"], v["sizes"], v["anchors"], v["variances"]
            ),
            [(-1, 4), (-1, 1)],
        ),
        (lambda v: [layers.matrix_nms(v["by_class"], v["rows"], 0.5, 0.1, 4, 2)], [(-1, 6)]),
        (lambda v: [layers.locality_aware_nms(v["by_class"], v["rows"], 0.5, 4, 2)], [(-1, 6)]),
        (
            lambda v: [
                layers.box_coder(v["priors"], [1.0] * 4, v["located"], "decode_center_size")
            ],
            [(2, 21, 4)],
        ),
    ],
)
def test_shapes_that_detection_looks_at_in_a_run_are_told_while_it_is_built(layer, shapes):
    with pytest.warns(UserWarning, match="it will not run with what is declared"):
        found = boxes(layer)
    assert [each.shape for each in found] == shapes


def test_boxes_that_do_not_fit_are_refused_when_they_run():
    with pytest.warns(UserWarning, match="box_coder: expected TargetBox of 10 boxes"):
        (out,) = boxes(
            lambda v: [layers.box_coder(v["priors"], [1.0] * 4, v["located"], "decode_center_size")]
        )
    feed = {"priors": np.ones([10, 4], "float32"), "located": np.ones([2, 21, 4], "float32")}
    with pytest.raises(ShapeError, match="expected TargetBox of 10 boxes"):
        fluid.Executor().run(feed=feed, fetch_list=[out])


def test_classes_of_masks_that_are_declared_as_floats_are_told():
    names = [
        ("rois", 4, 1),
        ("corners", 2, 3),
        ("classes", 1, 1),
        ("crowd", 1, 1),
        ("labels", 1, 1),
    ]
    given = {n: fluid.data(n, [None, width], lod_level=lod) for n, width, lod in names}
    with pytest.warns(
        UserWarning, match="generate_mask_labels: expected GtClasses to hold integers"
    ):
        found = layers.generate_mask_labels(
            fluid.data("info", [None, 3]), given["classes"], given["crowd"], given["corners"],
            given["rois"], given["labels"], num_classes=3, resolution=2,
        )  # fmt: skip
    assert [each.shape for each in found] == [(-1, 4), (-1, 1), (-1, 12)]


def test_an_array_has_no_shape_that_a_run_could_refuse():
    at = layers.fill_constant([1], "int64", 0)
    array = layers.array_write(fluid.data("x", [2, 3]), at)
    element = layers.array_read(array, at)
    element.op.is_unsettled = True  # as where what is declared does not fit
    np.testing.assert_array_equal(ran({"x": np.ones([2, 3], "float32")}, element), np.ones([2, 3]))
