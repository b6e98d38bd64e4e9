"""Running programs: feeds, fetches, what is kept, and what an error leaves as it was."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FeedError, FetchError, NonFiniteError, NotInitializedError

layers = fluid.layers
ONES = np.ones([2, 3], "float32")


def trained_net():
    """A net with Adam, started; a function that runs one step and gives the loss."""
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.data("y", [None, 1], "float32")
    loss = layers.mean(layers.square_error_cost(layers.fc(x, 1), y))
    fluid.optimizer.Adam(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, loss


def contents(scope=None):
    scope = scope or fluid.global_scope()
    return {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}


def test_fetched_values_are_copies():
    x = fluid.data("x", [None, 3], "float32")
    feed = ONES.copy()
    (out,) = fluid.Executor().run(feed={"x": feed}, fetch_list=[x])
    out[:] = 7
    assert (feed == 1).all()


def test_what_was_fetched_does_not_change_in_the_next_run():
    exe, _ = trained_net()
    feed = {"x": ONES, "y": np.zeros([2, 1], "float32")}
    (weight,) = exe.run(feed=feed, fetch_list=["fc_0.w_0"])
    kept = weight.copy()
    exe.run(feed=feed)
    np.testing.assert_array_equal(weight, kept)


def test_a_fed_array_that_becomes_a_parameter_is_copied():
    w = layers.create_global_var([2], 0.0, "float32", persistable=True, name="w")
    x = fluid.data("x", [2], "float32")
    layers.assign(x, w)
    given = np.array([1, 2], "float32")
    fluid.Executor().run(feed={"x": given})
    given[:] = 9
    assert contents()["w"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "feed, message",
    [
        ({"x": ONES}, "data variable 'y' was not fed"),
        ({"x": ONES.astype("float64"), "y": ONES[:, :1]}, "declared float32 and was fed float64"),
        ({"x": ONES[:, :2], "y": ONES[:, :1]}, r"shape \[-1, 3\] and was fed shape \[2, 2\]"),
        ({"x": ONES, "y": np.zeros([3, 1], "float32")}, "sub.*(2, 1|2).*(3, 1|3)"),
    ],
)
def test_a_wrong_feed_says_what_is_wrong_and_changes_nothing(feed, message):
    exe, loss = trained_net()
    before = contents()
    with pytest.raises(ValueError, match=message):
        exe.run(feed=feed, fetch_list=[loss])
    assert contents().keys() == before.keys()
    for name, value in contents().items():
        np.testing.assert_array_equal(value, before[name])


def test_an_error_after_the_first_update_leaves_every_parameter_as_it_was():
    exe, loss = trained_net()
    block = fluid.default_main_program().global_block()
    ids = fluid.data("ids", [2, 1], "int64")
    layers.embedding(ids, size=[3, 2])  # behind the steps of Adam
    assert block.ops[-1].type == "lookup_table"
    exe.run(fluid.default_startup_program())
    before = contents()
    feed = {"x": ONES, "y": ONES[:, :1], "ids": np.array([[1], [7]])}
    with pytest.raises(IndexError, match=r"lookup_table: expected Ids in \[0, 3\), got 7"):
        exe.run(feed=feed, fetch_list=[loss])
    for name, value in contents().items():
        np.testing.assert_array_equal(value, before[name])


def test_a_startup_program_that_was_not_run_is_named():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.fc(x, 2)
    with pytest.raises(
        NotInitializedError,
        match=r"(?s)mul: variable 'fc_0.w_0' has no value; run the startup program first"
        r".*built at .*test_executor.py:\d+",
    ):
        fluid.Executor().run(feed={"x": ONES}, fetch_list=[out])


def test_an_unknown_fetch_is_refused_with_a_suggestion():
    x = fluid.data("x", [None, 3], "float32")
    layers.square(x)
    with pytest.raises(FetchError, match=r"'square_0.tmp' to fetch; did you mean 'square_0.tmp_0'"):
        fluid.Executor().run(feed={"x": ONES}, fetch_list=["square_0.tmp"])


def test_shapes_that_clash_when_run_name_operator_variables_and_line():
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 3], "float32")
    out = x + y
    with pytest.raises(
        ValueError,
        match=r"(?s)elementwise_add: .*x float32\[2, 3\], y float32\[4, 3\].*built at .*:\d+",
    ):
        feed = {"x": ONES, "y": np.ones([4, 3], "float32")}
        fluid.Executor().run(feed=feed, fetch_list=[out])


def test_shapes_that_clash_when_built_name_operator_variables_and_line():
    x, y = fluid.data("x", [4, 3], "float32"), fluid.data("y", [4, 2], "float32")
    with pytest.raises(
        ValueError, match=r"(?s)elementwise_add: .*x float32\[4, 3\], y float32\[4, 2\].*at .*:\d+"
    ):
        x + y


def test_values_that_are_not_finite_are_found_where_they_arise():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.reduce_sum(layers.log(x - 1.0))
    exe = fluid.Executor()
    assert exe.run(feed={"x": ONES}, fetch_list=[out])[0] == -np.inf
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(NonFiniteError, match=r"(?s)log: variable 'log_0.tmp_0' holds infinity"):
        exe.run(feed={"x": ONES}, fetch_list=[out])


def test_a_closed_executor_runs_nothing():
    exe = fluid.Executor()
    exe.close()
    with pytest.raises(RuntimeError, match="closed"):
        exe.run(fluid.default_startup_program())


def test_a_program_that_changes_is_planned_anew():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.scale(x, 2.0)
    exe = fluid.Executor()
    assert exe.run(feed={"x": ONES}, fetch_list=[out])[0][0, 0] == 2
    out.op.set_attr("scale", 5.0)
    assert exe.run(feed={"x": ONES}, fetch_list=[out])[0][0, 0] == 5


def test_a_seeded_program_gives_the_same_numbers_in_every_executor():
    fluid.default_main_program().random_seed = 3
    drawn = layers.uniform_random([4])
    values = [fluid.Executor().run(fetch_list=[drawn])[0] for _ in range(2)]
    np.testing.assert_array_equal(*values)


def test_a_program_without_a_seed_gives_other_numbers_in_every_run_and_executor():
    drawn = layers.uniform_random([4])
    exe = fluid.Executor()
    values = [exe.run(fetch_list=[drawn])[0] for _ in range(2)]
    values.append(fluid.Executor().run(fetch_list=[drawn])[0])
    assert len({v.tobytes() for v in values}) == 3


def test_a_pickled_or_copied_program_trains_on_as_the_original_does():
    _, loss = trained_net()
    feed = {"x": ONES, "y": np.zeros([2, 1], "float32")}
    start = contents()
    main = fluid.default_main_program()
    results = []
    for program in (main, pickle.loads(pickle.dumps(main)), copy.deepcopy(main), main.clone()):
        scope = fluid.Scope()
        for name, value in start.items():
            scope.var(name).get_tensor().set(value)
        exe = fluid.Executor()
        steps = [exe.run(program, feed, [loss.name], scope=scope)[0] for _ in range(3)]
        results.append(np.concatenate(steps))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_a_clone_for_testing_uses_what_was_trained():
    x = fluid.data("x", [None, 3], "float32")
    out = layers.dropout(layers.fc(x, 1, bias_attr=False), 0.5)
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.SGD(0.1).minimize(layers.mean(out))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"x": ONES})
    assert not any(op.type.endswith("_grad") for op in test.global_block().ops)
    found = exe.run(test, feed={"x": ONES}, fetch_list=[out])[0]
    np.testing.assert_allclose(found, ONES @ contents()["fc_0.w_0"] * 0.5, rtol=1e-6)


def test_a_list_is_not_taken_for_an_array():
    fluid.data("x", [None, 3], "float32")
    with pytest.raises(FeedError, match="'x' was fed a list"):
        fluid.Executor().run(feed={"x": [[1, 2, 3]]}, fetch_list=["x"])


def test_a_loop_in_a_program_draws_other_numbers_in_every_pass():
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    array = layers.create_array("float32")
    cond = layers.less_than(i, n)
    with layers.While(cond).block():
        layers.array_write(layers.uniform_random([2]), i, array=array)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=cond)
    (found,) = fluid.Executor().run(fetch_list=[array])
    assert len({np.asarray(v).tobytes() for v in found}) == 3


def test_a_variable_of_a_branch_that_was_not_taken_is_named():
    x = fluid.data("x", [1], "float32")
    zero = layers.fill_constant([1], "float32", 0.0)
    made = fluid.default_main_program().global_block().create_var(name="made", dtype="float32")
    with layers.Switch() as switch, switch.case(layers.less_than(zero, x)):
        layers.assign(x, made)
    out = layers.scale(made, 2.0)
    exe = fluid.Executor()
    assert exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[out])[0] == 2
    with pytest.raises(NotInitializedError, match=r"'made' is read, .* the branch or loop"):
        exe.run(feed={"x": -np.ones(1, "float32")}, fetch_list=[out])
