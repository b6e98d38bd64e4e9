"""Programs that eager functions amount to."""

import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.eager.recording import EagerCall
from fluidlite.errors import ArgumentError
from fluidlite.ir.program import Program

functional = fluid.nn.functional
RNG = np.random.default_rng(7)


def sample(*shape, dtype="float32"):
    return RNG.normal(size=shape).astype(dtype)


def types_of(traced):
    return [op.type for op in traced.program.global_block().ops]


def weights():
    w = fluid.create_parameter([3, 4], "float32", name="w")
    b = fluid.create_parameter([4], "float32", name="b", is_bias=True)
    b.set_value(np.arange(4, dtype="float32"))
    return w, b


def test_a_network_gives_the_same_values():
    w, b = weights()

    def network(x, scale=1.0):
        return functional.softmax(fluid.tanh(fluid.matmul(x, w) + b) * 2.0)

    traced = fluid.trace(network, ([2, 3], "float32"))
    assert traced.feed_names == ["x"]
    assert sorted(p.name for p in traced.program.all_parameters()) == ["b", "w"]
    x = sample(2, 3)
    (found,) = traced.run(x)
    assert found.dtype == np.float32
    assert np.array_equal(found, network(fluid.to_tensor(x)).numpy())
    got = fluid.Executor().run(
        traced.program, feed={"x": x}, fetch_list=traced.fetch_list, scope=traced.scope
    )
    assert np.array_equal(got[0], found)


def test_parameters_are_copied():
    w, _ = weights()
    traced = fluid.trace(lambda x: fluid.matmul(x, w), ([1, 3], "float32"))
    before = w.numpy()
    w.set_value(np.zeros([3, 4], "float32"))
    assert np.array_equal(traced.run(np.ones([1, 3], "float32"))[0], before.sum(0, keepdims=True))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * 2.0 - y / 3.0 + 1.0,
        lambda x, y: -x @ y.T,
        lambda x, y: fluid.concat([x, y], axis=1)[:, 1:4],
        lambda x, y: fluid.where(x > y, x, y),
        lambda x, y: fluid.sum(x, axis=1) + fluid.mean(y),
        lambda x, y: fluid.reshape(fluid.transpose(x, [1, 0]), [-1]),
        lambda x, y: fluid.layers.elementwise_max(fluid.layers.relu(x), y),
        lambda x, y: fluid.full([2, 3], 4.0, "float32") * x,
        lambda x, y: fluid.stack([x, y]).max(axis=0),
        lambda x, y: fluid.argmax(x, axis=1),
        lambda x, y: fluid.gather(x, fluid.to_tensor([1, 0, 1])) + fluid.norm(y),
        lambda x, y: fluid.pow(fluid.abs(x), 1.5) + fluid.clone(y.detach()),
        lambda x, y: fluid.logsumexp(x, axis=1),
        lambda x, y: x.astype("float64") * 3.0,
    ],
)
def test_functions_give_the_same_values(function):
    traced = fluid.trace(function, ([2, 3], "float32"), sample(2, 3))
    x, y = sample(2, 3), sample(2, 3)
    (found,) = traced.run(x, y)
    wanted = function(fluid.to_tensor(x), fluid.to_tensor(y)).numpy()
    assert found.dtype == wanted.dtype
    assert np.allclose(found, wanted, rtol=1e-6)


def test_layers_without_tensors_run_at_once_too():
    traced = fluid.trace(
        lambda x: x * fluid.layers.fill_constant([2], "float32", 4.0), ([2], "float32")
    )
    assert types_of(traced) == ["fill_constant", "elementwise_mul"]
    assert traced.run(np.array([1, 2], "float32"))[0].tolist() == [4.0, 8.0]


def test_several_results_and_names():
    def function(a, *more):
        return [a, fluid.split(more[0], 2, axis=0)[1], more[1] + 1]

    traced = fluid.trace(
        function, ([1], "float64"), fluid.to_tensor(sample(4, 2)), np.arange(3, dtype="int64")
    )
    assert traced.feed_names == ["a", "more_0", "more_1"]
    a, x, n = sample(1, dtype="float64"), sample(4, 2), np.array([7, 8, 9])
    first, second, third = traced.run(a, x, n)
    assert first == a
    assert np.array_equal(second, x[2:])
    assert third.tolist() == [8, 9, 10]


def test_what_no_result_needs_is_left_out():
    _, b = weights()

    def function(x):
        fluid.exp(x + fluid.sum(b))
        return fluid.tanh(x)

    traced = fluid.trace(function, ([2], "float32"))
    assert types_of(traced) == ["tanh"]
    assert not traced.program.all_parameters()
    assert not traced.scope.local_var_names()


def test_writes_in_place():
    def function(x):
        y = x * 1.0
        y[0] = 5.0
        y.add_(x)
        return y

    traced = fluid.trace(function, ([3], "float32"))
    assert traced.run(np.array([1, 2, 3], "float32"))[0].tolist() == [6.0, 4.0, 6.0]


def test_a_custom_operation_is_traced_through():
    class Double(fluid.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x + x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2.0

    traced = fluid.trace(lambda x: Double.apply(x) * x, ([2], "float32"))
    assert types_of(traced) == ["elementwise_add", "elementwise_mul"]
    assert traced.run(np.array([1, 3], "float32"))[0].tolist() == [2.0, 18.0]


def test_gradients_with_a_graph_are_operators():
    def slope(x):
        (found,) = fluid.grad(fluid.sum(x * x * x), x, create_graph=True)
        return found

    x = fluid.to_tensor([1.0, 1.0], stop_gradient=False)
    traced = fluid.trace(slope, x)
    assert np.allclose(traced.run(np.array([2, -3], "float32"))[0], [12, 27])


def test_other_gradients_are_refused():
    def slope(x):
        fluid.sum(x * x).backward()
        return x.grad

    x = fluid.to_tensor([1.0, 1.0], stop_gradient=False)
    with pytest.raises(ArgumentError, match="create_graph=True"):
        fluid.trace(slope, x)
    assert slope(x).tolist() == [2.0, 2.0]


def test_the_program_can_be_differentiated():
    w, b = weights()
    traced = fluid.trace(lambda x: fluid.sum(fluid.matmul(x, w) + b), ([2, 3], "float32"))
    with fluid.program_guard(traced.program, Program()):
        pairs = fluid.append_backward(traced.fetch_list[0])
    gradients = {p.name: g for p, g in pairs}
    x = sample(2, 3)
    found = fluid.Executor().run(
        traced.program,
        feed={"x": x},
        fetch_list=[gradients["w"], gradients["b"]],
        scope=traced.scope,
    )
    assert np.allclose(found[0], np.repeat(x.sum(0)[:, None], 4, axis=1))
    assert np.allclose(found[1], 2)


def test_it_is_printed_and_saved(tmp_path):
    w, b = weights()
    traced = fluid.trace(lambda x: 3.0 * fluid.matmul(x, w) + b, ([2, 3], "float32"))
    x = sample(2, 3)
    (wanted,) = traced.run(x)
    parsed = Program.parse(str(traced.program))
    (found,) = fluid.Executor().run(
        parsed, feed={"x": x}, fetch_list=[traced.fetch_list[0].name], scope=traced.scope
    )
    assert np.array_equal(found, wanted)
    exe = fluid.Executor()
    with fluid.scope_guard(traced.scope):
        fluid.io.save_inference_model(
            str(tmp_path), traced.feed_names, traced.fetch_list, exe, traced.program
        )
    with fluid.scope_guard(fluid.Scope()):
        program, feeds, targets = fluid.io.load_inference_model(str(tmp_path), exe)
        (found,) = exe.run(program, feed={feeds[0]: x}, fetch_list=targets)
    assert np.array_equal(found, wanted)


def test_a_layer_of_dygraph():
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(3, 2, act="relu")
        traced = fluid.trace(layer, ([4, 3], "float32"))
        x = sample(4, 3)
        wanted = layer(fluid.dygraph.to_variable(x)).numpy()
    assert len(traced.program.all_parameters()) == 2
    assert traced.feed_names == ["input"]
    assert np.allclose(traced.run(x)[0], wanted)


def test_dropout_and_running_means_when_testing():
    with fluid.dygraph.guard():
        norm, dropout = fluid.dygraph.BatchNorm(3), fluid.dygraph.Dropout(0.25)
        norm.eval()
        dropout.eval()
        traced = fluid.trace(lambda x: dropout(norm(x)), ([2, 3], "float32"))
    x = sample(2, 3)
    assert types_of(traced) == ["batch_norm", "dropout"]
    assert len(traced.scope.local_var_names()) == 4
    assert np.allclose(traced.run(x)[0], 0.75 * x / np.sqrt(1 + 1e-5), rtol=1e-5)


def test_two_parameters_of_one_name():
    first = fluid.create_parameter([2], "float32", name="x")
    second = fluid.create_parameter([2], "float32", name="x")
    first.set_value(np.array([1, 2], "float32"))
    second.set_value(np.array([10, 20], "float32"))
    traced = fluid.trace(lambda x: x + first + second, ([2], "float32"))
    assert len(traced.program.all_parameters()) == 2
    assert traced.run(np.zeros(2, "float32"))[0].tolist() == [11.0, 22.0]


def test_nothing_listens_afterwards_or_elsewhere():
    methods = dict(vars(EagerCall))

    def elsewhere():
        fluid.exp(fluid.to_tensor([1.0]))

    def function(x):
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        return fluid.tanh(x)

    assert types_of(fluid.trace(function, ([1], "float32"))) == ["tanh"]
    with pytest.raises(ZeroDivisionError):
        fluid.trace(lambda x: 1 // 0, ([1], "float32"))
    assert dict(vars(EagerCall)) == methods


@pytest.mark.parametrize(
    "function, spec, message",
    [
        (3, ([1], "float32"), "expected a function"),
        (fluid.tanh, ([None, 3], "float32"), "known sizes of x, got"),
        (fluid.tanh, [1.0], "a shape and an element type of x"),
        (lambda x: 3.0, ([1], "float32"), "to return a tensor or a list"),
        (lambda x: fluid.trace(fluid.tanh, x).run(), ([1], "float32"), "cannot trace another"),
    ],
)
def test_bad_arguments_are_refused(function, spec, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.trace(function, spec)


def test_run_counts_its_values():
    traced = fluid.trace(lambda x, y: x + y, ([1], "float32"), ([1], "float32"))
    with pytest.raises(ArgumentError, match="values of x, y, got 1"):
        traced.run(np.ones(1, "float32"))
