"""Layers of neural networks compute what the functions of ``fluid.layers`` do."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError, FluidWarning, ShapeError


@pytest.fixture(autouse=True)
def guard():
    with dygraph.guard(), fluid.unique_name.guard():
        yield


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def tensor(*shape, seed=0):
    made = dygraph.to_variable(values(*shape, seed=seed))
    made.stop_gradient = False
    return made


LAYERS = {
    "Linear": (lambda: dygraph.Linear(4, 3, act="relu"), [(2, 5, 4)]),
    "Linear.no_bias": (lambda: dygraph.Linear(4, 3, bias_attr=False), [(2, 4)]),
    "Conv2D": (lambda: dygraph.Conv2D(4, 6, 3, 2, 1, groups=2, act="tanh"), [(2, 4, 7, 8)]),
    "Conv3D": (lambda: dygraph.Conv3D(2, 3, [1, 2, 3]), [(2, 2, 3, 4, 5)]),
    "Conv2DTranspose": (
        lambda: dygraph.Conv2DTranspose(4, 6, 3, stride=2, groups=2, bias_attr=False),
        [(2, 4, 3, 5)],
    ),
    "Conv3DTranspose": (lambda: dygraph.Conv3DTranspose(2, 3, 2, stride=2), [(1, 2, 2, 3, 4)]),
    "Pool2D": (lambda: dygraph.Pool2D(2, "max", 2, ceil_mode=True), [(2, 3, 5, 7)]),
    "Pool2D.global": (lambda: dygraph.Pool2D(global_pooling=True, pool_type="avg"), [(2, 3, 5, 7)]),
    "BatchNorm": (lambda: dygraph.BatchNorm(3, act="relu"), [(4, 3, 2, 5)]),
    "LayerNorm": (lambda: dygraph.LayerNorm([3, 4], act="tanh"), [(2, 3, 4)]),
    "LayerNorm.bare": (lambda: dygraph.LayerNorm(4, scale=False, shift=False), [(2, 3, 4)]),
    "GroupNorm": (lambda: dygraph.GroupNorm(4, 2, param_attr=True, bias_attr=True), [(2, 4, 3)]),
    "GroupNorm.bare": (lambda: dygraph.GroupNorm(4, 2), [(2, 4, 3)]),
    "InstanceNorm": (lambda: dygraph.InstanceNorm(3), [(2, 3, 4, 5)]),
    "SpectralNorm": (lambda: dygraph.SpectralNorm([4, 3], dim=1, power_iters=2), [(4, 3)]),
    "PRelu": (lambda: dygraph.PRelu("channel", channel=3), [(2, 3, 4, 5)]),
    "PRelu.element": (lambda: dygraph.PRelu("element", input_shape=[2, 3, 4]), [(2, 3, 4)]),
    "GRUUnit": (lambda: dygraph.GRUUnit(9), [(2, 9), (2, 3)]),
    "BilinearTensorProduct": (
        lambda: dygraph.BilinearTensorProduct(4, 2, 5, act="tanh"),
        [(3, 4), (3, 2)],
    ),
    "MSELoss": (dygraph.MSELoss, [(3, 2), (3, 2)]),
    "L1Loss": (lambda: dygraph.L1Loss(reduction="sum"), [(3, 2), (3, 2)]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_a_program_too(name):
    """What the layer gives on tensors, its program gives, and so are the gradients."""
    make, shapes = LAYERS[name]
    layer = make()
    given = [tensor(*shape, seed=i) for i, shape in enumerate(shapes)]
    outputs, traced = dygraph.TracedLayer.trace(layer, given)
    for out, again in zip(
        outputs if isinstance(outputs, tuple) else [outputs], traced(given), strict=True
    ):
        np.testing.assert_allclose(out.numpy(), again, rtol=1e-5, atol=1e-6)
    assert all(isinstance(p, dygraph.ParamBase) for p in layer.parameters())


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_reach_inputs_and_parameters(name):
    make, shapes = LAYERS[name]
    layer = make()
    given = [tensor(*shape, seed=i) for i, shape in enumerate(shapes)]
    out = layer(*given)
    out = out[0] if isinstance(out, tuple) else out
    layers.reduce_sum(layers.square(out)).backward()
    for each in (*given, *layer.parameters()):
        assert each.stop_gradient or each.gradient().shape == tuple(each.shape)


def test_batch_norm_keeps_running_values():
    x, norm = tensor(8, 2), dygraph.BatchNorm(2, momentum=0.75)
    norm(x)
    np.testing.assert_allclose(norm._mean.numpy(), 0.25 * x.numpy().mean(0), rtol=1e-5)
    kept = norm._variance.numpy()
    norm.eval()
    y = norm(x).numpy()
    np.testing.assert_array_equal(norm._variance.numpy(), kept)
    np.testing.assert_allclose(
        y, (x.numpy() - norm._mean.numpy()) / np.sqrt(kept + 1e-5), rtol=1e-5
    )


def test_eval_alone_says_that_what_runs_at_once_is_tested():
    x = tensor(8, 2)
    norm, drop = dygraph.BatchNorm(2, is_test=True), dygraph.Dropout(0.5, is_test=True)
    norm(x)
    assert norm._mean.numpy().all()
    assert (drop(x).numpy() == 0).any()
    for layer in norm, drop:
        layer.eval()
    before = norm._mean.numpy()
    norm(x)
    np.testing.assert_array_equal(norm._mean.numpy(), before)
    np.testing.assert_array_equal(drop(x).numpy(), 0.5 * x.numpy())


def test_batch_norm_may_use_the_batch_in_tests():
    norm = dygraph.BatchNorm(2, trainable_statistics=True)
    norm.eval()
    x = tensor(8, 2)
    np.testing.assert_allclose(norm(x).numpy().mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(norm._mean.numpy(), 0.1 * x.numpy().mean(0), rtol=1e-5)


def test_batch_norm_uses_the_batch_in_tests_of_its_program_as_well():
    norm = dygraph.BatchNorm(2, trainable_statistics=True)
    norm.eval()
    x = tensor(8, 2)
    y, traced = dygraph.TracedLayer.trace(norm, [x])
    np.testing.assert_allclose(traced([x])[0], y.numpy(), rtol=1e-6)
    assert traced.program.global_block().ops[0].attr("trainable_statistics")


def test_noise_contrastive_estimation_has_a_bias_only_where_one_is_asked_for():
    assert list(dygraph.NCE(6, 2).state_dict()) == ["weight"]
    assert list(dygraph.NCE(6, 2, bias_attr=True).state_dict()) == ["weight", "bias"]


def test_running_values_stop_gradients():
    norm = dygraph.BatchNorm(2)
    assert norm._mean.stop_gradient and norm._variance.stop_gradient


def test_embedding_pads_and_keeps_rows():
    ids = dygraph.to_variable(np.array([[0, 1], [2, 0]]))
    table = dygraph.Embedding([3, 2], padding_idx=-1)
    out = table(ids)
    assert out.shape == [2, 2, 2]
    assert not out.numpy()[1, 0].any()
    layers.reduce_sum(out).backward()
    assert table.weight.gradient().tolist() == [[2, 2], [1, 1], [0, 0]]
    sparse = dygraph.Embedding([3, 2], is_sparse=True)
    layers.reduce_sum(sparse(ids)).backward()
    rows, numbers = sparse.weight.gradient()
    assert (rows.shape, numbers.tolist()) == ((4, 2), [0, 1, 2, 0])


def test_a_padding_that_no_row_has_pads_nothing_with_a_warning():
    with pytest.warns(FluidWarning, match="got 3: nothing is padded"):
        table = dygraph.Embedding([3, 2], padding_idx=3)
    out = table(dygraph.to_variable(np.array([[0, 1], [2, 0]])))
    assert np.array_equal(out.numpy()[1, 0], table.weight.numpy()[2])


def test_dropout_drops_in_training_alone():
    drop, x = dygraph.Dropout(0.5), layers.ones([1000], "float32")
    assert 300 < (drop(x).numpy() == 0).sum() < 700
    drop.eval()
    assert (drop(x).numpy() == 0.5).all()
    up = dygraph.Dropout(0.5, dropout_implementation="upscale_in_train")
    assert set(up(x).numpy()) == {0, 2}
    a = dygraph.Dropout(0.5, seed=3)
    np.testing.assert_array_equal(a(x).numpy(), a(x).numpy())


def test_dropout_and_batch_norm_do_as_scripts_change_them():
    drop, x = dygraph.Dropout(0.5), layers.ones([20], "float32")
    drop._dropout_prob = 0.0
    assert drop(x).numpy().tolist() == [1.0] * 20
    drop._dropout_prob, drop._dropout_implementation = 0.5, "upscale_in_train"
    assert {*drop(x).numpy().tolist()} == {0.0, 2.0}
    norm, rows = dygraph.BatchNorm(2), np.arange(8, dtype="float32").reshape(4, 2)
    norm._momentum = 0.0
    norm(dygraph.to_variable(rows))
    assert norm._mean.numpy().tolist() == [3.0, 4.0]  # as 1.8.5
    assert norm._variance.numpy().tolist() == [5.0, 5.0]
    norm._use_global_stats, norm._epsilon, norm._act = True, 4.0, "relu"
    expected = np.maximum(rows - [3.0, 4.0], 0) / 3
    np.testing.assert_allclose(norm(dygraph.to_variable(rows)).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("arguments", [{}, {"sampler": "log_uniform"}, {"custom": True}])
def test_nce_learns(arguments):
    if arguments.pop("custom", False):
        arguments = {"sampler": "custom_dist", "custom_dist": [0.1] * 10}
    loss = dygraph.NCE(10, 4, num_neg_samples=3, seed=1, **arguments)
    x, label = tensor(6, 4), dygraph.to_variable(np.array([[1], [2], [3], [1], [2], [3]]))
    adam = fluid.optimizer.Adam(0.1, parameter_list=loss.parameters())
    found = []
    for _ in range(20):
        total = layers.mean(loss(x, label))
        total.backward()
        adam.minimize(total)
        found.append(total.item())
    assert found[-1] < 0.7 * found[0]
    assert list(loss.state_dict()) == ["weight"]


def test_losses():
    p = layers.sigmoid(tensor(3, 2))
    label = dygraph.to_variable(np.array([[0, 1], [1, 0], [1, 1]], "float32"))
    q, t = p.numpy().astype("float64"), label.numpy()
    entropy = -(t * np.log(q) + (1 - t) * np.log(1 - q))
    np.testing.assert_allclose(dygraph.BCELoss()(p, label).numpy(), [entropy.mean()], rtol=1e-5)
    weight = dygraph.to_variable(np.array([[1.0, 2.0]], "float32"))
    np.testing.assert_allclose(
        dygraph.BCELoss(weight, "none")(p, label).numpy(), entropy * [1, 2], rtol=1e-5
    )
    logs = layers.log(layers.softmax(tensor(3, 4)))
    classes = np.array([0, 3, 1])
    picked = -logs.numpy()[np.arange(3), classes]
    nll = dygraph.NLLLoss()(logs, dygraph.to_variable(classes))
    np.testing.assert_allclose(nll.numpy(), [picked.mean()], rtol=1e-5)
    ignoring = dygraph.NLLLoss(reduction="sum", ignore_index=3)
    np.testing.assert_allclose(
        ignoring(logs, dygraph.to_variable(classes)).numpy(), [picked[[0, 2]].sum()], rtol=1e-5
    )
    with pytest.raises(ArgumentError, match="'mean', 'sum' or 'none'"):
        dygraph.MSELoss("max")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: dygraph.Conv2D(3, 4, 3, groups=2), "groups to divide"),
        (lambda: dygraph.Conv2D(3, 4, [1, 2, 3]), "list of 2 integers"),
        (lambda: dygraph.Pool2D(2, "sum"), "'max' or 'avg'"),
        (lambda: dygraph.Pool2D(), "positive pool_size"),
        (lambda: dygraph.BatchNorm(3, bias_attr=False), "bias_attr of BatchNorm"),
        (lambda: dygraph.InstanceNorm(3, param_attr=False), "param_attr of InstanceNorm"),
        (lambda: dygraph.LayerNorm(3, bias_attr=False), "pass shift=False"),
        (lambda: dygraph.SpectralNorm([2, 3], dim=2), r"dim in \[0, 2\)"),
        (lambda: dygraph.Embedding([3]), "size="),
        (lambda: dygraph.Dropout(1.5), r"\[0, 1\]"),
        (lambda: dygraph.PRelu("rows"), "'all', 'channel' or 'element'"),
        (lambda: dygraph.PRelu("channel"), "number of channels"),
        (lambda: dygraph.PRelu("element"), "input_shape"),
        (lambda: dygraph.GRUUnit(8), "multiple of 3"),
        (lambda: dygraph.GRUUnit(9, activation="sine"), "activation to be one of"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_bad_inputs_are_refused():
    with pytest.raises(ShapeError, match=r"linear.*test_nn\.py|matmul"):
        dygraph.Linear(3, 2)(tensor(2, 4))
    with pytest.raises(ShapeError, match=r"last sizes are \[4\], got shape \[3, 2\]"):
        dygraph.LayerNorm([4])(tensor(3, 2))
    with pytest.raises(ArgumentError, match="no activation"):
        dygraph.Linear(3, 2, act="reul")(tensor(2, 3))


def test_parameters_are_called_alike_in_programs_and_at_once():
    def names():
        layers = [
            fluid.dygraph.Linear(2, 3),
            fluid.dygraph.Conv2D(3, 4, 3),
            fluid.dygraph.Linear(3, 1),
        ]
        return [p.name for each in layers for p in each.parameters()]

    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        in_program = names()
    for _ in range(2):
        with fluid.dygraph.guard():
            assert names() == in_program
    assert in_program[:4] == ["linear_0.w_0", "linear_0.b_0", "conv2d_0.w_0", "conv2d_0.b_0"]
