"""Stretches of steps as one prepared function for each combination of shapes.

What is seen for the first time is interpreted; what is seen again is specialised.  Interpretation
is the meaning: where a specialised function fails, the steps are interpreted from the same values,
which raises the error that names the operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import kernels  # noqa: F401  (made ready kernels register themselves)
from ..backend import kernel_library
from ..dtypes import Kind, as_dtype
from ..errors import FluidError
from ..kernels import threads
from ..kernels.crew import Crew
from ..opdef.spec import Spec
from ..state import collector_paused
from .buffers import Buffers, Footprint, Memory
from .emit import Emission
from .fusing import pooled_first
from .grouping import grouped
from .layouts import arranged
from .segment import Segment
from .step import Environment
from .tidy import last_uses, tidied
from .trace import Kernel, Trace, Unsupported, Value

SMALLEST_PRODUCT = 1 << 20  #: multiplications from which on OpenBLAS takes several threads
FUNCTIONS_KEPT = 8  #: of one stretch, for different shapes


def function_for(stretch: Segment, env: Environment, backend: Any) -> Function | None:
    """The function for the values of an environment; None where the steps are to be interpreted:
    the first time that shapes are seen, and where they cannot be specialised.
    """
    key = _key_of(env, stretch.reads)
    if key is None:
        return None
    functions = stretch.functions
    known = functions.get(key, _UNSEEN)
    if known is _UNSEEN:
        functions[key] = _SEEN
        while len(functions) > FUNCTIONS_KEPT:
            functions.popitem(last=False)
        return None
    if known is _SEEN:
        specs = {n: Spec(env[n].shape, as_dtype(env[n].dtype)) for n in stretch.reads}
        library = kernel_library()
        try:
            known = Function(stretch, specs, backend, library)
        except (Unsupported, FluidError):  # the steps one by one say what is wrong
            known = None
        except Exception as error:
            known = None
            _report("a plan could not be specialised, and is interpreted", error)
        functions[key] = known
    found: Function | None = known
    return found


def give_up(stretch: Segment, function: Function, error: Exception) -> None:
    """Interpret from now on what a function failed to compute although the steps did not fail.

    Args:
        stretch: the steps.
        function: what failed.
        error: how.
    """
    for key, known in stretch.functions.items():
        if known is function:
            stretch.functions[key] = None
    _report(
        "a specialised plan failed where the interpreted one did not, and is not used any more",
        error,
    )


def _report(what: str, error: Exception) -> None:
    """Warn of a mistake of fluidlite's own."""
    message = f"{what}; please report this: {type(error).__name__}: {error}"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


_UNSEEN: Any = object()
_SEEN: Any = object()


def _key_of(env: Environment, names: Sequence[str]) -> Any:
    """Shapes and element types of values; None where one is no plain array."""
    key = []
    for name in names:
        value = env.get(name)
        if type(value) is not np.ndarray:
            return None
        key.append(value.shape)
        key.append(value.dtype)
    return tuple(key)


class Watch(NamedTuple):
    """What looks at a function while it runs.

    A function that is watched has a source of its own, with a further line behind its kernels, so
    that one that is not watched pays nothing.
    """

    #: "times": behind each kernel; "values": also its values; "gradients": the values of those that
    #: make gradients of parameters
    kind: str
    #: called with the number of a kernel, and with the values
    hook: Callable[..., None]


class Function:
    """A stretch of steps for values of given shapes.

    Args:
        stretch: the steps.
        specs: shapes and element types by name.
        backend: whose kernels run.
        library: gives what a library of kernels offers; see ``backend.kernel_library``.

    Raises:
        Unsupported: it has to be interpreted.
    """

    @collector_paused()
    def __init__(
        self, stretch: Segment, specs: dict[str, Spec], backend: Any, library: Any = None
    ) -> None:
        trace = Trace(backend)
        made = trace.run(stretch.steps, specs, stretch.writes)
        self.kernels, instead = tidied(trace, made.values())
        #: what the steps write: the step, the name and the value
        self.named = [(s, name, instead.get(v.number, v)) for s, name, v in trace.named]
        self._gradients = {v.number for _, name, v in self.named if name in stretch.gradients}
        self._variants: dict[str, Callable[..., Any]] = {}
        self._outputs = {name: instead.get(v.number, v) for name, v in made.items()}
        wanted = self._outputs.values()
        planner = library and library(self.kernels, [v.number for v in wanted])
        #: calls a function with the threads that the kernels take; None where a call is enough
        self._with_crew: Callable[..., Any] | None = None
        self._as_plain: Callable[[Value, Mapping[int, Any]], Any] | None = None
        if planner:
            self._with_crew = planner.crew.run
            self.kernels, plain, self._as_plain = self._with_crew(
                arranged, self.kernels, wanted, trace, planner
            )
            self._outputs = {name: plain.get(v.number, v) for name, v in self._outputs.items()}
        else:
            self.kernels = pooled_first(self.kernels, wanted, trace)
        self.kernels = grouped(self.kernels)
        crew = _crew_of_products(self.kernels)
        if crew is not None:
            inner = self._with_crew
            self._with_crew = crew.run if inner is None else partial(crew.run, inner)
        for kernel in self.kernels:
            _spread(kernel)
        self._inputs = trace.inputs
        self._xp = backend.xp
        self.names = list(trace.inputs)
        self.specs = [value.spec for value in trace.inputs.values()]
        self.results = list(self._outputs)
        #: of the values that are given back: names of one value have the same number
        self.numbers = [value.number for value in self._outputs.values()]
        #: arrays that were replaced, and that nobody else holds, by the name of what replaced them
        self.spares: dict[str, Any] = {}
        self._rotating: list[str] = [n for n in self.results if n in stretch.commits]
        #: what is run, once a first run has shown where values lie
        self._run: Callable[..., Any] | None = None

    def __call__(
        self, env: Environment, draw: Callable[[str], Any], watch: Watch | None = None
    ) -> None:
        """Compute what the steps compute into an environment.

        Args:
            env: values by name.
            draw: gives the random numbers of an operator, by its key.
            watch: what looks on.
        """
        run = self._run
        if run is None:
            if self._with_crew is None:
                self._first_run(env, draw, watch)
            else:
                self._with_crew(self._first_run, env, draw, watch)
            return
        if watch is not None:
            run = partial(self._variant(watch.kind), hook=watch.hook)
        found = self._computed(run, [env[name] for name in self.names], draw)
        env.update(zip(self.results, found))

    def compute(self, given: Sequence[Any], draw: Callable[[Any], Any]) -> tuple[Any, ...]:
        """What the steps compute, in the order of ``results``; the function is ready.

        Args:
            given: the values of ``names``.
            draw: gives the random numbers of an operator, by its key.
        """
        assert self._run is not None
        return self._computed(self._run, given, draw)

    def _computed(
        self, run: Callable[..., Any], given: Sequence[Any], draw: Callable[[Any], Any]
    ) -> tuple[Any, ...]:
        """What a function computes in buffers that no other run has."""
        buffers = self._buffers.take()
        spares = [self.spares.pop(name, None) for name in self._spared]
        found: tuple[Any, ...]
        if self._with_crew is None:
            found = run(buffers, spares, draw, *given)
        else:
            found = self._with_crew(run, buffers, spares, draw, *given)
        self._buffers.give_back(buffers)
        return found

    def as_plain(self, value: Value, made: Mapping[int, Any]) -> Any:
        """A value as a plain array; None where no kernel makes it.

        Args:
            value: it.
            made: what kernels made, by number; it may lie as a library wants it.
        """
        if value.constant is not None:
            return value.constant
        if self._as_plain is None or self._with_crew is None:
            return made.get(value.number)
        return self._with_crew(self._as_plain, value, made)

    @property
    def is_ready(self) -> bool:
        """Whether the source has been written."""
        return self._run is not None

    @property
    def footprint(self) -> Footprint | None:
        """What a run takes; None before a first run has shown where values lie."""
        return self._emission.footprint if self.is_ready else None

    @property
    def source(self) -> str:
        """What is run; empty before it has been written."""
        return "\n".join(self._emission.written()) if self.is_ready else ""

    def has_room_for(self, name: str) -> bool:
        """Whether a result may be written to an array that it replaced before.

        Args:
            name: of the result.
        """
        return name in self._spared

    def take_spare(self, name: str, array: Any) -> None:
        """Keep an array that a result may be written to."""
        if self._run is not None and self._spared.get(name) == (array.shape, array.dtype):
            self.spares[name] = array

    def _watched(self, kind: str) -> dict[int, list[Value]]:
        """Numbers of the kernels that a watch is told about, and the values that it is given."""
        if kind == "times":
            return {index: [] for index in range(len(self.kernels))}
        if kind == "values":
            return {index: kernel.outputs for index, kernel in enumerate(self.kernels)}
        found = {
            index: [v for v in kernel.outputs if v.number in self._gradients]
            for index, kernel in enumerate(self.kernels)
        }
        return {index: values for index, values in found.items() if values}

    def _variant(self, kind: str) -> Callable[..., Any]:
        """The function with lines for a kind of watches."""
        found = self._variants.get(kind)
        if found is None:
            after = {
                index: f"hook({', '.join([str(index), *(f'v{v.number}' for v in values)])})"
                for index, values in self._watched(kind).items()
            }
            found = self._variants[kind] = self._compiled(self._emission.written(after))
        return found

    def _compiled(self, sources: Iterable[str]) -> Callable[..., Any]:
        namespace = {**self._emission.names, "xp": self._xp}
        for source in sources:
            exec(compile(source, "<specialised plan>", "exec"), namespace)
        made: Callable[..., Any] = namespace["run"]
        return made

    @collector_paused()
    def _first_run(self, env: Environment, draw: Callable[[str], Any], watch: Watch | None) -> None:
        """Run kernel by kernel, and write the source from what was seen."""
        memory, listed = Memory(), self.kernels
        watched = {} if watch is None else self._watched(watch.kind)
        held = {v.number: env[name] for name, v in self._inputs.items()}
        dying = last_uses(listed, self._outputs.values())
        for index, (kernel, dead) in enumerate(zip(listed, dying, strict=True)):
            for value, array in kernel.run(self._xp, held, draw):
                held[value.number] = array
                memory.note(value, array, [(v, held.get(v.number)) for v in kernel.inputs])
            if watch is not None and index in watched:
                watch.hook(index, *[held[v.number] for v in watched[index]])
            for value in dead:
                held.pop(value.number, None)
        rotating = [self._outputs[name] for name in self._rotating]
        emission = self._emission = Emission(
            listed,
            list(self._inputs.values()),
            list(self._outputs.values()),
            rotating,
            memory,
            dying,
        )
        by_number = {v.number: name for name, v in self._outputs.items()}
        spared = {by_number[n]: self._outputs[by_number[n]] for n in emission.spares}
        self._spared = {name: (v.shape, v.dtype) for name, v in spared.items()}
        self._buffers = Buffers(emission.makers)
        #: results that share no memory with anything else
        self.fresh = {
            name
            for name, v in self._outputs.items()
            if v.constant is None
            and v.kind is Kind.LOD_TENSOR
            and v.number not in {i.number for i in self._inputs.values()}
            and not memory.shared.get(v.number)
        }
        self._run = self._compiled(emission.written())
        for name, value in self._outputs.items():
            env[name] = held[value.number] if value.constant is None else value.constant


def _crew_of_products(listed: Sequence[Kernel]) -> Crew | None:
    """What decides how many threads NumPy's BLAS has in a plan; None where it does not matter."""
    if threads.count() < 2 or threads.is_fixed():
        return None
    for kernel in listed:
        if kernel.op.type not in ("mul", "matmul") or kernel.library:
            continue
        (x, y), (made,) = kernel.arguments[:2], kernel.outputs
        if x.size * y.size * made.size >= SMALLEST_PRODUCT**2 and threads.Blas.has_several():
            return Crew(threads.Blas(), threads.count(), False)
    return None


def _spread(kernel: Kernel) -> None:
    """Let several threads compute what is large and element-wise."""
    prepared = kernel.prepared
    if prepared is not None and type(prepared.function) is np.ufunc and len(kernel.outputs) == 1:
        function = threads.spread_where_large(prepared.function, kernel.outputs[0].nbytes)
        if function is not prepared.function:
            kernel.prepared = prepared._replace(function=function)
