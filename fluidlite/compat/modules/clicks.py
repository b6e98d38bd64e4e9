"""``fluid.contrib.layers.ctr_metric_bundle``: sums that measures of click rates are made of."""

from __future__ import annotations

from typing import Any

from ... import layers
from ...errors import ArgumentError
from ...initializer import Constant
from ...layer_helper import LayerHelper


def ctr_metric_bundle(input: Any, label: Any) -> tuple[Any, ...]:
    """Sums over all samples that a program has seen, kept by it.

    Args:
        input: float32 [batch, 1], the rates found.
        label: float32 [batch, 1], 1 where there was a click, else 0.

    Returns:
        six persistable variables of one element: of squared errors, of absolute errors, of the
        rates, of their logistic function, of the clicks, and the number of samples.

    Raises:
        ArgumentError: the shapes differ.

    >>> rates = fluid.data("rates", [None, 1], "float32")
    >>> clicks = fluid.data("clicks", [None, 1], "float32")
    >>> len(fluid.compat.modules.clicks.ctr_metric_bundle(rates, clicks))
    6
    """
    if tuple(input.shape) != tuple(label.shape):
        raise ArgumentError(
            f"expected a rate for each label, got {list(input.shape)} and {list(label.shape)}"
        )
    helper = LayerHelper("ctr_metric_bundle")
    difference = layers.elementwise_sub(input, label)
    ones = layers.fill_constant_batch_size_like(label, [-1, 1], "float32", 1.0)
    return tuple(
        _kept(helper, layers.reduce_sum(values, dim=0))
        for values in (
            layers.square(difference),
            layers.abs(difference),
            input,
            layers.sigmoid(input),
            label,
            ones,
        )
    )


def _kept(helper: LayerHelper, value: Any) -> Any:
    """A variable that what each run gives is added to."""
    total = helper.create_global_variable(persistable=True, dtype="float32", shape=[1])
    helper.set_variable_initializer(total, Constant(0.0, force_cpu=True))
    helper.append_op("elementwise_add", {"X": [value], "Y": [total]}, {"Out": [total]})
    return total
