"""A program that is one compiled stage, bound to a scope: what is called from the first run on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain, islice
from operator import attrgetter, is_, itemgetter
from sys import getrefcount
from typing import Any

import jax
import numpy as np

from ...errors import OpError
from ...ground.values import as_fetched, is_device_array, on_host
from ...scope import Scope, ScopeVariable, at_once
from ..run_state import RunState
from .guard import guard_of
from .mesh import is_own
from .powers import same_powers
from .stage import NO_SEED, CompiledStage


class BoundStage:
    """A compiled stage with its variables found in a scope.

    What the run replaces is donated to it where nothing can fail behind that: what must hold of its
    inputs is looked at before it runs, where that follows from what is fed.  Elsewhere the function
    looks at it, and nothing is donated.

    Args:
        stage: all of the program.
        feed: what was fed to the run before: names, shapes and element types.
        names: what is fetched, and what goes to the scope.
        variables: of the scope, by name.
        state: counts the runs.
        device: where it runs; JAX's default when None.
        turn: held while it runs.
        donates: whether what is replaced is donated.
        guard: what says of the values that are fed whether the stage takes them; None where the
            stage looks at them.
        numbered: whether the stage is given what random operators start from.
        same: of what is replaced, names of variables that share the values of others.
    """

    def __init__(
        self,
        stage: CompiledStage,
        feed: Mapping[str, Any],
        names: tuple[Sequence[str], Sequence[str]],
        variables: Mapping[str, ScopeVariable],
        state: RunState,
        device: Any,
        turn: AbstractContextManager[Any],
        donates: bool,
        guard: Callable[..., Any] | None = None,
        numbered: bool = True,
        same: Mapping[str, str] | None = None,
    ) -> None:
        same = same or {}
        fetches, commits = names
        self._state, self._stage = state, stage
        #: held while it runs
        self.turn = turn
        self._fed = [(name, value.shape, value.dtype) for name, value in feed.items()]
        read = [n for n in stage.reads if n in variables and n not in feed and n not in same]
        known = {name: k for k, name in enumerate(read)}
        # JAX gives the memory of what is donated to results of that shape in their order
        commits = sorted(commits, key=lambda name: known.get(name, len(known)))
        replaced = set(commits).difference(same.values()) if donates else set()
        self._donated = [variables[name] for name in read if name in replaced]
        self._kept = [variables[name] for name in read if name not in replaced]
        replacing = [variables[name] for name in commits]
        # the first of what is made is there when the function has run: then runs are counted
        self._targets: list[Any] = [*replacing[:1], state, *replacing[1:]]
        self._attributes = ["count" if each is state else "value" for each in self._targets]
        others = [*feed, *(v.name for v in self._kept)]
        self._names = [v.name for v in self._donated], others
        self._guard = guard
        self._numbered, self._donates = numbered, donates
        self._fetched, self._wanted = fetches, [*commits, *fetches]
        result_names = [name for name in commits if name not in same] + [*fetches]
        order = result_names if donates else None
        self._function = stage.function(*self._names, not donates, numbered, order, same)
        self._sharing = [variables[name] for name in same]
        self._shared = [variables[name] for name in same.values()]
        #: gives each variable its part of what is made
        self._spread = itemgetter(*(result_names.index(same.get(n, n)) for n in self._wanted))
        self._is_warm = False
        self._kinds = [type(each.value) for each in self._donated]
        self._given = None if stage.placing is None else stage.placing.given
        self._is_shared = stage.placing is not None and stage.placing.is_shared
        backend = stage.backend
        self._wide = backend.wide if device is None else partial(backend.wide_on, device)
        #: where what is to be committed and fetched is among what is made
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
        with self.turn:
            return self._run(feed, number)

    def _run(self, feed: Mapping[str, Any], number: int | None) -> list[Any] | None:
        """Run the stage in its turn."""
        if len(feed) != len(self._fed):
            return None
        inputs: list[Any] = []
        place = self._given
        for name, shape, dtype in self._fed:
            value = feed.get(name)
            if type(value) is not np.ndarray or value.shape != shape:
                return None
            if value.dtype is not dtype and value.dtype != dtype:
                return None
            inputs.append(value if place is None else place(name, value))
        inputs += map(_value, self._kept)
        if self._is_shared and any(map(is_own, inputs)):
            return None  # the other processes may have another value
        donated = list(map(_value, self._donated))
        # nobody but the scope may hold what is donated, and each array once
        if donated and (
            max(map(getrefcount, donated)) > _IN_SCOPE or [*map(type, donated)] != self._kinds
        ):
            return None
        if self._sharing and not self._share():
            return None
        try:
            with self._wide():
                if self._guard is not None and not self._guard(*inputs[: len(self._fed)]):
                    return None
                others = _NOTHING  # as columns of arguments
                if self._numbered:
                    others = ((NO_SEED if number is None else np.uint32(number),), ((),))
                if not self._donates:
                    values, truths = self._function(donated, inputs, *(each for (each,) in others))
                    return self._committed(values, truths)
                if not self._is_warm:  # JAX runs Python code the first time, and an interrupt may
                    donated = [each.copy() for each in donated]  # end that
                # one call of C runs the function and commits: an interrupt finds nothing done, or
                # all; what is fetched is left over
                called = map(self._function, (donated,), (inputs,), *others)
                if self._sharing:
                    called = map(self._spread, called)
                results = chain.from_iterable(called)
                news = chain(islice(results, 1), (self._state.count + 1,), results)
                at_once(setattr, self._targets, self._attributes, news)
                self._is_warm = True
                return self._handed_out(results)
        except Exception as error:
            if lost := [v.name for v in self._donated if _is_deleted(v.value)]:
                raise OpError(
                    f"the device failed while it ran {self._stage.size} operators that end with "
                    f"{self._stage.steps[-1].op}, and the values that these replace are lost: "
                    f"{', '.join(lost[:5])}{', ...' * (len(lost) > 5)}; run the startup program "
                    f"again, or load what has been saved\n  {str(error).partition(chr(10))[0]}"
                ) from error
            return None  # a planned run says what is wrong

    def _handed_out(self, values: Iterable[Any]) -> list[Any]:
        """Values as they are fetched."""
        found = map(on_host, values) if self._is_shared else values
        return [as_fetched(np.array(value)) for value in found]

    def _share(self) -> bool:
        """Let variables share the values of others, if they have the same; whether they do."""
        if all(map(is_, map(_value, self._sharing), map(_value, self._shared))):
            return True
        pairs = list(zip(self._sharing, self._shared, strict=True))
        values = [(np.asarray(one.value), np.asarray(other.value)) for one, other in pairs]
        if not all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in values):
            return False
        for one, other in pairs:
            one.value = other.value
        return True

    def _committed(self, values: list[Any], truths: list[Any]) -> list[Any] | None:
        """Give variables their new values; the fetched ones, or None where a step refuses them."""
        places = self._places or self._found()
        if places is None:
            return None
        count = len(self._targets) - 1
        if truths and not all(map(bool, truths)):
            return None
        news: list[Any] = [values[k] for k in places[:count]]
        news.insert(1, self._state.count + 1)
        at_once(setattr, self._targets, self._attributes, news)
        return self._handed_out(values[k] for k in places[count:])

    def _found(self) -> list[int] | None:
        """The targets' places among what the stage makes; None if one is missing."""
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
            what JAX gives for its function; None where that cannot be done, or a target is
            not made.
        """
        placing = self._stage.placing
        fed = [(name, feed[name]) for name, *_ in self._fed]
        inputs = [v if placing is None else placing.given(n, v) for n, v in fed]
        inputs += [v.value for v in self._kept]
        donated = [v.value for v in self._donated]
        try:
            with self._wide():
                numbers = (NO_SEED, ()) if self._numbered else ()
                traced = self._function.trace(donated, inputs, *numbers)
        except Exception:
            return None
        return None if self._found() is None else traced


def _is_deleted(value: Any) -> bool:
    return is_device_array(value) and value.is_deleted()


_value = attrgetter("value")
_NOTHING: tuple[Any, ...] = ()


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
    """A stage bound to a scope; None where something of it is no array, or is missing."""
    fetches, commits = names
    needed = {*(name for name in stage.needs if name not in feed), *commits}
    variables = {name: v for name in needed if (v := scope.find_var(name)) is not None}
    if len(variables) < len(needed) or any(name in stage.needs for name in fetches):
        return None
    values = {name: v.value for name, v in variables.items()}
    if not all(isinstance(v, np.ndarray) or is_device_array(v) for v in values.values()):
        return None
    turn = scope.turns.updates if commits else nullcontext()
    how = stage, feed, names, variables, state, device, turn
    made = BoundStage(*how, donates=False)
    traced = made.trace(feed)
    if traced is None:
        return None
    # on several devices each has a share of what is fed
    guard = guard_of(traced, range(len(feed))) if commits and stage.placing is None else None
    with stage.backend.wide_on(device):
        placing = stage.placing
        for name in stage.reads:
            held = variables[name].value if name in variables else None
            if isinstance(held, np.ndarray):
                where = None if placing is None else placing.sharding(name, held.shape)
                variables[name].value = placed(held, where)
    donates = bool(commits) and (guard is not None or not stage.has_checks)
    same = {}
    if donates and stage.placing is None:
        same = same_powers(stage.steps, {name: v.value for name, v in variables.items()})
    return BoundStage(*how, donates=donates, guard=guard, numbered=stage.draws, same=same)
