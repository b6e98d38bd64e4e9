"""Operators become a block and a block becomes operators; programs are put into programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import ArgumentError, DuplicateVariableError, ShapeError, UnknownVariableError
from fluidlite.ir.compare import differences
from fluidlite.transform import inline, outline

X = np.arange(6, dtype="float32").reshape(2, 3) / 5


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def types(program, block=0):
    return [op.type for op in program.block(block).ops]


def net():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.batch_norm(layers.fc(x, 4, act="relu"))
    return layers.mean(layers.fc(h, 2, act="tanh"))


def trained(program, startup, loss):
    """The losses of a few steps of a copy."""
    main, start = program.clone(), startup.clone()
    start.random_seed = 3
    with fluid.program_guard(main, start), fluid.unique_name.guard("adam"):
        fluid.optimizer.Adam(0.1).minimize(main.global_block().var(loss))
    return losses(main, start, loss)


def losses(main, startup, loss):
    startup.random_seed = 3
    with fluid.scope_guard(fluid.Scope()):
        executor = fluid.Executor()
        executor.run(startup)
        return [executor.run(main, {"x": X}, [loss])[0].item() for _ in range(4)]


def unordered(program, other):
    return [line for line in differences(program, other) if "another order" not in line]


def test_an_outlined_block_runs_and_has_gradients():
    loss = net()
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    before = str(main)
    outlined = outline(main, [1, 2, 3])
    assert types(outlined, 1) == ["elementwise_add", "relu", "batch_norm"]
    assert [p.name for p in outlined.all_parameters()] == [p.name for p in main.all_parameters()]
    expected = trained(main, startup, loss.name)
    np.testing.assert_allclose(trained(outlined, startup, loss.name), expected, rtol=1e-6)
    assert expected[0] != expected[3] and str(main) == before
    again = Program.parse(str(outlined))
    np.testing.assert_allclose(trained(again, startup, loss.name), expected, rtol=1e-6)


def test_inline_takes_an_outlined_block_back():
    net()
    main = fluid.default_main_program()
    assert not unordered(main, inline(outline(main, [1, 2, 3]), "conditional_block"))
    twice = outline(outline(main, [0, 1]), ["conditional_block", 2])
    assert [twice.block(k).parent_idx for k in (1, 2)] == [0, 1]
    place = next(i for i, op in enumerate(twice.block(0).ops) if op.type == "conditional_block")
    once = inline(twice, place)
    assert not unordered(main, inline(once, "conditional_block"))


def test_steps_and_gradients_of_a_training_are_outlined_too():
    loss = net()
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    expected = losses(main, startup, loss.name)
    steps = outline(main, "momentum")
    assert set(types(steps, 1)) == {"momentum"}
    assert losses(steps, startup, loss.name) == expected
    forward = outline(main, [0, 1, 2])
    assert losses(forward, startup, loss.name) == expected
    backward = outline(main, lambda op: op.type.endswith("_grad"))
    assert losses(backward, startup, loss.name) == expected


def test_operators_between_go_in_front_or_behind():
    program = Program.parse("""
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  a: float32[-1, 3]
    var  b: float32[-1, 3]
    var  c: float32[-1, 3]
    var  d: float32[-1, 3]

    a = exp(X=x)
    b = relu(X=x)
    c = tanh(X=a)
    d = elementwise_add(X=a, Y=b)
  }
}""")
    outlined = outline(program, ["exp", "elementwise_add"])
    assert types(outlined) == ["relu", "fill_constant", "conditional_block", "tanh"]
    with pytest.raises(ArgumentError, match=r"tanh \(operator 2 .* is needed by elementwise_add"):
        outline(program_with_use_of_c(program), ["exp", "elementwise_add"])


def program_with_use_of_c(program):
    changed = program.clone()
    changed.global_block().ops[3].rename_input("b", "c")
    return changed


def test_what_cannot_be_outlined_is_named():
    x = fluid.data("x", [None, 3], "float32")
    yes = layers.fill_constant([1], "bool", True)
    layers.cond(yes, lambda: layers.square(x), lambda: layers.scale(x, 3.0))
    program = fluid.default_main_program()
    with pytest.raises(ArgumentError, match="operators of one block"):
        outline(program, ["fill_constant", "square"])
    with pytest.raises(ArgumentError, match="conditional_block to inline"):
        inline(program, "square")
    with pytest.raises(ArgumentError, match="a program to inline, or the operator alone"):
        inline(program, None)


def test_a_block_that_may_not_run_is_not_inlined():
    x = fluid.data("x", [None, 3], "float32")
    truth = fluid.data("truth", [1], "bool")
    y = layers.cond(truth, lambda: layers.square(x), lambda: layers.scale(x, 3.0))
    program = fluid.default_main_program()
    first = next(i for i, op in enumerate(program.block(0).ops) if op.type == "conditional_block")
    with pytest.raises(ArgumentError, match="runs its block where 'truth' holds"):
        inline(program, first)
    assert y is not None


def callee():
    """A program of a layer, whose parameter is called w."""
    main = Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, Program()):
        x = fluid.data("x", [None, 3], "float32")
        y = layers.fc(x, 3, param_attr="w", bias_attr=False, act="tanh")
    return main, y.name


def test_a_program_is_put_into_another_one():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.fc(x, 3, param_attr="w", bias_attr=False)
    y = layers.relu(h)
    main, out = fluid.default_main_program(), "z"
    layer, result = callee()
    changed = inline(main, "relu", layer, {"x": h}, {result: out})
    assert types(changed) == ["mul", "mul", "tanh", "relu"]
    assert [p.name for p in changed.all_parameters()] == ["w"]
    fluid.Executor().run(fluid.default_startup_program())
    w = np.array(fluid.global_scope().find_var("w").get_tensor())
    found = fluid.Executor().run(changed, {"x": X}, [out, y.name])
    np.testing.assert_allclose(found[0], np.tanh(X @ w @ w), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], np.maximum(X @ w, 0), rtol=1e-5, atol=1e-6)
    twice = inline(changed, None, layer, {"x": out}, {result: "zz"})
    assert types(twice)[-2:] == ["mul", "tanh"] and len(twice.all_parameters()) == 1


def test_a_program_is_put_into_a_block():
    x = fluid.data("x", [None, 3], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 2)
    total = layers.scale(x, 1.0)
    running = layers.less_than(i, n)
    with layers.While(running).block():
        layers.assign(layers.scale(total, 2.0), total)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=running)
    main = fluid.default_main_program()
    layer, result = callee()
    changed = inline(main, (1, 0), layer, {"x": total}, {result: "z"})
    assert types(changed, 1)[:3] == ["mul", "tanh", "scale"]
    assert "z" in changed.block(1).vars and "w" in changed.block(0).vars
    changed.block(1).ops[2].rename_input(total.name, "z")
    fluid.global_scope().var("w").get_tensor().set(np.eye(3, dtype="float32"))
    (found,) = fluid.Executor().run(changed, {"x": X}, [total.name])
    np.testing.assert_allclose(found, 2 * np.tanh(2 * np.tanh(X)), rtol=1e-6)


def test_inputs_and_outputs_of_what_is_put_in_are_checked():
    x = fluid.data("x", [None, 3], "float32")
    h = layers.reduce_sum(x)
    main = fluid.default_main_program()
    layer, result = callee()
    with pytest.raises(ArgumentError, match=r"'x', read by mul \(operator 0"):
        inline(main, None, layer)
    with pytest.raises(ShapeError, match=r"expected the shape \[-1, 3\], got \[1\]"):
        inline(main, None, layer, {"x": h})
    with pytest.raises(UnknownVariableError, match="callee has no variable 'xx'"):
        inline(main, None, layer, {"xx": x})
    with pytest.raises(UnknownVariableError, match="sees no variable 'q'"):
        inline(main, None, layer, {"x": "q"})
    with pytest.raises(DuplicateVariableError, match=h.name):
        inline(main, None, layer, {"x": x}, {result: h.name})
    with pytest.raises(ArgumentError, match=f"computes its input '{result}'"):
        inline(main, None, layer, {result: x})


def test_what_is_put_into_a_program_is_a_program():
    with pytest.raises(ArgumentError, match="expected callee to be a program, got 'c'"):
        inline(Program(), None, "c")
