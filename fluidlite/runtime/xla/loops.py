"""Loops whose number of passes is known while they are traced, as ``lax.scan``: one pass is
compiled, however many there are.

What a pass counts by (its condition, and numbers that follow from nothing else) is computed while
the loop is traced, on NumPy.  The first pass stands for itself: behind it everything that goes
from pass to pass has its shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ground.values import LoDTensorArray, added
from ...ir.operator import EMPTY
from ...opdef.gradient import GRAD
from ..driver import Driver, Frame
from ..step import Environment, Step
from .arrays import StackedArray, spread, stacked
from .control import like_before
from .recurrence import ScannedPasses, is_known
from .refusal import NotTraceable

if TYPE_CHECKING:
    from .trace import StepTrace

FEW = 3  #: so many passes are unrolled
MOST = 20_000  #: more passes are not counted


class LoopPasses(Sequence[dict[str, Any]]):
    """What the passes of a loop keep for their gradients.

    Args:
        first: by name, of the first pass.
        rest: of the others.
    """

    def __init__(self, first: dict[str, Any], rest: ScannedPasses) -> None:
        self.first = first
        self.rest = rest

    def __len__(self) -> int:
        return 1 + len(self.rest)

    def __getitem__(self, k: Any) -> Any:
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        k %= len(self)
        return self.first if k == 0 else self.rest[k - 1]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[k] for k in range(len(self)))


jax.tree_util.register_pytree_node(
    LoopPasses,
    lambda passes: ((passes.first, passes.rest), None),
    lambda _, parts: LoopPasses(*parts),
)


@dataclass
class Counted:
    """What is known of the passes of a loop before it is compiled."""

    passes: int = 0
    #: what passes count by: the values with which each of them begins, and those behind the last
    begins: dict[str, list[Any]] = field(default_factory=dict)
    ends: dict[str, Any] = field(default_factory=dict)
    #: which elements of arrays have been written behind the last pass
    written: dict[str, set[int]] = field(default_factory=dict)
    #: arrays that passes only read
    read: set[str] = field(default_factory=set)


# -- counting --------------------------------------------------------------------------------------


def _counting(step: Step, env: Environment) -> tuple[list[Step], list[str]]:
    """The steps of a pass that count, and what goes from pass to pass."""
    body = step.body
    assert body is not None
    carried = {name for name in body.exports if is_known(env.get(name))}
    while True:
        known, unknown = set(carried), set(body.exports) - carried
        steps = []
        for body_step in body.steps:
            if _counts(body_step) and all(
                name in known or (name not in unknown and is_known(env.get(name)))
                for name in body_step.reads
            ):
                steps.append(body_step)
                known.update(body_step.writes)
                unknown.difference_update(body_step.writes)
            else:
                known.difference_update(body_step.writes)
                unknown.update(body_step.writes)
        if carried <= known:
            return steps, sorted(carried)
        carried &= known


def _counts(step: Step) -> bool:
    op = step.instance
    return not (op.is_control or op.random or step.updates or step.loss) and op.folds


def _needed(steps: Sequence[Step], body: Any, carried: Sequence[str]) -> list[Step]:
    """Those of the steps that what is passed on, and positions in arrays, depend on."""
    counting, selected = {id(each) for each in steps}, []
    needed = set(carried)
    for step in reversed(body.steps):
        if step.instance.type in _ON_ARRAYS:
            needed.update(step.op.inputs["I"])
        if id(step) in counting and needed.intersection(step.writes):
            needed.update(step.reads)
            selected.append(step)
    return selected[::-1]


def _counted(trace: StepTrace, step: Step, env: Environment) -> Counted | None:
    """What is known of the passes of a loop; None where nothing is.

    Raises:
        NotTraceable: what passes do with arrays is not known.
    """
    body = step.body
    assert body is not None
    (condition,) = step.op.inputs["Condition"]
    steps, carried = _counting(step, env)
    if condition not in carried:
        return None
    needed = {id(each) for each in _needed(steps, body, carried)}
    counted = Counted(begins={name: [] for name in carried})
    on_arrays = _array_steps(body, env, counted)
    shown = [each for each in body.steps if id(each) in needed or id(each) in on_arrays]
    values, apart = {name: env[name] for name in carried}, trace.apart()
    while bool(np.asarray(values[condition]).reshape(())):
        if counted.passes == MOST:
            return None
        counted.passes += 1
        frame = Frame(env, values)
        for name, value in values.items():
            counted.begins[name].append(np.asarray(value))
        for body_step in shown:
            if id(body_step) in needed:
                apart.compute(body_step, frame)
            if id(body_step) in on_arrays:
                _visit(body_step, frame, counted, env)
        values = {name: frame[name] for name in carried}
        if not all(map(is_known, values.values())):
            return None
    counted.ends = values
    return counted


_ON_ARRAYS = frozenset({"write_to_array", "read_from_array"})


def _array_steps(body: Any, env: Environment, found: Counted) -> set[int]:
    """The steps that write elements of arrays, or read them; notes which arrays these are."""
    visits = [each for each in body.steps if each.instance.type in _ON_ARRAYS]
    for step in visits:
        if step.instance.type == "write_to_array":
            name = step.op.outputs["Out"][0]
            held = env.get(name)
            items = () if held is None else held.items
            found.written[name] = {k for k, item in enumerate(items) if item is not None}
    local = [name for name in found.written if name not in body.exports]
    if local:
        raise NotTraceable(f"the array {local[0]!r} is made in a pass")
    for step in visits:
        if step.instance.type == "read_from_array":
            if step.op.inputs.get("X_W"):
                raise NotTraceable("gradients are read in a pass")
            name = step.op.inputs["X"][0]
            if name not in found.written:
                found.read.add(name)
    for step in body.steps:
        if step.instance.type not in _ON_ARRAYS:
            touched = found.written.keys() & {*step.reads, *step.writes}
            if touched:
                raise NotTraceable(f"{step.instance.type} takes the array {min(touched)!r}")
    return {id(each) for each in visits}


def _visit(step: Step, frame: Frame, found: Counted, env: Environment) -> None:
    """Follow which elements of arrays are there."""
    at = frame.get(step.op.inputs["I"][0])
    if not is_known(at):
        raise NotTraceable("a position in an array depends on values")
    position = int(at.reshape(()))
    if step.instance.type == "write_to_array":
        if position < 0:
            raise NotTraceable("a position in an array is negative")
        found.written[step.op.outputs["Out"][0]].add(position)
        return
    name = step.op.inputs["X"][0]
    if name in found.written:
        is_there = position in found.written[name]
    else:
        held = env.get(name)
        is_there = held is not None and held.item(position) is not None
    if not is_there:
        raise NotTraceable(f"the array {name!r} has no element {position}")


# -- passes ----------------------------------------------------------------------------------------


def _forward(trace: StepTrace, step: Step, run: Driver) -> bool:
    counted = _counted(trace, step, run.env)
    if counted is None or counted.passes <= FEW or run.body.overwritten:
        return False
    body, checks = run.body, trace.f.backend.checks
    frame = run.run_block()
    run.export(frame)
    first = run.saved(frame)
    arrays = {name: stacked(_array(run, name)) for name in counted.read}
    initial = _passed_on(run, counted)
    constant: dict[str, Any] = {}

    def one_pass(carry: Any, numbers: Any) -> Any:
        values, number, truth = carry
        frame = Frame(run.env, {**arrays, **numbers, **values})
        with checks.guard([]) as inner:
            trace.run(body, frame, number)
        news = {name: _like_before(name, frame[name], old) for name, old in values.items()}
        saved = {n: frame[n] for n in body.saved if n in frame and n not in body.exports}
        constant.update({name: value for name, value in saved.items() if is_known(value)})
        saved = {name: saved[name] for name in sorted(saved.keys() - constant.keys())}
        for each in inner:
            truth = truth & each
        return (news, number + 1, truth), saved

    numbers = {name: np.stack(values[1:]) for name, values in counted.begins.items()}
    begin = initial, jnp.ones((), "int32"), jnp.ones((), bool)
    (final, _, truth), saved = lax.scan(one_pass, begin, numbers)
    if trace.unsure.intersection(final):
        raise NotTraceable("what a branch writes is passed on, and it may not be taken")
    checks.get().append(truth)
    for name, value in final.items():
        if name in counted.written:
            there = counted.written[name]
            value = StackedArray(value.stacked, tuple(k in there for k in range(len(value))))
        run.set(name, value)
    run.env.update(counted.ends)
    rest = ScannedPasses(saved, constant, counted.passes - 1, False)
    run.set(run.names("outputs", "StepScopes")[0], LoopPasses(first, rest))
    return True


def _array(run: Driver, name: str) -> LoDTensorArray:
    found = run.find(name)
    if not isinstance(found, LoDTensorArray):
        raise NotTraceable(f"{name!r} is no array")
    return found


def _passed_on(run: Driver, counted: Counted) -> dict[str, Any]:
    """What the first pass hands on to the next, but for what passes count by."""
    carry: dict[str, Any] = {}
    for name in run.body.exports:
        if name in counted.begins:
            continue
        value = run.find(name)
        if name in counted.written:
            length = max(counted.written[name], default=-1) + 1
            carry[name] = StackedArray(stacked(_array(run, name), length).stacked)
        elif hasattr(value, "dtype") and hasattr(value, "shape"):
            carry[name] = jnp.asarray(value)
        else:
            raise NotTraceable(f"{name!r}, which a pass writes, is no tensor")
    return carry


def _like_before(name: str, value: Any, before: Any) -> Any:
    if not isinstance(before, StackedArray):
        return like_before(name, value, before)
    if not isinstance(value, StackedArray) or value.stacked.shape != before.stacked.shape:
        raise NotTraceable(f"the array {name!r} changes its length from pass to pass")
    return StackedArray(value.stacked)


# -- gradients -------------------------------------------------------------------------------------


def _gradient(trace: StepTrace, step: Step, run: Driver) -> bool:
    op: Any = step.instance
    passes = run.value(run.names("inputs", "StepScopes")[0])
    if not isinstance(passes, LoopPasses):
        return False
    names = run.names("inputs", "X")
    local = op.gradient_names({"X": names})
    flows = dict(
        zip(op.original_output_grad, map(run.value, run.names("inputs", "Out@GRAD")), strict=True)
    )
    forms = _forms(run, {**dict(zip(local, names)), **{n: n.removesuffix(GRAD) for n in flows}})
    fresh = dict.fromkeys(name for name in forms if name not in flows)
    carried = {n: spread(v, forms[n]) if n in forms else jnp.asarray(v) for n, v in flows.items()}
    checks = trace.f.backend.checks

    def whole(name: str, value: Any) -> Any:
        return spread(value, forms[name]) if name in forms else jnp.asarray(value)

    def pulled(carried: Any, number: Any, kept: Any) -> Any:
        """The gradients of what is passed on to a pass, and of what it reads besides."""
        frame = Frame(run.env, {**fresh, **kept, **carried})
        with checks.guard([]) as inner:
            trace.run(run.body, frame, number)
        news = {n: _like_before(n, whole(n, frame[n]), old) for n, old in carried.items()}
        local_values = {
            n: whole(n, v)
            for n in local
            if n not in carried and (v := dict.get(frame, n)) is not None
        }
        return news, local_values, inner

    rest = passes.rest
    shapes = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape[1:], v.dtype), rest.stacked)
    zero = jnp.zeros((), "int32")
    specs = jax.eval_shape(
        lambda c, n, k: pulled(c, n, {**rest.constant, **k})[1], carried, zero, shapes
    )
    sums = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), specs)

    def one_pass(carry: Any, kept: Any) -> Any:
        carried, sums, number, truth = carry
        news, gradients, inner = pulled(carried, number, {**rest.constant, **kept})
        for each in inner:
            truth = truth & each
        return (news, jax.tree.map(jnp.add, sums, gradients), number + 1, truth), None

    begin = carried, sums, zero, jnp.ones((), bool)
    (carried, sums, number, truth), _ = lax.scan(
        one_pass, begin, rest.stacked, length=len(rest), reverse=True
    )
    carried, gradients, inner = pulled(carried, number, passes.first)
    checks.get().extend([truth, *inner])
    for name, value in gradients.items():
        sums[name] = added(sums[name], value) if name in sums else value
    for name, out, x in zip(local, run.names("outputs", "X@GRAD"), names):
        if out != EMPTY:
            value = carried.get(name, sums.get(name))
            run.set(out, run.zeros_like(run.value(x)) if value is None else value)
    return True


SCANNED_LOOPS = {"while": _forward, "while_grad": _gradient}


def _forms(run: Driver, of: dict[str, str]) -> dict[str, StackedArray]:
    """By the name of a gradient, the array that it is of; of those that are of arrays."""
    forms = {}
    for name, x in of.items():
        held = run.find(x)
        if isinstance(held, LoDTensorArray):
            forms[name] = stacked(held)
    return forms
