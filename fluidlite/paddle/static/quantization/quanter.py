"""``quant_aware`` and ``convert``: the passes over graphs in order, by one configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....compiler import CompiledProgram
from ....errors import ArgumentError, UnsupportedError
from ....ground.public_names import list_public_names
from ....ir.program import Program
from ....quantization.editions import PADDLE_2_6
from ....quantization.graph_views import IrGraph
from ....quantization.graphs import Graph
from ....quantization.passes import ACTIVATION_TYPES, WEIGHT_TYPES, no_functions, one_of
from ....quantization.static_passes import (
    AddQuantDequantForInferencePass,
    AddQuantDequantForResidual,
    AddQuantDequantPass,
    AddQuantDequantPassV2,
    ConvertToInt8Pass,
    OutScaleForInferencePass,
    OutScaleForTrainingPass,
    QuantizationFreezePass,
    QuantizationTransformPass,
    QuantizationTransformPassV2,
    QuantWeightPass,
)
from ....scope import Scope, global_scope

WEIGHT_QUANTIZATION_TYPES = ["abs_max", "channel_wise_abs_max", "range_abs_max"]
WEIGHT_QUANTIZATION_TYPES += ["moving_average_abs_max"]
ACTIVATION_QUANTIZATION_TYPES = ACTIVATION_TYPES
WEIGHT_QUANTIZATION_TYPES_TENSORRT = ["channel_wise_abs_max"]
ACTIVATION_QUANTIZATION_TYPES_TENSORRT = ["range_abs_max", "moving_average_abs_max"]
VALID_DTYPES = ["int8"]
TRANSFORM_PASS_OP_TYPES = list(PADDLE_2_6.products)
QUANT_DEQUANT_PASS_OP_TYPES = list(PADDLE_2_6.others)
TENSORRT_OP_TYPES = ["mul", "conv2d", "pool2d", "depthwise_conv2d", "elementwise_add", "leaky_relu"]
_quant_config_default = {
    "weight_quantize_type": "channel_wise_abs_max",
    "activation_quantize_type": "moving_average_abs_max",
    "weight_bits": 8,
    "activation_bits": 8,
    "not_quant_pattern": ["skip_quant"],
    "quantize_op_types": ["conv2d", "depthwise_conv2d", "mul"],
    "dtype": "int8",
    "window_size": 10000,
    "moving_rate": 0.9,
    "for_tensorrt": False,
    "is_full_quantize": False,
    "onnx_format": True,
    "quant_post_first": False,
    "scale_trainable": True,
}
Config = Mapping[str, Any]


def _completed(config: Config | None) -> dict[str, Any]:
    """A configuration with all its entries, which are checked."""
    given = dict(config or {})
    for name in given:
        one_of("each name of config", name, list(_quant_config_default))
    full = {**_quant_config_default, **given}
    one_of("weight_quantize_type", full["weight_quantize_type"], WEIGHT_TYPES)
    one_of("activation_quantize_type", full["activation_quantize_type"], ACTIVATION_TYPES)
    one_of("dtype", full["dtype"], VALID_DTYPES)
    for name in ("weight_bits", "activation_bits"):
        one_of(name, full[name], range(1, 17))
    types = full["quantize_op_types"]
    known = [*dict.fromkeys([*TRANSFORM_PASS_OP_TYPES, *QUANT_DEQUANT_PASS_OP_TYPES])]
    if full["is_full_quantize"]:
        types = known
    elif full["for_tensorrt"]:
        types = TENSORRT_OP_TYPES
    for each in types:
        one_of("each of quantize_op_types", each, known)
    if full["quant_post_first"]:
        raise UnsupportedError(
            "quant_post_first is missing: run PostTrainingQuantizationProgram, and give "
            "its scales as scale_dict"
        )
    return {**full, "quantize_op_types": list(types)}


def _parts(types: Sequence[str]) -> tuple[list[str], list[str]]:
    """Operators with weights, and others."""
    products = [each for each in types if each in TRANSFORM_PASS_OP_TYPES]
    return products, [each for each in types if each in QUANT_DEQUANT_PASS_OP_TYPES]


def quant_aware(
    program: Program,
    place: Any,
    config: Config | None = None,
    scope: Scope | None = None,
    for_test: bool = False,
    weight_quantize_func: None = None,
    act_quantize_func: None = None,
    weight_preprocess_func: None = None,
    act_preprocess_func: None = None,
    optimizer_func: None = None,
    executor: Any = None,
    return_program: bool = False,
    calib_config: Config | None = None,
    draw_graph: bool = False,
    return_scale_dict: bool = False,
    scale_dict: Mapping[str, float] | None = None,
    model_type: str | None = None,
    pattern_ops: Sequence[str] | None = None,
) -> Any:
    """A program whose operators read rounded numbers.

    Args:
        program: stays as it is.
        place: not read.
        config: what differs from the usual configuration.
        scope: gets the first scales; the current one when None.
        for_test: whether scales stay as they are.
        weight_quantize_func, act_quantize_func, optimizer_func, executor: None.
        weight_preprocess_func, act_preprocess_func: None.
        return_program: whether a program is returned in training, too.
        calib_config: not read.
        draw_graph: False.
        return_scale_dict: whether the scales are returned, too.
        scale_dict: the first scales of variables.
        model_type, pattern_ops: None.

    Returns:
        a program with ``for_test`` or ``return_program``, a compiled one otherwise; with
        ``return_scale_dict`` the scales besides.

    Raises:
        ArgumentError: an entry of the configuration is unknown, or has an unknown value.
        UnsupportedError: an argument has a value that is missing here.

    >>> from fluidlite.paddle.static import quantization
    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> program = quantization.quant_aware(
    ...     fluid.default_main_program(), fluid.CPUPlace(), for_test=True
    ... )
    >>> [op.type for op in program.global_block().ops][:3]
    ['quantize_linear', 'dequantize_linear', 'quantize_linear']
    """
    no_functions(
        *(weight_quantize_func, act_quantize_func, weight_preprocess_func, act_preprocess_func)
    )
    if draw_graph or model_type or pattern_ops:
        raise UnsupportedError("draw_graph, model_type and pattern_ops are missing: leave them out")
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a program, got {program!r:.60}")
    full, scope = _completed(config), scope or global_scope()
    is_linear = full["onnx_format"]
    graph = IrGraph(Graph(program.desc), for_test=for_test)
    AddQuantDequantForResidual(scope, place, full["activation_bits"], for_test).apply(graph)
    products, others = _parts(full["quantize_op_types"])
    skip, rate = full["not_quant_pattern"], full["moving_rate"]
    if products:
        with_weights = QuantizationTransformPassV2 if is_linear else QuantizationTransformPass
        names = ["weight_bits", "activation_bits", "activation_quantize_type"]
        names += ["weight_quantize_type", "window_size", "moving_rate"]
        options = {name: full[name] for name in names}
        with_weights(
            scope, place, skip_pattern=skip, quantizable_op_type=products, **options
        ).apply(graph)
    if others:
        without = AddQuantDequantPassV2 if is_linear else AddQuantDequantPass
        bits = full["activation_bits"]
        without(scope, place, rate, bits, skip, others, scale_dict=scale_dict).apply(graph)
    OutScaleForTrainingPass(scope, place, rate, scale_dict=scale_dict).apply(graph)
    result: Any = graph.to_program()
    if not (for_test or return_program):
        result = CompiledProgram(result)
    return (result, scale_dict) if return_scale_dict else result


def convert(
    program: Program,
    place: Any,
    config: Config | None = None,
    scope: Scope | None = None,
    save_int8: bool = False,
) -> Any:
    """A program for inference, whose weights are whole numbers, in the scope, too.

    Args:
        program: of :func:`quant_aware` with ``for_test``; it stays as it is.
        place: not read.
        config: as it was given to :func:`quant_aware`.
        scope: has weights and scales; the current one when None.
        save_int8: whether to return a program with weights of 8 bits, too.

    Returns:
        the program; with ``save_int8`` that and the other one.

    Raises:
        ArgumentError: an entry of the configuration is unknown, or has an unknown value.
        UnknownVariableError: a weight or a scale is not in the scope.
    """
    full, scope = _completed(config), scope or global_scope()
    graph = IrGraph(Graph(program.desc), for_test=True)
    bits = {name: full[name] for name in ("weight_bits", "activation_bits")}
    if full["onnx_format"]:
        AddQuantDequantForInferencePass(scope, place, full["activation_bits"]).apply(graph)
        QuantWeightPass(scope, place, quant_bits=full["weight_bits"]).apply(graph)
    else:
        OutScaleForInferencePass(scope).apply(graph)
        weight = full["weight_quantize_type"]
        QuantizationFreezePass(scope, place, weight_quantize_type=weight, **bits).apply(graph)
    result = graph.to_program()
    if not save_int8:
        return result
    ConvertToInt8Pass(scope, place).apply(graph)
    return result, graph.to_program()


list_public_names(globals())
