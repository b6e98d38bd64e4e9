"""One run of a program: its random numbers, its checks, and the loop over steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import FluidError, NonFiniteError, OpError
from ..ground.process_group import groups
from ..ground.seeding import RandomStream
from ..ground.values import arrays_in
from ..ir.analysis import writes_of
from ..ir.operator import Operator, located
from ..opdef.interpreter import Eval
from ..opdef.prepared import KernelDeclined
from ..profiler import Profile, clock
from .checking import refuse_differences
from .driver import Driver
from .finite import check_written
from .plan import BlockPlan
from .segment import Segment, Watch, function_for, give_up
from .step import Environment, Step

if TYPE_CHECKING:
    from .compile import CompiledSegment
    from .in_place import PendingUpdates
    from .passes.form import Pass


class Observer:
    """Looks at a run.  A run that is observed is interpreted, step by step."""

    def before(self, step: Step, env: Environment) -> None:
        """Called before each step, those of driven blocks included, with the values by name."""

    def after(self, step: Step, env: Environment) -> None:
        """Called after each step; what nothing reads any more is gone."""


@dataclass(eq=False)
class Session:
    """One run of a program."""

    backend: ModuleType  #: whose kernels run
    seed: int  #: what random operators start from
    count: int  #: the number of this run of the program
    observer: Observer | None = None  #: is called before and after each step
    #: what to look for after each step, which are then run one by one: "NaN", "infinity" for both,
    #: or nothing
    strict: str = ""
    #: whether operators look at shapes and element types before they compute; steps are then run
    #: one by one
    checked: bool = False
    #: whether to run steps one by one also where there is a compiled segment, with what they
    #: compute made read-only, and to compare
    compare: bool = False
    profile: Profile | None = None  #: takes the times
    #: those that rewrite plans; what ``FLUIDLITE_PASSES`` says when None
    passes: tuple[Pass, ...] | None = None
    #: what random operators draw from in turn, in place of the seed
    stream: RandomStream | None = None
    #: the segment whose late updates are left to the caller in its first run
    defers: Segment | None = None

    def __post_init__(self) -> None:
        self.f: Eval = Eval(self.backend)
        strict = bool(self.strict) and not self.compare
        self._reading = "next" if self.observer is None else "peek"
        self._interprets = self.observer is not None or self.checked or strict
        self._looks = self._interprets or self.compare
        self._counters: tuple[int | str, ...] = (self.seed, self.count)
        #: what was found not to be finite, where other processes wait for what this one sends
        self._bad: NonFiniteError | None = None
        self._runs = False
        #: late updates that the caller makes
        self.pending: PendingUpdates | None = None
        #: what a function of the user's raised: it passes operators around unchanged
        self._others: Exception | None = None

    def run(self, plan: BlockPlan, env: Environment, turn: int | None = None) -> None:
        """Run a block on values by name, which take the results; ``turn``, how often it ran before
        in this run of the program, tells the random numbers of its passes apart.

        Raises:
            FluidError: a step failed.
        """
        before, inside = self._counters, self._runs
        self._runs = True
        if turn is not None:
            self._counters = (*before, turn)
        try:
            self._run_plan(plan, env)
        except FluidError as error:  # it may follow from what was found before
            if self._bad is None or inside:
                raise
            raise self._bad from error
        finally:
            self._counters, self._runs = before, inside
        if self._bad is not None and not inside:
            raise self._bad

    def _run_plan(self, plan: BlockPlan, env: Environment) -> None:
        self._run_items(plan.items, env)

    def peek(self, step: Step, env: Environment) -> None:
        """Run a step that reads a batch, which stays the next one.

        Raises:
            Exception: it failed.
        """
        self._reading = "peek"
        self._drive(step, env)

    def _run_items(self, items: Iterable[Segment | Step], env: Environment) -> None:
        for item in items:
            if isinstance(item, Segment):
                self._run_segment(item, env)
            else:
                self._run_one(item, env, self.profile)

    def _run_one(self, step: Step, env: Environment, profile: Profile | None) -> None:
        """Run one step, with what is to be done before and after it."""
        if self.observer is not None:
            self.observer.before(step, env)
        begin = 0 if profile is None else clock()
        self._run_step(step, env)
        if profile is not None:
            profile.add(step.op, begin, clock(), _written_bytes(step, env))
        if self._looks:
            self._look(step, env)
        if step.instance.is_control:
            step.let_go(env)

    def _drive(self, step: Step, env: Environment) -> None:
        """Run a control operator."""
        try:
            step.instance.execute(Driver(self, step, env, self._reading))
        except FluidError as error:
            if step.body is not None:  # an operator inside has said what was wrong and where
                raise
            raise located(error, step.op, []) from error
        except Exception as error:
            if step.instance.calls_out or error is self._others:
                self._others = error
                raise
            own = OpError(f"expected values that fit, got {type(error).__name__}: {error}")
            raise located(own, step.op, []) from error

    def _run_segment(self, segment: Segment, env: Environment) -> None:
        """Run steps as one compiled function if there is one, else one by one."""
        function = None
        if not self._interprets and not segment.is_ragged:
            function = segment.last = self._function(segment, env)
        if function is None and segment.parts and not self._interprets:
            self._run_items(segment.parts, env)
        elif function is None:
            self._interpret(segment, env, self.profile)
        elif self.compare:
            self._run_both(segment, function, env)
        else:
            group = groups.get()
            sent, standing = group.position, self._standing(function)
            try:
                self._call(function, env, segment is self.defers)
            except KernelDeclined:  # for these values; others may be computed as compiled
                self._go_back(standing)
                group.repeat_from(sent)
                self._interpret(segment, env, self.profile)
            except Exception as error:  # the steps one by one say which of them fails
                self._go_back(standing)
                group.repeat_from(sent)
                self._interpret(segment, env, self.profile)
                give_up(segment, function, error)
            else:
                for name in segment.free:
                    env.pop(name, None)

    def _function(self, segment: Segment, env: Environment) -> CompiledSegment | None:
        """The function for the values of an environment, if there is one."""
        if self.profile is None:
            return function_for(segment, env, self.backend, self.passes)
        begin = clock()
        function = function_for(segment, env, self.backend, self.passes)
        if function is not None and not function.is_ready:
            self.profile.add_planning(begin, clock())
        return function

    def _call(self, function: CompiledSegment, env: Environment, defers: bool = False) -> None:
        """Run a function, watched where something is to be seen; ``defers`` where nothing is says
        whether its late updates are left to the caller.
        """
        if self.profile is not None:
            ends: list[tuple[int, int]] = []
            known, begin = function.is_ready, clock()
            function(env, self._draw, Watch("times", lambda k: ends.append((k, clock()))))
            if not known and ends:
                self.profile.add_planning(ends[-1][1], clock())
            self.profile.add_kernels(begin, ends, function.order)
        else:
            self.pending = function(env, self._draw, defers=defers)

    def _standing(self, function: CompiledSegment) -> Any:
        """Where the stream stands that a function draws from; None if it draws from none."""
        draws = self.stream is not None and any(each.draws for each in function.order)
        return self.stream.standing if draws and self.stream is not None else None

    def _go_back(self, standing: Any) -> None:
        """Draw again what was drawn behind where a stream stood."""
        if standing is not None and self.stream is not None:
            self.stream.standing = standing

    def _run_both(self, segment: Segment, function: CompiledSegment, env: Environment) -> None:
        """Run steps one by one and as a function; go on with what the function computes.

        Raises:
            OpError: they disagree.
        """
        group = groups.get()
        sent, standing = group.position, self._standing(function)

        def repeat() -> None:
            self._go_back(standing)
            group.repeat_from(sent)

        inputs = {name: env[name] for name in segment.reads}
        mine = dict(inputs)
        failure = None
        try:
            self._call(function, mine)
        except Exception as error:
            failure = error
        repeat()
        self._interpret(segment, env, None)
        if failure is not None:
            if not isinstance(failure, KernelDeclined):
                give_up(segment, function, failure)
            return
        refuse_differences(segment, function, inputs, mine, env, self._run_step, self._draw, repeat)
        env.update((name, mine[name]) for name in function.results)

    def _interpret(
        self, segment: Segment | BlockPlan, env: Environment, profile: Profile | None
    ) -> None:
        """Run steps one by one."""
        if profile is not None or self._looks or type(self.f) is not Eval:
            for step in segment.steps:
                self._run_one(step, env, profile)
            return
        xp = self.f.xp
        for step in segment.steps:
            direct = step.direct
            if direct is not None and direct.run(xp, env):
                for name in step.free:
                    env.pop(name, None)
            else:
                self._run_one(step, env, None)

    def _run_step(self, step: Step, env: Environment) -> None:
        """Compute what a step writes."""
        if step.instance.is_control:
            self._drive(step, env)
            if self.strict:
                self._refuse_bad(step, env)
            return
        if step.instance.random:
            self.f.rng = self._draw(step.instance.random_key(step.op.first_output))
        step.run(self.f, env, self.checked)
        if self.strict:  # also at what nothing reads
            self._refuse_bad(step, env)
        step.let_go(env)

    def _refuse_bad(self, step: Step, env: Environment) -> None:
        """Look for what is not finite in what a step wrote.  Where other processes wait for what
        this one sends, the run goes on to its end before it is refused.

        Raises:
            NonFiniteError: there is some.
        """
        try:
            check_written(step, writes_of(step.op), env, infinities=self.strict == "infinity")
        except NonFiniteError as error:
            if groups.get().size == 1:
                raise
            self._bad = self._bad or error

    def _draw(self, key: str | tuple[int | str, ...]) -> Any:
        """A source of random numbers for an operator; its key may begin with the numbers of the
        passes through blocks that it is part of.
        """
        if self.stream is not None:
            return self.stream
        keys = key if isinstance(key, tuple) else (key,)
        return self.backend.generators(*self._counters, *keys)

    def _look(self, step: Step, env: Environment) -> None:
        """Do after a step what this run is to do after each."""
        if self.compare:
            _make_read_only(step.op, env)
        if self.observer is not None:
            self.observer.after(step, env)


def _written_bytes(step: Step, env: Environment) -> int:
    """The size of what a step wrote and somebody still needs."""
    return sum(a.nbytes for n in step.op.output_arg_names for a in arrays_in(env.get(n)))


def _make_read_only(op: Operator, env: Environment) -> None:
    for name in op.output_arg_names:
        for array in arrays_in(env.get(name)):
            array.flags.writeable = False
