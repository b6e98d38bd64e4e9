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

from fluidlite import paddle
from fluidlite.errors import ArgumentError, UnsupportedError

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
        ({"round_type": "adaround"}, "learned"),
        ({"optimize_model": True}, "optimize_model is missing"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            q.PostTrainingQuantization(executor, "a", data_loader=[], **options)
    for kind in (q.QuantInt8MkldnnPass, q.Quant2Int8MkldnnPass):
        with pytest.raises(UnsupportedError, match="oneDNN"):
            kind({"conv2d"})
    with pytest.raises(ArgumentError, match="one of data_loader, batch_generator"):
        q.PostTrainingQuantization(executor, "a")
    program, place = paddle.static.Program(), paddle.CPUPlace()
    with pytest.raises(ArgumentError, match="each name of config to be one of weight_quantize"):
        q.quant_aware(program, place, {"weights": 8})
    with pytest.raises(ArgumentError, match="weight_bits to be one of 1, 2"):
        q.convert(program, place, {"weight_bits": 64})
    with pytest.raises(ArgumentError, match="expected a scope"):
        q.QuantWeightPass(None, place)
