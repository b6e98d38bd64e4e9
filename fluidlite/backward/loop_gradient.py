"""The gradient of a loop as a loop: what both kinds of loops have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import NoGradientError
from ..ground.dtypes import Kind
from ..ir.analysis import blocks_driven_by, blocks_of, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator, OpRole
from ..ir.variable import Variable, declared_like
from ..opdef.definition import lookup
from ..opdef.gradient import GRAD
from .copying import BlockCopies
from .history import History, Key
from .sweep import OPEN, described

#: names by slot
Slots = Mapping[str, Sequence[str]]


class LoopGradient:
    """A gradient operator of a loop that is replaced by a loop.

    Args:
        block: that it stands in.
        op: the operator.

    Raises:
        NoGradientError: the forward operator no longer exists, or an operator within cannot be
            run again.
    """

    def __init__(self, block: Block, op: Operator) -> None:
        program = block.program
        self.target = block
        self.op = op
        self.gradients: Block = program.blocks[op.attrs["sub_block"]]
        self.forward: Block = program.blocks[self.gradients.forward_block_idx]
        around = self.forward.parent
        assert around is not None
        self.around: Block = around
        self.driver: Operator = self._driver()
        self.history = History(self.forward, True)
        #: positions in the forward block of the operators that are run again
        self.again: set[int] = set()
        #: values of a pass that the block of gradients and these operators read
        self.needed: dict[tuple[str, Key], None] = {}
        self._find_needed()
        #: statistics of a pass: gradients stop at them, but those of gradients
        self.statistics: set[str] = set(_statistics(self.gradients))
        #: the block of gradients becomes the new loop's
        self.body: Block = self.gradients
        self.written: set[str] = {n for op in self.gradients.ops for n in writes_of(op)}
        self.before: list[Operator] = []
        self.behind: list[Operator] = []
        #: what is to stand before the forward operator
        self.ahead: list[Operator] = []
        self.inserted: dict[int, list[Operator]] = {}
        self.old_values: dict[str, str] = {}

    def _driver(self) -> Operator:
        for other in self.around.ops:
            if other.type != self.op.type and self.forward.idx in blocks_driven_by(other):
                return other
        raise NoGradientError(
            f"the operator whose gradient {self.op.type!r} is is not in its program any more"
            f"{described(self.op)}"
        )

    # -- what is needed of a pass ------------------------------------------------------------------

    def _find_needed(self) -> None:
        inside, own = self.forward.vars, self.gradients.vars
        for op in self.gradients.ops:
            for name in reads_of(op):
                if name in inside and name not in own:
                    self._need(name, self.history.last(name))
        makers = {each: self.maker(*each) for each in self.needed}
        for each, maker in makers.items():
            if maker in self.again:
                del self.needed[each]

    def _need(self, name: str, key: Key) -> None:
        if (name, key) in self.needed:
            return
        self.needed[name, key] = None
        variable = self.forward.var_recursive(name)
        maker = self.maker(name, key)
        if maker < 0 or maker in self.again:
            return
        op = self.forward.ops[maker]
        is_given = not op.input_arg_names and not op.instance().random and not blocks_of(op)
        if variable.kind is Kind.STEP_SCOPES or is_given or not self.hands_out(name, key):
            self._run_again(maker)

    def _run_again(self, position: int) -> None:
        self.again.add(position)
        op = self.forward.ops[position]
        _need_no_draws(op)
        for name in self._values_read(op, position):
            self._need(name, self.history.key(name, position))

    def _values_read(self, op: Operator, position: int) -> list[str]:
        """What an operator reads of a pass, and what it may leave as it is."""
        names = dict.fromkeys(reads_of(op))
        for name in writes_of(op):
            key = self.history.key(name, position)
            if not isinstance(key, str) and (key[1] or name in self.driver.inputs.get("X", ())):
                names[name] = None
        return [n for n in names if n in self.forward.vars or n in self.history.written]

    def maker(self, name: str, key: Key) -> int:
        """The position of the operator that makes a value of a pass; -1 for what was there."""
        if isinstance(key, str):
            return self.history.written.get(name, -1)
        return self.history.made_at(key) - 1

    def hands_out(self, name: str, key: Key) -> bool:
        """Whether the forward loop can hand out a value of each pass; else what makes it is run
        again.
        """
        return True

    def is_open(self, name: str, key: Key) -> bool:
        """Whether a pass may leave a value unwritten: one that a branch makes."""
        maker = self.maker(name, key)
        return maker >= 0 and self.forward.ops[maker].type in OPEN

    def is_statistic(self, name: str) -> bool:
        """Whether gradients stop at a value, but those of its gradient."""
        return name in self.statistics and self.forward.var_recursive(name).stop_gradient

    def local(self, name: str, key: Key) -> str:
        """What the new loop's block calls a value of a pass."""
        if name in self.forward.vars and self.history.is_last(key):
            return name
        number = 0 if isinstance(key, str) else key[1]
        return f"{name}@VALUE_{number}_{self.body.idx}"

    def transported(self, name: str, key: Key) -> str:
        """The variable around the loops that holds a value of all passes."""
        number = "" if isinstance(key, str) or self.history.is_last(key) else f"_{key[1]}"
        return f"{name}@PASSES_{self.forward.idx}{number}"

    # -- making operators --------------------------------------------------------------------------

    def make(
        self,
        block: Block,
        type: str,
        ins: Slots,
        outs: Slots,
        attrs: Mapping[str, Any] = {},
        forward: bool = False,
    ) -> Operator:
        """An operator for a block, which is not yet in it."""
        return Operator(
            block,
            type,
            {slot: tuple(names) for slot, names in ins.items() if names},
            {slot: tuple(names) for slot, names in outs.items() if names},
            lookup(type)(dict(attrs)).attr_values(),
            role=OpRole.FORWARD if forward else OpRole.BACKWARD,
            device=(self.driver if forward else self.op).device,
            callsite=(self.driver if forward else self.op).callsite,
        )

    def pass_on(self, source: str, target: str) -> None:
        """Let the block around have a result of the new loop."""
        self.behind.append(self.make(self.target, "assign", {"X": [source]}, {"Out": [target]}))

    def begin(self, type: str, source: str, target: str) -> None:
        """Give a variable around the new loop its first value."""
        self.before.append(self.make(self.target, type, {"X": [source]}, {"Out": [target]}))

    def inside(
        self, type: str, source: Sequence[str], target: str, attrs: Mapping[str, Any] = {}
    ) -> None:
        """Append an operator of one input and one output to the new loop's block."""
        self.body.take_op(self.make(self.body, type, {"X": source}, {"Out": [target]}, attrs))

    def outer(self, name: str) -> str:
        """A name for what a variable around the forward loop held before it."""
        if name not in self.old_values:
            ops = self.around.ops
            behind = ops[index_of(ops, self.driver) :]
            self.old_values[name] = name
            if any(name in writes_of(op) for op in behind):
                copied = f"{name}@BEFORE_{self.forward.idx}"
                self.old_values[name] = copied
                if copied not in self.around.vars:
                    declared(copied, self.around.var_recursive(name), self.around)
                    outs = {"Out": [copied]}
                    op = self.make(self.around, "assign", {"X": [name]}, outs, forward=True)
                    self.ahead.append(op)
        return self.old_values[name]

    # -- the new loop ------------------------------------------------------------------------------

    def write(self) -> list[Operator]:
        """Put the loop into the place of the gradient operator.

        Returns:
            what stands there now; and the forward operator, in its new form.
        """
        gradient_ops, self.body.ops = self.body.ops, []
        self.body.forward_block_idx = -1
        self.begin_pass()
        for name, key in self.needed:
            self.keep(name, key)
            variable = self.forward.var_recursive(name)
            declared(self.local(name, key), variable, self.body)
            self.take(name, key)
        copies = BlockCopies()
        copies.stands_for(self.forward, self.body)
        for position in sorted(self.again):
            self._copy_again(copies, position)
        renamed = self.renamed_gradients()
        self.body.set_vars(v for v in self.body.vars.values() if v.name not in renamed)
        self.body.set_ops(
            [*self.body.ops, *(copies.moved(op, self.body, renamed) for op in gradient_ops)]
        )
        loop = self.finish()
        driver = self._insert_forward()
        ops = self.target.ops
        at = index_of(ops, self.op)
        replaced = [*self.before, loop, *self.behind]
        replaced[-1].role_vars = self.op.role_vars
        self.target.set_ops([*ops[:at], *replaced, *ops[at + 1 :]])
        return [driver, *replaced]

    def _copy_again(self, copies: BlockCopies, position: int) -> None:
        """Append a copy of an operator of the forward block, which reads what it read."""
        op = self.forward.ops[position]
        values = self._values_read(op, position)
        renamed = {n: self.local(n, self.history.key(n, position)) for n in values}
        renamed |= {n: self.outer(n) for n in reads_of(op) if n not in renamed}
        for name in op.inputs.get("inputs", ()) if op.type == "recurrent" else ():
            if renamed[name] != name and name not in self.forward.vars:
                # its block has a variable of that name
                declared(name, self.forward.var_recursive(name), self.body)
                self.inside("assign", [renamed[name]], name)
                renamed[name] = name
        for name in writes_of(op):
            new = self.local(name, self.history.key(name, position + 1))
            if new not in self.body.vars:
                declared(new, self.forward.var_recursive(name), self.body)
            if renamed.get(name, new) != new:
                self.inside("assign", [renamed[name]], new)
            renamed[name] = new
        changed = {old: new for old, new in renamed.items() if old != new}
        self.body.take_op(copies.operator(op, self.body, changed))

    def _insert_forward(self) -> Operator:
        """Put what keeps values into the forward block, and its operator's new form around it."""
        ops: list[Operator] = []
        for position in range(len(self.forward.ops) + 1):
            ops += self.inserted.get(position, ())
            ops += self.forward.ops[position : position + 1]
        self.forward.set_ops(ops)
        around = self.around.ops
        at = index_of(around, self.driver)
        driver = self.kept_driver()
        self.around.set_ops([*around[:at], *self.ahead, driver, *around[at + 1 :]])
        return driver

    def insert(
        self, position: int, type: str, ins: Slots, outs: Slots, attrs: Mapping[str, Any] = {}
    ) -> None:
        """Note an operator to come in the forward block, before a position."""
        op = self.make(self.forward, type, ins, outs, attrs, forward=True)
        self.inserted.setdefault(position, []).append(op)

    def wanted(self, slot: str) -> list[tuple[str, str, str]]:
        """The inputs of a slot that need gradients: the name, what the block calls the
        gradient, and where it goes.
        """
        instance: Any = self.op.instance()
        names = {each: self.op.inputs.get(each, ()) for each in instance.differentiated}
        local = iter(instance.gradient_names(names))
        triples = []
        for each in instance.differentiated:
            outs = self.op.outputs.get(each + GRAD, ()) or [EMPTY] * len(names[each])
            of_slot = list(zip(names[each], local, outs))
            triples += [t for t in of_slot if each == slot and t[2] != EMPTY]
        return triples

    def zeros(self, x: str, out: str) -> None:
        """Let a gradient be zero."""
        ins, outs = {"X": [x]}, {"Out": [out]}
        self.behind.append(self.make(self.target, "fill_zeros_like", ins, outs))

    def scopes(self) -> str:
        """What the gradients of the new loop need."""
        name = f"@SCOPES_{self.body.idx}"
        self.target.declare(Variable(self.target, name, kind=Kind.STEP_SCOPES))
        return name

    def sum_of_passes(self, x: str, total: str) -> None:
        """Declare the sum of the gradients of all passes with respect to an outer value."""
        declared(total, self.target.var_recursive(x), self.target)
        self.begin("fill_zeros_like", x, total)

    def begin_pass(self) -> None:
        """Append what comes first in the new loop's block."""

    def keep(self, name: str, key: Key) -> None:
        """Let the forward loop hand out a value of each pass."""
        raise NotImplementedError

    def take(self, name: str, key: Key) -> None:
        """Append what gives the new loop's block a value of the pass."""
        raise NotImplementedError

    def kept_driver(self) -> Operator:
        """The forward operator, which hands out values of its passes."""
        raise NotImplementedError

    def renamed_gradients(self) -> dict[str, str]:
        """Gradients that the new loop's block calls otherwise, because they belong around it."""
        raise NotImplementedError

    def finish(self) -> Operator:
        """Complete the block of the new loop; its operator."""
        raise NotImplementedError


def index_of(ops: Sequence[Operator], op: Operator) -> int:
    return next(k for k, each in enumerate(ops) if each is op)


def declared(
    name: str,
    like: Variable,
    block: Block,
    kind: Kind | None = None,
    sizes: Sequence[int] | None = None,
) -> str:
    """A variable of a block for values like those of another one; its name."""
    flags: dict[str, Any] = {"stop_gradient": like.stop_gradient}
    if kind is not None:
        flags["kind"] = kind
    if sizes is not None and like.has_shape:
        flags["shape"] = sizes
    return declared_like(like, block, name, **flags).name


def _statistics(block: Block) -> Iterator[str]:
    """By-products that the gradient operators of a block read."""
    for op in block.ops:
        for slot in getattr(op.definition, "byproducts", ()):
            yield from op.inputs.get(slot, ())
        for inner in blocks_of(op):
            yield from _statistics(inner)


def _need_no_draws(op: Operator) -> None:
    """Refuse to run an operator again that draws random numbers."""
    if op.definition is not None and op.definition.random:
        raise NoGradientError(
            f"operator {op.type!r} draws random numbers in a block within a loop, which is run "
            f"again for a second derivative and would draw others; draw them before the block"
            f"{described(op)}"
        )
    for block in blocks_of(op):
        for inner in block.ops:
            _need_no_draws(inner)
