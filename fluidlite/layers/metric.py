"""How good predictions are."""

from __future__ import annotations

from .. import unique_name
from ..ground.dtypes import DType
from ..initializer import Constant
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import LayerCall, Layers, operator_layer
from .search import topk


@operator_layer.signature("""
    accuracy(input: Variable, label, k: int = 1, correct: Variable | None, total: Variable | None)
""")
def accuracy(f: LayerBuilder, call: LayerCall) -> Variable:
    """The share of rows whose label is among the ``k`` classes with the largest scores.

    Args:
        input: scores of the classes, of shape [n, classes].
        label: indices of the right classes, int64 of shape [n, 1].
        k: how many of the largest scores count.
        correct: a variable that gets the number of rows that are right, an int32 whatever it is
            declared.
        total: a variable that gets the number of rows, likewise.

    Returns:
        A float32 variable of shape [1].

    >>> scores, label = fluid.data("x", [None, 10]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.accuracy(scores, label, k=5).shape
    (1,)
    """
    best, places = topk(call.input, k=call.k)
    share = f.new_variable()
    outs = {"Accuracy": share, "Correct": f.result(call.correct), "Total": f.result(call.total)}
    counters = (call.correct, call.total)
    dtypes = {v: v.dtype for v in counters if isinstance(v, Variable) and v.has_dtype}
    f.into("accuracy", {"Out": best, "Indices": places, "Label": call.label}, outs)
    for variable, dtype in dtypes.items():
        variable.redeclare(dtype=dtype)
    return share


@layer
def auc(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
) -> tuple[Variable, Variable, list[Variable]]:
    """The area under the curve of true over false positive rates, over all runs and the last ones.

    Args:
        input: probabilities of two classes, [N, 2].
        label: 1 or 0, int64 of shape [N, 1].
        curve: "ROC"; "PR" gives the same number.
        num_thresholds: how many intervals probabilities fall into.
        topk: accepted, without a meaning.
        slide_steps: how many of the last runs count for the second result; 0 for all.

    Returns:
        The area over all runs, that over the last ones, float64 of shape [1], and the variables
        that hold the counts: of positive and negative examples for the second one, then for the
        first.

    >>> p, label = fluid.data("p", [None, 2]), fluid.data("label", [None, 1], "int64")
    >>> total, lately, counts = fluid.layers.auc(p, label, slide_steps=10)
    >>> total.shape, len(counts)
    ((1,), 4)
    """
    total, lately = f.new_variable(), f.new_variable()
    buckets = num_thresholds + 1
    shapes = [(slide_steps + 1) * buckets + 1], [1, buckets]
    stats = [_counts(f, shape) for shape in shapes for _ in range(2)]
    for out, (positive, negative), steps in (
        (lately, stats[:2], slide_steps),
        (total, stats[2:], 0),
    ):
        f.into(
            "auc",
            {"Predict": input, "Label": label, "StatPos": positive, "StatNeg": negative},
            {"AUC": out, "StatPosOut": positive, "StatNegOut": negative},
            curve=curve,
            num_thresholds=num_thresholds,
            slide_steps=steps,
        )
    return total, lately, stats


def _counts(f: LayerBuilder, shape: list[int]) -> Variable:
    """A persistable variable of counts, 0 at first."""
    name = unique_name.generate("_generated_var")
    counts = f.persistable(name, shape, DType.INT64, Constant(0.0))
    counts.stop_gradient = False  # as fluid 1.8 declares it
    return counts


mean_iou: Layers = operator_layer.several("""
    mean_iou(input: Predictions, label: Labels, num_classes)

    Returns:
        The mean, float32 of shape [1]; how many pixels have each class in one of the two only,
        and how many in both, int32 of shape [num_classes].

    >>> x, y = (fluid.data(name, [None, 8, 8], "int64") for name in "xy")
    >>> mean, wrong, right = fluid.layers.mean_iou(x, y, num_classes=3)
    >>> mean.shape, wrong.shape
    ((1,), (3,))
""")
