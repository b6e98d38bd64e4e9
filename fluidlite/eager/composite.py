"""Functions of tensors that are several operators, run as one.

A function that is called often with arguments of the same forms is gone through once more on values
without elements, and written out: one function of arrays for its operators, and one for their
gradients.  There is one node for it, then.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..ground.shaped import Shaped
from ..opdef.definition import Op
from ..opdef.operand import Operand
from ..opdef.redefinition import redefinitions
from ..opdef.spec import Spec
from .mode import enable_grad, thread
from .nodes import GradNode, NamedStep
from .pullback import OFTEN
from .recompute import pulled_through
from .recording import TensorRecord, caller, observed
from .specialization import Specialization
from .straight_line import (
    AbstractValue,
    NotStraight,
    ShapeDtype,
    StraightLine,
    shape_dtype_of,
    spec_of,
)
from .sweep import BackwardPass, overwritten

F = TypeVar("F", bound=Callable[..., Any])
#: elements of a tensor up to which operators run as one: calls cost less than keeping more does
MOST_ELEMENTS = 1 << 18
MOST_FORMS = 512  #: of a function's arguments that are kept
_SIMPLE = frozenset((bool, int, float, str, type(None)))
_LISTS = frozenset((list, tuple))
_UNNAMED = itertools.repeat(None)
_ndarray = np.ndarray
_composites: list[dict[Any, Any]] = []


def composite(function: F) -> F:
    """Run the operators of a function of tensors as one.

    Args:
        function: gives one tensor.  It looks at shapes and types of tensors alone, as it does for
            variables, draws no random numbers, and writes nothing.
    """
    forms: dict[Any, Any] = {}
    _composites.append(forms)

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        if observed() or thread.packing is not None:
            return function(*args, **named)
        key: list[Any] = [thread.recording]
        tensors: list[Any] = []
        for name, value in itertools.chain(zip(_UNNAMED, args), named.items()):
            if isinstance(value, TensorRecord):
                array = value.array
                key.append((name, type(value), array.shape, array.dtype, value.stop))
                tensors.append(value)
            elif type(value) in _SIMPLE:
                key.append((name, type(value), value))
            elif type(value) in _LISTS and _SIMPLE.issuperset(map(type, value)):
                key.append((name, type(value), *value))
            else:
                return function(*args, **named)
        form = forms.get(tuple(key))
        if type(form) is not WrittenOut:
            if form is None or form < OFTEN:
                if len(forms) >= MOST_FORMS:
                    forms.clear()
                forms[tuple(key)] = (form or 0) + 1
            elif form == OFTEN:
                forms[tuple(key)] = WrittenOut.of(function, args, named) or OFTEN + 1
            return function(*args, **named)
        try:
            out, *values = thread.run(form.forward, *[t.array for t in tensors])
        except Exception:  # the operators say what is wrong
            return function(*args, **named)
        first = tensors[0]
        if not form.flows:
            return first.results(out)
        edges = tuple([None if t.stop else t if t.origin is None else t.origin for t in tensors])
        versions = [t.version for t in tensors]
        saved = _Saved(args, named, tensors, versions, values)
        node = GradNode(form, edges, saved, None, None, *caller())
        return first.results(out, node, False)

    called.__code__ = called.__code__.replace(  # type: ignore[attr-defined]
        co_name=function.__name__  # which messages say
    )
    called.does_more = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


class _Saved(NamedTuple):
    """What the gradients of a call need."""

    args: tuple[Any, ...]
    named: dict[str, Any]
    tensors: list[Any]
    versions: list[int]
    values: list[Any]  #: arrays that were computed on the way


class _Back(NamedTuple):
    """The operators of the gradients."""

    line: StraightLine
    takes: list[AbstractValue]
    gives: tuple[Any, ...]  #: the cotangents of all tensors, None if there is none


class WrittenOut:
    """A function for arguments of certain forms; stands in place of a gradient rule, too."""

    __slots__ = ("_back", "_parts", "forward", "function", "op", "reads")

    def __init__(
        self,
        function: Callable[..., Any],
        forward: Callable[..., Any],
        back: _Back | None,
        reads: Sequence[int],
    ) -> None:
        self.function: Callable[..., Any] = function
        self.forward: Callable[..., Any] = forward
        self._back = back
        #: by which arguments' cotangents are wanted: what computes them; by None: all that may be
        self._parts: dict[tuple[bool, ...] | None, Any] = {}
        if back is not None:
            self._parts[None] = back.line.function(back.takes, back.gives)
        self.reads: Sequence[int] = reads  #: the tensors among the arguments that backward reads
        self.op: NamedStep = NamedStep(function.__name__)

    @property
    def flows(self) -> bool:
        """Whether an argument has a gradient."""
        return self._back is not None

    def _part(self, take: tuple[bool, ...] | None) -> Any:
        part = self._parts.get(take)
        if part is None:
            back: Any = self._back
            gives = tuple([v if wanted else None for v, wanted in zip(back.gives, take or ())])
            part = self._parts[take] = back.line.function(back.takes, gives)
        return part

    @classmethod
    def of(
        cls, function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> WrittenOut | None:
        """A function written out for arguments of the forms of these; None where it cannot be."""
        tensors = [v for v in (*args, *named.values()) if isinstance(v, TensorRecord)]
        if any(t.array.size > MOST_ELEMENTS for t in tensors):
            return None
        try:
            return _written(function, args, named)
        except Exception:  # it wants elements, or is not for values without them
            return None

    def pull(
        self, sweep: BackwardPass, node: GradNode, cotangent: Any, take: tuple[bool, ...] | None
    ) -> list[tuple[int, Any]]:
        """Pairs of an argument's place and its cotangent."""
        saved: _Saved = node.saved
        tensors, versions = saved.tensors, saved.versions
        is_plain = not sweep.recording and type(cotangent) is _ndarray
        if is_plain:
            for k in self.reads:
                if tensors[k].version != versions[k]:
                    raise overwritten(node, tensors[k], tensors[k].version)
            arrays = [tensors[k].array for k in self.reads]
            flows = self._part(take)(*arrays, *saved.values, cotangent)
            return [pair for pair in enumerate(flows) if pair[1] is not None]
        for tensor, version in zip(tensors, versions):
            if tensor.version != version:
                raise overwritten(node, tensor, tensor.version)
        standing = {
            id(t): t if edge is None or edge is t else t.results(t.array, edge, False)
            for t, edge in zip(tensors, node.edges)
        }
        args = [standing.get(id(value), value) for value in saved.args]
        named = {name: standing.get(id(value), value) for name, value in saved.named.items()}
        with enable_grad():
            out = self.function(*args, **named)
        return pulled_through(sweep, node, [out], {0: cotangent}, take)


def _forget(types: Any) -> None:
    for forms in _composites:
        forms.clear()


redefinitions.listeners.append(_forget)


# -- writing out -----------------------------------------------------------------------------------


class _Shape(tuple[int, ...]):
    """A shape that is no key of anything that is kept for a shape of an array."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(("abstract", *self))

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) if isinstance(other, tuple) else False


class _Array(Shaped):
    """What functions see of the array of a value without elements."""

    __slots__ = ("_spec",)

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    @property
    def shape(self) -> _Shape:
        """The sizes."""
        return _Shape(self._spec.shape)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self._spec.dtype.dtype


class _Standing(Operand):
    """Stands in place of a tensor.

    Args:
        value: on the line.
        like: the tensor, or one of its kind.
        stop: whether no gradient flows through it.
    """

    __slots__ = ("_line", "like", "stop", "value")
    origin = None

    def __init__(self, line: _Noted, value: AbstractValue, like: Any, stop: bool) -> None:
        self._line = line
        self.value = value
        self.like = like
        self.stop = stop

    @property
    def array(self) -> _Array:
        """Its shape and type."""
        return _Array(self.value.spec)

    @property
    def shape(self) -> list[int]:
        """The sizes."""
        return list(self.value.spec.shape)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.value.spec.dtype

    @property
    def promotion(self) -> Any:
        """As that of the tensor."""
        return self.like.promotion

    @property
    def appends(self) -> Callable[[Op, Mapping[str, Any]], dict[str, Any]]:
        """Notes operators."""
        return functools.partial(self._line.noted, self.like)


class _Step(NamedTuple):
    """An operator that was applied."""

    op: Op
    ins: dict[str, Any]
    outs: dict[str, Any]


class _Noted(StraightLine):
    """Remembers operators for their gradients, too."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[_Step] = []
        self.flowing: set[int] = set()  #: by identity: values that depend on what wants a gradient

    def noted(self, like: Any, op: Op, ins: Mapping[str, Any]) -> dict[str, Any]:
        """Apply an operator to standing tensors and arrays."""
        values = {slot: v.value if isinstance(v, _Standing) else v for slot, v in ins.items()}
        outs = self.apply(op, values)
        self.steps.append(_Step(op, values, outs))
        if not self.flowing.isdisjoint(map(id, values.values())):
            self.flowing.update(id(v) for v in outs.values() if v is not None)
        return {
            slot: None if v is None else _Standing(self, v, like, id(v) not in self.flowing)
            for slot, v in outs.items()
        }


def _written(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> WrittenOut | None:
    line = _Noted()
    takes: list[AbstractValue] = []
    wants: list[bool] = []

    def standing(value: Any) -> Any:
        if not isinstance(value, TensorRecord):
            return value
        stands = line.value(spec_of(shape_dtype_of(value.array)))
        takes.append(stands)
        wants.append(thread.recording and not value.stop)
        if wants[-1]:
            line.flowing.add(id(stands))
        return _Standing(line, stands, value, value.stop)

    out = function(*map(standing, args), **{name: standing(v) for name, v in named.items()})
    if not isinstance(out, _Standing):
        return None
    if id(out.value) not in line.flowing:
        forward = line.function(takes, (out.value,))
        return None if forward is None else WrittenOut(function, forward, None, ())
    back = StraightLine()
    mirrors: dict[int, Any] = {}
    cotangent = back.value(out.value.spec)
    flows = _sweep(line, back, mirrors, {id(out.value): cotangent})
    gives = [flows.get(id(value)) if want else None for value, want in zip(takes, wants)]
    made = [v for step in line.steps for v in step.outs.values() if v is not None]
    read = back.touched.union(v.origin for v in gives if v is not None and v.origin is not None)
    kept = [v for v in made if v.name in read]
    places = [k for k, v in enumerate(takes) if v.name in read]
    forward = line.function(takes, (out.value, *kept))
    reads = [mirrors[id(v)] for v in (*[takes[k] for k in places], *kept)]
    if forward is None or back.function([*reads, cotangent], tuple(gives)) is None:
        return None
    return WrittenOut(function, forward, _Back(back, [*reads, cotangent], tuple(gives)), places)


def _sweep(
    line: _Noted, back: StraightLine, mirrors: dict[int, Any], flows: dict[int, Any]
) -> dict[int, Any]:
    """Cotangents of values by identity.

    Args:
        line: the operators.
        back: takes those of their gradients.
        mirrors: gets the values that stand there for those of the line, by identity.
        flows: the first cotangents.
    """

    def mirrored(value: Any) -> Any:
        if not isinstance(value, AbstractValue):
            return value
        if id(value) not in mirrors:
            mirrors[id(value)] = back.value(value.spec, value.name)
        return mirrors[id(value)]

    for op, ins, outs in reversed(line.steps):
        came = {slot: flows[id(v)] for slot, v in outs.items() if id(v) in flows}
        operands = [ins.get(slot) for slot in op.input_slots]
        mask = sum([1 << k for k, v in enumerate(operands) if id(v) in line.flowing])
        plan = Specialization(op, list(map(_form, operands)), _forms(outs), None)
        if not came or not mask or not plan.flows:
            continue
        pairs = plan.pullback(mask).on_line(
            back,
            {slot: mirrored(v) for slot, v in ins.items()},
            {slot: mirrored(v) for slot, v in outs.items()},
            came,
        )
        for place, flow in pairs:
            if flow is not None:
                old = flows.get(id(operands[place]))
                flows[id(operands[place])] = (
                    flow
                    if old is None
                    else back.combine("__add__", "elementwise_add", old, flow, False)
                )
    return flows


def _form(value: Any) -> Any:
    """The form of a value of a line, or of an array."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        raise NotStraight("a list of values")
    return ShapeDtype(tuple(value.shape), np.dtype(getattr(value.dtype, "dtype", value.dtype)))


def _forms(outs: Mapping[str, Any]) -> dict[str, Any]:
    return {slot: _form(value) for slot, value in outs.items()}
