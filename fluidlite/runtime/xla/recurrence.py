"""Recurrent networks as ``lax.scan``: one pass is compiled, however long the sequences are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ir.operator import EMPTY
from ...opdef.gradient import GRAD
from ..driver import Driver, Frame
from ..step import Step
from .control import like_before
from .lifting import GradientsBehind, ProductsAhead, WatchedFrame

if TYPE_CHECKING:
    from .trace import StepTrace


class ScannedPasses(Sequence[dict[str, Any]]):
    """What the passes of a scan keep for their gradients, stacked; as a sequence, pass by pass.

    Args:
        stacked: values by name, [passes, ...], in the order of the sequences.
        constant: values by name that are the same in every pass.
        count: how many passes there are.
        reverse: whether the last step of the sequences is the first pass.
    """

    def __init__(
        self, stacked: dict[str, Any], constant: dict[str, Any], count: int, reverse: bool
    ) -> None:
        self.stacked = stacked
        self.constant = constant
        self._count = count
        self.reverse = reverse

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        if not -self._count <= k < self._count:
            raise IndexError(k)
        k %= self._count
        at = self._count - 1 - k if self.reverse else k
        return {**self.constant, **jax.tree.map(lambda v: v[at], self.stacked)}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[k] for k in range(self._count))

    @property
    def form(self) -> tuple[int, bool]:
        """What is no array."""
        return self._count, self.reverse


jax.tree_util.register_pytree_node(
    ScannedPasses,
    lambda passes: ((passes.stacked, passes.constant), passes.form),
    lambda form, values: ScannedPasses(*values, *form),
)


def is_known(value: Any) -> bool:
    """Whether a value does not depend on what the function is given."""
    return isinstance(value, (np.ndarray, np.generic))


def _length(sequences: Sequence[Any]) -> int:
    """The number of steps of sequences; 0 where they are not of one length."""
    lengths = {value.shape[0] for value in sequences}
    return lengths.pop() if len(lengths) == 1 else 0


def _forward(trace: StepTrace, step: Step, run: Driver) -> bool:
    op: Any = step.instance
    sequences = {n: jnp.asarray(run.value(n)) for n in run.names("inputs", "inputs")}
    count = _length(list(sequences.values()))
    if count < 2:
        return False
    outputs = run.names("outputs", "outputs")
    initial = [jnp.asarray(run.value(n)) for n in run.names("inputs", "initial_states")]
    checks, constant = trace.f.backend.checks, dict[str, Any]()
    ahead = ProductsAhead(run, op.ex_states, sequences)
    products, truths = ahead.values(trace)
    same, names = {**ahead.sequences, **products}, set[str]()

    def one_pass(carry: Any, values: Any) -> Any:
        states, number, truth = carry
        frame = Frame(run.env, {**values, **dict(zip(op.ex_states, states, strict=True))})
        with checks.guard([]) as inner:
            trace.run(run.body, frame, number, ahead.steps)
        news = [
            like_before(name, frame[name], old) for name, old in zip(op.states, states, strict=True)
        ]
        kept = run.saved(frame)
        constant.update({name: value for name, value in kept.items() if is_known(value)})
        names.update(kept)
        stacked = {n: kept[n] for n in sorted(kept.keys() - constant.keys() - same.keys())}
        made = [jnp.asarray(frame[name]) for name in outputs]
        return (news, number + 1, _all(truth, inner)), (made, stacked)

    (finals, _, truth), (results, stacked) = lax.scan(
        one_pass, (initial, *_before()), {**sequences, **products}, reverse=op.reverse
    )
    checks.get().extend([truth, *truths])
    stacked |= {name: same[name] for name in same.keys() & names - constant.keys()}
    for name, value in zip(outputs, results, strict=True):
        run.set(name, value)
    for name, value in zip(run.names("outputs", "final_states"), finals):
        run.set(name, value)
    passes = ScannedPasses(stacked, constant, count, op.reverse)
    run.set(run.names("outputs", "step_scopes")[0], passes)
    return True


def _gradient(trace: StepTrace, step: Step, run: Driver) -> bool:
    op: Any = step.instance
    passes = run.value(run.names("inputs", "step_scopes")[0])
    if not isinstance(passes, ScannedPasses):
        return False
    names = {slot: run.names("inputs", slot) for slot in op.differentiated}
    local = op.gradient_names(names)
    of_inputs, of_parameters = local[: len(names["inputs"])], local[len(names["inputs"]) :]
    given = zip(run.names("inputs", "outputs"), run.names("inputs", "outputs@GRAD"), strict=False)
    seeds = {name + GRAD: jnp.asarray(run.value(g)) for name, g in given if g != EMPTY}
    initial = [run.value(n) for n in run.names("inputs", "initial_states")]
    carried = [jnp.zeros(v.shape, v.dtype) for v in initial]
    for k, name in enumerate(run.names("inputs", "final_states@GRAD")):
        if name != EMPTY:
            carried[k] = jnp.asarray(run.value(name))
    checks = trace.f.backend.checks
    behind = GradientsBehind(run, of_parameters, passes.stacked)
    watched = behind.reads

    def pulled(states: Any, number: Any, values: Any) -> Any:
        """The gradients of the states before a pass, of its inputs and of parameters."""
        kept, fed = values
        own = dict(zip((name + GRAD for name in op.states), states, strict=True))
        frame = WatchedFrame(watched, run.env, {**passes.constant, **kept, **fed, **own})
        with checks.guard([]) as inner:
            trace.run(run.body, frame, number)
        news = [
            like_before(name, frame[name + GRAD], old)
            for name, old in zip(op.ex_states, states, strict=True)
        ]
        gradients = {n: jnp.asarray(v) for n in local if (v := dict.get(frame, n)) is not None}
        return news, gradients, inner, {n: v for n, v in frame.seen.items() if hasattr(v, "ndim")}

    rows = passes.stacked, seeds
    first = jax.tree.map(lambda v: v[0], rows)
    specs, seen = jax.eval_shape(lambda *a: pulled(*a)[1::2], carried, _before()[0], first)
    in_rows = behind.choose(seen)
    summed = [name for name in of_parameters if name in specs and name not in in_rows]
    sums = {name: jnp.zeros(specs[name].shape, specs[name].dtype) for name in summed}

    def one_pass(carry: Any, values: Any) -> Any:
        states, number, truth, sums = carry
        news, step_gradients, inner, seen = pulled(states, number, values)
        sums = {name: before + step_gradients[name] for name, before in sums.items()}
        parts = {name: step_gradients[name] for name in of_inputs if name in step_gradients}
        return (news, number + 1, _all(truth, inner), sums), (
            parts,
            {name: seen[name] for name in sorted(behind.reads)},
        )

    (carried, _, truth, sums), (parts, seen) = lax.scan(
        one_pass, (carried, *_before(), sums), rows, reverse=not passes.reverse
    )
    checks.get().append(truth)
    slots = [*zip(of_inputs, names["inputs"], run.names("outputs", "inputs@GRAD"), strict=False)]
    outs = run.names("outputs", "parameters@GRAD")
    slots += zip(of_parameters, names["parameters"], outs, strict=False)
    gradients = {**parts, **sums, **behind.gradients(trace, seen)}
    for name, x, out in slots:
        if out != EMPTY:
            run.set(out, gradients[name] if name in gradients else run.zeros_like(run.value(x)))
    for out, value in zip(run.names("outputs", "initial_states@GRAD"), carried, strict=False):
        run.set(out, value)
    return True


SCANNED_NETWORKS = {"recurrent": _forward, "recurrent_grad": _gradient}


def _before() -> tuple[Any, Any]:
    """The number of the first pass, and the truth that none has refused its inputs."""
    return jnp.zeros((), "int32"), jnp.ones((), bool)


def _all(truth: Any, others: Sequence[Any]) -> Any:
    for each in others:
        truth = truth & each
    return truth
