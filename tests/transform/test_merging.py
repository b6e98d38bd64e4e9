"""Two programs become one that does what both do."""

import numpy as np
import pytest
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import ArgumentError, DTypeError, ShapeError, UnknownVariableError
from fluidlite.ir.analysis import fed_names, fetched_names
from fluidlite.transform import cut, merge, names_in_merge, rename

X = np.arange(6, dtype="float32").reshape(2, 3) / 5


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def net(size=2, value=0.5, act="relu", train=False):
    """A pair of programs of their own, and the loss."""
    main, startup = Program(), Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 3], "float32")
        start = fluid.initializer.Constant(value)
        y = layers.fc(x, size, act=act, param_attr=fluid.ParamAttr("w", initializer=start))
        loss = layers.mean(y)
        if train:
            fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return main, startup, loss.name


def test_shared_parameters_are_one_and_other_names_are_made_unique():
    a, startup_a, loss = net()
    b, startup_b, _ = net(act="tanh")
    texts = [str(p) for p in (a, b, startup_a, startup_b)]
    main, startup = merge((a, startup_a), (b, startup_b), shared=["w", "x"])
    names = names_in_merge((a, startup_a), (b, startup_b), shared=["w", "x"])
    assert names["fc_0.b_0"] == "fc_0.b_0_1" and "w" not in names
    assert [p.name for p in main.all_parameters()] == ["w", "fc_0.b_0", "fc_0.b_0_1"]
    executor = fluid.Executor()
    executor.run(startup)
    assert len(startup.global_block().ops) == 3
    found = executor.run(main, feed={"x": X}, fetch_list=[loss, names[loss]])
    h = X.sum(1) / 2
    np.testing.assert_allclose(np.ravel(found), [h.mean(), np.tanh(h).mean()], rtol=1e-6)
    assert [str(p) for p in (a, b, startup_a, startup_b)] == texts


def test_without_a_list_what_stays_between_runs_is_shared():
    a, _, _ = net()
    merged = merge(a, a)
    assert [p.name for p in merged.all_parameters()] == ["w", "fc_0.b_0"]
    assert [v.name for v in merged.list_vars() if v.is_data] == ["x", "x_1"]


def test_two_trainings_of_one_parameter_take_turns():
    a, startup, loss = net(train=True)
    b, other, _ = net(train=True, act="tanh")
    both = merge((a, startup), (b, other), shared=["w", "x"])
    names = names_in_merge((a, startup), (b, other), shared=["w", "x"])
    assert names["w@GRAD"] == "w@GRAD_1" and names["w_velocity_0"] == "w_velocity_0_1"
    executor = fluid.Executor()
    executor.run(both[1])
    merged = [executor.run(both[0], {"x": X}, [loss, names[loss]]) for _ in range(3)]
    with fluid.scope_guard(fluid.Scope()):
        apart = rename(b, names.get)
        executor.run(startup)
        executor.run(rename(other, names.get))
        turns = [
            [executor.run(p, {"x": X}, [name])[0] for p, name in ((a, loss), (apart, names[loss]))]
            for _ in range(3)
        ]
    np.testing.assert_array_equal(np.ravel(merged), np.ravel(turns))


def test_what_one_computes_is_an_input_of_the_other():
    a, _, loss = net(size=3)
    y = a.global_block().ops[2].output("Out")[0]
    b = rename(a, lambda name: f"b.{name}")
    startup = net(size=3)[1]
    whole = merge(a, b, shared={"b.x": y, "b.w": "w", "b.fc_0.b_0": "fc_0.b_0"})
    assert [v.name for v in whole.list_vars() if v.is_data] == ["x"]
    executor = fluid.Executor()
    executor.run(startup)
    (found,) = executor.run(whole, {"x": X}, [f"b.{loss}"])
    np.testing.assert_allclose(found, (1.5 * X.sum(1) / 2).mean(), rtol=1e-6)


def test_parameters_that_differ_are_refused_before_anything_changes():
    a, startup, _ = net()
    with pytest.raises(ShapeError, match=r"shared variable 'w' has the shape \[3, 2\].*\[3, 4\]"):
        merge(a, net(size=4)[0], shared=["w"])
    b, other, _ = net(value=2.0)
    with pytest.raises(ArgumentError, match=r"the shared variable 'w' in two ways.*2\.0"):
        merge((a, startup), (b, other), shared=["w"])
    scopes = fluid.Scope(), fluid.Scope()
    for scope, program in zip(scopes, (startup, other)):
        with fluid.scope_guard(scope):
            fluid.Executor().run(program)
    with pytest.raises(ArgumentError, match=r"in the second scope: 'w' \(by up to 1.5"):
        merge(a, b, scopes=scopes)
    merge(a, b, shared=["fc_0.b_0"], scopes=scopes)
    whole = a.clone()
    whole.global_block().var("w").declare(dtype="float64")
    with pytest.raises(DTypeError, match="dtype FP32 in the first program, FP64 in the second"):
        merge(a, whole)
    with pytest.raises(UnknownVariableError, match="'v'"):
        merge(a, b, shared=["v"])
    with pytest.raises(ArgumentError, match=r"computed by the second program, too, by mul"):
        merge(a, b, shared=["fc_0.tmp_0"])
    with pytest.raises(ArgumentError, match="two programs, or two pairs"):
        merge(a, (b, other))
    with pytest.raises(ArgumentError, match="expected the second to be a program"):
        merge(a, None)


def loops():
    main, startup = Program(), Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [4, 2, 3], "float32")
        rnn = layers.StaticRNN()
        with rnn.step():
            word = rnn.step_input(x)
            memory = rnn.memory(shape=[-1, 3], batch_ref=word)
            new = layers.fc([word, memory], 3, act="tanh")
            rnn.update_memory(memory, new)
            rnn.step_output(new)
        loss = layers.mean(rnn())
        fluid.optimizer.SGD(0.1).minimize(loss)
    for op in startup.global_block().ops:
        if op.has_attr("seed"):
            op.set_attr("seed", 5)
    return main, startup, loss.name


def test_loops_with_gradients_are_merged():
    a, startup, loss = loops()
    feed = {"x": np.stack([X] * 4)}
    main, start = merge((a, startup), (a, startup), shared=["x"])
    name = names_in_merge((a, startup), (a, startup), shared=["x"])[loss]
    executor = fluid.Executor()
    executor.run(start)
    found = [executor.run(main, feed, [loss, name]) for _ in range(3)]
    np.testing.assert_array_equal([one for one, _ in found], [other for _, other in found])
    assert main.num_blocks == 2 * a.num_blocks - 1
    shared = merge((a, startup), (a, startup))[0]
    assert len(shared.all_parameters()) == len(a.all_parameters())


@pytest.mark.parametrize("model", [*MODELS[::2], *OF_PADDLE2])
def test_a_model_and_a_part_of_it_feed_and_fetch_in_order(model, tmp_path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    block = program.global_block()
    inputs, targets = fed_names(block), fetched_names(block)
    middle = next(op for op in block.ops if op.type not in ("feed", "fetch")).output_arg_names[0]
    part = cut(program, inputs, [middle])
    merged = merge(program, part, shared=None)
    names = names_in_merge(program, part)
    assert fed_names(merged.global_block()) == inputs + [names[n] for n in inputs]
    assert fetched_names(merged.global_block()) == [*targets, names[middle]]
    merged.verify()
    fed = {**feeds, **{names[n]: feeds[n] for n in inputs}}
    found = executor.run(merged, feed=fed, fetch_list=[*targets], return_numpy=False)
    for mine, right in zip(found, outputs, strict=True):
        np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-4, atol=1e-5)
