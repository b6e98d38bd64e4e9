"""Passes over programs that quantization is made of.

Products read numbers that are rounded (:func:`round_products`, :func:`round_others`), so that a
training gets used to it.  Names, operators and their order are those of an edition.  The passes
change the program that they are given, as a ``transform.Change`` does; nothing verifies it, since
operators get attributes that nobody declared.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import unique_name
from ..errors import UnknownVariableError
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.whole_numbers import largest
from ..scope import Scope
from .editions import FLUID_1_8, Edition

ABS_MAX, BY_SLICE = "abs_max", "channel_wise_abs_max"
RANGE, MOVING = "range_abs_max", "moving_average_abs_max"
STEPS = "@STEP_COUNTER@"
FIRST_SCALE = 0.001
KIND = "quantization_type"  #: the attribute of operators whose inputs are rounded
ROUNDED, BACK = ".quantized", ".dequantized"
_PAIR, OUT_SCALE = ".quant_dequant", "@scale"
FORWARD = (0, 256)  #: roles of operators that compute losses and what leads to them


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
            put(self.scope, name, first, as_dtype(dtype).dtype)
        return name

    def put_before(
        self,
        op: Operator | None,
        type: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        attrs: Mapping[str, Any],
        role: int = 0,
    ) -> None:
        """Put a new operator in front of one of the block's; None for the end."""
        made = self.block.make_op(lookup(type)(attrs), inputs, outputs, None)
        made.role, made.role_vars = role, ()
        (self._last if op is None else self._before.setdefault(id(op), [])).append(made)

    def finish(self, dropped: Iterable[Operator] = ()) -> None:
        """Put all into the block, without some operators and what none of the others names."""
        gone = {id(op) for op in dropped}
        ops = [each for op in self.ops for each in (*self._before.get(id(op), ()), op)]
        self.block.set_ops([op for op in ops if id(op) not in gone] + self._last)
        if self.block.program.num_blocks == 1:
            named = {n for op in self.block.ops for n in op.input_arg_names + op.output_arg_names}
            self.block.set_vars([v for v in self.block.vars.values() if v.name in named])


def is_forward(op: Operator, types: Container[str], skip: Sequence[str] = ()) -> bool:
    """Whether an operator is of some types, and its names of scopes have none of some parts."""
    within = str(op.namescope or "")
    return op.type in types and not any(part in within for part in skip)


def is_weight(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.persistable


def is_gradient(op: Operator, types: Container[str]) -> bool:
    return op.type.endswith("_grad") and op.type[: -len("_grad")] in types


def mark_skipped(op: Operator, skipped: Container[str]) -> None:
    """Mark a gradient operator whose operator is left as it was, by what that wrote."""
    names = [name.partition("@GRAD")[0] for name in op.input_arg_names if "@GRAD" in name]
    if any(name in skipped for name in names):
        op.mark("skip_quant", True)


def rename_in_gradients(ops: list[Operator], types: Container[str], new: Mapping[str, str]) -> None:
    """Gradient operators read what their operators read."""
    for op in ops:
        if is_gradient(op, types):
            for old in [name for name in op.input_arg_names if name in new]:
                op.rename_input(old, new[old])


#: what functions that round say of their arguments
ROUNDINGS = Family(
    {
        "program": "to be changed.",
        "scope": "gets the first scales.",
        "is_test": "whether scales stay as they are.",
        "types": "of operators.",
        **dict.fromkeys(["activation_bits", "weight_bits", "bits"], "of whole numbers."),
        "rate": "of moving averages.",
        "skip": "parts of the names of scopes whose operators stay as they are.",
        "edition": "how the program is written.",
        "scales": "the first scales of variables.",
    }
)


@ROUNDINGS
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
    edition: Edition = FLUID_1_8,
    scales: Mapping[str, float] | None = None,
) -> None:
    """Products of a weight read numbers that are rounded to whole ones, and back.

    Args:
        activation, weight: how scales are found.
        window: the runs that count for ``range_abs_max``.
    """
    block = program.global_block()
    within = Insertions(block, scope)
    rounded: dict[str, str] = {}
    skipped: set[str] = set()
    for op in within.ops:
        names = edition.read_by(op)
        if is_gradient(op, types):
            mark_skipped(op, skipped)
        if not is_forward(op, types):
            continue
        if not is_forward(op, types, skip):
            op.mark("skip_quant", True)
            skipped.update(op.output_arg_names)
            continue
        if not any(is_weight(block, name) for name in names):
            continue
        op.mark(KIND, "qat_with_weight")
        for name in names:
            if name not in rounded:
                of_weight = is_weight(block, name)
                how = weight if of_weight else activation
                if how == BY_SLICE and op.type not in edition.slices:
                    how = ABS_MAX
                bits = weight_bits if of_weight else activation_bits
                options: dict[str, Any] = {"is_test": is_test, "window": window, "rate": rate}
                first = (scales or {}).get(name, FIRST_SCALE)
                rounded[name] = _round(within, op, name, how, bits, edition, first, **options)
            op.rename_input(name, rounded[name])
    rename_in_gradients(within.ops, types, rounded)
    within.finish()


def _round(
    within: Insertions,
    op: Operator,
    name: str,
    how: str,
    bits: int,
    edition: Edition,
    first: float,
    is_test: bool,
    window: int,
    rate: float,
) -> str:
    """Round a variable in front of an operator, and turn it back; the result's name."""
    like = within.block.var_recursive(name)
    axis = edition.slices.get(op.type, 0)
    whole, scale = within.variable(name + ROUNDED, like), name + edition.scale
    inputs: dict[str, str] = {"X": name}
    outputs = {"Out": whole, "OutScale": scale}
    attrs: dict[str, Any] = {"bit_length": bits}
    if how in (RANGE, MOVING):
        inputs["InScale"] = within.state(scale, like, [first])
        attrs["is_test"] = is_test
    else:
        shape = [like.shape[axis] if how == BY_SLICE else 1]
        if edition.is_later:
            within.state(scale, like, np.zeros(shape))
        else:
            within.variable(scale, like, shape)
    if how == RANGE:
        attrs["window_size"] = window
        if not is_test:
            inputs["Iter"] = _counted(within, op, like)
            scales = unique_name.generate("scales")
            outputs["OutScales"] = within.state(scales, like, np.zeros(window))
    elif how == MOVING:
        attrs["moving_rate"] = rate
        if not is_test:
            average(within, like, inputs, outputs, "state", "accum")
    along = {"quant_axis": axis} if edition.is_later else {}
    prefix = "fake_channel_wise_quantize" if how == BY_SLICE else "fake_quantize"
    if how == BY_SLICE and edition.is_later:
        attrs.update(is_test=is_test, **along)
    within.put_before(op, f"{prefix}_{ABS_MAX if how == BY_SLICE else how}", inputs, outputs, attrs)
    back = within.variable(whole + BACK, like)
    if how == BY_SLICE:
        inputs, attrs = {"Scales": scale}, {"quant_bits": [bits], **along}
        kind = "fake_channel_wise_dequantize_max_abs"
    else:
        inputs, attrs = {"Scale": scale}, {"max_range": float(largest(bits))}
        kind = "fake_dequantize_max_abs"
    within.put_before(op, kind, {"X": whole, **inputs}, {"Out": back}, attrs)
    return back


def average(
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


@ROUNDINGS
def round_others(
    program: Program,
    scope: Scope | None,
    is_test: bool,
    types: Sequence[str],
    bits: int = 8,
    rate: float = 0.9,
    skip: Sequence[str] = ("skip_quant",),
    edition: Edition = FLUID_1_8,
    scales: Mapping[str, float] | None = None,
) -> None:
    """Operators without weights read numbers that are rounded."""
    block = program.global_block()
    within = Insertions(block, scope)
    rounded: dict[str, str] = {}
    for op in within.ops:
        names = edition.read_by(op)
        if not is_forward(op, types, skip) or op.has_attr(KIND):
            continue
        if any(is_weight(block, name) for name in names):
            continue
        op.mark(KIND, "qat_without_weight")
        if edition.is_later:
            op.mark("activation_bits", bits)
        for name in names:
            if name not in rounded:
                rounded[name] = name + _PAIR
                like = block.var_recursive(name)
                first = (scales or {}).get(name, FIRST_SCALE)
                scale = within.state(name + _PAIR + edition.scale, like, [first])
                inputs = {"X": name, "InScale": scale}
                outputs = {"Out": within.variable(name + _PAIR, like), "OutScale": scale}
                if not is_test:
                    average(
                        within, like, inputs, outputs, f"{_PAIR[1:]}.state", f"{_PAIR[1:]}.accum"
                    )
                attrs = {"bit_length": bits, "moving_rate": rate, "is_test": is_test}
                kind = "fake_quantize_dequantize_moving_average_abs_max"
                within.put_before(op, kind, inputs, outputs, attrs)
            op.rename_input(name, rounded[name])
    rename_in_gradients(within.ops, types, rounded)
    within.finish()


@ROUNDINGS
def note_scales(
    program: Program,
    scope: Scope | None,
    is_test: bool,
    rate: float = 0.9,
    edition: Edition = FLUID_1_8,
    scales: Mapping[str, float] | None = None,
) -> None:
    """Each result gets a moving average of its largest number."""
    within = Insertions(program.global_block(), scope)
    for name, role in dict(_noted(within.ops, edition)).items():
        like = within.block.var_recursive(name)
        if edition.is_later and name + OUT_SCALE in within.block.vars:
            continue  # a rounding has its scale
        scale = within.state(name + OUT_SCALE, like, [(scales or {}).get(name, 1.0)])
        inputs, outputs = {"X": name}, {"OutScale": scale}
        if not edition.is_later:
            outputs["Out"] = name
        if not is_test:
            average(within, like, inputs, outputs, "scale_state@", "scale_accum@")
        attrs = {"moving_rate": rate, "is_test": is_test}
        within.put_before(None, "moving_average_abs_max_scale", inputs, outputs, attrs, role)
    within.finish()


def _noted(ops: Iterable[Operator], edition: Edition) -> Iterator[tuple[str, int]]:
    """The results whose scales are noted, and the roles of operators that do so."""
    for op in ops:
        if op.type not in edition.notes or (edition.is_later and op.role not in FORWARD):
            continue
        for name in edition.written_by(op):
            if not edition.is_later:
                yield name, 0
            elif is_rounded(op.block, name):
                yield name, op.role


def is_rounded(block: Block, name: str) -> bool:
    """Whether a variable holds fractions that a run computes."""
    variable = block.find_var_recursive(name)
    return variable is not None and not variable.persistable and variable.dtype.is_float


def mark_scales(program: Program, scope: Scope, edition: Edition = FLUID_1_8) -> None:
    """Operators get the scales of their results as the attribute ``out_threshold``.

    Args:
        program: to be changed.
        scope: has the scales.
        edition: how the program is written.

    Raises:
        UnknownVariableError: a scale is missing.
    """
    for op in program.global_block().ops:
        if op.type not in edition.notes:
            continue
        for slot in edition.notes[op.type]:
            for at, name in enumerate(op.outputs.get(slot, ())):
                if edition.is_later and name + OUT_SCALE not in op.block.vars:
                    continue
                mark_scale(op, slot, at, array_of(scope, name + OUT_SCALE), edition)


def mark_scale(op: Operator, slot: str, at: int, scale: Any, edition: Edition) -> None:
    """Note the scale of one of an operator's results."""
    number = float(np.reshape(scale, -1)[0])
    op.mark("out_threshold", number)
    if edition.is_later:
        op.mark(f"{slot}{at}_threshold", number)
