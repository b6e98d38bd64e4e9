"""``fluid.contrib.slim.quantization`` beside recordings of fluid 1.8.5."""

import copy
import functools
import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from quantized_programs import assert_same_program, assert_same_states, nearly

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnknownVariableError, UnsupportedError
from fluidlite.quantization import calibration, graphs, stored_weights
from fluidlite.quantization import passes as quantization
from fluidlite.quantization.graph_views import IrGraph

DATA = Path(__file__).parent.parent / "data" / "quantization18"
#: every way to find scales, of activations and of weights, and networks with all passes
TRAINED = [
    *("conv.abs_max.abs_max", "conv.range_abs_max.channel_wise_abs_max"),
    *("conv.abs_max.range_abs_max", "conv.moving_average_abs_max.range_abs_max"),
    *("conv.range_abs_max.moving_average_abs_max", "residual.more", "products.more"),
]
#: ways to find scales after training, and networks whose operators are all rounded
AFTER = [
    "conv.KL.range_abs_max.channel_wise_abs_max",
    "residual.abs_max.moving_average_abs_max.abs_max",
]
AFTER += [
    "products.KL.abs_max.abs_max",
    "conv.min_max.range_abs_max.abs_max",
    "residual.full",
    "products.full",
]
_MARKS = ("out_threshold", "out_min", "out_max", "quantization_type", "min", "max")


@functools.cache
def script():
    spec = importlib.util.spec_from_file_location("cases", DATA / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def recorded():
    return json.loads(gzip.decompress((DATA / "real.json.gz").read_bytes()))


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_and_what_is_made_of_it_are_those_of_fluid(name):
    real, case = recorded()["trained"][name], dict(script().cases())[name]
    mine = script().trained(fluid, (IrGraph, graphs, quantization), *case)
    for part in ("train", "test", "frozen", "int8", "mobile"):
        assert_same_program(mine[part], real[part])
    for part in ("losses", "tested", "frozen_out"):
        assert np.allclose(mine[part], real[part], rtol=2e-4, atol=2e-5), part
    for part in ("states", "frozen_states", "int8_states"):
        assert_same_states(mine[part], real[part])


class Calibration(calibration.PostTrainingQuantization):
    """One that remembers its program, whose marks a file keeps to itself."""

    def quantize(self):
        Calibration.program = super().quantize()


class Calibrated:
    PostTrainingQuantization = Calibration


@pytest.mark.parametrize("name", AFTER)
def test_scales_that_are_found_after_training_are_those_of_fluid(name):
    real, case = copy.deepcopy(recorded()["post"][name]), dict(script().post_cases())[name]
    mine = script().post(fluid, Calibrated, *case)
    marked = {tuple(op.output_arg_names): op for op in Calibration.program.global_block().ops}
    for op in real["program"]["ops"]:
        found = marked.get(tuple(n for names in op["outputs"].values() for n in names))
        for attribute, value in op["attrs"].items():
            if found is not None and attribute.rpartition(".")[2] in _MARKS:
                assert nearly(found.attr(attribute), value), attribute
        op["attrs"] = {n: v for n, v in op["attrs"].items() if n not in _MARKS}
    assert_same_program(mine["program"], real["program"], ())
    assert_same_states(mine["states"], real["states"])
    assert np.allclose(mine["out"], real["out"], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["conv.channel_wise_abs_max.8", "products.abs_max.16"])
def test_weights_that_are_stored_as_whole_numbers_are_those_of_fluid(name):
    real, case = recorded()["weight"][name], dict(script().weight_cases())[name]
    mine = script().weight_only(fluid, stored_weights, *case)
    for part in ("quantized_model", "test_model"):
        assert_same_states(mine[part]["states"], real[part]["states"])
    assert np.allclose(mine["out"], real["out"], rtol=2e-4, atol=2e-5)


def test_calibration_refuses_what_it_cannot_do(tmp_path):
    executor, rows = fluid.Executor(), lambda: iter(())
    with pytest.raises(ArgumentError, match="one of batch_generator and sample_generator"):
        calibration.PostTrainingQuantization(executor, model_dir="a")
    with pytest.raises(ArgumentError, match="an executor and the folder"):
        calibration.PostTrainingQuantization(model_dir="a", sample_generator=rows)
    with pytest.raises(ArgumentError, match="algo to be one of KL, abs_max, min_max"):
        calibration.PostTrainingQuantization(
            executor, model_dir="a", sample_generator=rows, algo="direct"
        )
    script().saved_model(fluid, "conv", str(tmp_path), executor)
    empty = calibration.PostTrainingQuantization(
        executor, model_dir=str(tmp_path), sample_generator=rows
    )
    with pytest.raises(ArgumentError, match="expected data"):
        empty.quantize()
    with pytest.raises(ArgumentError, match="expected quantize"):
        empty.save_quantized_model(str(tmp_path / "b"))
    with pytest.raises(ArgumentError, match="weight_bits to be one of 8, 16"):
        stored_weights.WeightQuantization(str(tmp_path)).quantize_weight_to_int("b", weight_bits=4)


def test_few_bits_give_the_programs_of_fluid():
    name = "residual.4bits"
    real, case = recorded()["trained"][name], dict(script().cases())[name]
    mine = script().trained(fluid, (IrGraph, graphs, quantization), *case)
    for part in ("train", "test"):
        assert_same_program(mine[part], real[part])
    assert np.isclose(mine["losses"][0], real["losses"][0], rtol=1e-5)


def test_wrong_words_are_refused():
    scope = fluid.Scope()
    for words, message in (
        (
            {"activation_quantize_type": "channel_wise_abs_max"},
            "activation_quantize_type to be one",
        ),
        ({"weight_quantize_type": "x"}, "weight_quantize_type to be one of"),
        ({"quantizable_op_type": ["relu"]}, "each of quantizable_op_type"),
    ):
        with pytest.raises(ArgumentError, match=message):
            quantization.QuantizationTransformPass(scope, **words)
    with pytest.raises(ArgumentError, match="each of quantizable_op_type"):
        quantization.AddQuantDequantPass(scope, quantizable_op_type=["conv2d"])
    with pytest.raises(ArgumentError, match="expected an IrGraph"):
        quantization.QuantizationTransformPass(scope).apply(fluid.default_main_program())
    with pytest.raises(ArgumentError, match="expected a scope"):
        quantization.QuantizationFreezePass(None, None)
    with pytest.raises(UnsupportedError, match="insert_before"):
        quantization.QuantizationTransformPass(scope, weight_quantize_func=abs)


def test_a_weight_that_has_no_value_is_named():
    fluid.layers.fc(fluid.data("x", [None, 2], "float32"), 2)
    graph = IrGraph(graphs.Graph(fluid.default_main_program().desc), for_test=True)
    quantization.QuantizationTransformPass(fluid.Scope()).apply(graph)
    with pytest.raises(UnknownVariableError, match=r"no value of 'fc_0.w_0'"):
        quantization.QuantizationFreezePass(fluid.Scope(), None).apply(graph)
