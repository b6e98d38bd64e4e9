"""Repeated runs take the fast path, a bound call, and notice all the same what has changed."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest
from interpreters import frees_functions

import fluidlite as fluid
from fluidlite.errors import NonFiniteError, NotInitializedError, OpError
from fluidlite.runtime import bound

layers = fluid.layers


@pytest.fixture(params=[bound.MOST_LINES, 0], ids=["lines", "loops"], autouse=True)
def form(request, monkeypatch):
    """Both forms of a call: a line for each input and result, and loops over them."""
    monkeypatch.setattr(bound, "MOST_LINES", request.param)


@pytest.fixture
def fast(monkeypatch):
    """Counts the runs that took the fast path."""
    taken = []
    bound_call = bound.bound_call

    def found(*arguments):
        call = bound_call(*arguments)

        def counted(*arguments):
            results = call.run(*arguments)
            taken.append(results is not None)
            return results

        return call and call._replace(run=counted)

    monkeypatch.setattr(bound, "bound_call", found)
    return lambda: sum(taken)


def trained():
    """A net that is trained, ready to run: the executor, a feed, the loss."""
    fluid.default_startup_program().random_seed = 7
    x = fluid.data("x", [None, 3], "float32")
    loss = layers.mean(layers.square(layers.fc(x, 4, param_attr="w", bias_attr="b")))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, {"x": np.arange(6, dtype="float32").reshape(2, 3) / 5}, loss


def weight():
    return np.array(fluid.global_scope().find_var("w").get_tensor())


def test_the_third_run_with_the_same_shapes_takes_the_fast_path(fast):
    exe, feed, loss = trained()
    for _ in range(6):
        exe.run(feed=feed, fetch_list=[loss])
    assert fast() == 4


def test_the_fast_path_trains_as_a_planned_run_does(fast, monkeypatch):
    exe, feed, loss = trained()
    found = [exe.run(feed=feed, fetch_list=[loss, "w"]) for _ in range(8)]
    assert fast()
    monkeypatch.setattr(bound, "bound_call", lambda *_: None)
    exe.run(fluid.default_startup_program())
    for mine, other in zip(found, [exe.run(feed=feed, fetch_list=[loss, "w"]) for _ in range(8)]):
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[1], other[1])


def test_what_was_fetched_stays_as_it_is_however_often_it_was_named(fast):
    exe, feed, loss = trained()
    for _ in range(5):
        first, again, x, w = exe.run(feed=feed, fetch_list=[loss, loss, "x", "w"])
    kept = [a.copy() for a in (first, again, x, w)]
    assert not any(np.shares_memory(a, b) for a in (first, x, w) for b in (again, feed["x"]))
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[loss, loss, "x", "w"])
    for a, b in zip((first, again, x, w), kept, strict=True):
        np.testing.assert_array_equal(a, b)
    assert fast() and not np.array_equal(w, weight())


def test_a_value_that_is_set_between_two_runs_is_what_the_next_one_reads():
    exe, feed, loss = trained()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss])
    for name, shape in (("w", [3, 4]), ("b", [4])):
        tensor = fluid.global_scope().find_var(name).get_tensor()
        tensor.set(np.zeros(shape, "float32"), fluid.CPUPlace())
    assert exe.run(feed=feed, fetch_list=[loss])[0].item() == 0


def test_a_variable_that_is_forgotten_is_missed(fast):
    exe, feed, loss = trained()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss])
    fluid.global_scope().erase(["w"])
    with pytest.raises(NotInitializedError, match="'w' has no value"):
        exe.run(feed=feed, fetch_list=[loss])
    exe.run(fluid.default_startup_program())
    before = fast()
    for _ in range(4):
        exe.run(feed=feed, fetch_list=[loss])
    assert fast() > before and not np.array_equal(weight(), 0)


def test_a_variable_of_a_kid_covers_that_of_its_parent_from_the_next_run_on():
    exe, feed, loss = trained()
    kid = fluid.global_scope().new_scope()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss], scope=kid)
    for name, shape in (("w", [3, 4]), ("b", [4])):
        kid.var(name).get_tensor().set(np.zeros(shape, "float32"), fluid.CPUPlace())
    assert exe.run(feed=feed, fetch_list=[loss], scope=kid)[0].item() == 0


def test_each_scope_has_values_of_its_own(fast):
    exe, feed, loss = trained()
    scopes = [fluid.Scope(), fluid.Scope()]
    for scope in scopes:
        exe.run(fluid.default_startup_program(), scope=scope)
    losses = [
        [exe.run(feed=feed, fetch_list=[loss], scope=scope)[0].item() for scope in scopes]
        for _ in range(6)
    ]
    assert fast() and all(a == b for a, b in losses) and len({a for a, _ in losses}) == 6


@frees_functions
def test_an_executor_keeps_no_scope_alive():
    exe, feed, loss = trained()
    scope = fluid.Scope()
    exe.run(fluid.default_startup_program(), scope=scope)
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss], scope=scope)
    known = weakref.ref(scope.find_var("w").value)
    del scope
    gc.collect()
    assert known() is None


@frees_functions
def test_a_scope_keeps_no_executor_alive():
    exe, feed, loss = trained()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss])
    known = weakref.ref(exe.plan(fetch_list=[loss]).compiled)
    del exe
    gc.collect()
    assert known() is None


def test_feeds_of_two_shapes_take_turns(fast):
    exe, feed, loss = trained()
    wide = {"x": np.ones([5, 3], "float32")}
    for _ in range(6):
        exe.run(feed=feed, fetch_list=[loss])
        exe.run(feed=wide, fetch_list=[loss])
    for _ in range(3):
        exe.run(feed=wide, fetch_list=[loss])
    assert fast() >= 2


def test_random_numbers_are_those_of_a_planned_run(monkeypatch, fast):
    fluid.default_main_program().random_seed = 11
    x = fluid.data("x", [3, 2, 8], "float32")
    start = layers.fill_constant([2, 8], "float32", 1.0)
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(init=start)
        after = now + before * layers.uniform_random([2, 8])
        rnn.update_memory(before, after)
        rnn.step_output(after)
    feed = {"x": np.ones([3, 2, 8], "float32")}

    def outputs(run):
        return [run() for _ in range(7)]

    exe = fluid.Executor()
    found = outputs(lambda: exe.run(feed=feed, fetch_list=[rnn()])[0])
    assert fast()
    other = fluid.Executor()
    step = other.prepare(feed_names=["x"], fetch_list=[rnn()])
    prepared = outputs(lambda: step(feed)[0])
    monkeypatch.setattr(bound, "bound_call", lambda *_: None)
    last = fluid.Executor()
    expected = outputs(lambda: last.run(feed=feed, fetch_list=[rnn()])[0])
    for a, b, c in zip(found, prepared, expected, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, c)
    assert len({a.tobytes() for a in found}) == 7


@pytest.mark.parametrize("prepared", [False, True])
def test_an_operator_that_fails_is_named_and_changes_nothing(prepared):
    x = fluid.data("x", [2, 3], "float32")
    label = fluid.data("label", [2, 1], "int64")
    guess = layers.fc(x, 4, act="softmax", param_attr="w")
    loss = layers.mean(layers.cross_entropy(guess, label))
    fluid.optimizer.SGD(0.1).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([2, 3], "float32"), "label": np.array([[0], [3]])}
    if prepared:
        step = exe.prepare(feed_names=list(feed), fetch_list=[loss])
    else:
        step = partial(exe.run, fetch_list=[loss])
    for _ in range(5):
        step(feed=feed)
    before = weight()
    with pytest.raises(OpError, match="label"):
        step(feed={**feed, "label": np.array([[0], [9]])})
    np.testing.assert_array_equal(weight(), before)
    step(feed=feed)
    assert not np.array_equal(weight(), before)


def test_values_that_are_not_finite_are_looked_for_when_that_is_said_later(fast):
    exe, feed, loss = trained()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss])
    bad = {"x": np.full([2, 3], np.nan, "float32")}
    with pytest.raises(NonFiniteError):
        exe.run(feed=bad, fetch_list=[loss], check_nan_inf=True)
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(NonFiniteError):
        exe.run(feed=bad, fetch_list=[loss])
    fluid.set_flags({"FLAGS_check_nan_inf": False})
    assert np.isnan(exe.run(feed=bad, fetch_list=[loss])[0].item())


def test_runs_that_look_for_bad_values_look_at_each_operator_and_others_take_the_fast_path(fast):
    exe, feed, loss = trained()
    for _ in range(6):
        exe.run(feed=feed, fetch_list=[loss])
    assert fast() == 4
    exe.run(feed=feed, fetch_list=[loss], check_nan_inf=True)
    assert fast() == 4
    before = weight()
    bad = {"x": np.full([2, 3], np.inf, "float32")}
    with pytest.raises(NonFiniteError, match="test_bound.py:"):
        exe.run(feed=bad, fetch_list=[loss], check_nan_inf=True)
    np.testing.assert_array_equal(weight(), before)


def test_a_gradient_of_some_rows_is_looked_at():
    ids = fluid.data("ids", [3, 1], "int64")
    scale = fluid.data("scale", [3, 2], "float32")
    found = layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")
    loss = layers.reduce_sum(found * scale)
    fluid.optimizer.SGD(0.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"ids": np.array([[1], [3], [1]]), "scale": np.ones([3, 2], "float32")}
    for _ in range(5):
        (rows,) = exe.run(feed=feed, fetch_list=["table@GRAD"], check_nan_inf=True)
    assert rows.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]
    feed["scale"][0] = np.inf
    with pytest.raises(NonFiniteError, match="elementwise_mul: .* holds infinity"):
        exe.run(feed=feed, fetch_list=["table@GRAD"], check_nan_inf=True)


def test_gradients_that_are_clipped_are_looked_at_on_the_way(fast):
    fluid.default_startup_program().random_seed = 7
    x = fluid.data("x", [2, 3], "float32")
    hidden = layers.fc(x, 4, param_attr="w", bias_attr=False)
    loss = layers.mean(layers.sqrt(layers.square(hidden)))
    clip = fluid.clip.GradientClipByValue(1.0)
    fluid.optimizer.SGD(0.1, grad_clip=clip).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([2, 3], "float32")}
    for _ in range(6):
        exe.run(feed=feed, fetch_list=[loss], check_nan_inf=True)
    assert not fast()
    before = weight()
    feed["x"][...] = 0  # where the slope of the root is infinite
    with pytest.raises(NonFiniteError, match="grad: variable"):
        exe.run(feed=feed, fetch_list=[loss], check_nan_inf=True)
    np.testing.assert_array_equal(weight(), before)


def test_an_operator_that_is_added_runs_from_the_next_run_on():
    exe, feed, loss = trained()
    for _ in range(5):
        exe.run(feed=feed, fetch_list=[loss])
    layers.assign(np.zeros([3, 4], "float32"), fluid.default_main_program().global_block().var("w"))
    exe.run(feed=feed, fetch_list=[loss])
    np.testing.assert_array_equal(weight(), 0)


def test_the_source_of_a_call_does_not_grow_with_the_parameters(monkeypatch):
    monkeypatch.setattr(bound, "MOST_LINES", 32)
    sources = []
    monkeypatch.setattr(
        bound,
        "compile",
        lambda source, *more: sources.append(source) or compile(source, *more),
        raising=False,
    )
    for size in (30, 60):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup):
            parameters = [layers.create_parameter([1], "float32") for _ in range(size)]
            loss = layers.reduce_sum(layers.square(layers.sum(parameters)))
            fluid.optimizer.Adam(0.1).minimize(loss)
        with fluid.scope_guard(fluid.Scope()):
            exe = fluid.Executor()
            exe.run(startup)
            for _ in range(3):
                exe.run(main, fetch_list=[loss])
    fewer, more = (source.count("\n") for source in sources if source.startswith("def call("))
    assert fewer == more < 30
