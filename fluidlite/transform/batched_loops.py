"""The last resort of batching: operators that run for one example after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import unique_name
from ..ground.dtypes import Kind
from ..ir.block import Block
from ..ir.variable import Variable
from ..opdef.definition import Op, lookup
from .batching import Batching, Values, each, flat


def looped(f: Batching, op: Op, ins: Values, want: frozenset[str] | None) -> dict[str, Any]:
    """Append an operator that runs for one example after the other; its outputs by slot.

    Args:
        f: the interpreter.
        op: the operator.
        ins: its inputs by slot, some of them batched.
        want: the output slots that are needed; None for all.
    """
    operands = each(ins, lambda v: f.batched(v) if v.is_batched else v)
    sequences = {v.variable.name: v.variable for v in flat(operands) if v.is_batched}
    block = f.block.program.add_block(f.block.idx)
    for whole in sequences.values():
        one_example(block, whole)
    inner = each(operands, lambda v: block.vars[v.variable.name] if v.is_batched else v.variable)
    outs = f.results_of(op, inner, want, block.builder(f.stem))
    block.add_op(op, inner, outs)
    for slot in op.outputs:
        if slot.hidden and any(not v.has_shape for v in flat({"": outs.get(slot.name)})):
            del outs[slot.name]  # which is not made
    shared = [v.variable.name for v in flat(operands) if not v.is_batched]
    repeat(f, block, sequences, shared, list(flat(outs)))
    return each(outs, lambda v: f.value(f.block.var(v.name), 0))


def one_example(block: Block, whole: Variable) -> None:
    """Declare in a block what holds one of the examples of a variable around it."""
    one = block.declare_var(whole.name, whole.dtype, whole.shape[1:])
    one.stop_gradient = whole.stop_gradient


def repeat(
    f: Batching,
    block: Block,
    sequences: Mapping[str, Variable],
    shared: Iterable[str],
    results: Sequence[Variable],
) -> None:
    """Append an operator that runs a block for one example after the other.

    Args:
        f: where to append.
        block: what to run; it holds a variable for each of ``sequences``.
        sequences: what has the examples as its first dimension, by name.
        shared: names of what the block reads beside these.
        results: variables of the block; variables around it, of the same names, get those of all
            examples, and are declared where they are missing.
    """
    if not sequences:
        assert f.like is not None
        sequences = {f.like.name: f.like}
        one_example(block, f.like)
    for one in results:
        if f.block.find_var_recursive(one.name) is None:
            shape = (f.size, *one.shape) if one.has_shape else None
            f.block.declare_var(one.name, one.dtype if one.has_dtype else None, shape)
    scopes = f.block.declare_var(unique_name.generate(f.stem), type=Kind.STEP_SCOPES)
    driver = lookup("recurrent")({"sub_block": block.idx, "ex_states": [], "states": []})
    inputs = {"inputs": list(sequences), "parameters": list(dict.fromkeys(shared))}
    f.block.add_op(driver, inputs, {"outputs": [v.name for v in results], "step_scopes": scopes})
