"""Operations of Paddle 3 that are more than one operator here, or none."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from ...ground.dtypes import DType, Kind
from ...ir.block import Block
from .building import Handler, PirDecoder, constant_of, parameter
from .forms import form_of
from .operands import HeldNumbers, Operand, names_of, numbers_of
from .records import Operation, Region


def _fed(decoder: PirDecoder, op: Operation, block: Block) -> None:
    name, spec = op.attributes["name"], op.results[0].spec
    block.create_var(
        name=name, shape=spec.shape, dtype=spec.dtype, is_data=True, need_check_feed=True
    )
    block.append_op(
        "feed", inputs={"X": ["feed"]}, outputs={"Out": [name]}, attrs={"col": decoder.columns}
    )
    decoder.columns += 1
    decoder.operands[op.results[0].id] = name


def _fetched(decoder: PirDecoder, op: Operation, block: Block) -> None:
    (name,) = names_of(decoder.operands[op.operands[0]])
    attrs = {"col": op.attributes["col"]}
    block.append_op("fetch", inputs={"X": [name]}, outputs={"Out": ["fetch"]}, attrs=attrs)


def _full(decoder: PirDecoder, op: Operation, block: Block) -> None:
    constant_of(decoder, op, block, op.attributes["value"], op.attributes["shape"])


def _full_int_array(decoder: PirDecoder, op: Operation, block: Block) -> None:
    values = op.attributes["value"]
    constant_of(decoder, op, block, values, [len(values)])


def _assign_value(decoder: PirDecoder, op: Operation, block: Block) -> None:
    values, shape = op.attributes["values"], op.attributes["shape"]
    if len(values) != prod(shape):
        decoder.file.fail(f"{prod(shape)} numbers in {op}", len(values))
    constant_of(decoder, op, block, values, shape)


def _combined(decoder: PirDecoder, op: Operation, block: Block) -> None:
    decoder.operands[op.results[0].id] = [decoder.operands[n] for n in op.operands]


def _parted(decoder: PirDecoder, op: Operation, block: Block) -> None:
    whole = decoder.operands[op.operands[0]]
    parts: list[Operand] = whole if isinstance(whole, list) else [whole]
    if len(parts) != len(op.results):
        decoder.file.fail(f"{len(op.results)} parts of a list", len(parts))
    for result, part in zip(op.results, parts):
        decoder.operands[result.id] = part


def _element(decoder: PirDecoder, op: Operation, block: Block) -> None:
    whole = decoder.operands[op.operands[0]]
    if not isinstance(whole, list):
        decoder.file.fail(f"a list for {op}", "one value")
    decoder.operands[op.results[0].id] = whole[op.attributes["index"]]


def _same(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """What only moves a value, or says that it is one."""
    for result, number in zip(op.results, op.operands):
        decoder.operands[result.id] = decoder.operands[number]


def _cast(decoder: PirDecoder, op: Operation, block: Block) -> None:
    into = op.attributes["dtype"]
    source = decoder.operands[op.operands[0]]
    spec = decoder.specs.get(op.operands[0])
    known = source.dtype if isinstance(source, HeldNumbers) else getattr(spec, "dtype", into)
    types = {"in_dtype": int(known), "out_dtype": int(into)}
    decoder.append_form(op, block, form_of("cast"), **types)


def _reduced(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """Sums and the like; without dimensions, of all elements."""
    form = form_of(op.name)
    if len(op.operands) > 1:
        axes: Any = numbers_of(decoder.operands[op.operands[1]])
        if axes is None:
            decoder.file.fail(f"dimensions of {op} that the program holds", "others")
    else:
        axes = op.attributes.get("axis") or []
    keep = bool(op.attributes.get("keepdim", op.attributes.get("keep_dim")))
    attrs: dict[str, Any] = {
        "dim": list(axes) or [0],
        "keep_dim": keep,
        "reduce_all": not axes or bool(op.attributes.get("reduce_all")),
    }
    into = op.attributes.get("dtype") or getattr(op.results[0].spec, "dtype", None)
    if op.name in ("sum", "prod") and into is not None:
        attrs["out_dtype"] = int(into)
    known = op._replace(operands=op.operands[:1], attributes={})
    source = decoder.specs.get(op.operands[0])
    if "out_dtype" in attrs and getattr(source, "dtype", None) is DType.BOOL:  # are no numbers here
        (name,) = names_of(decoder.operands[op.operands[0]])
        types = {"in_dtype": int(DType.BOOL), "out_dtype": attrs["out_dtype"]}
        number = -op.results[0].id - 1
        decoder.operands[number] = decoder.append(
            block, "cast", {"X": [name]}, f"{name}.numbers_{op.results[0].id}", None, types
        )
        known = known._replace(operands=(number,))
    decoder.append_form(known, block, form, **attrs)


def _ranged(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """Numbers at equal distances: the ends have the element type of the result here."""
    dtype = op.results[0].spec.dtype
    slots, type = (("Start", "End", "Step"), "range")
    if op.name == "linspace":
        slots, type = (("Start", "Stop", "Num"), "linspace")
    inputs = {}
    for slot, number in zip(slots, op.operands, strict=True):
        operand = decoder.operands[number]
        if isinstance(operand, HeldNumbers) and slot != "Num":
            name = f"{operand.name}.{slot}_{op.results[0].id}"
            operand = HeldNumbers(block, operand.values, operand.shape, dtype, name)
        inputs[slot] = names_of(operand)
    block.append_op(type, inputs, {"Out": decoder.declare(op.results[0], op, block)})


def _deformed(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """Without a mask it is the convolution's first form."""
    masked = bool(op.operands[3])
    operands = ("Input", "Offset", "Filter", "Mask")[: 3 + masked]
    type = "deformable_conv" if masked else "deformable_conv_v1"
    form = form_of(op.name)._replace(type=type, operands=operands, results=("Output",))
    decoder.append_form(op._replace(operands=op.operands[: len(operands)]), block, form)


def _rank(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """int32 in Paddle 2, int64 in Paddle 3."""
    (out,) = decoder.declare(op.results[0], op, block)
    (x,) = names_of(decoder.operands[op.operands[0]])
    ranks = decoder.append(block, "matrix_rank", {"X": [x]}, f"{out}.int32", None, op.attributes)
    types = {"in_dtype": int(DType.INT32), "out_dtype": int(DType.INT64)}
    block.append_op("cast", {"X": [ranks]}, {"Out": [out]}, types)


def _median(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """The middle of those that are numbers, and what is no number if there is one."""
    if op.attributes.get("mode", "avg") != "avg":
        decoder.append_unknown(op, block)
        return
    out, places = (decoder.declare(result, op, block)[0] for result in op.results)
    (x,) = names_of(decoder.operands[op.operands[0]])
    axes, keep = op.attributes["axis"], op.attributes["keepdim"]
    middle, zeros, others, sums = (f"{out}.{part}" for part in ("middle", "zeros", "others", "sum"))
    block.create_var(name=middle)
    block.append_op(
        "nanmedian",
        {"X": [x]},
        {"Out": [middle], "MedianIndex": [places]},
        {"axis": axes, "keepdim": keep},
    )
    isnan = decoder.append(block, "isnan_v2", {"X": [x]}, f"{out}.isnan")
    decoder.append(block, "fill_any_like", {"X": [x]}, zeros, None, {"value": 0.0})
    chosen = {"Condition": [isnan], "X": [x], "Y": [zeros]}
    decoder.append(block, "where", chosen, others)
    reduced = {"dim": list(axes) or [0], "keep_dim": keep, "reduce_all": not axes, "zero_d": True}
    decoder.append(block, "reduce_sum", {"X": [others]}, sums, None, reduced)
    block.append_op("elementwise_add", {"X": [middle], "Y": [sums]}, {"Out": [out]})


def _shape64(decoder: PirDecoder, op: Operation, block: Block) -> None:
    result = op.results[0]
    (name,) = names_of(decoder.operands[op.operands[0]])
    (out,) = decoder.declare(result, op, block)
    sizes = decoder.append(block, "shape", {"Input": [name]}, f"{out}.int32")
    types = {"in_dtype": int(DType.INT32), "out_dtype": int(DType.INT64)}
    block.append_op("cast", inputs={"X": [sizes]}, outputs={"Out": [out]}, attrs=types)


def _masked_fill(decoder: PirDecoder, op: Operation, block: Block) -> None:
    x, mask, value = (names_of(decoder.operands[n])[0] for n in op.operands)
    (out,) = decoder.declare(op.results[0], op, block)
    zeros = decoder.append(block, "fill_any_like", {"X": [x]}, f"{out}.zeros", None, {"value": 0.0})
    filled = f"{out}.filled"
    decoder.append(block, "elementwise_add", {"X": [zeros], "Y": [value]}, filled)
    chosen = {"Condition": [mask], "X": [filled], "Y": [x]}
    block.append_op("where", inputs=chosen, outputs={"Out": [out]})


def _set_value(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """A part of a tensor is written; its result is another value here."""
    x, *rest = (decoder.operands[n] for n in op.operands)
    inputs = {"Input": names_of(x)}
    if "with_tensor" in op.name:
        inputs["ValueTensor"] = names_of(rest.pop(0))
    attrs = {n: op.attributes[n] for n in ("axes", "decrease_axes", "none_axes")}
    for name, operand in zip(("starts", "ends", "steps"), rest):
        numbers = numbers_of(operand)
        if numbers is None:
            inputs[f"{name.capitalize()}TensorList"] = names_of(operand)
        else:
            attrs[name] = numbers
    if "values" in op.attributes:
        attrs |= {name: op.attributes[name] for name in ("shape", "values")}
    outs = decoder.declare(op.results[0], op, block)
    block.append_op("set_value", inputs=inputs, outputs={"Out": outs}, attrs=attrs)


# -- arrays ----------------------------------------------------------------------------------------


def _new_array(decoder: PirDecoder, op: Operation, block: Block) -> None:
    (out,) = decoder.declare(op.results[0], op, block)
    spec = op.results[0].spec
    attrs = {} if spec is None else {"shape": list(spec.shape), "dtype": int(spec.dtype)}
    block.append_op("empty_array", {}, {"Out": [out]}, attrs)


def _written(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """The array is written to, and is the result, too."""
    (array,), x, place = (names_of(decoder.operands[n]) for n in op.operands)
    block.append_op("write_to_array", {"X": x, "I": place}, {"Out": [array]})
    decoder.operands[op.results[0].id] = array


def _increased(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """The operand grows, and is the result, too."""
    (name,) = names_of(decoder.operands[op.operands[0]])
    step = op.attributes.get("value", 1.0)
    block.append_op("increment", {"X": [name]}, {"Out": [name]}, {"step": step})
    decoder.operands[op.operands[0]] = decoder.operands[op.results[0].id] = name


def _overwritten(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """The second operand gets the value of the first, and is the result, too."""
    value, target = (decoder.operands[number] for number in op.operands)
    (name,) = names_of(target)
    _assigned(decoder, block, value, name)
    decoder.operands[op.operands[1]] = decoder.operands[op.results[0].id] = name


# -- control flow ----------------------------------------------------------------------------------


def _assigned(decoder: PirDecoder, block: Block, operand: Operand, target: str) -> None:
    (name,) = names_of(operand)
    block.append_op("assign", inputs={"X": [name]}, outputs={"Out": [target]})


def _branch(
    decoder: PirDecoder, op: Operation, block: Block, number: int, condition: str, outs: list[str]
) -> list[str]:
    """One of the blocks of an ``if``, and what holds the results where it runs."""
    program = decoder.program
    results = [f"{out}.branch_{number}" for out in outs]
    for out, result in zip(outs, results):
        declared = block.var(out)
        block.create_var(name=result, shape=declared.shape, dtype=declared.dtype)
    inner = program._create_block(parent_idx=block.idx)
    values = decoder.region(op.regions[number], inner)
    for result, value in zip(results, values, strict=True):
        _assigned(decoder, inner, value, result)
    program._rollback()
    scope = f"if_{op.results[0].id if op.results else 0}.scope_{number}_{block.idx}"
    block.create_var(name=scope, type=Kind.STEP_SCOPES)
    block.append_op(
        "conditional_block",
        inputs={"Cond": [condition], "Input": _read_from_outside(inner)},
        outputs={"Out": [*results, *_arrays_of(inner)], "Scope": [scope]},
        attrs={"sub_block": inner, "is_scalar_condition": True},
    )
    return results


def _read_from_outside(inner: Block) -> list[str]:
    """The variables of other blocks that a block reads."""
    names = (name for each in inner.ops for name in each.input_arg_names)
    return list(dict.fromkeys(name for name in names if name not in inner.vars))


def _arrays_of(inner: Block) -> list[str]:
    """The arrays of other blocks that a block writes to."""
    names = dict.fromkeys(name for op in inner.ops for name in op.output_arg_names)
    outer = [name for name in names if name not in inner.vars]
    return [n for n in outer if inner.var_recursive(n).kind is Kind.LOD_TENSOR_ARRAY]


def _if(decoder: PirDecoder, op: Operation, block: Block) -> None:
    (condition,) = names_of(decoder.operands[op.operands[0]])
    outs = [name for result in op.results for name in decoder.declare(result, op, block)]
    others = decoder.append(block, "logical_not", {"X": [condition]}, f"{outs[0]}.others")
    chosen = _branch(decoder, op, block, 0, condition, outs)
    rest = _branch(decoder, op, block, 1, others, outs)
    number = decoder.append(
        block,
        "cast",
        {"X": [condition]},
        f"{outs[0]}.number",
        attrs={"in_dtype": DType.BOOL, "out_dtype": DType.INT32},
    )
    for out, first, second in zip(outs, chosen, rest):
        inputs = {"X": [second, first], "Mask": [number]}
        block.append_op("select_input", inputs=inputs, outputs={"Out": [out]})


def _written_over(region: Region) -> Iterator[int]:
    """The operands, by number, that operations of a region change in their place."""
    for op in region.operations:
        if op.name in ("increment_", "assign_out_"):
            yield op.operands[-1]
        for inner in op.regions:
            yield from _written_over(inner)


def _while(decoder: PirDecoder, op: Operation, block: Block) -> None:
    """Values that are carried have a name before the loop, which each pass writes anew."""
    condition, *values = (decoder.operands[n] for n in op.operands)
    stem = f"while_{op.results[0].id if op.results else op.operands[0]}"
    truth = f"{stem}.condition"
    decoder.append(block, "assign", {"X": names_of(condition)}, truth)
    carried = [name for result in op.results for name in decoder.declare(result, op, block)]
    for name, value in zip(carried, values, strict=True):
        _assigned(decoder, block, value, name)
    program = decoder.program
    (region,) = op.regions
    for number in _written_over(region):
        if number in decoder.operands:  # a number that passes change is none that is known
            (decoder.operands[number],) = names_of(decoder.operands[number])
    inner = program._create_block(parent_idx=block.idx)
    for argument, name in zip(region.arguments, carried, strict=True):
        decoder.operands[argument.id] = name
        decoder.specs[argument.id] = argument.spec
    goes_on, *results = decoder.region(region, inner)
    fresh = []
    for k, (name, value) in enumerate(zip(carried, results, strict=True)):
        # all are read before one is written
        (source,) = names_of(value)
        copied = f"{name}.next_{k}"
        fresh.append(decoder.append(inner, "assign", {"X": [source]}, copied))
    for name, value in zip(carried, fresh):
        _assigned(decoder, inner, value, name)
    _assigned(decoder, inner, goes_on, truth)
    program._rollback()
    scopes = f"{stem}.scopes"
    block.create_var(name=scopes, type=Kind.STEP_SCOPES)
    read = [name for name in _read_from_outside(inner) if name != truth]
    block.append_op(
        "while",
        inputs={"X": list(dict.fromkeys([*read, *carried])), "Condition": [truth]},
        outputs={"Out": [*carried, *_arrays_of(inner), truth], "StepScopes": [scopes]},
        attrs={"sub_block": inner, "is_test": True},
    )


SPECIAL: dict[str, Handler] = {
    "builtin.parameter": parameter,
    "builtin.combine": _combined,
    "builtin.split": _parted,
    "builtin.slice": _element,
    "pd_op.data": _fed,
    "pd_op.fetch": _fetched,
    "pd_op.full": _full,
    "pd_op.full_int_array": _full_int_array,
    "pd_op.assign_value": _assign_value,
    "pd_op.assign_value_": _assign_value,
    "pd_op.cast": _cast,
    "pd_op.shape64": _shape64,
    "pd_op.median": _median,
    "pd_op.arange": _ranged,
    "pd_op.linspace": _ranged,
    "pd_op.deformable_conv": _deformed,
    "pd_op.matrix_rank": _rank,
    "pd_op.masked_fill": _masked_fill,
    "pd_op.array_write_": _written,
    "pd_op.assign_out_": _overwritten,
    "pd_op.increment_": _increased,
    "pd_op.create_array": _new_array,
    "pd_op.if": _if,
    "pd_op.while": _while,
    **dict.fromkeys(("pd_op.share_data", "pd_op.share_data_", "pd_op.memcpy"), _same),
    **{
        f"pd_op.{name}": _reduced
        for name in (
            "sum", "mean", "max", "min", "prod", "all", "any", "amax", "amin", "frobenius_norm"
        )
    },
    **{
        f"pd_op.{name}": _set_value
        for name in (
            "set_value", "set_value_", "set_value_with_tensor", "set_value_with_tensor_"
        )
    },
}  # fmt: skip
