"""Parameters as constants of the program, and constants as parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..errors import (
    ArgumentError,
    DTypeError,
    NotInitializedError,
    UnknownVariableError,
    suggestion,
)
from ..ground.dtypes import DType, Kind
from ..ground.values import LoDTensor, on_host
from ..ir.analysis import parameters_of, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.pruning import drop_unused
from ..ir.variable import Parameter, Variable
from ..opdef.definition import lookup
from ..scope import Scope, global_scope
from .cutting import needed_for
from .editing import verified
from .explaining import explained
from .inserting import FreeNames
from .parts import CutOut, missing_values
from .selecting import VariableLike, name_of, place_of
from .versions import Versions

#: name scopes of operators that make constants of parameters: of trained ones, and of others
_TRAINED, _FIXED = "/frozen/trained/", "/frozen/fixed/"
#: the attribute of assign_value that lists elements of a type
_LISTS = {
    DType.BOOL: "bool_values",
    DType.FP32: "fp32_values",
    DType.INT32: "int32_values",
    DType.INT64: "int64_values",
}
#: element types whose elements another one holds, too
_HELD_BY = {
    DType.FP16: DType.FP32,
    DType.INT8: DType.INT32,
    DType.UINT8: DType.INT32,
    DType.INT16: DType.INT32,
}


def freeze(
    program: Program,
    scope: Scope | None = None,
    names: Iterable[VariableLike] | None = None,
    *,
    explain: bool = False,
) -> Program:
    """A program in which parameters are constants.

    Their values stand in attributes of operators at its front (``fill_constant`` where all elements
    are equal, ``assign_value`` else), so that the program computes the same in any scope, and is
    one file.  :func:`unfreeze` takes that back.  An array of a million elements takes two seconds
    to freeze and 5 MB of the file.

    Args:
        program: stays as it is.
        scope: has the values; the global scope when None.
        names: which parameters, or other variables that stay between runs; all parameters when
            None.
        explain: print what came of each operator that is not as it was.

    Raises:
        UnknownVariableError: there is no such variable.
        NotInitializedError: one has no value; run the startup program first.
        ArgumentError: an operator writes one: the optimizer of a training program.
        DTypeError: one has elements that no constant holds.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 3, param_attr=fluid.initializer.Constant(0.5))
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> frozen = fluid.transform.freeze(fluid.default_main_program())
    >>> [op.type for op in frozen.global_block().ops]
    ['fill_constant', 'fill_constant', 'mul', 'elementwise_add']
    >>> with fluid.scope_guard(fluid.Scope()):
    ...     exe.run(frozen, {"x": np.ones((1, 2), "float32")}, [y])
    [array([[1., 1., 1.]], dtype=float32)]
    """
    chosen = _chosen(program, names)
    source = global_scope() if scope is None else scope
    for variable in chosen:
        _check_unwritten(program, variable)
    values = {variable.name: _value(variable, source) for variable in chosen}
    return explained(verified(program, partial(_freeze, values=values)), explain, "freeze", program)


def _chosen(program: Program, names: Iterable[VariableLike] | None) -> list[Variable]:
    if names is None:
        return parameters_of(program)
    listed = [names] if isinstance(names, (str, Variable)) else list(names)
    known = program.global_block().vars
    for name in map(name_of, listed):
        if name not in known:
            raise UnknownVariableError(
                f"the program has no variable {name!r} to freeze{suggestion(name, known)}"
            )
        if not known[name].persistable or known[name].kind is not Kind.LOD_TENSOR:
            raise ArgumentError(
                f"expected variables that stay between runs to freeze, {name!r} is none"
            )
    return [known[name] for name in dict.fromkeys(map(name_of, listed))]


def _check_unwritten(program: Program, variable: Variable) -> None:
    for block in program.blocks:
        for op in block.ops:
            idle = op.attrs.get("is_test") and op.reads(variable.name)
            if variable.name in writes_of(op) and not idle:
                raise ArgumentError(
                    f"cannot freeze {variable.name!r}: {place_of(op)} writes it; freeze "
                    "clone(for_test=True), or name the parameters to freeze"
                )


def _value(variable: Variable, scope: Scope) -> Any:
    there = scope.find_var(variable.name)
    value = None if there is None else on_host(there.value)
    if value is None:
        raise NotInitializedError(
            f"variable {variable.name!r} has no value to freeze; run the startup program first, or "
            "load the parameters"
        )
    if isinstance(value, LoDTensor) or not hasattr(value, "shape"):
        raise ArgumentError(f"expected {variable.name!r} to hold a plain array, got {value!r:.60}")
    return np.asarray(value)


def _freeze(copied: Program, values: Mapping[str, Any]) -> None:
    block = copied.global_block()
    names = FreeNames(copied)
    constants: list[Operator] = []
    for name, array in values.items():
        before = block.vars[name]
        is_trained = isinstance(before, Parameter) and before.trainable
        block.declare(
            Variable(block, name, shape=array.shape, dtype=array.dtype, stop_gradient=True)
        )
        maker = ConstantMaker(block, names, _TRAINED if is_trained else _FIXED)
        maker.make(name, array)
        constants += maker.ops
    at = sum(1 for op in block.ops if op.type == "feed")
    block.set_ops([*block.ops[:at], *constants, *block.ops[at:]])


class ConstantMaker:
    """Makes operators that give variables constant values.

    Args:
        block: where they are to be.
        names: gives names of what is between.
        namescope: theirs.
    """

    def __init__(self, block: Block, names: FreeNames, namescope: str) -> None:
        self.block = block
        self.names = names
        self.namescope = namescope
        self.ops: list[Operator] = []

    def make(self, name: str, array: Any) -> None:
        """Make the operators that give a variable the elements of an array.

        Raises:
            DTypeError: no operator can.
        """
        dtype = self.block.vars[name].dtype
        shape = list(array.shape)
        if _are_alike(array):
            attrs = {"shape": shape, "dtype": dtype, "value": float(array.reshape(-1)[0])}
            self._append("fill_constant", {}, name, attrs)
        elif dtype in _HELD_BY:
            self._cast(self._between(array.astype(_HELD_BY[dtype].dtype)), name, dtype)
        elif dtype is DType.FP64:
            self._make_double(name, array)
        elif dtype in _LISTS:
            elements = array.reshape(-1).astype("int32" if dtype is DType.BOOL else array.dtype)
            attrs = {"shape": shape, "dtype": dtype, _LISTS[dtype]: elements.tolist()}
            self._append("assign_value", {}, name, attrs)
        else:
            raise DTypeError(f"cannot freeze {name!r}: no constant has the element type {dtype}")

    def _between(self, array: Any) -> str:
        name = self.names("frozen")
        self.block.declare(
            Variable(self.block, name, shape=array.shape, dtype=array.dtype, stop_gradient=True)
        )
        self.make(name, array)
        return name

    def _append(
        self, kind: str, inputs: Mapping[str, Any], name: str, attrs: Mapping[str, Any]
    ) -> None:
        op = self.block.make_op(lookup(kind)(dict(attrs)), inputs, {"Out": name}, None)
        op.namescope = self.namescope
        self.ops.append(op)

    def _cast(self, held: str, name: str, dtype: DType) -> None:
        before = self.block.vars[held].dtype
        self._append("cast", {"X": held}, name, {"in_dtype": before, "out_dtype": dtype})

    def _make_double(self, name: str, array: Any) -> None:
        """Attributes hold single precision: a double is the sum of three."""
        parts, rest = [], array
        with np.errstate(all="ignore"):
            for _ in range(3):
                parts.append(rest.astype("float32"))
                rest = np.where(np.isfinite(rest), rest - parts[-1].astype("float64"), 0.0)
            total = parts[0].astype("float64") + parts[1] + parts[2]
        if not np.array_equal(total, array, equal_nan=True):
            raise DTypeError(
                f"cannot freeze {name!r}: it has elements of float64 outside of what float32 "
                "reaches; leave it out of names"
            )
        needed = [parts[0], *[part for part in parts[1:] if np.any(part)]]
        doubles = []
        for part in needed:
            single = self._between(part)
            wide = name if len(needed) == 1 else self.names("frozen")
            if wide != name:
                self.block.declare(
                    Variable(
                        self.block, wide, shape=array.shape, dtype="float64", stop_gradient=True
                    )
                )
            self._cast(single, wide, DType.FP64)
            doubles.append(wide)
        if len(doubles) > 1:
            self._append("sum", {"X": doubles}, name, {})


def _are_alike(array: Any) -> bool:
    """Whether all elements have the same bits, and single precision holds the number."""
    if array.size < 2 or array.dtype.kind not in "biuf":
        return False
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(-1)
    with np.errstate(over="ignore"):
        number = float(np.float32(array.reshape(-1)[0]))
    return bool(np.all(bits == bits[0])) and number == array.reshape(-1)[0]


def unfreeze(
    program: Program, names: Iterable[VariableLike] | None = None, *, explain: bool = False
) -> tuple[Program, Program]:
    """A program in which constants are parameters, and the startup program that gives them their
    values.

    Args:
        program: stays as it is.
        names: which constants; when None, those that :func:`freeze` made.
        explain: print what came of each operator that is not as it was.

    Returns:
        the program, and its startup program.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: what computes one depends on what is fed or stays between runs; it is written
            several times, or lies in a block within; or there are none.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 1, bias_attr=False)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> frozen = fluid.transform.freeze(fluid.default_main_program())
    >>> main, startup = fluid.transform.unfreeze(frozen)
    >>> [p.name for p in main.all_parameters()], [op.type for op in startup.global_block().ops]
    (['fc_0.w_0'], ['assign_value'])
    """
    block = program.global_block()
    versions = Versions(block)
    chosen = _constants(block, versions, names)
    if not chosen:
        raise ArgumentError(
            "the program has no constants that freeze made; name those to unfreeze: names=[...]"
        )
    positions = needed_for(versions, [(name, 1) for name in chosen], [])
    startup = CutOut(versions, positions, [], [(name, 1) for name in chosen]).build(program)
    for name in chosen:
        startup.global_block().vars[name].persistable = True
    startup.touch()
    inside = {name: _is_trained(block.ops[versions.writer[name, 1]]) for name in chosen}
    changed = verified(program, partial(_unfreeze, chosen=inside, positions=positions))
    why = "its value is in the startup program"
    return explained(changed, explain, "unfreeze", program, left_out=why), startup


def _constants(block: Block, versions: Versions, names: Iterable[VariableLike] | None) -> list[str]:
    """The constants to unfreeze.

    Raises:
        UnknownVariableError, ArgumentError: as of :func:`unfreeze`.
    """
    if names is None:
        makers = [op for op in block.ops if op.namescope in (_TRAINED, _FIXED)]
        read = {name for op in makers for name in op.input_arg_names}
        return [n for op in makers for n in op.output_arg_names if n not in read]
    listed = [names] if isinstance(names, (str, Variable)) else list(names)
    chosen = list(dict.fromkeys(map(name_of, listed)))
    for name in chosen:
        if name not in block.vars:
            raise UnknownVariableError(
                f"the program has no variable {name!r} to unfreeze{suggestion(name, block.vars)}"
            )
        written = versions.last.get(name, 0)
        if written != 1:
            raise ArgumentError(
                f"expected a constant to unfreeze, {name!r} is written {written} times"
            )
        positions = needed_for(versions, [(name, 1)], [])
        outside = missing_values(versions, positions, [])
        outside += [
            f"  {n!r}, read by {place_of(block.ops[i])}"
            for i in positions
            for n, version in versions.reads[i]
            if not version and block.var_recursive(n).persistable
        ]
        if outside:
            raise ArgumentError(
                "\n".join([f"{name!r} is no constant: what computes it depends on", *outside])
            )
    return chosen


def _is_trained(op: Operator) -> bool:
    return op.namescope != _FIXED


def _unfreeze(copied: Program, chosen: Mapping[str, bool], positions: Iterable[int]) -> None:
    block = copied.global_block()
    making = set(positions)
    read: set[str] = set()
    ops: list[Operator] = []
    for position in range(len(block.ops) - 1, -1, -1):
        op = block.ops[position]
        if position not in making or not read.isdisjoint(set(op.output_arg_names) - chosen.keys()):
            read.update(reads_of(op))
            ops.insert(0, op)
    between = {n for op in block.ops for n in op.output_arg_names} - chosen.keys()
    block.set_ops(ops)
    drop_unused(copied, between)
    for name, trained in chosen.items():
        variable = block.vars[name]
        if trained and variable.dtype.is_float and all(size > 0 for size in variable.shape):
            block.declare(
                Parameter(block, name, shape=variable.shape, dtype=variable.dtype, trainable=True)
            )
        else:
            block.declare(
                Variable(
                    block,
                    name,
                    shape=variable.shape,
                    dtype=variable.dtype,
                    persistable=True,
                    stop_gradient=True,
                )
            )
