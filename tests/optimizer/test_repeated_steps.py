"""Steps of the same small parameters read what the last one wrote, and are those of single ones."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.optimizer import joint_steps

KINDS = {
    "SGD": {},
    "Momentum": {"momentum": 0.9, "use_nesterov": True},
    "Adam": {},
    "AdamW": {"weight_decay": 0.1},
    "Adamax": {},
    "Adagrad": {},
    "RMSProp": {},
    "Adadelta": {},
}
SHAPES = [(3, 2), (4,), (), (2, 1, 2)]


@pytest.fixture
def alike(monkeypatch):
    """Holds what a function gives against what it gives without this way, to the last bit."""

    def check(function):
        repeated = function()
        assert np.isfinite(repeated).all()
        with monkeypatch.context() as patch:
            patch.setattr(joint_steps.RepeatedStep, "after", lambda *given: None)
            np.testing.assert_array_equal(repeated, function())

    return check


def parameters():
    rng = np.random.default_rng(1)
    made = []
    for k, shape in enumerate(SHAPES):
        p = paddle.create_parameter(list(shape), "float32")
        p.set_value(rng.standard_normal(shape).astype("float32"))
        p.name = f"p{k}"
        made.append(p)
    return made


def step(params, optimizer, number, but=()):
    """Gradients that depend on parameters and on the number of the step, and one step."""
    losses = [(p * p * (k + number)).sum() for k, p in enumerate(params) if k not in but]
    sum(losses).backward()
    optimizer.step()
    optimizer.clear_grad()


def values(params):
    return np.concatenate([p.numpy().reshape(-1) for p in params])


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_single_calls(kind, alike):
    def run():
        params = parameters()
        optimizer = getattr(paddle.optimizer, kind)(0.1, parameters=params, **KINDS[kind])
        for number in range(6):
            step(params, optimizer, number)
        return values(params)

    alike(run)


def test_what_is_written_between_steps_counts(alike):
    def run():
        params = parameters()
        adam = paddle.optimizer.Adam(0.1, parameters=params)
        for number in range(3):
            step(params, adam, number)
        params[0].set_value(np.full([3, 2], 0.5, "float32"))
        step(params, adam, 4)
        adam.set_lr(0.03)
        step(params, adam, 5)
        step(params, adam, 6, but=[1])  # which has no gradient this time
        step(params, adam, 7)
        params[2].optimize_attr = {"learning_rate": 0.5}
        step(params, adam, 8)
        step(params, adam, 9)
        return values(params)

    alike(run)


def test_states_that_are_loaded_count(alike):
    def run():
        params = parameters()
        adam = paddle.optimizer.Adam(0.1, parameters=params)
        for number in range(3):
            step(params, adam, number)
        states = {k: v.numpy() for k, v in adam.state_dict().items() if hasattr(v, "numpy")}
        for number in range(3):
            step(params, adam, number)
        adam.set_state_dict({k: paddle.to_tensor(v) for k, v in states.items()})
        step(params, adam, 3)
        step(params, adam, 4)
        return values(params)

    alike(run)


def test_states_and_parameters_have_their_own_shapes():
    params = parameters()
    adam = paddle.optimizer.Adam(0.1, parameters=params)
    for number in range(4):
        step(params, adam, number)
    shown = {k: v.shape for k, v in adam.state_dict().items() if "moment1" in k}
    assert list(shown.values()) == [list(shape) for shape in SHAPES]
    assert [p.shape for p in params] == [list(shape) for shape in SHAPES]
    before = params[1].numpy()
    params[0].set_value(np.zeros([3, 2], "float32"))
    assert params[1].numpy().tolist() == before.tolist()


def test_copies_of_an_optimizer_go_on_by_themselves():
    params = parameters()
    adam = paddle.optimizer.Adam(0.1, parameters=params)
    for number in range(3):
        step(params, adam, number)
    twin = copy.deepcopy(adam)
    again = pickle.loads(pickle.dumps(adam))
    before = values(params)
    for other in (twin, again):
        own = other._parameter_list
        step(own, other, 3)
        step(own, other, 4)
        assert not np.array_equal(values(own), before)
        np.testing.assert_array_equal(values(params), before)


def test_clipped_and_regularized_gradients_are_those_of_single_calls(alike):
    def run():
        params = parameters()
        clip = paddle.nn.ClipGradByGlobalNorm(0.5)
        optimizer = paddle.optimizer.Momentum(
            0.1, parameters=params, grad_clip=clip, weight_decay=0.01
        )
        for number in range(5):
            step(params, optimizer, number)
        return values(params)

    alike(run)


def test_fluids_optimizers_step_likewise(alike):
    def run():
        with fluid.dygraph.guard():
            net = fluid.dygraph.Linear(3, 2)
            net.weight.set_value(np.arange(6, dtype="float32").reshape(3, 2) / 7)
            adam = fluid.optimizer.Adam(0.1, parameter_list=net.parameters())
            x = fluid.dygraph.to_variable(np.ones([4, 3], "float32"))
            for _ in range(5):
                fluid.layers.mean(net(x) * net(x)).backward()
                adam.minimize(fluid.layers.mean(net(x)))
                net.clear_gradients()
            return np.append(net.weight.numpy(), net.bias.numpy())

    alike(run)
