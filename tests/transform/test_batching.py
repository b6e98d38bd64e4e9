"""Programs for batches compute for each example what the program for one computes."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import (
    ArgumentError,
    AxisError,
    LoDError,
    UnknownVariableError,
    UnsupportedError,
)
from fluidlite.ir.builder import Builder
from fluidlite.transform import batching_ways, vmap

RANDOM = np.random.default_rng(0)


def run(program, feed, fetched, executor=None):
    return (executor or fluid.Executor()).run(program, feed, list(fetched))


def vmap_quietly(*given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vmap(*given)


def perceptron(rows):
    """A loss of a small net, and the gradients of its parameters."""
    x = fluid.data("x", [rows, 3], "float64")
    y = fluid.data("y", [rows, 1], "float64")
    hidden = layers.fc(x, 5, act="tanh")
    loss = layers.mean(layers.square(layers.fc(hidden, 1) - y))
    return loss, [gradient for _, gradient in fluid.append_backward(loss)]


@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("rows", [2, -1])
def test_gradients_of_examples_are_not_added_up(rows, size):
    loss, gradients = perceptron(rows)
    main, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    made = vmap(main, ["x", "y"], [loss, *gradients], size)
    assert [op.type for op in made.program.global_block().ops].count("recurrent") == 0
    feed = {"x": RANDOM.normal(size=[4, 2, 3]), "y": RANDOM.normal(size=[4, 2, 1])}
    found = run(made.program, feed, made.outputs, exe)
    for k in range(4):
        one = {name: value[k] for name, value in feed.items()}
        expected = run(main, one, [loss, *gradients], exe)
        for got, each in zip(found, expected, strict=True):
            np.testing.assert_allclose(got[k], each, rtol=1e-12)


def test_what_examples_share_is_computed_once_and_the_program_stays():
    x, w = fluid.data("x", [3], "float64"), fluid.data("w", [3], "float64")
    scaled = layers.scale(w, 2.0)
    y = layers.elementwise_add(x, scaled)
    main = fluid.default_main_program()
    before = str(main)
    made = vmap(main, [x], [y, scaled])
    block = made.program.global_block()
    assert block.var(scaled.name).shape == (3,)
    assert [v.shape for v in made.outputs] == [(-1, 3), (-1, 3)]
    assert made.inputs[0].shape == (-1, 3)
    assert str(main) == before
    feed = {"x": np.ones([2, 3]), "w": np.arange(3.0)}
    sums, doubles = run(made.program, feed, made.outputs)
    assert sums.tolist() == [[1, 3, 5]] * 2 and doubles.tolist() == [[0, 2, 4]] * 2


def test_the_new_dimension_stands_where_it_is_asked_for():
    x = fluid.data("x", [2, 3], "float64")
    y = layers.reduce_sum(x, dim=[1])
    value = RANDOM.normal(size=[2, 3, 5])
    for axis in (2, -1):
        made = vmap(fluid.default_main_program(), {"x": axis}, [y])
        assert made.inputs[0].shape == (2, 3, -1)
        (found,) = run(made.program, {"x": value}, made.outputs)
        np.testing.assert_allclose(found, value.sum(1).T)


def test_a_batch_of_batches_is_nested():
    x, y = fluid.data("x", [3], "float64"), fluid.data("y", [3], "float64")
    out = layers.reduce_sum(layers.elementwise_mul(x, y))
    inner = vmap(fluid.default_main_program(), [y], [out])
    outer = vmap(inner.program, [x], inner.outputs)
    a, b = RANDOM.normal(size=[4, 3]), RANDOM.normal(size=[5, 3])
    (found,) = run(outer.program, {"x": a, "y": b}, outer.outputs)
    np.testing.assert_allclose(found[..., 0], a @ b.T)


def test_what_ran_for_one_example_after_the_other_is_batched_once_more():
    x, label = fluid.data("x", [None, 3], "float64"), fluid.data("label", [None, 1], "int64")
    x.stop_gradient = False
    loss = layers.mean(layers.cross_entropy(layers.softmax(x), label))
    (gradient,) = fluid.gradients(loss, x)
    one = vmap_quietly(fluid.default_main_program(), [x], [gradient])
    two = vmap_quietly(one.program, [x], one.outputs)
    rows, labels = RANDOM.normal(size=[2, 3, 4, 3]), np.array([[0], [1], [2], [1]])
    (found,) = run(two.program, {"x": rows, "label": labels}, two.outputs)
    each = [run(one.program, {"x": part, "label": labels}, one.outputs)[0] for part in rows]
    np.testing.assert_allclose(found, np.stack(each), rtol=1e-12)


def test_names_that_are_rebound_hold_what_they_held():
    program = fluid.Program.parse(
        """
        program (seed=0) {
          block 0 {
            data x: float64[3]
            var  y: float64[3]

            y = scale(X=x, scale=2.0)
            y = softmax(X=y)
            y = reduce_sum(X=y, dim=[0], keep_dim=true)
          }
        }
        """
    )
    made = vmap(program, ["x"], ["y"])
    (found,) = run(made.program, {"x": RANDOM.normal(size=[4, 3])}, made.outputs)
    np.testing.assert_allclose(found, np.ones([4, 1]))


@pytest.mark.parametrize("size", [None, 5])
def test_random_numbers_are_drawn_for_each_example(size):
    x = fluid.data("x", [40], "float64")
    noise = layers.uniform_random([40], "float64", -1, 1)
    kept = layers.dropout(x, 0.5)
    made = vmap(fluid.default_main_program(), [x], [x + noise, kept], size)
    assert "recurrent" not in [op.type for op in made.program.global_block().ops]
    sums, kept = run(made.program, {"x": np.ones([5, 40])}, made.outputs)
    assert len(np.unique(sums)) == 200
    assert len(np.unique(kept, axis=0)) == 5


def test_nets_whose_parameters_are_stacked_run_at_once():
    x = fluid.data("x", [3, 1, 6, 6], "float64")
    maps = layers.conv2d(x, 2, 3, param_attr="filter", bias_attr=False)
    flat = layers.reshape(maps, [3, 32])
    y = layers.fc(layers.layer_norm(flat, param_attr="gain", bias_attr="shift"), 2, param_attr="w")
    main, exe = fluid.default_main_program(), fluid.Executor()
    names = [p.name for p in main.all_parameters()]
    made = vmap(main, names, [y], size=4)
    assert "recurrent" not in [op.type for op in made.program.global_block().ops]
    values = {v.name: RANDOM.normal(size=v.shape) for v in made.inputs}
    feed, scope = {"x": RANDOM.normal(size=[3, 1, 6, 6])}, fluid.Scope()

    def result(program, fetched, of):
        for name in names:
            scope.var(name).get_tensor().set(of(values[name]), fluid.CPUPlace())
        return exe.run(program, feed, fetched, scope=scope)[0]

    found = result(made.program, list(made.outputs), lambda value: value)
    for k in range(4):
        np.testing.assert_allclose(found[k], result(main, [y], lambda v, k=k: v[k]), rtol=1e-10)


NETS = {
    "perceptron": lambda x: layers.fc(layers.tanh(layers.fc(x, 4)), 2),
    "norm": lambda x: layers.softmax(layers.layer_norm(layers.fc(x, 4))) * layers.fc(x, 4),
    "images": lambda x: layers.conv2d(layers.reshape(x, [2, 1, 2, 3]), 2, 2, act="sigmoid"),
}


@pytest.mark.parametrize("net", NETS)
def test_gradients_of_a_batch_of_gradients_are_those_of_each(net):
    x = fluid.data("x", [2, 6], "float64")
    x.stop_gradient = False
    y = layers.mean(layers.square(NETS[net](x)))
    (slope,) = fluid.gradients(y, [x])
    size = layers.reduce_sum(layers.square(slope))
    main, exe = fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    made = vmap(main, [x], [size])
    with fluid.program_guard(made.program, fluid.Program()):
        total = layers.reduce_sum(made.outputs[0])
        made.inputs[0].stop_gradient = False
        (of_all,) = fluid.gradients(total, [made.inputs[0]])
    (of_one,) = fluid.gradients(size, [x])
    value = RANDOM.normal(size=[3, 2, 6])
    (found,) = run(made.program, {"x": value}, [of_all], exe)
    for k in range(3):
        (expected,) = run(main, {"x": value[k]}, [of_one], exe)
        np.testing.assert_allclose(found[k], expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("size", [None, 2])
def test_examples_without_elements_are_batched(size):
    x = fluid.data("x", [0, 3], "float64")
    x.stop_gradient = False
    y = layers.reduce_sum(layers.tanh(layers.reshape(x, [3, 0])))
    made = vmap_quietly(fluid.default_main_program(), [x], [y, *fluid.gradients(y, [x])], size)
    sums, slopes = run(made.program, {"x": np.zeros([2, 0, 3])}, made.outputs)
    assert sums.tolist() == [[0.0], [0.0]] and slopes.shape == (2, 0, 3)


def test_an_element_of_each_example_has_no_dimension_where_paddle_2_gives_it_none():
    program = fluid.Program()
    with fluid.program_guard(program):
        x = fluid.data("x", [3], "float64")
        f = Builder(x.block, "element")
        element = f.slice(x, axes=[0], starts=[1], ends=[2], decrease_axis=[0], zero_d=True)
    batched = vmap(program, [x], [element])
    feed = {"x": np.arange(6.0).reshape(2, 3)}
    found = fluid.Executor().run(batched.program, feed, batched.outputs)
    np.testing.assert_array_equal(found[0], [1.0, 4.0])


def test_a_batch_of_no_example_has_none():
    x = fluid.data("x", [3], "float64")
    y = layers.reduce_sum(layers.square(x))
    made = vmap(fluid.default_main_program(), [x], [y])
    assert run(made.program, {"x": np.zeros([0, 3])}, made.outputs)[0].shape == (0, 1)


def test_a_loaded_model_is_batched(tmp_path):
    x = fluid.data("x", [None, 3], "float32")
    y = layers.fc(x, 2)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe)
    program, _, targets = fluid.io.load_inference_model(str(tmp_path), exe)
    value = RANDOM.normal(size=[5, 4, 3]).astype("float32")
    made = vmap(program, ["x"])
    (found,) = exe.run(made.program, {"x": value}, list(made.outputs))
    (expected,) = exe.run(program, {"x": value.reshape(20, 3)}, targets)
    np.testing.assert_allclose(found.reshape(20, 2), expected, rtol=1e-5)


def test_an_operator_without_a_rule_is_looped_which_is_said():
    x = fluid.data("x", [3], "float64")
    *_, count = layers.unique_with_counts(x)
    with pytest.warns(UserWarning, match=r"one example after the other: unique_with_counts \(1\)"):
        made = vmap(fluid.default_main_program(), [x], [count])
    (found,) = run(made.program, {"x": np.array([[1.0, 1, 2], [3, 1, 3]])}, made.outputs)
    assert sorted(found[0].tolist()) == sorted(found[1].tolist()) == [1, 2]


def test_explained_are_operators_and_how_they_were_batched(capsys):
    x = fluid.data("x", [2, 3], "float64")
    y = layers.reduce_sum(layers.tanh(layers.transpose(x, [1, 0])))
    vmap(fluid.default_main_program(), [x], [y], explain=True)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["1", "transpose2", "rule"] in lines
    assert ["1", "tanh", "derived"] in lines


def test_why_an_operator_is_looped_is_said():
    x, n = fluid.data("x", [None, 3], "float64"), fluid.data("n", [3], "float64")
    layers.unique_with_counts(n)
    x.stop_gradient = False
    y = layers.reduce_sum(layers.layer_norm(x))
    gradients = fluid.gradients(y, x)
    main = fluid.default_main_program()
    ways = {each.op_type: each for each in batching_ways(main, [x, n])}
    assert ways["unique_with_counts"].why == "it has no rule"
    assert (ways["reduce_sum"].way, ways["reduce_sum"].why) == ("derived", "")
    assert ways["layer_norm_grad"].why == "a size in an example is not known"
    assert [v.shape for v in vmap_quietly(main, [x], gradients).outputs] == [(-1, -1, 3)]


class TestRefused:
    def test_variables_that_are_not_there(self):
        x = fluid.data("image", [3], "float64")
        with pytest.raises(UnknownVariableError, match="no variable 'imagf'.*'image'"):
            vmap(fluid.default_main_program(), ["imagf"], [x])

    def test_places_that_are_not_there(self):
        fluid.data("x", [3], "float64")
        with pytest.raises(AxisError, match="place from -2 to 1 for the new dimension of 'x'"):
            vmap(fluid.default_main_program(), {"x": 2})

    def test_no_input_and_no_example(self):
        x = fluid.data("x", [3], "float64")
        with pytest.raises(ArgumentError, match="at least one input"):
            vmap(fluid.default_main_program(), [], [x])
        with pytest.raises(ArgumentError, match="got size=0"):
            vmap(fluid.default_main_program(), [x], [x], 0)

    def test_sequences_by_name(self):
        x = fluid.data("words", [None, 3], "float64", lod_level=1)
        with pytest.raises(LoDError, match="'words' holds sequences"):
            vmap(fluid.default_main_program(), [x])

    def test_sequences_that_an_operator_makes(self):
        x, lengths = fluid.data("x", [4, 5, 2], "float64"), fluid.data("lengths", [4], "int64")
        layers.sequence_unpad(x, lengths)
        with pytest.raises(LoDError, match=r"sequence_unpad.*test_batching.py.*writes 'seq"):
            vmap(fluid.default_main_program(), [x])

    def test_optimizers_unless_they_are_left_out(self):
        x = fluid.data("x", [2, 3], "float64")
        loss = layers.mean(layers.fc(x, 1, param_attr="w"))
        fluid.optimizer.SGD(0.1).minimize(loss)
        main = fluid.default_main_program()
        with pytest.raises(UnsupportedError, match="sgd updates 'w'.*cannot be done for each"):
            vmap(main, [x])
        assert vmap(main, [x], [loss]).outputs[0].shape == (-1, 1)

    def test_states_that_stay_between_runs(self):
        x = fluid.data("x", [4, 3, 2, 2], "float32")
        y = layers.batch_norm(x)
        main = fluid.default_main_program()
        with pytest.raises(UnsupportedError, match="batch_norm.*keep a value of each example in"):
            vmap(main, [x], [y])
        made = vmap(main.clone(for_test=True), [x], [y])
        assert made.outputs[0].shape == (-1, 4, 3, 2, 2)

    def test_inputs_that_the_program_computes(self):
        x = fluid.data("x", [3], "float64")
        y = layers.tanh(x)
        with pytest.raises(ArgumentError, match="is computed by the program"):
            vmap(fluid.default_main_program(), [y])
        z = layers.square(y)
        made = vmap(fluid.default_main_program(), [y], [z])
        (found,) = run(made.program, {y.name: np.full([2, 3], 3.0)}, made.outputs)
        assert found.tolist() == [[9.0] * 3] * 2


def test_one_output_may_stand_alone_and_other_types_are_refused():
    x = fluid.data("x", [3])
    y = layers.exp(x)
    program = fluid.default_main_program()
    assert [v.shape for v in vmap(program, x, y, size=2).outputs] == [(2, 3)]
    with pytest.raises(ArgumentError, match="expected a place as an integer, got 'a'"):
        vmap(program, {"x": "a"})
    with pytest.raises(ArgumentError, match="number of examples as an integer, got 1.5"):
        vmap(program, x, size=1.5)
    with pytest.raises(ArgumentError, match="expected variables or their names, got 3"):
        vmap(program, x, 3)


@pytest.mark.parametrize("side", ["set_input", "set_output"])
def test_a_slot_that_an_operator_lacks_is_passed_by(side):
    main = fluid.Program()
    with fluid.program_guard(main):
        x = fluid.data("x", [3], "float32")
        above = layers.reduce_sum(x) > 0
        y = layers.cond(above, lambda: layers.relu(x), lambda: layers.relu(-x))
    for block in main.blocks:
        for op in block.ops:
            if op.type == "relu":
                getattr(op.desc, side)("Other", ["undeclared"])
    made = vmap(main, [x], [y])
    batch = np.array([[1, 2, -1], [-3, 1, 1]], "float32")
    (got,) = fluid.Executor().run(made.program, {"x": batch}, made.outputs)
    np.testing.assert_array_equal(got, [[1, 2, 0], [3, 0, 0]])
