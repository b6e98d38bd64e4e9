"""Hostile inputs of operators, made from signatures and samples, and attempts to run them.

From a sample, whose inputs are good, each input and each attribute is made bad in turn: sizes of
zero, no dimensions or too many, other element types, numbers that are not finite, zero or huge,
lists that are empty, too long or full of huge numbers.
"""

import contextlib
import functools
import signal
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from oracle.golden import load

import fluidlite as fluid
from fluidlite.errors import FluidError

from one_operator import OneOperator

SECONDS = 60  # of the processor, for an attempt that takes milliseconds
ROOM = 2**29  # bytes that an attempt may allocate beyond what the process has

HUGE = 2**31 - 1
#: values of attributes by annotation; in lists ``n`` numbers for as many as the sample has
NUMBERS = {
    "int": (-1, 0, 7, HUGE, -HUGE - 1),
    "Long": (-1, 0, 2**63 - 1, -(2**63)),
    "float": (0.0, -1.0, 1e30, float("inf"), float("nan")),
    "DType": (0, 1, 6, 99),
    "bool": (True, False),
    "str": ("", "nope"),
}


@functools.cache
def of_fluid() -> frozenset[str]:
    """The types of fluid's operators."""
    return frozenset(load("op_schema.json.gz"))


class Attack(NamedTuple):
    """Inputs by slot and attributes, one of which is bad."""

    name: str
    inputs: dict[str, Any]
    attrs: dict[str, Any]


class TooSlow(BaseException):
    """An attempt took too long; no error that a library may handle."""


def attacks(definition: Any, sample: Any) -> Iterator[Attack]:
    """All that is made of a sample."""
    for slot, value in sample.inputs.items():
        for name, bad in bad_inputs(value):
            yield Attack(f"{slot} {name}", {**sample.inputs, slot: bad}, sample.attrs)
    given = definition(sample.attrs).attr_values()
    for attribute in definition.attributes.values():
        if not attribute.inert:
            for bad in bad_values(attribute.kind, given.get(attribute.name)):
                attrs = {**sample.attrs, attribute.name: bad}
                yield Attack(f"{attribute.name}={bad!r:.40}", sample.inputs, attrs)
    for name, change in (("zeros", np.zeros_like), ("small", _of_ones), ("empty", _of_zero)):
        changed = {slot: _each(change, value) for slot, value in sample.inputs.items()}
        yield Attack(f"all {name}", changed, sample.attrs)


def bad_inputs(value: Any) -> Iterator[tuple[str, Any]]:
    """Bad values of a slot and their names."""
    if isinstance(value, list):
        yield "[]", []
        yield "twice as many", value + value
        for name, bad in bad_arrays(value[0]) if value else ():
            yield f"first {name}", [bad, *value[1:]]
    elif isinstance(value, np.ndarray):
        yield from bad_arrays(value)


def bad_arrays(array: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Bad arrays in place of a good one, and their names."""
    if not isinstance(array, np.ndarray):
        return
    for axis in range(array.ndim):
        yield f"without size {axis}", array[(slice(None),) * axis + (slice(0, 0),)]
        yield f"longer at {axis}", np.concatenate([array, array], axis)
    yield "0-d", np.ones([], array.dtype)
    yield "flat", array.reshape(-1)
    yield "deeper", array[None]
    for dtype in ("float32", "int64", "int32", "bool", "float16", "uint8"):
        if array.dtype != dtype:
            yield dtype, np.nan_to_num(np.real(array)).astype(dtype)
    extremes = {
        "f": (np.nan, np.inf, -np.inf, 0, 1e30),
        "i": (0, -1, HUGE, -HUGE - 1),
        "u": (0, 255),
        "b": (True, False),
        "c": (np.nan, complex(np.inf, np.nan), 0),
    }
    for number in extremes[array.dtype.kind]:
        with contextlib.suppress(OverflowError):
            yield f"of {number}", np.full_like(array, number)


def bad_values(kind: str, given: Any) -> Iterator[Any]:
    """Bad values of an attribute of that annotation."""
    if kind in NUMBERS:
        yield from NUMBERS[kind]
        return
    inner = kind.removeprefix("list[").removesuffix("]")
    if inner not in NUMBERS:
        return
    count = len(given or ())
    yield []
    for number in NUMBERS[inner]:
        yield [number] * max(count, 1)
        yield [number] * (count + 1)


def _of_ones(array: np.ndarray) -> np.ndarray:
    return array[(slice(0, 1),) * array.ndim]


def _of_zero(array: np.ndarray) -> np.ndarray:
    return array[(slice(0, 0),) * array.ndim]


def _each(change: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_each(change, each) for each in value]
    return change(value) if isinstance(value, np.ndarray) else value


#: operators that give one number, -1, where they find nothing, as fluid's do
NOTHING_FOUND = {"multiclass_nms", "locality_aware_nms"}
#: work that an attribute asks for, and that its results do not show
ASKED = {
    ("spectral_norm", "power_iters"): "steps of an iteration",
    ("roi_align", "sampling_ratio"): "points that a bin is the mean of",
    ("pool2d_adjoint", "size"): "an image of that size, which rules ask for",
    ("pool3d_adjoint", "size"): "an image of that size, which rules ask for",
    ("deformable_psroi_pooling", "sample_per_part"): "points that a bin is the mean of",
}


def fault(definition: Any, attack: Attack) -> str | None:
    """What is wrong about how an operator takes hostile inputs; None where nothing is.

    A program that knows the sizes of its inputs gets them, and one that does not.  The second runs
    where the first was refused before it ran; else its kernel gets the same once more.

    Args:
        definition: of the operator.
        attack: what it gets.
    """
    if (definition.type, attack.name.partition("=")[0]) in ASKED:
        return None
    ran, found = _attempt(definition, attack, declared=True, run=True)
    if found is None:
        _, found = _attempt(definition, attack, declared=False, run=not ran)
        found = found and f"where sizes are not declared: {found}"
    return found


def _attempt(definition: Any, attack: Attack, declared: bool, run: bool) -> tuple[bool, str | None]:
    """Whether a program got as far as to run, and what is wrong about it."""
    # what only rules make gets sizes that have been checked
    internal = definition.type not in of_fluid()
    # attributes and variables may both say a size; variables win, and programs do not know them
    said_twice = any(
        s.optional and s.constant and s.name in attack.inputs for s in definition.inputs
    )
    shape = list if declared else lambda known: [-1] * len(known)
    counts = {slot.name: _count(slot, attack) for slot in definition.outputs}
    shapes: dict[str, Any] = {}
    ran = False
    try:
        with _in_time():
            one = OneOperator(definition.type, attack.inputs, counts, attack.attrs, shape=shape)
            shapes = {v.name: v.shape for v in one.all_outputs}
            if not run:
                return False, None
            ran = True
            found = fluid.Executor().run(
                one.program, one.feed, list(shapes), scope=one.scope, return_numpy=False
            )
    except FluidError as error:
        if not internal and _out_of_memory(error) and not _announced(shapes):
            return ran, f"needs far more memory than its results: {error}"
        return ran, None
    except TooSlow:
        return ran, f"takes longer than {SECONDS} s of the processor"
    except Exception as error:
        return ran, f"raises {type(error).__name__}: {error}"
    if declared and not internal and not said_twice:
        for (name, known), value in zip(shapes.items(), found):
            size = getattr(value, "shape", None)
            size = tuple(size()) if callable(size) else size
            if tuple(size or ()) == (1, 1) and definition.type in NOTHING_FOUND:
                continue
            if size is not None and known and not _agree(known, tuple(size)):
                return ran, f"declares {list(known)} for {name} and gives {list(size)}"
    return ran, None


def _count(slot, attack):
    longest = [len(v) for v in attack.inputs.values() if isinstance(v, list)]
    return max([2, *longest]) if slot.many else 1


def _agree(known, shape):
    return len(known) == len(shape) and all(a in (-1, b) for a, b in zip(known, shape))


def _announced(shapes):
    """Whether what was declared of the results is that large, or not known."""
    return any(-1 in s or np.prod(s, dtype="float64") > ROOM / 64 for s in shapes.values())


def _out_of_memory(error):
    while error is not None:
        if isinstance(error, MemoryError) or "allocate" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Bounds of memory, and of the time of each attempt, where the system has them."""
    if sys.platform != "linux":
        yield
        return
    import resource

    def late(*_):
        raise TooSlow

    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGPROF, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    """What is inside ends: an attempt takes milliseconds, unless it works for ever."""
    if sys.platform != "linux":
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
