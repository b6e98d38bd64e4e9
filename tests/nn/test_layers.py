"""Layers in paddle 2's spelling compute what they do there, on tensors and in programs."""

import gzip
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import nn
from fluidlite.errors import ArgumentError, ShapeError

rng = np.random.RandomState(0)
IMAGES = rng.rand(3, 4, 6, 6).astype("float32")
ROWS = rng.rand(3, 8).astype("float32")
STEPS = rng.rand(3, 4, 7).astype("float32")
IDS = np.array([[1, 2], [0, 3], [4, 4]])
LABEL = np.array([[0], [2], [7]])
SIDES = rng.rand(3, 8).astype("float32") * 0.8 + 0.1
LAYERS = {
    "Linear": (lambda: nn.Linear(8, 3), [ROWS]),
    "Linear without bias": (lambda: nn.Linear(8, 3, bias_attr=False), [ROWS]),
    "Bilinear": (lambda: nn.Bilinear(8, 8, 3), [ROWS, SIDES]),
    "Embedding": (lambda: nn.Embedding(5, 3, padding_idx=0), [IDS]),
    "Conv2D": (lambda: nn.Conv2D(4, 2, 3, padding=1, stride=2), [IMAGES]),
    "Conv2D reflect": (
        lambda: nn.Conv2D(4, 4, 3, padding=1, padding_mode="reflect", groups=2),
        [IMAGES],
    ),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(4, 2, 2, stride=2), [IMAGES]),
    "Conv1D": (lambda: nn.Conv1D(4, 2, 3, padding=1), [STEPS]),
    "BatchNorm1D": (lambda: nn.BatchNorm1D(8), [ROWS]),
    "BatchNorm2D": (lambda: nn.BatchNorm2D(4), [IMAGES]),
    "LayerNorm": (lambda: nn.LayerNorm([6, 6]), [IMAGES]),
    "LayerNorm of rows": (lambda: nn.LayerNorm(8), [ROWS]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [IMAGES]),
    "InstanceNorm2D": (lambda: nn.InstanceNorm2D(4), [IMAGES]),
    "MaxPool2D": (lambda: nn.MaxPool2D(2), [IMAGES]),
    "AvgPool2D": (lambda: nn.AvgPool2D(3, 2, 1), [IMAGES]),
    "AdaptiveAvgPool2D": (lambda: nn.AdaptiveAvgPool2D(2), [IMAGES]),
    "AdaptiveMaxPool2D": (lambda: nn.AdaptiveMaxPool2D(3), [IMAGES]),
    "Flatten": (lambda: nn.Flatten(), [IMAGES]),
    "Pad2D": (lambda: nn.Pad2D([1, 0, 2, 1], "replicate"), [IMAGES]),
    "PReLU": (lambda: nn.PReLU(4), [IMAGES - 0.5]),
    "Maxout": (lambda: nn.Maxout(2), [IMAGES]),
    "Dropout in tests": (lambda: nn.Dropout(0.5), [ROWS]),
    "Dropout2D in tests": (lambda: nn.Dropout2D(0.5), [IMAGES]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), [ROWS, SIDES]),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(), [ROWS, LABEL]),
    "CrossEntropyLoss smooth": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), [ROWS, LABEL]),
    "CrossEntropyLoss ignoring": (lambda: nn.CrossEntropyLoss(ignore_index=2), [ROWS, LABEL]),
    "MSELoss": (lambda: nn.MSELoss("sum"), [ROWS, SIDES]),
    "L1Loss": (lambda: nn.L1Loss(), [ROWS, SIDES]),
    "SmoothL1Loss": (lambda: nn.SmoothL1Loss(delta=0.2), [ROWS, SIDES]),
    "BCELoss": (lambda: nn.BCELoss(), [SIDES, ROWS]),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(), [ROWS, SIDES]),
    "KLDivLoss": (lambda: nn.KLDivLoss(), [ROWS, SIDES]),
    **{
        name: (getattr(nn, name), [ROWS - 0.5])
        for name in (
            *("ReLU", "ReLU6", "ELU", "CELU", "SELU", "GELU", "LeakyReLU", "Sigmoid", "LogSigmoid"),
            *("Tanh", "Tanhshrink", "Softmax", "LogSoftmax", "Softplus", "Softsign", "Softshrink"),
            *("Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Silu", "Swish", "Mish"),
            *("ThresholdedReLU", "GLU", "Identity"),
        )
    },
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_in_a_program_what_it_does_at_once(name):
    make, arrays = LAYERS[name]
    layer = make()
    layer.eval()
    wanted = layer(*map(fluid.to_tensor, arrays)).numpy()
    variables = [
        fluid.data(f"x{k}", [None, *a.shape[1:]], str(a.dtype)) for k, a in enumerate(arrays)
    ]
    out = layer(*variables)
    exe = fluid.Executor()
    if layer.state_dict():
        exe.run(fluid.default_startup_program())
    feed = {v.name: a for v, a in zip(variables, arrays)}
    (found,) = exe.run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-6)
    names = {p.name for p in fluid.default_main_program().all_parameters()}
    assert names == {p.name for p in layer.parameters()}


ROUNDED = 2e-4  #: what is recorded has four digits; gradients are sums of several of them
RECORDED = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "data" / "layers_of_paddle2.json.gz").read_bytes())
)


def as_array(listed):
    """What is recorded is float32, int64 or truth values."""
    array = np.array(listed)
    return array.astype("float32") if array.dtype.kind == "f" else array


def made(name, args, options):
    """What is called with the inputs: a layer, or a function with its arguments."""
    if name.startswith("F."):
        return lambda *inputs: getattr(nn.functional, name[2:])(*inputs, *args, **options)
    kind, _, cell = name.partition(" ")
    if cell:
        args = [getattr(nn, cell)(*args) for _ in range(1 + (kind == "BiRNN"))]
    return getattr(nn, kind)(*args, **options)


def first(out):
    return first(out[0]) if isinstance(out, (list, tuple)) else out


class Called(nn.Layer):
    """A function as a layer, which programs take."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case[0]} {case[1]} {case[2]}")
def test_a_layer_computes_what_it_does_in_paddle_2(case):
    name, args, options, inputs, wanted, gradient = case
    layer = made(name, args, options)
    layer = layer if isinstance(layer, nn.Layer) else Called(layer)
    layer.eval()
    for p in layer.parameters():
        count = int(np.prod(p.shape))
        values = np.sin(np.arange(count) * 1.7 + len(p.shape))
        p.set_value(values.reshape(p.shape).astype("float32"))
    arrays = [as_array(x) for x in inputs]
    tensors = [fluid.to_tensor(x, stop_gradient=x.dtype.kind != "f") for x in arrays]
    in_place = name.endswith("_")
    out = first(layer(*(t * 1.0 if in_place else t for t in tensors)))
    assert list(out.shape) == list(np.shape(wanted))
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=ROUNDED)
    if gradient is not None:
        weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted)).astype("float32")
        fluid.sum(out * fluid.to_tensor(weights)).backward()
        np.testing.assert_allclose(tensors[0].grad.numpy(), gradient, rtol=1e-4, atol=ROUNDED)
    if in_place:
        return  # programs write nothing in place
    variables = [fluid.data(f"x{k}", list(x.shape), str(x.dtype)) for k, x in enumerate(arrays)]
    appended, exe = first(layer(*variables)), fluid.Executor()
    if layer.state_dict():
        exe.run(fluid.default_startup_program())
    feed = {v.name: x for v, x in zip(variables, arrays)}
    (found,) = exe.run(feed=feed, fetch_list=[appended])
    translated = first(fluid.dygraph.to_static(layer)(*tensors)).numpy()
    for values in (found, translated):
        values = values.reshape(np.shape(wanted))
        np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=ROUNDED)


def test_dropped_values_keep_mean_and_variance():
    fluid.seed(3)
    x = fluid.to_tensor(np.random.RandomState(0).randn(200000).astype("float32"))
    out = nn.AlphaDropout(0.3)(x).numpy()
    assert abs(out.mean()) < 0.01 and abs(out.var() - 1) < 0.01
    assert len(np.unique(out)) < 150000


def test_whole_channels_of_volumes_are_dropped():
    fluid.seed(3)
    out = nn.Dropout3D(0.5)(fluid.ones([4, 16, 2, 2, 2])).numpy()
    assert set(np.unique(out)) == {0.0, 2.0}
    assert np.array_equal(out.min((2, 3, 4)), out.max((2, 3, 4)))


X2, X4 = fluid.ones([1, 2]), fluid.ones([1, 1, 2, 2])


@pytest.mark.parametrize(
    "wrong, said",
    [
        (lambda: nn.Conv1D(2, 2, [1, 2]), "expected kernel_size to be a number, or 1"),
        (lambda: nn.Conv3D(2, 2, 3, data_format="NCHW"), "NCDHW"),
        (lambda: nn.Upsample()(fluid.ones([1, 1, 2, 2])), "size or scale_factor"),
        (lambda: nn.Upsample(2, mode="cubic")(fluid.ones([1, 1, 2, 2])), "got 'cubic' for 2"),
        (lambda: nn.Upsample(scale_factor=-1.3)(fluid.ones([1, 1, 2, 2])), "above 0"),
        (lambda: nn.AlphaDropout(1.0)(fluid.ones([2])), "expected p in"),
        (lambda: nn.MaxPool2D(2, return_mask=True, data_format="NHWC")(X4), "channels first"),
        (lambda: nn.MaxUnPool2D(2, data_format="NHWC")(X4, X4), "data_format NCHW"),
        (lambda: nn.RReLU(0.5, 0.2)(X2), "expected 0 <= lower <= upper <= 1"),
        (lambda: nn.functional.gumbel_softmax(X2, 0.0), "expected temperature above 0"),
        (lambda: nn.functional.grid_sample(X4, X4, "cubic"), "expected mode to be bilinear"),
        (lambda: nn.HSigmoidLoss(2, 1), "num_classes of at least 2"),
        (lambda: nn.HSigmoidLoss(2, 4, is_custom=True)(X2, X2), "path_table and path_code"),
        (lambda: nn.MaxPool1D(2, padding=[1, 2, 3])(fluid.ones([1, 1, 4])), "expected padding"),
    ],
)
def test_an_option_out_of_range_is_refused(wrong, said):
    with pytest.raises(ArgumentError, match=said):
        wrong()


def test_a_layer_trains_in_a_program_as_at_once():
    net = nn.Sequential(nn.Conv2D(4, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(32, 8))
    x, label = fluid.data("x", [None, 4, 6, 6], "float32"), fluid.data("l", [None, 1], "int64")
    loss = nn.CrossEntropyLoss()(net(x), label)
    fluid.optimizer.Momentum(0.05, 0.9, weight_decay=1e-3).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": IMAGES, "l": LABEL}
    static = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(5)]
    momentum = fluid.optimizer.Momentum(0.05, 0.9, parameters=net.parameters(), weight_decay=1e-3)
    eager = []
    for _ in range(5):
        value = nn.CrossEntropyLoss()(net(fluid.to_tensor(IMAGES)), fluid.to_tensor(LABEL))
        value.backward()
        momentum.step()
        momentum.clear_grad()
        eager.append(float(value))
    np.testing.assert_allclose(static, eager, rtol=1e-4)
    mean = np.array(fluid.global_scope().find_var(net[1]._mean.name).get_tensor())
    np.testing.assert_allclose(mean, net[1]._mean.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (lambda: nn.PixelUnshuffle(3)(fluid.ones([1, 1, 2, 2])), "downscale_factor=3 divides"),
        (lambda: nn.Fold(4, 2)(fluid.ones([1, 7, 9])), "a multiple of 4 elements"),
        (
            lambda: nn.MaxUnPool2D(2, output_size=[1])(X4, X4),
            "expected 2 sizes of the result|between",
        ),
        (lambda: nn.Softmax2D()(X2), "3 or 4 dimensions"),
        (lambda: nn.functional.affine_grid(X4, [1, 1, 2, 2]), "expected theta of shape"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(wrong, said):
    with pytest.raises(ShapeError, match=said):
        wrong()


def test_slopes_are_drawn_in_training_and_by_the_seed():
    layer, x = nn.RReLU(0.1, 0.3), fluid.full([1000], -1.0)
    fluid.seed(1)
    out = -layer(x).numpy()
    assert out.min() >= 0.1 and out.max() < 0.3 and abs(out.mean() - 0.2) < 0.01
    fluid.seed(1)
    np.testing.assert_array_equal(-layer(x).numpy(), out)


def test_classes_are_drawn_by_their_logits():
    fluid.seed(1)
    logits = fluid.to_tensor(
        np.log(np.tile([[0.2, 0.8]], [2000, 1])), "float32", stop_gradient=False
    )
    hard = nn.functional.gumbel_softmax(logits, hard=True)
    assert abs(hard.numpy()[:, 1].mean() - 0.8) < 0.03
    fluid.sum(hard[:, 0]).backward()
    assert abs(logits.grad.numpy()).max() > 0.01
    soft = Called(nn.functional.gumbel_softmax)(fluid.data("x", [None, 3], "float32"))
    (found,) = fluid.Executor().run(feed={"x": np.ones([4, 3], "float32")}, fetch_list=[soft])
    np.testing.assert_allclose(found.sum(1), 1.0, rtol=1e-5)


def test_channels_are_dropped_anew_in_every_run():
    layer = nn.Dropout2D(0.5)
    out = layer(fluid.data("x", [None, 64, 2, 2], "float32"))
    exe = fluid.Executor()
    ones = np.ones([2, 64, 2, 2], "float32")
    first, second = (exe.run(feed={"x": ones}, fetch_list=[out])[0] for _ in range(2))
    assert set(np.unique(first)) == {0.0, 2.0} and not np.array_equal(first, second)
    assert np.array_equal(first.min((2, 3)), first.max((2, 3)))


def test_what_is_computed_of_parameters_outside_is_no_constant_of_a_program():
    w = fluid.create_parameter([2, 2], "float32")

    class Net(nn.Layer):
        def forward(self, x):
            return fluid.matmul(x, w * 2.0)

    with pytest.raises(ArgumentError, match="computed from parameters outside"):
        Net()(fluid.data("x", [None, 2], "float32"))


def test_containers_hold_layers():
    layers = nn.LayerList([nn.Linear(2, 2) for _ in range(3)])
    assert len(layers) == 3 and len(layers.parameters()) == 6
    heads = nn.LayerDict({"a": nn.Linear(2, 1)})
    heads["b"] = nn.Linear(2, 3)
    assert [*heads] == ["a", "b"] and "a" in heads and len(heads.parameters()) == 4
    del heads["a"]
    assert [*heads.keys()] == ["b"] and [n for n, _ in heads.items()] == ["b"]
    kept = nn.ParameterList([fluid.create_parameter([2], "float32")])
    assert len(kept.parameters()) == 1 == len([*kept])
    assert "Linear(in_features=2, out_features=2, dtype=float32)" in repr(layers)


def test_a_function_is_applied_to_the_innermost_layers_first():
    seen = []
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    assert net.apply(lambda layer: seen.append(type(layer).__name__)) is net
    assert seen == ["Linear", "ReLU", "Sequential", "Sequential"]


def test_a_layer_is_cast():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2)).to(dtype="float64")
    assert {t.array.dtype.name for t in net.state_dict().values()} == {"float64"}
    assert net(fluid.ones([3, 2], "float64")).array.dtype == np.float64
    for arguments in ({"device": "gpu"}, {"blocking": 3}):
        with pytest.raises(ArgumentError):
            net.to(**arguments)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("GELU", ["approximate", "name"]),
        ("LeakyReLU", ["negative_slope", "name"]),
        ("Softplus", ["beta", "threshold", "name"]),
        (
            "MaxPool2D",
            [
                *[
                    "kernel_size",
                    "stride",
                    "padding",
                    "return_mask",
                    "ceil_mode",
                    "data_format",
                    "name",
                ]
            ],
        ),
        ("Flatten", ["start_axis", "stop_axis"]),
    ],
)
def test_options_are_those_of_paddle_2(name, parameters):
    assert [*inspect.signature(getattr(nn, name)).parameters] == parameters
    with pytest.raises(TypeError):
        getattr(nn, name)(nonsense=1)


def test_optimizers_take_one_name_or_the_other():
    w = fluid.create_parameter([2], "float32")
    for kind in ("SGD", "Adam", "Adamax", "RMSProp", "Adadelta", "Adagrad", "Ftrl", "Lamb"):
        made = getattr(fluid.optimizer, kind)(0.1, parameters=[w])
        fluid.sum(w * w).backward()
        made.step()
        made.clear_grad()
    both = {"parameters": [w], "parameter_list": [w]}
    with pytest.raises(ArgumentError, match="parameter_list and parameters cannot be given both"):
        fluid.optimizer.SGD(0.1, **both)
    decayed = fluid.optimizer.SGD(0.1, parameters=[w], weight_decay=0.5)
    before = w.numpy()
    fluid.sum(w * 0.0).backward()
    decayed.step()
    np.testing.assert_allclose(w.numpy(), before * 0.95, rtol=1e-6)
