"""What is computed twice is computed once; what nobody needs is not computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..ir.analysis import blocks_driven_by, reads_of, writes_of
from ..ir.block import Block
from ..ir.literal import typed_text
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.pruning import drop_unused
from ..ir.variable import Variable
from .editing import verified
from .selecting import names_in_block_0


def share(program: Program, keep: Iterable[Variable | str] | None = None) -> Program:
    """A program that computes once what block 0 computes several times, and copies nothing.

    Operators of the same type, with the same attributes and inputs, are one, and readers of a copy
    read what was copied; random operators, those with effects, and those that drive blocks or write
    a name that is written again, stay.

    Args:
        program: stays as it is.
        keep: variables that stay; those that no operator reads when None.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.exp(x) + fluid.layers.exp(x)
    >>> shared = fluid.transform.share(fluid.default_main_program())
    >>> print(fluid.transform.formula(shared, y))
    tmp_0 = exp_0.tmp_0 + exp_0.tmp_0
    where
      exp_0.tmp_0 = exp(x)
    """

    names_kept = None if keep is None else set(names_in_block_0(program, keep))

    def change(copied: Program) -> None:
        block = copied.global_block()
        written = Counter(n for op in block.ops for n in writes_of(op))
        fixed = {n for inner in copied.blocks[1:] for op in inner.ops for n in writes_of(op)}
        wanted = {n for op in block.ops if op.type == "fetch" for n in op.input_arg_names}
        wanted |= results_of(block) if names_kept is None else names_kept
        read_within = {n for op in block.ops if blocks_driven_by(op) for n in reads_of(op)}
        versions: Counter[str] = Counter()
        renamed: dict[str, str] = {}
        known: dict[tuple[object, ...], Operator] = {}
        ops = []
        for op in block.ops:
            reads = {n: renamed[n] for n in op.input_arg_names if n in renamed}
            if reads:
                for old, new in reads.items():
                    op.rename_input(old, new)
            names = writes_of(op)
            is_plain = _is_plain(op) and not any(
                written[n] > 1 or n in fixed or n in read_within for n in names
            )
            is_free = is_plain and not any(
                n in wanted or block.var_recursive(n).persistable for n in names
            )
            if is_free and op.type == "assign" and op.input_arg_names:
                (source,), (copy,) = op.input_arg_names, names
                if written[source] <= 1 and _may_stand_for(block, source, copy):
                    renamed[copy] = source
                    continue
            key = _key(op, versions) if is_plain else ()
            twin = known.get(key) if is_plain else None
            if twin is not None and is_free and _gives_all(twin, op):
                renamed.update(zip(op.output_arg_names, twin.output_arg_names))
                continue
            if is_plain:
                known[key] = op
            versions.update(names)
            ops.append(op)
        block.set_ops(ops)
        drop_unused(copied, renamed)

    return verified(program, change)


def results_of(block: Block) -> set[str]:
    """The names that are written, and that nothing reads."""
    read = {name for op in block.ops for name in reads_of(op)}
    return {name for op in block.ops for name in writes_of(op) if name not in read}


def _may_stand_for(block: Block, source: str, copy: str) -> bool:
    """Whether what reads a copy may read what was copied."""
    a, b = block.var_recursive(source), block.var_recursive(copy)
    if a.persistable:
        return False
    return a.spec == b.spec and a.stop_gradient == b.stop_gradient and a.block is b.block


def _is_plain(op: Operator) -> bool:
    definition = op.definition
    if definition is None or blocks_driven_by(op) or definition.random or definition.host:
        return False
    instance = op.instance()
    return not (instance.is_control or instance.calls_out or definition.effect is not None)


def _key(op: Operator, versions: Counter[str]) -> tuple[object, ...]:
    inputs = tuple(
        (slot, tuple((n, versions[n]) for n in names)) for slot, names in op.inputs.items()
    )
    attrs = tuple(sorted((name, typed_text(value)) for name, value in op.attrs.items()))
    return op.type, inputs, attrs, op.device


def _gives_all(twin: Operator, op: Operator) -> bool:
    """Whether an operator writes all that another one writes."""
    return all(
        slot in twin.outputs
        and len(twin.outputs[slot]) == len(names)
        and all(n == EMPTY or t != EMPTY for n, t in zip(names, twin.outputs[slot]))
        for slot, names in op.outputs.items()
    )


def drop_unneeded(program: Program, keep: set[str]) -> Program:
    """A program without operators of block 0 that no variable of some depends on.

    Args:
        program: stays as it is.
        keep: names of the variables; what stays between runs is kept, and operators that do more
            than compute.
    """

    def change(copied: Program) -> None:
        block = copied.global_block()
        needed, ops, gone = set(keep), [], set()
        for op in reversed(block.ops):
            names = writes_of(op)
            stays = not _is_plain(op) and not getattr(op.definition, "random", False)
            stays = stays or any(block.var_recursive(n).persistable for n in names)
            if stays or not needed.isdisjoint(names):
                ops.append(op)
                if not blocks_driven_by(op):  # which may leave a name the value that it had
                    needed.difference_update(names)
                needed.update(reads_of(op))
            else:
                gone.update(names)
        ops.reverse()
        block.set_ops(ops)
        drop_unused(copied, gone)

    return verified(program, change)
