"""Parts of programs compute what the whole computes, and say what they lack."""

import numpy as np
import pytest
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import Program, layers, transform
from fluidlite.errors import ArgumentError, FluidError, UnknownVariableError
from fluidlite.ir.analysis import fed_names, fetched_names
from fluidlite.transform import ValueAt, cut, extract


def written(*lines):
    """A program of some operators on x, which is fed, and y and z."""
    declared = ["data x: float32[-1, 3]", "var y: float32[-1, 3]", "var z: float32[-1, 3]"]
    body = "\n    ".join([*declared, *lines])
    return Program.parse(f"program (seed=0) {{\n  block 0 {{\n    {body}\n  }}\n}}")


REBOUND = (
    *("x = relu(X=x)", "y = exp(X=x)", "y = relu(X=y)", "y = tanh(X=y)"),
    "z = elementwise_add(X=x, Y=y)",
)
X = np.array([[0.5, -1.0, 2.0]], "float32")


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def types(program):
    return [op.type for op in program.global_block().ops]


def data(program):
    return [v.name for v in program.list_vars() if v.is_data]


def ran(program, feed, *fetch):
    return fluid.Executor().run(program, feed=feed, fetch_list=list(fetch))


def trained():
    x, label = fluid.data("x", [None, 4], "float32"), fluid.data("label", [None, 1], "float32")
    h = layers.fc(x, 3, act="relu")
    y = layers.fc(h, 1)
    loss = layers.mean(layers.square_error_cost(y, label))
    fluid.optimizer.Adam(0.1).minimize(loss)
    return x, label, h, y, loss


def test_what_is_behind_a_variable_and_in_front_of_another_one_is_cut_out():
    *_, h, y, _ = trained()
    program = fluid.default_main_program()
    before = str(program)
    part = cut(program, [h], [y])
    assert types(part) == ["mul", "elementwise_add"] and data(part) == [h.name]
    assert [p.name for p in part.all_parameters()] == ["fc_1.w_0", "fc_1.b_0"]
    assert str(program) == before


def test_an_input_that_is_left_out_is_named_with_who_reads_it():
    *_, h, _, loss = trained()
    with pytest.raises(ArgumentError, match=r"'label', read by elementwise_sub \(operator 5 of"):
        cut(fluid.default_main_program(), [h], [loss])
    with pytest.raises(ArgumentError) as error:
        cut(fluid.default_main_program(), [], [loss])
    assert "2 variables" in str(error.value) and "test_cutting.py" in str(error.value)
    with pytest.raises(ArgumentError, match="'x', read by the outputs"):
        cut(fluid.default_main_program(), [], ["x"])


def test_gradients_are_cut_out_with_the_operators_that_they_need():
    x, label, h, y, _ = trained()
    program = fluid.default_main_program()
    part = cut(program, [x, label], ["fc_0.w_0@GRAD"])
    assert not any("adam" in kind for kind in types(part))
    fluid.Executor().run(fluid.default_startup_program())
    feed = {"x": np.eye(4, dtype="float32"), "label": np.ones((4, 1), "float32")}
    found = ran(part, feed, "fc_0.w_0@GRAD")
    np.testing.assert_array_equal(found, ran(program, feed, "fc_0.w_0@GRAD"))
    weights = cut(program, ["fc_1.w_0", h], [y])
    assert data(weights) == [h.name, "fc_1.w_0"]
    assert not weights.global_block().var("fc_1.w_0").persistable


@pytest.mark.parametrize(
    "inputs, outputs, kept, fed",
    [
        (["x"], ["z"], ["relu", "exp", "relu", "tanh", "elementwise_add"], ["x"]),
        (["x", "y"], ["z"], ["relu", "elementwise_add"], ["x", "y"]),
        (["x", ValueAt("y", after=1)], ["z"], ["relu", "relu", "tanh", "elementwise_add"], None),
        ([ValueAt("x", before="exp")], ["y"], ["exp", "relu", "tanh"], ["x"]),
        ([ValueAt("y", before=3)], ["y"], ["tanh"], ["y"]),
        (["x"], [ValueAt("y", after="exp"), "y"], ["relu", "exp", "assign", "relu", "tanh"], ["x"]),
        (["x"], [ValueAt("x", before=0), ValueAt("x", after=0)], ["assign", "relu"], ["x"]),
    ],
)
def test_a_name_that_holds_several_values_means_the_first_that_is_fed_and_the_last(
    inputs, outputs, kept, fed
):
    part = cut(written(*REBOUND), inputs, outputs)
    assert types(part) == kept
    assert fed is None or data(part) == fed


def test_a_value_between_two_that_a_name_holds_is_fed_under_a_name_of_its_own():
    program = written(
        *("y = exp(X=x)", "x = scale(X=y)", "y = relu(X=y)"),
        *("z = sin(X=y)", "y = elementwise_add(X=z, Y=y)", "z = elementwise_add(X=y, Y=y)"),
    )
    middle = ValueAt("y", after="relu")
    (whole,) = ran(program, {"x": X}, "z")
    (found,) = ran(cut(program, ["x"], [middle]), {"x": X}, "y")
    np.testing.assert_array_equal(ran(cut(program, [middle], ["z"]), {"y": found}, "z")[0], whole)
    both = cut(program, ["x", middle], ["z", "x"])
    assert data(both) == ["x", "y@VALUE_2"]
    other = np.ones_like(X)
    z, x = ran(both, {"x": X, "y@VALUE_2": other}, "z", "x")
    np.testing.assert_array_equal(x, np.exp(X))
    np.testing.assert_allclose(z, 2 * (np.sin(other) + other), rtol=1e-6)


def test_a_value_of_another_shape_than_the_last_one_is_fed_in_its_own():
    text = """program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  w: float32[-1, 3]
    var  y: float32[-1]
    y = relu(X=x)
    w = elementwise_add(X=x, Y=y)
    y = reduce_sum(X=w, dim=[1])
    y = scale(X=y, scale=2.0)
  }
}"""
    program = Program.parse(text)
    (whole,) = ran(program, {"x": X}, "y")
    middle = ValueAt("y", after=0)
    (found,) = ran(cut(program, ["x"], [middle]), {"x": X}, "y")
    assert found.shape == X.shape
    part = cut(program, ["x", middle], ["y"])
    assert part.global_block().var("y").shape == (-1,)
    (again,) = ran(part, {"x": X, "y@VALUE_1": found}, "y")
    np.testing.assert_array_equal(again, whole)


def test_an_input_that_means_several_values_is_refused_with_both():
    lines = ["y = exp(X=x)", "y = relu(X=y)", "z = sin(X=y)", "y = tanh(X=z)", "y = abs(X=y)"]
    assert types(cut(written(*lines), ["y"], ["z"])) == ["sin"]
    program = written(*lines, "z = elementwise_add(X=z, Y=y)")
    assert types(cut(program, ["z"], ["y"])) == ["tanh", "abs"]
    with pytest.raises(ArgumentError, match=r"(?s)holds 2 .*relu.*sin.*abs.*elementwise"):
        cut(written(*lines, "y = abs(X=y)", "z = elementwise_add(X=z, Y=y)"), ["y"], ["z"])


def loop():
    """A sum of squares, by a loop, and a network behind it."""
    x = fluid.data("x", [None, 3], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.fill_constant_batch_size_like(x, [-1, 3], "float32", 0.0)
    running = layers.less_than(i, n)
    with layers.While(running).block():
        layers.assign(layers.elementwise_add(total, layers.square(x)), total)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=running)
    return x, total, layers.scale(total, 0.5)


def test_a_loop_is_one_operator_of_a_part():
    x, total, out = loop()
    program = fluid.default_main_program()
    (middle,) = ran(cut(program, [x], [total]), {"x": X}, total.name)
    np.testing.assert_allclose(middle, 3 * X * X, rtol=1e-6)
    behind = cut(program, [total], [out])
    assert types(behind) == ["scale"] and behind.num_blocks == 1
    np.testing.assert_allclose(ran(behind, {total.name: middle}, out.name)[0], middle / 2)


def test_a_part_of_a_block_is_one_pass_of_it():
    x, total, out = loop()
    program = fluid.default_main_program()
    square = next(op for op in program.block(1).ops if op.type == "square")
    part = cut(program, [x], [program.block(1).var(square.output("Out")[0])])
    assert types(part) == ["square"]
    one_pass = cut(program, [x, total], [ValueAt(total, after=(1, 2))])
    first = np.ones_like(X)
    (found,) = ran(one_pass, {"x": X, total.name: first}, total.name)
    np.testing.assert_allclose(found, 1 + X * X, rtol=1e-6)
    with pytest.raises(ArgumentError, match=r"read by elementwise_add \(operator 1 of block 1"):
        cut(program, [x], [ValueAt(total, after=(1, 2))])
    with pytest.raises(ArgumentError, match="outputs of one block"):
        cut(program, [x], [ValueAt(total, after=(1, 2)), out])


def test_half_a_loop_with_gradients_is_refused():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.scale(x, 2.0)
    running = layers.less_than(i, n)
    with layers.While(running).block():
        layers.assign(layers.square(total), total)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=running)
    loss = layers.mean(total)
    fluid.backward.append_backward(loss)
    program = fluid.default_main_program()
    whole = cut(program, [x], ["x@GRAD"])
    feed = {"x": X}
    np.testing.assert_array_equal(ran(whole, feed, "x@GRAD"), ran(program, feed, "x@GRAD"))
    scopes = next(op for op in program.global_block().ops if op.type == "while")
    steps = scopes.output("StepScopes")[0]
    with pytest.raises(ArgumentError, match=r"holds a STEP_SCOPES; it is read by while_grad"):
        cut(program, [x, steps], ["x@GRAD"])


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_a_saved_model_that_is_cut_in_two_computes_what_it_did(model, tmp_path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    block = program.global_block()
    inputs, targets = fed_names(block), fetched_names(block)
    halves = 0
    for name in dict.fromkeys(n for op in block.ops for n in op.output_arg_names):
        if name in inputs or not block.has_var(name) or block.var(name).persistable:
            continue
        try:
            second = cut(program, [name], targets)
        except ArgumentError:
            continue  # the targets need more than that
        first = cut(program, inputs, [name])
        assert fetched_names(first.global_block()) == [name] == fed_names(second.global_block())
        (middle,) = executor.run(first, feed=feeds, fetch_list=[name], return_numpy=False)
        found = executor.run(second, feed={name: middle}, fetch_list=targets, return_numpy=False)
        for mine, right in zip(found, outputs, strict=True):
            np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-4, atol=1e-5)
        halves += 1
    assert halves


def test_marks_of_operators_that_came_from_a_file_stay():
    text = 'program (seed=0) {\n block 0 {\n data x: float32[1]\n save(X=x, file_path="y")\n }\n}'
    program = Program.parse(text)
    assert extract(program, "save").global_block().ops[0].foreign
    assert program.global_block().ops[0].foreign


def test_chosen_operators_are_extracted_and_what_they_read_is_fed():
    trained()
    part = extract(fluid.default_main_program(), ["relu", 3])
    assert types(part) == ["relu", "mul"] and data(part) == ["fc_0.tmp_1"]
    by_name = extract(fluid.default_main_program(), "fc_0.tmp_2")
    assert types(by_name) == ["relu"]
    steps = extract(fluid.default_main_program(), lambda op: op.type == "adam")
    assert set(data(steps)) == {
        p + "@GRAD" for p in ("fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0")
    }


def test_extracted_operators_read_the_values_that_they_read():
    program = written(*REBOUND)
    part = extract(program, [1, 3])  # y = exp(x), y = tanh(y) of what relu made
    assert data(part) == ["x", "y@VALUE_2"] and types(part) == ["exp", "assign", "tanh"]
    (found,) = ran(part, {"x": X, "y@VALUE_2": X}, "y")
    np.testing.assert_allclose(found, np.tanh(X), rtol=1e-6)


def test_what_is_not_there_is_named():
    program = written(*REBOUND)
    with pytest.raises(UnknownVariableError, match="no variable 'zz'"):
        cut(program, ["x"], ["zz"])
    with pytest.raises(UnknownVariableError, match="sees no variable 'xx'"):
        cut(program, ["xx"], ["z"])
    with pytest.raises(ArgumentError, match="no operator of the type 'rely'.*did you mean 'relu'"):
        extract(program, "rely")
    with pytest.raises(ArgumentError, match="no operator 9 in block 0"):
        extract(program, 9)
    with pytest.raises(ArgumentError, match="expected outputs"):
        cut(program, ["x"], [])
    with pytest.raises(ArgumentError, match="after= or before="):
        cut(program, [ValueAt("x")], ["z"])
    for wrong in (3, [None], [3.5]):
        with pytest.raises(FluidError, match="expected"):
            cut(program, wrong, ["z"])
    with pytest.raises(ArgumentError, match="one operator, 'relu' means 2"):
        cut(program, [ValueAt("y", after="relu")], ["z"])
    assert transform.cut is cut
