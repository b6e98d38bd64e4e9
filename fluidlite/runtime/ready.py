"""A program made ready to be run again and again with the same feeds and fetches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..values import as_fetched
from .plan import Plan, Stretch
from .scope import Scope, ScopeVariable
from .specialise import Function


class Runs:
    """What an executor remembers of one program."""

    def __init__(self) -> None:
        #: how often it was run
        self.count = 0
        #: what random operators start from in place of this executor's own number
        self.seed: int | None = None
        #: by revision and fetched names
        self.plans: OrderedDict[Any, Plan] = OrderedDict()


class Ready:
    """Runs a program without the look-ups and checks that do not change from run to run.

    A run whose feeds have other shapes than the one before, and everything that is not a single
    stretch of kernels, goes the way of ``Executor.run``, with all its checks.  Made by
    ``Executor.prepare``.

    Args:
        run: runs the program in full, and gives the fetched values.
        plan: gives the plan that such a run uses; None when there is none yet.
        draw: gives a source of random numbers for the next run, by an operator's key.
        runs: what the executor remembers of the program.
        fetches: names.
        scope: where persistable variables are.
    """

    def __init__(
        self,
        run: Callable[[Mapping[str, Any]], list[Any]],
        plan: Callable[[], Plan | None],
        draw: Callable[[str], Any],
        runs: Runs,
        fetches: list[str],
        scope: Scope,
    ) -> None:
        self._runs = runs
        self._run = run
        self._find_plan = plan
        self._draw = draw
        self._fetches = fetches
        self._scope = scope
        self._plan: Plan | None = None
        self._function: Function | None = None
        #: shapes and element types of what is fed
        self._fed: dict[str, tuple[Any, Any]] = {}
        self._kept: list[tuple[str, ScopeVariable, Any, Any]] = []
        self._commits: list[tuple[str, ScopeVariable]] = []

    def __call__(self, feed: Mapping[str, Any]) -> list[Any]:
        """Run the program once.

        Args:
            feed: name of a data variable -> array.

        Returns:
            the fetched values; copies.

        Raises:
            FluidError: what ``Executor.run`` raises.
        """
        function, plan = self._function, self._plan
        if function is None or plan is None or plan is not self._find_plan():
            return self._in_full(feed)
        env: dict[str, Any] = {}
        fed = self._fed
        if len(feed) != len(fed):
            return self._in_full(feed)
        for name, value in feed.items():
            if type(value) is not np.ndarray or fed.get(name) != (value.shape, value.dtype):
                return self._in_full(feed)
            env[name] = value
        for name, variable, shape, dtype in self._kept:
            value = variable.value
            if type(value) is not np.ndarray or value.shape != shape or value.dtype != dtype:
                return self._in_full(feed)
            env[name] = value
        try:
            with np.errstate(all="ignore"):
                function(env, self._draw)
        except Exception:  # a run in full says what is wrong
            return self._in_full(feed)
        self._runs.count += 1
        results = [as_fetched(np.array(env[name])) for name in self._fetches]
        for name, variable in self._commits:
            new = env.pop(name)
            old, variable.value = variable.value, new
            plan.reuse(name, old)
        return results

    def _in_full(self, feed: Mapping[str, Any]) -> list[Any]:
        """Run the program as ``Executor.run`` does, and see what can be left out next time."""
        self._function = None
        results = self._run(feed)
        plan = self._find_plan()
        if plan is None or len(plan.items) != 1 or not isinstance(plan.items[0], Stretch):
            return results
        function = plan.items[0].last
        if not isinstance(function, Function) or not function.is_ready:
            return results
        names = set(feed)
        kept = [(n, self._scope.find_var(n)) for n in function.names if n not in names]
        written = [(n, self._scope.find_var(n)) for n in plan.commits]
        arrays = [np.asarray(value) for value in feed.values()]
        fits = all(type(v) is np.ndarray for v in feed.values()) and set(function.names) >= names
        if (
            fits
            and all(v is not None and type(v.value) is np.ndarray for _, v in (*kept, *written))
            and set(self._fetches) <= {*function.results, *function.names}
            and set(plan.commits) <= function.fresh
        ):
            self._plan, self._function = plan, function
            self._fed = {n: (a.shape, a.dtype) for n, a in zip(feed, arrays)}
            self._kept = [(n, v, v.value.shape, v.value.dtype) for n, v in kept if v is not None]
            self._commits = [(n, v) for n, v in written if v is not None]
        return results
