"""Programs whose products are of numbers rounded to few bits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ir.builder import Builder
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from . import conditions
from .inserting import insert_before
from .passes import program_pass

#: operators whose inputs are rounded -> the dimension of a parameter's slices
PRODUCTS = {"conv2d": 0, "depthwise_conv2d": 0, "mul": -1, "matmul": -1, "matmul_v2": -1}
_SLOTS = {"Input", "Filter", "X", "Y"}


def quantizable(program: Program) -> list[str]:
    """The names of what convolutions and products of matrices read, which calibration looks at.

    Args:
        program: the program.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> fluid.transform.quantizable(fluid.default_main_program())
    ['x', 'fc_0.w_0']
    """
    return list(
        dict.fromkeys(
            name
            for block in program.blocks
            for op in block.ops
            if op.type in PRODUCTS
            for slot, names in op.inputs.items()
            if slot in _SLOTS
            for name in names
        )
    )


@program_pass(name="quantize", needs=[conditions.no_gradients])
def quantize(program: Program, scales: Mapping[str, Any], bits: int = 8) -> Program:
    """Convolutions and products of matrices read numbers that are rounded to whole ones, and back.

    A pass: ``quantize(program, scales=...)`` gives another program.  The operators are
    ``quantize_linear`` and ``dequantize_linear``, as in models that paddle 2.6 quantizes.

    Args:
        program: has no gradients.
        scales: the name of a variable -> what the largest whole number stands for: a number, or one
            for each slice of a parameter (filters of a convolution, columns of a matrix).  What is
            not named is read as it is.
        bits: how many bits a number has, one of which is the sign.

    Raises:
        ArgumentError: no such operator reads a variable that is named.
        ShapeError: there are several scales for what is no parameter, or not one for each slice.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> program = fluid.transform.quantize(fluid.default_main_program(), scales={"x": 3.0})
    >>> [op.type for op in program.global_block().ops][-4:]
    ['quantize_linear', 'dequantize_linear', 'mul', 'elementwise_add']
    """
    known = quantizable(program)
    for name in scales:
        if name not in known:
            raise ArgumentError(
                f"expected scales of what convolutions and products read ({', '.join(known)}), "
                f"got {name!r}"
            )
    present = {op.type for block in program.blocks for op in block.ops}
    for type, axis in PRODUCTS.items():
        if type in present:
            rounding = partial(_rounded, scales=scales, bits=bits, axis=axis)
            program = insert_before(
                program, type, lambda *read, each=rounding: tuple(each(v) for v in read)
            )
    return program


def _rounded(variable: Variable, scales: Mapping[str, Any], bits: int, axis: int) -> Any:
    """What is read in a variable's place; None for itself."""
    if variable.name not in scales:
        return None
    values = np.asarray(scales[variable.name], np.float32).reshape(-1)
    slices = axis % len(variable.shape) if values.size > 1 else -1
    if slices >= 0 and (
        not isinstance(variable, Parameter) or variable.shape[slices] != values.size
    ):
        raise ShapeError(
            f"expected one scale for {variable.name!r}, or one for each slice of a parameter along "
            f"dimension {slices}; got {values.size} for shape {list(variable.shape)}"
        )
    f: Any = Builder(variable.block.program.current_block(), f"{variable.name}.quantized")
    scale = f.assign_value(shape=[values.size], dtype="float32", fp32_values=values.tolist())
    zero = f.fill_constant(shape=[values.size], dtype="float32", value=0.0)
    options = {"quant_axis": slices, "bit_length": bits}
    whole = f.quantize_linear(variable, scale, zero, **options)
    return f.dequantize_linear(whole, scale, zero, **options)
