"""paddle.amp on a CPU: checked, said to be without effect, and debugging of numbers."""

import importlib.util

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import FluidWarning, UnsupportedError

amp, debugging = paddle.amp, paddle.amp.debugging


@pytest.fixture
def layer():
    return paddle.nn.Linear(2, 3)


@pytest.mark.parametrize("level", ["O0", "OD", "O1", "O2", "o1"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operators_work_in_float32_under_a_guard_that_says_so(layer, level, dtype):
    guard = amp.auto_cast(custom_white_list={"exp"}, level=level, dtype=dtype)
    with pytest.warns(FluidWarning, match="without effect on a CPU"):
        guard.__enter__()
    found = paddle.exp(layer(paddle.ones([1, 2])))
    guard.__exit__(None, None, None)
    assert found.dtype == paddle.float32
    with amp.auto_cast(enable=False):
        pass


@pytest.mark.parametrize(
    "options",
    [
        {"level": "O3"},
        {"level": 1},
        {"dtype": "float32"},
        {"custom_white_list": {"exp"}, "custom_black_list": ["exp"]},
    ],
)
def test_guards_of_other_arguments_are_refused(options):
    with pytest.raises(ValueError, match="expected|both"), amp.auto_cast(**options):
        pass


def test_models_and_optimizers_stay_as_they_are(layer):
    sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    assert amp.decorate(layer, sgd, level="O2") == (layer, sgd)
    assert amp.amp_decorate([layer], level="O2") == [layer]
    assert layer.weight.dtype == paddle.float32
    for options in ({"level": "O0"}, {"dtype": "float64"}):
        with pytest.raises(ValueError, match="expected"):
            amp.decorate(layer, **options)


def test_bfloat16_is_supported_with_its_package_and_float16_is_not():
    installed = importlib.util.find_spec("ml_dtypes") is not None
    for device in (None, "cpu", paddle.CPUPlace()):
        assert not amp.is_float16_supported(device)
        assert amp.is_bfloat16_supported(device) == installed
    for device in ("gpu:0", "", 3):
        with pytest.raises(ValueError, match="no device"):
            amp.is_bfloat16_supported(device)


@pytest.mark.parametrize("kind", ["AmpScaler", "GradScaler"])
def test_scalers_leave_losses_and_keep_their_numbers(layer, kind):
    with pytest.warns(FluidWarning, match=f"{kind} is without effect"):
        scaler = getattr(amp, kind)(init_loss_scaling=1024)
    assert not scaler.is_enable()
    assert not scaler.is_use_dynamic_loss_scaling()
    assert scaler.get_init_loss_scaling() == 1024
    for name, value in (
        ("incr_ratio", 3.0),
        ("decr_ratio", 0.25),
        ("incr_every_n_steps", 7),
        ("decr_every_n_nan_or_inf", 5),
        ("init_loss_scaling", 8.0),
    ):
        getattr(scaler, f"set_{name}")(value)
        assert getattr(scaler, f"get_{name}")() == value
    for name, value in (("incr_ratio", 1.0), ("decr_ratio", 1.0)):
        with pytest.raises(AssertionError, match=f"new_{name}"):
            getattr(scaler, f"set_{name}")(value)
    assert scaler.state_dict() == {}
    scaler.load_state_dict({})
    loss = layer(paddle.ones([1, 2])).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    before = layer.bias.numpy()
    scaler.minimize(paddle.optimizer.SGD(0.5, layer.parameters()), loss)
    np.testing.assert_allclose(layer.bias.numpy(), before - 0.5)


def test_a_scaler_makes_steps_one_by_one(layer):
    scaler = amp.GradScaler(enable=False)
    sgd = paddle.optimizer.SGD(0.5, layer.parameters())
    scaler.scale(layer(paddle.ones([1, 2])).sum()).backward()
    scaler.unscale_(sgd)
    before = layer.bias.numpy()
    scaler.step(sgd)
    scaler.update()
    np.testing.assert_allclose(layer.bias.numpy(), before - 0.5)


def test_static_mode_has_its_own():
    paddle.enable_static()
    try:
        for make in (lambda: amp.auto_cast().__enter__(), amp.GradScaler, lambda: amp.decorate(1)):
            with pytest.raises(AssertionError, match="dynamic mode"):
                make()
    finally:
        paddle.disable_static()


def test_lists_are_those_of_2_6():
    assert [len(amp.white_list()[t]["O1"]) for t in ("float16", "bfloat16")] == [11, 7]
    assert [len(amp.black_list()["float16"][level]) for level in ("OD", "O1", "O2")] == [0, 52, 8]


@pytest.mark.parametrize(
    "values, mode, counts, said",
    [
        ([1.0, 2.0, 0.0], "CHECK_NAN_INF", [0, 0, 1], ""),
        (
            [1.0, np.nan, np.inf, 0.0, -np.inf],
            "CHECK_NAN_INF",
            [1, 2, 1],
            "[PRECISION] [ERROR] in [device=cpu, op=op, tensor=var, dtype=fp32], numel=5, "
            "num_nan=1, num_inf=2, num_zero=1, max=inf, min=-inf, mean=nan\n",
        ),
        (
            [1.0, 3.0, -2.0],
            "CHECK_ALL",
            [0, 0, 0],
            "[PRECISION] in [device=cpu, op=op, tensor=var, dtype=fp32], numel=3, num_zero=0, "
            "max=3.000000e+00, min=-2.000000e+00, mean=6.666667e-01\n",
        ),
        (
            [1.0, 1e30],
            "CHECK_ALL_FOR_OVERFLOW",
            [0, 0, 0],
            "[PRECISION] in [device=cpu, op=op, tensor=var, dtype=fp32], numel=2, num_zero=0, "
            "max=1.000000e+30, min=1.000000e+00, mean=5.000000e+29\n",
        ),
        ([1.0, 100.0], "CHECK_ALL_FOR_OVERFLOW", [0, 0, 0], ""),
    ],
)
def test_numbers_are_counted_and_told_as_the_mode_says(capsys, values, mode, counts, said):
    x = paddle.to_tensor(values, dtype="float32")
    found, _ = debugging.check_numerics(x, "op", "var", debugging.DebugMode[mode])
    assert found.tolist() == counts
    assert capsys.readouterr().out == said


def test_numbers_that_are_not_finite_are_an_error_where_that_is_said(capsys):
    with pytest.raises(RuntimeError, match="num_nan=1, num_inf=0"):
        debugging.check_numerics(paddle.to_tensor([1.0, float("nan")]), "op", "var")
    with pytest.raises(ValueError, match="tensor of floats"):
        debugging.check_numerics(paddle.to_tensor([1]), "op", "var")


def test_a_checker_looks_at_operators_and_their_gradients(capsys):
    config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_NAN_INF)
    x = paddle.to_tensor([1.0, 0.0, 3.0], stop_gradient=False)
    debugging.enable_tensor_checker(config)
    paddle.log(x)
    paddle.sqrt(x).sum().backward()
    debugging.disable_tensor_checker()
    paddle.log(x)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("op=")[1].split(",")[0] for line in lines] == ["log", "sqrt_grad"]
    assert "num_nan=0, num_inf=1, num_zero=1, max=1.098612e+00, min=-inf, mean=-inf" in lines[0]


@pytest.mark.parametrize(
    "options, errors",
    [
        ({}, 1),
        ({"checked_op_list": ["exp"]}, 0),
        ({"skipped_op_list": ["log"]}, 0),
        ({"debug_step": [1, 2]}, 0),
        ({"debug_step": [0, 1]}, 1),
    ],
)
def test_a_checker_looks_where_it_is_told_to(options, errors):
    debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True, **options))
    found = 0
    try:
        paddle.log(paddle.zeros([2]))
    except RuntimeError:
        found = 1
    finally:
        debugging.disable_tensor_checker()
    assert found == errors


def test_a_checked_layer_tells_what_is_not_finite(capsys):
    class Divides(paddle.nn.Layer):
        @debugging.check_layer_numerics
        def forward(self, x):
            return 1.0 / x

    Divides()(paddle.zeros([2]))
    assert "num_inf=2" in capsys.readouterr().out
    with pytest.raises(ValueError, match="first input"):
        Divides()(3)


def test_operators_are_counted_by_element_type(capsys):
    x = paddle.ones([2])
    with debugging.collect_operator_stats():
        paddle.exp(paddle.exp(x))
        paddle.exp(x.astype("float16"))
    paddle.exp(x)
    table = capsys.readouterr().out.splitlines()
    assert table[1].endswith("| --- FP32 Calls--- | -- Other Calls -->")
    (row,) = [line for line in table if line.startswith("  exp ")]
    assert [int(cell) for cell in row.split("|")[1:]] == [1, 0, 2, 0]
    assert table[-2].strip("<>-") == f" op count: {len(table) - 4} "
    debugging.disable_operator_stats_collection()
    assert not capsys.readouterr().out


def test_what_reads_files_of_gpus_is_refused():
    with pytest.raises(UnsupportedError, match="runs on a GPU"):
        debugging.compare_accuracy("a", "b", "c")
