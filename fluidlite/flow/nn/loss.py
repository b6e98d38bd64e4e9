"""Losses, as modules: arguments are those of the functions."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import FunctionModule


class L1Loss(FunctionModule):
    """The size of the difference."""

    function = staticmethod(F.l1_loss)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class MSELoss(FunctionModule):
    """The square of the difference."""

    function = staticmethod(F.mse_loss)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class SmoothL1Loss(FunctionModule):
    """A square near 0, and a line beyond beta."""

    function = staticmethod(F.smooth_l1_loss)

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction, beta=beta)


class HuberLoss(FunctionModule):
    """Half a square near 0, and a line of slope delta beyond."""

    function = staticmethod(F.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction, delta=delta)


class NLLLoss(FunctionModule):
    """The logarithm of the probability of the right class, with its sign changed."""

    function = staticmethod(F.nll_loss)

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class CrossEntropyLoss(FunctionModule):
    """The cross entropy of the softmax of logits."""

    function = staticmethod(F.cross_entropy)

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )


class BCELoss(FunctionModule):
    """The cross entropy of probabilities of one class."""

    function = staticmethod(F.binary_cross_entropy)

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(FunctionModule):
    """The cross entropy of the sigmoid of logits."""

    function = staticmethod(F.binary_cross_entropy_with_logits)

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class KLDivLoss(FunctionModule):
    """The divergence of distributions."""

    function = staticmethod(F.kl_div)

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction=reduction, log_target=log_target)


class MarginRankingLoss(FunctionModule):
    """What should be larger, and is not by a margin."""

    function = staticmethod(F.margin_ranking_loss)

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(margin=margin, reduction=reduction)


class HingeEmbeddingLoss(FunctionModule):
    """Distances of what is alike, and nearness of what is not."""

    function = staticmethod(F.hinge_embedding_loss)

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(margin=margin, reduction=reduction)


class SoftMarginLoss(FunctionModule):
    """log(1 + e^(-target input))."""

    function = staticmethod(F.soft_margin_loss)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class CosineEmbeddingLoss(FunctionModule):
    """1 - cosine of what is alike, and the cosine of what is not."""

    function = staticmethod(F.cosine_embedding_loss)

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(margin=margin, reduction=reduction)


class TripletMarginLoss(FunctionModule):
    """Nearness to what is alike, by a margin, than to what is not."""

    function = staticmethod(F.triplet_margin_loss)

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)
