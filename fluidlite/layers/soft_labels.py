"""Labels that are probabilities: making them, and the loss of independent ones."""

from __future__ import annotations

from .operator_layers import Layer, same_shape

label_smooth: Layer = same_shape(
    """
    label_smooth(label: X, prior_dist, epsilon=0.1, dtype='float32', name)

    Args:
        dtype: accepted for old scripts; the result has the element type of ``label``.

    Raises:
        ShapeError: ``prior_dist`` has another shape.
        AttributeValueError: ``epsilon`` is outside [0, 1].

    >>> label = fluid.layers.one_hot(fluid.data("label", [None, 1], "int64"), depth=10)
    >>> fluid.layers.label_smooth(label, epsilon=0.1).shape
    (-1, 10)
    """,
    stops=["label"],
)
sigmoid_cross_entropy_with_logits: Layer = same_shape("""
    sigmoid_cross_entropy_with_logits(x, label, ignore_index, name, normalize)

    Raises:
        ShapeError: ``label`` has another shape.
        DTypeError: ``label`` has another element type.

    >>> x, label = fluid.data("x", [None, 10]), fluid.data("label", [None, 10])
    >>> fluid.layers.sigmoid_cross_entropy_with_logits(x, label).shape
    (-1, 10)
""")
