"""What becomes of a program whose products were rounded: whole numbers as weights.

:func:`freeze` puts them into the scope and leaves the roundings of what is computed;
:func:`as_int8` stores them in 8 bits.  Names, operators and their order are those of an edition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import unique_name
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Operator
from ..ir.operator_arguments import undeclared_value
from ..ir.program import Program
from ..opdef.whole_numbers import beside, largest, scales_along
from ..scope import Scope
from .editions import CONVOLUTIONS, FLUID_1_8, Edition
from .rounding import (
    ABS_MAX,
    BACK,
    KIND,
    MOVING,
    RANGE,
    Insertions,
    array_of,
    is_forward,
    is_weight,
    put,
)
from .weights import scale_beside, spread_like


def whole_numbers(array: Any, scale: Any, bits: int, axis: int = 0) -> Any:
    """Numbers as whole ones, in their own type.

    Args:
        array: the numbers.
        scale: what the largest whole number stands for; one for each slice, or one for all.
        bits: of whole numbers.
        axis: the dimension of slices.
    """
    return np.round(array / scale_beside(array, scale, axis) * largest(bits))


def stored(
    array: Any, scale: Any, bits: int, axis: int, correct: bool, is_clipped: bool = True
) -> Any:
    """Whole numbers in place of a weight.

    Args:
        array: the weight.
        scale: what the largest whole number stands for; one for each slice, or one for all.
        bits: of whole numbers.
        axis: the dimension of slices.
        correct: whether what they stand for shall have the mean and the spread of the weight.
        is_clipped: whether what is beyond the scale becomes the largest number.
    """
    whole, most = whole_numbers(array, scale, bits, axis), largest(bits)
    if is_clipped:
        whole = np.clip(whole, -most - 1, most)
    if not correct:
        return whole
    numbers = np.asarray(scale, array.dtype).reshape(-1)
    axis = axis if numbers.size > 1 else -1
    step = beside(np, numbers, array, axis) / most
    return np.clip(np.round(spread_like(whole * step, array, axis) / step), -most - 1, most)


def freeze(
    program: Program,
    scope: Scope,
    weight: str = ABS_MAX,
    activation_bits: int = 8,
    weight_bits: int = 8,
    edition: Edition = FLUID_1_8,
    correct: bool = False,
) -> None:
    """Weights become whole numbers in the scope, and what products of them give is turned back.

    Args:
        program: whose products were rounded, for a test.
        scope: has weights and scales.
        weight: how scales of weights were found.
        activation_bits, weight_bits: of whole numbers.
        edition: how the program is written.
        correct: rounded weights shall have the mean and the spread of the weights.

    Raises:
        UnknownVariableError: a weight or a scale is not in the scope.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    quantized = {op.output("Out")[0]: op for op in within.ops if _is_rounding(op)}
    backs = [op for op in within.ops if _turns_back(op) and op.input("X")[0] in quantized]
    sources = {op.output("Out")[0]: quantized[op.input("X")[0]] for op in backs}
    transposed = {name for op in within.ops if is_transposed(op) for name in op.input("Y")}
    ways = weight, weight_bits, correct, edition.is_later
    scales = {
        op.input("X")[0]: _frozen(op, scope, *ways, result in transposed)
        for result, op in sources.items()
        if is_weight(block, op.input("X")[0])
    }
    after: dict[str, str] = {}
    for at, op in enumerate(within.ops):
        for name in [n for n in op.input_arg_names if n in after]:
            op.rename_input(name, after[name])
        read = {n: sources[n] for n in dict.fromkeys(op.input_arg_names) if n in sources}
        if not read or op in backs:
            continue
        scale_of_input, scale_of_weight = "", None
        for name, rounding in read.items():
            source = rounding.input("X")[0]
            op.rename_input(name, source if source in scales else rounding.output("Out")[0])
            if source in scales:
                scale_of_weight = scales[source]
            else:
                scale_of_input = rounding.output("OutScale")[0]
        if scale_of_weight is None:
            continue
        out = edition.written_by(op)[0]
        reader = next((o for o in within.ops[at + 1 :] if o.reads(out)), None)
        bits = (weight_bits, activation_bits)
        along: dict[str, int] = {}
        columns = _columns(op)
        if edition.is_later:
            along = {"quant_axis": edition.slices.get(op.type, 0), "x_num_col_dims": columns}
        elif op.type in CONVOLUTIONS and columns != 1:
            along = {"x_num_col_dims": columns}
        after[out] = _turned_back(within, reader, out, scale_of_input, scale_of_weight, bits, along)
    gone = [op for op in quantized.values() if op.input("X")[0] in scales]
    within.finish([*gone, *backs])


def _columns(op: Operator) -> int:
    """The dimension of a product's result that is one of its weight's."""
    if op.type in CONVOLUTIONS or op.type == "conv2d_transpose":
        return 3 if op.attr("data_format") == "NHWC" else 1
    if op.type == "mul":
        return int(op.attr("x_num_col_dims"))
    return len(op.block.var_recursive(op.output("Out")[0]).shape) - 1


def is_transposed(op: Operator) -> bool:
    """Whether an operator multiplies with the transpose of its weight."""
    names = {"matmul": "transpose_Y", "matmul_v2": "trans_y"}
    return op.type in names and bool(op.attr(names[op.type]))


def _is_rounding(op: Operator) -> bool:
    return op.type.startswith(("fake_quantize_", "fake_channel_wise_quantize")) and (
        "dequantize" not in op.type
    )


def _turns_back(op: Operator) -> bool:
    return op.type in ("fake_dequantize_max_abs", "fake_channel_wise_dequantize_max_abs")


def _frozen(
    rounding: Operator,
    scope: Scope,
    weight: str,
    bits: int,
    correct: bool,
    is_later: bool,
    is_transposed: bool,
) -> Any:
    """Replace a weight by whole numbers; its scale, or one for each slice, which is a row of one
    that is transposed.
    """
    name, noted = rounding.input("X")[0], rounding.output("OutScale")[0]
    array = array_of(scope, name)
    scale: Any = np.abs(array).max(initial=0)
    axis = 0
    if "channel_wise" in rounding.type:
        told = int(rounding.attr("quant_axis"))
        axis = 0 if is_transposed else told
        scale = scales_along(np, array, axis)[0]
        if is_later and (last := array_of(scope, noted)).any():
            scale, axis = last, told  # that of the last step of training
    elif weight in (RANGE, MOVING):
        scale = array_of(scope, noted).reshape(())
    whole = stored(array, scale, bits, axis, correct, is_later)
    put(scope, name, whole, array.dtype)
    return scale


def _turned_back(
    within: Insertions,
    reader: Operator | None,
    out: str,
    scale_of_input: str,
    scale_of_weight: Any,
    bits: tuple[int, int],
    along: Mapping[str, int],
) -> str:
    """Turn what a product gives back in front of what reads it; the name of the result."""
    like = within.block.var_recursive(out)
    result = within.variable(out + BACK, like)
    kind, inputs = "fake_dequantize_max_abs", {"X": out, "Scale": scale_of_input}
    attrs: dict[str, Any] = {}
    if np.ndim(scale_of_weight):
        name = unique_name.generate("channel_scale")
        slices = within.state(name, like, scale_of_weight)
        kind = "fake_channel_wise_dequantize_max_abs"
        attrs.update(quant_bits=list(bits), **along)
        scales = {"X": [out], "Scales": [slices, scale_of_input]}
        within.put_before(reader, kind, scales, {"Out": result}, attrs)
        return result
    scale = float(scale_of_weight) or 1e-8  # of nothing but zeros, as Paddle 2.6 has it
    attrs["max_range"] = largest(bits[0]) * largest(bits[1]) / scale
    within.put_before(reader, kind, inputs, {"Out": result}, attrs)
    return result


def as_int8(program: Program, scope: Scope, edition: Edition = FLUID_1_8) -> None:
    """Weights become variables of 8 bits, to be stored: kernels take no such weights.

    Args:
        program: frozen, to be changed.
        scope: has whole numbers, and gets those of 8 bits.
        edition: how the program is written.

    Raises:
        UnknownVariableError: a weight is not in the scope.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    for op in within.ops:
        if not is_forward(op, edition.products) or not op.has_attr(KIND):
            continue
        for name in edition.read_by(op):
            if is_weight(block, name):
                small = f"{name}.int8"
                if small not in block.vars:
                    within.state(small, block.var(name), array_of(scope, name), "int8")
                op.rename_input(name, small)
    within.finish()


def for_mobile(program: Program) -> None:
    """Operators are called as libraries for small devices call them.

    Args:
        program: frozen, to be changed.
    """
    for op in program.global_block().ops:
        if _is_rounding(op) or _turns_back(op):
            told = {n: v for n, v in op.all_attrs().items() if n not in FRAMEWORK_ATTRIBUTES}
            op.desc.set_type("quantize" if _is_rounding(op) else "dequantize")
            op.lists_given_attrs = True  # libraries read what the operators here do not have
            for name, value in told.items():
                op.replace_attr(name, undeclared_value(op.type, name, value))
