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
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..jax import function
from ..scope import Scope

#: element types that JAX's default configuration does not have -> those it has
_NARROW = {"int64": "int32", "float64": "float32", "uint64": "uint32"}


def stablehlo(
    program: Program | None = None,
    feeds: Mapping[str, Any] | Sequence[str] = {},
    fetches: Sequence[Variable | str] | Variable | str | None = None,
    path: str | PathLike[str] | None = None,
    scope: Scope | None = None,
    wide: bool = False,
) -> bytes:
    """A program with its parameters as ``jax.export`` writes functions.

    ``jax.export.deserialize(data).call({"x": array})`` runs it where JAX is, and gives a list.

    Args:
        program: the default main program when None.
        feeds: for each data variable an array of the shape and type that it will have. Or names
            alone: the function takes what they are declared as, and sizes that have names there
            (``fluid.data("x", ["batch", 64])``) may be any.
        fetches: variables to fetch, or their names.
        path: the file to write; None for none.
        scope: where the parameters are; the global scope when None.
        wide: whether int64 and float64 are taken and given as such, for JAX with 64 bits; else as
            types of 32 bits.

    Returns:
        what is in the file.

    Raises:
        ArgumentError: ``feeds`` are names alone, and a size is unknown and has no name.
        FluidError: as :func:`fluidlite.jax.function` does.

    >>> import jax
    >>> y = fluid.layers.relu(fluid.data("x", ["batch", 2], "float32"))
    >>> data = fluid.export.stablehlo(feeds=["x"], fetches=[y])
    >>> jax.export.deserialize(data).call({"x": np.array([[-1.0, 2.0]], "float32")})[0].tolist()
    [[0.0, 2.0]]
    """
    if isinstance(feeds, (str, bytes)) or not isinstance(feeds, (Mapping, Sequence)):
        raise ArgumentError(
            f"expected feeds as a dictionary of arrays by name, whose shapes and types the "
            f"function is made for, or as names, got {feeds!r:.60}"
        )
    program = default_main_program() if program is None else program
    run, parameters = function(program, list(feeds), fetches, scope)
    jax, export = import_module("jax"), import_module("jax.export")

    def call(given: Mapping[str, Any]) -> list[Any]:
        return [value.astype(_type(value.dtype, wide)) for value in run(parameters, given)]

    if isinstance(feeds, Mapping):
        arrays = {name: np.asarray(value) for name, value in feeds.items()}
        types = {name: (value.shape, value.dtype) for name, value in arrays.items()}
    else:
        variables = program.global_block().vars
        symbols = export.SymbolicScope()
        types = {
            name: (_shape(variables[name], export, symbols), variables[name].dtype.dtype)
            for name in feeds
        }
    specs = {
        name: jax.ShapeDtypeStruct(shape, _type(dtype, wide))
        for name, (shape, dtype) in types.items()
    }
    with import_module("fluidlite.backend.jax_").wide() if wide else nullcontext():
        data = bytes(export.export(jax.jit(call))(specs).serialize())
    if path is not None:
        with Transaction() as files:
            files.write(path, data)
    return data


def _shape(variable: Variable, export: Any, symbols: Any) -> tuple[Any, ...]:
    """The sizes that a variable is declared with, symbols of JAX where they have names."""
    names = variable.size_names or (None,) * variable.ndim
    shape: list[Any] = []
    for axis, (n, name) in enumerate(zip(variable.shape, names)):
        if n == -1 and name is None:
            raise ArgumentError(
                f"dimension {axis} of {variable.name!r} is unknown and has no name; give it one "
                f"where the variable is declared, or give an array in feeds"
            )
        try:
            shape += export.symbolic_shape(name, scope=symbols) if name else [n]
        except ValueError as error:
            raise ArgumentError(
                f"JAX has another meaning for the name {name!r} of dimension {axis} of "
                f"{variable.name!r}: {str(error).splitlines()[0]}"
            ) from None
    return tuple(shape)


def _type(dtype: Any, wide: bool) -> np.dtype[Any]:
    name = np.dtype(dtype).name
    return np.dtype(name if wide else _NARROW.get(name, name))
