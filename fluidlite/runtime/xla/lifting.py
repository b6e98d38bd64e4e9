"""Products of all passes of a scan as one: what does not depend on states is computed before the
scan, and gradients of parameters that passes would add up are computed behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import jax
from jax import numpy as jnp

from ...opdef.gradient import GRAD
from ..driver import Driver, Frame
from ..step import Step

if TYPE_CHECKING:
    from .trace import StepTrace


class ProductsAhead:
    """The products of a block that follow from sequences alone, for all of their steps.

    Args:
        run: of the operator that has the block.
        states: the names of what one pass hands on to the next.
        sequences: what passes take one step of, by name: [passes, ...].
    """

    def __init__(self, run: Driver, states: Collection[str], sequences: Mapping[str, Any]) -> None:
        self._run = run
        steps = run.body.steps
        times = Counter(name for each in steps for name in each.writes)
        #: the sequences whose names keep their values in a pass
        self.sequences: dict[str, Any] = {
            name: v for name, v in sequences.items() if name not in times
        }
        fixed, follows = {*states, *times}, set(self.sequences)
        seen = {*states, *sequences}  # what has another value before a step writes it
        lifted = []
        for step in steps:
            reads = set(step.reads)
            once = all(times[name] == 1 and name not in seen for name in step.writes)
            from_sequences = bool(reads & follows) and not (reads & fixed) - follows
            if from_sequences and once and _is_plain(step):
                follows.update(step.writes)
                lifted.append(step)
            seen |= reads
        self._steps = _needed(lifted)
        #: the numbers of the steps, by ``id``
        self.steps: frozenset[int] = frozenset(map(id, self._steps))

    def values(self, trace: StepTrace) -> tuple[dict[str, Any], list[Any]]:
        """What the products are, by name: [passes, ...], and the truths that must hold.

        Args:
            trace: computes steps.
        """
        if not self._steps:
            return {}, []

        def one(values: Mapping[str, Any]) -> Any:
            frame = Frame(self._run.env, values)
            with trace.f.backend.checks.guard([]) as inner:
                for step in self._steps:
                    trace.compute(step, frame)
            names = {name for each in self._steps for name in each.writes}
            return {name: frame[name] for name in sorted(names)}, list(inner)

        made, truths = jax.vmap(one)(self.sequences)
        return made, [each.all() for each in truths]


def _is_plain(step: Step) -> bool:
    op = step.instance
    return not (op.is_control or op.random or step.updates or step.loss)


def _needed(steps: list[Step]) -> list[Step]:
    """The products among steps, and what they depend on."""
    wanted: set[str] = set()
    needed = []
    for each in reversed(steps):
        if each.instance.multiplies() or wanted.intersection(each.writes):
            wanted.update(each.reads)
            needed.append(each)
    return needed[::-1]


class GradientsBehind:
    """The steps of a block of gradients that make gradients of parameters, as rows of all passes.

    Args:
        run: of the operator that has the block.
        parameters: the names of these gradients in the block.
        kept: what passes have kept, by name: [passes, ...].
    """

    def __init__(self, run: Driver, parameters: Iterable[str], kept: Mapping[str, Any]) -> None:
        self._run, self._kept = run, kept
        steps = run.body.steps
        times = Counter(name for each in steps for name in each.writes)
        read = {name for each in steps for name in each.reads}
        wanted = {name for name in parameters if times[name] == 1 and name not in read}
        computed, deferred = set(kept) - times.keys(), list[Step]()
        for step in steps:
            is_wanted = wanted.intersection(step.op.outputs.get("Y" + GRAD, ()))
            reads = {_only(step, slot) for slot in ("X", "Out" + GRAD)}
            if step.instance.type in _OF_ROWS and is_wanted and reads <= computed:
                deferred.append(step)
            computed |= {name for name in step.writes if times[name] == 1 and name not in kept}
        self._steps = deferred

    @property
    def reads(self) -> set[str]:
        """What has to be seen of each pass."""
        names = {_only(each, slot) for each in self._steps for slot in ("X", "Out" + GRAD)}
        return names - self._kept.keys()

    def choose(self, seen: Mapping[str, Any]) -> set[str]:
        """The gradients that can be made of rows, where one pass has such values.

        Args:
            seen: of one pass, by name.
        """
        forms = {name: value[0] for name, value in self._kept.items()} | dict(seen)
        self._steps = [each for each in self._steps if self._fits(each, forms)]
        return {_only(each, "Y" + GRAD) for each in self._steps}

    def _fits(self, step: Step, forms: Mapping[str, Any]) -> bool:
        x, out = (forms.get(_only(step, slot)) for slot in ("X", "Out" + GRAD))
        y, op = self._run.env.get(_only(step, "Y")), step.instance
        if x is None or out is None or x.ndim != 2 or out.ndim != 2 or op.derived_from is None:
            return False
        axis = getattr(op.like(op.derived_from), "axis", -1)
        return getattr(y, "ndim", 0) == _OF_ROWS[op.type] and axis in (-1, 1)

    def gradients(self, trace: StepTrace, seen: Mapping[str, Any]) -> dict[str, Any]:
        """The gradients, by name.

        Args:
            trace: computes operators.
            seen: of all passes, by name: [passes, ...].
        """
        values, gradients = {**self._kept, **seen}, {}
        for step in self._steps:
            ins = {"Y": self._run.env[_only(step, "Y")]}
            for slot in ("X", "Out" + GRAD):
                value = jnp.asarray(values[_only(step, slot)])
                ins[slot] = value.reshape(-1, value.shape[-1])
            made = trace.f.apply(step.instance, ins, ["Y" + GRAD])
            gradients[_only(step, "Y" + GRAD)] = made["Y" + GRAD]
        return gradients


#: of operators, those whose gradient of Y is a sum over the rows of matrices; dimensions of that Y
_OF_ROWS = {"mul_grad": 2, "elementwise_add_grad": 1}


def _only(step: Step, slot: str) -> str:
    names = step.op.inputs.get(slot) or step.op.outputs.get(slot) or ("",)
    return names[0]


class WatchedFrame(Frame):
    """The values of one pass, some of which are seen behind it.

    Args:
        names: of these.
        outer, values: of :class:`Frame`.
    """

    __slots__ = ("_names", "seen")

    def __init__(self, names: Collection[str], outer: Any, values: Mapping[str, Any]) -> None:
        super().__init__(outer, values)
        self._names = names
        self.seen: dict[str, Any] = dict[str, Any]()

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name in self._names:
            self.seen[name] = value
