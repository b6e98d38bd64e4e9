"""``fluid.contrib.layers.ctr_metric_bundle``: sums that measures of click rates are made of."""

from __future__ import annotations

from typing import Any

from .. import layers
from ..errors import ArgumentError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..initializer import Constant
from ..layer_helper import LayerHelper


def ctr_metric_bundle(input: Any, label: Any, ins_tag_weight: Any = None) -> tuple[Any, ...]:
    """Sums over all samples that a program has seen, kept by it.

    Args:
        input: float32 [batch, 1], the rates found.
        label: float32 [batch, 1], 1 where there was a click, else 0.
        ins_tag_weight: its first element weighs what a run adds to the logistic function and to
            the number of samples; 1 when None.

    Returns:
        six persistable variables of one element: of squared errors, of absolute errors, of the
        rates, of their logistic function, of the clicks, and the number of samples.

    Raises:
        ArgumentError: the shapes differ.

    >>> rates = fluid.data("rates", [None, 1], "float32")
    >>> clicks = fluid.data("clicks", [None, 1], "float32")
    >>> len(fluid.contrib.clicks.ctr_metric_bundle(rates, clicks))
    6
    """
    if tuple(input.shape) != tuple(label.shape):
        raise ArgumentError(
            f"expected a rate for each label, got {list(input.shape)} and {list(label.shape)}"
        )
    helper = LayerHelper("ctr_metric_bundle")
    difference = layers.elementwise_sub(input, label)
    ones = layers.fill_constant_batch_size_like(label, [-1, 1], "float32", 1.0)
    weighed: tuple[Any, ...] = (layers.sigmoid(input), ones)
    if ins_tag_weight is not None:
        first = layers.slice(layers.cast(ins_tag_weight, "float32"), [0], [0], [1])
        weighed = tuple(layers.elementwise_mul(each, first) for each in weighed)
    logistic, count = weighed
    return tuple(
        _kept(helper, layers.reduce_sum(values, dim=0))
        for values in (
            layers.square(difference),
            layers.abs(difference),
            input,
            logistic,
            label,
            count,
        )
    )


def _kept(helper: LayerHelper, value: Any) -> Any:
    """A variable that what each run gives is added to."""
    total = helper.create_global_variable(persistable=True, dtype="float32", shape=[1])
    helper.set_variable_initializer(total, Constant(0.0, force_cpu=True))
    helper.append_op("elementwise_add", {"X": [value], "Y": [total]}, {"Out": [total]})
    return total


list_public_names(globals())
api_boundaries(globals())
