"""The gradient operators of a program: taken out, and derived anew once the rest has changed.

Those of a loss are a section: they begin with the operator that makes the loss's gradient one.  A
section is taken out only where deriving it anew gives the same operators, so that what comes back
is what the user would have had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..backward.emission import is_noted
from ..backward.program import are_gradients, loss_gradients
from ..backward.sweep import PendingOp
from ..clip import error_clip_callback
from ..errors import FluidError, NoGradientError, with_text
from ..ir.analysis import blocks_driven_by, drivers_in
from ..ir.block import Block
from ..ir.operator import EMPTY, Names, Operator, OpRole
from ..ir.program import Program
from ..ir.pruning import drop_blocks
from ..ir.rollback import all_or_nothing
from ..ir.variable import Variable
from ..opdef.gradient import GRAD, DerivedGrad, is_constant
from .checkpoints import checkpoints_in

_BACKWARD, _LOSS = int(OpRole.BACKWARD), int(OpRole.LOSS)  # arithmetic on flags is slow
_FORWARD = OpRole.FORWARD
_SEED = OpRole.BACKWARD | OpRole.LOSS
_PLACE = "place of gradients"  #: stands where a section was
_SAVED = "@SAVED_"  #: in names of copies that backward makes of values that are overwritten


#: a block as it was: its number, operators, their roles with the parameters whose gradients they
#: give, and the names of its variables
_Before: TypeAlias = tuple[int, list[Operator], list[tuple[int, Any]], set[str]]


class _Section(NamedTuple):
    """The gradient operators of a loss."""

    loss: str
    ops: list[Operator]
    rest: list[Operator]  #: what comes behind, up to the next section


class _Way(NamedTuple):
    """What ``append_backward`` was told, beside the losses."""

    parameters: list[list[str] | None]  #: of each section
    no_grad: list[set[str]]
    checkpoints: list[list[str]]


class GradientSections:
    """The sections of a program, all of them in one block.

    Args:
        program: is changed by the methods.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._block: Block = program.global_block()
        self._sections: list[_Section] = []
        self._front: list[Operator] = []
        self._way: _Way | None = None
        self._variables: list[list[Variable]] = []
        #: the operators and variables of each block without sections, once somebody asked
        self._rest: list[tuple[list[Operator], list[Variable]]] = []
        #: names whose gradients are computed by operators that stay
        self.differentiated: set[str] = set()

        #: names that are read when sections are derived anew
        self.needed: set[str] = set()
        #: why gradient operators stay; empty where none do
        self.reason: str = ""

    def take_out(self) -> None:
        """Take the sections out of the program, where they can be derived anew."""
        if self._found() is not None:
            for way in self._ways():
                self.reason = self._what_differs(way)
                if not self.reason:
                    self._way = way
                    self.needed = {name for names in way.checkpoints for name in names}
                    self.needed.update(section.loss for section in self._sections)
                    self._cut()
                    break
        self.differentiated = {
            _variable_of(name)
            for block in self._program.blocks
            for op in block.ops
            if op.role is not _FORWARD and int(op.role) & _BACKWARD
            for name in (*op.input_arg_names, *op.output_arg_names)
            if GRAD in name
        }

    def _found(self) -> Block | None:
        """The block that has sections, once these are found; None where none or several do."""
        blocks = [b for b in self._program.blocks if any(map(_begins_section, b.ops))]
        if len(blocks) != 1:
            return None
        self._block = blocks[0]
        self._front, self._sections = _divided(self._block.ops)
        return self._block

    def _ways(self) -> Iterator[_Way]:
        """What ``append_backward`` may have been told: what optimizers tell it; nothing; or what
        the operators show.
        """
        count = len(self._sections)
        marks = [checkpoints_in(self._block.ops, section.ops) for section in self._sections]
        frozen = {p.name for p in self._program.all_parameters() if not p.trainable}
        for stops in [frozen, set[str]()] if frozen else [frozen]:
            yield _Way([None] * count, [stops] * count, marks)
        parameters: list[list[str] | None] = []
        no_grad = []
        for section in self._sections:
            parameters.append(
                list(dict.fromkeys(n for op in section.ops for n in op.role_vars[::2]))
            )
            with_gradient = {_variable_of(n) for op in section.ops for n in op.output_arg_names}
            no_grad.append(
                {
                    v.name
                    for v in self._program.list_vars()
                    if v.takes_gradient and v.name not in with_gradient and GRAD not in v.name
                }
            )
        yield _Way(parameters, no_grad, marks)

    def _what_differs(self, way: _Way) -> str:
        """How sections that are taken out and derived anew differ from what they were; empty where
        they do not.
        """
        if not self._rest:
            self._rest = [self._left(inside) for inside in self._program.blocks]
        if self._is_surely_derived(way):
            return ""
        tried, blocks = self, self._program.blocks
        before = [
            (block.idx, list(block.ops), [_marks(op) for op in block.ops], set(block.vars))
            for block in blocks
        ]
        if any(driven for block in blocks for _, driven in drivers_in(block)):  # numbers change
            tried = GradientSections(self._program.clone())
            tried._found()
        tried._way = way
        try:
            with all_or_nothing(tried._program):
                tried._cut()
                tried.put_back(False)
                raise _Difference(_first_difference(before, tried._program))
        except _Difference as difference:
            return str(difference)
        except (FluidError, LookupError) as error:
            return str(error).partition("\n")[0]
        finally:
            tried._way = None

    def _is_surely_derived(self, way: _Way) -> bool:
        """Whether the one section is what would be derived, as can be seen without doing so."""
        section, variables = self._sections[0], self._rest[self._block.idx][1]
        loss = self._block.vars.get(section.loss)
        if (
            loss is None
            or len(self._sections) > 1
            or way.checkpoints[0]
            or _copies(self._block)
            or any(v.error_clip is not None for v in self._program.list_vars())
        ):
            return False
        names, end = {v.name for v in variables}, len(self._front)
        stopped, parameters = way.no_grad[0] & names, way.parameters[0]
        return are_gradients(section.ops, loss, end, parameters, stopped, names)

    def _cut(self) -> None:
        """Take out the sections, their blocks and variables, and copies of overwritten values."""
        if not self._rest:
            self._rest = [self._left(inside) for inside in self._program.blocks]
        self._variables = [list(each.vars.values()) for each in self._program.blocks]
        for inside, (ops, variables) in zip(self._program.blocks, self._rest):
            inside.set_ops(ops)
            inside.set_vars(variables)
        cut = [op for section in self._sections for op in section.ops]
        drop_blocks(self._program, {index for op in cut for index in blocks_driven_by(op)})
        for op in self._front:
            if op.role is not _FORWARD:
                op.role = int(op.role) & ~_LOSS

    def _left(self, block: Block) -> tuple[list[Operator], list[Variable]]:
        """The operators and variables of a block without sections and copies."""
        ops, gone, lost = list(block.ops), set[str](), _copies(block)
        if block is self._block:
            ops = list(self._front)
            for section in self._sections:
                ops += [Operator(block, _PLACE, {}, {}, {}, role=_SEED), *section.rest]
                gone.update(*(names for op in section.ops for names in op.outputs.values()))
            for op in self._front:
                gone.difference_update(*op.inputs.values(), *op.outputs.values())
        if lost:
            ops = [op for op in ops if lost.isdisjoint(op.output_arg_names)]
            gone |= lost
        return ops, [v for n, v in block.vars.items() if n not in gone]

    def put_back(self, changed: bool) -> list[Operator]:
        """Derive the sections anew from what the program is now.

        Args:
            changed: whether it is another one.

        Returns:
            the gradient operators of the section's block, which fit their definitions and what is
            declared where the operators do that they are derived from.

        Raises:
            NoGradientError: an operator has no gradient, or a needed one is missing.
        """
        if self._way is None:
            return []
        block, derived = self._block, list[Operator]()
        parts: list[list[Operator]] = [[]]
        for op in block.ops:
            if op.type == _PLACE:
                parts.append([])
            else:
                parts[-1].append(op)
        block.set_ops(parts[0])
        for number, rest in enumerate(parts[1:]):
            begin = len(block.ops)
            self._derive(number, changed)
            derived += [op for op in block.ops[begin:] if _is_derived(op)]
            block.set_ops([*block.ops, *rest])
        if changed:
            for each, before in zip(self._program.blocks, self._variables):
                _order(each, before)
            self._check_complete()
        return derived

    def _derive(self, number: int, changed: bool) -> None:
        way, section = self._way, self._sections[number]
        variables = self._variables[self._block.idx]
        assert way is not None  # the sections were taken out
        known = self._block.vars
        parameters = way.parameters[number]
        clipped = any(v.error_clip is not None for v in self._program.list_vars())
        try:
            loss_gradients(
                known[section.loss],
                None if parameters is None else [n for n in parameters if n in known],
                {n for n in way.no_grad[number] if n in known},
                [error_clip_callback] if clipped else None,
                way.checkpoints[number] or None,
                reuse=None if changed else _Reuse(section.ops, self._block, variables),
            )
        except FluidError as error:
            said = f"the gradients of {section.loss!r} cannot be derived anew: {error}"
            raise with_text(error, said) from error

    def _check_complete(self) -> None:
        """See that who reads gradients finds them."""
        known = self._block.vars
        for section in self._sections:
            for op in section.rest:
                for name in op.input_arg_names:
                    if name not in known and name != EMPTY and GRAD in name:
                        raise NoGradientError(
                            f"`{op.type}` reads {name!r}, and after the rewriting no gradient of "
                            f"the loss {section.loss!r} flows to {name.partition(GRAD)[0]!r} any "
                            f"more{self._why_not()}"
                        )

    def _why_not(self) -> str:
        """The new operators that have no gradient, in words."""
        old = set(map(id, self._front))
        forward = [op for op in self._block.ops if not int(op.role) & ~_LOSS and op.inputs]
        new = {op.type: op.definition for op in forward if id(op) not in old}
        without = [type for type, each in new.items() if each is not None and is_constant(each)]
        return "".join(f"; `{type}` has no gradient" for type in without)


class _Reuse:
    """Gives the operators of a section in turn, as long as they are what is derived anew.

    Args:
        ops: of the section.
        block: they are put into.
        variables: of the block, when it had the section.
    """

    def __init__(self, ops: Sequence[Operator], block: Block, variables: list[Variable]) -> None:
        self._ops = iter(ops)
        self._block = block
        self._variables = {variable.name: variable for variable in variables}

    def __call__(
        self, record: PendingOp, inputs: Mapping[str, Names], outputs: Mapping[str, Names]
    ) -> Operator | None:
        op = next(self._ops, None) if record.body is None else None
        if op is None or not is_noted(op, record, inputs, outputs):
            self._ops = iter(())
            return None
        for names in outputs.values():
            for name in names:
                if name in self._variables and name not in self._block.vars:
                    self._block.declare(self._variables[name])
        op.role, op.role_vars = OpRole.BACKWARD, ()
        return op


def _is_derived(op: Operator) -> bool:
    return op.definition is not None and issubclass(op.definition, DerivedGrad)


def _copies(block: Block) -> set[str]:
    """The names of copies that backward made of values that are overwritten."""
    return {
        n for op in block.ops if op.type == "assign" for n in op.output_arg_names if _SAVED in n
    }


def _begins_section(op: Operator) -> bool:
    return op.type == "fill_constant" and op.role == _SEED and GRAD in op.first_output


def _divided(ops: Sequence[Operator]) -> tuple[list[Operator], list[_Section]]:
    """The operators before the first section, and the sections."""
    front: list[Operator] = []
    sections: list[_Section] = []
    inside = False
    for op in ops:
        if _begins_section(op):
            loss = op.first_output.partition(GRAD)[0]
            sections.append(_Section(loss, [op], []))
            inside = True
            continue
        inside = inside and bool(int(op.role) & _BACKWARD)
        held = front if not sections else sections[-1].ops if inside else sections[-1].rest
        held.append(op)
    return front, sections


class _Difference(Exception):
    """How the trial ended: all is taken back."""


def _first_difference(before: Sequence[_Before], tried: Program) -> str:
    """Where a program first has other operators than it had; neither how attributes are listed
    counts nor the order of slots, which differ in files.
    """
    for (index, ops, roles, names), block in zip(before, tried.blocks):
        for at, (one, marks, other) in enumerate(zip(ops, roles, block.ops)):
            is_same = one is other or _meaning(one) == _meaning(other)
            now = _marks(other)
            if not is_same or (marks != now and _role(*marks) != _role(*now)):
                return f"operator {at} of block {index} would be {other}"
        if len(ops) != len(block.ops) or names != block.vars.keys():
            return f"block {index} would have other operators or variables"
    return "" if len(before) == tried.num_blocks else "there would be other blocks"


def _meaning(op: Operator) -> tuple[object, ...]:
    """What an operator does."""
    attributes = {} if op.definition is None else op.definition.attributes
    attrs = {
        name: op.attrs.get(name, attribute.default)
        for name, attribute in attributes.items()
        if not attribute.inert
    }
    return op.type, dict(op.inputs), dict(op.outputs), attrs, op.device


def _marks(op: Operator) -> tuple[int, Any]:
    """What an operator says that it is for."""
    return op.role, op.role_vars


def _role(role: int, names: Any) -> tuple[int, Any]:
    """What an operator is for, and for which parameters it gives gradients."""
    return int(role), names and set(zip(names[::2], names[1::2]))


def _variable_of(gradient: str) -> str:
    """The name of the variable whose gradient, or a part of it, has a name."""
    return gradient.partition(GRAD)[0].rpartition("grad/")[2]


def _order(block: Block, before: list[Variable]) -> None:
    """Let variables that were there be as they were, in their order."""
    now = block.vars
    first = [v if v.block is block else v.copy_to(block) for v in before if v.name in now]
    names = {v.name for v in first}
    block.set_vars([*first, *(v for n, v in now.items() if n not in names)])
