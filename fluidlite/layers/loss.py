"""What compares predictions with labels."""

from __future__ import annotations

from ..ground.callsite import warn
from ..ground.doubts import warn_where_stretched
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import LayerCall, operator_layer
from .reduce import reduce_mean


def cross_entropy(
    input: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100
) -> Variable:
    """Minus the logarithm of the probability of the right class.

    ``softmax_with_cross_entropy`` takes logits instead, and is more exact.

    Args:
        input: probabilities of the classes in the last dimension.
        label: int64 indices of classes with 1 as last size, or without it; with ``soft_label`` a
            probability for each class.
        soft_label: give ``-sum(label * log(input))``.
        ignore_index: where the label is this, loss and gradient are 0.

    Returns:
        A variable of the shape of ``input`` with 1 as last size, or without it where the labels
        have none.

    >>> probabilities = fluid.layers.softmax(fluid.data("x", [None, 10]))
    >>> label = fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.cross_entropy(probabilities, label).shape
    (-1, 1)
    """
    if soft_label:
        return _soft_cross_entropy(input, label, ignore_index)
    return _hard_cross_entropy(input, label, ignore_index)


@layer("cross_entropy")
def _soft_cross_entropy(
    f: LayerBuilder, input: Variable, label: Variable, ignore_index: int
) -> Variable:
    return f.cross_entropy(input, label, soft_label=True, ignore_index=ignore_index)


@layer("cross_entropy2")
def _hard_cross_entropy(
    f: LayerBuilder, input: Variable, label: Variable, ignore_index: int
) -> Variable:
    outs = f.cross_entropy2.all(input, label, ignore_index=ignore_index)
    loss: Variable = outs["Y"]
    return loss


@operator_layer.signature("""
    softmax_with_cross_entropy(logits, label, soft_label: bool = False, ignore_index: int = -100,
        numeric_stable_mode: bool = True, return_softmax: bool = False, axis: int = -1)
""")
def softmax_with_cross_entropy(
    f: LayerBuilder, call: LayerCall
) -> Variable | tuple[Variable, Variable]:
    """Minus the logarithm of the softmax of the right class's logit.

    Args:
        logits: unnormalised logarithms of probabilities.
        label: int64 indices of classes with size 1 along ``axis``; with ``soft_label`` a
            probability for each class.
        soft_label: give ``-sum(label * log(softmax(logits)))``.
        ignore_index: where the label is this, loss and gradient are 0.
        numeric_stable_mode: accepted; the computation is always stable.
        return_softmax: give the softmax too.
        axis: the dimension of the classes; may count from the end.

    Returns:
        A variable of the shape of ``logits`` with size 1 along ``axis``; with ``return_softmax``
        that and the softmax.

    >>> logits, label = fluid.data("x", [None, 10]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.softmax_with_cross_entropy(logits, label).shape
    (-1, 1)
    """
    logits = call.logits
    maker = logits.op if isinstance(logits, Variable) else None
    if maker is not None and maker.type == "softmax":
        warn(
            f"softmax_with_cross_entropy takes logits, and {logits.name!r} is a softmax already, "
            f"which is taken twice so; give what the softmax was given, or use cross_entropy",
            None,
        )
    outs = f.softmax_with_cross_entropy.all(
        logits,
        call.label,
        soft_label=call.soft_label,
        ignore_index=call.ignore_index,
        numeric_stable_mode=call.numeric_stable_mode,
        axis=call.axis,
    )
    return (outs["Loss"], outs["Softmax"]) if call.return_softmax else outs["Loss"]


@layer
def square_error_cost(f: LayerBuilder, input: Variable, label: Variable) -> Variable:
    """The squared difference of prediction and label, for each element.

    Args:
        input: the prediction, float.
        label: of the shape and element type of ``input``.

    Returns:
        A variable of the shape of ``input``.

    >>> x, y = fluid.data("x", [None, 1]), fluid.data("y", [None, 1])
    >>> fluid.layers.square_error_cost(x, y).shape
    (-1, 1)
    """
    warn_where_stretched("square_error_cost", input, label)
    return f.square(f.elementwise_sub(input, label))


def mse_loss(input: Variable, label: Variable) -> Variable:
    """The mean over all elements of the squared difference of prediction and label.

    Args:
        input: the prediction, float.
        label: of the shape and element type of ``input``.

    Returns:
        A variable of shape [1].

    >>> x, y = fluid.data("x", [None, 2]), fluid.data("y", [None, 2])
    >>> fluid.layers.mse_loss(x, y).shape
    (1,)
    """
    return reduce_mean(square_error_cost(input, label))
