"""Powers of betas that are the same for many parameters are one number on the device."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers

pytest.importorskip("jax")

FEED = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
POWERS = [f"{name}_beta{k}_pow_acc_0" for name in ("w", "b", "v", "c") for k in (1, 2)]


def network(optimizer=None):
    x = fluid.data("x", [None, 4], "float32")
    hidden = layers.fc(x, 3, param_attr="w", bias_attr="b", act="tanh")
    loss = layers.mean(layers.square(layers.fc(hidden, 2, param_attr="v", bias_attr="c")))
    (optimizer or fluid.optimizer.Adam(0.1)).minimize(loss)
    return loss


def trained(loss, steps, change=lambda scope, step: None):
    """Losses and all of the scope, behind steps on some backends.

    Args:
        loss: what is fetched.
        steps: the backend of each step.
        change: called with the scope and the number of the step before each.
    """
    fluid.default_startup_program().random_seed = 3
    scope = fluid.Scope()
    executors = {name: fluid.Executor(backend=name) for name in ("jax", "numpy")}
    executors["numpy"].run(fluid.default_startup_program(), scope=scope)
    losses = []
    for k, backend in enumerate(steps):
        change(scope, k)
        losses += executors[backend].run(feed=FEED, fetch_list=[loss], scope=scope)
    held = {v.name: np.array(v.get_tensor()) for v in scope if v.is_initialized}
    return losses, held, scope


def same(mine, right):
    np.testing.assert_allclose(mine[0], right[0], 1e-5)
    for name, value in right[1].items():
        np.testing.assert_allclose(mine[1][name], value, 1e-5, 1e-6, err_msg=name)


def test_equal_powers_are_one_array_and_a_training_is_that_of_numpy():
    loss = network()
    mine = trained(loss, ["jax"] * 6)
    same(mine, trained(loss, ["numpy"] * 6))
    values = [mine[2].find_var(name).value for name in POWERS]
    assert len({id(each) for each in values}) == 2


def test_a_power_that_is_set_goes_its_own_way():
    loss = network()

    def change(scope, step):
        if step == 3:
            scope.find_var(POWERS[2]).get_tensor().set(np.array([0.5], "float32"))

    mine = trained(loss, ["jax"] * 7, change)
    same(mine, trained(loss, ["numpy"] * 7, change))
    values = [mine[2].find_var(name).value for name in POWERS]
    assert len({id(each) for each in values}) == 3


def test_backends_take_turns_on_one_scope():
    loss = network()
    turns = ["jax", "jax", "numpy", "numpy", "jax", "jax", "jax", "numpy"]
    same(trained(loss, turns), trained(loss, ["numpy"] * len(turns)))


def test_another_program_with_these_powers_takes_turns_too():
    loss = network()
    twice = layers.scale(loss, 2.0)
    fluid.default_startup_program().random_seed = 3
    found = {}
    for backend in ("jax", "numpy"):
        scope, exe = fluid.Scope(), fluid.Executor(backend=backend)
        fluid.Executor(backend="numpy").run(fluid.default_startup_program(), scope=scope)
        found[backend] = [
            exe.run(feed=FEED, fetch_list=[each], scope=scope)[0].item()
            for each in (loss, loss, twice, twice, loss, twice, loss)
        ]
    np.testing.assert_allclose(found["jax"], found["numpy"], 1e-5)


def test_betas_that_differ_have_powers_of_their_own():
    loss = network(fluid.optimizer.Adam(0.1, beta1=0.5, beta2=0.5))
    mine = trained(loss, ["jax"] * 4)
    same(mine, trained(loss, ["numpy"] * 4))
    values = [mine[2].find_var(name).value for name in POWERS]
    assert len({id(each) for each in values}) == 2  # one of each beta, though they are equal
