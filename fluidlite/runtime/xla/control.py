"""Loops and branches whose conditions are not known while a function is traced, as JAX's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ir.operator import EMPTY
from ..driver import Driver, Frame
from ..step import Environment, Step
from .refusal import NotTraceable

if TYPE_CHECKING:
    from .trace import StepTrace


class Branch(NamedTuple):
    """What a branch keeps for its gradient: whether it ran, and the values of its block."""

    ran: Any
    kept: dict[str, Any]

    @property
    def on_host(self) -> dict[str, Any] | None:
        """The same as a step of the host keeps it."""
        return self.kept if bool(self.ran) else None


def control_flow(trace: StepTrace, step: Step, env: Environment) -> bool:
    """Put a loop, a branch or what joins branches into the function that is traced.

    Returns:
        whether the step is one of these.

    Raises:
        NotTraceable: it has no such form.
    """
    form = _FORMS.get(step.instance.type)
    if form is None:
        return False
    form(trace, step, Driver(trace, step, env), env)
    return True


def _loop(trace: StepTrace, step: Step, run: Driver, env: Environment) -> None:
    """``while``, where no gradient asks for its passes."""
    body = run.body
    if body.saved or body.overwritten:
        raise NotTraceable(
            "its passes are kept for gradients, and how many there are depends on values"
        )
    (condition,) = run.names("inputs", "Condition")
    carried = {name: env.get(name) for name in body.exports}
    for name, value in carried.items():
        if value is None:
            raise NotTraceable(f"{name!r} has no value before the first pass")
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            raise NotTraceable(f"{name!r}, which a pass writes, is no tensor")
    checks = trace.f.backend.checks

    def goes_on(state: Any) -> Any:
        return state[0][condition].reshape(())

    def one_pass(state: Any) -> Any:
        values, count, truth = state
        frame = Frame(env, values)
        with checks.guard([]) as inner:
            trace.run(body, frame, count)
        news = {name: like_before(name, frame[name], values[name]) for name in values}
        return news, count + 1, _all([truth, *inner])

    arrays = {name: jnp.asarray(value) for name, value in carried.items()}
    state = arrays, jnp.zeros((), "int32"), jnp.ones((), bool)
    final, _, truth = lax.while_loop(goes_on, one_pass, state)
    checks.get().append(truth)
    env.update(final)
    env[run.names("outputs", "StepScopes")[0]] = ()


def like_before(name: str, value: Any, before: Any) -> Any:
    """A value that a pass writes, as the next one reads it."""
    if getattr(value, "shape", None) != before.shape or value.dtype != before.dtype:
        raise NotTraceable(f"{name!r} changes its shape or element type from pass to pass")
    return jnp.asarray(value)


def _all(truths: list[Any]) -> Any:
    found = truths[0]
    for each in truths[1:]:
        found = found & each
    return found


def _branch(trace: StepTrace, step: Step, run: Driver, env: Environment) -> None:
    """``conditional_block``: what it does not write is zero until branches are joined."""
    body, checks = run.body, trace.f.backend.checks
    conditions = [jnp.asarray(run.value(name)) for name in run.names("inputs", "Cond")]
    if any(each.size != 1 for each in conditions):
        raise NotTraceable("a condition has several elements")
    ran = _all([each.reshape(()).astype(bool) for each in conditions])
    before = {name: v for name in body.exports if (v := env.get(name)) is not None}

    def taken() -> Any:
        frame = Frame(env)
        with checks.guard([]) as inner:
            trace.run(body, frame, 0)
        outs = {name: jnp.asarray(frame[name]) for name in body.exports if name in frame}
        kept = {name: frame[name] for name in sorted(body.saved) if name in frame}
        return outs, jax.tree.map(jnp.asarray, kept), _all([jnp.ones((), bool), *inner])

    outs, saved, _ = jax.eval_shape(taken)

    def not_taken() -> Any:
        old = {
            name: _same(name, before[name], spec) if name in before else _zeros(spec)
            for name, spec in outs.items()
        }
        return old, jax.tree.map(_zeros, saved), jnp.ones((), bool)

    made, held, truth = lax.cond(ran, taken, not_taken)
    checks.get().append(truth)
    env.update(made)
    trace.unsure.update(name for name in made if name not in before)
    env[run.names("outputs", "Scope")[0]] = Branch(ran, held)


def _zeros(spec: Any) -> Any:
    return jnp.zeros(spec.shape, spec.dtype)


def _same(name: str, value: Any, spec: Any) -> Any:
    if (value.shape, value.dtype) != (spec.shape, spec.dtype):
        raise NotTraceable(f"{name!r} has another shape where the branch is not taken")
    return jnp.asarray(value)


def _branch_gradient(trace: StepTrace, step: Step, run: Driver, env: Environment) -> None:
    """``conditional_block_grad`` of a branch that is part of the function."""
    branch = run.value(run.names("inputs", "Scope")[0])
    if not isinstance(branch, Branch):
        raise NotTraceable("its branch ran elsewhere")
    checks = trace.f.backend.checks
    inputs = run.names("inputs", "Input")
    passed = dict(zip(run.names("inputs", "Out"), run.names("inputs", "Out@GRAD"), strict=False))
    instance: Any = step.instance
    names = instance.gradient_names({"Input": inputs})
    wanted = [
        (out, x, name)
        for x, name, out in zip(inputs, names, run.names("outputs", "Input@GRAD"), strict=True)
        if out != EMPTY and getattr(run.find(x), "dtype", None) is not None
    ]

    def taken() -> Any:
        frame = Frame(env, branch.kept)
        with checks.guard([]) as inner:
            trace.run(run.body, frame, 0)
        found = {out: _gradient(frame.get(name), run.value(x)) for out, x, name in wanted}
        return found, _all([jnp.ones((), bool), *inner])

    def not_taken() -> Any:
        gradients = {
            out: _gradient(run.find(passed[x]) if x in passed else None, run.value(x))
            for out, x, _ in wanted
        }
        return gradients, jnp.ones((), bool)

    made, truth = lax.cond(branch.ran, taken, not_taken)
    checks.get().append(truth)
    env.update(made)


def _gradient(found: Any, like: Any) -> Any:
    if found is None:
        return jnp.zeros(like.shape, like.dtype)
    return jnp.asarray(found, like.dtype)


def _joined(trace: StepTrace, step: Step, run: Driver, env: Environment) -> None:
    """``select_input``: one of several values of one shape."""
    mask = _mask(trace, run)
    values = [run.find(name) for name in run.names("inputs", "X")]
    specs = {None if v is None else (v.shape, str(v.dtype)) for v in values}
    if len(specs) != 1 or None in specs:
        raise NotTraceable("the values that it chooses from are of several shapes")
    trace.f.backend.in_range(mask, len(values), "Mask")
    arrays = [jnp.asarray(value) for value in values]
    run.set(run.names("outputs", "Out")[0], lax.select_n(mask.astype("int32"), *arrays))


def _parted(trace: StepTrace, step: Step, run: Driver, env: Environment) -> None:
    """``select_output``: a value that goes to one of several; to the others go zeros."""
    mask, value = _mask(trace, run), run.find(run.names("inputs", "X")[0])
    if value is None:
        return
    for k, name in enumerate(run.names("outputs", "Out")):
        old = run.find(name)
        run.set(name, jnp.where(mask == k, value, jnp.zeros_like(value) if old is None else old))


def _mask(trace: StepTrace, run: Driver) -> Any:
    mask = run.value(run.names("inputs", "Mask")[0])
    if isinstance(mask, (np.ndarray, np.generic)):
        raise NotTraceable("the choice is known")
    if mask.size != 1:
        raise NotTraceable("Mask has several elements")
    return mask.reshape(())


_FORMS: Mapping[str, Any] = {
    "while": _loop,
    "conditional_block": _branch,
    "conditional_block_infer": _branch,
    "conditional_block_grad": _branch_gradient,
    "select_input": _joined,
    "select_output": _parted,
}
