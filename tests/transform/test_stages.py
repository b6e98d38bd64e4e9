"""Stages of a program compute, one after the other, what it computes."""

import numpy as np
import pytest
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import ArgumentError, FetchError, UnknownVariableError
from fluidlite.ir.analysis import fed_names, fetched_names
from fluidlite.transform import outline, run_stages, split

X = np.arange(12, dtype="float32").reshape(4, 3) / 10


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def compared(feed, fetch, at, runs=3):
    """The stages of the default program, after they computed what it computes, run by run."""
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    main.random_seed = startup.random_seed = 5
    before = str(main)
    stages = split(main, at, fetch)
    found = []
    for run in (
        lambda executor: executor.run(main, feed, fetch, return_numpy=False),
        lambda executor: run_stages(executor, stages, feed, fetch, return_numpy=False),
    ):
        with fluid.scope_guard(fluid.Scope()):
            executor = fluid.Executor()
            if startup.global_block().ops:
                executor.run(startup)
            found.append([run(executor) for _ in range(runs)])
    for whole, staged in zip(*found):
        for right, mine in zip(whole, staged, strict=True):
            np.testing.assert_allclose(np.asarray(mine), np.asarray(right), rtol=1e-5, atol=1e-6)
    assert str(main) == before
    return stages


def trained():
    x, label = fluid.data("x", [None, 3], "float32"), fluid.data("label", [None, 1], "int64")
    h = layers.dropout(layers.fc(x, 8, act="relu"), 0.3)
    scores = layers.fc(h, 3, act="softmax")
    loss = layers.mean(layers.cross_entropy(scores, label))
    fluid.optimizer.Adam(0.05).minimize(loss)
    return {"x": X, "label": np.array([[0], [1], [2], [0]])}, loss, scores


@pytest.mark.parametrize("at", [2, 3, 6, ["adam"], "mul_grad", [3, 9, 15]])
def test_a_training_in_stages_goes_the_way_of_the_whole(at):
    feed, loss, scores = trained()
    if isinstance(at, str) or at == ["adam"]:
        ops = fluid.default_main_program().global_block().ops
        kind = at if isinstance(at, str) else at[0]
        at = [next(op for op in ops if op.type == kind)]
    stages = compared(feed, [loss.name, scores.name, "fc_0.w_0"], at)
    assert len(stages) == (at if isinstance(at, int) else len(at) + 1)
    assert all(stage.program.global_block().ops for stage in stages)


def test_stages_say_what_they_are_fed_and_what_they_compute():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.relu(x)
    y = layers.elementwise_add(h, layers.exp(x))
    first, second = split(fluid.default_main_program(), "exp")
    assert [v.name for v in first.inputs] == ["x"] and [v.name for v in first.outputs] == [h.name]
    assert [v.name for v in second.inputs] == ["x", h.name]
    assert [v.name for v in second.outputs] == [y.name]
    assert str(first) == f"<program with inputs x and outputs {h.name}>"


def test_a_name_that_is_written_again_passes_with_the_value_that_it_has():
    program = Program.parse("""
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  y: float32[-1, 3]
    x = relu(X=x)
    y = exp(X=x)
    y = scale(X=y, scale=2.0)
    x = elementwise_add(X=x, Y=y)
    y = elementwise_add(X=x, Y=y)
  }
}""")
    (whole,) = fluid.Executor().run(program, {"x": X}, ["y"])
    for at in range(1, 5):
        stages = split(program, at=[at])
        (found,) = run_stages(fluid.Executor(), stages, {"x": X}, ["y"])
        np.testing.assert_array_equal(found, whole)
    stages = split(program, [1, 2, 3, 4])
    np.testing.assert_array_equal(run_stages(fluid.Executor(), stages, {"x": X}, ["y"])[0], whole)


def test_a_name_that_is_written_again_in_another_shape_passes_under_another_name():
    program = Program.parse("""
program (seed=0) {
  block 0 {
    data x: float32[4, 3]
    var  y: float32[12]
    y = relu(X=x)
    y = reshape(X=y, shape=[12])
    y = scale(X=y, scale=2.0)
  }
}""")
    stages = split(program, [1, 2])
    assert [v.name for v in stages[0].outputs] == ["y@VALUE_1"]
    assert stages[1].inputs[0].shape == (4, 3)
    (found,) = run_stages(fluid.Executor(), stages, {"x": X}, ["y"])
    np.testing.assert_array_equal(found, 2 * X.ravel())


def test_sparse_gradients_pass_through_the_scope():
    ids = fluid.data("ids", [None, 1], "int64")
    rows = layers.embedding(ids, [5, 4], is_sparse=True)
    loss = layers.mean(layers.fc(rows, 2))
    fluid.optimizer.SGD(0.1).minimize(loss)
    ops = fluid.default_main_program().global_block().ops
    first_step = next(op for op in ops if op.type == "sgd")
    stages = compared(
        {"ids": np.array([[1], [3], [1]])}, [loss.name, "embedding_0.w_0"], first_step
    )
    assert not any("embedding" in v.name for v in stages[1].inputs)


def test_sequences_pass_with_their_lengths():
    x = fluid.data("x", [None, 3], "float32", lod_level=1)
    pooled = layers.sequence_pool(layers.fc(x, 4, act="tanh"), "max")
    loss = layers.mean(layers.fc(pooled, 2))
    fluid.optimizer.SGD(0.1).minimize(loss)
    feed = {"x": fluid.create_lod_tensor(X, [[1, 3]], fluid.CPUPlace())}
    compared(feed, [loss.name], 5)
    assert split(fluid.default_main_program(), "sequence_pool")[0].outputs[0].lod_level == 1


def looping():
    x = fluid.data("x", [None, 3], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.fc(x, 3)
    running = layers.less_than(i, n)
    with layers.While(running).block():
        layers.assign(layers.tanh(total), total)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=running)
    loss = layers.mean(layers.square(total))
    fluid.optimizer.SGD(0.1).minimize(loss)
    return loss


def test_a_loop_and_its_gradient_stay_in_one_stage():
    loss = looping()
    program = fluid.default_main_program()
    with pytest.raises(ArgumentError, match=r"while .* makes as STEP_SCOPES, .* while_grad"):
        split(program, "mean")
    stages = compared({"x": X}, [loss.name, "fc_0.w_0"], 3)
    whole = [s for s in stages if any(op.type == "while" for op in s.program.global_block().ops)]
    assert any(op.type == "while_grad" for op in whole[0].program.global_block().ops)


def test_a_branch_and_what_chooses_its_result_stay_in_one_stage():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.scale(x, 2.0)
    positive = layers.less_than(layers.fill_constant([1], "float32", 0.0), layers.reduce_sum(h))
    y = layers.cond(positive, lambda: layers.square(h), lambda: layers.scale(h, 0.5))
    y = layers.exp(y)
    program = fluid.default_main_program()
    with pytest.raises(ArgumentError, match=r"which conditional_block .* may not compute, is read"):
        split(program, "select_input")
    for sign in (1, -1):
        assert len(compared({"x": sign * X}, [y.name], 3)) == 3


def test_a_block_that_always_runs_passes_what_it_computes():
    x = fluid.data("x", [None, 3], "float32")
    y = layers.exp(layers.scale(layers.scale(x, 2.0), 0.5))
    program = outline(fluid.default_main_program(), [0, 1])
    stages = split(program, "exp")
    found = run_stages(fluid.Executor(), stages, {"x": X}, [y])
    np.testing.assert_allclose(found[0], np.exp(X), rtol=1e-6)


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_a_saved_model_in_stages_computes_what_it_did(model, tmp_path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    targets = fetched_names(program.global_block())
    for count in (1, 2, 3):
        stages = split(program, count)
        for stage in stages:
            block = stage.program.global_block()
            assert fed_names(block) == [v.name for v in stage.inputs]
            assert fetched_names(block) == [v.name for v in stage.outputs]
        found = run_stages(executor, stages, feeds, targets, return_numpy=False)
        for mine, right in zip(found, outputs, strict=True):
            np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-4, atol=1e-5)


def test_work_is_about_the_same_in_each_stage():
    x = fluid.data("x", [None, 64], "float32")
    for _ in range(8):
        x = layers.fc(x, 64, act="relu")
    stages = split(fluid.default_main_program(), 4)
    assert [len(stage.program.global_block().ops) for stage in stages] == [6, 6, 6, 6]


def test_places_and_outputs_that_are_not_there_are_named():
    feed, *_ = trained()
    program = fluid.default_main_program()
    with pytest.raises(ArgumentError, match=r"the first stage would be empty: mul \(operator 0"):
        split(program, [0])
    with pytest.raises(ArgumentError, match=r"expected between 1 and \d+ stages"):
        split(program, 1000)
    with pytest.raises(ArgumentError, match="expected between 1"):
        split(program, 0)
    with pytest.raises(UnknownVariableError, match="'zz'"):
        split(program, 2, ["zz"])
    with pytest.raises(ArgumentError, match="no operators to split"):
        split(Program(), 2)
    fluid.Executor().run(fluid.default_startup_program())
    stages = split(program, 2)
    hidden = program.global_block().ops[0].output("Out")[0]
    with pytest.raises(FetchError, match=f"computes '{hidden}' for others"):
        run_stages(fluid.Executor(), stages, feed, [hidden])


def test_one_variable_is_fetched_from_stages_without_a_list():
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.scale(fluid.layers.relu(x), 2.0)
    stages = fluid.transform.split(fluid.default_main_program(), "scale")
    feed = {"x": np.array([[-1, 3]], "float32")}
    for fetched in (y, y.name, [y]):
        (value,) = fluid.transform.run_stages(fluid.Executor(), stages, feed, fetched)
        assert value.tolist() == [[0.0, 6.0]]


@pytest.mark.parametrize("at", ["reduce_mean", "dropout_grad", "batch_norm_grad"])
def test_outputs_that_get_no_value_do_not_pass_between_stages(at):
    x = fluid.data("x", [4, 3], "float32")
    dropped = layers.dropout(layers.fc(x, 3), 0.5, is_test=True)
    block, program = x.block, fluid.default_main_program()
    y = layers.batch_norm(dropped)
    space = block.create_var(name="space", dtype="float32")
    block.ops[-1].set_output("ReserveSpace", space.name)
    loss = layers.reduce_mean(y * y * dropped)
    gradients = [gradient.name for _, gradient in fluid.backward.append_backward(loss)]
    assert {"Mask", "ReserveSpace"} <= {slot for op in block.ops for slot in op.input_names}
    (at,) = [op for op in program.global_block().ops if op.type == at]
    first, second = compared({"x": X}, [loss.name, *gradients], [at])
    assert space.name not in [v.name for v in (*first.outputs, *second.inputs)]
