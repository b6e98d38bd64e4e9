"""Which names of a program have tangents: those that depend on the inputs, and that outputs need.

It is asked of names, not of values: a name that has a tangent once has one wherever it has a value.
So loops and branches need no analysis of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import Op
from ..opdef.gradient import GRAD, is_constant
from .linearity import inert_slots
from .twin_blocks import TWINNED, links_of


def active_names(program: Program, inputs: Iterable[str], outputs: Iterable[str]) -> set[str]:
    """The names that have tangents.

    Args:
        program: any.
        inputs: what has tangents to begin with.
        outputs: whose tangents are computed.
    """
    return _between(program, set(inputs), set(outputs), set(inputs))


def stopped_outputs(program: Program, inputs: Iterable[str], outputs: Iterable[str]) -> list[str]:
    """The outputs that depend on inputs, but that no tangents reach: they stop on the way.

    Args:
        program, inputs, outputs: as of :func:`active_names`.
    """
    active = active_names(program, inputs, outputs)
    depending = _depending(program, inputs, outputs)
    return [name for name in outputs if name in depending - active]


def are_swapped(program: Program, inputs: Iterable[str], outputs: Iterable[str]) -> bool:
    """Whether inputs depend on outputs, and no output on an input.

    Args:
        program, inputs, outputs: as of :func:`active_names`.
    """
    if _depending(program, inputs, outputs):
        return False
    return bool(_depending(program, outputs, inputs))


def _depending(program: Program, inputs: Iterable[str], outputs: Iterable[str]) -> set[str]:
    """The names on a way from inputs to outputs, be they marked to stop tangents."""
    every = {name for block in program.blocks for name in block.vars}
    return _between(program, set(inputs), set(outputs), every)


def _between(program: Program, inputs: set[str], outputs: set[str], through: set[str]) -> set[str]:
    """The names that lie between inputs and outputs.

    Args:
        program, inputs, outputs: as of :func:`active_names`.
        through: names that tangents flow from, be they marked to stop them.
    """
    unstopped = through | set(_byproducts(program))
    forward, backward = defaultdict(list), defaultdict(list)
    for block in program.blocks:
        for op in block.ops:
            for source, target in _flow(op, through, unstopped):
                forward[source].append(target)
                backward[target].append(source)
    return _reached(forward, inputs) & _reached(backward, outputs)


def _byproducts(program: Program) -> Iterator[str]:
    """What gradient operators read of hidden results: layers mark it so that nothing flows to it,
    which concerns its users; it is a function of the operator's inputs all the same.
    """
    for block in program.blocks:
        for op in block.ops:
            for slot in getattr(op.definition, "byproducts", ()):
                yield from op.inputs.get(slot, ())


def _reached(edges: dict[str, list[str]], start: Iterable[str]) -> set[str]:
    """The names that a way along edges leads to."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _flow(op: Operator, inputs: set[str], unstopped: set[str]) -> Iterator[tuple[str, str]]:
    """Pairs of names: from where to where tangents may flow through an operator."""
    if op.type in TWINNED:
        for source, target in links_of(op):
            if EMPTY not in (source, target):
                yield source, target
        return
    definition = op.definition
    if definition is not None and is_constant(definition):
        return
    sources = [name for _, name in flowing_inputs(op, inputs)]
    targets = [name for _, name in flowing_outputs(op, unstopped)]
    yield from ((source, target) for source in sources for target in targets)


def flowing_inputs(op: Operator, inputs: Collection[str]) -> Iterator[tuple[str, str]]:
    """Slots and names of what tangents may flow into an operator by.

    Args:
        op: the operator.
        inputs: names that have tangents in any case.
    """
    definition = op.definition
    byproducts = getattr(definition, "byproducts", ())
    for slot, names in op.inputs.items():
        if _is_open(definition, slot):
            for name in names:
                variable = variable_behind(op.block, name)
                if variable is None or not _is_float(variable):
                    continue
                if slot in byproducts or name in inputs or not variable.stop_gradient:
                    yield slot, name


def flowing_outputs(op: Operator, unstopped: Collection[str]) -> Iterator[tuple[str, str]]:
    """Slots and names of what tangents may flow out of an operator by.

    Args:
        op: the operator.
        unstopped: names that have tangents whether gradients stop at them or not.
    """
    for slot, names in op.outputs.items():
        if _is_open(op.definition, slot):
            for name in names:
                variable = variable_behind(op.block, name)
                if variable is None or not _is_float(variable):
                    continue
                if name in unstopped or not variable.stop_gradient:
                    yield slot, name


def _is_open(definition: type[Op] | None, slot: str) -> bool:
    if definition is None:
        return True
    form = definition.fluid
    if slot in form.unread or slot in form.idle or slot in inert_slots(definition):
        return False
    declared = definition.input_slots.get(slot) or definition.output_slots.get(slot)
    return declared is not None and not declared.constant


def variable_behind(block: Block, name: str) -> Variable | None:
    """The variable of a name as a block sees it; of a gradient that an operator hands to the block,
    and that nobody declared, the variable that it is the gradient of.
    """
    variable = block.find_var_recursive(name)
    if variable is None and block.forward_block_idx >= 0 and name.endswith(GRAD):
        forward = block.program.blocks[block.forward_block_idx]
        variable = forward.find_var_recursive(name.removesuffix(GRAD))
    return variable


def _is_float(variable: Variable) -> bool:
    return variable.has_dtype and variable.dtype.is_continuous
