"""Functions of ``fluid.layers`` called with tensors."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError, OutOfRangeError, ShapeError

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]], "float32")


@pytest.fixture
def x():
    with dygraph.guard():
        made = dygraph.to_variable(X)
        made.stop_gradient = False
        yield made


def in_a_program(build):
    """What a function of a variable gives, and the gradient of its sum."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [2, 3])
        x.stop_gradient = False
        out = build(x)
        (gradient,) = fluid.gradients([layers.reduce_sum(out)], [x])
    return fluid.Executor().run(main, feed={"x": X}, fetch_list=[out, gradient])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: layers.softmax(x),
        lambda x: layers.elementwise_add(x, x, act="tanh"),
        lambda x: layers.concat([x, x * 2.0], axis=1),
        lambda x: layers.stack([x, x], axis=0),
        lambda x: layers.split(x, 3, dim=1)[1],
        lambda x: layers.reshape(x, [3, -1]),
        lambda x: layers.transpose(x, [1, 0]),
        lambda x: layers.slice(x, [0, 1], [0, 1], [2, 3]),
        lambda x: layers.expand(x, [2, 1]),
        lambda x: layers.unsqueeze(x, [0]),
        lambda x: layers.clip(x, -0.75, 1.5),
        lambda x: layers.reduce_mean(layers.square(x), dim=1),
        lambda x: layers.matmul(x, x, transpose_y=True),
        lambda x: layers.scale(x, 2.0, bias=1.0),
        lambda x: layers.pad(x, [0, 1, 1, 0], 7.0),
        lambda x: layers.gather(x, layers.assign(np.array([1, 0, 1], "int32"))),
        lambda x: layers.lrn(layers.reshape(x, [1, 3, 2, 1])),
        lambda x: layers.sums([x, x]),
    ],
)
def test_a_layer_gives_what_its_program_gives(build):
    expected, gradient = in_a_program(build)
    with dygraph.guard():
        x = dygraph.to_variable(X)
        x.stop_gradient = False
        out = build(x)
        layers.reduce_sum(out).backward()
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(x.gradient(), gradient, rtol=1e-6)


def test_values_decide_before_the_guard():
    x = fluid.to_tensor(X, stop_gradient=False)
    out = layers.full_like(x, 2.0) * layers.softmax(x)
    assert type(out) is fluid.Tensor
    assert not fluid.default_main_program().global_block().ops


def test_without_values_the_guard_decides():
    assert isinstance(layers.fill_constant([1], "float32", 1.0), fluid.framework.Variable)
    with dygraph.guard():
        assert layers.zeros([2], "float32").numpy().tolist() == [0, 0]
        assert layers.range(0, 3, 1, "int64").numpy().tolist() == [0, 1, 2]
        assert layers.assign(X).numpy().tolist() == X.tolist()
        fluid.default_main_program()
    assert len(fluid.default_main_program().global_block().ops) == 1


def test_variables_append_within_the_guard(x):
    made = layers.relu(fluid.data("y", [2], "float32"))
    assert made.block.ops[-1].type == "relu"


def test_variables_and_tensors_do_not_mix(x):
    with pytest.raises(ArgumentError, match="expected y to be a variable, got Tensor"):
        layers.elementwise_add(fluid.data("y", [2, 3]), x)
    with pytest.raises(ArgumentError, match="expected y to be a tensor, got <Variable"):
        layers.elementwise_add(x, fluid.data("y", [2, 3]))


def test_layers_with_parameters_are_refused(x):
    with pytest.raises(ArgumentError, match=r"fc cannot run on tensors.*fluid\.dygraph"):
        layers.fc(x, 2)
    with pytest.raises(ArgumentError, match="build programs outside"):
        layers.fc(fluid.data("y", [2, 3]), 2)


def test_a_layer_takes_the_parameters_that_it_is_given(x):
    w, b = layers.create_parameter([3, 2], "float32"), layers.create_parameter([2], "float32")
    out = layers.fc(x, 2, param_attr=w, bias_attr=b, act="relu")
    np.testing.assert_allclose(out.numpy(), np.maximum(X @ w.numpy() + b.numpy(), 0), rtol=1e-5)
    with pytest.raises(ShapeError, match=r"shape \[3, 4\], got one of shape \[3, 2\]"):
        layers.fc(x, 4, param_attr=w, bias_attr=False)


def test_layers_of_programs_say_so(x):
    for call in (
        lambda: layers.Print(x),
        lambda: layers.auc(x, x),
        lambda: layers.autoincreased_step_counter(),
    ):
        with pytest.raises(ArgumentError, match="cannot run on tensors"):
            call()


def test_a_global_variable_is_a_tensor_that_is_counted_up(x):
    steps = layers.create_global_var([2], 3, "int64", persistable=True, name="steps")
    assert (steps.numpy().tolist(), steps.numpy().dtype) == ([3, 3], "int64")
    assert (steps.name, steps.persistable, steps.stop_gradient) == ("steps", True, True)
    layers.assign(steps + 1, steps)
    assert steps.numpy().tolist() == [4, 4]
    assert not layers.create_global_var([1], 0.5, "float32").persistable


def test_an_error_names_the_layer_and_the_line(x):
    with pytest.raises(ShapeError, match=r"test_layers_at_once\.py:\d+"):
        layers.concat([x, layers.ones([3, 3, 3], "float32")], axis=1)


def test_results_are_written_to_tensors(x):
    y = layers.fill_constant([2, 3], "float32", 1.0)
    assert layers.assign(x * 2.0, y) is y
    layers.reduce_sum(y).backward()
    assert x.gradient().tolist() == np.full([2, 3], 2.0).tolist()
    made = layers.create_tensor("float32")
    layers.assign(x, made)
    assert made.shape == [2, 3]
    n = layers.fill_constant([1], "int64", 4)
    assert layers.increment(n) is n and int(n) == 5


def test_in_place_keeps_the_old_value_for_gradients(x):
    y = x * 1.0
    z = layers.square(y)
    layers.assign(y * 5.0, y)
    layers.reduce_sum(y).backward(retain_graph=True)
    assert x.gradient().tolist() == np.full([2, 3], 5.0).tolist()
    assert z.shape == [2, 3]


def test_branches_and_loops_run_in_python(x):
    total = layers.reduce_sum(x)
    assert layers.cond(total > 0.0, lambda: total * 2.0, lambda: total).item() == 8.5
    assert layers.cond(total > 0.0, None, lambda: total) is None
    assert layers.case([(total < 0.0, lambda: x)], default=lambda: total) is total
    for number, expected in ((1, "one"), (2, "two"), (7, "two")):
        index = layers.fill_constant([1], "int32", number)
        found = layers.switch_case(index, {1: lambda: "one", 2: lambda: "two"})
        assert found == expected
    i, y = layers.while_loop(
        lambda i, y: i < 3, lambda i, y: [i + 1, y * 2.0], [layers.zeros([1], "int64"), x]
    )
    layers.reduce_sum(y).backward()
    assert (int(i), x.gradient()[0, 0]) == (3, 8)
    with pytest.raises(ArgumentError, match="2 variables"):
        layers.while_loop(lambda i, y: i < 3, lambda i, y: [i], [layers.zeros([1], "int64"), x])
    with pytest.raises(ArgumentError, match="one element"):
        layers.cond(x > 0.0, lambda: x, lambda: x)


def test_arrays_are_lists(x):
    def at(n):
        return layers.fill_constant([1], "int64", n)

    array = layers.array_write(x, at(0), layers.create_array("float32"))
    layers.array_write(x * 2.0, at(1), array)
    assert layers.array_length(array).item() == 2
    assert layers.array_read(array, at(1)).numpy().tolist() == (X * 2).tolist()
    joined, sizes = layers.tensor_array_to_tensor(array, axis=1)
    assert (joined.shape, sizes.numpy().tolist()) == ([2, 6], [3, 3])
    assert layers.tensor_array_to_tensor(array, axis=0, use_stack=True)[0].shape == [2, 2, 3]
    with pytest.raises(OutOfRangeError, match=r"\[0, 2\), got 5"):
        layers.array_read(array, at(5))
    with pytest.raises(OutOfRangeError, match=r"\[0, 2\]"):
        layers.array_write(x, at(3), array)
    with pytest.raises(ArgumentError, match="expected a list"):
        layers.array_write(x, at(0), x)


def test_dropout_knows_that_the_layer_around_it_is_tested(x):
    class Net(dygraph.Layer):
        def forward(self, x):
            return layers.dropout(x, 0.5)

    net = Net()
    net.eval()
    np.testing.assert_allclose(net(x).numpy(), X * 0.5)
    many = layers.ones([100], "float32")
    assert (layers.dropout(many, 0.5).numpy() == 0).any()
