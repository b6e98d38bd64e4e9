"""Programs in double precision, and values for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import DType, Kind
from ..ground.values import LoDTensor, SelectedRows
from ..ir.operator import Operator
from ..ir.program import Program
from ..scope import Scope


def in_float64(program: Program) -> Program:
    """A copy of a program in double precision: variables and attributes are float64, or complex128
    where they were complex.
    """
    copied = program.clone()
    for block in copied.blocks:
        for variable in block.vars.values():
            tensor = variable.kind is Kind.LOD_TENSOR
            if variable.dtype.is_float and (variable.has_dtype or tensor):
                variable.declare(dtype=DType.FP64)
            elif variable.dtype.is_complex and tensor:
                variable.declare(dtype=DType.COMPLEX128)
        block.set_ops([_listed_as_floats(op) for op in block.ops])
        for op in block.ops:
            _widen(op)
    return copied


def _widen(op: Operator) -> None:
    attributes = {} if op.definition is None else op.definition.attributes
    for name, attribute in attributes.items():
        if attribute.kind == "DType":
            value = op.attrs.get(name, attribute.default)
            if isinstance(value, DType) and value.is_continuous:
                wide = DType.COMPLEX128 if value.is_complex else DType.FP64
                op.set_attr(name, wide)


def _listed_as_floats(op: Operator) -> Operator:
    """``fill`` in place of ``assign_value``, which has no list of float64 numbers."""
    if op.type != "assign_value" or not op.attrs["dtype"].is_float:
        return op
    attrs = {"shape": op.attrs["shape"], "value": op.attrs.get("fp32_values", ())}
    return Operator(
        op.block, "fill", {}, dict(op.outputs), attrs, role=op.role, callsite=op.callsite
    )


def widened(value: Any) -> Any:
    """A value with float64 in place of other floats, and complex128 of other complex numbers."""
    if isinstance(value, LoDTensor):
        data = widened(value.data)
        return LoDTensor(data, value.offsets) if value.offsets else data
    if not is_continuous(value):
        return value
    return value.astype("complex128" if value.dtype.kind == "c" else "float64")


def is_continuous(value: Any) -> bool:
    """Whether a value is an array of floats or complex numbers, or a LoDTensor of them."""
    data = value.data if isinstance(value, LoDTensor) else value
    return isinstance(data, np.ndarray) and data.dtype.kind in "fc"


def dense(value: Any) -> Any:
    """The plain array that a value means."""
    if isinstance(value, SelectedRows):
        return value.to_dense()
    return value.data if isinstance(value, LoDTensor) else value


def with_data(value: Any, data: Any) -> Any:
    """Other numbers in the form of a value."""
    return LoDTensor(data, value.offsets) if isinstance(value, LoDTensor) else data


def persistable_values(program: Program, scope: Scope) -> dict[str, Any]:
    """By name what a scope holds of a program's persistable variables, in double precision."""
    values = {}
    for variable in program.list_vars():
        if variable.persistable:
            value = scope.host_value(variable.name)
            if value is not None:
                values[variable.name] = widened(value)
    return values
