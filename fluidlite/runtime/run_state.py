"""The targets of a program, and what an executor remembers of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ref

from ..errors import FetchTypeError
from ..ground.callsite import CallSite, warn
from ..ground.seeding import RandomStream, seeds
from ..ir.declared import described, is_the_same
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..ir.verify import verify
from ..scope import Scope
from .agreement import agree, share_first_values
from .plan import Plan, ProgramPart, Pruned
from .segment import segments_in

#: the names that are fetched, and what a run is cut down to
Wanted = tuple[tuple[str, ...], Pruned | ProgramPart | None]


TAKEN_KEPT = 256
#: so many runs in a row, each of a longer program, are taken for a mistake
GROWTHS = 5
PLANS_KEPT = 16  # of one program, for different fetches


def fetch_names(fetch_list: Any, program: Program) -> tuple[list[str], list[Operator]]:
    """What is to be fetched: names, and operators of an optimizer, which make a run leave out what
    neither needs; what operators ``fetch`` read when None.

    Args:
        fetch_list: variables, names and operators, also in lists of lists; what ``minimize`` gives
            stands for its operators.
        program: that is run.

    Raises:
        FetchTypeError: something else.
    """
    names: list[str] = []
    ops: list[Operator] = []
    if fetch_list is None:
        return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"], ops
    _sort_out(fetch_list if type(fetch_list) is list else [fetch_list], names, ops)
    return names, ops


def _sort_out(items: Iterable[Any], names: list[str], ops: list[Operator]) -> None:
    """Add what is to be fetched to names and operators."""
    for item in items:
        if isinstance(item, Variable):
            names.append(item.name)
        elif isinstance(item, str):
            names.append(item)
        elif isinstance(item, Operator):
            ops.append(item)
        elif isinstance(item, (list, tuple)):
            _sort_out(item[0] if _is_minimized(item) else item, names, ops)
        else:
            raise FetchTypeError(
                f"expected fetch_list to be a list of variables or names, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )


def _is_minimized(item: Any) -> bool:
    """Whether something is what ``minimize`` gives: operators, and parameters with gradients."""
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], list)
        and bool(item[0])
        and all(isinstance(op, Operator) for op in item[0])
    )


class ExecutorToken:
    """Stands for an executor until it is closed: what programs remember for it goes with it."""


class RunState:
    """What an executor remembers of one program; the program holds it.

    Args:
        number: of the executor.
        stream: what random operators draw from in turn; None for the seeds'.
    """

    def __init__(self, number: int, stream: RandomStream | None = None) -> None:
        self._number, self._stream = number, stream
        self._seed = seeds.get()
        #: how often the program was run
        self.count = 0
        #: what random operators start from in place of the executor's own number
        self.seed: int | None = None
        #: names of which something doubtful has been said
        self.warned: set[str] = set()
        #: names of fetched variables of other programs that were looked at
        self.strange: set[str] = set()
        #: what was fed unlike its declaration, and was found to be what the operators take
        self.taken: set[frozenset[tuple[str, str]]] = set()
        #: how many operators the program had, which line appended the last one, and how many runs
        #: in a row that line has made it longer
        self._grown: tuple[int, CallSite | None, int] = (0, None, 0)
        #: the revision of the program that other processes were found to have, too
        self._agreed = -1
        #: where all processes were given the same values
        self._shared: ref[Scope] | None = None
        #: by the program's revision and what is wanted of it
        self.plans: OrderedDict[tuple[int, Wanted], Plan] = OrderedDict()

    def renewed(self) -> RunState:
        """The same where nobody has called ``fluid.seed`` since, or where it has a number of its
        own; else one that begins anew.
        """
        if self.seed is not None or self._seed is seeds.get():
            return self
        new = RunState(self._number, self._stream)
        new.warned, new.strange, new.taken = self.warned, self.strange, self.taken
        return new

    def seed_of(self, program: Program) -> int:
        """What random operators of the program start from."""
        own = self._seed.of_executor(self._number) if self.seed is None else self.seed
        return program.random_seed or own

    def stream_of(self, program: Program) -> RandomStream | None:
        """What random operators of the program draw from in turn; None where each has numbers of
        its own.
        """
        if self._stream is not None:
            return self._stream
        has_own = self.seed is not None or program.random_seed
        return None if has_own else self._seed.stream

    def draw(self, program: Program, backend: Any, key: str | tuple[int | str, ...]) -> Any:
        """A source of random numbers for an operator of the next run; see ``Session``."""
        stream = self.stream_of(program)
        if stream is not None:
            return stream
        keys = key if isinstance(key, tuple) else (key,)
        return backend.generators(self.seed_of(program), self.count, *keys)

    def warn(self, doubts: Mapping[str, str]) -> None:
        """Warn of what is doubtful, a text by name, once for each name."""
        for name in [name for name in doubts if name not in self.warned]:
            warn(doubts[name], None)
            self.warned.add(name)

    def warn_of_strangers(self, fetch_list: Any, program: Program) -> None:
        """Say which fetched variables are of another program, while another one of that name is in
        the program that is run.

        Args:
            fetch_list: as the user gave it.
            program: that is run.
        """
        given = fetch_list if isinstance(fetch_list, (list, tuple)) else [fetch_list]
        for item in given:
            if not isinstance(item, Variable) or item.program is program:
                continue
            if item.name in self.strange:
                continue
            self.strange.add(item.name)
            here = program.global_block().vars.get(item.name)
            if here is not None and not is_the_same(here, item):
                warn(
                    f"{item.name!r}, which is fetched, is a variable of another program, "
                    f"{described(item)}; the program that is run has another one of that name, "
                    f"{described(here)}, whose value is fetched; run the variable's program",
                    None,
                )

    def take(self, odd: frozenset[tuple[str, str]]) -> None:
        """Remember what was fed unlike its declaration, and was taken by the operators."""
        if len(self.taken) >= TAKEN_KEPT:
            self.taken.clear()
        self.taken.add(odd)

    def plan(self, program: Program, wanted: Wanted, keep: bool, verified: bool) -> Plan:
        """The plan of the program as it is now, kept for the next run or not; where it is to be
        verified, contradictions in the program are looked for first.
        """
        key = (program.revision, wanted)
        plan = self.plans.get(key)
        if plan is not None:
            try:
                self.plans.move_to_end(key)
            except KeyError:  # another thread has let go of it
                pass
            return plan
        self._note_growth(program)
        if verified:
            verify(program)
        plan = Plan(program, *wanted)
        if self._agreed != program.revision:
            agree(program)
            self._agreed = program.revision
        if keep:
            for old in [*self.plans]:  # other threads may add some
                if old[0] != program.revision:
                    self.plans.pop(old, None)
            self.plans[key] = plan
            while len(self.plans) > PLANS_KEPT:
                self.plans.popitem(last=False)
        else:
            for segment in segments_in(plan.items):
                segment.runs_once = True
        return plan

    def begin_in(self, scope: Scope, program: Program) -> None:
        """Give all processes the same values before the first run in a scope."""
        if self._shared is None or self._shared() is not scope:
            share_first_values(program, scope)
            self._shared = ref(scope)

    def _note_growth(self, program: Program) -> None:
        """Notice a loop that builds and runs: each run would be longer than the last."""
        ops = program.global_block().ops
        count, site, times = self._grown
        if len(ops) <= count:
            return
        last = ops[-1].callsite
        times = times + 1 if count and last is not None and last == site else 0
        self._grown = len(ops), last, times
        if times == GROWTHS:
            warn(
                f"{last} has appended operators between each of the last {times + 1} runs of a "
                f"program, which has {len(ops)} by now: each run is planned anew and is longer "
                f"than the last; build in front of the loop",
                None,
            )
