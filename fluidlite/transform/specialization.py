"""Programs for inputs of which something is known: their shapes, or their values."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import ArgumentError, FluidError, ShapeError, UnknownVariableError, suggestion
from ..ground.dtypes import Kind
from ..ir.analysis import blocks_driven_by, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.pruning import drop_unused
from ..ir.variable import Variable
from ..opdef.interpreter import Eval
from .editing import transformed
from .freezing import ConstantMaker
from .inserting import FreeNames
from .selecting import name_of, names_in_block_0
from .sharing import results_of

#: elements of the largest constant that stands in a program
LARGEST = 65_536


def specialize(
    program: Program,
    feed: Mapping[str | Variable, Any] | Mapping[str, Any] | None = None,
    shapes: Mapping[str | Variable, Sequence[int | None]]
    | Mapping[str, Sequence[int | None]]
    | None = None,
    *,
    keep: Iterable[Variable | str] = (),
) -> Program:
    """A program for inputs of known shapes, or of known values.

    What is fed by ``feed`` is no input any more: it stands in the program, and what depends on
    it and on other constants alone is computed now.

    Args:
        program: stays as it is.
        feed: a data variable, or its name -> array.
        shapes: a data variable, or its name -> its sizes, which have to fit the declared ones.
        keep: variables to fetch, of those that nothing reads.

    Raises:
        UnknownVariableError: there is no data variable of a name.
        ShapeError: sizes or an array do not fit what is declared.

    >>> from fluidlite import transform
    >>> x, n = fluid.data("x", [None, 2]), fluid.data("n", [1])
    >>> y = x * fluid.layers.exp(n + 1.0)
    >>> known = transform.specialize(
    ...     fluid.default_main_program(), feed={"n": np.zeros(1, "float32")}, shapes={"x": [4, 2]}
    ... )
    >>> print(transform.formula(known, y), known.global_block().var("x").shape)
    tmp_1 = x * 2.718282 (4, 2)
    """
    fed = {name_of(v): _fitting(program, name_of(v), value) for v, value in (feed or {}).items()}
    sizes = {name_of(v): _sizes(program, name_of(v), given) for v, given in (shapes or {}).items()}

    goals = set(names_in_block_0(program, keep))

    def change(copied: Program) -> None:
        block = copied.global_block()
        for name, shape in sizes.items():
            block.var(name).redeclare(shape)
        for name, array in fed.items():
            variable = block.var(name)
            variable.is_data = False
            variable.redeclare(array.shape)
        maker = ConstantMaker(block, FreeNames(copied), "/")
        for name, array in fed.items():
            maker.make(name, array)
        others = [op for op in block.ops if not (op.type == "feed" and _feeds(op, fed))]
        block.set_ops([*maker.ops, *others])
        if fed:
            _fold(copied, goals)

    return transformed(program, change)


def fold_constants(program: Program, keep: Iterable[Variable | str] = ()) -> Program:
    """A program in which what depends on constants alone is computed now.

    Constants of up to 65,536 elements are written into the program.  The results are those of
    NumPy's kernels, bit by bit.

    Args:
        program: stays as it is.
        keep: variables to fetch, of those that nothing reads; all of block 0's that
            nothing reads are kept when there are none.

    >>> from fluidlite import transform
    >>> x = fluid.data("x", [2])
    >>> y = x + fluid.layers.exp(fluid.layers.fill_constant([2], "float32", 0.0))
    >>> print(transform.formula(transform.fold_constants(fluid.default_main_program()), y))
    tmp_0 = x + 1.0
    """
    names = set(names_in_block_0(program, keep))
    return transformed(program, lambda copied: _fold(copied, names))


def _data_variable(program: Program, name: str) -> Variable:
    block = program.global_block()
    data = [v.name for v in block.vars.values() if v.is_data]
    if name not in data:
        listed = ", ".join(data) or "none"
        raise UnknownVariableError(
            f"the program has no data variable {name!r}{suggestion(name, data)}; it has {listed}"
        )
    return block.vars[name]


def _sizes(program: Program, name: str, given: Sequence[int | None]) -> tuple[int, ...]:
    declared = _data_variable(program, name).shape
    if not isinstance(given, Iterable):
        raise ArgumentError(f"expected sizes for {name!r}, got {given!r:.60}")
    sizes = tuple(-1 if n is None else n for n in given)
    if not all(isinstance(n, numbers.Integral) for n in sizes):
        raise ArgumentError(f"expected integers as sizes for {name!r}, got {list(given)!r:.120}")
    fits = len(sizes) == len(declared) and all(d in (-1, n) for d, n in zip(declared, sizes))
    if not fits or any(n < -1 for n in sizes):
        raise ShapeError(
            f"expected sizes for {name!r} that fit the declared shape {list(declared)}, got "
            f"{list(given)}"
        )
    return sizes


def _fitting(program: Program, name: str, value: Any) -> np.ndarray[Any, Any]:
    variable = _data_variable(program, name)
    if variable.lod_level or variable.kind is not Kind.LOD_TENSOR:
        raise ArgumentError(f"variable {name!r} holds sequences: they do not become constants")
    array = np.asarray(value)
    if not np.can_cast(array.dtype, variable.dtype.dtype, "same_kind"):
        raise ArgumentError(f"variable {name!r} is {variable.dtype}, got an array of {array.dtype}")
    _sizes(program, name, array.shape)
    if array.size > LARGEST:
        raise ArgumentError(
            f"the array for {name!r} has {array.size} elements: a program holds constants of up to "
            f"{LARGEST}; make it a persistable variable"
        )
    return array.astype(variable.dtype.dtype)


def _feeds(op: Operator, fed: Mapping[str, Any]) -> bool:
    return any(name in fed for name in op.output_arg_names)


def _is_writable(array: Any, variable: Variable) -> bool:
    """Whether a constant can stand in a program."""
    return (
        type(array) is np.ndarray
        and 0 < array.size <= LARGEST
        and array.ndim > 0
        and variable.kind is Kind.LOD_TENSOR
        and not variable.lod_level
    )


def _fold(program: Program, keep: set[str]) -> None:
    block, f = program.global_block(), Eval(numpy_)
    goals = keep or results_of(block)
    constants: dict[str, Any] = {}
    ops: list[Operator | tuple[str, Any]] = []
    for op in block.ops:
        outs = _computed(op, block, constants, f)
        written = writes_of(op)
        if outs is None:
            for name in written:
                constants.pop(name, None)
            ops.append(op)
            continue
        constants.update(outs)
        ops += [(name, (op, array)) for name, array in outs.items()]
    block.set_ops(_with_constants(block, ops, goals))
    drop_unused(program, [v.name for v in block.vars.values() if not v.persistable])


def _computed(
    op: Operator, block: Block, constants: Mapping[str, Any], f: Eval
) -> dict[str, Any] | None:
    """The values that an operator writes, by name; None where they are not known, or cannot stand
    in the program.
    """
    definition = op.definition
    if definition is None or blocks_driven_by(op) or definition.random or not definition.folds:
        return None
    instance = op.instance()
    if instance.is_control or instance.calls_out or instance.effect is not None:
        return None
    shaped = _forms(op, block) if definition.reads_shapes else {}
    known = {**constants, **shaped}
    if any(n != EMPTY and n not in known for n in reads_of(op)) or not op.outputs:
        return None
    if any(block.var_recursive(n).persistable for n in writes_of(op)):
        return None
    ins = op.operands(known.__getitem__)
    try:
        with np.errstate(all="ignore"):
            outs = f.apply(instance, ins)
    except FluidError:
        return None  # the run says what is wrong
    computed: dict[str, Any] = {}
    for slot, names in op.outputs.items():
        value = outs.get(slot)
        for name, array in zip(names, value if isinstance(value, list) else [value]):
            if name == EMPTY:
                continue
            if array is None or not _is_writable(np.asarray(array), block.var_recursive(name)):
                return None
            computed[name] = np.asarray(array)
    return computed


def _forms(op: Operator, block: Block) -> dict[str, Any]:
    """Arrays in place of what an operator reads only the shapes of, where these are known."""
    forms: dict[str, Any] = {}
    for name in op.input_arg_names:
        variable = block.find_var_recursive(name)
        if variable is None or not variable.has_shape or -1 in variable.shape:
            continue
        if not variable.lod_level and variable.kind is Kind.LOD_TENSOR:
            forms[name] = np.broadcast_to(np.zeros((), variable.dtype.dtype), variable.shape)
    return forms


def _with_constants(
    block: Block, ops: Sequence[Operator | tuple[str, Any]], goals: set[str]
) -> list[Operator]:
    """The operators that are left, and those that give constants that something reads."""
    wanted, names = set(goals), FreeNames(block.program)
    left: list[Operator] = []
    for entry in reversed(ops):
        if isinstance(entry, Operator):
            if not blocks_driven_by(entry):  # which may leave a name the value that it had
                wanted.difference_update(writes_of(entry))
            wanted.update(reads_of(entry))
            left.append(entry)
        elif entry[0] in wanted:
            name, (op, array) = entry
            wanted.discard(name)
            if not op.input_arg_names and len(op.output_arg_names) == 1:
                left.append(op)  # a constant as it stands
                continue
            maker = ConstantMaker(block, names, op.namescope)
            maker.make(name, array)
            for made in maker.ops:
                made.callsite, made.role, made.device = op.callsite, op.role, op.device
            left += reversed(maker.ops)
    left.reverse()
    return left
