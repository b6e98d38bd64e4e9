"""Features and rows of them: encoded by position, marked, cropped."""

from __future__ import annotations

from collections.abc import Sequence

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..initializer import Constant
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer, stopped
from .sizes import integers


@layer
def add_position_encoding(
    f: LayerBuilder, input: Variable, alpha: float, beta: float, name: str | None = None
) -> Variable:
    """``alpha * input + beta * encoding``, sines and cosines of the position from fast to slow.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        input: [sequences, positions, an even number of features].
        alpha, beta: factors.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.add_position_encoding(fluid.data("x", [None, 5, 8]), 1.0, 1.0).shape
    (-1, 5, 8)
    """
    return f.add_position_encoding(input, alpha=alpha, beta=beta)


@layer
def similarity_focus(
    f: LayerBuilder,
    input: Variable,
    axis: int,
    indexes: int | Sequence[int],
    name: str | None = None,
) -> Variable:
    """1 at the rows and columns that the largest numbers of chosen slices lie in, 0 elsewhere.

    He and Lin, Pairwise word interaction modeling, NAACL 2016.

    Args:
        input: four dimensions.
        axis: the dimension that numbers the slices: 1, 2 or 3.
        indexes: the slices that are looked at.

    Returns:
        A variable of the shape of ``input``.

    Raises:
        ArgumentError: ``indexes`` are no integers.

    >>> fluid.layers.similarity_focus(fluid.data("x", [None, 3, 4, 5]), 1, [0]).shape
    (-1, 3, 4, 5)
    """
    return f.similarity_focus(input, axis=axis, indexes=integers(indexes, "indexes"))


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
