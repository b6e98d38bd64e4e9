"""A net that is written once trains alike as a layer and as a program."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers

STEPS = 50


class Mlp(dygraph.Layer):
    """Dense layers and a normalisation."""

    shape = (6, 5)

    def __init__(self):
        super().__init__()
        self.a = dygraph.Linear(5, 8, act="tanh", dtype="float64")
        self.norm = dygraph.LayerNorm([8], dtype="float64")
        self.b = dygraph.Linear(8, 3, dtype="float64")

    def forward(self, x, label):
        logits = self.b(self.norm(self.a(x)))
        return layers.mean(layers.softmax_with_cross_entropy(logits, label))


class Convolutions(dygraph.Layer):
    """Convolution, batch normalisation, pooling, and a branch that skips them."""

    shape = (6, 2, 6, 7)

    def __init__(self):
        super().__init__()
        self.conv = dygraph.Conv2D(2, 4, 3, padding=1, dtype="float64")
        self.norm = dygraph.BatchNorm(4, act="relu", dtype="float64")
        self.skip = dygraph.Conv2D(2, 4, 1, bias_attr=False, dtype="float64")
        self.pool = dygraph.Pool2D(global_pooling=True, pool_type="avg")
        self.out = dygraph.Linear(4, 3, dtype="float64")

    def forward(self, x, label):
        y = layers.elementwise_add(self.norm(self.conv(x)), self.skip(x))
        logits = self.out(layers.reshape(self.pool(y), [-1, 4]))
        return layers.mean(layers.softmax_with_cross_entropy(logits, label))


class Recurrent(dygraph.Layer):
    """A unit that is called for every column of the input."""

    shape = (6, 3, 4)

    def __init__(self):
        super().__init__()
        self.project = dygraph.Linear(4, 9, dtype="float64")
        self.unit = dygraph.GRUUnit(9, dtype="float64")

    def forward(self, x, label):
        hidden = layers.fill_constant_batch_size_like(x, [-1, 3], "float64", 0.0)
        for t in range(3):
            column = layers.slice(x, [1], [t], [t + 1])
            hidden, _, _ = self.unit(self.project(layers.reshape(column, [-1, 4])), hidden)
        return layers.mean(layers.softmax_with_cross_entropy(hidden, label))


OPTIMIZERS = {
    "sgd": lambda **more: fluid.optimizer.SGD(0.1, **more),
    "momentum": lambda **more: fluid.optimizer.Momentum(0.05, 0.9, use_nesterov=True, **more),
    "adam": lambda **more: fluid.optimizer.Adam(
        0.01, regularization=fluid.regularizer.L2Decay(1e-3), **more
    ),
    "adamax": lambda **more: fluid.optimizer.Adamax(0.01, **more),
    "rmsprop": lambda **more: fluid.optimizer.RMSProp(0.01, centered=True, momentum=0.5, **more),
    "adagrad": lambda **more: fluid.optimizer.Adagrad(
        0.05, regularization=fluid.regularizer.L1Decay(1e-3), **more
    ),
    "decayed_adagrad": lambda **more: fluid.optimizer.DecayedAdagrad(0.05, **more),
    "adadelta": lambda **more: fluid.optimizer.Adadelta(1.0, **more),
    "ftrl": lambda **more: fluid.optimizer.Ftrl(0.05, l1=0.01, l2=0.01, **more),
    "lamb": lambda **more: fluid.optimizer.Lamb(0.01, **more),
    "lars": lambda **more: fluid.optimizer.LarsMomentum(0.02, 0.9, **more),
    "clip_value": lambda **more: fluid.optimizer.SGD(
        0.1, grad_clip=fluid.clip.GradientClipByValue(0.05), **more
    ),
    "clip_norm": lambda **more: fluid.optimizer.SGD(
        0.1, grad_clip=fluid.clip.GradientClipByNorm(0.05), **more
    ),
    "clip_global_norm": lambda **more: fluid.optimizer.Adam(
        0.01, grad_clip=fluid.clip.GradientClipByGlobalNorm(0.1), **more
    ),
}


def batch(shape):
    random = np.random.default_rng(1)
    return random.normal(size=shape), random.integers(0, 3, [shape[0], 1])


def both(kind, make):
    """The losses of a net that is trained as a layer, and as a program from the same values."""
    x, label = batch(kind.shape)
    with dygraph.guard():
        fluid.default_main_program().random_seed = 7
        net = kind()
        first = {p.name: p.numpy() for p in net.parameters()}
        given = [dygraph.to_variable(x), dygraph.to_variable(label)]
        _, traced = dygraph.TracedLayer.trace(net, given)
        net.set_dict(first, use_structured_name=False)
        optimizer = make(parameter_list=net.parameters())
        losses = []
        for _ in range(STEPS):
            loss = net(*given)
            loss.backward()
            optimizer.minimize(loss)
            net.clear_gradients()
            losses.append(loss.item())
    return losses, as_program(traced, first, make, {"feed_0": x, "feed_1": label})


def as_program(traced, first, make, feed):
    program, startup, scope = traced.program, fluid.Program(), fluid.Scope()
    for name, value in first.items():
        scope.var(name).get_tensor().set(value)
    (loss,) = traced.outputs
    with fluid.program_guard(program, startup), fluid.scope_guard(scope):
        make().minimize(loss, startup)
        exe = fluid.Executor()
        exe.run(startup)
        return [exe.run(program, feed=feed, fetch_list=[loss])[0].item() for _ in range(STEPS)]


@pytest.mark.parametrize("kind", [Mlp, Convolutions, Recurrent])
def test_a_layer_and_its_program_train_alike(kind):
    layer, program = both(kind, OPTIMIZERS["momentum"])
    np.testing.assert_allclose(layer, program, rtol=1e-6)
    assert layer[-1] < 0.8 * layer[0]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_makes_the_same_steps(name):
    layer, program = both(Mlp, OPTIMIZERS[name])
    np.testing.assert_allclose(layer, program, rtol=1e-6)
    assert layer[-1] < layer[0]
