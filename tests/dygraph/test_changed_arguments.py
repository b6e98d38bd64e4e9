"""Layers keep their arguments under the names of fluid 1.8, and do as scripts change these."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import FluidWarning, ShapeError


@pytest.fixture(autouse=True)
def guard():
    with dygraph.guard(), fluid.unique_name.guard():
        yield


def tensor(*shape):
    count = int(np.prod(shape))
    return dygraph.to_variable((np.arange(count) % 11 - 6.0).reshape(shape).astype("float32"))


def ids(*rows):
    return dygraph.to_variable(np.array(rows, "int64"))


def start():
    return fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5))


def image():
    return [tensor(2, 4, 7, 7)]


def volume():
    return [tensor(1, 4, 5, 5, 5)]


def made(kind, *args, **kwargs):
    return lambda **more: getattr(dygraph, kind)(*args, **{**kwargs, **more})


CONV = made("Conv2D", 4, 4, 3, param_attr=start())
BACK = made("Conv2DTranspose", 4, 4, 3, stride=2, param_attr=start())
CONV_3D = made("Conv3D", 4, 4, 3, param_attr=start())
BACK_3D = made("Conv3DTranspose", 4, 4, 3, param_attr=start())
POOL = made("Pool2D", pool_size=3, pool_type="max", pool_stride=2)
MEAN = made("Pool2D", pool_size=3, pool_type="avg", pool_stride=4, pool_padding=1)
TABLE = made("Embedding", [5, 3], param_attr=start())
#: a layer, its inputs, the attribute, its value; the argument of a new layer that does the same
CHANGED = [
    (CONV, image, "_stride", [2, 1], "stride"),
    (CONV, image, "_padding", (1, 0), "padding"),
    (CONV, image, "_padding", [1, 0, 1, 0], "padding"),
    (CONV, image, "_dilation", [2, 2], "dilation"),
    (CONV, image, "_act", "relu", "act"),
    (BACK, image, "_stride", (1, 2), "stride"),
    (BACK, image, "_padding", [1, 1], "padding"),
    (BACK, image, "_output_size", [16, 16], "output_size"),
    (BACK, image, "_act", "sigmoid", "act"),
    (CONV_3D, volume, "_stride", [2, 2, 1], "stride"),
    (CONV_3D, volume, "_dilation", [2, 1, 2], "dilation"),
    (BACK_3D, volume, "_padding", [1, 1, 1], "padding"),
    (BACK_3D, volume, "_act", "relu", "act"),
    (POOL, image, "_pool_size", [2, 2], "pool_size"),
    (POOL, image, "_pool_type", "avg", "pool_type"),
    (POOL, image, "_pool_stride", [1, 2], "pool_stride"),
    (POOL, image, "_pool_padding", [1, 1], "pool_padding"),
    (POOL, image, "_global_pooling", True, "global_pooling"),
    (MEAN, image, "_ceil_mode", True, "ceil_mode"),
    (MEAN, image, "_exclusive", False, "exclusive"),
    (made("Linear", 4, 3), lambda: [tensor(5, 4)], "_act", "relu", "act"),
    (TABLE, lambda: [ids([1], [2])], "_padding_idx", 1, "padding_idx"),
    (made("LayerNorm", [4]), lambda: [tensor(3, 2, 4)], "_normalized_shape", [2, 4], None),
    (made("LayerNorm", 4), lambda: [tensor(3, 4)], "_epsilon", 1e-3, "epsilon"),
    (made("GroupNorm", 4, groups=2), image, "_groups", 4, "groups"),
    (made("GroupNorm", 4, groups=2), image, "_epsilon", 0.5, "epsilon"),
    (made("GroupNorm", 4, groups=2), image, "_act", "relu", "act"),
    (made("InstanceNorm", 4), image, "_epsilon", 1e-3, "epsilon"),
    (
        made("BilinearTensorProduct", 4, 5, 2, param_attr=start()),
        lambda: [tensor(2, 4), tensor(2, 5)],
        "_act",
        "relu",
        "act",
    ),
    (
        made("GRUUnit", 6, param_attr=start()),
        lambda: [tensor(2, 6), tensor(2, 2)],
        "activation",
        3,
        {"activation": "relu"},
    ),
    (
        made("TreeConv", 3, 4, param_attr=start()),
        lambda: [tensor(1, 4, 3), ids([[1, 2], [2, 3], [3, 4]])],
        "_max_depth",
        4,
        "max_depth",
    ),
]  # fmt: skip


def results(layer, inputs):
    out = layer(*inputs)
    return [each.numpy() for each in (out if isinstance(out, tuple) else (out,))]


def with_weights_of(other, layer):
    layer.set_dict(other.state_dict())
    return layer


@pytest.mark.parametrize("make, inputs, name, value, argument", CHANGED)
def test_a_changed_attribute_is_as_another_argument(make, inputs, name, value, argument):
    layer = make()
    before = results(layer, inputs())
    assert name in vars(layer)
    setattr(layer, name, value)
    if argument is None:  # the parameters would be others, as in fluid
        with pytest.raises(ShapeError):
            layer(*inputs())
        return
    more = argument if isinstance(argument, dict) else {argument: value}
    expected = results(with_weights_of(layer, make(**more)), inputs())
    found = results(layer, inputs())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any(a.shape != b.shape or (a != b).any() for a, b in zip(found, before, strict=True))
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert getattr(copied, name) == value
        np.testing.assert_array_equal(results(copied, inputs())[0], expected[0])


@pytest.mark.parametrize(
    "make, inputs, name, value",
    [
        (CONV, image, "_num_filters", 2),
        (CONV, image, "_filter_size", 5),
        (CONV, image, "_num_channels", 8),
        (BACK, image, "_num_filters", 8),
        (CONV, image, "_bias_attr", False),
        (TABLE, lambda: [ids([1], [2])], "_size", [9, 9]),
        (made("LayerNorm", 4), lambda: [tensor(3, 4)], "_scale", False),
        (made("GroupNorm", 4, groups=2), image, "_channels", 2),
    ],
)
def test_what_has_become_of_parameters_alone_may_change(make, inputs, name, value):
    layer = make()
    before = results(layer, inputs())
    setattr(layer, name, value)
    np.testing.assert_array_equal(results(layer, inputs())[0], before[0])


def test_power_iterations_and_negative_samples_are_read_at_each_call():
    norm = dygraph.SpectralNorm([4, 6])
    norm._power_iters = 50
    found = norm(tensor(4, 6)).numpy()
    assert abs(np.linalg.norm(found, 2) - 1) < 1e-5
    norm._eps = 0.5
    assert (norm(tensor(4, 6)).numpy() != found).any()
    loss = dygraph.NCE(10, 4, seed=3)
    assert loss._num_neg_samples == 10
    loss._num_neg_samples = 500
    x, label = tensor(2, 4), ids([3], [7])
    few = dygraph.NCE(10, 4, seed=3, num_neg_samples=500)
    expected = with_weights_of(loss, few)(x, label).numpy()
    np.testing.assert_array_equal(loss(x, label).numpy(), expected)


class Block(dygraph.Layer):
    """As the vision models of the time are: a subclass sets what another constructor has set."""

    def __init__(self):
        super().__init__()
        self.conv = Quick(1, 2, 3)
        self.pool = dygraph.Pool2D(2, "max", 2)

    def forward(self, x):
        return self.pool(self.conv(x))


class Quick(dygraph.Conv2D):
    def __init__(self, channels, filters, size):
        super().__init__(channels, filters, size, act="relu", param_attr=start())
        self._padding, self._act = [1, 1], None


def test_programs_of_a_layer_have_its_changed_arguments():
    net, x = Block(), tensor(1, 1, 6, 6)
    net.pool._pool_type = "avg"
    out, traced = dygraph.TracedLayer.trace(net, [x])
    np.testing.assert_array_equal(traced([x])[0], out.numpy())
    ops = {op.type: op for op in traced.program.global_block().ops}
    assert ops["conv2d"].attr("paddings") == [1, 1] and "relu" not in ops
    assert ops["pool2d"].attr("pooling_type") == "avg"
    function = dygraph.declarative(net.forward)
    np.testing.assert_array_equal(function(x).numpy(), out.numpy())


def test_a_replayed_step_sees_a_changed_argument():
    layer, x = dygraph.Conv2D(1, 2, 3, param_attr=start()), tensor(1, 1, 7, 7)

    @fluid.replay
    @dygraph.no_grad
    def step(x):
        return layers.reduce_sum(layer(x))

    before = [float(step(x).numpy()) for _ in range(6)]
    assert step.replayed
    layer._stride[:] = [2, 2]
    with pytest.warns(FluidWarning, match="_stride of layer has other elements"):
        strided = float(step(x).numpy())
    layer._stride, layer._act = [1, 1], "relu"
    active = float(step(x).numpy())
    expected = layers.relu(dygraph.Conv2D(1, 2, 3, param_attr=start())(x)).numpy().sum()
    assert len({*before}) == 1 and strided != before[0] and abs(active - expected) < 1e-3
