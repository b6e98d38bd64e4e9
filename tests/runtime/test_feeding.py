"""What may be fed and fetched: as much as fluid 1.8 takes, with a warning where it is doubtful."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import DTypeError, FeedError, FeedTypeError, FetchError, ShapeError
from fluidlite.ground import state

layers = fluid.layers


def doubled(x, value, times=1):
    """What twice a fed value is, in the last of some runs."""
    out, exe = layers.scale(x, 2.0), fluid.Executor()
    for _ in range(times):
        (found,) = exe.run(feed={"x": value}, fetch_list=[out])
    return found


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(
    "value",
    [
        np.ones([2, 3]),
        np.ones([2, 3], "int64"),
        np.ones([3], "float32"),
        np.ones([2, 5], "float32"),
        np.ones([2, 3, 1], "float32"),
        np.array(2.0, "float32"),
        np.ones([2, 5]),
    ],
    ids=lambda v: f"{v.dtype}{list(v.shape)}",
)
def test_what_is_fed_to_a_variable_that_is_not_checked_goes_in_as_it_comes(value, times):
    with pytest.warns(UserWarning, match="'x' is declared .* compute with what was fed"):
        found = doubled(layers.data("x", [3]), value, times)
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(found, 2 * value)


def test_a_plain_variable_is_not_checked_either():
    block = fluid.default_main_program().global_block()
    x = block.create_var(name="x", shape=[2, 3], dtype="float32")
    with pytest.warns(UserWarning, match="declared float32 and was fed float64"):
        assert doubled(x, np.ones([4, 5])).shape == (4, 5)


def test_one_warning_is_given_for_a_variable_and_names_the_users_line():
    out, exe = layers.scale(layers.data("x", [3]), 2.0), fluid.Executor()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for rows in (2, 2, 4, 2, 2):
            exe.run(feed={"x": np.ones([rows, 3])}, fetch_list=[out])
        exe.run(feed={"x": np.ones([2, 5], "float32")}, fetch_list=[out])
    assert [each.filename for each in said] == [__file__]


def test_what_fits_its_declaration_is_not_warned_of():
    np.testing.assert_array_equal(
        doubled(layers.data("x", [3]), np.ones([2, 3], "float32"), 3), np.full([2, 3], 2)
    )


@pytest.mark.parametrize(
    "shape, fed",
    [([None, 1], [3]), ([3, 1], [3]), ([None, 3], [2]), ([None, 1, 1], [2]), ([2, 3, 4], [2, 3])],
)
def test_trailing_sizes_may_be_missing_where_leading_ones_agree(shape, fed):
    with pytest.warns(UserWarning, match="was fed shape"):
        found = doubled(fluid.data("x", shape, "float32"), np.ones(fed, "float32"), 3)
    assert list(found.shape) == fed


@pytest.mark.parametrize(
    "shape, fed",
    [([3, 1], [4]), ([None, 3], [2, 3, 1]), ([None], [2, 1]), ([1], []), ([2, 2], [1])],
)
def test_a_variable_that_is_checked_refuses_other_shapes(shape, fed):
    x = fluid.data("x", shape, "float32")
    with pytest.raises(FeedError, match="is declared with shape"):
        doubled(x, np.ones(fed, "float32"))


def test_a_variable_that_is_checked_refuses_other_element_types():
    with pytest.raises(FeedError, match="declared float32 and was fed float64; convert it"):
        doubled(fluid.data("x", [None, 3], "float32"), np.ones([2, 3]))


@pytest.mark.parametrize("number", [3, 3.0, np.float64(3), np.int64(3), True])
def test_a_number_becomes_an_array_of_one_element(number):
    found = doubled(fluid.data("x", [1], "float32"), number)
    assert (found.dtype, found.tolist()) == (np.float32, [2 * float(number)])


@pytest.mark.parametrize(
    "layer, value, error",
    [
        (lambda x: layers.fc(x, 2), np.ones([2, 3]), DTypeError),
        (lambda x: layers.fc(x, 2), np.ones([3], "float32"), ShapeError),
        (lambda x: layers.fc(x, 2), np.ones([2, 5], "float32"), ShapeError),
        (lambda x: x + layers.fill_constant([3], "float32", 1.0), np.ones([2, 3]), DTypeError),
        (
            lambda x: layers.concat([x, x + layers.ones([3], "float32")]),
            np.ones([2, 3]),
            DTypeError,
        ),
    ],
)
def test_operators_refuse_what_they_cannot_compute_with_in_every_run(layer, value, error):
    out, exe = layer(layers.data("x", [3])), fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    with pytest.warns(UserWarning, match="was fed"), pytest.raises(error, match="test_feeding.py:"):
        exe.run(feed={"x": value}, fetch_list=[out])
    for _ in range(3):
        with pytest.raises(error, match="test_feeding.py:"):
            exe.run(feed={"x": value}, fetch_list=[out])


def test_a_parameter_keeps_its_element_type_whatever_is_written_or_fed():
    w = layers.create_parameter([2], "float32", name="w")
    layers.assign(layers.data("x", [2], append_batch_size=False), w)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.warns(UserWarning, match="'x' is declared float32 and was fed float64"):
        exe.run(feed={"x": np.array([0, 0.5])})
    for k in range(4):
        exe.run(feed={"x": np.array([k, 0.5])})
        kept = np.array(fluid.global_scope().find_var("w").get_tensor())
        assert kept.dtype == np.float32 and kept.tolist() == [k, 0.5]


@pytest.mark.parametrize("trains", [False, True])
def test_a_value_that_is_fed_to_a_parameter_stays_in_the_scope(trains):
    x = fluid.data("x", [None, 3], "float32")
    y = layers.fc(x, 2, param_attr="w", bias_attr=False)
    if trains:
        fluid.optimizer.SGD(0.5).minimize(layers.reduce_sum(y))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for number in (7, 8, 9):
        given = np.full([3, 2], number, "float32")
        (found,) = exe.run(feed={"x": np.ones([2, 3], "float32"), "w": given}, fetch_list=[y])
        assert (found == 3 * number).all()
        given[...] = 0
        kept = np.array(fluid.global_scope().find_var("w").get_tensor())
        np.testing.assert_array_equal(kept, np.full([3, 2], number - trains))
    (found,) = exe.run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])
    assert (found == 3 * (9 - trains)).all()


def test_a_value_that_is_fed_to_a_parameter_is_not_kept_where_the_run_fails():
    x, label = fluid.data("x", [2, 3], "float32"), fluid.data("label", [2, 1], "int64")
    guess = layers.fc(x, 4, act="softmax", param_attr="w", bias_attr=False)
    loss = layers.cross_entropy(guess, label)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    before = np.array(fluid.global_scope().find_var("w").get_tensor())
    feed = {"x": np.ones([2, 3], "float32"), "label": np.array([[0], [9]])}
    with pytest.raises(IndexError, match="label"):
        exe.run(feed={**feed, "w": np.zeros([3, 4], "float32")}, fetch_list=[loss])
    np.testing.assert_array_equal(fluid.global_scope().find_var("w").get_tensor(), before)


def test_an_unknown_name_is_warned_of_and_left_out():
    out = layers.scale(fluid.data("x", [None, 3], "float32"), 2.0)
    feed = {"x": np.ones([2, 3], "float32"), "xx": np.ones(3)}
    with pytest.warns(UserWarning, match=r"no variable 'xx' to feed; did you mean 'x'\?"):
        (found,) = fluid.Executor().run(feed=feed, fetch_list=[out])
    assert found.tolist() == [[2] * 3] * 2


def test_a_feed_with_variables_as_keys_says_their_names():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.scale(x, 2.0)
    with pytest.raises(FeedTypeError, match=r"names and arrays, got a key <Var.*; write 'x'$"):
        fluid.Executor().run(feed={x: np.ones([2, 3], "float32")}, fetch_list=[out])


def test_what_another_program_computes_is_not_fetched_and_the_way_to_it_is_told():
    with fluid.program_guard(fluid.Program()):
        out = layers.scale(fluid.data("x", [None, 3], "float32"), 2.0)
    message = "no variable 'scale_0.tmp_0' to fetch; if it is one of another program, run that"
    with pytest.raises(FetchError, match=message):
        fluid.Executor().run(fetch_list=[out])
    with pytest.raises(FetchError, match=message):
        fluid.Executor().prepare(fetch_list=[out])


def test_an_unknown_name_is_refused_by_a_program_that_says_what_it_is_fed(tmp_path):
    out = layers.scale(fluid.data("x", [None, 3], "float32"), 2.0)
    exe = fluid.Executor()
    with pytest.warns(UserWarning, match="no variables to be saved"):
        fluid.io.save_inference_model(str(tmp_path), ["x"], [out], exe)
    program, _, fetches = fluid.io.load_inference_model(str(tmp_path), exe)
    feed = {"x": np.ones([2, 3], "float32"), "xx": np.ones(3)}
    with pytest.raises(FeedError, match="no variable 'xx' to feed"):
        exe.run(program, feed=feed, fetch_list=fetches)


def test_fetching_a_variable_without_a_value_gives_none():
    block = fluid.default_main_program().global_block()
    block.create_var(name="p", shape=[2], dtype="float32", persistable=True)
    block.create_var(name="q", shape=[2], dtype="float32")
    y = layers.scale(fluid.data("x", [None, 3], "float32"), 2.0)
    fluid.data("z", [1], "float32")
    exe, feed = fluid.Executor(), {"x": np.ones([2, 3], "float32")}
    assert exe.run(feed=feed, fetch_list=["p", y])[0] is None
    with pytest.warns(UserWarning, match="nothing computes variable 'q'"):
        assert exe.run(feed=feed, fetch_list=["q"]) == [None]
    with pytest.warns(UserWarning, match="data variable 'z' is fetched and was not fed"):
        assert exe.run(feed=feed, fetch_list=["z"]) == [None]
    with pytest.raises(FetchError, match="no variable 'nothing' to fetch"):
        exe.run(feed=feed, fetch_list=["nothing"])


@pytest.mark.parametrize("said, is_on", [("1", True), ("True", True), ("0", False), ("no", False)])
def test_flags_of_the_environment_are_read(monkeypatch, said, is_on):
    monkeypatch.setenv("FLAGS_check_nan_inf", said)
    monkeypatch.setenv("FLAGS_eager_delete_tensor_gb", "1.5")
    state.reset()
    assert fluid.get_flags(["FLAGS_check_nan_inf", "FLAGS_eager_delete_tensor_gb"]) == {
        "FLAGS_check_nan_inf": is_on,
        "FLAGS_eager_delete_tensor_gb": 1.5,
    }


def test_a_flag_that_is_no_truth_says_what_it_may_be(monkeypatch):
    monkeypatch.setenv("FLAGS_check_nan_inf", "on")
    state.reset()
    with pytest.raises(ValueError, match="FLAGS_check_nan_inf to be one of 1, true, .* got 'on'"):
        fluid.get_flags("FLAGS_check_nan_inf")
