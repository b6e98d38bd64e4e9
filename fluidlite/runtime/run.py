"""A run of a program: its targets, what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ..errors import FeedTypeError, FetchError
from ..ground.values import LoDTensor, on_host
from ..ir.operator import EMPTY
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..scope import Scope, global_scope
from .feeding import (
    check_named_sizes,
    fed_value,
    handed_out,
    misfit,
    no_such_name,
    of_another_shape,
    owned,
    unknown_name,
    unset,
)
from .plan import Plan, pruned_to
from .run_state import Wanted, fetch_names
from .step import Environment


class Run:
    """One run of a program.

    Args:
        program: the program.
        fetch_list, scope, return_numpy: as of :meth:`~fluidlite.Executor.run`.
        feed: the same; of several devices, a list of those of each.
        use_prune: whether only what the fetched values need runs, also where there is no operator
            among them.
        guard: whether to look for values that are not finite.
        keeps_plan: whether the plan is kept for the next run of the same.
    """

    __slots__ = ("feed", "guard", "keeps_plan", "program", "return_numpy", "scope", "wanted")

    def __init__(
        self,
        program: Program,
        fetch_list: Sequence[Variable | str] | Variable | str | None,
        feed: Any = None,
        scope: Scope | None = None,
        use_prune: bool = False,
        guard: bool = False,
        return_numpy: bool = True,
        keeps_plan: bool = True,
    ) -> None:
        names, targets = fetch_names(fetch_list, program)
        part = None
        if use_prune or targets:
            batches = feed if isinstance(feed, (list, tuple)) else [feed or ()]
            given = (name for each in batches if isinstance(each, Iterable) for name in each)
            part = pruned_to(program, targets, given)
        self.program: Program = program
        self.feed: Any = feed
        self.guard: bool = guard
        self.wanted: Wanted = (tuple(names), part)
        self.scope: Scope = global_scope() if scope is None else scope
        self.return_numpy: bool = return_numpy
        self.keeps_plan: bool = keeps_plan

    def with_feed(self, feed: Any, guard: bool = False) -> Run:
        """The same run with another feed."""
        made = copy(self)
        made.feed, made.guard = feed, guard
        return made

    def follow_schedules(self) -> None:
        """Set the variables whose numbers schedules give."""
        for name, number in self.program.schedules.items():
            variable = self.program.global_block().vars.get(name)
            if variable is not None:
                value = np.full(variable.shape, number(), variable.dtype.dtype)
                self.scope.var(name).get_tensor().set(value)

    @staticmethod
    def fed_by_loader(feed: list[Any]) -> Any:
        """What a loader for one place gives, as a dictionary of arrays; other lists as they are."""
        if len(feed) != 1 or type(feed[0]) is not dict:
            return feed
        return {
            name: value.data if type(value) is LoDTensor and not value.offsets else value
            for name, value in feed[0].items()
        }

    def fed(self) -> tuple[Environment, dict[str, str]]:
        """The fed arrays by name, and what is doubtful about them: a text for each such name.

        What is fed to a variable that is not ``need_check_feed`` goes in as it comes, as in fluid
        1.8; names that the program does not have are left out.

        Raises:
            FeedTypeError: what is fed is no array.
            FeedError: it does not fit a variable that is checked, or nothing feeds a name.
        """
        feed = self.feed
        if feed is None:
            return {}, {}
        if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], Mapping):
            feed = feed[0]
        if not isinstance(feed, Mapping):
            raise FeedTypeError(
                f"expected feed to be a dictionary of names and arrays, got {type(feed).__name__}"
            )
        known = self.program.global_block().vars
        env: Environment = {}
        doubts: dict[str, str] = {}
        named: list[tuple[Variable, Any]] = []
        for name, value in feed.items():
            variable = known.get(name)
            if variable is None:
                doubts[name] = unknown_name(name, self.program)
                continue
            env[name] = fed = fed_value(variable, value)
            data = fed.data if isinstance(fed, LoDTensor) else fed
            doubt = misfit(variable, data)
            if variable.size_names:
                named.append((variable, data))
            if doubt is not None:
                doubts[name] = doubt
        if named:
            check_named_sizes(named)
        return env, doubts

    def take_persistables(
        self, plan: Plan, env: Environment, to_host: bool = True
    ) -> dict[str, str]:
        """Put what the operators read and nothing computes into the environment.

        Args:
            plan: of the program.
            env: values by name.
            to_host: whether to fetch what lies on a device.

        Returns:
            what to say of values in the scope that have another shape than their variables.

        Raises:
            FeedError: a data variable was not fed.
            NotInitializedError: a persistable variable has no value.
        """
        doubts: dict[str, str] = {}
        shapes, scope = plan.shapes, self.scope
        for name, op in plan.needs.items():
            if name in env:
                continue
            value = scope.value(name) if name in plan.persistable else None
            if value is None and (value := unset(name, op)) is EMPTY:
                continue
            value = env[name] = on_host(value) if to_host else value
            if name in shapes and value.__class__ is np.ndarray and value.shape != shapes[name]:
                doubts[name] = of_another_shape(name, op, value, shapes[name], scope)
        for name in plan.open:
            if name not in env and (value := scope.value(name)) is not None:
                env[name] = value
        return doubts

    def without_value(self, written: set[str], env: Environment) -> dict[str, str]:
        """What to say of names that are to be fetched and will have no value; they give None, as in
        fluid 1.8.  Nothing is said of persistable variables.

        Args:
            written: names that operators write.
            env: values by name.

        Raises:
            FetchError: the program has no variable of a name.
        """
        doubts: dict[str, str] = {}
        known = self.program.global_block().vars
        for name in self.wanted[0]:
            if name in env or name in written or self.scope.value(name) is not None:
                continue
            if name not in known:
                raise FetchError(no_such_name(name, known, "fetch"))
            if known[name].is_data:
                doubts[name] = f"data variable {name!r} is fetched and was not fed; it gives None"
            elif not known[name].persistable:
                doubts[name] = (
                    f"nothing computes variable {name!r}, which is fetched; it gives None"
                )
        return doubts

    def fetched(self, name: str, env: Environment) -> Any:
        """A copy of a fetched value as the user wants to have it; None if there is none.

        As an array, a gradient has no sequences: those of its variable are known.
        """
        value = env[name] if name in env else self.scope.value(name)
        if self.return_numpy and type(value) is LoDTensor and name.endswith("@GRAD"):
            value = value.data
        return handed_out(name, value, self.return_numpy)

    def kept_values(
        self, commits: Iterable[str], env: Environment, given: Environment
    ) -> tuple[Environment, bool]:
        """What variables of the scope hold after a run, by name: what operators wrote to
        persistable variables, and what was fed to them.  Parameters keep their element type.

        Args:
            commits: the variables that operators may have written.
            env: values by name.
            given: those that were fed.

        Returns:
            the values, and whether they are what the operators wrote, as it is.
        """
        known = self.program.global_block().vars
        written = [n for n in commits if n in env]  # others are of branches that were not taken
        fed = [n for n in given if known[n].persistable and n not in written]
        outside = {id(v.data if isinstance(v, LoDTensor) else v) for v in given.values()}
        news = {name: owned(env[name], outside) for name in (*written, *fed)}
        as_is = not fed
        for name, new in news.items():
            old = self.scope.value(name) if isinstance(known.get(name), Parameter) else None
            if type(old) is type(new) is np.ndarray and old.dtype != new.dtype:
                news[name], as_is = new.astype(old.dtype), False
        return news, as_is
