"""``paddle.static.quantization`` beside recordings of paddle 2.6.2."""

import base64
import functools
import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from quantized_programs import assert_same_program, assert_same_states
from shares import shared

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import ArgumentError, UnsupportedError
from fluidlite.quantization import static_calibration
from fluidlite.quantization.learned_rounding import WeightedOperator, learned

DATA = Path(__file__).parents[1] / "data" / "quantization26"
quantization = paddle.static.quantization
pytestmark = pytest.mark.filterwarnings("ignore:.*fluidlite does not know the attribute")


@functools.cache
def recorded(name):
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


class Named:
    def __init__(self, name):
        self.name = name


def program_of(kind, name):
    return paddle.static.Program.parse_from_string(base64.b64decode(recorded("nets")[kind][name]))


def built(paddle, kind, minimize=True):
    """The programs that the real paddle built."""
    programs = (program_of(kind, name) for name in ("main", "startup", "test"))
    return *programs, *(Named(recorded("nets")[kind][name]) for name in ("out", "loss"))


def saved_model(paddle, kind, path, executor):
    """The files that the real paddle wrote."""
    Path(path).parent.mkdir(exist_ok=True)
    for name in ("pdmodel", "pdiparams"):
        Path(f"{path}.{name}").write_bytes(base64.b64decode(recorded("nets")[kind][name]))


@functools.cache
def script():
    spec = importlib.util.spec_from_file_location("cases26", DATA / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.built, module.saved_model = built, saved_model
    return module


@pytest.fixture(autouse=True)
def in_static_mode():
    paddle.enable_static()


def without_marks_of_saving(program):
    """A program without what saving a model puts around its results, and passes do not touch."""
    kept = [op for op in program["ops"] if "save_infer_model" not in str(op["outputs"])]
    ops = [op for op in kept if op["type"] not in ("feed", "fetch")]
    for op in ops:
        op["outputs"].pop("XShape", None)
        if op["type"] == "batch_norm_grad":  # slots that nothing here reads
            op["inputs"] = {s: v for s, v in op["inputs"].items() if not s.endswith("Out")}
    return {**program, "ops": ops}


CASES = {name: (function, arguments) for name, function, arguments in script().cases()}


@pytest.mark.parametrize("name", shared(CASES))
def test_passes_make_the_programs_of_paddle(name):
    real, (function, arguments) = recorded("real")[name], CASES[name]
    mine = json.loads(json.dumps(function(paddle, *arguments)))
    for part, value in real.items():
        if part == "states" or part.endswith("_states"):
            assert_same_states(mine[part], value)
        elif isinstance(value, dict):
            pairs = [(mine[part], value)]
            if "program" in value:
                assert_same_states(mine[part]["states"], value["states"])
                pairs = [(mine[part]["program"], value["program"])]
            for pair in pairs:
                assert_same_program(*map(without_marks_of_saving, pair))
        elif isinstance(value[0], str):
            assert mine[part] == value
        else:
            assert np.allclose(mine[part], value, rtol=2e-3, atol=2e-5), part


def test_a_program_can_be_calibrated_in_place_of_a_saved_model():
    _, startup, test, out, _ = built(paddle, "conv")
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    with paddle.static.scope_guard(scope):
        executor.run(startup)
        calibrated = quantization.PostTrainingQuantizationProgram(
            executor,
            test,
            ["x"],
            [out.name],
            scope=scope,
            data_loader=[{"x": script().batch(0)["x"], "y": script().batch(0)["y"]}],
            algo="abs_max",
            return_graph=False,
            skip_tensor_list=["conv2d_1.tmp_0"],
        )
        before = [op.type for op in test.global_block().ops]
        program = calibrated.quantize()
    assert [op.type for op in test.global_block().ops] == before
    rounded = [op.input("X") for op in program.global_block().ops if "fake_quant" in op.type]
    assert rounded == [["x"], ["flatten_0.tmp_0"]]


def test_what_is_not_there_says_so():
    q, executor = quantization, paddle.static.Executor()
    for options, message in (
        ({"algo": "ptf"}, "powers of two"),
        ({"optimize_model": True}, "optimize_model is missing"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            q.PostTrainingQuantization(executor, "a", data_loader=[], **options)
    for kind in (q.QuantInt8MkldnnPass, q.Quant2Int8MkldnnPass):
        with pytest.raises(UnsupportedError, match="oneDNN"):
            kind({"conv2d"})
    with pytest.raises(ArgumentError, match="one of data_loader, batch_generator"):
        q.PostTrainingQuantization(executor, "a")
    with pytest.raises(UnsupportedError, match="no data to learn roundings from"):
        q.QuantizationFreezePass(paddle.static.Scope(), None, round_type="adaround")
    program, place = paddle.static.Program(), paddle.CPUPlace()
    with pytest.raises(ArgumentError, match="each name of config to be one of weight_quantize"):
        q.quant_aware(program, place, {"weights": 8})
    with pytest.raises(ArgumentError, match="weight_bits to be one of 1, 2"):
        q.convert(program, place, {"weight_bits": 64})
    with pytest.raises(ArgumentError, match="expected a scope"):
        q.QuantWeightPass(None, place)


def _net_of_weights(weights):
    """A program with a convolution and a product, its scope, and data."""
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    named = paddle.utils.unique_name.guard()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(scope), named:
        x = paddle.static.data("x", [None, 2, 5, 5], "float32")
        middle = paddle.static.nn.conv2d(x, 3, 3, act="relu", bias_attr=False)
        out = paddle.scale(paddle.static.nn.fc(middle, 4, bias_attr=False), 1.0)
        executor = paddle.static.Executor()
        executor.run(startup)
    for name, array in weights.items():
        scope.find_var(name).get_tensor().set(array)
    rng = np.random.default_rng(0)
    return main, out, scope, [rng.normal(size=(6, 2, 5, 5)).astype("float32") for _ in range(3)]


def _weights(program, scope):
    names = [v.name for v in program.list_vars() if v.name.endswith("w_0")]
    return {name: np.array(scope.find_var(name).get_tensor()) for name in names}


def test_learned_roundings_have_smaller_errors_than_the_nearest(monkeypatch):
    monkeypatch.setattr(static_calibration, "learned", functools.partial(learned, steps=120))
    executor, weights, whole, errors = paddle.static.Executor(), {}, {}, {}
    for kind in ("round", "adaround"):
        main, out, scope, data = _net_of_weights(weights)
        weights = _weights(main, scope)
        exact = [executor.run(main, feed={"x": x}, fetch_list=[out], scope=scope)[0] for x in data]
        program = quantization.PostTrainingQuantizationProgram(
            executor,
            main,
            ["x"],
            [out],
            scope=scope,
            data_loader=[{"x": x} for x in data],
            algo="abs_max",
            quantizable_op_type=["conv2d", "mul", "matmul_v2"],
            round_type=kind,
            learning_rate=0.01,
            activation_bits=8,
            weight_bits=3,
            return_graph=False,
        ).quantize()
        rounded = [executor.run(program, {"x": x}, [out.name], scope=scope)[0] for x in data]
        whole[kind] = _weights(program, scope)
        errors[kind] = sum(((a - b) ** 2).sum() for a, b in zip(rounded, exact, strict=True))
    assert errors["adaround"] < 0.95 * errors["round"]
    for name, nearest in whole["round"].items():
        array = whole["adaround"][name]
        assert (array == np.round(array)).all() and np.abs(array - nearest).max() <= 1


def test_a_weight_of_zeros_is_rounded_as_in_paddle():
    main, out, scope, data = _net_of_weights({"conv2d_0.w_0": np.zeros([3, 2, 3, 3], "float32")})
    program = quantization.PostTrainingQuantizationProgram(
        executor := paddle.static.Executor(),
        main,
        ["x"],
        [out],
        scope=scope,
        data_loader=[{"x": data[0]}],
        algo="abs_max",
        quantizable_op_type=["conv2d"],
        weight_quantize_type="abs_max",
        return_graph=False,
    ).quantize()
    ops = program.global_block().ops
    (factor,) = (op.attr("max_range") for op in ops if op.has_attr("max_range"))
    assert factor == np.float32(1612899942400.0)
    assert not executor.run(program, {"x": data[0]}, [out.name], scope=scope)[0].any()


def test_weights_of_a_scope_are_rounded_by_what_is_learned():
    adaround, executor = quantization.adaround, paddle.static.Executor()
    main, _, scope, data = _net_of_weights({})
    before = _weights(main, scope)
    op = next(op for op in main.global_block().ops if "fc_0.w_0" in op.input_arg_names)
    pairs, types = {"fc_0.w_0": op.output("Out")[0]}, {"fc_0.w_0": op.type}
    scales = {"fc_0.w_0": np.abs(before["fc_0.w_0"]).max(0)}
    fed, own = [{"x": x} for x in data], (None, executor, scope, None)
    name = next(iter(pairs))
    adaround.run_adaround(fed, main, *own, pairs, types, scales, num_iterations=3)
    after = _weights(main, scope)
    parts = before[name] / scales[name] * 127
    assert (after[name] == np.round(after[name])).all() and np.abs(after[name] - parts).max() < 1
    assert (after["conv2d_0.w_0"] == before["conv2d_0.w_0"]).all()
    with pytest.raises(ArgumentError, match="no operator reads 'fc_0.w_0' and writes 'x'"):
        adaround.run_adaround(fed, main, *own, {name: "x"}, types, scales)
    with pytest.raises(ArgumentError, match="expected data to learn roundings with"):
        adaround.run_adaround([], main, *own, pairs, types, scales)


def test_losses_of_learned_roundings_are_those_of_paddle():
    paddle.disable_static()
    loss = quantization.adaround.AdaRoundLoss()
    steps = ((1000, 200, False), (1000, 999, False), (100, 50, 0.2))
    betas = [loss.compute_beta(*each) for each in steps]
    assert np.allclose(betas, [18.281152949374526, 2.000044413183276, 14.444150891285808])
    alpha, beta = paddle.to_tensor([[0.0, 9.0], [1.5, -9.0]]), 4.0
    places = quantization.adaround.compute_soft_rounding(alpha).numpy()
    assert np.allclose(places, quantization.adaround.compute_soft_rounding_np(alpha.numpy()))
    assert np.allclose(places.ravel()[[0, 1, 3]], [0.5, 1, 0])
    penalty = 0.01 * (1 - np.abs(2 * places - 1) ** 4).sum()
    assert np.isclose(float(loss.compute_round_loss(alpha, False, beta)), penalty)
    assert float(loss.compute_round_loss(alpha, True, beta)) == 0
    assert float(loss.compute_recon_loss(alpha, alpha * 0)) == (81 + 81 + 1.5**2) / 2


def test_weights_become_whole_numbers_as_in_paddle():
    x, tools = np.arange(-6, 6, dtype="float32").reshape(3, 4) / 3, quantization.utils
    by_row = [2.0, 1.0, 0.5]
    assert np.allclose(tools.quant_tensor(x, 2.0, 0, 4)[0], [-7, -5.8333330, -4.6666670, -3.5])
    assert np.allclose(tools.quant_tensor(x, by_row)[1], [-84.666672, -42.333336, 0, 42.333336])
    assert tools.quant_tensor(x, 1.0, onnx_format=True)[0].tolist() == [-128, -128, -128, -127]
    assert tools.quant_tensor(x, by_row, 0, 8, True)[1].tolist() == [-85, -42, 0, 42]
    back = tools.dequant_tensor(x * 50, [2.0, 1.0, 0.5, 0.25], 1)
    assert np.allclose(back[0], [-1.5748031, -0.65616792, -0.2624672, -0.098425195])
    whole = np.round(x / 2 * 127)
    same = tools.bias_correction_w(x, whole, 2.0, 0)
    assert np.allclose(same[0], [-126.761856, -105.801231, -84.840607, -63.87999], atol=1e-3)
    columns = tools.bias_correction_w(x, whole, [2.0] * 4, 1)
    assert np.allclose(columns[0], [-127, -105.750313, -84.66668, -63.583003], atol=1e-3)
    assert np.isclose(tools.calculate_quant_cos_error(x, x + 0.1), 0.9963068)
    assert tools.l2_loss(x, x + 0.5) == 0.25
    assert np.allclose(tools.stable_sigmoid(np.array([-800.0, 1.0])), [0, 0.7310586])
    scope = paddle.static.Scope()
    tools.set_variable_data(scope, None, "w", x)
    assert (tools.load_variable_data(scope, "w") == x).all()


def test_parameters_of_all_blocks_can_be_declared_by_the_first():
    program = paddle.static.Program()
    block = program._create_block()
    block.create_var(name="w", shape=[2], persistable=True)
    block.create_var(name="x", shape=[2])
    program._rollback()
    quantization.utils.move_persistable_var_to_global_block(program)
    assert [*program.global_block().vars] == ["w"]
    assert program.global_block().var("w").persistable


def test_machines_name_the_operators_that_are_rounded():
    config = quantization.quant_config
    plain = config.BaseQuantizer()
    assert plain.activation_quant_operation_types == ["mul", "matmul", "matmul_v2"]
    assert len(plain.weight_quant_operation_types) == 6
    assert len(plain.observer_operation_types) == 89
    for kind, count, least in (
        (config.TensorRTQuantizer, 33, -128),
        (config.MKLDNNQuantizer, 7, -128),
        (config.ARMCPUQuantizer, 1, -127),
    ):
        quantizer = kind(["conv2d", "relu"])
        assert quantizer.weight_quant_operation_types == ["conv2d"]
        assert len(quantizer.activation_quant_operation_types) == count
        assert quantizer._quant_min == least


def test_learned_roundings_are_never_worse_than_the_nearest():
    values = np.random.default_rng(15)
    x = fluid.data("x", [None, 6])
    fluid.layers.fc(x, 3, bias_attr=False)
    fluid.Executor().run(fluid.default_startup_program())
    product = fluid.default_main_program().global_block().ops[0]
    layer = WeightedOperator(product, product.input("Y")[0], fluid.global_scope())
    scale, data = np.abs(layer.weight).max(0), values.normal(size=(16, 6)).astype("float32")
    whole = learned(layer, [{"x": data}], scale, 1, bits=4, rate=0.5, steps=4)
    errors = [
        np.square(data @ (rounded * scale / 7 - layer.weight)).sum()
        for rounded in (whole, np.round(layer.weight / scale * 7))
    ]
    assert errors[0] <= errors[1] * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["round", "adaround"])
def test_a_transposed_weight_is_rounded_by_rows(kind):
    weight = (np.arange(12).reshape(3, 4) - 5.3).astype("float32") * [[1], [2], [3]]
    x, results = np.random.default_rng(0).normal(size=(6, 4)).astype("float32"), []
    executor, scope = paddle.static.Executor(), paddle.static.global_scope()
    for turned in (False, True):
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            fed = paddle.static.data("x", [None, 4], "float32")
            shape = [3, 4] if turned else [4, 3]
            w = paddle.static.create_parameter(shape, "float32", name=f"w{turned}.w_0")
            out = paddle.matmul(fed, w, transpose_y=turned)
        executor.run(startup)
        array = (weight if turned else weight.T).astype("float32")
        scope.find_var(w.name).get_tensor().set(array.copy(), paddle.CPUPlace())
        program = quantization.PostTrainingQuantizationProgram(
            executor,
            main,
            ["x"],
            [out],
            scope=scope,
            data_loader=[{"x": x}],
            algo="abs_max",
            quantizable_op_type=["matmul"],
            weight_quantize_type="channel_wise_abs_max",
            round_type=kind,
            return_graph=False,
        ).quantize()
        results += executor.run(program, {"x": x}, [f"{out.name}.dequantized"])
        whole = np.array(scope.find_var(w.name).get_tensor())
        assert (np.abs(whole).max(axis=1 if turned else 0) == 127).all()
    np.testing.assert_allclose(*results, rtol=1e-5)
    np.testing.assert_allclose(results[0], x @ weight.T, atol=0.3)
