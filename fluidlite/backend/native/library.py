"""Generated kernels for the groups of instructions of one graph."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np

from ...kernels import threads
from ...opdef.prepared import KernelDeclined, KernelLibrary, Offer, Prepared, Scratch
from ..commands import CommandFunctions, NativeCommand, Status, address_of_function
from .compiler import COMPILER, Compiler
from .fusion_groups import MOST_ARRAYS
from .fusion_shapes import GroupKernel, GroupKernels
from .kernel import Kernel
from .layouts import relaid
from .loops import BLOCKS
from .products import product_source
from .source import KernelSource
from .symbols import Untraceable
from .tracing import TracedResults, traced, traced_together

CALL = 0.4  #: what a kernel costs as a multiple of NumPy's where calling takes the time
#: work (see ``KernelSource``) from which on the lock of Python is let go of, and from which on
#: threads share it: those of OpenMP, which are awake, and Python's
LONG, SHARED_BY_TEAM, SHARED = 1 << 17, 1 << 18, 1 << 20
MOST_SCRATCH = 1 << 30  #: bytes that a kernel works in, where a note says so
#: the name of a generated kernel, and behind it that of its library
_NAME = re.compile(r"k[0-9a-f]{52}", re.ASCII)


class NativeKernels(KernelLibrary):
    """What the generator offers for one graph.

    Args:
        compiler: makes kernels.
        waits: whether to wait for it, and to compile whatever there is.
    """

    name = "native"
    most_arrays = MOST_ARRAYS  #: that a kernel of a group reads and makes

    def __init__(self, compiler: Compiler, waits: bool) -> None:
        self._compiler = compiler
        self.waits = waits
        self._traces = _Traces()
        self._groups = GroupKernels(self._traces.of)
        self._wanted: dict[str, KernelSource] = {}
        self._products: dict[str, Prepared | None] = {}
        #: None before any kernel is there
        self.command_functions: CommandFunctions | None = None

    def cost(self, instruction: Any, layouts: Any) -> float | None:
        """What a kernel costs as a multiple of NumPy's; None if there is none by itself."""
        return None if _product_of(instruction) is None else CALL

    def offer(self, instruction: Any, layouts: Any, epilogues: Any) -> Offer | None:
        """The kernel of a product of small matrices; None while it is not compiled."""
        source = _product_of(instruction)
        if source is None:
            return None
        if source.name not in self._products:  # many are alike
            made = [value.stored for value in instruction.results]
            (self._products[source.name],) = self.kernels([source], [made])
        kernel = self._products[source.name]
        return None if kernel is None else Offer(kernel, (None, None), (None,))

    def trace(self, instruction: Any) -> TracedResults | None:
        """What an instruction computes for each element; None where that has no expression."""
        return self._traces.of(instruction)

    def group(
        self, members: Sequence[Any], outputs: Sequence[Any], before: GroupKernel | None = None
    ) -> GroupKernel | None:
        """What some instructions compute together; None where that is not one loop."""
        return self._groups.of(members, outputs, before)

    @property
    def remembers(self) -> bool:
        """Whether there is a folder of kernels."""
        return self._compiler.cache.folder is not None

    def recalled(self, key: str) -> str:
        """A text that was kept beside kernels; empty if there is none."""
        return self._compiler.cache.noted(self._own(key))

    def remember(self, key: str, text: str) -> None:
        """Keep a text beside kernels."""
        self._compiler.cache.note(self._own(key), text)

    def _own(self, key: str) -> str:
        """A key of what is kept for this compiler and processor alone."""
        text = f"{key} {self._compiler.target}"
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def as_kept(self, source: KernelSource) -> list[Any] | None:
        """What a later process finds a kernel by; None where it is not compiled."""
        file = self._compiler.digest(source)
        if not self._compiler.finds(source.name, file):
            return None
        return [file, *source._replace(text="")]

    def kept(self, description: Any) -> KernelSource | None:
        """The kernel of such a description, without its text; None where that is no description, or
        the kernel is missing.
        """
        try:
            file, name, _, inputs, scratch, blocks, work, over = description
            counts = (inputs, scratch, blocks, *over)
            source = KernelSource(name, "", inputs, scratch, blocks, float(work), tuple(over))
        except (TypeError, ValueError):
            return None
        if not (isinstance(name, str) and isinstance(file, str) and _NAME.fullmatch(name + file)):
            return None
        if not all(type(each) is int and each >= 0 for each in counts):
            return None
        if blocks not in (1, BLOCKS) or scratch > MOST_SCRATCH or max(over, default=-1) >= inputs:
            return None
        return source if self._compiler.finds(name, file) else None

    def kernels(
        self,
        sources: Sequence[KernelSource],
        specs: Sequence[Sequence[Any]],
        team: int | None = None,
    ) -> list[Prepared | None]:
        """The kernels of sources; None for missing ones, which are requested."""
        unique = {source.name: source for source in sources}
        kernels = self._compiler.find(unique.values())
        missing = {name: source for name, source in unique.items() if name not in kernels}
        if missing and self.waits:
            kernels |= self._compiler.compiled(missing.values())
        else:
            self._wanted.update(missing)
        loaded = next(filter(None, kernels.values()), None)
        if loaded is not None and self.command_functions is None:
            self.command_functions = CommandFunctions(loaded.library, loaded.free)
        callers: dict[Any, Prepared] = {}  # layers repeat themselves, and Python compiles callers
        offered: list[Prepared | None] = []
        for source, made in zip(sources, specs, strict=True):
            kernel, key = kernels.get(source.name), (source.name, tuple(made))
            if kernel is not None and key not in callers:
                callers[key] = prepared(kernel, source, made, team)
            offered.append(callers.get(key))
        return offered

    def improvement(self) -> Improvement | None:
        """What will be there later; None where nothing is missing."""
        wanted, self._wanted = self._wanted, {}
        return Improvement(self._compiler, list(wanted.values())) if wanted else None


class Improvement:
    """Kernels that a plan would have, were they compiled.

    Args:
        compiler: makes them.
        sources: the kernels.
    """

    #: runs of a plan from which on it is worth while, and seconds since its first one: what takes
    #: long need not run often
    RUNS, SECONDS = 8, 1.0

    def __init__(self, compiler: Compiler, sources: Sequence[KernelSource]) -> None:
        self._compiler, self._sources = compiler, sources
        self._events: list[threading.Event] | None = None
        self._runs, self._begin = 0, 0.0

    @property
    def is_requested(self) -> bool:
        """Whether they are being compiled, or have been."""
        return self._events is not None

    def request(self) -> None:
        """Have them compiled now, whatever the plan takes."""
        self._events = self._compiler.request(self._sources)

    def is_ready(self) -> bool:
        """Whether the kernels are there; asked once in each run of the plan."""
        if self._events is None:
            now = time.monotonic()
            self._begin = self._begin or now
            self._runs += 1
            if self._runs >= self.RUNS or now - self._begin >= self.SECONDS:
                self.request()
            return False
        while self._events and self._events[-1].is_set():
            self._events.pop()
        return not self._events


class _Traces:
    """What instructions compute for each element, worked out once for those that are alike.

    It is no part of the library, whose groups hold it: they would be a cycle.
    """

    def __init__(self) -> None:
        self._known: dict[Any, TracedResults | None] = {}  # by what such instructions share
        self._of: dict[Any, TracedResults | None] = {}

    def of(self, instruction: Any) -> TracedResults | None:
        """What an instruction computes; None where that has no expression."""
        if instruction in self._of:
            return self._of[instruction]
        shared = instruction.typed or instruction.fused
        layouts = [v.layout for v in (*instruction.inputs, *instruction.results)]
        key = shared, tuple(_used(instruction)), *filter(None, layouts)
        if key not in self._known:
            self._known[key] = _traced(instruction)
        found = self._of[instruction] = self._known[key]
        return found


def _traced(instruction: Any) -> TracedResults | None:
    """The trace of an instruction: of elements as they lie, where they all lie alike; else of
    images and what has one value for each of their channels.
    """
    values = [v for v in (*instruction.inputs, *instruction.results) if v.size > 1 or v.layout]
    image = next((v for v in values if v.layout is not None), None)
    alike = image is None or all(v.layout == image.layout for v in values)
    outs = {slot: _spec(value, alike) for slot, value in _used(instruction).items()}
    specs = [_spec(operand, alike) for operand in instruction.operands]
    fused = instruction.fused
    if fused is None:
        results = traced(instruction.op, instruction.slots, specs, outs)
    else:
        results = traced_together(fused, specs, outs)
    if image is None or alike or results is None:
        return results
    if any(v.layout is not None and v.shape != image.shape for v in values):
        return None
    try:
        return relaid(results, tuple(image.shape), image.layout)
    except Untraceable:
        return None


def _product_of(instruction: Any) -> KernelSource | None:
    """The kernel of a product of small matrices; None for other instructions."""
    if instruction.op is None or not instruction.op.multiplies():
        return None
    if len(instruction.inputs) != 2 or not all(v.is_static for v in instruction.inputs):
        return None
    x, y = instruction.inputs
    product = instruction.op.product(x.spec, y.spec)
    return None if product is None else product_source(product, x.shape, y.shape, x.dtype)


def _used(instruction: Any) -> dict[str, Any]:
    """By output slot, the values that anything reads."""
    used = {}
    for slot, made in instruction.outs.items():
        values = made if isinstance(made, list) else [made]
        if any(value.users or value.is_output for value in values):
            used[slot] = made
    return used


def _spec(value: Any, as_it_lies: bool) -> Any:
    if isinstance(value, list):
        return [_spec(each, as_it_lies) for each in value]
    if value is None or value.layout is None or not as_it_lies:
        return None if value is None else value.spec
    return value.spec._replace(shape=value.layout.shape)


def prepared(
    kernel: Kernel, source: KernelSource, made: Sequence[Any], team: int | None = None
) -> Prepared:
    """A kernel for arrays.

    Args:
        kernel: compiled.
        source: what it was made of.
        made: shape and element type of each result.
        team: what starts threads of OpenMP; None for those of Python.
    """
    is_long = source.work >= LONG
    whole = kernel.run_free if is_long else kernel.run
    command: Callable[..., NativeCommand | None] | None = partial(
        _command, address_of_function(kernel.run), None, is_long
    )
    if source.blocks > 1 and threads.count() > 1:
        if team is not None and source.work >= SHARED_BY_TEAM:
            whole = _by_team(kernel, team)
            command = partial(_command, address_of_function(kernel.team), team, True)
        elif source.work >= SHARED:
            whole, command = _shared(kernel, source.blocks), None
    function = _called(whole, source.inputs + bool(source.scratch), made)
    scratch = Scratch((source.scratch,), np.dtype(np.uint8)) if source.scratch else None
    return Prepared(function, out=True, over=source.over, scratch=scratch, command=command)


def _command(
    function: int, context: int | None, is_long: bool, *arrays: Any
) -> NativeCommand | None:
    """The call of a kernel; None where arrays do not lie one element behind the other."""
    if all(type(a) is np.ndarray and a.flags.c_contiguous and a.flags.aligned for a in arrays):
        return NativeCommand(function, context, arrays, is_long)
    return None


def _shared(kernel: Kernel, blocks: int) -> Callable[[tuple[Any, ...]], int]:
    """A kernel whose blocks several threads take."""
    check, part, end = kernel.check, kernel.part, kernel.end

    def run(arrays: tuple[Any, ...]) -> int:
        if check(arrays):
            return Status.UNFIT
        bad = [0]

        def block(number: int, _: int) -> None:
            bad[0] |= part(arrays, number)

        threads.each(block, blocks)
        return int(bad[0] | end(arrays))

    return run


def _by_team(kernel: Kernel, team: int) -> Callable[[tuple[Any, ...]], int]:
    """A kernel whose blocks the threads of another library take, which else would wait, awake, for
    that library's next kernel.
    """
    run = kernel.team
    return lambda arrays: int(run(arrays, team))


def _called(run: Any, inputs: int, specs: Sequence[Any]) -> Callable[..., Any]:
    """What calls a kernel: written for so many arrays, since calls are many and short.

    Args:
        run: takes a tuple of arrays, and gives a status.
        inputs: how many arrays it reads, and works in.
        specs: of its results: pairs of a shape and an element type.
    """
    names: dict[str, Any] = {"run": run, "again": _again, "empty": np.empty}
    for k, (shape, dtype) in enumerate(specs):
        names |= {f"s{k}": tuple(shape), f"t{k}": np.dtype(dtype)}
    exec(_code_of_call(inputs, len(specs)), names)
    call: Callable[..., Any] = names["call"]
    return call


@cache
def _code_of_call(inputs: int, results: int) -> Any:
    """The code of a call that takes and gives so many arrays, as Python has it."""
    arguments = [f"g{k}" for k in range(inputs)]
    targets = [f"m{k}" for k in range(results)]
    several = len(targets) > 1
    lines = [f"def call({', '.join([*arguments, 'out=None'])}):"]
    if several:
        lines.append(f"    {', '.join(targets)} = out or {(None,) * len(targets)}")
    else:
        lines.append("    m0 = out")
    lines += [f"    if m{k} is None: m{k} = empty(s{k}, t{k})" for k in range(results)]
    lines += [
        f"    arrays = ({', '.join([*arguments, *targets])},)",
        "    status = run(arrays)",
        f"    if status: again(status, run, arrays[:{inputs}], arrays[{inputs}:])",
        f"    return {', '.join(targets)}",
    ]
    return compile("\n".join(lines), "<generated kernel>", "exec")


def _again(status: int, run: Any, given: Sequence[Any], made: Sequence[Any]) -> None:
    """Call a kernel with arrays as it takes them: one element behind the other.

    Raises:
        KernelDeclined: a value is not what it may be, which interpretation puts in words.
    """
    if status == Status.DECLINED:
        raise KernelDeclined
    lying = tuple(np.require(a, requirements=["C", "A"]) for a in given)
    results = tuple(np.require(a, requirements=["C", "A", "W"]) for a in made)
    if run((*lying, *results)):
        raise KernelDeclined
    for target, result in zip(made, results):
        if target is not result:
            np.copyto(target, result)


def open_library(graph: Iterable[Any], waits: bool) -> NativeKernels | None:
    """What the generator offers for a graph; None where no compiler works here.

    Args:
        graph: the instructions.
        waits: whether to wait for the compiler.
    """
    compiler = COMPILER.get()
    return NativeKernels(compiler, waits) if compiler.version else None


def description() -> dict[str, str] | None:
    """What generates kernels: the ``compiler`` and the folder ``cache``; None where none does."""
    compiler = COMPILER.get()
    if not compiler.version:
        return None
    folder, home = str(compiler.cache.folder or "none"), os.path.expanduser("~")
    return {"compiler": compiler.version, "cache": folder.replace(home, "~", 1)}
