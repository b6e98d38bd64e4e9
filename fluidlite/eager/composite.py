"""Functions of tensors that are several operators, run as one.

A function that is called often with arguments of the same forms is gone through once more on values
without elements, and written out: one function of arrays for its operators, and one for their
gradients.  There is one node for it, then.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..opdef.redefinition import redefinitions
from .flat import kinked
from .inner_sweep import pulled_through
from .mode import enable_grad, thread
from .nodes import GradNode, NamedStep
from .noting import Noted, Standing, swept_back
from .pullback import OFTEN
from .recorded_rules import apart, recorded
from .recording import TensorRecord, caller, observed
from .straight_line import AbstractValue, StraightLine, shape_dtype_of, spec_of
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
        saved = SavedTensors(tensors, [t.array for t in tensors], versions, values)
        node = GradNode(form, edges, saved, None, None, *caller())
        return first.results(out, node, False)

    called.__code__ = called.__code__.replace(  # type: ignore[attr-defined]
        co_name=function.__name__  # which messages say
    )
    called.does_more = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


class SavedTensors(NamedTuple):
    """What the gradients of a call need."""

    tensors: list[Any]
    arrays: list[Any]  #: of the tensors, as they were
    versions: list[int]
    values: list[Any]  #: arrays that were computed on the way


class _Back(NamedTuple):
    """The operators of the gradients."""

    line: StraightLine
    takes: list[AbstractValue]
    gives: tuple[Any, ...]  #: the cotangents of all tensors, None if there is none


class WrittenOut:
    """A function for arguments of certain forms; stands in place of a gradient rule, too."""

    __slots__ = ("_back", "_call", "_parts", "forward", "op", "reads", "recorded_rules")

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        named: Mapping[str, Any],
        forward: Callable[..., Any],
        back: _Back | None,
        reads: Sequence[int],
    ) -> None:
        #: what is called, with what besides tensors
        self._call = _Call(function, *_without_tensors(args, named))
        self.forward: Callable[..., Any] = forward
        self._back = back
        #: by which arguments' cotangents are wanted: what computes them; by None: all that may be
        self._parts: dict[tuple[bool, ...] | None, Any] = {}
        if back is not None:
            self._parts[None] = back.line.function(back.takes, back.gives)
        self.reads: Sequence[int] = reads  #: the tensors among the arguments that backward reads
        self.op: NamedStep = NamedStep(function.__name__)
        #: what is known of calls of the rule that are recorded, by the forms of what they take
        self.recorded_rules: dict[Any, Any] = {}

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
        saved: SavedTensors = node.saved
        tensors, versions = saved.tensors, saved.versions
        is_plain = not sweep.recording and type(cotangent) is _ndarray
        for k in self.reads:
            if tensors[k].version != versions[k]:
                raise overwritten(node, tensors[k], tensors[k].version)
        if is_plain:
            arrays = [tensors[k].array for k in self.reads]
            flows = self._part(take)(*arrays, *saved.values, cotangent)
            return [pair for pair in enumerate(flows) if pair[1] is not None]
        standing = list(map(apart, tensors, saved.arrays, node.edges, versions))

        def again(arguments: Sequence[Any]) -> list[tuple[int, Any]]:
            *stands, flow = arguments
            return self.again(stands, flow, take, sweep.results, sweep.recording)

        def noting(line: Noted, arguments: Sequence[Any]) -> list[tuple[int, Any]]:
            *values, flow = arguments
            return self.noted(line, values, standing, flow, take)

        arguments = [*standing, cotangent]
        if not sweep.recording:
            return again(arguments)
        known = self.recorded_rules
        return recorded(known, self.op.type, noting, again, arguments, sweep.results, take)

    def again(
        self,
        stands: Sequence[Any],
        cotangent: Any,
        take: tuple[bool, ...] | None,
        results: type[TensorRecord],
        recording: bool = True,
    ) -> list[tuple[int, Any]]:
        """Pairs of an argument's place and its cotangent, by the operators.

        Args:
            stands: the tensors among the arguments.
            cotangent: of the result.
            take: for each tensor, whether to compute its cotangent; all when None.
            results: the class of tensors that are made.
            recording: whether gradients are recorded.
        """
        with enable_grad():
            stands = _apart(stands)
            out = self._call.on(stands)
        within: Any = SimpleNamespace(recording=recording, results=results)
        part: Any = SimpleNamespace(edges=tuple([t.edge for t in stands]), site=None)
        return pulled_through(within, part, [out], {0: cotangent}, take)

    def noted(
        self,
        line: Noted,
        values: Sequence[Any],
        like: Sequence[Any],
        flow: Any,
        take: tuple[bool, ...] | None,
    ) -> list[tuple[int, Any]]:
        """The same on a line.

        Args:
            line: takes the operators.
            values: stand for the tensors.
            like: the tensors.
            flow: the cotangent of the result.
            take: for each tensor, whether to compute its cotangent; all when None.
        """
        stands = [Standing(line, v, t, t.stop) for v, t in zip(values, like, strict=True)]
        flows = swept_back(line, line, {}, {id(self._call.on(stands).value): flow})
        places = [k for k, t in enumerate(like) if not t.stop and (take is None or take[k])]
        # what stands in two places has one cotangent
        return [(k, flows.pop(id(values[k]), None)) for k in places]


class _Call(NamedTuple):
    """A call of a function, with gaps in place of tensors."""

    function: Callable[..., Any]
    args: list[Any]
    named: dict[str, Any]

    def on(self, stands: Sequence[Any]) -> Any:
        """What the function gives for some tensors."""
        rest = iter(stands)
        args = [next(rest) if v is _GAP else v for v in self.args]
        named = {name: next(rest) if v is _GAP else v for name, v in self.named.items()}
        return self.function(*args, **named)


_GAP = object()  #: stands in place of a tensor


def _without_tensors(args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, Any]:
    def gap(value: Any) -> Any:
        return _GAP if isinstance(value, TensorRecord) else value

    return [gap(v) for v in args], {name: gap(v) for name, v in named.items()}


def _apart(tensors: Sequence[Any]) -> list[Any]:
    """Tensors whose cotangents go different ways, even where they are one."""
    edges, each_apart = set[Any](), []
    for t in tensors:
        each_apart.append(kinked(t) if t.edge in edges else t)
        edges.add(t.edge)
    return each_apart


def _forget(types: Any) -> None:
    for forms in _composites:
        forms.clear()


redefinitions.listeners.append(_forget)


def _written(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> WrittenOut | None:
    line = Noted()
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
        return Standing(line, stands, value, value.stop)

    out = function(*map(standing, args), **{name: standing(v) for name, v in named.items()})
    if not isinstance(out, Standing):
        return None
    if id(out.value) not in line.flowing:
        forward = line.function(takes, (out.value,))
        return None if forward is None else WrittenOut(function, args, named, forward, None, ())
    back = StraightLine()
    mirrors: dict[int, Any] = {}
    cotangent = back.value(out.value.spec)
    flows = swept_back(line, back, mirrors, {id(out.value): cotangent})
    gives = [flows.get(id(value)) if want else None for value, want in zip(takes, wants)]
    made = [v for step in line.steps for v in step.outs.values() if v is not None]
    read = back.touched.union(v.origin for v in gives if v is not None and v.origin is not None)
    kept = [v for v in made if v.name in read]
    places = [k for k, v in enumerate(takes) if v.name in read]
    forward = line.function(takes, (out.value, *kept))
    reads = [mirrors[id(v)] for v in (*[takes[k] for k in places], *kept)]
    if forward is None or back.function([*reads, cotangent], tuple(gives)) is None:
        return None
    way_back = _Back(back, [*reads, cotangent], tuple(gives))
    return WrittenOut(function, args, named, forward, way_back, places)
