"""Whether two programs compute the same, by running them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..backward import gradients
from ..errors import ArgumentError, EquivalenceError, NoGradientError
from ..ground.dtypes import DType, Kind
from ..inspect.float64 import dense, in_float64, is_continuous, persistable_values, widened
from ..ir.analysis import reads_of, writes_of
from ..ir.operator import OpRole
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..scope import Scope, global_scope

RTOL, ATOL = 1e-7, 1e-9  #: in double precision
_SEED = 0x7265_7772


def compare(
    before: Program, after: Program, feed: Mapping[str, Any], scope: Scope | None = None
) -> None:
    """Run two programs from the same values, in double precision, and compare what they give: the
    results that no operator reads, variables that stay in the scope, and gradients.

    Where the first program has no gradient operators, the results are weighted with random numbers
    and differentiated by parameters and by what is fed.

    Args:
        before, after: the programs.
        feed: name -> array.
        scope: has the values of parameters; the global scope when None.

    Raises:
        EquivalenceError: names the variable and the largest difference.
        ArgumentError: the feeds are no dictionary.
    """
    if not isinstance(feed, Mapping):
        raise ArgumentError(f"expected check to be feeds by name, got {type(feed).__name__}")
    wide = [in_float64(before), in_float64(after)]
    for twin, program in zip(wide, (before, after)):
        twin.random_seed = program.random_seed or 1
    fed = {name: _fed(value) for name, value in feed.items()}
    values = persistable_values(before, global_scope() if scope is None else scope)
    results = [name for name in _results(before) if name in _names(after)]
    names = sorted({*results, *_results_that_stay(before)} & _names(after))
    _equal(names, *(_run(program, fed, values, names) for program in wide))
    if any(op.role & OpRole.BACKWARD for op in before.global_block().ops):
        names = sorted(n for n in _gradients_of(before) if n in _names(after))
        _equal(names, *(_run(program, fed, values, names) for program in wide))
    else:
        _compare_gradients(wide, fed, values, results)


def _fed(value: Any) -> Any:
    return widened(value if hasattr(value, "offsets") else np.asarray(value))


def _names(program: Program) -> set[str]:
    return set(program.global_block().vars)


def _results(program: Program) -> list[str]:
    """The variables of block 0 that are written and that no operator reads."""
    block = program.global_block()
    read = {n for op in block.ops if op.type != "fetch" for n in reads_of(op)}
    written = dict.fromkeys(n for op in block.ops for n in writes_of(op))
    return [n for n in written if n not in read and _is_tensor(block.vars.get(n))]


def _results_that_stay(program: Program) -> Iterator[str]:
    block = program.global_block()
    for op in block.ops:
        for name in writes_of(op):
            variable = block.vars.get(name)
            if variable is not None and variable.persistable and _is_tensor(variable):
                yield name


def _gradients_of(program: Program) -> Iterator[str]:
    """The gradients of parameters and of what is fed."""
    block = program.global_block()
    written = {n for op in block.ops for n in op.output_arg_names}
    for variable in block.vars.values():
        if (variable.persistable or variable.is_data) and variable.grad_name in written:
            yield variable.grad_name


def _is_tensor(variable: Variable | None) -> bool:
    return variable is not None and variable.kind in (Kind.LOD_TENSOR, Kind.SELECTED_ROWS)


def _run(
    program: Program, fed: Mapping[str, Any], values: Mapping[str, Any], names: list[str]
) -> list[Any]:
    """What a program gives in a scope of its own."""
    own = Scope()
    for name, value in values.items():
        own.var(name).value = value.copy() if isinstance(value, np.ndarray) else value
    known = {name: value for name, value in fed.items() if name in program.global_block().vars}
    found: list[Any] = Executor().run(
        program, feed=known, fetch_list=names, scope=own, return_numpy=False
    )
    return found


def _equal(names: list[str], before: list[Any], after: list[Any]) -> None:
    for name, x, y in zip(names, before, after, strict=True):
        if x is None and y is None:
            continue  # the branch that writes it did not run
        a, b = (np.asarray(dense(v)) for v in (x, y))
        if a.shape != b.shape:
            raise EquivalenceError(
                f"the programs differ: {name!r} has shape {list(a.shape)} before and "
                f"{list(b.shape)} after"
            )
        if not np.allclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True):
            with np.errstate(all="ignore"):
                far = np.abs(a.astype("float64") - b.astype("float64"))
                far = np.where(np.isnan(far), np.inf, far)
            at = np.unravel_index(int(far.argmax()), far.shape)
            where = list(map(int, at))
            raise EquivalenceError(
                f"the programs differ: {name!r} is {a[at]!s} before and {b[at]!s} after, at {where}"
            )


def _compare_gradients(
    programs: list[Program], fed: Mapping[str, Any], values: Mapping[str, Any], results: list[str]
) -> None:
    """Differentiate both by the same variables, and compare."""
    block = programs[0].global_block()
    floats = [n for n in results if _takes_part(block.vars[n]) and not block.vars[n].stop_gradient]
    sources = [
        n
        for n in (*fed, *values)
        if is_continuous(fed.get(n, values.get(n)))
        and n in block.vars
        and _takes_part(block.vars[n])
    ]
    sources = [n for n in sources if all(n in program.global_block().vars for program in programs)]
    if not floats or not sources:
        return
    shapes = [np.shape(dense(v)) for v in _run(programs[0], fed, values, floats)]
    rng = np.random.default_rng(_SEED)
    weights = {f"{n}@WEIGHT": rng.normal(size=shape) for n, shape in zip(floats, shapes)}
    derived = [_derived(program, floats, sources, list(weights)) for program in programs]
    if derived[0] is None:
        return
    if derived[1] is None:
        raise EquivalenceError("the program after has an operator without a gradient, on the way")
    for source in sources:
        there = [found is not None and source in found for found in derived]
        if there[0] and not there[1]:
            raise EquivalenceError(f"after, nothing depends on {source!r} any more")
    shared = [n for n in sources if n in derived[0] and n in derived[1]]
    more = {**fed, **weights}
    slopes = [
        _run(program, more, values, [named[n] for n in shared])
        for program, named in zip(programs, derived)
        if named is not None
    ]
    _equal([f"{n}@GRAD" for n in shared], *slopes)


def _takes_part(variable: Variable) -> bool:
    return variable.kind is Kind.LOD_TENSOR and variable.dtype.is_float


def _derived(
    program: Program, goals: list[str], sources: list[str], weights: list[str]
) -> dict[str, str] | None:
    """Names of gradients by those of variables; None where an operator has none."""
    block = program.global_block()
    for name in sources:
        block.vars[name].stop_gradient = False
    for goal, weight in zip(goals, weights):
        like = block.vars[goal]
        shape = like.shape if like.has_shape else None
        block.create_var(name=weight, shape=shape, dtype=DType.FP64, stop_gradient=True)
    try:
        derivatives = gradients(
            [block.vars[n] for n in goals],
            [block.vars[n] for n in sources],
            [block.vars[n] for n in weights],
        )
    except NoGradientError:
        return None
    pairs = zip(sources, derivatives or [None] * len(sources))
    return {name: gradient.name for name, gradient in pairs if gradient is not None}
