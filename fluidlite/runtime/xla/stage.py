"""Stages: steps in a row that JAX compiles as one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...ground.values import arrays_in
from ..step import Environment, Step
from .arrays import plain
from .interpreter import TracedEval
from .refusal import NotTraceable
from .rows import stored
from .trace import StepTrace

#: what a stage that draws nothing is given to start from
NO_SEED = np.uint32(0)
#: functions that a stage keeps; behind so many it begins anew, since each takes megabytes
MOST_SHAPES = 100


class CompiledStage:
    """Steps in a row that are compiled as one function of what they read.

    Args:
        steps: in order.
        backends: JAX's and NumPy's.
        placing: where values lie on a mesh of devices; None for one device.
        precision: of products.
        names_rows: whether a gradient of a table that it hands on says which rows it names.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        backends: tuple[Any, Any],
        placing: Any = None,
        precision: str = "highest",
        names_rows: bool = False,
    ) -> None:
        self._names_rows = names_rows
        self.steps: list[Step] = list(steps)
        self._backends = backends
        self._precision = precision
        self.backend: Any = backends[0]
        self.placing = placing
        reads: dict[str, None] = {}
        left: dict[str, None] = {}
        written: dict[str, None] = {}
        for step in steps:
            for name in (*step.reads, *(name for _, name in step.updates)):
                if name not in written:
                    reads[name] = None
            if step.instance.is_control:
                left.update((n, None) for n in step.writes if n not in written)
            written.update((n, None) for n in step.writes)
        freed = {name for step in steps for name in step.free}
        #: what it cannot do without, and what a control-flow operator may leave as it was before
        self.needs = reads
        self.reads: list[str] = list(reads | left)
        self.writes: list[str] = [name for name in written if name not in freed]
        self.free: list[str] = [
            name for name in self.reads if name in freed and name not in written
        ]
        self._functions: dict[Any, Any] = {}
        self.made: list[str] = []  #: the names of what is given back
        self.place: int = 0  #: the number of the step that is traced
        self.shapes: set[Any] = set()  #: that it has been compiled for
        self.draws: bool = False  #: whether it takes random numbers
        self.has_checks: bool = False  #: whether what it computes is right for some values only

    def __call__(
        self, env: Environment, number: Any, turns: Sequence[Any], donated: Mapping[str, Any]
    ) -> bool:
        """Compute the steps on values by name, which take the results.

        Args:
            env: the values.
            number: what random operators of this run start from.
            turns: the numbers of the passes through blocks around the stage.
            donated: those among the values whose memory may be used for results.

        Returns:
            whether the results are right; if not, a step refuses its inputs.

        Raises:
            NotTraceable: a step cannot be compiled; ``place`` is its number.
        """
        inputs = {n: v for n in self.reads if n not in donated and (v := env.get(n)) is not None}
        for name, value in inputs.items():
            if not isinstance(value, (np.ndarray, jax.Array, np.generic)):
                self.place = self._first_reader(name)
                raise NotTraceable(f"{name!r} is no tensor")
        if self.placing is not None:
            inputs = {name: self.placing.given(name, value) for name, value in inputs.items()}
        function = self.function(list(donated), list(inputs))
        values, truths = function(
            list(donated.values()), list(inputs.values()), np.uint32(number), tuple(turns)
        )
        if truths and not all(map(bool, truths)):
            return False
        env.update(stored(dict(zip(self.made, values, strict=True))))
        for name in self.free:
            env.pop(name, None)
        return True

    def function(
        self,
        first: Sequence[str],
        second: Sequence[str],
        checks: bool = True,
        numbered: bool = True,
        wanted: Sequence[str] | None = None,
        same: Mapping[str, str] | None = None,
    ) -> Any:
        """A compiled function of lists of values.

        Args:
            first: the names of what is donated.
            second: those of what else is given.
            checks: whether it looks at what must hold; if not, that has been done.
            numbered: whether it is given what random operators start from; only if there are
                none it need not be.
            wanted: the names of what it gives, as one list without truths; all when None.
            same: names of what is not given, since it is what another name has.

        Returns:
            a function of two lists of values and, where it is numbered, of the number that random
            operators start from and the numbers of passes, which gives a list of values (called
            ``made``) and the truths that must hold.
        """
        names = None if wanted is None else tuple(wanted)
        if len(self.shapes) > MOST_SHAPES:
            for each in self._functions.values():
                each.clear_cache()
            self._functions.clear()
            self.shapes.clear()
        pairs = tuple((same or {}).items())
        key = tuple(first), tuple(second), checks, numbered, names, pairs
        if key not in self._functions:

            def listed(donated: Any, given: Any, number: Any = NO_SEED, turns: Any = ()) -> Any:
                env = {**dict(zip(first, donated)), **dict(zip(second, given))}
                env |= {name: env[other] for name, other in pairs}
                results, truths = self.traced(dict(env), number, turns)
                truths = truths if checks else []
                if first and truths:  # what is donated must not be lost where a step refuses
                    truths = [jax.numpy.stack(truths).all()]
                    for name in results.keys() & set(first):
                        results[name] = jax.numpy.where(truths[0], results[name], env[name])
                if wanted is not None:
                    return [results[name] for name in wanted]
                self.made = list(results)
                return list(results.values()), truths

            self._functions[key] = jax.jit(listed, donate_argnums=(0,) if first else ())
        return self._functions[key]

    def _first_reader(self, name: str) -> int:
        return next(k for k, step in enumerate(self.steps) if name in (*step.reads, *step.writes))

    def traced(self, env: Environment, number: Any, turns: Any) -> tuple[dict[str, Any], list[Any]]:
        """What the steps make of values by name, and the truths that must hold; for JAX to trace.

        Args:
            env: the values.
            number: what random operators of this run start from.
            turns: the numbers of the passes through blocks around the stage.

        Raises:
            NotTraceable: a step cannot be compiled; ``place`` is its number.
        """
        backend, host = self._backends
        self.shapes.add(tuple((n, v.shape, v.dtype.name) for n, v in env.items()))
        if self.placing is not None:
            env = self.placing.placed(env)
        key = backend.run_key(number, turns)
        trace = StepTrace(TracedEval(backend, host), key, self._names_rows)
        with backend.checks.guard([]) as checks, backend.products(self._precision):
            for place, step in enumerate(self.steps):
                self.place = place
                trace.step(step, env)
        self.has_checks = bool(checks)
        self.draws = trace.draws
        self.place = next(
            (k for k, each in enumerate(self.steps) if trace.unsure & set(each.writes)), 0
        )
        if trace.unsure.intersection(self.writes):
            raise NotTraceable("what it writes is read later, and it may not be taken")
        made = {name: plain(env[name]) for name in self.writes if name in env}
        if self._names_rows:
            made |= trace.rows.of(made)
        return made if self.placing is None else self.placing.placed(made), list(checks)

    @property
    def size(self) -> int:
        """How many operators it has."""
        return len(self.steps)


def sized(env: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Bytes and names of values, the largest first."""
    sizes = [
        (getattr(value, "nbytes", 0) or sum(a.nbytes for a in arrays_in(value)), name)
        for name, value in env.items()
    ]
    return sorted(sizes, reverse=True)
