"""How cotangents pass an operator: one call of its gradient rule, with the values that it reads.

Which values a rule reads is found out by running it on values that have a shape and a type and no
elements.  Of the others only shape and type are kept: the sum of two tensors keeps neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..backend import numpy_
from ..errors import NoGradientError
from ..ground.values import SelectedRows
from ..opdef.definition import Op, lookup
from ..opdef.gradient import has_rule, kernel_of_rule, replaces_rule
from ..opdef.interpreter import Interpreter
from ..opdef.prepared import preparation_of
from ..opdef.rule import completed, gather
from ..opdef.user_results import check_gradient, is_users
from .prepared import kernels
from .straight_line import NotStraight, ShapeDtype, StraightLine, spec_of

OFTEN = 3  #: the call of a rule by which it is written out
#: NumPy 1 computes a single-precision number with one of Python's in double precision
_SCALARS_WIDEN = (np.float32(1) + 1.0).dtype != np.float32


class Pullback:
    """How cotangents pass one operator, for inputs of certain shapes some of which want one.

    Args:
        op: the operator.
        ins: the forms of its inputs by slot, in order; lists for list slots.
        outs: the forms of its outputs by slot.
        places: slot, and number in a list, of each output that has a gradient.
        wanted: for each input slot, whether to compute a cotangent.
    """

    __slots__ = (
        "_calls", "_checks", "_cotangents", "_form", "_kernel", "_order", "_outputs", "_rule",
        "forms", "ins", "keeps", "keeps_out", "lines", "op", "outs", "places", "reads_out",
        "recorded_rules", "single", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        op: Op,
        ins: Sequence[Any],
        outs: Mapping[str, Any],
        places: Sequence[tuple[str, int | None]],
        wanted: tuple[bool, ...],
    ) -> None:
        definition = type(op)
        self.op: Op = op
        self.ins: Sequence[Any] = ins
        self._checks: bool = is_users(definition)
        self._rule: Callable[..., dict[str, Any]] = op.grad if has_rule(definition) else self.refuse
        self.outs: Mapping[str, Any] = outs
        self.places: Sequence[tuple[str, int | None]] = places
        self.single: bool = len(op.outputs) == 1 and not op.outputs[0].many
        self.wanted: tuple[tuple[int, str], ...] = tuple(
            (i, slot.name)
            for i, (slot, want) in enumerate(zip(op.inputs, wanted))
            if want and not slot.constant
        )
        arguments = definition.rule_arguments if has_rule(definition) else ()
        operands = dict(zip(op.input_slots, ins))
        everything = frozenset(a.of for a in arguments if a.source != "cotangent")
        if replaces_rule(definition):
            needed = everything
        else:
            needed = _needed(op, operands, outs, tuple(slot for _, slot in self.wanted))
        #: whether the rule itself reads the value of the output
        self.reads_out: bool = self.single and op.outputs[0].name in needed
        if self._has_kernel():
            needed = everything
        #: the kernel of the rule, where that reads all that a kernel may read
        self._kernel: Callable[..., dict[str, Any]] | None = (
            kernel_of_rule(definition)
            if needed.union(definition.shapes_alone) >= everything
            else None
        )
        taken = [a.of for a in arguments if a.source == "in"]
        places_in = list(op.input_slots)
        #: for each input that is read: its place, and its form where that is enough
        self.keeps: tuple[tuple[int, Any | None], ...] = tuple(
            (places_in.index(slot), None if slot in needed else operands[slot]) for slot in taken
        )
        #: the same where forms are enough of all, else None
        self.forms: list[Any | None] | None = (
            [f for _, f in self.keeps] if all(f is not None for _, f in self.keeps) else None
        )
        #: the outputs whose values are read
        self.keeps_out: tuple[str, ...] = tuple(
            a.of for a in arguments if a.source == "out" and a.of in needed
        )
        #: the slots of several outputs whose values, and whose cotangents, the rule takes
        self._outputs: Sequence[str] = [a.of for a in arguments if a.source == "out"]
        self._cotangents = [(a.of, a.optional) for a in arguments if a.source == "cotangent"]
        self._form = outs.get(op.outputs[0].name)
        # the arguments are gathered once, as numbers of what a call has at hand
        behind = len(taken)
        last = behind + (1 if self.single else len(self._outputs))
        self._order = gather(
            arguments,
            taken.index,
            lambda slot: behind + self._outputs.index(slot),
            lambda slot, optional: last + self._cotangents.index((slot, optional)),
        )

        #: of calls that are recorded, by the forms of what they take: how many there were, or the
        #: rule written out
        self.recorded_rules: dict[Any, Any] = {}
        self._calls: dict[Any, int] = {}
        #: by which outputs have a cotangent: the rule as a function of the kept inputs, the outputs
        #: and the cotangents, which gives the cotangents of ``wanted``; None where it cannot be
        #: written out
        self.lines: dict[Any, Callable[..., tuple[Any, ...]] | None] = {}

    def seen(self, flowing: Any) -> None:
        """Note one more call: a rule that is called often is written out.

        Args:
            flowing: the outputs that have a cotangent, as the keys of ``lines`` have it.
        """
        count = self._calls[flowing] = self._calls.get(flowing, 0) + 1
        if count == OFTEN:
            self.lines[flowing] = self._written(flowing)

    def _written(self, flowing: Any) -> Callable[..., tuple[Any, ...]] | None:
        for rule in (self._by_kernel, self._by_rule):
            try:
                line = self._write(rule, flowing)
            except Exception:  # the rule wants elements, or another kind of value
                continue
            if line is not None:
                return line
        return None

    def _write(self, rule: Callable[..., Mapping[str, Any] | None], flowing: Any) -> Any:
        line = StraightLine()
        read = [
            line.value(spec_of(self.ins[place]), "value" if form is None else "form")
            for place, form in self.keeps
        ]
        outs = [self.op.outputs[0].name] if self.single else self._outputs
        for slot in outs:
            of = "value" if slot in self.keeps_out else "form"
            read.append(line.value(spec_of(self.outs.get(slot)), of))
        if self.single:
            flows = [line.value(spec_of(self._form))]
        else:
            came = {self.places[index][0] for index in flowing}
            if any(k is not None for _, k in self.places) or any(
                slot not in came and not optional for slot, optional in self._cotangents
            ):
                return None
            flows = [
                line.value(spec_of(self.outs[slot])) if slot in came else None
                for slot, _ in self._cotangents
            ]
        at_hand = [*read, *flows]
        parts = rule(line, *[at_hand[k] for k in self._order])
        if parts is None:
            return None
        gives = tuple([_part(parts, slot) for _, slot in self.wanted])
        given = {id(value) for value in gives if value is not None}
        if "form" in line.touched or not given.isdisjoint(map(id, read)):
            return None  # of which there is no value
        return line.function(at_hand, gives)

    def on_line(
        self,
        line: StraightLine,
        ins: Mapping[str, Any],
        outs: Mapping[str, Any],
        flows: Mapping[str, Any],
    ) -> list[tuple[int, Any]]:
        """Pairs of an input's place and its cotangent, on a line where the rule goes on.

        Args:
            line: takes what the rule applies.
            ins, outs: values of the line by slot.
            flows: cotangents by slot.

        Raises:
            NotStraight: the rule cannot be written out.
        """
        arguments = []
        for argument in type(self.op).rule_arguments:
            if argument.source == "cotangent":
                flow = flows.get(argument.of)
                if flow is None and not argument.optional:
                    raise NotStraight(f"nothing flows to {argument.of}")
                arguments.append(flow)
            else:
                arguments.append((ins if argument.source == "in" else outs).get(argument.of))
        parts = self._by_kernel(line, *arguments)
        if parts is None:
            rule = self._rule if line.is_differentiated else self._by_rule
            parts = rule(line, *arguments)
        if parts is None:
            raise NotStraight(self.op.type)
        return [(place, _part(parts, slot)) for place, slot in self.wanted]

    def by_line(self, saved: Sequence[Any], out: Any, cotangent: Any) -> Any:
        """The cotangents of ``wanted`` by a rule that was written out; None where it is none of
        these values.

        Args:
            saved: the inputs that are read, in the order of ``keeps``.
            out: the value of the output if there is one, else the values by slot.
            cotangent: of the output if there is one, else by number of the output.
        """
        if self.single:
            line = self.lines.get(1)
            if line is None:
                if 1 not in self.lines:
                    self.seen(1)
                return None
            form = self._form
            if type(cotangent) is not np.ndarray or (cotangent.shape, cotangent.dtype) != form:
                return None
            return line(*saved, out, cotangent)
        flowing = tuple(cotangent)
        line = self.lines.get(flowing)
        if line is None:
            if flowing not in self.lines:
                self.seen(flowing)
            return None
        outs = [out.get(slot) for slot in self._outputs]
        by_slot = {self.places[index][0]: value for index, value in cotangent.items()}
        return line(*saved, *outs, *[by_slot.get(slot) for slot, _ in self._cotangents])

    def _by_kernel(self, line: StraightLine, *arguments: Any) -> Mapping[str, Any] | None:
        """The cotangents by the kernel that the gradient operator has for these shapes."""
        if preparation_of(self.op.grad_type) is None:
            return None
        definition: Any = lookup(self.op.grad_type)
        ins, slots = dict(zip(definition.input_slots, arguments)), self.op.input_slots
        forms = {
            name: spec_of(form)
            for form, slot in zip(self.ins, slots)
            if (name := definition.grad_slots.get(slot)) is not None
        }
        outs = line.prepared(self.op.like(definition), ins, forms)
        if outs is None:
            return None
        return {slot: outs[name] for slot, name in definition.grad_slots.items()}

    def _by_rule(self, line: StraightLine, *arguments: Any) -> Mapping[str, Any] | None:
        return None if self._kernel is not None else self._rule(line, *arguments)

    def _has_kernel(self) -> bool:
        """Whether the gradient operator has a kernel for these shapes."""
        op = self.op
        if not self.single or not has_rule(type(op)) or preparation_of(op.grad_type) is None:
            return False
        forms = dict(zip(op.input_slots, self.ins), **self.outs)
        specs = [spec_of(forms.get(a.of)) for a in type(op).rule_arguments]
        if any(isinstance(spec, list) for spec in specs):
            return False
        return op.like(lookup(op.grad_type)).prepared(specs) is not None

    def refuse(self, *arguments: Any) -> NoReturn:
        """Stands for a rule that nobody wrote.

        Raises:
            NoGradientError: always.
        """
        raise NoGradientError(f"operator {self.op.type!r} has no gradient: nobody wrote a rule")

    def by_slot(self, cotangents: Mapping[int, Any]) -> dict[str, Any]:
        """Cotangents of several outputs by slot.

        Args:
            cotangents: by the number of the output among ``places``.
        """
        flows: dict[str, Any] = {}
        for index, (slot, k) in enumerate(self.places):
            if k is None:
                flows[slot] = cotangents.get(index)
            else:
                flows.setdefault(slot, [None] * len(self.outs[slot]))[k] = cotangents.get(index)
        return flows

    def gradients(
        self,
        f: Interpreter,
        saved: Iterable[Any],
        out: Mapping[str, Any] | Any,
        cotangents: Mapping[str, Any] | Any,
        follow: tuple[bool, ...] | None = None,
    ) -> list[tuple[int, Any]]:
        """Pairs of an input's place and its cotangent.

        Args:
            f: runs the operators of the rule.
            saved: the inputs that are read, in the order of ``keeps``.
            out: the value of the output if there is one, else the values by slot.
            cotangents: the cotangent of the output if there is one, else those by slot.
            follow: for each input slot, whether to compute its cotangent; all when None.
        """
        if self.single:
            at_hand = [*saved, self._form if out is None else out, cotangents]
        else:
            outs = self.outs
            at_hand = [*saved]
            for slot in self._outputs:
                value = out.get(slot)
                at_hand.append(outs.get(slot) if value is None else value)
            for slot, optional in self._cotangents:
                at_hand.append(completed(cotangents.get(slot), outs.get(slot), optional, zeros))
        arguments = [at_hand[k] for k in self._order]
        if self._kernel is not None and f is kernels and type(cotangents) is not SelectedRows:
            parts = self._kernel(self.op, numpy_.xp, *arguments)
        else:
            parts = self._rule(f, *arguments)
        pairs = []
        for place, slot in self.wanted:
            if follow is None or follow[place]:
                part = parts.get(slot)
                if part is not None:
                    value = part() if callable(part) else part
                    if _SCALARS_WIDEN and isinstance(value, np.generic):
                        value = np.asarray(value, _dtype_in(cotangents))
                    if value is not None:
                        if self._checks:
                            check_gradient(self.op, slot, value, self.ins[place])
                        pairs.append((place, value))
        return pairs


def _part(parts: Mapping[str, Any], slot: str) -> Any:
    """What a rule gives for a slot."""
    part = parts.get(slot)
    return part() if callable(part) else part


def _dtype_in(cotangents: Any) -> Any:
    """The element type of the first cotangent."""
    if isinstance(cotangents, (Mapping, list)):
        values = cotangents.values() if isinstance(cotangents, Mapping) else cotangents
        return next(_dtype_in(each) for each in values if each is not None)
    return cotangents.dtype


def zeros(form: ShapeDtype) -> Any:
    """Zeros of a form."""
    return np.zeros(form.shape, form.dtype)


# -- which values a rule reads ---------------------------------------------------------------------


#: by definition, and by what leads its rule the same way
_found: dict[type[Op], dict[Any, frozenset[str]]] = {}


def _needed(
    op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any], wanted: tuple[str, ...]
) -> frozenset[str]:
    """The slots whose values the rule reads; all it takes where it looks at elements itself."""
    if not has_rule(type(op)):
        return frozenset()
    key = (
        tuple((name, _sort(value)) for name, value in op.__dict__.items()),
        tuple(map(_sketch, ins.values())),
        wanted,
    )
    known = _found.setdefault(type(op), {})
    found = known.get(key)
    if found is None:
        found = known[key] = _probe(op, ins, outs, wanted)
    return found


def _sort(value: Any) -> Any:
    """What an attribute has in common with others that lead a rule the same way."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return (value > 0) - (value < 0) + (value == 1)
    if isinstance(value, tuple):
        return tuple([_sort(each) for each in value])
    return None


def _sketch(form: Any) -> Any:
    """The same for the form of an input."""
    if form is None:
        return None
    if isinstance(form, list):
        return tuple([_sketch(each) for each in form])
    shape = form.shape
    is_wide = len(shape) > 1 and shape[-2] < shape[-1]  # rules of matrices ask for it
    return tuple([min(n, 2) for n in shape]), is_wide, form.dtype


def _probe(
    op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any], wanted: tuple[str, ...]
) -> frozenset[str]:
    line = StraightLine()
    everything = frozenset(a.of for a in op.rule_arguments if a.source != "cotangent")
    try:
        arguments = gather(
            op.rule_arguments,
            lambda slot: line.value(spec_of(ins[slot]), slot),
            lambda slot: line.value(spec_of(outs.get(slot)), slot),
            lambda slot, optional: line.value(spec_of(outs.get(slot))),
        )
        parts = op.grad(line, *arguments)
        for slot in wanted:
            part = parts.get(slot)
            if callable(part):
                part()
    except Exception:  # the rule wants elements, or another kind of value
        return everything
    return frozenset(line.touched)
