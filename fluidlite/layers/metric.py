"""How good predictions are."""

from __future__ import annotations

from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .search import topk


@layer
def accuracy(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    k: int = 1,
    correct: Variable | None = None,
    total: Variable | None = None,
) -> Variable:
    """The share of rows whose label is among the ``k`` classes with the largest scores.

    Args:
        input: scores of the classes, of shape [n, classes].
        label: indices of the right classes, int64 of shape [n, 1].
        k: how many of the largest scores count.
        correct: an int32 variable that gets the number of rows that are right.
        total: an int32 variable that gets the number of rows.

    Returns:
        A float32 variable of shape [1].

    >>> scores, label = fluid.data("x", [None, 10]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.accuracy(scores, label, k=5).shape
    (1,)
    """
    best, places = topk(input, k=k)
    share = f.new_variable()
    outs = {"Accuracy": share, "Correct": f.result(correct), "Total": f.result(total)}
    f.into("accuracy", {"Out": best, "Indices": places, "Label": label}, outs)
    return share
