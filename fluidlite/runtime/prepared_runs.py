"""Prepared runs: a function of the feeds, for loops over many small steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..compiler import CompiledProgram, program_and_feed
from ..ground import state
from ..ground.process_group import groups
from ..ground.tracebacks import quick_api_boundary
from ..ir.program import Program
from ..ir.variable import Variable
from ..profiler import active
from ..scope import Scope
from .bound import bound_call
from .executor_state import ExecutorState
from .feeding import check_names
from .finite import NAN_INF, checks_nan_inf
from .run import Run
from .run_state import RunState, fetch_names


class KeptCall:
    """The bound call of a prepared run, kept where nothing can replace it but a change of the
    program or of the names in the scope.

    Args:
        asked: what is run, but for the feed.
        backend: whose random numbers are drawn.
        engine: that runs programs in place of NumPy; None where NumPy does.
    """

    __slots__ = ("_backend", "_engine", "asked", "changes", "draw", "revision", "run")

    def __init__(self, asked: Run, backend: Any, engine: Any) -> None:
        self.asked: Run = asked
        self._backend = backend
        self._engine = engine
        #: the revisions of program and scope for which it is what the next run would take
        self.revision: int = -1
        self.changes: int = -1
        #: as of :class:`BoundCall`, where it is valid
        self.run: Any = None
        self.draw: Callable[..., Any] | None = None

    def find(self, key: Any) -> None:
        """Keep the call that the next run would take.

        Args:
            key: of what the program remembers for the executor; None where that was closed.
        """
        program, scope = self.asked.program, self.asked.scope
        state: RunState | None = program.remembered.get(key)
        plan = None if state is None else state.plans.get((program.revision, self.asked.wanted))
        self.revision = -1
        if state is None or plan is None:
            return
        if self._engine is not None:
            self.run = self._engine.bound_run(plan, self.asked, state)
        else:
            call = None if plan.reading.steps else bound_call(plan, scope)
            if call is None or plan.compiled.improvement is not None:
                return
            self.run = call.run
            self.draw = partial(state.draw, program, self._backend) if call.draws else None
        if self.run is not None:
            self.revision, self.changes = program.revision, scope.revision


class PreparesRuns(ExecutorState):
    """What an executor does with programs that are prepared."""

    def prepare(
        self,
        program: Program | CompiledProgram | None = None,
        feed_names: Sequence[str] = (),
        fetch_list: Sequence[Variable | str] | Variable | str | None = None,
        scope: Scope | None = None,
    ) -> Callable[[Mapping[str, Any]], list[Any]]:
        """A function of the feeds that runs a program, for loops over many small steps.

        It leaves out what need not be looked up and checked again; shapes and element types of the
        feeds are still checked.

        Args:
            program: what to run; the default main program when None.
            feed_names: the data variables that will be fed.
            fetch_list: variables to fetch, or their names.
            scope: where persistable variables are kept; the global scope when None.

        Returns:
            a function of a dictionary of feeds, which gives the fetched values.

        Raises:
            FeedError: the program has no data variable of a name.
            FetchError: the program has no variable of a fetched name.

        >>> x = fluid.data("x", [None, 2], "float32")
        >>> y = fluid.layers.reduce_sum(x)
        >>> step = fluid.Executor().prepare(feed_names=["x"], fetch_list=[y])
        >>> step({"x": np.ones([3, 2], "float32")})
        [array([6.], dtype=float32)]
        """
        program, _ = program_and_feed(program)
        fetches, _ = fetch_names(fetch_list, program)
        check_names(program, feed_names, fetches)
        asked = Run(program, fetches, scope=scope)
        return self._step(KeptCall(asked, self._backend, self._engine))

    def _step(self, kept: KeptCall) -> Callable[[Mapping[str, Any]], list[Any]]:
        """What runs a program that is prepared: a function of its own, which is called at once."""
        program, scope = kept.asked.program, kept.asked.scope
        flags = state.flag_values.get

        @quick_api_boundary
        def step(feed: Mapping[str, Any]) -> list[Any]:
            if program.schedules:
                kept.asked.follow_schedules()
            if (
                kept.revision == program.revision
                and kept.changes == scope.revision
                and type(feed) is dict
                and not (self._key is None or self._check or self.profile)
                and not (active.is_set and active.get())
                and not (groups.is_set and groups.get().size != 1)
                and not flags().get(NAN_INF)
            ):
                found: list[Any] | None = kept.run(feed, kept.draw)
                if found is not None:
                    return found
            return self._run_and_keep(kept, feed)

        return step

    def _run_and_keep(self, kept: KeptCall, feed: Mapping[str, Any]) -> list[Any]:
        results = self._run(kept.asked.with_feed(feed, checks_nan_inf()))
        kept.find(self._key)
        return results
