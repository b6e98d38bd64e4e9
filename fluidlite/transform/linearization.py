"""A program taken apart into its values at a point, and the linear map of tangents there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..backward.sweep import described
from ..errors import UnsupportedError
from ..ground.dtypes import Kind
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.analysis import blocks_of, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .derivatives import Variables, check_ways, chosen
from .editing import copied_operator, transformed
from .forward_emission import declare_like, operator_beside
from .forward_sweep import ForwardSweep
from .results import Transformed

__all__ = ["Linearized", "linearize"]


class Linearized(NamedTuple):
    """A program, what its derivative reads of it, and the program of the derivative.

    program: computes the values, and ``residuals``.
    residuals: variables of ``program`` to fetch; variables of those names are fed to
        ``linear.program``.
    linear: what computes the changes of outputs from tangents of inputs and the residuals.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.square(x)
    >>> linear = fluid.transform.linearize(fluid.default_main_program(), [y], [x])
    """

    program: Program
    residuals: tuple[Variable, ...]
    linear: Transformed

    def __repr__(self) -> str:
        return f"<program with {len(self.residuals)} residuals, and its linear map {self.linear}>"


#: a name, and how often it has been written
_Value = tuple[str, int]


def linearize(program: Program, outputs: Variables, inputs: Variables) -> Linearized:
    """A program for the values at a point, and one for the linear map of tangents there.

    The first runs once for a point, the second once for each direction: it reads what the first
    left (*residuals*) and computes no value again, but within loops and branches that tangents go
    through.

    Args:
        program: any; it stays as it was.
        outputs: one or several floating-point variables of the global block.
        inputs: one or several, with respect to which.

    Returns:
        the program of values, its residuals, and the program of the linear map.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing is named, something twice, or a variable that holds no real numbers.
        NoGradientError: an operator on the way has no gradient rule.
        UnsupportedError: the linear map needs what cannot be fetched and fed, an array of tensors
            for one; or it would have to draw random numbers of the program again, in a loop.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.square(x)
    >>> main = fluid.default_main_program()
    >>> program, residuals, linear = fluid.transform.linearize(main, y, x)
    >>> exe = fluid.Executor()
    >>> kept = exe.run(program, {"x": np.array([3, 4], "f")}, list(residuals))
    >>> kept = {v.name: value for v, value in zip(residuals, kept)}
    >>> directions = np.array([[1, 0], [0, 1]], "f")
    >>> [
    ...     exe.run(linear.program, {**kept, "x@TANGENT": d}, list(linear.outputs))[0].tolist()
    ...     for d in directions
    ... ]
    [[6.0, 0.0], [0.0, 8.0]]
    """
    split: list[_Split] = []
    xs, ys = chosen(program, inputs, "inputs"), chosen(program, outputs, "outputs")
    check_ways(program, xs, ys)

    def change(copied: Program) -> None:
        block = copied.global_block()
        given = {id(op) for op in block.ops}
        fed, results = ForwardSweep(copied, xs, ys).run()
        split.append(_Split(block, given, fed, results))
        split[0].take_linear()

    linear = transformed(program, change)
    (parts,) = split
    values = transformed(program, lambda copied: parts.keep_values(copied.global_block()))
    residuals = tuple(values.global_block().var(name) for name in parts.residuals)
    linear = linear.pruned([*parts.fed, *parts.residuals], parts.results)
    block = linear.global_block()
    ends = (tuple(block.var(name) for name in part) for part in (parts.fed, parts.results))
    return Linearized(values, residuals, Transformed(linear, *ends))


class _Split:
    """Which operators of forward mode are the linear map, and which values it reads.

    Args:
        block: with tangents.
        given: identities of the operators that it had before.
        fed: names that tangents are fed to.
        results: names of the tangents to compute.
    """

    def __init__(self, block: Block, given: set[int], fed: list[str], results: list[str]) -> None:
        self.block = block
        self.ops: list[Operator] = list(block.ops)
        self.given = given
        self.fed, self.results = fed, results
        #: operators of the linear map -> the values that it reads of the program
        self._reads: dict[int, list[_Value]] = {}
        self._kept: dict[_Value, None] = {}
        self._last: Counter[str] = Counter()  # name -> how often it is written in all
        self._own: set[_Value] = {(name, 0) for name in fed}
        self._written = {name for op in self.ops for name in writes_of(op)}
        for op in self.ops:
            self._visit(op)
        computed = {name for name, _ in self._own}
        versions = Counter(name for name, _ in self._kept)
        #: values that are kept -> what they are called
        self._names: dict[_Value, str] = {
            value: value[0]
            if versions[value[0]] == 1
            and self._last[value[0]] == value[1]
            and value[0] not in computed
            else f"{value[0]}@RESIDUAL_{value[1]}"
            for value in self._kept
        }
        self.residuals = list(self._names.values())

    def _visit(self, op: Operator) -> None:
        reads = [(name, self._last[name]) for name in dict.fromkeys(self._reads_of(op))]
        fills = id(op) not in self.given and op.type == "fill_zeros_like"
        is_linear = fills or not self._own.isdisjoint(reads)
        if is_linear:
            _need_no_draws(op)
            self._reads[id(op)] = [value for value in reads if value not in self._own]
            for name, count in self._reads[id(op)]:
                variable = self.block.var_recursive(name)
                if count or not variable.persistable or name in self._written:
                    _need_feedable(variable, op)
                    self._kept[name, count] = None
        for name in dict.fromkeys(writes_of(op)):
            self._last[name] += 1
            if is_linear:
                self._own.add((name, self._last[name]))

    def _reads_of(self, op: Operator) -> Iterator[str]:
        """What an operator reads, and what a loop or a branch may leave as it was."""
        yield from reads_of(op)
        if op.definition is not None and op.definition.block_attributes:
            for name in writes_of(op):
                variable = self.block.var_recursive(name)
                if self._last[name] or variable.persistable or variable.is_data:
                    yield name

    def take_linear(self) -> None:
        """Let the block hold the linear map alone."""
        held: dict[str, int] = {}
        ops = []
        for value, name in self._names.items():
            variable = self.block.vars.get(name)
            if variable is None:
                variable = declare_like(self.block, value[0], name)
            variable.is_data, variable.persistable = True, False
        for op in self.ops:
            for value in self._reads.get(id(op), ()):
                name, count = value
                residual = self._names.get(value, name)
                if residual != name and held.get(name) != count:
                    ends = {"X": [residual]}, {"Out": [name]}
                    ops.append(operator_beside(self.block, "assign", *ends, op))
                    held[name] = count
            if id(op) in self._reads:
                ops.append(op)
                held.update((name, -1) for name in writes_of(op))
        self.block.set_ops(ops)

    def keep_values(self, block: Block) -> None:
        """Let the block of a copy of the program keep what the linear map reads.

        Args:
            block: of the copy.
        """
        originals, count, ops = iter(block.ops), Counter[str](), []
        copies = {value: name for value, name in self._names.items() if name != value[0]}

        def keep(names: list[str], like: Operator | None) -> None:
            for name in names:
                copy = copies.get((name, count[name]))
                if copy is not None:
                    declare_like(block, name, copy)
                    ends = {"X": [name]}, {"Out": [copy]}
                    ops.append(operator_beside(block, "assign", *ends, like))

        begun = False
        for op in self.ops:
            if op.type != "feed" and not begun:
                begun = True
                keep([name for name, number in copies if not number], None)
            if id(op) in self.given:
                ops.append(next(originals))
            elif id(op) not in self._reads:
                ops.append(copied_operator(op, block, {}))
                for name in op.output_arg_names:
                    if name not in block.vars:
                        block.declare(self.block.var(name).copy_to(block))
            written = list(dict.fromkeys(writes_of(op)))
            count.update(written)
            keep(written, op)
        fetches = [op for op in ops if op.type == "fetch"]
        block.set_ops([op for op in ops if op.type != "fetch"] + fetches)


def _need_feedable(variable: Variable, op: Operator) -> None:
    """Refuse values that cannot be fetched and fed."""
    if variable.kind not in (Kind.LOD_TENSOR, Kind.SELECTED_ROWS):
        raise UnsupportedError(
            f"linearize: the linear map reads {variable.name!r}, which holds {variable.kind} and "
            f"cannot be fed; use jvp{described(op)}"
        )


def _need_no_draws(op: Operator) -> None:
    """Refuse blocks of the linear map that draw random numbers: they would be others."""
    blocks = blocks_of(op)
    while blocks:
        for inner in blocks.pop().ops:
            if inner.definition is not None and inner.definition.random:
                raise UnsupportedError(
                    f"linearize: {inner.type!r} draws random numbers within {op.type!r}, which the "
                    f"linear map would draw anew; use jvp{described(inner)}"
                )
            blocks += blocks_of(inner)


list_public_names(globals())
api_boundaries(globals())
