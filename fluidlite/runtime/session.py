"""One run of a program: its random numbers, its checks, and the loop over steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from ..errors import FluidError, NonFiniteError
from ..ir.analysis import writes_of
from ..ir.operator import Operator, located
from ..opdef.interpreter import Eval
from ..values import arrays_in
from .checking import refuse_differences
from .compile import CompiledSegment, Watch, function_for, give_up
from .driver import Driver
from .finite import Suspicious, check_written, first_bad, is_finite
from .passes.form import Pass
from .plan import BlockPlan, Plan
from .profile import Profile, clock
from .segment import Segment
from .step import Environment, Step


class Observer:
    """Looks at a run.  A run that is observed is interpreted, step by step."""

    def before(self, step: Step, env: Environment) -> None:
        """Called before each step, those of driven blocks included.

        Args:
            step: what is to be run.
            env: values by name.
        """

    def after(self, step: Step, env: Environment) -> None:
        """Called after each step; what nothing reads any more is gone.  Arguments as of
        :meth:`before`.
        """


class Session:
    """One run of a program.

    Args:
        backend: whose kernels run.
        seed: what random operators start from.
        run: the number of this run of the program.
        observer: what is called before and after each step.
        strict: what to look for after each step, which are then run one by one: "NaN", "infinity"
            for both, or nothing.
        guarded: names of gradients to be looked at as soon as they are computed; None to look at
            nothing.
        checked: whether operators look at shapes and element types before they compute; steps are
            then run one by one.
        compare: whether to run steps one by one also where there is a compiled segment, with
            what they compute made read-only, and to compare.
        profile: what takes the times.
        passes: those that rewrite plans; what ``FLUIDLITE_PASSES`` says when None.
    """

    def __init__(
        self,
        backend: ModuleType,
        seed: int,
        run: int,
        observer: Observer | None = None,
        strict: str = "",
        guarded: frozenset[str] | None = None,
        checked: bool = False,
        compare: bool = False,
        profile: Profile | None = None,
        passes: tuple[Pass, ...] | None = None,
    ) -> None:
        self.backend = backend
        self.f = Eval(backend)
        self._observer = observer
        self._strict = strict
        self._guarded = guarded
        self._checked = checked
        self._compare = compare
        self._profile = profile
        self._passes = passes
        self._interprets = observer is not None or checked or bool(strict and not compare)
        self._looks = self._interprets or compare or guarded is not None
        self._counters: tuple[int | str, ...] = (seed, run)

    def run(self, plan: BlockPlan, env: Environment, turn: int | None = None) -> None:
        """Run a block.

        Args:
            plan: of the block.
            env: values by name; takes the results.
            turn: how often the block ran before in this run of the program; tells the random
                numbers of its passes apart.

        Raises:
            FluidError: a step failed.
            Suspicious: a guarded value is not finite.
        """
        before = self._counters
        if turn is not None:
            self._counters = (*before, turn)
        try:
            self._run_items(plan.items, env)
        finally:
            self._counters = before

    def _run_items(self, items: Iterable[Segment | Step], env: Environment) -> None:
        for item in items:
            if isinstance(item, Segment):
                self._run_segment(item, env)
            else:
                self._run_control(item, env)

    def _run_control(self, step: Step, env: Environment) -> None:
        """Run a step that may drive a block."""
        if self._observer is not None:
            self._observer.before(step, env)
        begin = 0 if self._profile is None else clock()
        self._drive(step, env)
        if self._profile is not None:
            self._profile.add(step.op, begin, clock(), _written_bytes(step, env))
        if self._looks:
            self._look(step, env)
        step.let_go(env)

    def _drive(self, step: Step, env: Environment) -> None:
        """Run a control operator."""
        try:
            step.instance.execute(Driver(self, step, env))
        except FluidError as error:
            if step.body is not None:  # an operator inside has said what was wrong and where
                raise
            raise located(error, step.op, []) from error

    def _run_segment(self, segment: Segment, env: Environment) -> None:
        """Run steps as one compiled function where there is one, else one by one."""
        function = None
        if not self._interprets:
            function = segment.last = self._function(segment, env)
        if function is None and segment.parts and not self._interprets:
            self._run_items(segment.parts, env)
        elif function is None:
            self._interpret(segment, env, self._profile)
        elif self._compare:
            self._run_both(segment, function, env)
        else:
            try:
                self._call(function, env)
            except Suspicious:
                raise
            except Exception as error:  # the steps one by one say which of them fails
                self._interpret(segment, env, self._profile)
                give_up(segment, function, error)
            else:
                for name in segment.free:
                    env.pop(name, None)

    def _function(self, segment: Segment, env: Environment) -> CompiledSegment | None:
        """The function for the values of an environment, where there is one."""
        if self._profile is None:
            return function_for(segment, env, self.backend, self._passes)
        begin = clock()
        function = function_for(segment, env, self.backend, self._passes)
        if function is not None and not function.is_ready:
            self._profile.add_planning(begin, clock())
        return function

    def _call(self, function: CompiledSegment, env: Environment) -> None:
        """Run a function, watched where something is to be seen."""
        if self._profile is not None:
            ends: list[tuple[int, int]] = []
            known, begin = function.is_ready, clock()
            function(env, self._draw, Watch("times", lambda k: ends.append((k, clock()))))
            if not known and ends:
                self._profile.add_planning(ends[-1][1], clock())
            self._profile.add_kernels(begin, ends, function.order)
        elif self._guarded is not None:
            function(env, self._draw, Watch("gradients", partial(_refuse_bad, function)))
        else:
            function(env, self._draw)

    def _run_both(self, segment: Segment, function: CompiledSegment, env: Environment) -> None:
        """Run steps one by one and as a function; go on with what the function computes.

        Raises:
            OpError: they disagree.
        """
        given = {name: env[name] for name in segment.reads}
        mine = dict(given)
        failure = None
        try:
            self._call(function, mine)
        except Exception as error:
            failure = error
        self._interpret(segment, env, None)
        if failure is not None:
            give_up(segment, function, failure)
            return
        refuse_differences(segment, function, given, mine, env, self._run_step, self._draw)
        env.update((name, mine[name]) for name in function.results)

    def _interpret(self, segment: Segment, env: Environment, profile: Profile | None) -> None:
        """Run steps one by one."""
        for step in segment.steps:
            if step.instance.is_control:
                self._run_control(step, env)
                continue
            if self._observer is not None:
                self._observer.before(step, env)
            if profile is None:
                self._run_step(step, env)
            else:
                begin = clock()
                self._run_step(step, env)
                profile.add(step.op, begin, clock(), _written_bytes(step, env))
            if self._looks:
                self._look(step, env)

    def _run_step(self, step: Step, env: Environment) -> None:
        """Run one step."""
        if step.instance.is_control:
            self._run_control(step, env)
            return
        if step.instance.random:
            self.f.rng = self._draw(step.instance.random_key(step.op.output_arg_names[0]))
        step.run(self.f, env, self._checked)

    def _draw(self, key: str | tuple[int | str, ...]) -> Any:
        """A source of random numbers for an operator; its key may begin with the numbers of the
        passes through blocks that it is part of.
        """
        keys = key if isinstance(key, tuple) else (key,)
        return self.backend.generators(*self._counters, *keys)

    def _look(self, step: Step, env: Environment) -> None:
        """Do after a step what this run is to do after each."""
        if self._strict:
            check_written(step, writes_of(step.op), env, infinities=self._strict == "infinity")
        elif self._guarded is not None:
            names = writes_of(step.op)
            if not step.instance.is_control:  # what functions of the user return is looked at
                names = sorted(self._guarded.intersection(names))
            bad = first_bad(names, env) if names else None
            if bad is not None:
                raise Suspicious(bad)
        if self._compare:
            _make_read_only(step.op, env)
        if self._observer is not None:
            self._observer.after(step, env)


class Watched(NamedTuple):
    """What is looked for in a run."""

    guard: bool  #: values that are not finite
    compare: bool  #: differences between compiled and interpreted steps
    is_new: bool  #: what operators have against their inputs, which are fed unlike declared
    profile: Profile | None  #: times


def run_watched(
    session: Callable[..., Session],
    plan: Plan,
    env: Environment,
    fetches: Iterable[str],
    watched: Watched,
) -> None:
    """Run a plan, and look at what it does.

    Args:
        session: makes a run of the program; see :class:`Session`.
        plan, env: of the run.
        fetches: names.
        watched: what to look for.

    Raises:
        NonFiniteError: a value is not finite; names the operator it comes from.
    """
    profile = watched.profile
    strict = "infinity" if watched.guard else "NaN" if watched.compare else ""
    with nullcontext() if profile is None else profile.run("run"):
        if watched.is_new:
            session(checked=True, strict=strict, profile=profile).run(plan, env)
        elif watched.compare:
            session(strict=strict, compare=True, profile=profile).run(plan, env)
        elif watched.guard:
            _run_guarded(partial(session, profile=profile), plan, env, fetches)
        else:
            session(profile=profile).run(plan, env)


def _run_guarded(
    session: Callable[..., Session], plan: Plan, env: Environment, fetches: Iterable[str]
) -> None:
    """Run a plan, and look for values that are not finite in gradients, in what is fetched and in
    what goes to the scope.
    """
    before = dict(env)
    try:
        session(guarded=plan.gradients).run(plan, env)
        bad = first_bad((*sorted(plan.written.intersection(fetches)), *plan.commits), env)
    except Suspicious as found:
        bad = found.name
    if bad is not None:  # nothing has been kept so far: the same again, looking closer
        session(strict="infinity", profile=None).run(plan, before)
        raise NonFiniteError(
            f"{bad!r} is not finite in the compiled plan, and is when interpreted: it is near the "
            f"largest number of its element type"
        )


def _refuse_bad(function: CompiledSegment, index: int, *values: Any) -> None:
    """Look at values that a kernel made.

    Raises:
        Suspicious: one is not finite.
    """
    for value in values:
        if not all(map(is_finite, arrays_in(value))):
            raise Suspicious(function.order[index].origin.op.output_arg_names[0])


def _written_bytes(step: Step, env: Environment) -> int:
    """The size of what a step wrote and somebody still needs."""
    return sum(a.nbytes for n in step.op.output_arg_names for a in arrays_in(env.get(n)))


def _make_read_only(op: Operator, env: Environment) -> None:
    for name in op.output_arg_names:
        for array in arrays_in(env.get(name)):
            array.flags.writeable = False
