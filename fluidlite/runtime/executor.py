"""Running programs."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import backend as backends
from .. import state
from ..dtypes import as_dtype
from ..errors import (
    ArgumentError,
    ClosedError,
    FeedError,
    FeedTypeError,
    FetchError,
    FetchTypeError,
    NotInitializedError,
    suggestion,
)
from ..ir.operator import Operator, located
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..ir.verify import verify
from ..ir.views import views
from ..values import LoDTensor, LoDTensorArray, SelectedRows, arrays_in
from .blocks import drive
from .compiled import CompiledProgram, merged_feed
from .place import Place, checked
from .plan import Environment, Plan
from .ready import Ready, Runs
from .scope import Scope, global_scope
from .session import Observer, Session

PLANS_KEPT = 16  # of one program, for different feeds and fetches

#: how many executors there have been: each draws other random numbers
_made: state.Slot[itertools.count[int]] = state.slot("executors made", itertools.count)
_entropy: state.Slot[int] = state.slot("entropy", lambda: int.from_bytes(os.urandom(8), "little"))


class Executor:
    """Runs programs.

    Args:
        place: the CPU, or None for it.

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

    def __init__(self, place: Place | None = None) -> None:
        self.place = checked(place)
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

        Returns:
            the values of ``fetch_list``, in its order; copies.

        Raises:
            FeedError: a fed name, shape or element type does not fit, or a data variable is not
            fed.
            FetchError: the program has no variable of a fetched name, or nothing computes it.
            NotInitializedError: a parameter has no value; the startup program has not been run.
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
        fetches = _fetch_names(fetch_list, program)
        given = _fed_values(feed, program)
        env = dict(given)
        if not program.global_block().ops and not fetches:
            warnings.warn(
                "the program has no operators: there is nothing to run", UserWarning, stacklevel=2
            )
        runs = self._runs.get(program)
        if runs is None:
            runs = self._runs[program] = Runs()
        plan = self._plan(program, runs, fetches, use_program_cache)
        _take_persistables(plan, env, scope)
        _check_fetches(fetches, plan, env, scope, program)
        self._execute(plan, env, program, runs)
        runs.count += 1
        results = [_fetched(name, env, scope, return_numpy) for name in fetches]
        fed = {
            id(value.data if isinstance(value, LoDTensor) else value) for value in given.values()
        }
        for name in plan.commits:
            if name in env:  # else it is written in a branch that was not taken
                variable = scope.find_var(name) or scope.var(name)
                old, variable.value = variable.value, _owned(env[name], fed)
                plan.reuse(name, old)
        return results

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
        fetches = _fetch_names(fetch_list, program)
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
        runs = self._runs.setdefault(program, Runs())

        def run(feed: Mapping[str, Any]) -> list[Any]:
            return self.run(program, feed, fetches, scope=scope)

        def plan() -> Plan | None:
            if self._closed or self._looks_for_bad:
                return None
            return runs.plans.get((program.revision, tuple(fetches)))

        def draw(key: str) -> Any:
            return self._backend.generators(self._seed(program, runs), runs.count, key)

        return Ready(run, plan, draw, runs, fetches, scope)

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
        return self._plan(program, runs, _fetch_names(fetch_list, program), True)

    @property
    def _looks_for_bad(self) -> bool:
        """Whether every step is checked."""
        return bool(state.flags.get().get("FLAGS_check_nan_inf")) or self._check

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
        env = _fed_values(feed, program)
        plan = Plan(program, ())
        plan.keep_everything()
        _take_persistables(plan, env, global_scope() if scope is None else scope)
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

    def _execute(self, plan: Plan, env: Environment, program: Program, runs: Runs) -> None:
        session = Session(
            self._backend,
            self._seed(program, runs),
            runs.count,
            drive,
            look_for_bad=bool(state.flags.get().get("FLAGS_check_nan_inf")) or self._check,
            freeze=self._check,
        )
        with np.errstate(all="ignore"):  # infinities are values; FLAGS_check_nan_inf looks for them
            session.run(plan, env)


def _fetch_names(fetch_list: Any, program: Program) -> list[str]:
    if fetch_list is None:
        return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"]
    if isinstance(fetch_list, (Variable, str, Operator)):
        fetch_list = [fetch_list]
    if not isinstance(fetch_list, (list, tuple)):
        raise FetchTypeError(
            f"expected fetch_list to be a list of variables or names, got {fetch_list!r:.60}"
        )
    names = []
    for item in fetch_list:
        if isinstance(item, Variable):
            names.append(item.name)
        elif isinstance(item, str):
            names.append(item)
        elif not isinstance(item, Operator):  # optimizer operators run in any case
            raise FetchTypeError(
                f"expected a variable or its name in fetch_list, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )
    return names


def _fed_values(feed: Any, program: Program) -> Environment:
    """The fed arrays by name, checked against the program's variables."""
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1 and isinstance(feed[0], Mapping):
        feed = feed[0]
    if not isinstance(feed, Mapping):
        raise FeedTypeError(
            f"expected feed to be a dictionary of names and arrays, got {type(feed).__name__}"
        )
    block = program.global_block()
    env: Environment = {}
    for name, value in feed.items():
        variable = block.vars.get(name)
        if variable is None:
            fed = [v.name for v in block.vars.values() if v.is_data]
            raise FeedError(
                f"the program has no variable {name!r} to "
                f"feed{suggestion(name, fed or block.vars)}; "
                f"its data variables are {', '.join(fed) or 'none'}"
            )
        env[name] = _fed_value(variable, value)
    return env


def _fed_value(variable: Variable, value: Any) -> Any:
    if isinstance(value, LoDTensor):
        data, lod = value.data, value.offsets
    elif isinstance(value, (list, tuple)):
        raise FeedTypeError(
            f"variable {variable.name!r} was fed a {type(value).__name__}, which might mean rows "
            f"or sequences; "
            "feed an array: numpy.array(...), or a LoDTensor: create_lod_tensor(...)"
        )
    else:
        data, lod = np.asarray(value), ()
    if data is None:
        raise FeedError(f"variable {variable.name!r} was fed a LoDTensor that holds nothing")
    if isinstance(value, (bool, int, float)):
        data = data.astype(variable.dtype.dtype)
    try:
        dtype = as_dtype(data.dtype)
    except TypeError as error:
        raise FeedError(f"variable {variable.name!r}: {error}") from None
    if variable.has_dtype and dtype != variable.dtype:
        raise FeedError(
            f"variable {variable.name!r} is declared {variable.dtype} and was fed {dtype}; "
            f"convert it: array.astype({str(variable.dtype)!r})"
        )
    if variable.has_shape and not _fits(data.shape, variable.shape):
        raise FeedError(
            f"variable {variable.name!r} is declared with shape {list(variable.shape)} "
            f"and was fed shape {list(data.shape)}"
        )
    return LoDTensor(data, lod) if lod else data


def _fits(shape: Sequence[int], declared: Sequence[int]) -> bool:
    return len(shape) == len(declared) and all(
        d in (-1, n) for n, d in zip(shape, declared, strict=True)
    )


def _take_persistables(plan: Plan, env: Environment, scope: Scope) -> None:
    """Put what the operators read and nothing computes into the environment.

    Raises:
        FeedError: a data variable was not fed.
        NotInitializedError: a persistable variable has no value.
    """
    for name, op in plan.needs.items():
        if name in env:
            continue
        value = scope.value(name) if name in plan.persistable else None
        if value is None:
            raise _missing(name, op)
        env[name] = value


def _missing(name: str, op: Operator) -> Exception:
    variable = op.block.find_var_recursive(name)
    spec = variable.spec if variable is not None else None
    if variable is not None and variable.is_data:
        return located(FeedError(f"data variable {name!r} was not fed"), op, [(name, spec)])
    if variable is not None and variable.persistable:
        return located(
            NotInitializedError(
                f"variable {name!r} has no value; run the startup program first (after minimize), "
                f"in the same scope"
            ),
            op,
            [(name, spec)],
        )
    return located(
        NotInitializedError(f"variable {name!r} is read before anything writes it"),
        op,
        [(name, spec)],
    )


def _check_fetches(
    fetches: list[str], plan: Plan, env: Environment, scope: Scope, program: Program
) -> None:
    for name in fetches:
        if name in env or name in plan.written or scope.value(name) is not None:
            continue
        known = program.global_block().vars
        if name not in known:
            raise FetchError(
                f"the program has no variable {name!r} to fetch{suggestion(name, known)}"
            )
        variable = known[name]
        if variable.is_data:
            raise FetchError(f"data variable {name!r} is to be fetched and was not fed")
        raise FetchError(
            f"nothing computes variable {name!r}, which is to be fetched, and the scope has no "
            f"value of it"
        )


def _fetched(name: str, env: Environment, scope: Scope, return_numpy: bool) -> Any:
    return _handed_out(name, env[name] if name in env else scope.value(name), return_numpy)


def _handed_out(name: str, value: Any, return_numpy: bool) -> Any:
    """A copy of a value as the user wants to have it."""
    if isinstance(value, LoDTensorArray):
        return [_handed_out(f"{name}[{i}]", v, return_numpy) for i, v in enumerate(value.items)]
    if value is None:  # an element of an array that nothing has written
        return None
    if isinstance(value, SelectedRows):
        return value.to_dense() if return_numpy else value.copy()
    if isinstance(value, LoDTensor):
        copy = LoDTensor(np.array(value.data), value.offsets)
        if not return_numpy:
            return copy
        raise FetchTypeError(
            f"variable {name!r} holds sequences (LoD {value.lod()}), which an array cannot say; "
            "fetch it with return_numpy=False"
        )
    return np.array(value) if return_numpy else LoDTensor(np.array(value))


def _owned(value: Any, fed: set[int]) -> Any:
    """A value that nobody outside can change: a copy where it is a view, or an array that the user
    fed.
    """
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([_owned(item, fed) for item in value.items])
    if isinstance(value, SelectedRows):
        return value.copy()
    if all(data.base is None and id(data) not in fed for data in arrays_in(value)):
        return value
    copied = np.array(value)
    return LoDTensor(copied, value.offsets) if isinstance(value, LoDTensor) else copied
