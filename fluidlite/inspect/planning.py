"""The command ``fluidlite plan``: how a program is compiled, pass by pass."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from typing import Any, NamedTuple

import numpy as np

from ..ground.quoting import escaping
from ..ir.costs import as_bytes, bytes_of
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.buffers import Allocation, View
from ..runtime.compile import CompiledSegment
from ..runtime.executor import Executor
from ..runtime.graph import Graph
from ..runtime.plan import Plan
from ..runtime.segment import segments_in
from ..scope import Scope
from .graph_text import printed
from .limits import GIB, WorkLimit
from .sequence_options import add_sequences, lengths_of, one_sequence, zeros_in_sequences


class Stage(NamedTuple):
    """A graph behind a pass that changed it."""

    name: str  #: of the pass; "lower" for the graph before all of them
    text: str
    difference: str  #: to the stage before, line by line

    @escaping
    def __str__(self) -> str:
        shown = self.difference or (self.text if self.name == "lower" else "other kernels only")
        return f"== {self.name}\n{shown}"


def stages(compiled: Iterable[CompiledSegment]) -> list[Stage]:
    """The graphs of compiled segments behind each pass that changed them."""
    snapshots: list[Stage] = []

    def note(name: str, graph: Graph) -> None:
        text, lines = printed(graph), []
        if name != "lower":
            both = unified_diff(
                snapshots[-1].text.splitlines(), text.splitlines(), n=0, lineterm=""
            )
            lines = [line for line in both if line[:3] not in ("---", "+++", "@@ ")]
        snapshots.append(Stage(name, text, "\n".join(lines)))

    for each in compiled:
        each.replay(note)
    return snapshots


_RUNS = 2  #: the second is compiled


def plan_of(
    program: Program,
    scope: Scope,
    batch_size: int = 1,
    fetches: list[str] | None = None,
    passes: str | None = None,
    most: int = GIB,
    sequences: Iterable[str] = (),
) -> Plan:
    """The plan of a program that has been run twice on zeros; the scope stays as it is.  Before
    that each operator is asked what it would make, so that a few bytes ask for no more than
    ``most``.

    Args:
        program: what to run.
        scope: where its parameters are; missing ones are zeros.
        batch_size: what sizes of -1 are taken for.
        fetches: names; what the program's ``fetch`` operators name when None.
        passes: see ``Executor``.
        most: bytes of all values together.
        sequences: lengths of the sequences that are fed, each as ``NAME=2,3``.

    Raises:
        WorkLimitError: the program would make more.
    """
    exe, limit = Executor(passes=passes), WorkLimit(most)
    block = program.global_block()
    if fetches is None:
        fetches = [op.input("X")[0] for op in block.ops if op.type == "fetch"]
    needs = Plan(program, fetches).needs
    feed: dict[str, Any] = {}
    held = {}
    for name in needs:
        variable = block.find_var_recursive(name)
        if variable is None:
            continue
        if not variable.persistable:
            limit.take([bytes_of(variable, batch_size)], f"the zeros fed to {name!r}")
            feed[name] = _zeros(variable, batch_size)
            continue
        held[name] = scope.value(name)
        if held[name] is None:
            limit.take([bytes_of(variable, 1)], f"the zeros of the parameter {name!r}")
            held[name] = _zeros(variable, 1)

    lengths = lengths_of(sequences, feed)
    for name in feed:
        variable, levels = block.var(name), lengths.get(name)
        if levels is None and variable.lod_level:
            levels = one_sequence(variable, batch_size)
        if levels is not None:
            limit.take([bytes_of(variable, sum(levels[-1]))], f"the sequences fed to {name!r}")
            feed[name] = zeros_in_sequences(variable, levels)

    def as_at_first() -> Scope:
        """A scope with copies: what is run may replace parameters."""
        inner = scope.new_scope()
        for name, value in held.items():
            inner.var(name).value = np.array(value)
        return inner

    exe.observe(limit, program, feed, as_at_first())
    numbers = exe.random_state(program)
    for _ in range(_RUNS):  # each does what the one that was observed has done
        exe.set_random_state(program, numbers)
        exe.run(program, feed=feed, fetch_list=fetches, scope=as_at_first())
    return exe.plan(program, fetches)


def _zeros(variable: Variable, batch_size: int) -> Any:
    shape = [batch_size if size < 0 else size for size in variable.shape]
    return np.zeros(shape, variable.dtype.dtype)


def described(plan: Plan, shows_stages: bool = True) -> Iterator[str]:
    """Lines that say how a plan was compiled.

    Args:
        plan: has run.
        shows_stages: whether to print the graph behind each pass.
    """
    segments = [s.last for s in segments_in(plan.items) if s.last is not None]
    compiled = [s for s in segments if isinstance(s, CompiledSegment)]
    if not compiled:
        yield "nothing was compiled: the program is interpreted"
    for number, segment in enumerate(compiled):
        if len(compiled) > 1:
            yield f"# segment {number + 1} of {len(compiled)}"
        if shows_stages:
            yield from map(str, stages([segment]))
        yield "== kernels"
        for count, title, why in _kernels(segment):
            yield f"{count:5} {title:<32} {why}"
        yield "== buffers"
        yield from _buffers(segment)


def _kernels(segment: CompiledSegment) -> list[tuple[int, str, str]]:
    """How many instructions of which kind got which kernel, and why."""
    found = Counter(
        (each.title, segment.choices.get(each, f"for {each.title}")) for each in segment.order
    )
    return [(count, title, why) for (title, why), count in sorted(found.items())]


def _buffers(segment: CompiledSegment) -> Iterator[str]:
    makers = segment.assigned.makers
    views = Counter(maker.root for maker in makers if isinstance(maker, View))
    for number, maker in enumerate(makers):
        if isinstance(maker, Allocation):
            yield f"b{number}: {as_bytes(maker.nbytes)}, for {views[number]} shapes of values"
    footprint = segment.footprint
    assert footprint is not None
    for name, size in footprint._asdict().items():
        yield f"{name}: {as_bytes(size)}"


PLAN_EXAMPLES = """\
It runs the program on zeros, but none whose values are larger than --limit.

examples:
  fluidlite plan model_folder/
  fluidlite plan net.txt --batch-size 32 --fetch loss
  fluidlite plan net.txt --passes=-gemm_batching --no-stages
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "path", metavar="FILE", help="a program in a file, or the folder of a saved model"
    )
    parser.add_argument("--batch-size", type=int, default=1, help="each size of -1")
    add_sequences(parser, "it is fed")
    parser.add_argument("--fetch", action="append", metavar="NAME", help="what a run would fetch")
    parser.add_argument("--passes", help="which passes run; -NAME leaves one out")
    parser.add_argument(
        "--limit", type=float, default=1.0, metavar="GIB", help="of all values together, in GiB"
    )
    parser.add_argument("--no-stages", action="store_true", help="kernels and buffers only")
