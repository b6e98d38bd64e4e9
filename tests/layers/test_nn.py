"""Layers with weights of their own, and dropout."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError, FluidWarning, ShapeError
from fluidlite.initializer import Constant, NumpyArrayInitializer

from building import data, refused, run, written

X = np.arange(24, dtype="float32").reshape(2, 3, 4)
TABLE = np.arange(12, dtype="float32").reshape(4, 3)


def shapes():
    return [p.shape for p in fluid.default_main_program().global_block().all_parameters()]


def test_fc_multiplies_and_adds():
    out = layers.fc(data(), 3, act="relu")
    assert written() == [
        "fc_0.tmp_0 = mul(X=x, Y=fc_0.w_0)",
        "fc_0.tmp_1 = elementwise_add(X=fc_0.tmp_0, Y=fc_0.b_0, axis=1)",
        "fc_0.tmp_2 = relu(X=fc_0.tmp_1)",
    ]
    assert out.shape == (-1, 3)


@pytest.mark.parametrize(
    "rows, weight, result",
    [(1, (12, 5), (-1, 5)), (2, (4, 5), (-1, 3, 5)), (-1, (4, 5), (-1, 3, 5))],
)
def test_fc_flattens_the_last_dimensions(rows, weight, result):
    out = layers.fc(data(shape=[None, 3, 4]), 5, num_flatten_dims=rows)
    assert shapes()[0] == weight
    assert out.shape == result
    assert run(out, x=X).shape == (2, *result[1:])


def test_fc_adds_up_over_inputs():
    one = Constant(1.0)
    out = layers.fc([data(), data("y", [None, 2])], 3, param_attr=one, bias_attr=False)
    assert written()[2] == "fc_0.tmp_2 = sum(X=[fc_0.tmp_0, fc_0.tmp_1])"
    found = run(out, x=np.ones([1, 4], "float32"), y=np.ones([1, 2], "float32"))
    assert found.tolist() == [[6, 6, 6]]


def test_fc_refuses_a_size_that_is_unknown():
    x = data(shape=[None, None, 4])
    with refused(ShapeError, r"sizes of 'x' from dimension 1 on to be known.*num_flatten_dims=1"):
        layers.fc(x, 3)


def test_fc_refuses_integers():
    x = data(dtype="int64")
    with refused(
        DTypeError, "expected 'x' to be float32 or float64 like its weight, got int64; cast"
    ):
        layers.fc(x, 3)


@pytest.mark.parametrize("value", [np.ones([2, 3]), [data, 3]])
def test_fc_takes_variables_only(value):
    with refused(ArgumentError, "expected input to be a variable"):
        layers.fc(value, 3)


def test_an_embedding_selects_rows():
    ids = data("ids", [None, 1], "int64")
    out = layers.embedding(ids, [4, 3], param_attr=NumpyArrayInitializer(TABLE))
    assert written() == ["embedding_0.tmp_0 = lookup_table(W=embedding_0.w_0, Ids=ids)"]
    assert out.shape == (-1, 3)
    assert np.array_equal(run(out, ids=np.array([[3], [0]])), TABLE[[3, 0]])


def test_a_padding_has_a_row_of_0():
    ids = data("ids", [None, 1], "int64")
    out = layers.embedding(ids, [4, 3], padding_idx=-1, param_attr=NumpyArrayInitializer(TABLE))
    assert "padding_idx=3" in written()[0]
    assert run(out, ids=np.array([[3], [1]])).tolist() == [[0, 0, 0], [3, 4, 5]]


@pytest.mark.parametrize("padding", [4, -5])
def test_a_padding_that_no_row_has_pads_nothing_with_a_warning(padding):
    ids = data("ids", [None, 1], "int64")
    with pytest.warns(FluidWarning, match=r"padding_idx in \[-4, 4\), got .*nothing is padded"):
        out = layers.embedding(
            ids, [4, 3], padding_idx=padding, param_attr=NumpyArrayInitializer(TABLE)
        )
    assert np.array_equal(run(out, ids=np.array([[3], [0]])), TABLE[[3, 0]])


def test_a_table_has_two_sizes():
    ids = data("ids", [None, 1], "int64")
    with refused(ArgumentError, r"expected size=\[number of ids, width of a row\], got \[4\]"):
        layers.embedding(ids, [4])


def test_ids_are_integers_with_a_last_size_of_1():
    floats, wide = data("f", [None, 1]), data("ids", [None, 3], "int64")
    with refused(DTypeError, r"(?s)f float32\[-1, 1\]"):
        layers.embedding(floats, [4, 3])
    with refused(ShapeError, r"(?s)ids int64\[-1, 3\]"):
        layers.embedding(wide, [4, 3])


def test_one_hot_places_a_1():
    ids = data("ids", [None, 1], "int64")
    out = layers.one_hot(ids, 3)
    assert (out.name, out.shape, out.stop_gradient) == ("one_hot_0.tmp_0", (-1, 3), True)
    assert run(out, ids=np.array([[2], [0]])).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_the_depth_may_be_a_variable():
    ids, depth = data("ids", [None, 1], "int64"), data("n", [1], "int32")
    out = layers.one_hot(ids, depth, allow_out_of_range=True)
    assert "depth_tensor=n" in written()[0]
    assert run(out, ids=np.array([[5]]), n=np.array([2], "int32")).tolist() == [[0, 0]]


def test_dropout_sets_some_to_0_and_keeps_the_others():
    out = layers.dropout(data(), 0.5, seed=3)
    value = np.ones([50, 4], "float32")
    found = run(out, x=value)
    assert set(found.ravel().tolist()) == {0.0, 1.0}
    assert "fix_seed=true, seed=3" in written()[0]


def test_dropout_enlarges_what_it_keeps_where_asked():
    out = layers.dropout(data(), 0.5, dropout_implementation="upscale_in_train")
    found = run(out, x=np.ones([50, 4], "float32"))
    assert set(found.ravel().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("way, factor", [("downgrade_in_infer", 0.6), ("upscale_in_train", 1.0)])
def test_dropout_drops_nothing_in_a_test(way, factor):
    out = layers.dropout(data(), 0.4, is_test=True, dropout_implementation=way)
    value = np.ones([3, 4], "float32")
    assert np.allclose(run(out, x=value), factor * value)


@pytest.mark.parametrize("way, factor", [("downgrade_in_infer", 0.6), ("upscale_in_train", 1.0)])
def test_gradients_pass_a_dropout_that_drops_nothing(way, factor):
    x = data()
    x.stop_gradient = False
    out = layers.dropout(layers.square(x), 0.4, is_test=True, dropout_implementation=way)
    (gradient,) = fluid.gradients(layers.reduce_sum(out), [x])
    exe, value = fluid.Executor(), np.full([3, 4], 2.0, "float32")
    for _ in range(3):  # interpreted, compiled, bound
        (found,) = exe.run(feed={"x": value}, fetch_list=[gradient])
        np.testing.assert_allclose(found, 4 * factor, rtol=1e-6)


def test_dropout_takes_the_seed_of_the_program():
    fluid.default_main_program().random_seed = 7
    layers.dropout(data(), 0.5)
    assert "fix_seed=true, seed=7" in written()[0]


def test_nothing_flows_through_the_mask():
    layers.dropout(data(), 0.5)
    mask = fluid.default_main_program().global_block().var("dropout_0.tmp_1")
    assert mask.stop_gradient


def test_a_probability_lies_between_0_and_1():
    x = data()
    with refused(ValueError, r"(?s)dropout_prob.*1\.5.*x float32"):
        layers.dropout(x, 1.5)


@pytest.mark.parametrize(
    "mode, shape", [("all", (1,)), ("channel", (1, 3, 1, 1)), ("element", (1, 3, 2, 2))]
)
def test_prelu_learns_slopes_that_start_at_a_quarter(mode, shape):
    out = layers.prelu(data(shape=[None, 3, 2, 2]), mode)
    assert shapes() == [shape]
    value = np.array([-4, 4] * 6, "float32").reshape(1, 3, 2, 2)
    assert set(run(out, x=value).ravel().tolist()) == {-1.0, 4.0}


def test_prelu_refuses_another_mode():
    x = data(shape=[None, 3, 2, 2])
    with refused(ArgumentError, "expected mode 'all', 'channel' or 'element', got 'row'"):
        layers.prelu(x, "row")


def test_prelu_refuses_channels_that_are_not_there():
    x = data(shape=[None])
    with refused(
        ArgumentError, r"mode 'channel' takes an input with channels.*'x' of shape \[-1\]"
    ):
        layers.prelu(x, "channel")


def test_maxout_takes_the_largest_of_neighbouring_channels():
    images = data(shape=[None, 4, 1, 1])
    out = layers.maxout(images, groups=2)
    values = np.array([3, 1, 2, 5], "float32").reshape(1, 4, 1, 1)
    assert run(out, x=values).ravel().tolist() == [3, 5]


def test_maxout_refuses_channels_that_the_groups_do_not_divide():
    images = data(shape=[None, 5, 1, 1])
    with refused(ValueError, r"(?s)groups.*x float32\[-1, 5, 1, 1\]"):
        layers.maxout(images, groups=2)
