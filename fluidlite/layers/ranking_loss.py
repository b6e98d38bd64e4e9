"""Losses of scores: which one should be larger."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .compare import equal
from .layer import LayerBuilder
from .loss import softmax_with_cross_entropy
from .math import cast, matmul
from .operator_layers import Layer, LayerCall, operator_layer, same_shape
from .reduce import reduce_mean, reduce_sum
from .reshaping import reshape, transpose
from .unary import square

rank_loss: Layer = same_shape("""
    rank_loss(label, left, right, name)

    >>> label, left, right = (fluid.data(n, [None, 1]) for n in ("label", "left", "right"))
    >>> fluid.layers.rank_loss(label, left, right).shape
    (-1, 1)
""")


@operator_layer.signature("margin_rank_loss(label, left: X1, right: X2, margin=0.1, name)")
def margin_rank_loss(f: LayerBuilder, call: LayerCall) -> Variable:
    """By how much two scores miss their order and a margin: ``max(0, margin - label * (left -
    right))``.

    Args:
        label: 1 where the left one should be larger, -1 where the right one should; [N, 1].
        left: scores, of the shape and element type of ``label``.
        right: scores, of the shape and element type of ``label``.
        margin: by how much.

    Returns:
        A variable of the shape of ``label``.

    >>> label, left, right = (fluid.data(n, [None, 1]) for n in ("label", "left", "right"))
    >>> fluid.layers.margin_rank_loss(label, left, right, margin=0.2).shape
    (-1, 1)
    """
    loss, active = f.new_variable(), f.new_variable()
    outs = {"Out": loss, "Activated": active}
    f.into("margin_rank_loss", call.ins, outs, **call.attrs)
    return loss


bpr_loss: Layer = operator_layer("""
    bpr_loss(input: X, label, name)

    >>> x, label = fluid.data("x", [None, 4]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.bpr_loss(x, label).shape
    (-1, 1)
""")


def npair_loss(
    anchor: Variable, positive: Variable, labels: Variable, l2_reg: float = 0.002
) -> Variable:
    """Cross entropy of the similarities of features, which should be large within a class.

    Sohn, Improved deep metric learning with multi-class N-pair loss objective, NIPS 2016.

    Args:
        anchor: features, [N, D].
        positive: features of other examples of the same classes, [N, D].
        labels: the classes, [N].
        l2_reg: factor of the squared lengths of the features, which are added.

    Returns:
        A variable of shape [1].

    >>> x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 4])
    >>> fluid.layers.npair_loss(x, y, fluid.data("labels", [None], "int64")).shape
    (1,)
    """
    column = reshape(labels, [-1, 1])
    alike: Any = cast(equal(column, transpose(column, [1, 0])), anchor.dtype)
    share = alike / reduce_sum(alike, dim=1, keep_dim=True)
    lengths: list[Any] = [reduce_mean(reduce_sum(square(v), dim=1)) for v in (anchor, positive)]
    penalty = (lengths[0] + lengths[1]) * 0.25 * l2_reg
    similarity = matmul(anchor, positive, transpose_y=True)
    losses = softmax_with_cross_entropy(similarity, share, soft_label=True)
    total: Variable = penalty + reduce_mean(reduce_sum(share * losses, dim=0))
    return total
