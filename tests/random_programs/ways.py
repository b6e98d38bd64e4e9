"""Ways of running a program, and whether they compute the same."""

import contextlib
import functools
import operator
import os
import warnings
from collections import namedtuple
from unittest import mock

import numpy as np
from elementwise_graphs import Recording

import fluidlite as fluid
from fluidlite import backend
from fluidlite.backend.native import compiler, source
from fluidlite.backend.native import library as generated
from fluidlite.backend.onednn import convolution, normalize, offers, product
from fluidlite.kernels import batch as batch_kernels
from fluidlite.kernels import pooling, step, threads
from fluidlite.runtime import memory, session

from .program import batch, build, start_of

#: how far two elements may be apart, relative to the largest of the array
TOLERANCE = {"float32": 5e-4, "float64": 1e-9}

#: fetched values of each run, and the values of persistable variables at the end
Found = namedtuple("Found", "fetched state")
#: where two ways differ: "run 2: NAME" or "state: NAME", and how
Difference = namedtuple("Difference", "where how")


@contextlib.contextmanager
def interpreting():
    """Nothing is specialised inside: the steps of a program run one by one."""
    with mock.patch.object(session, "function_for", return_value=None):
        yield


#: what large values alone get: module, name, and the value by which small ones get it, too
THRESHOLDS = (
    (memory, "SMALLEST_BUFFER", 1),
    (threads, "CHEAP", 0),
    (threads, "COSTLY", 0),
    (threads, "PART", 64),
    (pooling, "PART", 64),
    (batch_kernels, "PIECE", 256),
    (step, "SMALL", 4),
    (step, "CUT_FROM", 16),
    (step, "BLOCK", 64),
    *((each, "SMALLEST_OF_ONEDNN", 1) for each in (backend, normalize, offers)),
    (offers, "SMALLEST_OF_MANY", 1),
    (convolution, "SMALLEST", 1),
    (product, "SMALLEST", 1),
    (product, "SMALLEST_TRANSPOSED", 1),
    (product, "SMALLEST_STACK", 1),
    (product, "NARROW", 1),
    (product, "NARROW_OF_MANY", 1),
    (product, "LARGE_TURNED", 1),
    (product, "LARGE_PLAIN", 1),
    (generated, "LONG", 1),
    (generated, "SHARED", 1),
    (source, "SMALLEST_CUT", 4),
)


RECORDED = 3  #: runs from which on a plan runs command buffers: interpreted, planned, recorded


@contextlib.contextmanager
def kernels(way):
    """Plans that are made inside take a library's kernels: of ``"numpy/large"`` NumPy's, with
    buffers and cut into parts, as if all values were large.
    """
    library, *hows = way.split("/")
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {"FLUIDLITE_KERNELS": library}))
        for module, name, value in THRESHOLDS if "large" in hows else ():
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def compile_kernels(recipes, way, dtype="float32", level="-O1"):
    """Compile the generated kernels that plans of programs ask for, all at once."""
    recording = Recording()
    compiler.COMPILER.switch(recording)
    for recipe in recipes:
        built = build(fluid, recipe, dtype)
        with contextlib.suppress(Exception):  # comparing says it
            compiled(way, built, recipe.seed, started(built, recipe.seed), dtype)
    with kernels(way):
        recording.together(list(recording.seen.values()), level)


def started(built, seed):
    """Values of the persistable variables that a program starts from."""
    scope = fluid.Scope()
    with interpreting():
        fluid.Executor().run(built.startup, scope=scope)
    state = state_of(built.startup, scope)
    for name in built.parameters:
        if state[name].ndim and not is_statistic(built.main, name):
            state[name] = start_of(name, state[name].shape, seed).astype(state[name].dtype)
    return state


def is_statistic(program, name):
    """Whether a parameter is a running mean or variance, which only normalisations write."""
    for op in program.global_block().ops:
        if op.type == "batch_norm" and name in op.input("Mean") + op.input("Variance"):
            return True
    return False


def state_of(program, scope):
    """The values of persistable variables, by name."""
    found = {}
    for var in program.list_vars():
        held = scope.find_var(var.name) if var.persistable else None
        if held is not None and held.value is not None:
            found[var.name] = np.array(held.get_tensor())
    return found


def ran(built, seed, start, dtype="float32", executor=None):
    """What a program computes in its runs.

    Args:
        built: the program.
        seed: of what is fed.
        start: values by name.
        dtype: element type of numbers.
        executor: runs it; a new one when None.
    """
    scope, exe, fetched = fluid.Scope(), executor or fluid.Executor(), []
    for name, value in start.items():
        scope.var(name).get_tensor().set(value.copy())
    for number, (_, names) in enumerate(built.runs):
        feed = batch(built, seed, number, dtype)
        fetched.append(exe.run(built.main, feed=feed, fetch_list=names, scope=scope))
    return Found(fetched, state_of(built.main, scope))


def interpreted(built, seed, start, dtype="float32"):
    """What a program means: each step by itself, in every run."""
    with interpreting():
        return ran(built, seed, start, dtype)


def compiled(library, built, seed, start, dtype="float32", executor=None):
    """What plans compute with a library's kernels; what they warn of is an error.  Behind
    ``/recorded`` the plans have run before, so that command buffers are recorded.
    """
    with kernels(library), warnings.catch_warnings():
        warnings.simplefilter("error")
        executor = executor or fluid.Executor()
        if library.endswith("/recorded"):
            for run in dict.fromkeys((rows, tuple(names)) for rows, names in built.runs):
                ran(built._replace(runs=[run] * RECORDED), seed, start, dtype, executor)
        return ran(built, seed, start, dtype, executor)


def difference(found, wanted, names, tolerance):
    """The first difference of two ways; None if there is none.

    Args:
        found, wanted: of each.
        names: fetched names of each run.
        tolerance: how far elements may be apart, relative to the largest.
    """
    for number, fetched in enumerate(names):
        values = found.fetched[number], wanted.fetched[number]
        for name, mine, want in zip(fetched, *values, strict=True):
            how = apart(mine, want, tolerance)
            if how:
                return Difference(f"run {number}: {name}", how)
    if set(found.state) != set(wanted.state):
        return Difference("state", f"{sorted(set(found.state) ^ set(wanted.state))}")
    for name in sorted(wanted.state):
        how = apart(found.state[name], wanted.state[name], tolerance)
        if how:
            return Difference(f"state: {name}", how)
    return None


def apart(mine, want, tolerance):
    """How two arrays differ; empty where they do not."""
    mine, want = np.asarray(mine), np.asarray(want)
    if (mine.shape, mine.dtype) != (want.shape, want.dtype):
        return f"{mine.dtype}{mine.shape} in place of {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        wrong = mine != want
    else:
        finite = np.isfinite(want)
        largest = np.abs(want[finite]).max() if finite.any() else 0.0
        with np.errstate(invalid="ignore"):
            near = np.abs(mine - want) <= tolerance * max(largest, FLOOR)
        wrong = ~(near | (mine == want) | (np.isnan(mine) & np.isnan(want)))
    if not wrong.any():
        return ""
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    place = [int(i) for i in at]
    count = f"{wrong.sum()} of {wrong.size} elements differ"
    return f"{count}, at {place}: {mine[at]!r} in place of {want[at]!r}"


FLOOR = 1e-4  #: arrays with smaller elements only are compared as if this was their largest


#: what is wrong with a program: which way, where it differs, and which operator does so first
Finding = namedtuple("Finding", "way difference operator")
#: how much farther from the truth than its meaning in float32 a plan's result may be
FARTHER = 16


def compared(recipe, libraries, dtype="float32"):
    """What the plans of a program compute otherwise than the program means, and how many
    differences are but rounding.

    Args:
        recipe: of the program.
        libraries: names of kernel libraries.
        dtype: element type of numbers.
    """
    built = build(fluid, recipe, dtype)
    start = started(built, recipe.seed)
    wanted = interpreted(built, recipe.seed, start, dtype)
    found, rounded = [], 0
    for library in libraries:
        try:
            mine = compiled(library, built, recipe.seed, start, dtype)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            found.append(Finding(library, Difference("an error", text), ""))
            continue
        where = difference(mine, wanted, names_of(built), TOLERANCE[dtype])
        if where is None:
            continue
        if dtype == "float32" and is_rounding(recipe, library, mine, wanted):
            rounded += 1
            continue
        found.append(Finding(library, where, first_operator(built, recipe.seed, start, library)))
    return found, rounded


def names_of(built):
    """What is fetched in each run."""
    return [names for _, names in built.runs]


def is_rounding(recipe, library, mine, wanted):
    """Whether a difference in float32 is but rounding: in float64 there is none, and what the plan
    computes in float32 is about as near to that as what the program means in float32; or where
    rounding grows on the way, or is all that is left of a sum, each operator by itself computes the
    same.

    Args:
        recipe: of the program.
        library: the name of a kernel library.
        mine, wanted: what the plan and the steps one by one computed.
    """
    built = build(fluid, recipe, "float64")
    start = started(built, recipe.seed)
    truth = interpreted(built, recipe.seed, start, "float64")
    exact = compiled(library, built, recipe.seed, start, "float64")
    if difference(exact, truth, names_of(built), TOLERANCE["float64"]) is None:
        if library == "numpy":
            return True  # the same kernels in both element types
        if are_as_near(mine, wanted, truth):
            return True
    return agrees_by_operator(recipe, library, mine, "float32") and agrees_by_operator(
        recipe, library, exact, "float64"
    )


def agrees_by_operator(recipe, library, mine, dtype):
    """Whether each operator computes what it means from what the plan has there, and the plan the
    same to the last bit, looked at or not.

    Args:
        recipe: of the program.
        library: the name of a kernel library.
        mine: what the plan computed.
        dtype: element type of numbers.
    """
    try:
        seen = checked(library, recipe, dtype)
    except fluid.FluidError:
        return False
    pairs = [(mine.state[name], value) for name, value in seen.state.items()]
    for both in zip(mine.fetched, seen.fetched, strict=True):
        pairs += zip(*both, strict=True)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def are_as_near(mine, wanted, truth):
    """Whether all values of one way are about as near to the truth as those of another."""
    trios = [
        *zip(*(functools.reduce(operator.iadd, way.fetched, []) for way in (mine, wanted, truth))),
        *((mine.state[name], wanted.state[name], truth.state[name]) for name in truth.state),
    ]
    return all(_is_as_near(*trio) for trio in trios if trio[0].size)


def _is_as_near(mine, want, true):
    if true.dtype.kind != "f":
        return bool((mine == want).all())
    largest = max(float(np.abs(true).max()), FLOOR)
    given = max(float(np.abs(want - true).max()), TOLERANCE["float32"] * largest)
    return bool(np.abs(mine - true).max() <= FARTHER * given)


def first_operator(built, seed, start, library):
    """The first operator whose result differs when all are fetched; says so where none does."""
    block = built.main.global_block()
    made = [name for op in block.ops for name in op.output_arg_names if name in block.vars]
    kept = [name for name in dict.fromkeys(made) if block.vars[name].dtype is not None]
    kept = [name for name in kept if can_be_fetched(block.vars[name])]
    whole = built._replace(runs=[(rows, kept) for rows, _ in built.runs])
    try:
        wanted = interpreted(whole, seed, start)
        mine = compiled(library, whole, seed, start)
    except Exception as error:
        return f"not found, since fetching everything fails: {type(error).__name__}: {error}"
    where = difference(mine, wanted, names_of(whole), 1e-4)
    if where is None or not where.where.startswith("run"):
        return "none, when every value is fetched"
    name = where.where.partition(": ")[2]
    writers = [op for op in block.ops if name in op.output_arg_names]
    return f"{writers[-1]}  ({where.how})"


def can_be_fetched(var):
    """Whether a variable holds an array."""
    kind = str(var.type).upper()
    return "TENSOR" in kind and "ARRAY" not in kind


def checked(library, recipe, dtype="float32"):
    """Run a program with ``FLUIDLITE_CHECK``, which compares each operator by itself."""
    built = build(fluid, recipe, dtype)
    with mock.patch.dict(os.environ, {"FLUIDLITE_CHECK": "1"}):
        return compiled(library, built, recipe.seed, started(built, recipe.seed), dtype)
