"""One sweep over operators in reverse, which notes the gradient operators to come.

The sweep collects, for every value, the contributions to its gradient as place-holders without
names.  When it reaches the operator that writes the value their number is known: one becomes
``v@GRAD``, several become ``v@GRAD@RENAME@block<b>@<k>`` and a ``sum``.  Nothing is renamed
afterwards.

This is reverse accumulation on straight-line programs (Griewank and Walther, Evaluating
Derivatives, 2nd edition, SIAM 2008, chapter 3).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import NoGradientError
from ..ground.callsite import CallSite, warn
from ..ground.dtypes import DType, Kind
from ..ir.block import Block
from ..ir.builder import op_width
from ..ir.foreign import OWN, Mark
from ..ir.operator import EMPTY, Names, Operator
from ..ir.variable import Variable, declared_like
from ..opdef.definition import Op, lookup
from ..opdef.gradient import is_constant, is_differentiable
from ..opdef.interpreter import Interpreter
from ..opdef.rule import gather
from ..opdef.spec import Shape
from .history import History, Key, name_of

#: by slot the inputs that need a gradient; None at positions that do not
Wanted = dict[str, list[Variable | None]]


class Ref:
    """A value that an operator to come will compute; it gets its name when all are known."""

    __slots__ = ("is_open", "kind", "like", "name", "shape")

    def __init__(self, like: Variable, name: str = "", kind: Kind | None = None) -> None:
        #: whether it may be left unwritten: part of a branch that is not taken
        self.is_open = False
        self.like: Variable = like
        self.shape: Shape = like.shape
        self.kind: Kind = gradient_kind(like) if kind is None else kind
        self.name: str = name

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.like.dtype


def gradient_kind(variable: Variable) -> Kind:
    """What the gradient of a variable holds, unless the operator that computes it says otherwise:
    rows of a tensor have the gradient of the whole tensor.
    """
    return Kind.LOD_TENSOR if variable.kind is Kind.SELECTED_ROWS else variable.kind


#: gradient operators that take no scope of names from the forward operator, as in fluid 1.8
_OUTSIDE = frozenset({"mean_grad"})


class _Form(NamedTuple):
    """What a sweep asks of each operator of a type."""

    definition: type[Op]
    control: ControlRule | None  #: what backward does for operators that drive blocks
    is_constant: bool  #: whether no gradient flows through
    is_differentiable: bool
    is_direct: bool  #: whether the rule itself is written into the program
    gradient: Any  #: the definition of the gradient operator; None where there is none
    slots: dict[str, bool]  #: inputs that may need a gradient, and whether they are by-products


class PendingOp(NamedTuple):
    """An operator to come."""

    type: str
    ins: Mapping[str, Sequence[Any]]  #: names or Refs by slot
    outs: Mapping[str, Sequence[Ref | None]]  #: None where nobody wants the output
    attrs: Mapping[str, Any]
    site: CallSite | None
    lists_given: bool = True  #: whether only the attributes given here are listed
    body: ReverseSweep | None = None  #: what the operator's block is made of
    #: inputs of an operator that drives a block of gradients, and their gradients in it
    local: Sequence[tuple[str, Ref | None]] = ()
    in_place: bool = False  #: whether the body belongs into the block that it sweeps
    device: str = ""  #: what the operator is meant for
    foreign: Mark = OWN  #: of the operator that it belongs to
    namescope: str = "/"


class Contributions(NamedTuple):
    """The contributions to one gradient, and the Ref of their sum where there are several."""

    key: Key
    parts: list[Ref]
    total: Ref | None


class RuleRecorder(Interpreter):
    """The interpreter for rules that are written into the program: notes what they compose."""

    def __init__(self, like: Variable, site: CallSite | None) -> None:
        self.records: list[PendingOp] = []
        self._like = like
        self._site = site

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        outs: dict[str, list[Ref | None]] = {}
        for slot in op.outputs:
            if not slot.optional:
                count = op_width(op, ins, slot.name) if slot.many else 1
                outs[slot.name] = [Ref(self._like) for _ in range(count)]
        taken = {slot: _listed(value) for slot, value in ins.items() if value is not None}
        if op.type in ("kept_value", "sum_of_written"):
            for refs in outs.values():
                for ref in refs:
                    ref.is_open = True  # type: ignore[union-attr]  # just made
        self.records.append(PendingOp(op.type, taken, outs, op.given_attrs(), self._site))
        return {
            slot: refs if op.output_slots[slot].many else refs[0] for slot, refs in outs.items()
        }


#: operators that write nothing where a branch was not taken
OPEN = frozenset({
    "conditional_block", "conditional_block_grad", "select_output", "zeros_if_written",
    "kept_value", "sum_of_written",
})  # fmt: skip

#: what backward does for an operator that drives blocks: called with the sweep, the operator's
#: position and the operator
ControlRule = Callable[["ReverseSweep", int, Operator], None]
#: by type; ``blocks.py`` fills it
CONTROL_RULES: dict[str, ControlRule] = {}


def control_rule(type: str) -> Callable[[ControlRule], ControlRule]:
    """A decorator that says how backward passes operators of a type that drive blocks."""

    def register(rule: ControlRule) -> ControlRule:
        CONTROL_RULES[type] = rule
        return rule

    return register


class ReverseSweep:
    """One walk over the operators of a block in reverse.

    Args:
        block: whose operators are walked.
        no_grad: names at which gradients stop, beside those of variables that say so themselves.
        parent: the sweep over the block around it, where an operator there drives this block.
        position: that operator's position.
        end: the position behind the last operator that counts; that of the end when None.
        goes_on: whether the block is a branch whose gradient operators become part of it, so that
            the parent takes the sweep on through what was computed before the branch.
    """

    def __init__(
        self,
        block: Block,
        no_grad: Container[str] = (),
        parent: ReverseSweep | None = None,
        position: int = 0,
        end: int | None = None,
        goes_on: bool = False,
    ) -> None:
        self.block = block
        self.no_grad = no_grad
        self.parent = parent
        self.position = position
        self.end: int = len(block.ops) if end is None else end
        #: the sweep that goes on where this one ends
        self.next: ReverseSweep | None = parent if goes_on else None
        #: the sweep that this one goes on from
        self.before: ReverseSweep | None = None
        #: the block that the gradient operators are appended to, where it is there already
        self.target = block
        self.history: History = History(block, parent is not None, self.end)
        self.records: list[PendingOp] = []
        self.groups: list[Contributions] = []
        self.contributions: dict[Key, list[Ref]] = {}
        self.settled: dict[Key, Ref] = {}
        self.bare: set[Key] = set()  #: gradients that come without the sequences of their values
        #: values that are overwritten later and that a gradient operator reads -> their copies
        self.saved: dict[tuple[str, int], str] = {}
        #: values that are computed again -> the names of the new ones
        self.recomputed: dict[str, str] = {}
        #: gradients whose names are agreed on with whoever runs the block
        self.agreed: dict[Key, str] = {}
        #: identities of Refs that the block writes and that belong to the block around it
        self.foreign: set[int] = set()
        self._forms: dict[str, _Form] = {}

    def contribute(self, key: Key, ref: Ref) -> None:
        """Note a part of a value's gradient."""
        self.contributions.setdefault(key, []).append(ref)

    def run(self, among: Mapping[int, Container[int]] | None = None) -> None:
        """Walk the operators from the last to the first, and those before a branch.

        Args:
            among: by block the positions of the operators to visit; None for all.

        Raises:
            NoGradientError: something flows to an operator that nobody wrote a rule for.
        """
        ops = self.block.ops
        for position in range(self.end - 1, -1, -1):
            if among is None or position in among[self.block.idx]:
                self.visit(position, ops[position])
        self.finish()
        if self.next is not None:
            self.next.run(among)

    def finish(self) -> None:
        """Sum what no operator of the block makes; pass on what those before a branch do."""
        for key in list(self.contributions):
            name = name_of(key)
            if self.next is None or name in self.block.vars or key != self.history.key(name, 0):
                self.settle(key)
            else:
                before = self.next.history.key(name, self.position)
                for part in self.contributions.pop(key):
                    self.next.contribute(before, part)

    def chain(self) -> Iterator[ReverseSweep]:
        """The sweep, and those that go on where it ends."""
        sweep: ReverseSweep | None = self
        while sweep is not None:
            yield sweep
            sweep = sweep.next

    def visit(self, position: int, op: Operator) -> None:
        """Note the gradient operator of ``op`` if something flows to its outputs.

        Raises:
            NoGradientError: there is no rule.
        """
        flows, key_of, contributions = False, self.history.key, self.contributions
        for names in op.outputs.values():
            for name in names:
                key = key_of(name, position + 1)
                if key in contributions:
                    self.settle(key)
                    flows = True
        if not flows:
            return
        form = self._forms.get(op.type) or self._form(op)
        if form.control is not None:
            form.control(self, position, op)
            return
        definition = form.definition
        if form.is_constant:
            if definition.fluid.lacks_gradient and self._wanted_inputs(op, form):
                warn_of_missing_gradient(op)
            return
        wanted = self._wanted_inputs(op, form)
        if not wanted and not self._counted_inputs(op, definition):
            return
        if not form.is_differentiable:
            raise NoGradientError(
                f"operator {op.type!r} has no gradient rule, and a gradient flows to it; stop the "
                f"gradient before it (stop_gradient or no_grad_set), or write a rule{described(op)}"
            )
        direct = form.is_direct and not self._lacks_lod(position, op, definition)
        step = self._written_rule if direct else self._gradient_operator
        step(position, op, form, wanted)

    def _form(self, op: Operator) -> _Form:
        """What holds for all operators of the type of ``op``."""
        definition = op.definition
        if definition is None:
            raise NoGradientError(
                f"operator {op.type!r} is not defined, so it has no gradient{described(op)}"
            )
        has_gradient = is_differentiable(definition)
        byproducts = getattr(definition, "byproducts", ())
        form = self._forms[op.type] = _Form(
            definition,
            CONTROL_RULES.get(op.type),
            is_constant(definition),
            has_gradient,
            definition.fluid.direct,
            lookup(definition.grad_type) if has_gradient else None,
            {slot.name: slot.name in byproducts for slot in definition.inputs if not slot.constant},
        )
        return form

    def _lacks_lod(self, position: int, op: Operator, definition: type[Op]) -> bool:
        """Whether the rule of an operator on sequences would get a gradient that has none: one that
        a user gives, or ones.  Its gradient operator takes them from the operator's inputs.
        """
        if not any(slot.ragged for slot in definition.inputs):
            return False
        keys = (self.history.key(n, position + 1) for names in op.outputs.values() for n in names)
        return not self.bare.isdisjoint(keys)

    def _wanted_inputs(self, op: Operator, form: _Form) -> Wanted:
        """The inputs that need a gradient."""
        wanted, slots, active = {}, form.slots, self.active
        for slot, names in op.inputs.items():
            if slot in slots:  # a file's operator may have one that nobody knows
                find = self.byproduct if slots[slot] else active
                variables = [find(n) for n in names]
                for variable in variables:
                    if variable is not None:
                        wanted[slot] = variables
                        break
        return wanted

    def _counted_inputs(self, op: Operator, definition: type[Op]) -> dict[str, list[Variable]]:
        """By slot the sums that the gradient operator counts for the optimizer."""
        counted = {}
        for slot in definition.fluid.counted:
            variables = [v for v in map(self.active, op.inputs.get(slot, ())) if v is not None]
            if variables:
                counted[slot] = variables
        return counted

    def active(self, name: str) -> Variable | None:
        """The variable of a name when gradients flow to it."""
        variable = self.block.vars.get(name)
        if variable is None:
            variable = self.block.find_var_recursive(name)
        if variable is None or not variable.takes_gradient or name in self.no_grad:
            return None
        return variable

    def byproduct(self, name: str) -> Variable | None:
        """The variable of a by-product that a gradient operator reads, a statistic say.

        Layers mark it so that no gradient flows to it, which concerns its users; it is a
        function of the operator's inputs all the same, and the next order needs its share.
        """
        variable = self.block.find_var_recursive(name)
        return variable if variable is not None and variable.dtype.is_continuous else None

    def had_value(self, name: str, position: int) -> bool:
        """Whether a name held something before the operator at a position writes it."""
        key = self.history.key(name, position)
        if not isinstance(key, str) and key[1] > 0:
            return True
        if self.parent is not None and name not in self.block.vars:
            driver = self.parent.block.ops[self.position]
            if driver.type == "while" and name in driver.outputs.get("Out", ()):
                return True  # the pass before wrote it
            return self.parent.had_value(name, self.position)
        variable = self.block.find_var_recursive(name)
        return variable is not None and (variable.persistable or variable.is_data)

    def is_open(self, name: str, position: int) -> bool:
        """Whether a name may hold nothing before the operator at a position: what makes it is part
        of a branch.
        """
        maker = self.history.written.get(name)
        if maker is not None and maker < position:
            return self.block.ops[maker].type in OPEN
        if self.parent is not None and name not in self.block.vars:
            return self.parent.is_open(name, self.position)
        return False

    def settle(self, key: Key) -> Ref:
        """The gradient of a value, once all contributions to it are there."""
        parts = self.contributions.pop(key)
        settled = parts[0]
        total = None
        if len(parts) > 1:
            kind = Kind.LOD_TENSOR
            if all(part.kind is not Kind.LOD_TENSOR for part in parts):
                kind = settled.kind
            settled = total = Ref(self.block.var_recursive(name_of(key)), kind=kind)
            type = "sum_of_written" if any(part.is_open for part in parts) else "sum"
            self.records.append(PendingOp(type, {"X": parts}, {"Out": [total]}, {}, None))
        self.groups.append(tuple.__new__(Contributions, (key, parts, total)))  # quicker
        self.settled[key] = settled
        return settled

    def cotangents(
        self, op: Operator, slot: str, position: int, optional: bool
    ) -> list[Ref | None]:
        """What flows to the variables of an output slot; zeros where nothing does and the rule
        needs something.
        """
        names, settled = op.outputs.get(slot, ()), self.settled
        keys: Sequence[Key] = names
        rewritten = self.history.rewritten
        if rewritten and not rewritten.keys().isdisjoint(names):
            keys = [self.history.key(name, position + 1) for name in names]
        refs = [settled.get(key) for key in keys]
        if None not in refs:
            return refs
        if optional and not any(key in settled for key in keys):
            return []
        for name, key in zip(names, keys):
            if key not in settled and name != EMPTY:
                self.zeros(key, self.value(name, position + 1), op)
        return [settled.get(key) for key in keys]

    def rule_values(
        self,
        position: int,
        op: Operator,
        definition: type[Op],
        values: Callable[[Names, int], Sequence[Any]],
    ) -> list[Sequence[Any]]:
        """What the arguments of an operator's gradient rule are, in the order of the rule.

        Args:
            position: of the operator.
            op: the operator.
            definition: of the operator.
            values: gives the values that names hold before the operator at a position.
        """
        inputs, outputs = op.inputs, op.outputs
        return gather(
            definition.rule_arguments,
            lambda slot: values(inputs.get(slot, ()), position),
            lambda slot: values(outputs.get(slot, ()), position + 1),
            lambda slot, optional: self.cotangents(op, slot, position, optional),
        )

    def zeros(self, key: Key, value: str | Ref, op: Operator) -> Ref:
        """A gradient of zeros for a value that nothing flows to."""
        gradient = Ref(self.block.var_recursive(name_of(key)))
        # of the outputs of a choice only one is written
        type = "zeros_if_written" if op.type == "select_output" else "fill_zeros_like"
        self.records.append(PendingOp(type, {"X": [value]}, {"Out": [gradient]}, {}, op.callsite))
        self.groups.append(Contributions(key, [gradient], None))
        self.settled[key] = gradient
        return gradient

    def _gradient_operator(self, position: int, op: Operator, form: _Form, wanted: Wanted) -> None:
        """Note the derived gradient operator of ``op``."""
        definition, gradient = form.definition, form.gradient
        found = self.rule_values(position, op, definition, self.values)
        ins = {a.slot: values for a, values in zip(gradient.reads, found) if values}
        if gradient.carried_slots:
            for slot in op.instance().carries():
                names = op.inputs.get(slot) or op.outputs.get(slot)
                if names:
                    ins[gradient.carried_slots[slot]] = list(names)
        rows: frozenset[str] = frozenset()
        if definition.has_sparse_gradients:
            rows = op.instance().sparse_gradients()
        outs: dict[str, Sequence[Ref | None]] = {}
        for slot, name in gradient.counting:
            variables = wanted.get(slot)
            if variables is not None:
                kind = Kind.SELECTED_ROWS if slot in rows else None
                outs[name] = self._contributed(variables, kind, position)
        if len(outs) > 1:
            outs = {name: outs[name] for name in gradient.grad_slots.values() if name in outs}
        counts = self._counted_inputs(op, definition) if definition.fluid.counted else {}
        for slot, counted in counts.items():
            refs = [Ref(v) for v in counted]
            outs[slot] = [Ref(v, v.name) for v in counted]
            outs[gradient.counted_slots[slot]] = refs
            self.contribute_all(counted, refs, position)
        attrs = definition.gradient_attrs(op.attrs)
        namescope = "/" if gradient.type in _OUTSIDE else op.namescope
        fields = gradient.type, ins, outs, attrs, op.callsite, False, None, (), False, op.device
        self.records.append(tuple.__new__(PendingOp, (*fields, op.foreign, namescope)))  # quicker

    def _written_rule(self, position: int, op: Operator, form: _Form, wanted: Wanted) -> None:
        """Note what the rule of ``op`` composes, in place of a gradient operator."""
        instance, definition = op.instance(), form.definition
        arguments: dict[str, Any] = {}
        found = self.rule_values(position, op, definition, self.operands)
        for a, values in zip(definition.rule_arguments, found):
            slots = instance.input_slots if a.source == "in" else instance.output_slots
            arguments[a.parameter] = values if slots[a.of].many else (values[0] if values else None)
        for slot in definition.fluid.updates:
            names = op.outputs.get(slot, ())
            if names and self.had_value(names[0], position):
                variable = self.active(names[0])
                if variable is not None:
                    wanted = {**wanted, slot: [variable]}
        like = next(v for variables in wanted.values() for v in variables if v is not None)
        recorder = RuleRecorder(like, op.callsite)
        contributed: set[int] = set()
        for slot, thunk in instance.grad(recorder, **arguments).items():
            if slot in wanted:
                refs = _own(_listed(thunk()), recorder)
                for ref, variable in zip(refs, wanted[slot], strict=True):
                    if variable is not None:
                        ref.like, ref.shape = variable, variable.shape
                        ref.kind = gradient_kind(variable)
                        contributed.add(id(ref))
                self.contribute_all(wanted[slot], refs, position)
        for record in recorder.records:
            outs: dict[str, Sequence[Ref | None]] = {
                slot: [ref if id(ref) in contributed else None for ref in refs]
                for slot, refs in record.outs.items()
            }
            if any(ref is not None for refs in outs.values() for ref in refs):
                self.records.append(record._replace(outs=outs, foreign=op.foreign))

    def _contributed(
        self, variables: Sequence[Variable | None], kind: Kind | None, position: int
    ) -> list[Ref | None]:
        """Parts of the gradients of an operator's inputs, which are noted."""
        refs: list[Ref | None] = []
        key_of, contributions = self.history.key, self.contributions
        for variable in variables:
            ref = None
            if variable is not None:
                ref = Ref(variable, "", kind)
                contributions.setdefault(key_of(variable.name, position), []).append(ref)
            refs.append(ref)
        return refs

    def contribute_all(
        self, wanted: Sequence[Variable | None], refs: Sequence[Ref | None], position: int
    ) -> None:
        """Note parts of the gradients of an operator's inputs."""
        key_of, contributions = self.history.key, self.contributions
        for variable, ref in zip(wanted, refs, strict=True):
            if variable is not None and ref is not None:
                contributions.setdefault(key_of(variable.name, position), []).append(ref)

    def operands(self, names: Names, position: int) -> list[Ref | None]:
        """Forward values as operands of a rule."""
        find = self.block.var_recursive
        return [None if n == EMPTY else Ref(find(n), self.value(n, position)) for n in names]

    def values(self, names: Names, position: int) -> Names:
        """As of :meth:`value`, for several names."""
        rewritten = self.history.rewritten
        is_alone = self.parent is None and self.before is None and not self.recomputed
        if is_alone and (not rewritten or rewritten.keys().isdisjoint(names)):
            return names
        return tuple([self.value(name, position) for name in names])

    def value(self, name: str, position: int) -> str:
        """The name under which the value that ``name`` holds before an operator can be read when
        the gradients are computed: its own, or that of a copy.
        """
        again = self.recomputed.get(name)
        if again is not None:
            return again
        key = self.history.key(name, position)
        if self.parent is not None and name not in self.block.vars and name != EMPTY:
            if isinstance(key, str):
                return self.parent.value(name, self.position)
            if self.next is None:  # the gradients are computed after the block
                return self._copy(key)
        if isinstance(key, str) or self.history.is_last(key):
            return self._kept(name)
        return self._copy(key)

    def _kept(self, name: str) -> str:
        """A name, or that of a copy where a branch that the sweep comes from writes it."""
        inner = self.before
        if inner is None:
            return name
        key = inner.history.key(name, 0)
        if isinstance(key, str) or inner.history.is_last(key):
            return inner._kept(name)
        return inner._copy(key)

    def _copy(self, key: tuple[str, int]) -> str:
        copy = f"{key[0]}@SAVED_{key[1]}"
        if copy not in self.block.vars:  # else it is there, or noted
            self.saved[key] = copy
            declared_like(self.block.var_recursive(key[0]), self.block, copy)
        return copy


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _own(refs: list[Any], recorder: RuleRecorder) -> list[Ref]:
    """Refs that the recorder's operators compute; a cotangent that is passed on is assigned."""
    made = {id(out) for record in recorder.records for outs in record.outs.values() for out in outs}
    return [ref if id(ref) in made else recorder.assign(ref) for ref in refs]


def warn_of_missing_gradient(op: Operator) -> None:
    """Say that a derivative is taken as 0 which is not, as in fluid."""
    warn(
        f"no gradient flows through operator {op.type!r}, as in fluid 1.8, although its result "
        "changes with its inputs; write it with operators that have gradients, or mark the result "
        f"with stop_gradient = True\n  {op}",
        op.callsite,
    )


def described(op: Operator) -> str:
    """An operator and the user's line, for a message."""
    return f"\n  {op}" + (f"\n  built at {op.callsite}" if op.callsite is not None else "")
