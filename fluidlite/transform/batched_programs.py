"""A program for a batch of examples from a program for one."""

from __future__ import annotations

import itertools
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping

from ..backward.loops import has_loop_gradients, loops_for_gradients
from ..errors import (
    ArgumentError,
    AxisError,
    FluidError,
    LoDError,
    UnknownVariableError,
    UnsupportedError,
    suggestion,
)
from ..ground.callsite import warn
from ..ground.console import say
from ..ground.dtypes import Kind
from ..ground.tracebacks import api_boundary
from ..ir.analysis import blocks_driven_by, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.pruning import drop_blocks
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .batched_blocks import BlockBatching
from .batched_control import AgainError, BatchedControl, Forced, unshare_blocks
from .batching import BatchingWay
from .editing import transformed
from .results import Transformed
from .selecting import one_or_several

Names = Iterable["Variable | str"]


@api_boundary
def vmap(
    program: Program,
    inputs: Names | Variable | str | Mapping[str, int],
    outputs: Names | Variable | str | None = None,
    size: int | None = None,
    explain: bool = False,
) -> Transformed:
    """A program that computes for a batch of examples what a program computes for one.

    Values that do not depend on ``inputs`` are computed once, and gradients are not added up over
    the examples.  Operators are batched by rules, by what their definitions say, or by operators
    that they are made of.  What is left runs for one example after the other, which a warning
    says.  Random operators draw for each example anew.

    Args:
        program: any; it stays as it was.
        inputs: the variables that get a new first dimension, or the place of the new dimension for
            each.  Parameters may be among them, with ``size``.
        outputs: the results for each example, if it is the same for all of them, too; operators
            that it does not need are left out.  All when None.
        size: the number of examples; None where it is known when the program runs.
        explain: print how each operator was batched.

    Returns:
        the program, its batched inputs, and its outputs: those wanted, else the batched results
        that no operator reads.

    Raises:
        UnknownVariableError: there is no such variable.
        AxisError: an input has no such place for a dimension.
        LoDError: sequences depend on an input.
        UnsupportedError: an operator cannot be batched: it updates parameters, or changes a
            variable that stays between runs.

    >>> x = fluid.data("x", [3], "float32")
    >>> y = fluid.layers.reduce_sum(fluid.layers.square(x))
    >>> batched = fluid.transform.vmap(fluid.default_main_program(), [x], [y])
    >>> batched.outputs[0].shape
    (-1, 1)
    >>> rows = np.array([[1, 2, 3], [0, 0, 1]], "float32")
    >>> fluid.Executor().run(batched.program, {"x": rows}, batched.outputs)[0].ravel().tolist()
    [14.0, 1.0]
    """
    report = _Vmap(program, inputs, outputs, size)
    batched = report.batch()
    report.say(explain)
    block = batched.global_block()
    return Transformed(
        batched,
        tuple(block.var(name) for name in report.axes if block.has_var(name)),
        tuple(block.var(name) for name in report.results(block)),
    )


@api_boundary
def batching_ways(
    program: Program,
    inputs: Names | Variable | str | Mapping[str, int],
    outputs: Names | Variable | str | None = None,
    size: int | None = None,
) -> tuple[BatchingWay, ...]:
    """How :func:`vmap` batches each operator that depends on an input, in order.

    Args:
        program, inputs, outputs, size: as of :func:`vmap`.

    Raises:
        FluidError: what :func:`vmap` raises.

    >>> x = fluid.data("x", [3], "float32")
    >>> y = fluid.layers.softmax(fluid.layers.tanh(x))
    >>> ways = fluid.transform.batching_ways(fluid.default_main_program(), [x])
    >>> [(each.op_type, each.way) for each in ways]
    [('tanh', 'derived'), ('softmax', 'rule')]
    """
    report = _Vmap(program, inputs, outputs, size)
    report.batch()
    return tuple(report.ways)


def _axes_of(inputs: Names | Variable | str | Mapping[str, int]) -> dict[str, int]:
    """The place of the new dimension of each input."""
    if isinstance(inputs, Mapping):
        axes = {_name_of(name): _whole(axis, "a place") for name, axis in inputs.items()}
    else:
        axes = dict.fromkeys(_names_of(inputs), 0)
    if not axes:
        raise ArgumentError("expected at least one input that gets a new dimension, got none")
    return axes


def _names_of(variables: Names | Variable | str) -> list[str]:
    listed = one_or_several(variables, (str, Variable), "variables or their names")
    return [_name_of(each) for each in listed]


def _whole(number: object, what: str) -> int:
    if not isinstance(number, numbers.Integral):
        raise ArgumentError(f"expected {what} as an integer, got {number!r:.60}")
    return int(number)


def _name_of(variable: Variable | str) -> str:
    if isinstance(variable, (str, Variable)):
        return variable if isinstance(variable, str) else variable.name
    raise ArgumentError(f"expected a variable or the name of one, got {variable!r:.60}")


def _need(program: Program, name: str) -> Variable:
    known = program.global_block().vars
    if name not in known:
        raise UnknownVariableError(
            f"the program has no variable {name!r} in its first block{suggestion(name, known)}"
        )
    return known[name]


def _computed(program: Program, names: Iterable[str]) -> list[str]:
    """The names that operators write before any reads them."""
    block = program.global_block()
    written: set[str] = set()
    read: set[str] = set()
    for op in block.ops:
        if op.type != "feed":
            read.update(name for name in reads_of(op) if name not in written)
            written.update(writes_of(op))
    return [name for name in names if name in written and name not in read]


def _free_stem(program: Program) -> str:
    """What no variable of a program is called after."""
    names = [name for block in program.blocks for name in block.vars]
    stems = (f"vmap{k or ''}.tmp" for k in itertools.count())
    return next(stem for stem in stems if not any(name.startswith(stem) for name in names))


def _idle_blocks(program: Program) -> set[int]:
    """The numbers of the blocks that no operator drives, at any depth."""
    driven, left = {0}, [0]
    while left:
        for op in program.blocks[left.pop()].ops:
            inside = set(blocks_driven_by(op)) - driven
            driven |= inside
            left += inside
    return {block.idx for block in program.blocks} - driven


def _with_loops(program: Program, wanted: Iterable[str] | None) -> Program:
    """A copy in which gradient operators of loops are loops that compute the same.

    Raises:
        NoGradientError: one cannot be replaced.
    """
    copied = program.clone()
    block = copied.global_block()
    targets = [n for op in block.ops for n in writes_of(op)] if wanted is None else wanted
    loops_for_gradients([block], targets, ())
    return copied


class _Vmap:
    """One transformation: what is asked, and how it was done.

    Args:
        program, inputs, outputs, size: as of :func:`vmap`.
    """

    def __init__(
        self,
        program: Program,
        inputs: Names | Variable | str | Mapping[str, int],
        outputs: Names | Variable | str | None,
        size: int | None,
    ) -> None:
        self.axes: dict[str, int] = _axes_of(inputs)
        self.ways: list[BatchingWay] = []
        self._wanted = None if outputs is None else _names_of(outputs)
        for name in (*self.axes, *(self._wanted or ())):
            _need(program, name)
        if size is not None and _whole(size, "the number of examples") < 1:
            raise ArgumentError(f"expected at least one example, got size={size}")
        self._size = -1 if size is None else size
        self._program = program
        if self._wanted is not None:
            self._program = program.pruned(_computed(program, self.axes), self._wanted)
        self._results: list[str] = []
        #: what showed to be batched later than it was made
        self._forced: set[Forced] = set()

    def batch(self) -> Program:
        """The program for a batch: from the start again where a loop carries what is batched only
        behind its first pass.
        """
        if has_loop_gradients(self._program):
            try:
                return self._batched(_with_loops(self._program, self._wanted))
            except FluidError:  # then they run for one example after the other
                self._forced.clear()
        return self._batched(self._program)

    def _batched(self, program: Program) -> Program:
        while True:
            try:
                return transformed(program, self.change)
            except AgainError as again:
                self._forced.add(again.forced)

    def change(self, program: Program) -> None:
        """Batch a copy."""
        unshare_blocks(program)
        block = program.global_block()
        axes = {name: axis for name, axis in self.axes.items() if block.has_var(name)}
        read = {name for b in program.blocks for op in b.ops for name in reads_of(op)}
        walk = BlockBatching(block, self._size, read, self._wanted or (), _free_stem(program))
        computed = _computed(program, axes)
        ahead, firsts = [], []
        for name, axis in axes.items():
            front = _declare_input(block, name, axis, self._size, name in computed)
            firsts.append(name if front is None else front.first_output)
            if front is not None:
                walk.shapes[firsts[-1]] = walk.shapes[name]
                ahead.append(front)
        ops = block.ops
        block.set_ops([op for op in ops if op.type == "feed"])
        block.set_ops([*block.ops, *ahead])
        for name in firsts:
            walk.begin(name)
        BatchedControl(walk, self._forced).run([op for op in ops if op.type != "feed"])
        if self._wanted is not None:
            self._results = [walk.finished(name) for name in self._wanted]
        else:
            read = {name for op in block.ops for name in reads_of(op)}
            ends = [n for n in walk.batched_names if n not in read or n in self._fetched(ops)]
            self._results = [name for name in ends if name not in self.axes]
        drop_blocks(program, _idle_blocks(program))
        self.ways = walk.f.ways

    def _fetched(self, ops: Iterable[Operator]) -> set[str]:
        return {name for op in ops if op.type == "fetch" for name in op.input_arg_names}

    def results(self, block: Block) -> list[str]:
        """The names of the outputs."""
        return [name for name in self._results if block.has_var(name)]

    def say(self, explain: bool) -> None:
        """Tell how operators were batched: all when asked, and always those that run one by one."""
        if explain:
            for (type, way, why), count in Counter(self.ways).items():
                say(f"{count:5} {type:32} {way:8}  {why}".rstrip())
        loops = Counter(each.op_type for each in self.ways if each.way == "looped")
        if loops:
            names = ", ".join(f"{type} ({count})" for type, count in loops.items())
            warn(
                "these operators have no rule of batching for what they are given, and run for one "
                f"example after the other: {names}; explain=True says why",
                None,
            )


def _declare_input(
    block: Block, name: str, axis: int, size: int, is_computed: bool
) -> Operator | None:
    """Give an input its new dimension; what makes that the first one, where it is not.

    Raises:
        ArgumentError: the program computes it; or it is a parameter, and there is no size.
        LoDError: it holds sequences.
        AxisError: there is no such place.
        UnsupportedError: it is no tensor.
    """
    variable = block.var(name)
    ndim = variable.ndim
    if variable.kind is not Kind.LOD_TENSOR:
        raise UnsupportedError(f"variable {name!r} is no tensor, but {variable.kind.name}")
    if variable.lod_level:
        raise LoDError(
            f"variable {name!r} holds sequences (lod_level {variable.lod_level}), which have no "
            "batch; pad them first, with fluid.layers.sequence_pad"
        )
    if is_computed:
        raise ArgumentError(
            f"variable {name!r} is computed by the program; name the outputs that you need, so "
            "that what computes it is left out, or vmap over what it is computed from"
        )
    if not -ndim - 1 <= axis <= ndim:
        raise AxisError(
            f"expected a place from {-ndim - 1} to {ndim} for the new dimension of {name!r}, of "
            f"shape {list(variable.shape)}; got {axis}"
        )
    if variable.persistable and size == -1:
        raise ArgumentError(f"{name!r} stays between runs, so its shape is fixed: give a size")
    at = axis % (ndim + 1)
    shape = (*variable.shape[:at], size, *variable.shape[at:])
    if not at:
        variable.declare(shape)
        return None
    block.rename_var(name, f"{name}@FIRST")
    data = variable.copy_to(block)
    data.name = name
    block.declare(data)
    data.declare(shape)
    variable.is_data, variable.need_check_feed = False, False
    order = [at, *(d for d in range(len(shape)) if d != at)]
    instance = lookup("transpose")({"axis": order})
    return block.make_op(instance, {"X": data}, {"Out": variable}, None)
