"""Adam knows which rows of a table a gradient names, wherever the gradient comes from."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers

SIZE = [12, 3]


def taken(ids):
    return fluid.embedding(ids, SIZE, is_sparse=True, param_attr="table")


def in_while(word):
    number = layers.fill_constant([1], "int64", 0)
    state = layers.fill_constant([1, 3], "float32", 0.0)
    state.stop_gradient = False

    def one_pass(number, state):
        rows = taken(layers.elementwise_mod(word + number, layers.fill_constant([1], "int64", 12)))
        return [number + 1, layers.tanh(state + layers.reduce_mean(rows, 1))]

    last = layers.fill_constant([1], "int64", 5)
    return layers.while_loop(lambda n, _: layers.less_than(n, last), one_pass, [number, state])[1]


def in_recurrence(word):
    first = layers.fill_constant([1, 3], "float32", 0.0)
    words = layers.transpose(word, [1, 0])
    network = layers.StaticRNN()
    with network.step():
        ids = network.step_input(words)
        state = network.memory(init=first)
        rows = layers.reshape(taken(layers.unsqueeze(ids, [1])), [-1, 3])
        new = layers.tanh(state + rows)
        network.update_memory(state, new)
        network.step_output(new)
    return network()


def trained(backend, loss):
    fluid.default_startup_program().random_seed = 3
    scope = fluid.Scope()
    fluid.Executor(backend="numpy").run(fluid.default_startup_program(), scope=scope)
    exe = fluid.Executor(backend=backend)
    for ids in ([1, 2, 2, 3], [3, 1, 5, 3], [7, 8, 2, 2], [1, 1, 1, 1]):
        exe.run(feed={"word": np.array([ids])}, fetch_list=[loss], scope=scope)
    return {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}


def compare(loss):
    right, found = (trained(backend, loss) for backend in ("numpy", "jax"))
    for name, value in right.items():
        np.testing.assert_allclose(found[name], value, 1e-5, 1e-6, err_msg=name)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("network", [in_while, in_recurrence])
def test_rows_that_passes_name_are_those_of_all_passes(network, lazy):
    loss = layers.mean(layers.square(network(fluid.data("word", [1, 4], "int64"))))
    fluid.optimizer.Adam(0.1, lazy_mode=lazy).minimize(loss)
    compare(loss)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_gradient_that_the_host_has_seen_names_its_rows(lazy):
    loss = layers.mean(layers.square(taken(fluid.data("word", [None, 4], "int64"))))
    adam = fluid.optimizer.Adam(0.1, lazy_mode=lazy)
    ((table, gradient),) = adam.backward(loss)
    seen = layers.Print(gradient, first_n=0)
    adam.apply_gradients([(table, seen)])
    compare(loss)
