"""Features and rows of them: encoded by position, marked, cropped."""

from __future__ import annotations

from collections.abc import Sequence

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..initializer import Constant
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped
from .operator_layers import Layer, same_shape
from .sizes import integers

add_position_encoding: Layer = same_shape("""
    add_position_encoding(input: X, alpha=..., beta=..., name)

    >>> fluid.layers.add_position_encoding(fluid.data("x", [None, 5, 8]), 1.0, 1.0).shape
    (-1, 5, 8)
""")
similarity_focus: Layer = same_shape("""
    similarity_focus(input: X, axis, indexes, name)

    Raises:
        ArgumentError: ``indexes`` are no integers.

    >>> fluid.layers.similarity_focus(fluid.data("x", [None, 3, 4, 5]), 1, [0]).shape
    (-1, 3, 4, 5)
""")


@layer
def random_crop(
    f: LayerBuilder, x: Variable, shape: Sequence[int], seed: int | Variable | None = None
) -> Variable:
    """A part of each sample, at a random place of its own.

    Args:
        x: samples, whose shape is the last sizes of ``x``.
        shape: of a part.
        seed: fixes the places: a number, or a variable of one int64, which gets a new number at
            every run.

    Returns:
        A variable of the shape of ``x`` but for the last sizes.

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> fluid.layers.random_crop(fluid.data("x", [None, 3, 32, 32]), [28, 28]).shape
    (-1, 3, 28, 28)
    """
    first = 0 if seed is None or is_variable(seed) else seed
    if isinstance(first, bool) or not isinstance(first, int):
        raise ArgumentError(f"expected seed to be an integer or a variable, got {seed!r}")
    if not is_variable(seed):
        name = unique_name.generate("random_crop_seed")
        seed = f.persistable(name, [1], DType.INT64, Constant(float(first)))
    out = f.new_variable()
    f.into(
        "random_crop",
        {"X": x, "Seed": stopped(seed)},
        {"Out": out, "SeedOut": seed},
        shape=integers(shape, "shape"),
        startup_seed=first,
    )
    return out
