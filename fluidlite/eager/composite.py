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
from .inner_sweep import pulled_through
from .mode import enable_grad, thread
from .nodes import GradNode, NamedStep
from .noting import Noted, Standing, swept_back
from .pullback import OFTEN
from .recorded_rules import recorded
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

    __slots__ = ("_back", "_parts", "_recorded", "forward", "function", "op", "reads")

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
        #: what is known of calls of the rule that are recorded, by the forms of what they take
        self._recorded: dict[Any, Any] = {}

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
        standing = [
            t if edge is None or edge is t else t.results(t.array, edge, False)
            for t, edge in zip(tensors, node.edges)
        ]

        within: Any = SimpleNamespace(recording=sweep.recording, results=sweep.results)

        def called(stands: Sequence[Any]) -> Any:
            by = dict(zip(map(id, tensors), stands))
            named = {name: by.get(id(value), value) for name, value in saved.named.items()}
            return self.function(*[by.get(id(value), value) for value in saved.args], **named)

        def again(arguments: Sequence[Any]) -> list[tuple[int, Any]]:
            *stands, flow = arguments
            with enable_grad():
                out = called(stands)
            part: Any = SimpleNamespace(edges=tuple([t.edge for t in stands]), site=node.site)
            return pulled_through(within, part, [out], {0: flow}, take)

        def noting(line: Noted, arguments: Sequence[Any]) -> list[tuple[int, Any]]:
            *values, flow = arguments
            stands = [Standing(line, v, t, t.stop) for v, t in zip(values, standing, strict=True)]
            flows = swept_back(line, line, {}, {id(called(stands).value): flow})
            places = [k for k, t in enumerate(standing) if not t.stop]
            places = [k for k in places if take is None or take[k]]
            return [(k, flows.get(id(values[k]))) for k in places]

        arguments = [*standing, cotangent]
        if not sweep.recording:
            return again(arguments)
        return recorded(self._recorded, self.op.type, noting, again, arguments, sweep.results, take)


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
        return None if forward is None else WrittenOut(function, forward, None, ())
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
    return WrittenOut(function, forward, _Back(back, [*reads, cotangent], tuple(gives)), places)
