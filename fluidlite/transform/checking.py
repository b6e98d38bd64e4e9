"""Programs before and after a change, run on the same random values and compared."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.quoting import escaping
from ..ground.values import LoDTensor, SelectedRows
from ..io.contents import saved_names
from ..ir.analysis import fed_names, fetched_names, reads_of
from ..ir.block import Block
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..scope import Scope

ROUNDING = 1e-5  #: by how much results may differ, of the largest, where only rounding does
_ROWS = 2  # what -1 is taken for
_ENDS = ("feed", "fetch")


@dataclass(frozen=True)
class OutputCheck:
    """How two values of an output differ."""

    name: str
    by: float  #: the largest difference; inf where shapes or element types differ
    largest: float  #: the largest of the values

    @property
    def relative(self) -> float:
        """The difference, in parts of the largest value."""
        return self.by / max(self.largest, 1.0)

    @escaping
    def __str__(self) -> str:
        if not self.by:
            return f"{self.name}: equal"
        if math.isinf(self.by):
            return f"{self.name}: of another shape, or not finite in other places"
        return f"{self.name}: differs by up to {self.by:.3g}, of values up to {self.largest:.3g}"


def outputs_of(program: Program) -> list[str]:
    """What a program is for: what it fetches, or what it computes and nobody reads."""
    block = program.global_block()
    fetched = fetched_names(block)
    if fetched:
        return fetched
    read = {name for each in program.blocks for op in each.ops for name in op.input_arg_names}
    written = dict.fromkeys(n for op in block.ops for n in op.output_arg_names if n not in read)
    return [name for name in written if _is_shown(block, name)]


def _is_shown(block: Block, name: str) -> bool:
    variable = block.vars.get(name)
    kinds = (Kind.LOD_TENSOR, Kind.SELECTED_ROWS)
    return variable is not None and variable.kind in kinds and not variable.persistable


def inputs_of(program: Program) -> list[str]:
    """What a program is fed: what operators feed, or what is read before it is written."""
    block = program.global_block()
    fed = fed_names(block)
    if fed:
        return fed
    written: set[str] = set()
    read: dict[str, None] = {}
    for op in block.ops:
        read.update(dict.fromkeys(name for name in reads_of(op) if name not in written))
        written.update(op.output_arg_names)
    return [name for name in read if _is_shown(block, name)]


def random_feeds(program: Program) -> dict[str, Any]:
    """Random values for what a program is fed; the same for the same names."""
    block = program.global_block()
    return {name: random_value(block.vars[name]) for name in inputs_of(program)}


def with_random_values(program: Program, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of what stays between runs; random ones if there are none."""
    block = program.global_block()
    lacking = [n for n in saved_names(program) if n not in values and n in block.vars]
    return {**values, **{name: random_value(block.vars[name]) for name in lacking}}


def random_value(variable: Variable) -> Any:
    """A random value as a variable is declared: integers are 0 or 1, a sequence has two rows."""
    rng = np.random.default_rng(zlib.crc32(variable.name.encode("utf-8", "surrogatepass")))
    shape = [_ROWS if size < 0 else size for size in variable.shape]
    kind = np.dtype(variable.dtype.dtype).kind
    drawn = rng.integers(0, 2, shape) if kind in "iub" else rng.normal(size=shape)
    array = drawn.astype(variable.dtype.dtype)
    if not variable.lod_level:
        return array
    inner = [0, *shape[:1]]
    return LoDTensor(array, [[0, 1]] * (variable.lod_level - 1) + [inner])


def run_once(
    program: Program, feeds: Mapping[str, Any], values: Mapping[str, Any], fetches: Sequence[str]
) -> dict[str, Any]:
    """What a program computes in one run that draws the same random numbers every time.

    Args:
        program: stays as it is.
        feeds: what it is fed.
        values: what stays between runs; it is not changed.
        fetches: the results to compare.
    """
    if not fetches:
        return {}
    copied = program.clone()
    block = copied.global_block()
    block.set_ops([op for op in block.ops if op.type not in _ENDS])
    copied.random_seed = copied.random_seed or 1
    scope = Scope()
    for name, value in values.items():
        scope.var(name).value = np.array(value) if isinstance(value, np.ndarray) else value
    given = {name: value for name, value in feeds.items() if name in block.vars}
    found = Executor().run(
        copied, feed=given, fetch_list=[*fetches], scope=scope, return_numpy=False
    )
    return dict(zip(fetches, found))


def compared(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> list[OutputCheck]:
    """How outputs differ that both have.

    Args:
        before, after: values by name.
        names: name before -> name after; the same when None.
    """
    pairs = {name: name for name in before if name in after} if names is None else names
    return [_difference(old, before[old], after[new]) for old, new in pairs.items()]


def _difference(name: str, before: Any, after: Any) -> OutputCheck:
    one, other = _array(before), _array(after)
    if one.shape != other.shape or one.dtype != other.dtype:
        return OutputCheck(name, math.inf, 0.0)
    if one.dtype.kind != "c":
        one, other = one.astype("float64"), other.astype("float64")
    known = np.isfinite(one)
    if not np.array_equal(one[~known], other[~known], equal_nan=True):
        return OutputCheck(name, math.inf, 0.0)
    by = np.abs(one[known] - other[known])
    largest = np.abs(one[known])
    return OutputCheck(name, float(by.max(initial=0.0)), float(largest.max(initial=0.0)))


def _array(value: Any) -> Any:
    if isinstance(value, list):
        parts: Iterable[Any] = map(_array, value)
        return np.concatenate([part.reshape(-1) for part in parts] or [np.zeros(0)])
    if isinstance(value, SelectedRows):
        return np.asarray(value.to_dense())
    return np.asarray(value.data if isinstance(value, LoDTensor) else value)
