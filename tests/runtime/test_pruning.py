"""Runs that are cut down to what is fetched: by an optimizer's result, or by ``use_prune``."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FetchTypeError, NotInitializedError

layers = fluid.layers

X, FOUR = np.ones([2, 3], "float32"), np.ones([4, 3], "float32")
NAMES = ("wa", "ba", "wb", "side", "mean")


@pytest.fixture
def two():
    """Two nets with an optimizer each, a counter, and a batch norm, which nobody needs.

    Gives what was made, and a function that runs it: whatever is fetched, and which of the
    variables have changed.
    """
    x, z = (fluid.data(name, [None, 3], "float32") for name in "xz")
    made = {"ha": layers.fc(x, 1, param_attr="wa", bias_attr="ba")}
    made["hb"] = layers.fc(z, 1, param_attr="wb", bias_attr=False)
    made["la"], made["lb"] = layers.mean(made["ha"]), layers.mean(made["hb"])
    side = layers.create_global_var([1], 0.0, "float32", persistable=True, name="side")
    layers.increment(side)
    made["bn"] = layers.batch_norm(x, moving_mean_name="mean")
    made["ra"] = fluid.optimizer.SGD(0.1).minimize(made["la"])
    made["rb"] = fluid.optimizer.SGD(0.1).minimize(made["lb"])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())

    def contents():
        scope = fluid.global_scope()
        return {name: np.array(scope.find_var(name).get_tensor()) for name in NAMES}

    def run(fetches, feed=None, **how):
        found = None
        for _ in range(4):
            before = contents()
            given = {"x": X, "z": X} if feed is None else feed
            found = exe.run(feed=given, fetch_list=fetches, **how)
        now = contents()
        return found, {n for n in NAMES if not np.array_equal(before[n], now[n])}

    return made, run


def test_without_an_optimizer_among_the_fetches_everything_runs(two):
    made, run = two
    assert run([made["la"]])[1] == {"wa", "ba", "wb", "side", "mean"}


@pytest.mark.parametrize(
    "fetches, changed, count",
    [
        (lambda m: [m["la"], m["ra"]], {"wa", "ba"}, 1),
        (lambda m: [m["ra"], m["la"]], {"wa", "ba"}, 1),
        (lambda m: [m["la"], m["ra"][0]], {"wa", "ba"}, 1),
        (lambda m: m["ra"], {"wa", "ba"}, 0),
        (lambda m: m["ra"][0], {"wa", "ba"}, 0),
        (lambda m: [m["ra"], m["rb"]], {"wa", "ba", "wb"}, 0),
        (lambda m: [m["lb"], m["ra"]], {"wa", "ba"}, 1),
    ],
)
def test_an_optimizers_result_among_the_fetches_runs_it_and_what_is_fetched(
    two, fetches, changed, count
):
    made, run = two
    found, wrote = run(fetches(made))
    assert (wrote, len(found)) == (changed, count)


def test_one_operator_of_an_optimizer_updates_one_parameter(two):
    made, run = two
    for op in made["ra"][0]:
        assert run([op])[1] == {op.input("Param")[0]}


def test_what_is_cut_off_need_not_be_fed(two):
    made, run = two
    assert run([made["la"], made["ra"]], feed={"x": X})[1] == {"wa", "ba"}


def test_use_prune_keeps_all_optimizers_and_leaves_out_the_rest(two):
    made, run = two
    assert run([made["la"]], use_prune=True)[1] == {"wa", "ba", "wb"}
    assert run([made["bn"]], use_prune=True)[1] == {"wa", "ba", "wb", "mean"}
    assert run([made["la"], made["ra"][0][0]], use_prune=True)[1] == {
        made["ra"][0][0].input("Param")[0]
    }
    with pytest.raises(ValueError, match="data variable 'z' was not fed"):
        run([made["la"]], feed={"x": X}, use_prune=True)


def test_use_prune_takes_what_is_fed_for_what_is_computed():
    x = fluid.data("x", [None, 3], "float32")
    hidden = layers.scale(x, 2.0)
    out = layers.scale(hidden, 3.0)
    given = {hidden.name: np.ones([1, 3], "float32")}
    for _ in range(4):
        (found,) = fluid.Executor().run(feed=given, fetch_list=[out], use_prune=True)
    assert found.tolist() == [[3, 3, 3]]


def test_an_array_keeps_what_was_written_to_it_before():
    x = fluid.data("x", [1], "float32")
    places = [layers.fill_constant([1], "int64", k) for k in range(2)]
    array = layers.array_write(x, places[0])
    layers.array_write(layers.scale(x, 5.0), places[1], array=array)
    first = layers.array_read(array, places[0])
    given = {"x": np.ones(1, "float32")}
    (found,) = fluid.Executor().run(feed=given, fetch_list=[first], use_prune=True)
    assert found.tolist() == [1]


def test_a_loop_that_writes_what_is_fetched_is_kept_whole():
    x = fluid.data("x", [1], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.fill_constant([1], "float32", 0.0)
    cond = layers.less_than(i, n)
    with layers.While(cond).block():
        layers.assign(total + x, total)
        layers.increment(i)
        layers.less_than(i, n, cond=cond)
    given = {"x": np.full(1, 2, "float32")}
    (found,) = fluid.Executor().run(feed=given, fetch_list=[total], use_prune=True)
    assert found.tolist() == [6]


def test_lists_of_lists_are_fetched_one_after_the_other(two):
    made, run = two
    found, changed = run([[made["la"], "wa"], [made["ha"]], []])
    assert [value.shape for value in found] == [(1,), (3, 1), (2, 1)]
    assert "side" in changed


@pytest.mark.parametrize("wrong", [[None], [3], {"x"}, [["x", 3]]])
def test_other_things_are_not_fetched(wrong):
    with pytest.raises(FetchTypeError, match="expected fetch_list to be a list of variables"):
        fluid.Executor().run(fetch_list=wrong)


def test_what_an_operator_of_an_optimizer_needs_must_have_a_value(two):
    made, run = two
    fluid.global_scope().erase(["learning_rate_0"])
    with pytest.raises(NotInitializedError, match="'learning_rate_0' has no value"):
        run([made["ra"]])


@pytest.fixture
def on_two_devices(two, monkeypatch):
    """The same on two devices."""
    monkeypatch.setenv("CPU_NUM", "2")
    made, run = two
    compiled = fluid.CompiledProgram(fluid.default_main_program())
    compiled.with_data_parallel(loss_name=made["la"].name)
    both = {"x": FOUR, "z": FOUR}
    return made, lambda fetches, feed=both, **how: run(fetches, feed, program=compiled, **how)


@pytest.mark.parametrize(
    "fetches, how, changed, count",
    [
        (lambda m: [m["la"]], {}, {"wa", "ba", "wb", "side", "mean"}, 1),
        (lambda m: [m["la"], m["ra"]], {}, {"wa", "ba"}, 1),
        (lambda m: [m["ra"], m["rb"]], {}, {"wa", "ba", "wb"}, 0),
        (lambda m: [m["la"], m["ra"]], {"feed": {"x": FOUR}}, {"wa", "ba"}, 1),
        (lambda m: [m["la"], m["ra"]], {"feed": [{"x": X}, {"x": X}]}, {"wa", "ba"}, 1),
        (lambda m: [m["la"]], {"use_prune": True}, {"wa", "ba", "wb"}, 1),
        (lambda m: [m["bn"]], {"use_prune": True}, {"wa", "ba", "wb", "mean"}, 1),
        (lambda m: [], {"use_prune": True}, {"wa", "ba", "wb"}, 0),
    ],
)
def test_runs_on_several_devices_are_cut_down_alike(on_two_devices, fetches, how, changed, count):
    made, run = on_two_devices
    found, wrote = run(fetches(made), **how)
    assert (wrote, len(found)) == (changed, count)


def test_one_operator_on_several_devices_updates_one_parameter(on_two_devices):
    made, run = on_two_devices
    for op in made["ra"][0]:
        assert run([op])[1] == {op.input("Param")[0]}


def test_what_no_device_needs_need_not_be_fed(monkeypatch):
    monkeypatch.setenv("CPU_NUM", "2")
    x, z = (fluid.data(name, [None, 3], "float32") for name in "xz")
    total = layers.reduce_sum(x)
    layers.reduce_sum(x + z)
    compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    run = fluid.Executor().run
    for _ in range(3):
        assert run(compiled, {"x": X}, [total], use_prune=True)[0].tolist() == [3, 3]
    with pytest.raises(ValueError, match="data variable 'z' was not fed"):
        run(compiled, {"x": X}, [total])


def test_what_an_operator_makes_of_what_was_fed_is_computed():
    x = fluid.data("x", [1, 3], "float32")
    number, last = (layers.fill_constant([1], "int64", n) for n in (0, 3))
    _, doubled = layers.while_loop(
        lambda n, _: layers.less_than(n, last), lambda n, h: [n + 1, h * 2.0], [number, x]
    )
    assert doubled is x  # the loop writes to what it is given
    once = layers.scale(fluid.data("z", [1, 3], "float32"), 2.0)
    feed = {"x": np.ones([1, 3], "float32"), once.name: np.ones([1, 3], "float32")}
    found = fluid.Executor().run(feed=feed, fetch_list=[x, once], use_prune=True)
    assert [value.tolist() for value in found] == [[[8.0] * 3], [[1.0] * 3]]
