"""Gradient rules that are recorded, to be differentiated again, each as one node.

A rule that is called often on tensors of the same forms is gone through once more on values without
elements, and written out: one function of arrays for its operators, and one for their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..opdef.reverse_sweep import NodeOutput
from .inner_sweep import pulled_through
from .mode import enable_grad, thread
from .nodes import GradNode, NamedStep
from .noting import Noted, swept_back
from .pullback import OFTEN, Pullback
from .recording import TensorRecord, caller, observed, rules
from .straight_line import AbstractValue, ShapeDtype, StraightLine, shape_dtype_of, spec_of
from .sweep import BackwardPass, overwritten

MOST_ELEMENTS = 1 << 18  #: of a tensor, up to which operators run as one
MOST_FORMS = 256  #: of a rule's arguments that are kept
#: a rule on a line: pairs of an input's place and its cotangent
Noting = Callable[[Noted, Sequence[Any]], Sequence[tuple[int, Any]]]
#: the same on tensors
Again = Callable[[Sequence[Any]], Sequence[tuple[int, Any]]]
_ndarray = np.ndarray


class _Saved(NamedTuple):
    """What the gradients of a call need."""

    arguments: list[Any]
    arrays: list[Any]  #: of the arguments, as they were
    versions: list[int]
    values: Sequence[Any]  #: arrays that were computed on the way
    again: Again


class RecordedRule:
    """A rule for arguments of certain forms; stands in place of a gradient rule, too.

    Args:
        name: what messages call it.
        noting: the rule.
        arguments: tensors, arrays, and forms of those that the rule does not read.

    Raises:
        NotStraight: it cannot be written out.
    """

    __slots__ = (
        "_backs", "_computed", "_kept", "_line", "_mirrors", "_reads", "_values", "_wants",
        "flowing", "flows", "forward", "op", "pairs", "single",
    )  # fmt: skip

    def __init__(self, name: str, noting: Noting, arguments: Sequence[Any]) -> None:
        self._line = line = Noted()
        self._values = [
            line.value(spec_of(_form(a)), "form" if type(a) is ShapeDtype else "value")
            for a in arguments
        ]
        self._wants = [isinstance(a, TensorRecord) and not a.stop for a in arguments]
        line.flowing.update(id(v) for v, want in zip(self._values, self._wants) if want)
        numbers = {id(v): k for k, v in enumerate(self._values)}
        self._computed: list[AbstractValue] = []
        #: of each cotangent: the input's place, and its number among arguments and results
        self.pairs: list[tuple[int, int]] = []
        for place, flow in noting(line, self._values):
            if flow is None:
                continue
            if id(flow) not in numbers:
                numbers[id(flow)] = len(arguments) + len(self._computed)
                self._computed.append(flow)
            self.pairs.append((place, numbers[id(flow)]))
        self.op = NamedStep(name)
        self.single = len(self._computed) == 1
        #: the numbers of results that gradients flow through
        self.flowing = [k for k, v in enumerate(self._computed) if id(v) in line.flowing]
        self._backs: dict[tuple[int, ...], Any] = {}
        self._kept: list[Any] = []
        self._reads: list[int] = []
        back, gives, _, self._mirrors = self._swept(self.flowing)
        self.flows = [v is not None for v in gives]
        read = back.touched.union(v.origin for v in gives if v is not None and v.origin is not None)
        made = [v for step in line.steps for v in step.outs.values() if v is not None]
        self._kept = [v for v in made if v.name in read]
        self._reads = [k for k, v in enumerate(self._values) if v is not None and v.name in read]
        takes = [v for v, a in zip(self._values, arguments) if _is_value(a)]
        self.forward: Any = line.function(takes, (*self._computed, *self._kept))
        forms = {k for k, a in enumerate(arguments) if not _is_value(a)}
        is_whole = len(read) == len(self._kept) + len(self._reads)  # else a form is read
        if "form" in line.touched or forms.intersection(self._reads) or not is_whole:
            self.forward = None
        if self.forward is not None and self._back(tuple(self.flowing)) is None:
            self.forward = None

    def _swept(self, flowing: Sequence[int]) -> tuple[StraightLine, list[Any], list[Any], Any]:
        """The operators of the gradients, the cotangents of the arguments and those that come."""
        back, mirrors = StraightLine(), dict[int, Any]()
        comes = [back.value(self._computed[k].spec) for k in flowing]
        ids = [id(self._computed[k]) for k in flowing]
        flows = swept_back(self._line, back, mirrors, dict(zip(ids, comes)))
        gives = [flows.get(id(v)) if want else None for v, want in zip(self._values, self._wants)]
        return back, gives, comes, mirrors

    def _back(self, flowing: tuple[int, ...]) -> Any:
        """What computes the cotangents of the arguments."""
        if flowing not in self._backs:
            back, gives, comes, mirrors = self._swept(flowing)
            read = (*[self._values[k] for k in self._reads], *self._kept)
            takes = [*[mirrors.get(id(v)) for v in read], *comes]
            self._backs[flowing] = back.function(takes, tuple(gives))
        return self._backs[flowing]

    def call(self, arguments: Sequence[Any], again: Again, results: Any) -> list[tuple[int, Any]]:
        """Pairs of an input's place and its recorded cotangent.

        Args:
            arguments: of the forms of the first ones.
            again: the rule on tensors.
            results: the class of tensors that are made.
        """
        arrays = [
            a.array if isinstance(a, TensorRecord) else a
            for a in arguments
            if a is not None and type(a) is not ShapeDtype
        ]
        values: Sequence[Any] = thread.run(self.forward, *arrays)
        first, count = len(arguments), len(self._computed)
        tensors: list[Any] = [*arguments, *map(results, values[:count])]
        if self.flowing:
            edges = tuple([a.edge if f else None for a, f in zip(arguments, self.flows)])
            versions = [getattr(a, "version", 0) for a in arguments]
            held = [a.array if isinstance(a, TensorRecord) else a for a in arguments]
            saved = _Saved(list(arguments), held, versions, values[count:], again)
            node = GradNode(self, edges, saved, None, None, *caller())
            for k in self.flowing:
                edge = node if self.single else NodeOutput(node, k)
                tensors[first + k] = results(values[k], edge, False)
        return [(place, tensors[k]) for place, k in self.pairs]

    def pull(
        self, sweep: BackwardPass, node: GradNode, cotangent: Any, take: tuple[bool, ...] | None
    ) -> list[tuple[int, Any]]:
        """Pairs of an argument's place and its cotangent."""
        saved: _Saved = node.saved
        arguments = saved.arguments
        came: Mapping[int, Any] = {0: cotangent} if self.single else cotangent
        is_plain = sweep.plain and all(type(v) is _ndarray for v in came.values())
        for k in self._reads:
            if getattr(arguments[k], "version", 0) != saved.versions[k]:
                raise overwritten(node, arguments[k], arguments[k].version)
        if is_plain:
            read = [arguments[k] for k in self._reads]
            arrays = [a.array if isinstance(a, TensorRecord) else a for a in read]
            flowing = tuple(came)
            line = self._back(flowing)
            if line is not None:
                flows = line(*arrays, *saved.values, *came.values())
                pairs = enumerate(flows)
                return [p for p in pairs if p[1] is not None and (take is None or take[p[0]])]
        standing = [
            apart(a, array, edge, version) if isinstance(a, TensorRecord) else a
            for a, array, edge, version in zip(arguments, saved.arrays, node.edges, saved.versions)
        ]
        with enable_grad():
            pairs_again = saved.again(standing)
        made = {k: flow for (_, flow), (_, k) in zip(pairs_again, self.pairs, strict=True)}
        outs = [made[len(arguments) + k] for k in range(len(self._computed))]
        return pulled_through(sweep, node, outs, came, take)


def _form(argument: Any) -> Any:
    return shape_dtype_of(argument.array if isinstance(argument, TensorRecord) else argument)


def apart(tensor: Any, array: Any, edge: Any, version: int) -> Any:
    """A tensor as it was when a node was made: itself, or one of its edge and value then."""
    is_new = tensor.version == version
    if is_new and (edge is None or edge is tensor):
        return tensor
    return tensor.results(tensor.array if is_new else array, edge, edge is None)


def _is_value(argument: Any) -> bool:
    return argument is not None and type(argument) is not ShapeDtype


def noted(
    line: Noted, how: Pullback, saved: Sequence[Any], out: Any, flow: Any, take: Any
) -> list[tuple[int, Any]]:
    """Pairs of an input's place and its cotangent, of an operator with one output, on a line.

    Args:
        line: takes what the rule applies.
        how: the rule.
        saved, out, flow: the inputs that are kept, the output and its cotangent, as values.
        take: for each input, whether to compute its cotangent; all when None.
    """
    ins = dict(zip([a.of for a in type(how.op).rule_arguments if a.source == "in"], saved))
    (name,) = [slot.name for slot in how.op.outputs]
    pairs = how.on_line(line, ins, {name: out}, {name: flow})
    return [pair for pair in pairs if take is None or take[pair[0]]]


class RecordedPass(BackwardPass):
    """A sweep that is recorded, with one node for each rule."""

    def recorded(
        self, how: Pullback, values: list[Any], outs: Any, cotangent: Any, take: Any
    ) -> list[tuple[int, Any]]:
        def again(arguments: Sequence[Any]) -> Sequence[tuple[int, Any]]:
            *saved, out, flow = arguments
            return how.gradients(rules, saved, out, flow, take)

        def noting(line: Noted, arguments: Sequence[Any]) -> Sequence[tuple[int, Any]]:
            *saved, out, flow = arguments
            return noted(line, how, saved, out, flow, take)

        if not how.single or (outs is None and how.keeps_out):
            return how.gradients(rules, values, outs, cotangent, take)
        out = how.outs[how.op.outputs[0].name] if outs is None else outs
        arguments = [*values, out, cotangent]
        return recorded(
            how.recorded_rules, how.op.type, noting, again, arguments, self.results, take
        )


def recorded(
    known: dict[Any, Any],
    name: str,
    noting: Noting,
    again: Again,
    arguments: Sequence[Any],
    results: Any,
    more: Any = None,
) -> list[tuple[int, Any]]:
    """Pairs of an input's place and its recorded cotangent.

    Args:
        known: what is known by forms of arguments.
        name: what messages call the rule.
        noting: the rule on a line.
        again: the rule on tensors.
        arguments: tensors, arrays, and forms of those that the rule does not read.
        results: the class of tensors that are made.
        more: what else the rule depends on.
    """
    if not records_rules():
        return list(again(arguments))
    key: list[Any] = [more]
    for a in arguments:
        if isinstance(a, TensorRecord):
            key.append((a.array.shape, a.array.dtype, a.stop))
        elif type(a) is _ndarray or type(a) is ShapeDtype:
            key.append((type(a), a.shape, a.dtype))
        elif a is None:
            key.append(None)
        else:
            return list(again(arguments))
    rule = rule_of(known, tuple(key), name, noting, arguments)
    if rule is not None:
        with suppress(Exception):  # the operators say what is wrong
            return rule.call(arguments, again, results)
    return list(again(arguments))


def records_rules() -> bool:
    """Whether several operators may be recorded as one."""
    return not (observed() or thread.packing is not None or thread.anomaly)


def rule_of(
    known: dict[Any, Any], key: Any, name: str, noting: Noting, arguments: Sequence[Any]
) -> RecordedRule | None:
    """The rule that a key stands for, from the call on by which it is called often.

    Args:
        known: what is known by keys.
        key: of all that the rule depends on.
        name, noting, arguments: as of :class:`RecordedRule`.
    """
    rule = known.get(key)
    if rule is None or (type(rule) is int and rule < OFTEN):
        if len(known) >= MOST_FORMS:
            known.clear()
        known[key] = (rule or 0) + 1
    elif rule == OFTEN:
        rule = known[key] = _written(name, noting, arguments) or OFTEN + 1
    return rule if type(rule) is RecordedRule else None


def _written(name: str, noting: Noting, arguments: Sequence[Any]) -> RecordedRule | None:
    arrays = [a.array if isinstance(a, TensorRecord) else a for a in arguments]
    if any(type(a) is _ndarray and a.size > MOST_ELEMENTS for a in arrays):
        return None
    try:
        rule = RecordedRule(name, noting, arguments)
    except Exception:  # it wants elements, or is not for values without them
        return None
    return None if rule.forward is None or not rule._computed else rule
