"""Passes over programs that fluid 1.8's quantization is made of.

Products read numbers that are rounded (:func:`round_products`, :func:`round_others`), so that a
training gets used to it; :func:`freeze` puts whole numbers into the scope and leaves the roundings
of what is computed; :func:`as_int8` stores them in 8 bits.  Names, operators and their order are
those of 1.8.  They change the program that they are given, as a ``transform.Change`` does; nothing
verifies it, since operators get attributes that nobody declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import unique_name
from ...errors import UnknownVariableError
from ...ir.block import Block
from ...ir.operator import FRAMEWORK_ATTRIBUTES, Operator
from ...ir.operator_arguments import undeclared_value
from ...ir.program import Program
from ...ir.variable import Variable
from ...opdef.definition import lookup
from ...ops.quantize import largest
from ...scope import Scope

ABS_MAX, BY_SLICE = "abs_max", "channel_wise_abs_max"
RANGE, MOVING = "range_abs_max", "moving_average_abs_max"
CONVOLUTIONS = ("conv2d", "depthwise_conv2d")
STEPS = "@STEP_COUNTER@"
FIRST_SCALE = 0.001
KIND = "quantization_type"  #: the attribute of operators whose inputs are rounded
_ROUNDED, _BACK, _AFTER = ".quantized", ".dequantized", ".dequantized"
_PAIR, _SCALE, _OUT_SCALE = ".quant_dequant", ".scale", "@scale"
#: operators whose results have a scale that is noted
NOTED = (
    *(*CONVOLUTIONS, "mul", "matmul", "relu", "leaky_relu", "relu6", "sigmoid", "tanh", "prelu"),
    *("swish", "softmax", "batch_norm", "elementwise_add", "pool2d", "reshape2", "transpose2"),
    *("concat", "elementwise_mul", "scale"),
)
_READ, _WRITTEN = ("Input", "Filter", "X", "Y"), ("Output", "Out", "Y")


def read_by(op: Operator) -> list[str]:
    """The variables of an operator that are rounded: no sizes, no statistics."""
    slots = ("X",) if op.type == "batch_norm" else sorted(set(_READ) & op.inputs.keys())
    return list(dict.fromkeys(name for slot in slots for name in op.inputs.get(slot, ())))


def written_by(op: Operator) -> list[str]:
    """The results of an operator: no statistics."""
    return [name for slot in _WRITTEN for name in op.outputs.get(slot, ())]


def array_of(scope: Scope, name: str) -> Any:
    """A variable's value in a scope.

    Raises:
        UnknownVariableError: it has none.
    """
    variable = scope.find_var(name)
    if variable is None or not variable.get_tensor()._is_initialized():
        raise UnknownVariableError(
            f"the scope has no value of {name!r}: run the startup program, or load parameters"
        )
    return np.asarray(variable.get_tensor())


def put(scope: Scope, name: str, value: Any, dtype: Any = np.float32) -> None:
    """Give a variable of a scope a value."""
    scope.var(name).get_tensor().set(np.asarray(value, dtype))


class Insertions:
    """A block whose operators get others in front of them.

    Args:
        block: changed by :meth:`finish`.
        scope: gets the first values of variables; None for none.
    """

    def __init__(self, block: Block, scope: Scope | None) -> None:
        self.block, self.scope = block, scope
        self.ops = list(block.ops)
        self._before: dict[int, list[Operator]] = {}
        self._last: list[Operator] = []

    def variable(self, name: str, like: Variable, shape: Any = None) -> str:
        """Declare a variable like another one, for as long as a run takes."""
        shape = like.shape if shape is None else shape
        self.block.declare_var(name, dtype=like.dtype, shape=shape)
        return name

    def state(self, name: str, like: Variable, first: Any, dtype: Any = None) -> str:
        """Declare a variable that stays in the scope, and give it its first value there."""
        dtype, first = like.dtype if dtype is None else dtype, np.asarray(first)
        self.block.declare_var(name, dtype=dtype, shape=first.shape, persistable=True)
        if self.scope is not None:
            put(self.scope, name, first, np.dtype(str(dtype)))
        return name

    def put_before(
        self,
        op: Operator | None,
        type: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        attrs: Mapping[str, Any],
    ) -> None:
        """Put a new operator in front of one of the block's; None for the end."""
        made = self.block.make_op(lookup(type)(attrs), inputs, outputs, None)
        made.role, made.role_vars = 0, ()
        (self._last if op is None else self._before.setdefault(id(op), [])).append(made)

    def finish(self, dropped: Iterable[Operator] = ()) -> None:
        """Put all into the block, without some operators and what none of the others names."""
        gone = {id(op) for op in dropped}
        ops = [each for op in self.ops for each in (*self._before.get(id(op), ()), op)]
        self.block.set_ops([op for op in ops if id(op) not in gone] + self._last)
        if self.block.program.num_blocks == 1:
            named = {n for op in self.block.ops for n in op.input_arg_names + op.output_arg_names}
            self.block.set_vars([v for v in self.block.vars.values() if v.name in named])


def is_forward(op: Operator, types: Sequence[str], skip: Sequence[str] = ()) -> bool:
    """Whether an operator is of some types, and its names of scopes have none of some parts."""
    within = str(op.namescope or "")
    return op.type in types and not any(part in within for part in skip)


def _is_weight(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.persistable


def _is_gradient(op: Operator, types: Sequence[str]) -> bool:
    return op.type.endswith("_grad") and op.type[: -len("_grad")] in types


def _differentiated(op: Operator) -> list[str]:
    """What the gradients that an operator reads are gradients of."""
    return [name.partition("@GRAD")[0] for name in op.input_arg_names if "@GRAD" in name]


def _rename_in_gradients(ops: list[Operator], types: Sequence[str], new: Mapping[str, str]) -> None:
    """Gradient operators read what their operators read."""
    for op in ops:
        if _is_gradient(op, types):
            for old in [name for name in op.input_arg_names if name in new]:
                op.rename_input(old, new[old])


def round_products(
    program: Program,
    scope: Scope | None,
    is_test: bool,
    types: Sequence[str],
    activation: str = ABS_MAX,
    weight: str = ABS_MAX,
    activation_bits: int = 8,
    weight_bits: int = 8,
    window: int = 10000,
    rate: float = 0.9,
    skip: Sequence[str] = ("skip_quant",),
) -> None:
    """Products of a weight read numbers that are rounded to whole ones, and back.

    Args:
        program: to be changed.
        scope: gets the first scales.
        is_test: whether scales stay as they are.
        types: of operators.
        activation, weight: how scales are found.
        activation_bits, weight_bits: of whole numbers.
        window: the runs that count for ``range_abs_max``.
        rate: of moving averages.
        skip: parts of the names of scopes whose operators stay as they are.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    rounded: dict[str, str] = {}
    skipped: set[str] = set()
    for op in within.ops:
        names = read_by(op)
        if _is_gradient(op, types) and skipped.intersection(_differentiated(op)):
            op.mark("skip_quant", True)
        if not is_forward(op, types):
            continue
        if not is_forward(op, types, skip):
            op.mark("skip_quant", True)
            skipped.update(op.output_arg_names)
            continue
        if not any(_is_weight(block, name) for name in names):
            continue
        op.mark(KIND, "qat_with_weight")
        for name in names:
            if name not in rounded:
                is_weight = _is_weight(block, name)
                how = weight if is_weight else activation
                if how == BY_SLICE and op.type not in CONVOLUTIONS:
                    how = ABS_MAX
                bits = weight_bits if is_weight else activation_bits
                options: dict[str, Any] = {"is_test": is_test, "window": window, "rate": rate}
                rounded[name] = _round(within, op, name, how, bits, **options)
            op.rename_input(name, rounded[name])
    _rename_in_gradients(within.ops, types, rounded)
    within.finish()


def _round(
    within: Insertions,
    op: Operator,
    name: str,
    how: str,
    bits: int,
    is_test: bool,
    window: int,
    rate: float,
) -> str:
    """Round a variable in front of an operator, and turn it back; the result's name."""
    like = within.block.var_recursive(name)
    whole, scale = within.variable(name + _ROUNDED, like), name + _SCALE
    inputs: dict[str, str] = {"X": name}
    outputs = {"Out": whole, "OutScale": scale}
    attrs: dict[str, Any] = {"bit_length": bits}
    if how in (RANGE, MOVING):
        inputs["InScale"] = within.state(scale, like, [FIRST_SCALE])
        attrs["is_test"] = is_test
    else:
        within.variable(scale, like, like.shape[:1] if how == BY_SLICE else (1,))
    if how == RANGE:
        attrs["window_size"] = window
        if not is_test:
            inputs["Iter"] = _counted(within, op, like)
            scales = unique_name.generate("scales")
            outputs["OutScales"] = within.state(scales, like, np.zeros(window))
    elif how == MOVING:
        attrs["moving_rate"] = rate
        if not is_test:
            _average(within, like, inputs, outputs, "state", "accum")
    prefix = "fake_channel_wise_quantize" if how == BY_SLICE else "fake_quantize"
    within.put_before(op, f"{prefix}_{ABS_MAX if how == BY_SLICE else how}", inputs, outputs, attrs)
    back = within.variable(whole + _BACK, like)
    if how == BY_SLICE:
        inputs, attrs = {"Scales": scale}, {"quant_bits": [bits]}
        kind = "fake_channel_wise_dequantize_max_abs"
    else:
        inputs, attrs = {"Scale": scale}, {"max_range": float(largest(bits))}
        kind = "fake_dequantize_max_abs"
    within.put_before(op, kind, {"X": whole, **inputs}, {"Out": back}, attrs)
    return back


def _average(
    within: Insertions,
    like: Variable,
    inputs: dict[str, str],
    outputs: dict[str, str],
    state: str,
    total: str,
) -> None:
    """Slots of what moving averages are made of."""
    for slot, stem in (("State", state), ("Accum", total)):
        name = within.state(unique_name.generate(stem), like, [1.0])
        inputs[f"In{slot}"] = outputs[f"Out{slot}"] = name


def _counted(within: Insertions, op: Operator, like: Variable) -> str:
    """The variable that counts runs."""
    if STEPS not in within.block.vars:
        within.state(STEPS, like, [0], "int64")
        within.put_before(op, "increment", {"X": STEPS}, {"Out": STEPS}, {"step": 1.0})
    return STEPS


def round_others(
    program: Program,
    scope: Scope | None,
    is_test: bool,
    types: Sequence[str],
    bits: int = 8,
    rate: float = 0.9,
    skip: Sequence[str] = ("skip_quant",),
) -> None:
    """Operators without weights read numbers that are rounded.

    Args:
        program, scope, is_test, types, rate, skip: as of :func:`round_products`.
        bits: of whole numbers.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    rounded: dict[str, str] = {}
    for op in within.ops:
        names = read_by(op)
        if not is_forward(op, types, skip) or op.has_attr(KIND):
            continue
        if any(_is_weight(block, name) for name in names):
            continue
        op.mark(KIND, "qat_without_weight")
        for name in names:
            if name not in rounded:
                rounded[name] = name + _PAIR
                like = block.var_recursive(name)
                scale = within.state(name + _PAIR + _SCALE, like, [FIRST_SCALE])
                inputs = {"X": name, "InScale": scale}
                outputs = {"Out": within.variable(name + _PAIR, like), "OutScale": scale}
                if not is_test:
                    _average(
                        within, like, inputs, outputs, f"{_PAIR[1:]}.state", f"{_PAIR[1:]}.accum"
                    )
                attrs = {"bit_length": bits, "moving_rate": rate, "is_test": is_test}
                kind = "fake_quantize_dequantize_moving_average_abs_max"
                within.put_before(op, kind, inputs, outputs, attrs)
            op.rename_input(name, rounded[name])
    _rename_in_gradients(within.ops, types, rounded)
    within.finish()


def note_scales(program: Program, scope: Scope | None, is_test: bool, rate: float = 0.9) -> None:
    """Each result gets a moving average of its largest number.

    Args:
        program: to be changed.
        scope: gets the first scales.
        is_test: whether scales stay as they are.
        rate: of moving averages.
    """
    within = Insertions(program.global_block(), scope)
    names = [name for op in within.ops if op.type in NOTED for name in written_by(op)]
    for name in dict.fromkeys(names):
        like = within.block.var_recursive(name)
        scale = within.state(name + _OUT_SCALE, like, [1.0])
        inputs, outputs = {"X": name}, {"Out": name, "OutScale": scale}
        if not is_test:
            _average(within, like, inputs, outputs, "scale_state@", "scale_accum@")
        attrs = {"moving_rate": rate, "is_test": is_test}
        within.put_before(None, "moving_average_abs_max_scale", inputs, outputs, attrs)
    within.finish()


def mark_scales(program: Program, scope: Scope) -> None:
    """Operators get the scales of their results as the attribute ``out_threshold``.

    Args:
        program: to be changed.
        scope: has the scales.

    Raises:
        UnknownVariableError: a scale is not there.
    """
    for op in program.global_block().ops:
        if op.type in NOTED:
            for name in written_by(op):
                op.mark("out_threshold", float(array_of(scope, name + _OUT_SCALE).reshape(-1)[0]))


def whole_numbers(array: Any, scale: Any, bits: int) -> Any:
    """Numbers as whole ones, in their own type.

    Args:
        array: the numbers.
        scale: what the largest whole number stands for; one for each slice, or one for all.
        bits: of whole numbers.
    """
    scale = np.asarray(scale, array.dtype).reshape(-1, *[1] * (array.ndim - 1))
    scale = np.where(scale == 0, 1, scale)
    return np.round(array / scale.reshape(scale.shape if scale.size > 1 else ()) * largest(bits))


def freeze(
    program: Program,
    scope: Scope,
    weight: str = ABS_MAX,
    activation_bits: int = 8,
    weight_bits: int = 8,
) -> None:
    """Weights become whole numbers in the scope, and what products of them give is turned back.

    Args:
        program: whose products were rounded, for a test.
        scope: has weights and scales.
        weight: how scales of weights were found.
        activation_bits, weight_bits: of whole numbers.

    Raises:
        UnknownVariableError: a weight or a scale is not in the scope.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    quantized = {op.output("Out")[0]: op for op in within.ops if _is_rounding(op)}
    backs = [op for op in within.ops if _turns_back(op) and op.input("X")[0] in quantized]
    sources = {op.output("Out")[0]: quantized[op.input("X")[0]] for op in backs}
    scales = {
        op.input("X")[0]: _frozen(op, scope, weight, weight_bits)
        for op in sources.values()
        if _is_weight(block, op.input("X")[0])
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
        out = written_by(op)[0]
        reader = next((o for o in within.ops[at + 1 :] if o.reads(out)), None)
        bits = (weight_bits, activation_bits)
        after[out] = _turned_back(within, reader, out, scale_of_input, scale_of_weight, bits)
    gone = [op for op in quantized.values() if op.input("X")[0] in scales]
    within.finish([*gone, *backs])


def _is_rounding(op: Operator) -> bool:
    return op.type.startswith(("fake_quantize_", "fake_channel_wise_quantize")) and (
        "dequantize" not in op.type
    )


def _turns_back(op: Operator) -> bool:
    return op.type in ("fake_dequantize_max_abs", "fake_channel_wise_dequantize_max_abs")


def _frozen(rounding: Operator, scope: Scope, weight: str, bits: int) -> Any:
    """Put whole numbers in the place of a weight; its scale, or one for each slice."""
    name = rounding.input("X")[0]
    array = array_of(scope, name)
    scale: Any = np.abs(array).max(initial=0)
    if "channel_wise" in rounding.type:
        scale = np.abs(array).max(axis=tuple(range(1, array.ndim)), initial=0)
    elif weight in (RANGE, MOVING):
        scale = array_of(scope, rounding.output("OutScale")[0]).reshape(())
    put(scope, name, whole_numbers(array, scale, bits), array.dtype)
    return scale


def _turned_back(
    within: Insertions,
    reader: Operator | None,
    out: str,
    scale_of_input: str,
    scale_of_weight: Any,
    bits: tuple[int, int],
) -> str:
    """Turn what a product gives back in front of what reads it; the name of the result."""
    like = within.block.var_recursive(out)
    result = within.variable(out + _AFTER, like)
    kind, inputs = "fake_dequantize_max_abs", {"X": out, "Scale": scale_of_input}
    attrs: dict[str, Any] = {}
    if np.ndim(scale_of_weight):
        name = unique_name.generate("channel_scale")
        slices = within.state(name, like, scale_of_weight)
        kind = "fake_channel_wise_dequantize_max_abs"
        attrs["quant_bits"] = list(bits)
        scales = {"X": [out], "Scales": [slices, scale_of_input]}
        within.put_before(reader, kind, scales, {"Out": result}, attrs)
        return result
    attrs["max_range"] = largest(bits[0]) * largest(bits[1]) / float(scale_of_weight)
    within.put_before(reader, kind, inputs, {"Out": result}, attrs)
    return result


def as_int8(program: Program, scope: Scope, types: Sequence[str]) -> None:
    """Weights become variables of 8 bits, to be stored: kernels take no such weights.

    Args:
        program: frozen, to be changed.
        scope: has whole numbers, and gets those of 8 bits.
        types: of operators.

    Raises:
        UnknownVariableError: a weight is not in the scope.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    for op in within.ops:
        if not is_forward(op, types) or not op.has_attr(KIND):
            continue
        for name in read_by(op):
            if _is_weight(block, name):
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
