"""Renamed variables mean what they meant, wherever they are named."""

import numpy as np
import pytest
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import (
    ArgumentError,
    DuplicateVariableError,
    NameTakenError,
    UnknownVariableError,
)
from fluidlite.ir.compare import differences
from fluidlite.transform import rename, renamed_states

X = np.arange(12, dtype="float32").reshape(4, 3) / 10


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def names_in(program):
    return {name for block in program.blocks for name in block.vars}


def base(name):
    """A new name of what is called after nothing else."""
    return None if "@GRAD" in name or "@SAVED" in name else f"new.{name}"


def back(name):
    return name.removeprefix("new.") if "@GRAD" not in name and "@SAVED" not in name else None


def recurrent():
    """A recurrent network with gradients and an optimizer."""
    x = fluid.data("x", [4, 2, 3], "float32")
    rnn = layers.StaticRNN()
    with rnn.step():
        word = rnn.step_input(x)
        memory = rnn.memory(shape=[-1, 3], batch_ref=word)
        new = layers.fc([word, memory], 3, act="tanh")
        rnn.update_memory(memory, new)
        rnn.step_output(new)
    loss = layers.mean(rnn())
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return loss.name


def looping():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.fc(x, 3)
    running = layers.less_than(i, n)
    with layers.While(running).block():
        layers.assign(layers.tanh(layers.elementwise_mul(total, x)), total)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=running)
    loss = layers.mean(total)
    fluid.optimizer.SGD(0.1).minimize(loss)
    return loss.name


def branching():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.fc(x, 3)
    positive = layers.less_than(layers.fill_constant([1], "float32", 0.0), layers.reduce_sum(h))
    y = layers.cond(positive, lambda: layers.square(h), lambda: layers.scale(h, 0.5))
    loss = layers.mean(y)
    fluid.optimizer.Adam(0.1).minimize(loss)
    return loss.name


def losses(main, startup, feed, loss):
    main.random_seed = startup.random_seed = 7
    for op in startup.global_block().ops:  # random numbers go by names; here they are to be equal
        if op.has_attr("seed"):
            op.set_attr("seed", 5)
    with fluid.scope_guard(fluid.Scope()):
        executor = fluid.Executor()
        executor.run(startup)
        runs = [executor.run(main, feed=feed, fetch_list=[loss]) for _ in range(3)]
    return np.ravel(runs)


@pytest.mark.parametrize("build", [recurrent, looping, branching])
def test_a_renamed_training_goes_on_as_before_and_back_again(build):
    loss = build()
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    x = np.stack([X[:2]] * 4) if build is recurrent else X
    renamed, renamed_startup = rename(main, base), rename(startup, base)
    assert all(name.startswith("new.") for name in names_in(renamed))
    roles = [name for op in renamed.global_block().ops for name in op.role_vars]
    assert roles and all(name.startswith("new.") for name in roles)
    expected = losses(main, startup, {"x": x}, loss)
    found = losses(renamed, renamed_startup, {"new.x": x}, "new." + loss)
    np.testing.assert_array_equal(found, expected)
    assert found[0] != found[2]
    assert not differences(main, rename(renamed, back))


def test_gradients_and_what_stays_between_runs_follow():
    branching()
    program = fluid.default_main_program()
    renamed = rename(program, {"fc_0.w_0": "weight"})
    known = names_in(renamed)
    assert {"weight", "weight@GRAD", "fc_0.w_0_moment1_0"} <= known
    assert not any(name.startswith("fc_0.w_0@") for name in known)
    op = next(op for op in renamed.global_block().ops if op.reads("weight") and op.type == "adam")
    assert op.role_vars == ("weight", "weight@GRAD")
    assert renamed_states(program, {"fc_0.w_0": "weight"}) == {"fc_0.w_0": "weight"}


def test_gradients_of_gradients_follow():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    slope = fluid.gradients([layers.reduce_sum(layers.fc(x, 3, act="tanh"))], [x])[0]
    fluid.optimizer.SGD(0.1).minimize(layers.reduce_sum(layers.square(slope)))
    program = fluid.default_main_program()
    renamed = rename(program, base)
    again = [name for name in names_in(renamed) if name.startswith("grad/")]
    assert again and all("/new." in name for name in again)
    assert all("new." in name for name in names_in(renamed))
    assert not differences(program, rename(renamed, back))


SHADOWED = """
program (seed=0) {
  block 0 {
    data x: float32[2]
    var  c: bool[1]
    var  y: float32[2]
    var  s: step_scopes

    c = fill_constant(shape=[1], dtype=bool, value=1.0)
    y = relu(X=x)
    {Out=[y], Scope=s} = conditional_block(Cond=[c], Input=[y], sub_block=block 1,
        is_scalar_condition=true)
    y = relu(X=y)
  }
  block 1 in 0 {
    var x: float32[2]
    x = exp(X=y)
    y = scale(X=x)
  }
}
"""


def test_a_variable_of_a_block_that_has_the_same_name_keeps_it():
    program = Program.parse(SHADOWED)
    renamed = rename(program, {"x": "image"})
    assert renamed.global_block().ops[1].input("X") == ["image"]
    assert renamed.block(1).ops[0].output("Out") == ["x"] == renamed.block(1).ops[1].input("X")
    inner = rename(program, {program.block(1).var("x"): "z"})
    assert inner.block(1).ops[1].input("X") == ["z"] and inner.global_block().has_var("x")
    y = rename(program, {"y": "out"})
    assert y.global_block().ops[2].output("Out") == ["out"] == y.block(1).ops[1].output("Out")


def test_new_names_that_are_there_are_refused_before_anything_changes():
    program = Program.parse(SHADOWED)
    before = str(program)
    with pytest.raises(DuplicateVariableError, match="'x' to 'y': block 0 has a variable 'y'"):
        rename(program, {"x": "y"})
    with pytest.raises(DuplicateVariableError, match="'y'"):
        rename(program, {"x": "z", "y": "z"})
    with pytest.raises(NameTakenError, match=r"'x' would mean another variable to .*block 1"):
        rename(rename(program, {"x": "w"}), {"y": "x"})
    with pytest.raises(UnknownVariableError, match="no variable 'xx'.*did you mean 'x'"):
        rename(program, {"xx": "z"})
    for wrong in ("", 3, "@EMPTY@"):
        with pytest.raises(ArgumentError, match="expected a new name of 'x'"):
            rename(program, {"x": wrong})
    with pytest.raises(ArgumentError, match="dictionary of new names"):
        rename(program, "x")
    assert str(program) == before
    swapped = rename(program, {"x": "y", "y": "x", program.block(1).var("x"): "t"})
    assert swapped.global_block().ops[1].input("X") == ["y"]


def test_a_gradient_that_a_loop_finds_by_its_variable_is_not_renamed_alone():
    recurrent()
    program = fluid.default_main_program()
    inner = next(block for block in program.blocks if block.forward_block_idx >= 0)
    gradient = next(op for op in program.global_block().ops if op.type == "recurrent_grad")
    bound = [n for n in gradient.instance().kept_names(gradient.inputs) if inner.has_var(n)]
    with pytest.raises(NameTakenError, match="finds .* by the name of the variable"):
        rename(program, {inner.var(bound[0]): "slope"})
    outer = rename(program, {"mean_0.tmp_0@GRAD": "slope"})
    assert outer.global_block().has_var("slope")


@pytest.mark.parametrize("model", [*MODELS[::2], *OF_PADDLE2])
def test_a_renamed_model_computes_what_it_did(model, tmp_path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    holders = ("feed", "fetch")

    def new(name):
        return None if name in holders else f"m/{name}"

    renamed = rename(program, new)
    scope = fluid.global_scope()
    for old, name in renamed_states(program, new).items():
        scope.var(name).get_tensor().set(np.array(scope.find_var(old).get_tensor()))
    renamed = Program.parse_from_string(renamed.to_bytes())
    wanted = [n for op in renamed.global_block().ops if op.type == "fetch" for n in op.input("X")]
    fed = {f"m/{name}": value for name, value in feeds.items()}
    found = executor.run(renamed, feed=fed, fetch_list=wanted, return_numpy=False)
    for mine, right in zip(found, outputs, strict=True):
        np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-4, atol=1e-5)


def test_operators_that_nobody_defined_are_renamed_too():
    text = """program (seed=0) {
  block 0 {
    var x: float32[2]
    var y: float32[2]
    {Out=y} = magic(X=x, mode="x")
  }
}"""
    op = rename(Program.parse(text), {"x": "z"}).global_block().ops[0]
    assert op.inputs == {"X": ("z",)} and op.attr("mode") == "x"
