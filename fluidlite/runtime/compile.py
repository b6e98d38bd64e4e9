"""Compilation: a segment of steps as one function, for values of given shapes.

It is lowered to a graph, rewritten by the pipeline, given memory and printed as Python source.
When that is done, ``segment.py`` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import prepared_rows  # noqa: F401  (kernels register themselves)
from ..ground.allocator import give_back_freed_memory
from ..ground.state import collector_paused
from ..kernels import (
    registered,  # noqa: F401  (kernels register themselves)
    threads,
)
from ..kernels.tuning import ThreadTuner
from .buffers import Buffers, Footprint
from .codegen import GeneratedSource
from .first_run import executed, held_array
from .graph import Graph, Instruction
from .in_place import PendingUpdates
from .lower import lowered as lowered
from .memory import BufferAssignment, Observation, is_fresh, last_uses
from .passes import pipeline
from .passes.form import Context, Pass
from .recording import Recording
from .segment import Watch
from .step import Environment
from .updates import LateUpdates, computed, late_updates, untouched, updates_last
from .value import Value

if TYPE_CHECKING:
    from ..opdef.spec import Spec
    from .planned_before import PlanNote

MOST_FREED = 1 << 26  #: bytes that may be free around the first run of a plan
MOST_PUT_OFF = 10  #: runs after which a plan waits for kernels that are being compiled
SMALLEST_PRODUCT = 1 << 20  #: multiplications from which on OpenBLAS takes several threads


class CompiledSegment:
    """A graph as one function: rewritten, with kernels and buffers, for values of given shapes.

    Args:
        lower: makes the graph.
        backend: whose kernels run.
        libraries: give what a kernel library offers for a graph; see ``backend.kernel_libraries``.
        passes: those that run; what ``FLUIDLITE_PASSES`` says when None.
        commits: names of results that replace values of the scope.
        note: of the plan; knows how many threads were best, and learns it.

    Raises:
        Unsupported: it has to be interpreted.
    """

    graph: Graph
    choices: dict[Instruction, str]

    @collector_paused()
    def __init__(
        self,
        lower: Callable[[], Graph],
        backend: Any,
        libraries: Sequence[Callable[[Graph], Any]] = (),
        passes: tuple[Pass, ...] | None = None,
        commits: Collection[str] = (),
        note: PlanNote | None = None,
    ) -> None:
        self._lower, self._xp, self._open = lower, backend.xp, libraries
        self._note = note
        #: makes the same once more, with the kernels that are there then
        self.improved: Callable[..., CompiledSegment] = partial(
            CompiledSegment, lower, backend, libraries, passes, commits, note
        )
        self._passes = pipeline.selected() if passes is None else passes
        graph = self.graph = lower()
        #: kernels that a plan made anew would have, once they are compiled
        self.improvement: Any = None
        self._put_off = 0  # runs after which they were still being compiled
        self._tuners, self.choices = self._rewrite(graph)
        self.order: list[Instruction] = list(graph)
        #: what the steps write: the step, the name and the value
        self.named: list[tuple[Any, str, Value]] = [
            (s, name, graph.current(v)) for s, name, v in graph.names
        ]
        self._variants: dict[str, Callable[..., Any]] = {}
        tuner = _tuner_of_products(self.order)
        if tuner is not None:
            self._begin_tuning([tuner], len(self._tuners))
            self._tuners.append(tuner)
        for instruction in self.order:
            _use_threads(instruction)
        self._inputs, self._outputs = graph.inputs, dict(graph.outputs)
        self.names: list[str] = list(self._inputs)
        self.results: list[str] = list(self._outputs)
        self.specs: list[Spec] = [value.spec for value in self._inputs.values()]
        self._double_buffered = [name for name in self.results if name in commits]
        early, late, self._over = updates_last(self.order, self._replaced())
        self.order = [*early, *late]
        self._first_late = len(early)
        #: the steps of optimizers that may write over what they replace; None where none may
        self.late: LateUpdates | None = None
        #: arrays that were replaced in the scope, and that nobody else holds, by name
        self.donated: dict[str, Any] = {}
        #: what is run, once a first run has shown where values lie: a function of buffers, donated
        #: arrays, what draws, and the inputs
        self.run: Callable[..., Any] | None = None
        #: the same without the late updates, whose arrays it gives behind the results
        self.run_early: Callable[..., Any] | None = None
        #: of results that may be written to donated arrays, in order: shapes and element types
        self.donatable: dict[str, tuple[Any, Any]] = {}

    def _begin_tuning(self, tuners: Sequence[ThreadTuner], first: int = 0) -> None:
        """Let tuners, from a place on, begin with what was best, and tell the plan's note what is.

        No tuner may hold the segment, which holds it.
        """
        note = self._note
        for place, tuner in enumerate(() if note is None else tuners, first):
            assert note is not None
            tuner.begin_with(*note.thread_counts[place : place + 1])
            tuner.found = partial(note.note_threads, place)

    def _replaced(self) -> dict[int, Value]:
        """By number of a result, the value in whose variable it goes, where these are alike."""
        count = Counter(value.number for value in self._outputs.values())
        return {
            new.number: old
            for name in self._double_buffered
            if (old := self._inputs.get(name)) is not None
            and (new := self._outputs[name]).stored == old.stored
            and count[new.number] == 1
        }

    def _rewrite(
        self, graph: Graph, after: Callable[[Pass, Graph], None] | None = None
    ) -> tuple[list[ThreadTuner], dict[Instruction, str]]:
        """Run the pipeline: the tuners of kernel libraries, and why which kernel was chosen."""
        opened = [open_library(graph) for open_library in self._open]
        libraries = [library for library in opened if library is not None]
        tuners = [library.tuner for library in libraries if library.tuner is not None]
        self._begin_tuning(tuners)
        context = Context(graph.builder, libraries)
        _with_threads(tuners, pipeline.run)(graph, context, self._passes, after)
        if after is None:
            functions = (library.command_functions for library in libraries)
            #: has the functions that run command buffers; None where no library has them
            self._command_functions: Any = next(filter(None, functions), None)
            found = [library.improvement() for library in libraries]
            self.improvement = next((each for each in found if each is not None), None)
        return tuners, context.choices

    def __call__(
        self,
        env: Environment,
        draw: Callable[[str], Any],
        watch: Watch | None = None,
        defers: bool = False,
    ) -> PendingUpdates | None:
        """Compute what the steps compute into an environment.

        Args:
            env: values by name.
            draw: gives the random numbers of an operator, by its key.
            watch: looks at each instruction.
            defers: whether late updates of a first run may be left to the caller.

        Returns:
            those that are; the environment then lacks the values that they write over.
        """
        run = self.run
        if run is None:
            first_run = _with_threads(self._tuners, self._first_run)
            pending: PendingUpdates | None = first_run(env, draw, watch, defers)
            return pending
        if watch is not None:
            run = _with_threads(self._tuners, partial(self._variant(watch.kind), hook=watch.hook))
        found = self._computed(run, [env[name] for name in self.names], draw)
        env.update(zip(self.results, found))
        return None

    def _computed(
        self, run: Callable[..., Any], given: Sequence[Any], draw: Callable[[Any], Any]
    ) -> tuple[Any, ...]:
        """What a function computes in buffers that no other run has."""
        buffers = self.buffers.take()
        donated = [self.donated.pop(name, None) for name in self.donatable]
        found: tuple[Any, ...] = run(buffers, donated, draw, *given)
        self.buffers.give_back(buffers)
        return found

    @property
    def forms(self) -> list[tuple[int, ...] | None]:
        """The shapes of the results; None where they follow from values."""
        return [tuple(v.shape) if v.is_static else None for v in self._outputs.values()]

    def as_plain(self, value: Value, made: Mapping[int, Any]) -> Any:
        """A value as a plain array, of what instructions made by number; None where none does."""
        if value.constant is not None:
            return value.constant
        array = made.get(value.number)
        if array is None or value.layout is None:
            return array
        reorder = value.library.reorder(value.layout, None, value.shape)
        scratch = [] if reorder.scratch is None else [reorder.scratch()]
        return _with_threads(self._tuners, reorder.function)(array, *scratch)

    @property
    def is_ready(self) -> bool:
        """Whether the source has been written."""
        return self.run is not None

    @property
    def footprint(self) -> Footprint | None:
        """What a run takes; None before a first run has shown where values lie."""
        return self.assigned.footprint if self.is_ready else None

    @property
    def source(self) -> str:
        """What is run; empty before it has been written."""
        return "\n".join(self._source.written()) if self.is_ready else ""

    def replay(self, after: Callable[[str, Graph], None]) -> None:
        """Compile once more up to the last pass; ``after`` is called with ``"lower"`` and the name
        of each pass that changed the graph, and it.
        """
        graph = self._lower()
        after("lower", graph)
        self._rewrite(graph, lambda each, graph: after(each.name, graph))

    def donate(self, name: str, array: Any) -> None:
        """Keep an array that a result replaced, for the next run to write to."""
        if self.donatable.get(name) == (array.shape, array.dtype):
            self.donated[name] = array

    def retire(self) -> None:
        """Give back the memory of runs: another segment takes this one's place."""
        self.donated.clear()
        if self.is_ready:
            self.buffers.let_go()

    def _watched(self, kind: str) -> dict[int, list[Value]]:
        """By number of a watched instruction, the values that the watch gets."""
        if kind == "times":
            return {index: [] for index in range(len(self.order))}
        return {index: each.results for index, each in enumerate(self.order)}

    def _variant(self, kind: str) -> Callable[..., Any]:
        """The function with lines for a kind of watches."""
        variant = self._variants.get(kind)
        if variant is None:
            source = self._source.written(self._watched(kind))
            variant = self._variants[kind] = self._executable(source)
        return variant

    def _executable(self, sources: Iterable[str]) -> Callable[..., Any]:
        namespace = {**self._source.names, "xp": self._xp}
        for source in sources:
            exec(compile(source, "<compiled plan>", "exec"), namespace)
        made: Callable[..., Any] = namespace["run"]
        return made

    def _is_put_off(self) -> bool:
        """Whether memory and source wait for kernels that are being compiled: with those they are
        made anew, and updates need no second set of arrays.
        """
        improvement = self.improvement
        if improvement is None or not improvement.is_requested or self._put_off >= MOST_PUT_OFF:
            return False
        self._put_off += 1
        return True

    @collector_paused()
    def _first_run(
        self, env: Environment, draw: Callable[[str], Any], watch: Watch | None, defers: bool
    ) -> PendingUpdates | None:
        """Run one instruction after the other; then assign buffers, and write the source.

        Of late updates that are left to the caller only the form is looked at: it needs no second
        set of what they write over.
        """
        give_back_freed_memory(MOST_FREED)  # what was interpreted has left
        observed, order, is_put_off = Observation(), self.order, self._is_put_off()
        left = order[self._first_late :] if defers and not is_put_off else []
        forms = untouched(left)
        records = self._command_functions is not None and not is_put_off
        recording = Recording(self._command_functions) if records else None
        watched = {} if watch is None else self._watched(watch.kind)
        held = {v.number: env[name] for name, v in self._inputs.items()}
        rooms: dict[Any, Any] = {}
        dying = last_uses(order, list(self._outputs.values()))
        for index, (instruction, dead) in enumerate(zip(order, dying, strict=True)):
            if instruction in forms:
                taken = [held_array(value, held) for value in instruction.operands]
                results, dead = forms[instruction], []
            else:
                taken, results = executed(instruction, self._xp, held, rooms, draw)
            if recording is not None:
                recording.note(index, instruction, taken, [array for _, array in results])
            if not is_put_off:  # else another plan's first run looks
                observed.note(results, [(v, held.get(v.number)) for v in instruction.inputs])
            held.update((value.number, array) for value, array in results)
            if watch is not None and index in watched:
                watch.hook(index, *[held[v.number] for v in watched[index]])
            for value in dead:
                held.pop(value.number, None)
        pending = None
        if not is_put_off:
            #: results that share no memory with anything else
            self.fresh: set[str] = {n for n, v in self._outputs.items() if is_fresh(v, observed)}
            self._write(observed, dying, recording)
            if left and self.late is not None:
                pending = PendingUpdates(self.late, held)
                held.update(pending.made)
            else:
                held.update(computed(left, held))
        for name, value in self._outputs.items():
            env[name] = held[value.number] if value.constant is None else value.constant
        for name in () if pending is None else pending.names:
            del env[name]
        del held
        give_back_freed_memory(MOST_FREED)
        return pending

    def _write(
        self, observed: Observation, dying: Sequence[Sequence[Value]], recording: Recording | None
    ) -> None:
        """Assign buffers and write the source, as a first run has shown how values lie."""
        inputs, outputs = list(self._inputs.values()), list(self._outputs.values())
        double = [self._outputs[name] for name in self._double_buffered]
        self.assigned: BufferAssignment = BufferAssignment(
            self.order, inputs, outputs, double, observed, dying, recording, self._first_late
        )
        self.late = late_updates(self.graph, self.assigned, self._first_late, self._over, observed)
        self._source = GeneratedSource(self.assigned)
        by_number = {v.number: (name, v) for name, v in self._outputs.items()}
        donatable = [by_number[number] for number in self.assigned.donated]
        self.donatable = {name: (v.shape, v.dtype) for name, v in donatable}
        self.buffers: Buffers = Buffers(self.assigned.makers)
        self.run = _with_threads(self._tuners, self._executable(self._source.written()))
        if self.late is not None:
            early = self._executable([*self._source.written(late=self.late)])
            self.run_early = _with_threads(self._tuners, early)


def _with_threads(
    tuners: Iterable[ThreadTuner], function: Callable[..., Any]
) -> Callable[..., Any]:
    """A function that is called with the number of threads that is fastest."""
    for tuner in tuners:
        function = partial(tuner.run, function)
    return function


def _tuner_of_products(order: Sequence[Instruction]) -> ThreadTuner | None:
    """What decides how many threads NumPy's BLAS has; None where it does not matter."""
    if threads.count() < 2 or threads.is_fixed():
        return None
    for instruction in order:
        if not instruction.op.multiplies() or instruction.library:
            continue
        (x, y), (made,) = instruction.operands[:2], instruction.results
        if x.size * y.size * made.size >= SMALLEST_PRODUCT**2 and threads.BlasThreads.has_several():
            return ThreadTuner(threads.BlasThreads(), threads.count(), False)
    return None


def _use_threads(instruction: Instruction) -> None:
    """Let several threads compute what is large and element by element."""
    kernel = instruction.kernel
    if kernel is not None and type(kernel.function) is np.ufunc and len(instruction.results) == 1:
        function = threads.spread_where_large(kernel.function, instruction.results[0].nbytes)
        if function is not kernel.function:
            instruction.kernel = kernel._replace(function=function)
