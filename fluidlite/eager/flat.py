"""Derivatives that are zero almost everywhere, where a spelling has them as zeros.

The gradient of ``relu`` is made of comparisons, through which nothing flows: it does not depend on
its input, and to differentiate it again would be an error.  Here what a rule gives is tied to the
values that the rule looks at, with a derivative of zero, of every order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backend import numpy_
from ..opdef.reverse_sweep import NodeOutput
from .mode import thread
from .nodes import GradNode, NamedStep, moment
from .pullback import Pullback
from .recording import TensorRecord, caller, rules
from .straight_line import ShapeDtype, shape_dtype_of

if TYPE_CHECKING:
    from .sweep import BackwardPass


def gradients(
    sweep: BackwardPass, node: GradNode, values: Sequence[Any], out: Any, cotangent: Any, take: Any
) -> list[tuple[int, Any]]:
    """Pairs of an input's place and its recorded cotangent, which depends on all that the rule
    reads.

    Args:
        sweep: a recorded one.
        node: of an operator with a rule.
        values: the inputs that the rule reads.
        out: the outputs that it reads.
        cotangent: what flows to the operator's outputs.
        take: for each input, whether to compute its cotangent; all when None.
    """
    how = node.how
    before = moment()
    pairs = how.gradients(rules, values, out, cotangent, take)
    saved = dict(zip((place for place, _ in how.keeps), values))
    flows = []
    for place, flow in pairs:
        if not isinstance(flow, (list, tuple)):
            recorded = (
                flow if isinstance(flow, TensorRecord) else sweep.results(numpy_.asarray(flow))
            )
            read = _tensors_read(_alone(how, place), saved, out)
            reached = _reached(recorded.edge, before) if read else ()
            flow = tied(recorded, [t for t in read if t.edge not in reached])
        flows.append((place, flow))
    return flows


@functools.lru_cache(512)
def _alone(how: Pullback, place: int) -> Pullback:
    """How cotangents pass an operator where one input alone wants one."""
    wanted = tuple(i == place for i in range(len(how.ins)))
    return Pullback(how.op, how.ins, how.outs, how.places, wanted)


def _tensors_read(how: Pullback, kept: dict[int, Any], out: Any) -> list[Any]:
    """The tensors whose values a rule looks at, and through which gradients may flow."""
    read = [kept.get(place) for place, form in how.keeps if form is None]
    if how.keeps_out:
        read += [out] if how.single else [out.get(slot) for slot in how.keeps_out]
    flat = [t for value in read for t in (value if isinstance(value, list) else [value])]
    return [t for t in flat if isinstance(t, TensorRecord) and t.edge is not None]


def _reached(edge: Any, before: int) -> set[Any]:
    """The edges that one leads to, by nodes that were made after a moment."""
    reached: set[Any] = set()
    stack = [edge]
    while stack:
        current = stack.pop()
        if current is None or current in reached:
            continue
        reached.add(current)
        node = (
            current
            if type(current) is GradNode
            else current.node
            if type(current) is NodeOutput
            else None
        )
        if node is not None and node.count > before and node.edges is not None:
            for further in node.edges:
                stack += further if type(further) is tuple else [further]
    return reached


def tied(tensor: Any, others: Iterable[Any]) -> Any:
    """A tensor that depends on others, too, with a derivative of zero."""
    others = list(others)
    if not others:
        return tensor
    forms = [ShapeDtype(t.array.shape, t.array.dtype) for t in others]
    edges = (tensor.edge, *(t.edge for t in others))
    return tensor.results(tensor.array, GradNode(_TIE, edges, forms, None, None, *caller()), False)


def kinked(x: Any) -> Any:
    """The tensor itself, for operators that are linear in it only until an element changes its
    place: their gradient depends on it, with a derivative of zero.
    """
    if x.stop or not thread.recording:
        return x
    node = GradNode(_KINK, (x.edge,), [shape_dtype_of(x.array)], None, None, *caller())
    return x.results(x.array, node, False)


class _Step(NamedTuple):
    """How cotangents pass a step: ``pull`` gives pairs of an input's place and its cotangent."""

    op: NamedStep
    pull: Callable[[BackwardPass, GradNode, Any, Any], list[tuple[int, Any]]]
    single: bool = True


def _past_tie(sweep: BackwardPass, node: Any, cotangent: Any, take: Any) -> list[tuple[int, Any]]:
    """Zeros for all inputs but the first."""
    found = [(0, cotangent)]
    found += [(k, _zeros(sweep, f, node.edges[k])) for k, f in enumerate(node.saved, 1)]
    return [(k, v) for k, v in found if node.edges[k] is not None and (not take or take[k])]


def _past_kink(sweep: BackwardPass, node: Any, cotangent: Any, take: Any) -> list[tuple[int, Any]]:
    """The pair of the only input and its cotangent."""
    if sweep.recording and sweep.results.flat_zeros:
        cotangent = tied(cotangent, [_Place(node.saved[0], node.edges[0])])
    return [(0, cotangent)]


_TIE = _Step(NamedStep("tied"), _past_tie)
_KINK = _Step(NamedStep("identity"), _past_kink)


def _zeros(sweep: BackwardPass, form: ShapeDtype, edge: Any) -> Any:
    """The derivative of a gradient that is constant between two places: depends on the place."""
    zeros = np.zeros(form.shape, form.dtype)
    if not sweep.recording or edge is None:
        return zeros
    return tied(sweep.results(zeros), [_Place(form, edge)])


class _Place(NamedTuple):
    """Stands for a tensor: its form, and its edge."""

    array: ShapeDtype
    edge: Any
