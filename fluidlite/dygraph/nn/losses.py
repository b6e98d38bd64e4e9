"""Losses: of variables of a program, too, when they are called with such."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...ground.docstrings import Family
from ...ir.variable import Variable
from ...layers.elementwise import elementwise_mul, elementwise_sub
from ...layers.layer import LayerBuilder, layer
from ...layers.reduce import reduce_mean, reduce_sum
from ...layers.unary import square
from ..layer import Layer

_LOSSES = Family({"reduction": '"mean" or "sum" of them, or "none" of both.'})


@layer("bce_loss")
def _bce_loss(
    f: LayerBuilder, input: Variable, label: Variable, name: str | None = None
) -> Variable:
    return f.bce_loss(input, label)


@layer("nll_loss")
def _nll_loss(
    f: LayerBuilder,
    input: Variable,
    label: Variable,
    weight: Variable | None,
    ignore_index: int,
    reduction: str,
    name: str | None = None,
) -> Variable:
    outs = f.nll_loss.all(input, label, weight, ignore_index=ignore_index, reduction=reduction)
    out: Variable = outs["Out"]
    return out


class _Reduced(Layer):
    """A loss of each element: summed, averaged, or left as it is."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ArgumentError(f"expected reduction 'mean', 'sum' or 'none', got {reduction!r}")
        self.reduction = reduction

    def reduced(self, loss: Any) -> Any:
        """The loss in one number, or of each element."""
        if self.reduction == "mean":
            return reduce_mean(loss)
        return reduce_sum(loss) if self.reduction == "sum" else loss


@_LOSSES
class MSELoss(_Reduced):
    """The squares of differences.

    >>> with fluid.dygraph.guard():
    ...     x, y = (fluid.dygraph.to_variable(np.full([2], n, "float32")) for n in (1, 3))
    ...     fluid.dygraph.MSELoss()(x, y).numpy()
    array([4.], dtype=float32)
    """

    def forward(self, input: Variable, label: Variable) -> Variable:
        """The loss."""
        return self.reduced(square(elementwise_sub(input, label)))


@_LOSSES
class L1Loss(_Reduced):
    """The absolute values of differences.

    >>> with fluid.dygraph.guard():
    ...     x, y = (fluid.dygraph.to_variable(np.full([2], n, "float32")) for n in (1, 3))
    ...     fluid.dygraph.L1Loss(reduction="sum")(x, y).numpy()
    array([4.], dtype=float32)
    """

    def forward(self, input: Variable, label: Variable) -> Variable:
        """The loss."""
        return self.reduced(elementwise_sub(input, label, act="abs"))


@_LOSSES
class BCELoss(_Reduced):
    """The cross entropy of probabilities of one class: ``-label log input - (1 - label) log(1 -
    input)``.

    Args:
        weight: a factor for each element.

    >>> with fluid.dygraph.guard():
    ...     p, label = (fluid.dygraph.to_variable(np.full([2], n, "float32")) for n in (0.5, 1))
    ...     fluid.dygraph.BCELoss()(p, label).numpy().round(4)
    array([0.6931], dtype=float32)
    """

    def __init__(self, weight: Variable | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def forward(self, input: Variable, label: Variable) -> Variable:
        """The loss."""
        loss = _bce_loss(input, label, self._full_name)
        if self.weight is not None:
            loss = elementwise_mul(loss, self.weight)
        return self.reduced(loss)


class NLLLoss(_Reduced):
    """The logarithm of the probability of the right class, with its sign changed.

    Args:
        weight: of each class.
        reduction: "mean" or "sum" of them, or "none" of both; a mean divides by the weights of the
            classes that occur.
        ignore_index: where the label is this, the loss is 0, and does not count in the mean.

    >>> with fluid.dygraph.guard():
    ...     logs = fluid.dygraph.to_variable(np.log(np.array([[0.5, 0.5]], "float32")))
    ...     fluid.dygraph.NLLLoss()(logs, fluid.dygraph.to_variable(np.array([1]))).numpy().round(4)
    array([0.6931], dtype=float32)
    """

    def __init__(
        self, weight: Variable | None = None, reduction: str = "mean", ignore_index: int = -100
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index = ignore_index

    def forward(self, input: Variable, label: Variable) -> Variable:
        """The loss."""
        options = self.ignore_index, self.reduction, self._full_name
        return _nll_loss(input, label, self.weight, *options)
