"""Losses of predicted probabilities, and of their logits and logarithms."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..ir.variable import Variable
from .layer import LayerBuilder
from .nn import one_hot
from .operator_layers import Layer, LayerCall, operator_layer, same_shape
from .reduce import reduce_mean, reduce_sum

log_loss: Layer = same_shape("""
    log_loss(input: Predicted, label: Labels, epsilon=0.0001, name)

    >>> fluid.layers.log_loss(fluid.data("x", [None, 1]), fluid.data("y", [None, 1])).shape
    (-1, 1)
""")
kldiv_loss: Layer = operator_layer("""
    kldiv_loss(x, target, reduction, name)

    >>> x, target = fluid.data("x", [None, 4]), fluid.data("target", [None, 4])
    >>> fluid.layers.kldiv_loss(x, target, reduction="batchmean").shape
    (1,)
""")


def dice_loss(
    input: Variable, label: Variable, epsilon: float = 1e-5, name: str | None = None
) -> Variable:
    """1 less the share that a predicted and a true region have in common.

    Milletari et al., V-Net, 3DV 2016.

    Args:
        input: probabilities of classes in the last dimension.
        label: the right classes, int64 with 1 as last size.
        epsilon: is added to what is divided by.
        name: accepted, without a meaning.

    Returns:
        A variable of shape [1]: the mean over the batch.

    Raises:
        ShapeError: the number of classes is not known.

    >>> x, label = fluid.data("x", [None, 9, 4]), fluid.data("label", [None, 9, 1], "int64")
    >>> fluid.layers.dice_loss(x, label).shape
    (1,)
    """
    if input.ndim < 2 or input.shape[-1] == -1:
        raise ShapeError(
            f"expected input to have a known number of classes, got {list(input.shape)}"
        )
    found: Any = input
    right: Any = one_hot(label, depth=input.shape[-1])
    dims = list(range(1, input.ndim))
    sums: list[Any] = [reduce_sum(v, dim=dims) for v in (found * right, found, right)]
    sizes = sums[1] + sums[2]
    return reduce_mean(1 - sums[0] * 2 / (sizes + epsilon))


sigmoid_focal_loss: Layer = same_shape("""
    sigmoid_focal_loss(x, label, fg_num, gamma, alpha)

    >>> x, label = fluid.data("x", [None, 8]), fluid.data("label", [None, 1], "int32")
    >>> fluid.layers.sigmoid_focal_loss(x, label, fluid.data("n", [1], "int32")).shape
    (-1, 8)
""")


@operator_layer.signature(
    "teacher_student_sigmoid_loss(input: X, label, soft_max_up_bound, soft_max_lower_bound)"
)
def teacher_student_sigmoid_loss(f: LayerBuilder, call: LayerCall) -> Variable:
    """The loss of a logit by a click and by the score of a teacher: ``log(1 + e^input) - z input``,
    plus ``log(1 + e^input) - s input`` where ``label`` has the score s of a teacher.

    >>> x, label = fluid.data("x", [None, 1]), fluid.data("label", [None, 1])
    >>> fluid.layers.teacher_student_sigmoid_loss(x, label).shape
    (-1, 1)
    """
    out = f.block.create_var()
    f.into("teacher_student_sigmoid_loss", call.ins, {"Y": out}, **call.attrs)
    return out
