"""Running programs."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import backend as backends
from .. import state
from ..errors import (
    ArgumentError,
    ClosedError,
    FeedError,
    FetchError,
    NonFiniteError,
    suggestion,
)
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..ir.verify import verify
from ..ir.views import views
from ..values import LoDTensor
from .blocks import drive
from .compiled import CompiledProgram, merged_feed
from .feeding import (
    check_fetches,
    fed_values,
    fetch_names,
    fetched,
    frozen,
    owned,
    take_persistables,
)
from .finite import Suspicious, first_bad
from .place import Place, checked
from .plan import Environment, Plan
from .profiler import Profile, active
from .ready import Ready, Runs, remember, run_again
from .scope import Scope, global_scope
from .session import Observer, Session

PLANS_KEPT = 16  # of one program, for different feeds and fetches

#: how many executors there have been: each draws other random numbers
_made: state.StateSlot[itertools.count[int]] = state.slot("executors made", itertools.count)
_entropy: state.StateSlot[int] = state.slot(
    "entropy", lambda: int.from_bytes(os.urandom(8), "little")
)


class Executor:
    """Runs programs.

    With ``FLUIDLITE_CHECK=1`` in the environment each run interprets a program, looks for NaN after
    each operator, and compares with what the specialised plan computes.

    Args:
        place: the CPU, or None for it.
        profile: whether to take the time of each operator; ``profile`` then has a table of them.

    Raises:
        ArgumentError: the place is not there.

    >>> main, startup = fluid.Program(), fluid.Program()
    >>> with fluid.program_guard(main, startup):
    ...     x = fluid.data("x", [None, 2], "float32")
    ...     y = fluid.layers.reduce_sum(x * 2.0)
    >>> exe = fluid.Executor(fluid.CPUPlace())
    >>> exe.run(main, feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
    [array([12.], dtype=float32)]
    """

    def __init__(self, place: Place | None = None, profile: bool = False) -> None:
        self.place = checked(place)
        #: the times of operators, where they are taken
        self.profile = Profile() if profile else None
        self._backend = backends.get("numpy")
        self._runs: WeakKeyDictionary[Program, Runs] = WeakKeyDictionary()
        self._closed = False
        self._number = next(_made.get())
        self._check = os.environ.get("FLUIDLITE_CHECK", "") not in ("", "0")

    def close(self) -> None:
        """Let go of everything; running anything after it is an error."""
        self._closed = True
        self._runs.clear()

    def run(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | None = None,
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
            feed: name of a data variable -> array or LoDTensor of its shape and element type; for a
                compiled program with data parallelism also a list of such dictionaries.
            fetch_list: variables, or their names, whose values are wanted.
            feed_var_name, fetch_var_name, return_merged, use_prune: accepted for old scripts.
            scope: where persistable variables are kept; the global scope when None.
            return_numpy: give arrays, lists of them for arrays of tensors; when False, LoDTensors,
                lists of them, and SelectedRows where only some rows are stored.
            use_program_cache: keep the plan for the next run with the same feeds and fetches.
            check_nan_inf: look for values that are not finite in what is fetched, in gradients of
                parameters and in new values of parameters; as ``FLAGS_check_nan_inf`` says when
                None.

        Returns:
            the values of ``fetch_list``, in its order; copies.

        Raises:
            FeedError: a fed name, shape or element type does not fit, or a data variable is not
            fed.
            FetchError: the program has no variable of a fetched name, or nothing computes it.
            NotInitializedError: a parameter has no value; the startup program has not been run.
            NonFiniteError: there is a value that is not finite; names the operator it comes from.
            FluidError: an operator failed; says which, with what shapes, and where it was made.
        """
        if self._closed:
            raise ClosedError("the executor has been closed; make another one")
        if isinstance(program, CompiledProgram):
            feed = merged_feed(feed) if program.data_parallel else feed
            program = program.program
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise ArgumentError(
                f"expected a Program to run, got {program!r:.60} of type {type(program).__name__}"
            )
        scope = global_scope() if scope is None else scope
        fetches = fetch_names(fetch_list, program)
        guard = _checks_nan_inf() if check_nan_inf is None else check_nan_inf
        if type(feed) is dict and return_numpy:
            again = self._run_again(program, tuple(fetches), feed, scope, guard)
            if again is not None:
                return again
        given = fed_values(feed, program)
        env = {n: frozen(v) if self._check else v for n, v in given.items()}
        runs = self._runs.get(program)
        if runs is None:
            runs = self._runs[program] = Runs()
            if not program.global_block().ops and not fetches:
                message = "the program has no operators: there is nothing to run"
                warnings.warn(message, UserWarning, stacklevel=2)
        plan = self._plan(program, runs, fetches, use_program_cache)
        take_persistables(plan, env, scope)
        check_fetches(fetches, plan, env, scope, program)
        profile = self.profile or active.get()
        with np.errstate(all="ignore"):  # infinities are values; FLAGS_check_nan_inf looks for them
            if guard or profile is not None or self._check:
                self._execute_watched(plan, env, program, runs, fetches, guard, profile)
            else:
                seed = self._seed(program, runs)
                Session(self._backend, seed, runs.count, drive).run(plan, env)
        runs.count += 1
        results = [fetched(name, env, scope, return_numpy) for name in fetches]
        fed = {
            id(value.data if isinstance(value, LoDTensor) else value) for value in given.values()
        }
        for name in plan.commits:
            if name in env:  # else it is written in a branch that was not taken
                variable = scope.find_var(name) or scope.var(name)
                old, variable.value = variable.value, owned(env[name], fed)
                plan.reuse(name, old)
        remember(plan, given, fetches, scope)
        return results

    def _run_again(
        self,
        program: Program,
        fetches: tuple[str, ...],
        feed: Mapping[str, Any],
        scope: Scope,
        guard: bool,
    ) -> list[Any] | None:
        """Run a program in the way that it was run before; None where that is not possible.

        Args:
            program, feed, scope: as of :meth:`run`.
            fetches: names.
            guard: whether to look for values that are not finite.
        """
        if self._closed or self._check or self.profile is not None:
            return None
        runs = self._runs.get(program)
        plan = None if runs is None else runs.plans.get((program.revision, fetches))
        if runs is None or plan is None or active.get() is not None:
            return None
        found = run_again(plan, feed, scope, partial(self._draw, program, runs), guard)
        if found is not None:
            runs.count += 1
        return found

    def _draw(self, program: Program, runs: Runs, key: str | tuple[int | str, ...]) -> Any:
        """A source of random numbers for an operator of the next run; see ``Session``."""
        keys = key if isinstance(key, tuple) else (key,)
        return self._backend.generators(self._seed(program, runs), runs.count, *keys)

    def prepare(
        self,
        program: Program | CompiledProgram | None = None,
        feed_names: Sequence[str] = (),
        fetch_list: Sequence[Variable | str] | Variable | str | None = None,
        scope: Scope | None = None,
    ) -> Ready:
        """A function of the feeds that runs a program, for loops over many small steps.

        It leaves out what need not be looked up and checked again; shapes and element types of the
        feeds are still checked.

        Args:
            program: what to run; the default main program when None.
            feed_names: the data variables that will be fed.
            fetch_list: variables, or their names, whose values are wanted.
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
        program = program.program if isinstance(program, CompiledProgram) else program
        program = default_main_program() if program is None else program
        scope = global_scope() if scope is None else scope
        fetches = fetch_names(fetch_list, program)
        known = program.global_block().vars
        for name in feed_names:
            if name not in known:
                raise FeedError(
                    f"the program has no variable {name!r} to feed{suggestion(name, known)}"
                )
        for name in fetches:
            if name not in known:
                raise FetchError(
                    f"the program has no variable {name!r} to fetch{suggestion(name, known)}"
                )
        names = tuple(fetches)

        def run(feed: Mapping[str, Any]) -> list[Any]:
            return self.run(program, feed, fetches, scope=scope)

        def again(feed: Mapping[str, Any]) -> list[Any] | None:
            return self._run_again(program, names, feed, scope, _checks_nan_inf())

        return Ready(run, again)

    def plan(
        self,
        program: Program | None = None,
        fetch_list: Sequence[Variable | str] | Variable | str | None = None,
    ) -> Plan:
        """How a program is run: the same plan that :meth:`run` follows.

        Args:
            program: what to run; the default main program when None.
            fetch_list: variables, or their names, whose values are wanted.

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
        program = default_main_program() if program is None else program
        runs = self._runs.setdefault(program, Runs())
        return self._plan(program, runs, fetch_names(fetch_list, program), True)

    def _plan(self, program: Program, runs: Runs, fetches: list[str], keep: bool) -> Plan:
        key = (program.revision, tuple(fetches))
        plan = runs.plans.get(key)
        if plan is None:
            if self._check:
                verify(program)
            plan = Plan(program, fetches)
            if keep:
                for old in [k for k in runs.plans if k[0] != program.revision]:
                    del runs.plans[old]
                runs.plans[key] = plan
                while len(runs.plans) > PLANS_KEPT:
                    runs.plans.popitem(last=False)
        else:
            runs.plans.move_to_end(key)
        return plan

    def random_state(self, program: Program) -> dict[str, int]:
        """What the next run of a program draws random numbers from; for
        :meth:`set_random_state`.
        """
        runs = self._runs.get(program) or Runs()
        return {"seed": self._seed(program, runs), "run": runs.count}

    def set_random_state(self, program: Program, state: Mapping[str, int]) -> None:
        """Let the next run of a program draw its random numbers as if it were another one.

        Args:
            program: the program.
            state: what :meth:`random_state` gave, of this executor or of another one.
        """
        seed, count = int(state["seed"]), int(state["run"])
        runs = self._runs.setdefault(program, Runs())
        runs.seed, runs.count = seed, count

    def _seed(self, program: Program, runs: Runs) -> int:
        """What random operators of a program start from."""
        own = _entropy.get() + self._number if runs.seed is None else runs.seed
        return program.random_seed or own

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
        if self._closed:
            raise ClosedError("the executor has been closed; make another one")
        program = default_main_program() if program is None else program
        env = fed_values(feed, program)
        plan = Plan(program, ())
        plan.keep_everything()
        take_persistables(plan, env, global_scope() if scope is None else scope)
        runs = self._runs.get(program) or Runs()
        seed = self._seed(program, runs)
        session = Session(self._backend, seed, runs.count, drive, observer=observer)
        with np.errstate(all="ignore"):
            session.run(plan, env)

    def trace(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> Any:
        """Every value that the next run of a program would compute, by name and by operator;
        nothing is kept in the scope.

        Args:
            program: what to run; the default main program when None.
            feed, scope: as of :meth:`run`.

        Returns:
            a :class:`~fluidlite.inspect.Trace`.

        >>> x = fluid.data("x", [None, 2], "float32")
        >>> y = fluid.layers.square(x)
        >>> trace = fluid.Executor().trace(feed={"x": np.array([[1, 2]], "float32")})
        >>> trace[y]
        array([[1., 4.]], dtype=float32)
        """
        program = default_main_program() if program is None else program
        return views().trace(self, program, feed, scope)

    def _execute_watched(
        self,
        plan: Plan,
        env: Environment,
        program: Program,
        runs: Runs,
        fetches: list[str],
        guard: bool,
        profile: Profile | None,
    ) -> None:
        """Run a plan, and look at what it does.

        Args:
            plan, env: of the run; ``env`` takes the results.
            program, runs: the program, and what is remembered of it.
            fetches: names.
            guard: whether to look for values that are not finite.
            profile: what takes the times, or None.
        """

        def session(**how: Any) -> Session:
            return Session(self._backend, self._seed(program, runs), runs.count, drive, **how)

        with nullcontext() if profile is None else profile.run("run"):
            if self._check:
                strict = "infinity" if guard else "NaN"
                session(strict=strict, compare=True, profile=profile).run(plan, env)
            elif not guard:
                session(profile=profile).run(plan, env)
            else:
                before = dict(env)
                try:
                    session(guarded=plan.gradients, profile=profile).run(plan, env)
                    wanted = plan.written.intersection(fetches)
                    bad = first_bad((*sorted(wanted), *plan.commits), env)
                except Suspicious as found:
                    bad = found.name
                if bad is not None:  # nothing has been kept so far: the same again, looking closer
                    session(strict="infinity").run(plan, before)
                    raise NonFiniteError(
                        f"{bad!r} is not finite in the specialised plan, and is when interpreted: "
                        f"it is near the largest number of its element type"
                    )


def _checks_nan_inf() -> bool:
    return bool(state.flags.get().get("FLAGS_check_nan_inf"))
