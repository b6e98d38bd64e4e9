"""How cotangents pass an operator: one call of its gradient rule, with the values that it reads.

Which values a rule reads is found out by running it on values that have a shape and a type and no
elements.  Of the others only shape and type are kept: the sum of two tensors keeps neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..backend import numpy_
from ..errors import NoGradientError
from ..ground.dtypes import as_dtype
from ..ground.shaped import Shaped
from ..ground.values import SelectedRows
from ..opdef.arithmetic import Arithmetic
from ..opdef.definition import Op, lookup
from ..opdef.gradient import has_rule, kernel_of_rule, replaces_rule
from ..opdef.interpreter import Interpreter
from ..opdef.rule import completed, gather
from ..opdef.spec import Spec, size_of
from .prepared import kernels

#: NumPy 1 computes a single-precision number with one of Python's in double precision
_SCALARS_WIDEN = (np.float32(1) + 1.0).dtype != np.float32


class ShapeDtype(NamedTuple):
    """Stands for a value of which only shape and element type matter."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)


def shape_dtype_of(value: Any) -> Any:
    """The form of an array; lists of them for lists."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [shape_dtype_of(each) for each in value]
    return ShapeDtype(value.shape, value.dtype)


def spec_of(form: Any) -> Any:
    """The spec of a form; lists of them for lists."""
    if form is None:
        return None
    if isinstance(form, list):
        return [spec_of(each) for each in form]
    return Spec(tuple(form.shape), as_dtype(form.dtype))


class Pullback:
    """How cotangents pass one operator, for inputs of certain shapes some of which want one.

    Args:
        op: the operator.
        ins: the forms of its inputs by slot, in order; lists for list slots.
        outs: the forms of its outputs by slot.
        places: slot, and number in a list, of each output that has a gradient.
        wanted: for each input slot, whether a cotangent is wanted.
    """

    __slots__ = (
        "_cotangents", "_form", "_kernel", "_order", "_outputs", "_rule",
        "forms", "ins", "keeps", "keeps_out", "op", "outs", "places", "single", "wanted",
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
        #: the kernel of the rule, where that reads all that a kernel may read
        self._kernel: Callable[..., dict[str, Any]] | None = (
            kernel_of_rule(definition) if needed == everything else None
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
            out: the value of the output where there is one, else the values by slot.
            cotangents: the cotangent of the output where there is one, else those by slot.
            follow: for each input slot, whether its cotangent is wanted; all that may be when None.
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
                        pairs.append((place, value))
        return pairs


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
    return tuple([min(n, 2) for n in form.shape]), form.dtype


def _probe(
    op: Op, ins: Mapping[str, Any], outs: Mapping[str, Any], wanted: tuple[str, ...]
) -> frozenset[str]:
    analysis = ReadAnalysis()
    everything = frozenset(a.of for a in op.rule_arguments if a.source != "cotangent")
    try:
        arguments = gather(
            op.rule_arguments,
            lambda slot: analysis.abstract(ins[slot], slot),
            lambda slot: analysis.abstract(outs.get(slot), slot),
            lambda slot, optional: analysis.abstract(outs.get(slot), None),
        )
        parts = op.grad(analysis, *arguments)
        for slot in wanted:
            part = parts.get(slot)
            if callable(part):
                part()
    except Exception:  # the rule wants elements, or another kind of value
        return everything
    return frozenset(analysis.touched)


class ReadAnalysis(Interpreter):
    """Runs operators on values without elements, and notes whose values are used."""

    def __init__(self) -> None:
        self.touched: set[str] = set()

    def abstract(self, form: Any, origin: str | None) -> Any:
        """Values without elements in the place of those of a form."""
        if form is None:
            return None
        if isinstance(form, list):
            return [self.abstract(each, origin) for each in form]
        return AbstractValue(self, spec_of(form), origin)

    def touch(self, value: Any) -> Any:
        """Note that a value is used, and give its spec."""
        if isinstance(value, (list, tuple)):
            return [self.touch(each) for each in value]
        if isinstance(value, AbstractValue):
            if value.origin is not None:
                self.touched.add(value.origin)
            return value.spec
        return spec_of(shape_dtype_of(value))

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        specs = op.infer_outputs({slot: self.touch(value) for slot, value in ins.items()})
        return {slot: self.results(spec) for slot, spec in specs.items()}

    def results(self, spec: Any) -> Any:
        """Values without elements of an operator's results."""
        if spec is None:
            return None
        if isinstance(spec, list):
            return [self.results(each) for each in spec]
        if -1 in spec.shape:
            raise ValueError(spec)
        return AbstractValue(self, spec, None)


class AbstractValue(Shaped, Arithmetic):
    """A value without elements."""

    __slots__ = ("origin", "spec", "analysis")
    __array_ufunc__ = None

    def __init__(self, analysis: ReadAnalysis, spec: Spec, origin: str | None) -> None:
        self.analysis: ReadAnalysis = analysis
        self.spec: Spec = spec
        self.origin: str | None = origin

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.spec.dtype

    def _combine(self, method: str, operator: str, other: Any, reflected: bool) -> Any:
        if isinstance(other, (int, float)):
            other = AbstractValue(self.analysis, Spec((), self.spec.dtype), None)
        a, b = (other, self) if reflected else (self, other)
        found = self.analysis.apply(lookup(operator)(), {"X": a, "Y": b})
        return found["Out"]

    def __neg__(self) -> Any:
        return self._combine("__mul__", "elementwise_mul", -1.0, False)
