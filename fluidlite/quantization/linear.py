"""Changes of programs that round with ``quantize_linear`` and ``dequantize_linear``.

Paddle 2.6 names them as ONNX does: a pair of operators and a scale stand for each value that is
rounded, and a weight that is a whole number is read by ``dequantize_linear`` alone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..scope import Scope
from .editions import PADDLE_2_6
from .freezing import stored
from .rounding import (
    BACK,
    BY_SLICE,
    FIRST_SCALE,
    FORWARD,
    KIND,
    ROUNDED,
    ROUNDINGS,
    Insertions,
    array_of,
    average,
    is_forward,
    is_gradient,
    is_rounded,
    is_weight,
    mark_skipped,
    put,
    rename_in_gradients,
)

_ZERO = "@zero_point"
_WHOLE, _STANDS_FOR = "quantize_linear", "dequantize_linear"
#: roundings that are no pairs
_SINGLE = (
    "fake_quantize_dequantize_moving_average_abs_max",
    "fake_channel_wise_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_abs_max",
)


class Pairs(Insertions):
    """A block whose operators get pairs of roundings in front of them.

    Args:
        block: changed by :meth:`finish`.
        scope: gets the first values of variables; None for none.
    """

    def zeros(self, name: str, scale: Any) -> str:
        """Declare zero points, which stay in the scope."""
        like = self.block.var_recursive(scale)
        return self.state(name + _ZERO, like, np.zeros(like.shape, "int32"), "int32")

    def pair(
        self,
        op: Operator | None,
        name: str,
        scale: str,
        bits: int,
        axis: int = -1,
        result: str | None = None,
        zero: str | None = None,
        stem: str | None = None,
        training: Mapping[str, Mapping[str, str]] | None = None,
        **attrs: Any,
    ) -> str:
        """Round a variable in front of an operator, and turn it back.

        Args:
            op: the operator; None for the end.
            name, scale: the variables.
            bits: of whole numbers.
            axis: the dimension of slices; -1 for none.
            result: the variable of the result; one of its own when None.
            zero: whose zero points both operators read; each has its own when None.
            stem: what names of new variables begin with; the variable's when None.
            training: further inputs and outputs of the first operator.
            attrs: further attributes.

        Returns:
            the name of the result.
        """
        like = self.block.var_recursive(name)
        whole = self.variable((stem or name) + ROUNDED, like)
        result = self.variable(result or whole + BACK, like)
        told = {"quant_axis": axis, "bit_length": bits, **attrs}
        more = training or {}
        ins = {"X": name, "Scale": scale, "ZeroPoint": self.zeros(zero or whole, scale)}
        outs = {"Y": whole, **more.get("outputs", {})}
        first = {**told, "is_test": False} if more else told
        self.put_before(op, _WHOLE, {**ins, **more.get("inputs", {})}, outs, first)
        ins = {"X": whole, "Scale": scale, "ZeroPoint": self.zeros(zero or result, scale)}
        self.put_before(op, _STANDS_FOR, ins, {"Y": result}, told)
        return result


@ROUNDINGS
def round_inputs(
    program: Program,
    scope: Scope | None,
    is_test: bool,
    types: Container[str],
    with_weights: bool,
    weight: str = BY_SLICE,
    activation_bits: int = 8,
    weight_bits: int = 8,
    rate: float = 0.9,
    skip: Sequence[str] = ("skip_quant",),
    scales: Mapping[str, float] | None = None,
) -> None:
    """Operators read numbers that are rounded to whole ones, and back.

    Args:
        with_weights: operators with a weight, all of whose inputs are rounded; if not, others, of
            which only what a run computes is rounded.
        weight: how scales of weights are found.
        rate: not read: operators have 0.9.
    """
    block = program.global_block()
    within = Pairs(block, scope)
    rounded: dict[str, str] = {}
    skipped: set[str] = set()
    for op in within.ops:
        if with_weights and is_gradient(op, types):
            mark_skipped(op, skipped)
        if not is_forward(op, types):
            continue
        if not is_forward(op, types, skip):
            if with_weights:
                op.mark("skip_quant", True)
                skipped.update(op.output_arg_names)
            continue
        names = PADDLE_2_6.read_by(op)
        if with_weights:
            if not any(is_weight(block, name) for name in names):
                continue
            op.mark(KIND, "qat_with_weight")
        elif op.has_attr(KIND) or any(name.endswith(ROUNDED + BACK) for name in names):
            continue
        for name in names:
            if not with_weights and not is_rounded(block, name):
                continue
            if name not in rounded:
                of_weight = is_weight(block, name)
                axis = -1
                if of_weight and weight == BY_SLICE:
                    axis = PADDLE_2_6.slices.get(op.type, 0)
                bits = weight_bits if of_weight else activation_bits
                first = (scales or {}).get(name, FIRST_SCALE)
                rounded[name] = _rounded(within, op, name, name, axis, bits, first, is_test)
            op.rename_input(name, rounded[name])
    rename_in_gradients(within.ops, types, rounded)
    within.finish()


def _rounded(
    within: Pairs,
    op: Operator,
    name: str,
    stem: str,
    axis: int,
    bits: int,
    first: float,
    is_test: bool,
) -> str:
    """Round a variable by a scale of its own in front of an operator; the result's name."""
    like: Variable = within.block.var_recursive(name)
    scale = stem + PADDLE_2_6.scale
    if scale not in within.block.vars:
        within.state(scale, like, np.full(1 if axis < 0 else like.shape[axis], first))
    training: dict[str, dict[str, str]] = {}
    if not is_test:
        training = {"inputs": {}, "outputs": {"OutScale": scale}}
        average(within, like, training["inputs"], training["outputs"], "state", "accum")
    return within.pair(op, name, scale, bits, axis, stem=stem, training=training)


def round_residuals(program: Program, scope: Scope | None, is_test: bool, bits: int = 8) -> None:
    """Sums of two computed values read one of them rounded: that which goes around layers.

    It is X where others read X, too, and only the sum reads Y; Y otherwise.

    Args:
        program: to be changed.
        scope: gets the first scales.
        is_test: whether scales stay as they are.
        bits: of whole numbers.
    """
    block = program.global_block()
    within = Pairs(block, scope)
    for op in within.ops:
        if op.type != "elementwise_add" or op.role not in FORWARD:
            continue
        (x,), (y,) = op.input("X"), op.input("Y")
        if not (is_rounded(block, x) and is_rounded(block, y)):
            continue
        readers = {
            name: sum(each.reads(name) for each in within.ops if each.role in FORWARD)
            for name in (x, y)
        }
        name = x if readers[x] > 1 and readers[y] == 1 else y
        result = _rounded(within, op, name, name + ".skip", -1, bits, FIRST_SCALE, is_test)
        op.rename_input(name, result)
    within.finish()


def observe_results(
    program: Program,
    scope: Scope,
    bits: int = 8,
    types: Container[str] = (),
    scales: Mapping[str, Any] | None = None,
    only_observer: bool = True,
) -> None:
    """Results pass through a pair of operators that only has their scale.

    Args:
        program: whose scales are known, for a test.
        scope: has the scales, and gets those of ``scales``.
        bits: of whole numbers.
        types: of operators; all when there are none.
        scales: of variables that have none in the scope.
        only_observer: whether numbers stay as they are.
    """
    block, known = program.global_block(), scales or {}
    within = Pairs(block, scope)
    noted = [op for op in within.ops if op.type == "moving_average_abs_max_scale"]
    results = dict.fromkeys(
        name
        for op in within.ops
        if op.type in PADDLE_2_6.notes and (not types or op.type in types)
        for name in PADDLE_2_6.written_by(op)
        if is_rounded(block, name)
    )
    for name in results:
        scale = name + PADDLE_2_6.scale
        if scale not in block.vars:
            if name not in known:
                continue
            within.state(scale, block.var_recursive(name), [known[name]])
        readers = [op for op in within.ops if op.reads(name) and op.type in PADDLE_2_6.reads]
        first = readers[0] if readers else None
        zero = name + ROUNDED
        result = within.pair(first, name, scale, bits, zero=zero, only_observer=only_observer)
        for op in readers:
            op.rename_input(name, result)
    within.finish(noted)


def store_weights(
    program: Program, scope: Scope, bits: int = 8, as_integers: bool = True, correct: bool = False
) -> None:
    """Weights become whole numbers, in the scope, too.

    Args:
        program: whose operators read rounded weights.
        scope: has weights and scales.
        bits: of whole numbers.
        as_integers: whether weights are stored in few bits; if not, they stay fractions.
        correct: rounded weights shall have the mean and the spread of the weights.

    Raises:
        UnknownVariableError: a weight or a scale is not in the scope.
    """
    block = program.global_block()
    within = Pairs(block, scope)
    gone = []
    for op in within.ops:
        if op.type != _WHOLE or not is_weight(block, op.input("X")[0]):
            continue
        name, axis = op.input("X")[0], int(op.attr("quant_axis"))
        array, scale = array_of(scope, name), array_of(scope, op.input("Scale")[0])
        if np.issubdtype(array.dtype, np.floating):
            whole = stored(array, scale, bits, axis, correct)
            dtype = ("int8" if bits <= 8 else "int32") if as_integers else str(array.dtype)
            put(scope, name, whole, dtype)
            block.var_recursive(name).declare(dtype=dtype)
        for reader in within.ops:
            if reader.reads(op.output("Y")[0]):
                reader.rename_input(op.output("Y")[0], name)
        gone.append(op)
    within.finish(gone)


def replace_single(program: Program, scope: Scope, bits: int = 8) -> None:
    """Roundings of one operator become pairs.

    Args:
        program: to be changed.
        scope: gets zero points.
        bits: of whole numbers.
    """
    block = program.global_block()
    within = Pairs(block, scope)
    gone = [op for op in within.ops if op.type in _SINGLE]
    for op in gone:
        axis = int(op.attr("quant_axis")) if op.has_attr("quant_axis") else -1
        name, out = op.input("X")[0], op.output("Out")[0]
        within.pair(op, name, op.output("OutScale")[0], bits, axis, out, zero=name)
    within.finish(gone)
