"""How far, or how alike, vectors are; vectors of length 1."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import Layer, operator_layer

cos_sim: Layer = operator_layer("""
    cos_sim(X, Y)

    >>> fluid.layers.cos_sim(fluid.data("x", [None, 4]), fluid.data("y", [None, 4])).shape
    (-1, 1)
""")
dist: Layer = operator_layer("""
    dist(x, y, p=2)

    >>> fluid.layers.dist(fluid.data("x", [3, 4]), fluid.data("y", [3, 4]), p=1).shape
    (1,)
""")


@layer
def l2_normalize(
    f: LayerBuilder, x: Variable, axis: int | None, epsilon: float = 1e-12, name: str | None = None
) -> Variable:
    """Vectors divided by their Euclidean length.

    Args:
        x: a float variable.
        axis: the dimension of the vectors; may count from the end; the second one when None,
            and the only one where there is no second.
        epsilon: is added to the square of the length.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.l2_normalize(fluid.data("x", [None, 4]), axis=1).shape
    (-1, 4)
    """
    along = 1 if axis is None else axis
    unit, length = f.new_variable(), f.new_variable()
    f.into(
        "norm",
        {"X": x},
        {"Out": unit, "Norm": length},
        axis=0 if x.ndim == 1 else along,
        epsilon=epsilon,
    )
    return unit
