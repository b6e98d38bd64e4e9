"""``fluid.contrib``'s figures on a program: memory, operators, layers."""

from __future__ import annotations

from collections import Counter, OrderedDict
from math import prod
from typing import Any

from ...errors import ArgumentError
from ...ground.dtypes import DType
from ...ir.program import Program

DEBUG = False
dtype_to_size: dict[DType, int] = {
    DType.FP16: 2,
    DType.FP32: 4,
    DType.FP64: 8,
    DType.INT16: 2,
    DType.INT32: 4,
    DType.INT64: 8,
    DType.BOOL: 1,
    DType.UINT8: 1,
}
_UNITS = ("B", "KB", "MB", "GB")
_ACTIVATIONS = {"sigmoid", "tanh", "relu", "leaky_relu", "prelu"}


def memory_usage(program: Program, batch_size: int) -> tuple[float, float, str]:
    """How much memory the results of a program's operators take together: least, most, unit.

    Args:
        program: the program.
        batch_size: what a size of -1 is taken for.

    Raises:
        ArgumentError: an argument is of another kind.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a Program, got {program!r:.60}")
    if batch_size <= 0:
        raise ArgumentError(f"expected a positive batch size, got {batch_size}")
    block = program.global_block()
    names = {name for op in block.ops for name in op.output_arg_names}
    total = 0.0
    for name in names:
        variable = block.vars.get(name)
        if variable is None or variable.shape is None:
            continue
        sizes = [batch_size if size < 0 else size for size in variable.shape]
        total += prod(sizes) * dtype_to_size.get(variable.dtype, 4)
    power = 0
    while total >= 1024 and power < len(_UNITS) - 1:
        total, power = total / 1024, power + 1
    return total * 1.05, total * 1.1, _UNITS[power]


def op_freq_statistic(program: Program) -> tuple[Any, Any]:
    """How often operators occur in a program, and pairs of which one reads the other's result.

    Args:
        program: the program.

    Returns:
        two ordered dictionaries, the most frequent first: type -> times, "A->B" -> times.

    Raises:
        ArgumentError: the argument is no program.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a Program, got {program!r:.60}")
    single: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    maker: dict[str, str] = {}
    for op in program.global_block().ops:
        single[op.type] += 1
        for name in op.input_arg_names:
            if name in maker:
                pairs[f"{maker[name]}->{op.type}"] += 1
        maker.update(dict.fromkeys(op.output_arg_names, op.type))
    return OrderedDict(single.most_common()), OrderedDict(pairs.most_common())


def summary(main_prog: Program) -> None:
    """Print the layers of a program with their parameters and operations.

    Args:
        main_prog: a program, without the batch's size in its figures.
    """
    rows: list[tuple[Any, ...]] = []
    for op in main_prog.global_block().ops:
        row = _row(main_prog, op)
        if row:
            rows.append((str(len(rows)), op.type, *row))
    head = ("No.", "TYPE", "INPUT", "OUTPUT", "PARAMs", "FLOPs")
    table = [head, *[tuple(map(str, row)) for row in rows]]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    for number, line in enumerate(table):
        if number < 2:
            print(rule)
        print("|" + "|".join(f" {text:>{width}} " for text, width in zip(line, widths)) + "|")
    print(rule)
    parameters, operations = (sum(int(row[i]) for row in rows) for i in (4, 5))
    print(f"Total PARAMs: {parameters}({parameters / 1e6:.4f}M)")
    print(f"Total FLOPs: {operations}({operations / 1e9:.2f}G)")


def _row(program: Program, op: Any) -> tuple[Any, ...] | None:
    """Shapes without the batch, parameters and operations of one operator."""
    block = program.global_block()

    def shape(slot: str, index: int = 0) -> tuple[int, ...]:
        names = op.input(slot) if slot in op.input_names else op.output(slot)
        return tuple(block.var(names[index]).shape)

    if op.type in ("conv2d", "depthwise_conv2d"):
        weights, out = shape("Filter"), shape("Output")
        bias = 1 if "Bias" in op.input_names and op.input("Bias") else 0
        operations = prod(out[1:]) * (prod(weights[1:]) + bias) * 2
        return shape("Input")[1:], out[1:], prod(weights) + bias * weights[0], operations
    if op.type == "mul":
        weights, out = shape("Y"), shape("Out")
        return shape("X")[1:], out[1:], prod(weights) + 1, prod(weights)
    if op.type == "pool2d":
        out, size = shape("Out"), op.attr("ksize")
        return shape("X")[1:], out[1:], 0, prod(out[1:]) * prod(size)
    if op.type == "batch_norm":
        taken = shape("X")
        return taken[1:], shape("Y")[1:], taken[1] * 2, prod(taken[1:]) * 2
    if op.type in _ACTIVATIONS:
        taken = shape("X")
        return taken[1:], shape("Out")[1:], int(op.type == "prelu"), prod(taken[1:])
    return None
