"""The rules that every program keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import FluidError, NoGradientError, UnknownOperatorError, VerifyError, suggestion
from ..ground.dtypes import Kind
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Op, find, lookup
from ..opdef.gradient import DerivedGrad
from ..opdef.rule import RuleArgument
from ..opdef.signature import Slot
from ..opdef.spec import Shape, Spec, agree
from .analysis import drivers_in, undeclared_inside, writes_of
from .block import Block
from .declared import inferred_for_now, inferred_of_integers
from .nesting import check_nesting
from .operator import EMPTY, Names, Operator
from .shape_inference import results_of
from .variable import Parameter, Variable

if TYPE_CHECKING:
    from .program import Program

RULES = {
    1: "blocks are numbered consecutively, and parents come first",
    2: "every name is declared in the operator's block or one around it",
    3: "a value is written before it is read",
    4: "slots and attributes are those of the definition",
    5: "a block belongs to one operator at most",
    6: "parameters lie in block 0 and are persistable",
    7: "sizes are -1 or more, and declared shapes are those that follow from the operators",
    8: "a gradient operator reads the values that its operator saw",
    9: "feed operators stand at the front of block 0, fetch operators at its end",
}
#: where operators stand: at the front, and at the end
_PLACES = {"feed": 0, "fetch": 2}
#: what a variable holds that has no value before something writes it
_WRITTEN_FIRST = frozenset({Kind.LOD_TENSOR, Kind.SELECTED_ROWS})


def verify(
    program: Program, feeds: Iterable[str] = (), known: Container[Operator] = frozenset()
) -> None:
    """Check that a program keeps the rules.

    Args:
        program: what to check.
        feeds: names that are given a value from outside beside the program's data variables.
        known: operators that fit their definitions and what is declared, as somebody
            found before.

    Raises:
        VerifyError: it breaks one; names the rule, the block, the operator and the user's line.
    """
    _check_blocks(program)
    owners = _owners(program)
    check_nesting(program)
    forms: set[Any] = set()
    for block in program.blocks:
        _check_variables(block)
        driver = owners.get(block.idx)
        bound = set() if driver is None else set(_bound_inside(driver))
        is_closed = _mentioned(block) <= block.vars.keys()
        for op in block.ops:
            if not is_closed:
                _check_names(op, bound)
            if op not in known:
                _check_definition(op, forms)
    _Written(owners, feeds).check(program)
    _check_shapes(program, known)
    for block in program.blocks:
        _Values(block).check()
    _check_feeds(program)


def _fail(rule: int, message: str, block: Block, op: Operator | None = None) -> NoReturn:
    lines = [message, f"  rule {rule}: {RULES[rule]}", f"  block {block.idx}"]
    if op is not None:
        lines[-1] += f", operator {op.idx}: {op}"
        if op.callsite is not None:
            lines.append(f"  built at {op.callsite}")
    raise VerifyError("\n".join(lines))


def _check_blocks(program: Program) -> None:
    for position, block in enumerate(program.blocks):
        if block.idx != position:
            _fail(1, f"block {block.idx} stands at position {position}", block)
        if block.program is not program:
            _fail(1, f"block {position} belongs to another program", block)
        if position == 0 and block.parent_idx >= 0:
            _fail(1, f"block 0 lies in block {block.parent_idx}", block)
        if position and not 0 <= block.parent_idx < position:
            _fail(1, f"the parent of block {position} is block {block.parent_idx}", block)
        if block.forward_block_idx >= position:
            _fail(1, f"the forward block of block {position} is {block.forward_block_idx}", block)


def _owners(program: Program) -> dict[int, Operator]:
    """Block -> the operator that drives it."""
    owners: dict[int, Operator] = {}
    for block in program.blocks:
        for op, driven in drivers_in(block):
            for index in driven:
                if not 0 < index < program.num_blocks:
                    _fail(5, f"{op.type} drives block {index}, which is missing", block, op)
                if index in owners:
                    _fail(
                        5, f"block {index} belongs to another operator: {owners[index]}", block, op
                    )
                owners[index] = op
    return owners


def _check_variables(block: Block) -> None:
    right: set[Shape] = set()
    for name, variable in block.vars.items():
        if variable.name != name or variable.block is not block:
            _fail(2, f"variable {variable.name!r} is kept under the name {name!r}", block)
        if isinstance(variable, Parameter):
            if block.idx:
                _fail(6, f"parameter {name!r} lies in block {block.idx}", block)
            if not variable.persistable:
                _fail(6, f"parameter {name!r} is not persistable", block)
        shape = variable.shape
        if shape not in right:
            if min(shape, default=0) < -1:
                _fail(7, f"variable {name!r} has the shape {list(shape)}", block)
            right.add(shape)


def _mentioned(block: Block) -> set[str]:
    """All that the operators of a block read and write."""
    names: set[str] = set()
    for op in block.ops:
        names.update(*op.inputs.values(), *op.outputs.values())
    return names


def _check_names(op: Operator, bound: set[str]) -> None:
    block, definition = op.block, op.definition
    declared = block.vars
    outside = () if definition is None else definition.fluid.outside
    for slots, skipped in ((op.inputs, outside), (op.outputs, ())):
        for slot, names in slots.items():
            for name in names:
                if name in declared or name == EMPTY or name in bound or slot in skipped:
                    continue
                if block.find_var_recursive(name) is None:
                    hint = suggestion(name, block.vars)
                    _fail(2, f"there is no variable {name!r}{hint}", block, op)


# -- rule 4 ----------------------------------------------------------------------------------------


def _check_definition(op: Operator, forms: set[Any]) -> None:
    """Check an operator by its definition.

    Args:
        op: any.
        forms: types, slots and names of attributes that fit; those of the operator are added.
    """
    try:
        definition = lookup(op.type)
    except (UnknownOperatorError, NoGradientError) as error:
        _fail(4, str(error), op.block, op)
    widths = [
        (slot, len(names)) for side in (op.inputs, op.outputs) for slot, names in side.items()
    ]
    form = (op.type, len(op.inputs), *widths, *op.attrs)
    if form not in forms:
        _check_form(op, definition)
        forms.add(form)
    for name, value in op.attrs.items():
        try:
            definition.attributes[name].convert(value, op.type)
        except FluidError as error:
            _fail(4, str(error), op.block, op)


def _check_form(op: Operator, definition: type[Op]) -> None:
    """Check slots, and which attributes there are."""
    _check_slots(op, op.inputs, definition.input_slots, "input")
    _check_slots(op, op.outputs, definition.output_slots, "output")
    for name in op.attrs:
        if name not in definition.attributes:
            hint = suggestion(name, definition.attributes)
            _fail(4, f"{op.type} has no attribute {name!r}{hint}", op.block, op)
    for name, attribute in definition.attributes.items():
        if attribute.default is REQUIRED and name not in op.attrs:
            _fail(4, f"{op.type} needs a value of its attribute {name!r}", op.block, op)


def _check_slots(
    op: Operator, given: Mapping[str, Names], slots: Mapping[str, Slot], side: str
) -> None:
    for name, names in given.items():
        if name not in slots:
            hint = suggestion(name, slots)
            _fail(4, f"{op.type} has no {side} slot {name!r}{hint}", op.block, op)
        if len(names) != 1 and not slots[name].many:
            what = f"{side} slot {name} of {op.type} takes one variable"
            _fail(4, f"{what}, it has {len(names)}", op.block, op)
    definition = lookup(op.type)
    needed = definition.required_inputs if side == "input" else definition.required_outputs
    for name in needed:
        if not given.get(name):
            _fail(4, f"{op.type} needs a variable in its {side} slot {name}", op.block, op)


# -- rule 3 ----------------------------------------------------------------------------------------


class _Written:
    """Walks the blocks in the order in which they run, and keeps which names have been written."""

    def __init__(self, owners: dict[int, Operator], feeds: Iterable[str]) -> None:
        self.owners = owners
        #: identity of an operator -> the blocks that it drives
        self.driven: dict[int, list[int]] = {}
        for index, op in owners.items():
            self.driven.setdefault(id(op), []).append(index)
        self.given = set(feeds)

    def check(self, program: Program) -> None:
        self.walk(program.blocks[0], [self.given])
        for block in program.blocks[1:]:
            if block.idx not in self.owners:  # nobody knows yet what will have been written
                self.walk(block, [self.given, set(_outer_names(block))])

    def walk(self, block: Block, known: list[set[str]]) -> None:
        """Check a block.

        Args:
            block: the block.
            known: sets of names that hold values when it begins.
        """
        written: set[str] = set()
        held: set[str] = set()  # names that are read here and hold something already
        known = [*known, written]
        if block.forward_block_idx >= 0:
            forward = block.program.blocks[block.forward_block_idx]
            known.insert(0, {name for op in forward.ops for name in writes_of(op)})
        for op in block.ops:
            for names in op.inputs.values():
                for name in names:
                    if name in written or name in held:
                        continue
                    if not any(name in outer for outer in known) and _needs_a_writer(block, name):
                        message = f"variable {name!r} is read before anything writes it"
                        _fail(3, message, block, op)
                    held.add(name)
            for index in self.driven.get(id(op), ()):
                self.walk(block.program.blocks[index], [*known, set(_bound_inside(op))])
            for names in op.outputs.values():
                written.update(names)


def _needs_a_writer(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    if variable is None or variable.persistable or variable.is_data:
        return False
    return variable.kind in _WRITTEN_FIRST


def _bound_inside(op: Operator) -> Iterator[str]:
    """Names that an operator gives values to in the block that it drives."""
    if op.definition is not None:
        yield from op.instance().bound_names(op.inputs)
    yield from op.input_arg_names
    for value in op.attrs.values():
        if isinstance(value, tuple):
            yield from (each for each in value if isinstance(each, str))


def _outer_names(block: Block) -> Iterator[str]:
    outer = block.parent
    while outer is not None:
        yield from outer.vars
        outer = outer.parent


# -- rule 7 ----------------------------------------------------------------------------------------


def _check_shapes(program: Program, known: Container[Operator]) -> None:
    writers: Counter[str] = Counter()
    given = undeclared_inside(program)
    for block in program.blocks:
        undeclared: frozenset[str] | set[str] = given.get(block.idx, frozenset())
        for op in block.ops:
            if op in known or (undeclared and not undeclared.isdisjoint(op.input_arg_names)):
                continue
            message = _shape_clash(op)
            if message is None:
                continue
            if not writers:
                writers.update(
                    n for each in program.blocks for op in each.ops for n in writes_of(op)
                )
            # what is written several times may have had another shape
            if all(writers[n] < 2 for n in (*op.input_arg_names, *writes_of(op))):
                _fail(7, message, block, op)


def _shape_clash(op: Operator) -> str | None:
    """What is wrong with the declared shapes; None when nothing is."""
    instance = op.instance()
    if instance.is_control:
        return None
    block = op.block
    specs: dict[str, Any] = {}
    for slot, names in op.inputs.items():
        found = [_spec(block, name) for name in names]
        if None in found and any(s is None and n != EMPTY for s, n in zip(found, names)):
            return None
        specs[slot] = found if instance.input_slots[slot].many else found[0]
    try:
        inferred = results_of(op, instance, specs)
    except FluidError as error:
        again = inferred_of_integers(op, instance, specs, error)
        later = inferred_for_now(op, instance, specs, error) if again is None else again[0]
        if later is None:
            return str(error)
        inferred = later
    for slot, names in op.outputs.items():
        given = inferred.get(slot)
        for name, spec in zip(names, given if isinstance(given, list) else [given] * len(names)):
            declared = _spec(block, name)
            if spec is None or declared is None or spec == declared:
                continue
            if not _alike(spec, declared):
                shapes = f"{list(declared.shape)}, the operator gives it {list(spec.shape)}"
                return f"variable {name!r} is declared with the shape {shapes}"
    return None


def _spec(block: Block, name: str) -> Spec | None:
    if name == EMPTY:
        return None
    variable: Variable | None = block.vars.get(name)
    if variable is None:
        variable = block.find_var_recursive(name)
    return None if variable is None else variable.spec


def _alike(a: Spec, b: Spec) -> bool:
    return a.ndim == b.ndim and all(agree(m, n) for m, n in zip(a.shape, b.shape))


# -- rule 8 ----------------------------------------------------------------------------------------


class _Values:
    """Numbers the values that names hold in turn; finds gradient operators that read later ones.

    A gradient operator belongs to an operator before it of the right type that names the same
    variables.  Reading a copy that ``assign`` made counts as reading the variable.  Operators that
    read no name which holds several values need not be looked at.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        #: forward type -> what its gradient operator here reads of it: slots there, and here
        self.reads: dict[str, list[RuleArgument]] = {}
        #: type of a gradient operator here -> the forward type
        self.forward: dict[str, str] = {}
        for type in {op.type for op in block.ops}:
            definition = find(type)
            if definition is not None and issubclass(definition, DerivedGrad):
                self.forward[type] = forward = _forward(definition).type
                self.reads[forward] = [r for r in definition.reads if r.source != "cotangent"]
        self.current: dict[
            str, Any
        ] = {}  # name -> number of the value it holds; its own name at first
        self.origin: dict[str, str] = {}  # copy -> what it is a copy of
        self.count = 0
        self.seen: set[Any] = set()  # by the values that an operator's gradient would read
        self.named: set[Any] = set()  # by their names

    def check(self) -> None:
        if not self.reads:
            return
        ops = self.block.ops
        if self.block.forward_block_idx >= 0:
            forward = self.block.program.blocks[self.block.forward_block_idx]
            for op in forward.ops:
                self.pass_by(op)
            for name in list(self.current):
                if name not in forward.vars:  # another pass may have written it
                    self.write(name)
        else:
            ops = self.concerned()
        for op in ops:
            differentiated = self.forward.get(op.type)
            if differentiated is not None:
                self.check_gradient(op, differentiated)
            self.pass_by(op)

    def concerned(self) -> list[Operator]:
        """The operators that read or write a name that holds several values, or a copy of one, and
        those that copy.
        """
        several = _rebound(self.block.ops)
        if not several:
            return []
        ops = []
        for op in self.block.ops:
            is_copy = op.type == "assign"
            if not several.isdisjoint((*op.input_arg_names, *op.output_arg_names)):
                several.update(op.output_arg_names if is_copy else ())
                ops.append(op)
            elif is_copy:
                ops.append(op)
        return ops

    def check_gradient(self, op: Operator, forward: str) -> None:
        names = [op.inputs.get(r.slot, ()) for r in self.reads[forward]]
        if (forward, self.values(names)) in self.seen:
            return
        if (forward, self.origins(names)) in self.named:
            listed = ", ".join(repr(n) for n in dict.fromkeys(n for each in names for n in each))
            message = f"{op.type} reads {listed} after something else was written there"
            _fail(8, message, self.block, op)

    def pass_by(self, op: Operator) -> None:
        """Note what an operator reads and writes."""
        reads = self.reads.get(op.type)
        if reads is None and op.type != "assign":
            for name in writes_of(op):
                self.write(name)
            return
        names = [(op.inputs if r.source == "in" else op.outputs).get(r.of, ()) for r in reads or ()]
        before = self.values(names)
        copied = op.input_arg_names[0] if op.type == "assign" and op.input_arg_names else None
        for name in writes_of(op):
            self.write(name, copied)
        if reads is not None:
            after = self.values(names)
            read = [b if r.source == "in" else a for r, b, a in zip(reads, before, after)]
            self.seen.add((op.type, tuple(read)))
            self.named.add((op.type, self.origins(names)))

    def write(self, name: str, copied: str | None = None) -> None:
        if copied is not None:
            self.current[name] = self.current.get(copied, copied)
            self.origin[name] = self.origin.get(copied, copied)
            return
        self.count += 1
        self.current[name] = self.count
        if self.origin:
            self.origin.pop(name, None)

    def values(self, names: Iterable[Names]) -> tuple[Any, ...]:
        now = self.current.get
        return tuple([tuple(map(now, each, each)) for each in names])

    def origins(self, names: Iterable[Names]) -> tuple[Any, ...]:
        if not self.origin:
            return tuple(names)
        origin = self.origin.get
        return tuple([tuple(map(origin, each, each)) for each in names])


def _rebound(ops: Iterable[Operator]) -> set[str]:
    """The names that hold several values in turn."""
    known: set[str] = set()
    several: set[str] = set()
    for op in ops:
        for names in op.inputs.values():
            known.update(names)
        for names in op.outputs.values():
            if not known.isdisjoint(names):
                several.update(known.intersection(names))
            known.update(names)
    several.discard(EMPTY)
    return several


def _forward(definition: type[DerivedGrad]) -> type[Op]:
    assert definition.derived_from is not None
    return definition.derived_from


# -- rule 9 ----------------------------------------------------------------------------------------


def _check_feeds(program: Program) -> None:
    for block in program.blocks:
        if _PLACES.keys().isdisjoint([op.type for op in block.ops]):
            continue
        kinds = [_PLACES.get(op.type, 1) for op in block.ops]
        for op, kind, before in zip(block.ops, kinds, [0, *kinds]):
            if kind != 1 and block.idx:
                _fail(9, f"a {op.type} operator lies in block {block.idx}", block, op)
            if kind < before:
                what = "a feed operator comes after others"
                _fail(
                    9, what if kind == 0 else f"{op.type} comes after a fetch operator", block, op
                )
