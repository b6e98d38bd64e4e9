"""Functions without operands: tensors in one mode, variables of the main program in the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import layers
from ..functions import creation
from ..functions.arithmetic import get_default_dtype
from ..ground.dtypes import as_dtype
from ..ground.tracebacks import api_boundaries
from ..ir.program import default_main_program
from ..ir.variable import Variable
from ..nn import parameter
from ..symbolic import constant
from .modes import building

__all__ = [
    "arange", "assign", "create_parameter", "empty", "eye", "full", "linspace", "logspace",
    "normal", "ones", "rand", "randint", "randn", "randperm", "standard_normal", "to_tensor",
    "tril_indices", "triu_indices", "uniform", "zeros",
]  # fmt: skip


def _type(dtype: Any) -> Any:
    return as_dtype(get_default_dtype() if dtype is None else dtype)


@building(creation.full)
def full(shape: Any, fill_value: Any, dtype: Any, *given: Any) -> Any:
    if dtype is None and not isinstance(fill_value, Variable):
        dtype = creation.full([1], fill_value).dtype
    elif dtype is None:
        dtype = fill_value.dtype
    return layers.fill_constant(shape, as_dtype(dtype), fill_value)


@building(creation.zeros)
def zeros(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.fill_constant(shape, _type(dtype), 0)


@building(creation.ones)
def ones(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.fill_constant(shape, _type(dtype), 1)


@building(creation.empty)
def empty(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.fill_constant(shape, _type(dtype), 0)


@building(creation.eye)
def eye(num_rows: int, num_columns: int | None, dtype: Any, *given: Any) -> Any:
    return layers.eye(num_rows, num_columns, dtype=_type(dtype))


@building(creation.arange)
def arange(start: Any, end: Any, step: Any, dtype: Any, *given: Any) -> Any:
    if end is None:
        start, end = 0, start
    bounds = start, end, step
    if dtype is None and any(isinstance(bound, Variable) for bound in bounds):
        told = next(bound.dtype for bound in bounds if isinstance(bound, Variable))
        dtype = told if told.is_continuous else "int64"
    elif dtype is None:
        whole = all(isinstance(bound, (int, np.integer)) for bound in bounds)
        dtype = "int64" if whole else get_default_dtype()
    numbers = layers.range(start, end, step, as_dtype(dtype))
    if not any(isinstance(bound, Variable) for bound in bounds):
        numbers.declare([len(np.arange(*bounds))])
    return numbers


@building(creation.linspace)
def linspace(start: Any, stop: Any, num: Any, dtype: Any, *given: Any) -> Any:
    kind = _type(dtype)
    first, last = (layers.cast(n, kind) if isinstance(n, Variable) else n for n in (start, stop))
    numbers = layers.linspace(first, last, num, kind)
    if not isinstance(num, Variable):
        numbers.declare([int(num)])
    return numbers


@building(creation.logspace)
def logspace(start: Any, stop: Any, num: Any, base: float, dtype: Any, *given: Any) -> Any:
    powers: Any = linspace(start, stop, num, dtype)
    return layers.elementwise_pow(layers.fill_constant([1], powers.dtype, base), powers)


@building(creation.rand)
def rand(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.uniform_random(shape, _type(dtype), 0.0, 1.0)


@building(creation.uniform)
def uniform(shape: Any, dtype: Any, min: float, max: float, seed: int, *given: Any) -> Any:
    return layers.uniform_random(shape, _type(dtype), min, max, seed)


@building(creation.randn)
def randn(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.gaussian_random(shape, dtype=_type(dtype))


@building(creation.standard_normal)
def standard_normal(shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.gaussian_random(shape, dtype=_type(dtype))


@building(creation.normal)
def normal(mean: Any, std: Any, shape: Any, *given: Any) -> Any:
    spread = [each for each in (mean, std) if isinstance(each, Variable)]
    if not spread:
        return layers.gaussian_random([1] if shape is None else shape, mean, std)
    noise = layers.gaussian_random(layers.shape(spread[0]), dtype=spread[0].dtype)
    return noise * std + mean


@building(creation.randint)
def randint(low: int, high: int | None, shape: Any, dtype: Any, *given: Any) -> Any:
    return layers.randint(low, high, shape, dtype="int64" if dtype is None else dtype)


@building(creation.randperm)
def randperm(n: int, dtype: Any, *given: Any) -> Any:
    return layers.randperm(n, dtype=dtype)


@building(creation.to_tensor)
def to_tensor(data: Any, dtype: Any, place: Any, stop_gradient: bool, *given: Any) -> Any:
    if isinstance(data, Variable):
        return data if dtype is None else layers.cast(data, dtype)
    made = _constant(creation.array_of(data, dtype))
    made.stop_gradient = stop_gradient
    return made


@building(creation.assign)
def assign(x: Any, output: Any) -> Any:
    if not isinstance(x, (Variable, np.ndarray)):
        x = creation.array_of(x)
    return layers.assign(x, output)


@building(creation.tril_indices)
def tril_indices(row: int, col: int | None, offset: int, dtype: Any) -> Any:
    return _constant(creation.tril_indices(row, col, offset, dtype).array)


@building(creation.triu_indices)
def triu_indices(row: int, col: int | None, offset: int, dtype: Any) -> Any:
    return _constant(creation.triu_indices(row, col, offset, dtype).array)


@building(parameter.create_parameter)
def create_parameter(*given: Any) -> Any:
    return layers.create_parameter(*given)


def _constant(array: np.ndarray[Any, Any]) -> Variable:
    return constant(array, default_main_program())


api_boundaries(globals(), but=("building",))
