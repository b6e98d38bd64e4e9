"""Labels that are probabilities: making them, and the loss of independent ones."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .layer import LayerBuilder, layer


@layer
def label_smooth(
    f: LayerBuilder,
    label: Variable,
    prior_dist: Variable | None = None,
    epsilon: float = 0.1,
    dtype: Any = "float32",
    name: str | None = None,
) -> Variable:
    """Probabilities mixed with those of a prior: ``(1 - epsilon) * label + epsilon * prior``.

    Szegedy et al., Rethinking the Inception architecture for computer vision, CVPR 2016.

    Args:
        label: probabilities of the classes in the last dimension, as ``layers.one_hot`` gives them;
            no gradient flows to it any more.
        prior_dist: probabilities of the classes, of shape [1, classes]; all equal when None.
        epsilon: the part that the prior gets, in [0, 1].
        dtype: accepted for old scripts; the result has the element type of ``label``.

    Returns:
        A variable of the shape of ``label``.

    Raises:
        ShapeError: ``prior_dist`` has another shape.
        AttributeValueError: ``epsilon`` is outside [0, 1].

    >>> label = fluid.layers.one_hot(fluid.data("label", [None, 1], "int64"), depth=10)
    >>> fluid.layers.label_smooth(label, epsilon=0.1).shape
    (-1, 10)
    """
    label.stop_gradient = True
    made: Variable = f.label_smooth(label, prior_dist, epsilon=epsilon)
    return made


@layer
def sigmoid_cross_entropy_with_logits(
    f: LayerBuilder,
    x: Variable,
    label: Variable,
    ignore_index: int = -100,
    name: str | None = None,
    normalize: bool = False,
) -> Variable:
    """``-label * log(sigmoid(x)) - (1 - label) * log(1 - sigmoid(x))``, for each element: for
    classes that do not exclude each other.

    Args:
        x: unnormalised logarithms of odds, float.
        label: probabilities, of the shape and element type of ``x``.
        ignore_index: where the label is this, loss and gradient are 0.
        name: of the result.
        normalize: divide by the number of labels that are not ignored.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ShapeError: ``label`` has another shape.
        DTypeError: ``label`` has another element type.

    >>> x, label = fluid.data("x", [None, 10]), fluid.data("label", [None, 10])
    >>> fluid.layers.sigmoid_cross_entropy_with_logits(x, label).shape
    (-1, 10)
    """
    made: Variable = f.sigmoid_cross_entropy_with_logits(
        x, label, ignore_index=ignore_index, normalize=normalize
    )
    return made
