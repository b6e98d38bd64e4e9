"""What models of clicks on the web put around their nets."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer


@layer("cvm")
def continuous_value_model(
    f: LayerBuilder, input: Variable, cvm: Variable, use_cvm: bool = True
) -> Variable:
    """Features whose first two columns, counts of shows and clicks, become logarithms or go.

    Args:
        input: features, [N, D], D at least 3.
        cvm: shows and clicks, [N, 2]; the gradient of the two columns is this.
        use_cvm: whether the columns stay, as ``log(shows + 1)`` and ``log(clicks + 1) - log(shows +
            1)``.

    Returns:
        A variable of shape [N, D], or [N, D - 2].

    >>> x, counts = fluid.data("x", [None, 11]), fluid.data("counts", [None, 2])
    >>> fluid.layers.continuous_value_model(x, counts, use_cvm=False).shape
    (-1, 9)
    """
    return f.cvm(input, cvm, use_cvm=use_cvm)


@layer
def hash(
    f: LayerBuilder, input: Variable, hash_size: int, num_hash: int = 1, name: str | None = None
) -> Variable:
    """Numbers below a bound that stand for rows of integers.

    Args:
        input: integers, [N, D].
        hash_size: the bound.
        num_hash: how many numbers there are for each row, by different functions.

    Returns:
        A variable of shape [N, num_hash, 1].

    >>> words = fluid.data("words", [None, 2], "int64")
    >>> fluid.layers.hash(words, hash_size=1000, num_hash=4).shape
    (-1, 4, 1)
    """
    return f.hash(input, num_hash=num_hash, mod_by=hash_size)
