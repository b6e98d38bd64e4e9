"""Programs as StableHLO, which JAX and other users of XLA run without fluidlite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.files import Transaction
from ..ir.program import Program
from ..ir.variable import Variable
from ..jax import function
from ..scope import Scope

#: element types that JAX's default configuration does not have -> those it has
_NARROW = {"int64": "int32", "float64": "float32", "uint64": "uint32"}


def stablehlo(
    program: Program | None = None,
    feeds: Mapping[str, Any] = {},
    fetches: Sequence[Variable | str] | Variable | str | None = None,
    path: str | PathLike[str] | None = None,
    scope: Scope | None = None,
    wide: bool = False,
) -> bytes:
    """A program with its parameters as ``jax.export`` writes functions.

    ``jax.export.deserialize(data).call({"x": array})`` runs it where JAX is, and gives a list.

    Args:
        program: the default main program when None.
        feeds: for each data variable an array of the shape and type that it will have.
        fetches: variables, or their names, whose values are wanted.
        path: the file to write; None for none.
        scope: where the parameters are; the global scope when None.
        wide: whether int64 and float64 are taken and given as such, for JAX with 64 bits; else as
            types of 32 bits.

    Returns:
        what is in the file.

    Raises:
        ArgumentError: ``feeds`` are names alone.
        FluidError: as :func:`fluidlite.jax.function` does.
    """
    if not isinstance(feeds, Mapping):
        raise ArgumentError(
            f"expected feeds as a dictionary of arrays by name, whose shapes and types the "
            f"function is made for, got {feeds!r:.60}"
        )
    run, parameters = function(program, list(feeds), fetches, scope)
    jax, export = import_module("jax"), import_module("jax.export")

    def call(given: Mapping[str, Any]) -> list[Any]:
        return [value.astype(_type(value.dtype, wide)) for value in run(parameters, given)]

    arrays = {name: np.asarray(value) for name, value in feeds.items()}
    specs = {
        name: jax.ShapeDtypeStruct(value.shape, _type(value.dtype, wide))
        for name, value in arrays.items()
    }
    with import_module("fluidlite.backend.jax_").wide() if wide else nullcontext():
        data = bytes(export.export(jax.jit(call))(specs).serialize())
    if path is not None:
        with Transaction() as files:
            files.write(path, data)
    return data


def _type(dtype: Any, wide: bool) -> np.dtype[Any]:
    name = np.dtype(dtype).name
    return np.dtype(name if wide else _NARROW.get(name, name))
