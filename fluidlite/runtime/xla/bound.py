"""A program that is one compiled stage, bound to a scope: what is called from the first run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any

import jax
import numpy as np

from ...scope import Scope, ScopeVariable, at_once
from ...values import as_fetched, is_device_array
from ..run_state import RunState
from .guard import guard_of
from .stage import CompiledStage


class BoundStage:
    """A compiled stage with its variables found in a scope.

    What the run replaces is donated to it.  What must hold of its inputs is looked at before it
    runs, where that follows from what is fed; elsewhere the function looks at it, and gives back
    what it was given where it does not hold.

    Args:
        stage: all of the program.
        feed: what was fed to the run before: names, shapes and element types.
        names: what is fetched, and what goes to the scope.
        variables: of the scope, by name.
        state: counts the runs.
        device: where it runs; JAX's default when None.
        donates: whether what is replaced is donated.
        guard: what says of the values that are fed whether the stage takes them; None where the
            stage looks at them.
        numbered: whether the stage is given what random operators start from.
    """

    def __init__(
        self,
        stage: CompiledStage,
        feed: Mapping[str, Any],
        names: tuple[Sequence[str], Sequence[str]],
        variables: Mapping[str, ScopeVariable],
        state: RunState,
        device: Any,
        donates: bool,
        guard: Callable[..., Any] | None = None,
        numbered: bool = True,
    ) -> None:
        fetches, commits = names
        self._state, self._stage, self._device = state, stage, device
        self._fed = [(name, value.shape, value.dtype) for name, value in feed.items()]
        read = [name for name in stage.reads if name in variables and name not in feed]
        replaced = set(commits) if donates else set()
        self._donated = [variables[name] for name in read if name in replaced]
        self._kept = [variables[name] for name in read if name not in replaced]
        self._targets: list[Any] = [*(variables[name] for name in commits), state]
        self._attributes = [*["value"] * len(commits), "count"]
        others = [*feed, *(v.name for v in self._kept)]
        self._names = [v.name for v in self._donated], others
        self._guard = guard
        self._function = stage.function(*self._names, guard is None, numbered)
        self._numbered = numbered
        self._kinds = {type(variable.value) for variable in self._donated}
        #: of what is to be fetched and committed: its name, and where it is among what is made
        self._wanted = [*commits, *fetches]
        self._places: list[int] = []

    @property
    def draws(self) -> bool:
        """Whether it takes random numbers."""
        return self._stage.draws

    def takes(self, feed: Mapping[str, Any]) -> bool:
        """Whether it is bound for values of these shapes."""
        return len(feed) == len(self._fed) and all(
            name in feed and (feed[name].shape, feed[name].dtype) == (shape, dtype)
            for name, shape, dtype in self._fed
        )

    def __call__(self, feed: Mapping[str, Any], number: int | None) -> list[Any] | None:
        """Run the stage and commit its results.

        Args:
            feed: values by name.
            number: what random operators of the run start from.

        Returns:
            the fetched values; None, and nothing is committed, where the run has to be planned.
        """
        if len(feed) != len(self._fed):
            return None
        given: list[Any] = []
        placing = self._stage.placing
        for name, shape, dtype in self._fed:
            value = feed.get(name)
            if type(value) is not np.ndarray or value.shape != shape or value.dtype != dtype:
                return None
            given.append(value if placing is None else placing.given(name, value))
        given += map(_value, self._kept)
        donated = list(map(_value, self._donated))
        # nobody but the scope may hold what is donated, and each array once
        if donated and (max(map(getrefcount, donated)) > _IN_SCOPE or not self._are_alike(donated)):
            return None
        made: list[Any] = []
        fetched = None
        try:
            with self._stage.backend.wide_on(self._device):
                if self._guard is not None and not self._guard(*given[: len(self._fed)]):
                    return None
                # one call of C: an interrupt finds nothing done, or the results
                if self._numbered:
                    start = _ZERO if number is None else np.uint32(number)
                    made.extend(map(self._function, [donated], [given], [start], [()]))
                else:
                    made.extend(map(self._function, [donated], [given]))
        except Exception:
            if any(v.is_deleted() for v in donated):
                raise
            return None  # a planned run says what is wrong
        finally:
            if made:
                fetched = self._committed(*made[0])
        return fetched

    def _are_alike(self, donated: list[Any]) -> bool:
        """Whether values are arrays on the device, as they were."""
        return {*map(type, donated)} == self._kinds

    def _committed(self, values: list[Any], truths: list[Any]) -> list[Any] | None:
        """Give variables their new values; the fetched ones, or None where a step refuses them."""
        places = self._places or self._found()
        if places is None:
            return None
        count = len(self._targets) - 1
        if truths and not all(map(bool, truths)):
            self._keep(values, places)
            return None
        news: list[Any] = [values[k] for k in places[:count]]
        news.append(self._state.count + 1)
        at_once(setattr, self._targets, self._attributes, news)
        return [as_fetched(np.array(values[k])) for k in places[count:]]

    def _keep(self, values: list[Any], places: list[int]) -> None:
        """Let variables whose arrays were donated have what these held."""
        held = {id(variable) for variable in self._donated}
        pairs = [(v, values[k]) for v, k in zip(self._targets, places) if id(v) in held]
        at_once(setattr, [v for v, _ in pairs], ["value"] * len(pairs), [v for _, v in pairs])

    def _found(self) -> list[int] | None:
        """Where what is wanted stands among what the stage makes; None where it is not there."""
        made = self._stage.made
        if not set(self._wanted) <= set(made):
            return None
        self._places = [made.index(name) for name in self._wanted]
        return self._places

    def trace(self, feed: Mapping[str, Any]) -> Any:
        """Trace the stage once.

        Args:
            feed: values by name.

        Returns:
            what JAX gives for its function; None where that cannot be done, or what is wanted is
            not made.
        """
        placing = self._stage.placing
        fed = [(name, feed[name]) for name, *_ in self._fed]
        given = [v if placing is None else placing.given(n, v) for n, v in fed]
        given += [v.value for v in self._kept]
        donated = [v.value for v in self._donated]
        try:
            with self._stage.backend.wide_on(self._device):
                numbers = (_ZERO, ()) if self._numbered else ()
                traced = self._function.trace(donated, given, *numbers)
        except Exception:
            return None
        return None if self._found() is None else traced


_ZERO = np.uint32(0)


_value = attrgetter("value")


def _in_scope() -> int:
    """What Python counts of a value that a variable and a list hold."""
    variables = [ScopeVariable("", object())]
    return max(map(getrefcount, list(map(_value, variables))))


_IN_SCOPE = _in_scope()


def placed(value: Any, where: Any) -> Any:
    """An array on devices.

    Args:
        value: of NumPy, the same in all processes.
        where: its sharding; None for one device.
    """
    if where is None:
        return jax.device_put(value)
    return jax.make_array_from_callback(value.shape, where, lambda index: value[index])


def bound(
    stage: CompiledStage,
    feed: Mapping[str, Any],
    names: tuple[Sequence[str], Sequence[str]],
    scope: Scope,
    state: RunState,
    device: Any,
) -> BoundStage | None:
    """A stage bound to a scope; None where something of it is no array, or is not there."""
    fetches, commits = names
    needed = {*(name for name in stage.reads if name not in feed), *commits}
    variables = {name: v for name in needed if (v := scope.find_var(name)) is not None}
    if len(variables) < len(needed) or any(name in stage.reads for name in fetches):
        return None
    values = {name: v.value for name, v in variables.items()}
    if not all(isinstance(v, np.ndarray) or is_device_array(v) for v in values.values()):
        return None
    how = stage, feed, names, variables, state, device
    made = BoundStage(*how, donates=False)
    traced = made.trace(feed)
    if traced is None:
        return None
    # on several devices each has a share of what is fed
    guard = guard_of(traced, range(len(feed))) if commits and stage.placing is None else None
    with stage.backend.wide_on(device):
        placing = stage.placing
        for name in stage.reads:
            held = None if name in feed else variables[name].value
            if isinstance(held, np.ndarray):
                where = None if placing is None else placing.sharding(name, held.shape)
                variables[name].value = placed(held, where)
    return BoundStage(*how, donates=bool(commits), guard=guard, numbered=stage.draws)
