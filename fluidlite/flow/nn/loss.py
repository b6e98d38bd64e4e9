"""Losses, as modules: arguments are those of the functions."""

from __future__ import annotations

from typing import Any, ClassVar

from ...eager.engine import located
from ...errors import ArgumentError
from ...functions.arithmetic import add, multiply, subtract
from ...functions.elementary import acos, cos
from ...ground.fields import options_of
from ..elementary import where
from ..tensor import Tensor
from . import functional as F
from .module import FunctionModule, Module


class _Loss(FunctionModule):
    """How far predictions are from what is right."""

    shows = ()
    reductions: ClassVar[tuple[str, ...]] = "mean", "sum", "none"

    def begin(self, given: dict[str, Any]) -> None:
        reduction = given.get("reduction", "mean")
        if reduction not in self.reductions:
            raise located(
                ArgumentError,
                f"expected reduction to be one of {list(self.reductions)}, got {reduction!r:.60}",
            )
        super().begin(given)


class L1Loss(_Loss):
    @options_of(F.l1_loss, 2)
    def __init__(self) -> None: ...


class MSELoss(_Loss):
    @options_of(F.mse_loss, 2)
    def __init__(self) -> None: ...


class SmoothL1Loss(_Loss):
    @options_of(F.smooth_l1_loss, 2)
    def __init__(self) -> None: ...


class HuberLoss(_Loss):
    @options_of(F.huber_loss, 2)
    def __init__(self) -> None: ...


class NLLLoss(_Loss):
    @options_of(F.nll_loss, 2)
    def __init__(self) -> None: ...


class CrossEntropyLoss(_Loss):
    @options_of(F.cross_entropy, 2)
    def __init__(self) -> None: ...


class BCELoss(_Loss):
    @options_of(F.binary_cross_entropy, 2)
    def __init__(self) -> None: ...


class BCEWithLogitsLoss(_Loss):
    @options_of(F.binary_cross_entropy_with_logits, 2)
    def __init__(self) -> None: ...


class KLDivLoss(_Loss):
    reductions = (*_Loss.reductions, "batchmean")

    @options_of(F.kl_div, 2)
    def __init__(self) -> None: ...


class MarginRankingLoss(_Loss):
    @options_of(F.margin_ranking_loss, 3)
    def __init__(self) -> None: ...


class HingeEmbeddingLoss(_Loss):
    @options_of(F.hinge_embedding_loss, 2)
    def __init__(self) -> None: ...


class SoftMarginLoss(_Loss):
    @options_of(F.soft_margin_loss, 2)
    def __init__(self) -> None: ...


class CosineEmbeddingLoss(_Loss):
    @options_of(F.cosine_embedding_loss, 3)
    def __init__(self) -> None: ...


class TripletMarginLoss(_Loss):
    @options_of(F.triplet_margin_loss, 3)
    def __init__(self) -> None: ...


class CTCLoss(_Loss):
    @options_of(F.ctc_loss, 4)
    def __init__(self) -> None: ...


class PairwiseDistance(_Loss):
    @options_of(F.pairwise_distance, 2)
    def __init__(self) -> None: ...


class CombinedMarginLoss(Module):
    """Cosines, that of the right class as cos(m1 angle + m2) - m3 (Deng et al., ArcFace, 2019).

    Args:
        m1, m2, m3: the margins.

    >>> margins = fluid.flow.nn.CombinedMarginLoss(1.0, 0.0, 0.5)
    >>> margins(fluid.flow.tensor([[0.5, 0.25]]), fluid.flow.tensor([1]))
    tensor([[ 0.5000, -0.2500]], dtype=oneflow.float32)
    """

    def __init__(self, m1: float = 1.0, m2: float = 0.0, m3: float = 0.0) -> None:
        super().__init__()
        self.m1, self.m2, self.m3 = m1, m2, m3

    def forward(self, x: Tensor, label: Tensor) -> Tensor:
        """The cosines with their margins: [N, C], for labels [N]."""
        right = F.one_hot(label, x.array.shape[1]).bool()
        inner = x.clamp(-1.0, 1.0)
        angle = add(multiply(acos(inner), self.m1), self.m2)
        return where(right, subtract(cos(angle), self.m3), x)
