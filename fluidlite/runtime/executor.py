"""Running programs.

Each run takes the highest tier that it can; all of them compute the same values:

1. **interpreted**: operator by operator (``session.py``), the first time that values have these
   shapes, and where somebody looks at each operator;
2. **compiled**: each segment of operators is one function (``segment.py``, ``compile.py``), from
   the second time on; from the first on where it reads 32 MiB or more, or has many convolutions;
3. **bound**: a program that is one compiled segment is called with its inputs and results already
   found in the scope (``bound.py``), from the time after that on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler import CompiledProgram, Feeds, program_and_feed
from ..ground.callsite import warn
from ..ground.place import Place
from ..ground.process_group import groups
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ground.tracebacks import quick_api_boundary
from ..ir.program import Program
from ..ir.variable import Variable
from ..profiler import active
from ..scope import Scope
from .bound import bind, run_bound
from .feeding import frozen
from .finite import checks_nan_inf
from .from_dataset import RunsDatasets
from .plan import Plan
from .prepared_runs import PreparesRuns
from .random_state import KeepsRandomState
from .replicated import Replicas
from .run import Run
from .run_state import RunState
from .session import Observer, Session
from .step import Environment
from .traced_runs import TracesRuns
from .turn import Commit, in_turn

if TYPE_CHECKING:
    from .in_place import PendingUpdates
    from .passes.form import Pass


@answers_protected
@quick_api_boundary
class Executor(PreparesRuns, RunsDatasets, KeepsRandomState, TracesRuns, Described):
    """Runs programs.

    With ``FLUIDLITE_CHECK=1`` in the environment each run interprets a program, looks for NaN after
    each operator, and compares with what the compiled plan computes.

    Args:
        place: the CPU, or None for it; or a CUDA device that JAX sees.
        profile: whether to take the time of each operator; ``profile`` then has a table of them.
        passes: which passes rewrite plans: names (``"-gemm_batching"``: all but that one), or
            passes of ``fluidlite.runtime.passes`` in order; what ``FLUIDLITE_PASSES`` says when
            None.
        backend: "numpy" or "jax"; what ``FLUIDLITE_BACKEND`` says when None, or NumPy.
        precision: on JAX that of products: "highest", "high", "default", or "bfloat16"; what
            ``FLUIDLITE_JAX_PRECISION`` says when None, or "highest".

    Raises:
        ArgumentError: the place is not available, or there is no pass or backend of a name.
        UnsupportedError: JAX is not installed, or does not see the place.

    >>> main, startup = fluid.Program(), fluid.Program()
    >>> with fluid.program_guard(main, startup):
    ...     x = fluid.data("x", [None, 2], "float32")
    ...     y = fluid.layers.reduce_sum(x * 2.0)
    >>> exe = fluid.Executor(fluid.CPUPlace())
    >>> exe.run(main, feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
    [array([12.], dtype=float32)]
    """

    _shown = "passes= profile= backend=_engine"

    def __init__(
        self,
        place: Place | None = None,
        profile: bool = False,
        passes: str | Sequence[Pass] | None = None,
        backend: str | None = None,
        precision: str | None = None,
    ) -> None:
        super().__init__(place, profile, passes, backend, precision)

    def run(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Feeds | None = None,
        fetch_list: Sequence[Variable | str] | Variable | str | None = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = True,
        return_merged: bool = True,
        use_prune: bool = False,
        check_nan_inf: bool | None = None,
    ) -> list[Any]:
        """Run a program from its first operator to its last.

        Parameters and other persistable variables take their new values together at the end: where
        an operator fails, all of them stay as they were.

        Args:
            program: what to run; the default main program when None.
            feed: name of a variable -> array or LoDTensor.  For ``fluid.data``, shape and element
                type must be the declared ones; elsewhere operators compute with what is fed, and a
                warning says where that is unlike its declaration.  What is fed to a persistable
                variable stays in the scope.  A compiled program with data parallelism also takes a
                list of such dictionaries.
            fetch_list: variables to fetch, or their names; also in lists of lists.
                With what ``minimize`` gave, or some of its operators, only these run, and what they
                and the fetched variables need.
            feed_var_name, fetch_var_name: accepted for old scripts.
            scope: where persistable variables are kept; the global scope when None.
            return_numpy: give arrays, lists of them for arrays of tensors; when False, LoDTensors,
                lists of them, and SelectedRows where only some rows are stored.
            return_merged: with several devices, join their values; when False, give lists of them.
            use_program_cache: keep the plan for the next run with the same feeds and fetches.
            use_prune: run only what the fetched variables and the optimizers need.
            check_nan_inf: look for values that are not finite in what each operator computes; as
                ``FLAGS_check_nan_inf`` says when None.

        Returns:
            the values of ``fetch_list``, in its order; copies, and None for variables that have no
            value.

        Raises:
            FeedError: a fed name, shape or element type does not fit, or a data variable is not
                fed.
            FetchError: the program has no variable of a fetched name.
            NotInitializedError: a parameter has no value; the startup program has not been run.
            NonFiniteError: there is a value that is not finite; names the operator it comes from.
            FluidError: an operator failed; says which, with what shapes, and where it was made.
        """
        guard = checks_nan_inf() if check_nan_inf is None else check_nan_inf
        if type(program) is not Program:
            if isinstance(program, CompiledProgram) and program.device_count > 1:
                run = Run(program.program, fetch_list, feed, scope, use_prune, guard, return_numpy)
                run.follow_schedules()
                return self._run_replicated(program, run, return_merged)
            program, feed = program_and_feed(program, feed)
        if isinstance(feed, list):
            feed = Run.fed_by_loader(feed)
        run = Run(
            program, fetch_list, feed, scope, use_prune, guard, return_numpy, use_program_cache
        )
        if run.program.schedules:
            run.follow_schedules()
        return self._run(run, fetch_list)

    def _run_replicated(
        self, compiled: CompiledProgram, run: Run, return_merged: bool
    ) -> list[Any]:
        """Run a program on several devices."""
        known = self._known(run.program)
        strict = "infinity" if run.guard else ""
        session = partial(self._session, run.program, known, strict=strict)
        kind = Replicas if self._engine is None else self._engine.replicas
        found: list[Any] = kind(compiled, run, known, session).run(return_merged)
        return found

    def _run(self, run: Run, fetch_list: Any = None) -> list[Any]:
        program = run.program
        known: RunState | None = program.remembered.get(self._key)
        plan = None if known is None else known.plans.get((program.revision, run.wanted))
        group = groups.get()
        begun = group.begin_run()
        try:
            feed = run.feed
            is_plain = (feed is None or type(feed) is dict) and run.return_numpy
            if known and plan and is_plain and not (run.guard or self._looks):
                if not plan.steps and not feed and not run.wanted[0]:
                    known.count += 1
                    return []
                if self._engine is not None:
                    results = self._engine.run_bound(plan, run, known)
                else:
                    results = run_bound(plan, run, known, self._backend)
                if results is not None:
                    return results
                group.repeat_from(0)
            known = self._known(program)
            known.warn_of_strangers(fetch_list, program)
            return self._run_planned(run, known)
        finally:
            group.end_run(begun)

    def _run_planned(self, run: Run, known: RunState) -> list[Any]:
        """Run a program segment by segment, when it is its turn."""
        program, scope = run.program, run.scope
        fed = feed, doubts = run.fed()
        if doubts:
            known.warn(doubts)
        if not known.count and not program.global_block().ops and not run.wanted[0]:
            warn("the program has no operators: there is nothing to run", None)
        plan = known.plan(program, run.wanted, run.keeps_plan, self._check)
        updates = plan.commits
        if feed:
            variables = program.global_block().vars
            updates = [*updates, *[name for name in feed if variables[name].persistable]]
        if not updates and self._engine is None:  # JAX puts what it reads on a device
            return self._run_plan(plan, run, known, fed, scope.commit)
        reads = plan.persistable.intersection(plan.needs).difference(feed)
        run_plan = partial(self._run_plan, plan, run, known, fed)
        return in_turn(scope, reads, updates, plan.calls_out, run_plan)

    def _run_plan(
        self,
        plan: Plan,
        run: Run,
        known: RunState,
        fed: tuple[Environment, dict[str, str]],
        commit: Commit,
    ) -> list[Any]:
        """Run a program segment by segment: tiers 1 and 2; bind what has been compiled."""
        program, fetches, scope, (feed, doubts) = run.program, run.wanted[0], run.scope, fed
        env = {n: frozen(v) for n, v in feed.items()} if self._check else dict(feed)
        known.begin_in(scope, program)
        if odd := run.take_persistables(plan, env, to_host=self._engine is None):
            known.warn(odd)
        if self._engine is not None:
            self._engine.meet(run, env, feed, known)
        if fetches and (missing := run.without_value(plan.written, env)):
            known.warn(missing)
        is_usual = run.return_numpy and run.keeps_plan and not (run.guard or doubts)
        if self._engine is not None and is_usual and not self._looks:
            found = self._engine.run_anew(plan, run, feed, known)
            if found is not None:
                return found
        with np.errstate(all="ignore"):  # infinities are values
            pending = self._execute(plan, env, run, known, doubts)
            if pending is not None and not pending.fits(feed):
                env.update(pending.computed())
                pending = None
        results = [run.fetched(name, env) for name in fetches]
        keeps = feed or plan.commits
        news, as_is = run.kept_values(plan.commits, env, feed) if keeps else ({}, True)
        if news or pending is not None:
            if not known.count:
                scope.note_origins(program, news)
            counted = partial(setattr, known, "count", known.count + 1)
            first = () if pending is None else pending.made_first()
            plan.donate(list(news), commit(news, counted, first=first))
        else:
            known.count += 1
        if as_is:
            bind(plan, feed, fetches, scope, known)
        return results

    def _execute(
        self, plan: Plan, env: Environment, run: Run, known: RunState, doubts: Mapping[str, str]
    ) -> PendingUpdates | None:
        """Compute the values of a plan into an environment that has the inputs, but for updates
        that are to be made as they are committed; the first time that something is fed unlike its
        declaration, operators check it.
        """
        profile = self.profile or active.get()
        if not (run.guard or profile or self._check or doubts):
            # where somebody takes what updates write over, the run is made again
            is_once = plan.calls_out or groups.get().size > 1 or self._engine is not None
            defers = None if is_once else plan.only_segment
            only = self._session(run.program, known, defers=defers)
            only.run(plan, env)
            return only.pending
        odd = frozenset(doubts.items())
        checked = bool(odd) and odd not in known.taken
        session = partial(self._session, run.program, known, profile=profile)
        with nullcontext() if profile is None else profile.run("run"):
            strict = "infinity" if run.guard else "NaN" if self._check else ""
            compare = self._check and not checked
            session(strict=strict, checked=checked, compare=compare).run(plan, env)
        if checked:
            known.take(odd)
        return None

    def _session(self, program: Program, known: RunState, **how: Any) -> Session:
        """The next run of a program."""
        seed = known.seed_of(program)
        if self._engine is not None:
            return self._engine.session(seed, known.count, **how)
        how["stream"] = known.stream_of(program)
        return Session(self._backend, seed, known.count, passes=self._passes, **how)

    def plan(
        self,
        program: Program | None = None,
        fetch_list: Sequence[Variable | str] | Variable | str | None = None,
    ) -> Plan:
        """How a program is run: the same plan that :meth:`run` follows.

        Args:
            program: what to run; the default main program when None.
            fetch_list: variables to fetch, or their names.

        Returns:
            the plan; its ``source`` is what has been written for the shapes of the feeds so far.

        >>> x = fluid.data("x", [None, 2], "float32")
        >>> y = fluid.layers.reduce_sum(x)
        >>> exe = fluid.Executor()
        >>> for _ in range(3):
        ...     _ = exe.run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
        >>> "def run(" in exe.plan(fetch_list=[y]).source
        True
        """
        program, _ = program_and_feed(program)
        wanted = Run(program, fetch_list).wanted
        found = self._known(program).plan(program, wanted, True, self._check)
        return found if self._engine is None else self._engine.describe(found)

    def observe(
        self,
        observer: Observer,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> None:
        """Do what the next run of a program would do, step by step, and keep nothing of it: the
        scope and the random numbers of runs to come stay as they are.

        Args:
            observer: is called before and after each step.
            program: what to run; the default main program when None.
            feed, scope: as of :meth:`run`.

        Raises:
            FluidError: as :meth:`run` does.
        """
        program, _ = program_and_feed(program)
        run = Run(program, (), feed, scope)
        env, _ = run.fed()
        plan = Plan(program, ())
        plan.keep_everything()
        run.take_persistables(plan, env)
        with np.errstate(all="ignore"):
            self._session(program, self._known(program), observer=observer).run(plan, env)
