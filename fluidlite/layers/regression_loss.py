"""Losses of predicted numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import unique_name
from ..ir.variable import Variable
from .layer import LayerBuilder, is_variable, layer
from .operator_layers import Layer, operator_layer, same_shape

if TYPE_CHECKING:
    from ..param_attr import Attr

huber_loss: Layer = same_shape("""
    huber_loss(input: X, label: Y, delta)

    >>> x, y = fluid.data("x", [None, 1]), fluid.data("y", [None, 1])
    >>> fluid.layers.huber_loss(x, y, delta=0.5).shape
    (-1, 1)
""")
smooth_l1: Layer = operator_layer(
    """
    smooth_l1(x, y, inside_weight, outside_weight, sigma=None) -> smooth_l1_loss

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.smooth_l1(x, y, sigma=3.0).shape
    (-1, 1)
    """,
    stem="smooth_l1_loss",
)


@layer
def center_loss(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    num_classes: int,
    alpha: float | Variable,
    param_attr: Attr,
    update_center: bool = True,
) -> Variable:
    """Half the squared distance of features to the centre of their class.

    Every run moves the centres of the classes that occur towards their features (Wen et al., A
    discriminative feature learning approach for deep face recognition, ECCV 2016).

    Args:
        input: features, [N, D].
        label: the classes, int64 of shape [N, 1].
        num_classes: how many classes there are.
        alpha: how far the centres move: a number, or a variable of one element.
        param_attr: of the centres, [num_classes, D].
        update_center: whether they move.

    Returns:
        A variable of shape [N, 1].

    >>> x, label = fluid.data("x", [None, 4]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.center_loss(x, label, num_classes=10, alpha=0.1, param_attr=None).shape
    (-1, 1)
    """
    centers = f.weight(param_attr, [num_classes, input.shape[1]], input.dtype, stop_gradient=True)
    if not is_variable(alpha):
        alpha = _rate(f, alpha, input.dtype)
    difference, loss = f.new_variable(), f.new_variable()
    ins = {"X": input, "Label": label, "Centers": centers, "CenterUpdateRate": alpha}
    outs = {"CentersOut": centers, "SampleCenterDiff": difference, "Loss": loss}
    f.into("center_loss", ins, outs, cluster_num=num_classes, need_update=update_center)
    return loss


def _rate(f: LayerBuilder, alpha: float, dtype: Any) -> Variable:
    """A variable of one number, with the name that it has in fluid's programs where it is free."""
    name = "centerloss_alpha"
    if f.block.has_var(name):
        name = unique_name.generate(name)
    rate = f.block.create_var(name=name, dtype=dtype, stop_gradient=True)
    f.into("fill_constant", {}, {"Out": rate}, shape=[1], dtype=dtype, value=alpha)
    return rate
