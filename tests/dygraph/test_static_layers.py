"""Layers of ``fluid.nn`` that are given to ``to_static``; nn/test_layers goes through them all."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import nn
from fluidlite.dygraph import to_static

ROWS = np.arange(6, dtype="float32").reshape(2, 3) / 4


def rows():
    return fluid.to_tensor(ROWS)


class Own(nn.Layer):
    """Reads parameters and a buffer by Python's operators, and has a branch."""

    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([3, 2])
        self.b = self.create_parameter([2], is_bias=True)
        self.register_buffer("c", fluid.to_tensor([1.0, 2.0]))

    def forward(self, x):
        y = self.c * (x @ self.w + self.b)
        if fluid.sum(y) > 100.0:
            y = y * 2.0
        return y


def gradients(layer, y):
    fluid.sum(y * y).backward()
    return [p.gradient() for p in layer.parameters()]


@pytest.mark.parametrize(
    "make",
    [
        Own,
        lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), Own2()),
        lambda: nn.utils.weight_norm(nn.Linear(3, 2)),
        lambda: nn.utils.spectral_norm(nn.Linear(3, 2)),
        lambda: nn.GRUCell(3, 2),
    ],
)
def test_a_layer_is_given_back_and_computes_the_same(make):
    layer, twin = make(), make()
    twin.set_state_dict(layer.state_dict())
    static = to_static(twin)
    assert static is twin
    for _ in range(2):  # the second call has its program already
        outs = [f(rows()) for f in (layer, static)]
        outs = [out[0] if isinstance(out, tuple) else out for out in outs]
        np.testing.assert_allclose(outs[1].numpy(), outs[0].numpy(), rtol=1e-5)
        for mine, other in zip(gradients(layer, outs[0]), gradients(twin, outs[1])):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-6)
    for name, value in layer.state_dict().items():
        np.testing.assert_allclose(twin.state_dict()[name].numpy(), value.numpy(), rtol=1e-5)


class Own2(Own):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([4, 2])


def test_a_copy_reads_its_own_parameters():
    static = to_static(Own())
    static(rows())
    other = copy.deepcopy(static)
    other.w.set_value(np.zeros([3, 2], "float32"))
    assert not other(rows()).numpy().any() and static(rows()).numpy().any()


def test_a_layer_that_is_pickled_comes_back_and_runs_at_once():
    static = to_static(Own())
    expected = static(rows()).numpy()
    again = pickle.loads(pickle.dumps(static))
    np.testing.assert_allclose(again(rows()).numpy(), expected, rtol=1e-6)


def test_a_bound_method_and_a_method_that_is_not_forward():
    class Scored(Own):
        @to_static
        def score(self, x):
            return fluid.sum(self.forward(x)) + fluid.sum(self.w * self.w)

    layer = Scored()
    expected = layer(rows()).numpy()
    score = layer.score(rows())
    np.testing.assert_allclose(
        score.numpy(), expected.sum() + (layer.w.numpy() ** 2).sum(), rtol=1e-5
    )
    score.backward()
    assert layer.w.gradient().any()
    layer.forward = to_static(layer.forward)
    np.testing.assert_allclose(layer(rows()).numpy(), expected, rtol=1e-6)


def test_a_layer_runs_in_its_mode():
    dropout = to_static(nn.Dropout(0.5))
    ones = fluid.ones([1000])
    dropped = dropout(ones).numpy()
    assert 300 < (dropped == 0).sum() < 700
    dropout.eval()
    assert (dropout(ones).numpy() == 1).all()
    dropout.train()
    assert (dropout(ones).numpy() == 0).any()


def test_hooks_run_once_and_in_the_program():
    layer, calls = to_static(nn.Linear(3, 2)), []
    layer.register_forward_pre_hook(lambda layer, given: calls.append("before"))
    layer.register_forward_post_hook(lambda layer, given, out: out * 0.0 + 3.0)
    assert (layer(rows()).numpy() == 3).all()
    assert (layer(rows()).numpy() == 3).all()
    assert calls == ["before"]  # of the call that made the program


def trained(net):
    """The losses of some steps."""
    adam = fluid.optimizer.Adam(0.1, parameters=net.parameters())
    losses = []
    for _ in range(5):
        loss = fluid.mean((net(rows()) - 1.0) ** 2)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    return losses


def test_layers_are_nested_and_trained():
    net = nn.Sequential(Own(), nn.Linear(2, 1))
    static = nn.Sequential(to_static(Own()), nn.Linear(2, 1))
    static.set_state_dict(net.state_dict())
    np.testing.assert_allclose(trained(to_static(static)), trained(net), rtol=1e-4)


def test_code_and_the_switch_are_those_of_functions():
    translator = fluid.dygraph.ProgramTranslator()
    layer = to_static(Own())
    assert translator.get_code(layer).startswith("def forward(self, x)")
    expected = layer(rows()).numpy()
    translator.enable(False)
    try:
        np.testing.assert_allclose(layer(rows()).numpy(), expected, rtol=1e-6)
    finally:
        translator.enable(True)


def test_it_appends_to_a_program_that_is_being_built():
    layer = to_static(Own())
    y = layer(fluid.data("x", [2, 3], "float32"))
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    (found,) = executor.run(feed={"x": ROWS}, fetch_list=[y])
    np.testing.assert_allclose(found, layer(rows()).numpy(), rtol=1e-6)


def test_layers_of_fluid_are_taken_too():
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(3, 2)
        x = fluid.dygraph.to_variable(ROWS)
        expected = layer(x).numpy()
        np.testing.assert_allclose(to_static(layer)(x).numpy(), expected, rtol=1e-6)
