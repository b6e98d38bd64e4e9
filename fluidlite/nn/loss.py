"""Losses: functions of predictions and labels, with their options."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ArgumentError
from ..ground.fields import from_fields, options_of
from ..param_attr import Attr
from . import functional as F
from .activation import FunctionLayer
from .layer import Layer, checked

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


class LossLayer(FunctionLayer):
    """A layer that is a loss; its ``repr`` says no options."""

    _shown = ""
    _looks_late: ClassVar[bool] = False  #: at the reduction, when it is called
    _ranges: ClassVar[dict[str, tuple[float, float]]] = {}  #: options -> from where to where

    def begin(self, given: dict[str, Any]) -> None:
        if not self._looks_late:
            checked("reduction", given["reduction"], "sum", "mean", "none")
        for option, (low, high) in self._ranges.items():
            if not low <= given[option] <= high:
                raise ArgumentError(f"expected {option} in [{low}, {high}], got {given[option]!r}")
        super().begin(given)


@from_fields
class _Reduced(LossLayer):
    """A loss whose only option is how it is reduced."""

    reduction: str = "mean"
    name: str | None = None
    _inputs: ClassVar[tuple[str, ...]] = ("input", "label")


class CrossEntropyLoss(LossLayer):
    """The cross entropy of logits: :func:`~fluidlite.nn.functional.cross_entropy`.

    >>> loss = fluid.nn.CrossEntropyLoss()
    >>> round(float(loss(fluid.zeros([1, 2]), fluid.to_tensor([1]))), 4)
    0.6931
    """

    _looks_late = True

    @options_of(F.cross_entropy, 2)
    def __init__(self) -> None: ...


@from_fields
class MSELoss(LossLayer):
    reduction: str = "mean"
    function: ClassVar[Callable[..., Any]] = staticmethod(F.mse_loss)
    _inputs: ClassVar[tuple[str, ...]] = ("input", "label")


class L1Loss(_Reduced, calls=F.l1_loss): ...


class SmoothL1Loss(LossLayer):
    _looks_late = True

    @options_of(F.smooth_l1_loss, 2)
    def __init__(self) -> None: ...


class NLLLoss(LossLayer):
    @options_of(F.nll_loss, 2)
    def __init__(self) -> None: ...


class BCELoss(LossLayer):
    @options_of(F.binary_cross_entropy, 2)
    def __init__(self) -> None: ...


class BCEWithLogitsLoss(LossLayer):
    @options_of(F.binary_cross_entropy_with_logits, 2)
    def __init__(self) -> None: ...


@from_fields
class KLDivLoss(LossLayer):
    reduction: str = "mean"
    function: ClassVar[Callable[..., Any]] = staticmethod(F.kl_div)
    _inputs: ClassVar[tuple[str, ...]] = ("input", "label")
    _looks_late: ClassVar[bool] = True


class SoftMarginLoss(_Reduced, calls=F.soft_margin_loss): ...


class HingeEmbeddingLoss(LossLayer):
    _looks_late = True

    @options_of(F.hinge_embedding_loss, 2)
    def __init__(self) -> None: ...


class MarginRankingLoss(LossLayer):
    @options_of(F.margin_ranking_loss, 3)
    def __init__(self) -> None: ...


class CosineEmbeddingLoss(LossLayer):
    _ranges: ClassVar = {"margin": (-1.0, 1.0)}

    @options_of(F.cosine_embedding_loss, 3)
    def __init__(self) -> None: ...


@from_fields
class TripletMarginLoss(LossLayer):
    margin: float = 1.0
    p: float = 2.0
    epsilon: float = 1e-6
    swap: bool = False
    reduction: str = "mean"
    name: str | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.triplet_margin_loss)
    _inputs: ClassVar[tuple[str, ...]] = ("input", "positive", "negative")


class TripletMarginWithDistanceLoss(LossLayer):
    @options_of(F.triplet_margin_with_distance_loss, 3)
    def __init__(self) -> None: ...


class MultiMarginLoss(LossLayer):
    @options_of(F.multi_margin_loss, 2)
    def __init__(self) -> None: ...


class MultiLabelSoftMarginLoss(LossLayer):
    @options_of(F.multi_label_soft_margin_loss, 2)
    def __init__(self) -> None: ...


class GaussianNLLLoss(LossLayer):
    @options_of(F.gaussian_nll_loss, 3)
    def __init__(self) -> None: ...


class PoissonNLLLoss(LossLayer):
    _ranges: ClassVar = {"epsilon": (5e-324, inf)}

    @options_of(F.poisson_nll_loss, 2)
    def __init__(self) -> None: ...


class CTCLoss(Layer):
    """The ways to write labels into steps: :func:`~fluidlite.nn.functional.ctc_loss`.

    Args:
        blank: the class that stands for none.
        reduction: mean: of losses divided by the number of their labels; sum or none.

    >>> x, y = fluid.zeros([2, 1, 3]), fluid.to_tensor([[1]])
    >>> loss = fluid.nn.CTCLoss()(x, y, fluid.to_tensor([2]), fluid.to_tensor([1]))
    >>> round(float(loss), 4)
    1.0986
    """

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__()
        self.blank = blank
        self.reduction = reduction

    def forward(
        self,
        log_probs: Tensor,
        labels: Tensor,
        input_lengths: Tensor,
        label_lengths: Tensor,
        norm_by_times: bool = False,
    ) -> Tensor:
        """The loss; arguments as of the function."""
        lengths = (input_lengths, label_lengths)
        options: tuple[Any, ...] = (self.blank, self.reduction, norm_by_times)
        return F.ctc_loss(log_probs, labels, *lengths, *options)


@from_fields
class RNNTLoss(LossLayer):
    """The loss of a transducer: :func:`~fluidlite.nn.functional.rnnt_loss`.

    >>> fluid.nn.RNNTLoss(reduction="sum")
    RNNTLoss()
    """

    blank: int = 0
    fastemit_lambda: float = 0.001
    reduction: str = "mean"
    name: str | None = None
    function: ClassVar[Callable[..., Any]] = staticmethod(F.rnnt_loss)
    _inputs: ClassVar[tuple[str, ...]] = ("input", "label", "input_lengths", "label_lengths")
    _looks_late: ClassVar[bool] = True


@from_fields
class HSigmoidLoss(Layer):
    """The turns on the way to the right leaf of a tree of classes:
    :func:`~fluidlite.nn.functional.hsigmoid_loss`.

    Args:
        feature_size: elements of an input.
        num_classes: how many there are, from 2; with ``is_custom`` how many inner nodes.
        weight_attr: of the weight, a row for each inner node.
        bias_attr: of the bias, a number for each; False for none.
        is_custom: paths are given in each call.
        is_sparse: the gradient of the weight has only the rows that were used.
        name: stands in the names of the parameters.

    >>> loss = fluid.nn.HSigmoidLoss(4, 5)
    >>> loss(fluid.ones([2, 4]), fluid.to_tensor([1, 3])).shape
    [2, 1]
    """

    feature_size: int
    num_classes: int
    weight_attr: Attr = None
    bias_attr: Attr = None
    is_custom: bool = False
    is_sparse: bool = False
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        size, classes, attr, bias_attr, self.is_custom, self.is_sparse, _ = given.values()
        Layer.__init__(self)
        if classes < 2 and not self.is_custom:
            raise ArgumentError(f"expected num_classes of at least 2, got {classes!r}")
        self.num_classes = classes
        rows = classes - (not self.is_custom)
        self.weight: Any = self.create_parameter([rows, size], attr)
        self.bias: Any = self.create_parameter([rows, 1], bias_attr, is_bias=True)

    def forward(
        self,
        input: Tensor,
        label: Tensor,
        path_table: Tensor | None = None,
        path_code: Tensor | None = None,
    ) -> Tensor:
        """The loss of each row, [N, 1]; arguments as of the function."""
        if self.is_custom and (path_table is None or path_code is None):
            raise ArgumentError("expected path_table and path_code, as is_custom is True")
        paths = (path_table, path_code, self.is_sparse)
        return F.hsigmoid_loss(input, label, self.num_classes, self.weight, self.bias, *paths)
