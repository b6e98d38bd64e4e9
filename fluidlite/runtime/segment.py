"""Segments: steps in a row that can be compiled as one function, for the shapes of what they read.

The first run of a segment is interpreted, the second with the same shapes is compiled
(``compile.py``, which is read then); where it takes long, or an earlier process has compiled the
same, the first one is.  Interpretation is the meaning: where a compiled segment fails, its steps
are interpreted from the same values, which raises the error that names the operator.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backend import kernel_libraries
from ..errors import FluidError, PassError
from ..ground.dtypes import as_dtype
from ..ground.quoting import terminal_text
from ..ir.costs import multiply_adds
from ..opdef.spec import Spec
from .counted import Counting
from .planned_before import PlanNote
from .step import Environment, Step
from .value import CountingSpec, Unsupported

if TYPE_CHECKING:
    from ..opdef.definition import Op
    from .compile import CompiledSegment
    from .passes.form import Pass

# what compiles is read when something is compiled: a program that is only built does without
_COMPILING, _PIPELINE = f"{__package__}.compile", f"{__package__}.passes.pipeline"

#: steps in a row that are compiled although those before and behind them work on sequences
FEWEST_COMPILED = 3
#: bytes of what is read from which on a first run is compiled, too: interpreted, it takes twice the
#: time of compiling, and the memory of values that compiled ones never have
LARGE = 1 << 25
#: multiplications of convolutions from which on it is, too: NumPy takes several times as long
MANY = 1 << 28
FUNCTIONS_KEPT = 8  #: of one segment, for different shapes


class Segment:
    """Steps in a row that drive no blocks.

    Args:
        steps: in order.
        is_ragged: whether they work on sequences of several lengths, and are not compiled.
    """

    def __init__(self, steps: list[Step], is_ragged: bool = False) -> None:
        self.steps = steps
        self.is_ragged = is_ragged
        reads: dict[str, None] = {}
        written: dict[str, None] = {}
        counting: dict[str, None] = {}
        for step in steps:
            for name in step.reads:
                if name not in written:
                    reads[name] = None
            for name in step.op.inputs.get(step.instance.counted_by or "", ()):
                if name not in written:
                    counting[name] = None
            for name in step.writes:
                written[name] = None
        #: live on entry
        self.reads: list[str] = list(reads)
        #: those of them whose last numbers say how many rows a result has
        self.counting: list[str] = list(counting)
        freed = {name for step in steps for name in step.free}
        #: what they write that is live on exit
        self.writes: list[str] = [name for name in written if name not in freed]
        self.free: list[str] = [
            name for name in self.reads if name in freed and name not in written
        ]
        #: what of that goes to the scope
        self.commits: set[str] = set()
        #: whether it is certain that no second run comes
        self.runs_once: bool = False
        #: the same without its loops, for shapes with which these cannot be unrolled
        self.parts: list[Segment | Step] = []
        if not is_ragged and any(step.instance.is_control for step in steps):
            self.parts = segments_of(steps, unroll=False)
        #: shapes of what is read, and the numbers that others follow from -> the compiled segment
        self.functions: OrderedDict[Any, Any] = OrderedDict()
        #: the one that ran last
        self.last: Any = None


def segments_in(items: Iterable[Segment | Step]) -> Iterator[Segment]:
    """Segments, and those that are parts of them."""
    for item in items:
        if isinstance(item, Segment):
            yield item
            yield from segments_in(item.parts)


def source_of(items: Iterable[Segment | Step]) -> str:
    """What runs: the source of each compiled segment, for the shapes that it was last given, and
    the operators one by one of those that are not compiled.
    """
    parts = []
    for item in items:
        if not isinstance(item, Segment):
            parts.append(f"# runs blocks: {item.op}\n")
            if item.body is not None:
                parts.append(indent(item.body.source, "    "))
        elif item.last is not None and (source := item.last.source):
            parts.append(source)
        elif item.parts:
            parts.append(source_of(item.parts))
        else:
            parts.append("".join(f"# interpreted: {s.op}\n" for s in item.steps))
    return "\n".join(parts)


def segments_of(
    steps: Iterable[Step], unroll: bool = True, ragged: frozenset[str] = frozenset()
) -> list[Segment | Step]:
    """Steps in as few segments as can be compiled, and control operators between them.

    Args:
        steps: in order.
        unroll: whether loops whose number of passes follows from shapes are parts of segments.
        ragged: names of variables whose number of rows depends on lengths of sequences.
    """
    items: list[Segment | Step] = []
    row: list[Step] = []
    counting = Counting()
    for step in steps:
        is_ragged = bool(ragged) and not ragged.isdisjoint((*step.reads, *step.writes))
        can_unroll = counting.unrolls(step) and unroll and not is_ragged
        if not step.instance.is_control or can_unroll:
            row.append(step)
            continue
        items += _divided(row, ragged)
        items.append(step)
        row = []
    return [*items, *_divided(row, ragged)]


def _divided(row: list[Step], ragged: frozenset[str]) -> list[Segment]:
    """Steps in a row as segments: those that work on sequences, and between them those that do not,
    where they are not too few.
    """
    if not row or not ragged:
        return [Segment(row)] if row else []
    parts: list[tuple[bool, list[Step]]] = []
    for is_ragged, group in groupby(
        row, lambda step: not ragged.isdisjoint((*step.reads, *step.writes))
    ):
        part = list(group)
        joins = parts and parts[-1][0] and (is_ragged or len(part) < FEWEST_COMPILED)
        if joins:
            parts[-1][1].extend(part)
        else:
            parts.append((is_ragged, part))
    return [Segment(part, is_ragged) for is_ragged, part in parts]


# -- the functions of a segment --------------------------------------------------------------------


def passes_for(wish: str | Sequence[Pass] | None) -> tuple[Pass, ...]:
    """The passes that run; see ``pipeline.selected``."""
    found: tuple[Pass, ...] = import_module(_PIPELINE).selected(wish)
    return found


def function_for(
    segment: Segment, env: Environment, backend: Any, passes: tuple[Pass, ...] | None = None
) -> CompiledSegment | None:
    """The compiled segment for the values of an environment; None where the steps are to be
    interpreted: the first time that shapes are seen, unless that takes long or an earlier process
    has compiled the same, and where they cannot be compiled.
    """
    key = _key_of(env, segment.reads)
    if key is None:
        return None
    last_numbers = {name: _last_number(env[name]) for name in segment.counting}
    if last_numbers:
        key += tuple(last_numbers.values())
    functions = segment.functions
    known = functions.get(key, _UNSEEN)
    if known is _UNSEEN:
        takes_long = _reads_much(segment, env) or _convolves_much(segment, env)
        if segment.runs_once and not takes_long:
            return None
        known = functions[key] = PlanNote(segment.steps, key)
        while len(functions) > FUNCTIONS_KEPT:
            functions.popitem(last=False)
        if not (takes_long or known.was_planned):
            return None
    if isinstance(known, PlanNote):
        note = known
        specs = {n: Spec(env[n].shape, as_dtype(env[n].dtype)) for n in segment.reads}
        specs |= {name: CountingSpec(specs[name], last) for name, last in last_numbers.items()}
        libraries = kernel_libraries()
        compiling = import_module(_COMPILING)
        try:
            lower = partial(compiling.lowered, segment.steps, specs, segment.writes, backend)
            known = compiling.CompiledSegment(
                lower, backend, libraries, passes, segment.commits, note
            )
        except PassError:
            raise
        except (Unsupported, FluidError):  # the steps one by one say what is wrong
            known = None
        except Exception as error:
            known = None
            _report("a plan could not be compiled, and is interpreted", error)
        functions[key] = known
        if known is not None:
            note.note_planned()
        if known is not None and known.improvement is not None and _reads_much(segment, env):
            known.improvement.request()
    elif known is not None and known.improvement is not None and known.improvement.is_ready():
        known.improvement = None
        better = known.improved()  # it makes its buffers when it first runs
        known.retire()
        known = functions[key] = better
    found: CompiledSegment | None = known
    return found


def _reads_much(segment: Segment, env: Environment) -> bool:
    """Whether runs take so long that compiling begins with the first one."""
    return sum(env[name].nbytes for name in segment.reads) >= LARGE


def _convolves_much(segment: Segment, env: Environment) -> bool:
    """Whether convolutions take longer by themselves than compiling does."""
    convolutions = [step.op for step in segment.steps if _convolves(step.instance)]
    rows = 1
    for name in segment.reads if convolutions else ():
        variable = segment.steps[0].op.find_var(name)
        if variable is not None and variable.has_shape and -1 in variable.shape[:1]:
            rows = max(rows, *env[name].shape[:1], 1)
    return sum(multiply_adds(op, rows) for op in convolutions) >= MANY


def _convolves(op: Op) -> bool:
    return bool(op.filtered or (op.derived_from is not None and op.derived_from.filtered))


def give_up(segment: Segment, function: CompiledSegment, error: Exception) -> None:
    """Interpret from now on what a compiled segment failed to compute although its steps did not
    fail.
    """
    for key, known in segment.functions.items():
        if known is function:
            segment.functions[key] = None
    _report("a compiled plan failed where the interpreted one did not, and is dropped", error)


def _report(what: str, error: Exception) -> None:
    """Warn of a mistake of fluidlite's own."""
    message = f"{what}; please report this: {type(error).__name__}: {error}"
    warnings.warn(terminal_text(message), RuntimeWarning, stacklevel=3)


_UNSEEN: Any = object()


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


def _last_number(numbers: Any) -> int:
    """The last of some whole numbers; -1 for an empty array."""
    return int(numbers.item(-1)) if numbers.size and numbers.dtype.kind in "iu" else -1


class Watch(NamedTuple):
    """What looks at a compiled segment while it runs.

    One that is watched has a source of its own, with a further line behind its instructions, so
    that one that is not watched pays nothing.
    """

    #: "times": behind each instruction; "values": also its values
    kind: str
    #: called with the number of an instruction, and with the values
    hook: Callable[..., None]
