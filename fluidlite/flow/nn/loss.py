"""Losses, as modules: arguments are those of the functions."""

from __future__ import annotations

from ...ground.fields import options_of
from . import functional as F
from .module import FunctionModule


class L1Loss(FunctionModule):
    """The size of the difference."""

    @options_of(F.l1_loss, 2)
    def __init__(self) -> None: ...


class MSELoss(FunctionModule):
    """The square of the difference."""

    @options_of(F.mse_loss, 2)
    def __init__(self) -> None: ...


class SmoothL1Loss(FunctionModule):
    """A square near 0, and a line beyond beta."""

    @options_of(F.smooth_l1_loss, 2)
    def __init__(self) -> None: ...


class HuberLoss(FunctionModule):
    """Half a square near 0, and a line of slope delta beyond."""

    @options_of(F.huber_loss, 2)
    def __init__(self) -> None: ...


class NLLLoss(FunctionModule):
    """The logarithm of the probability of the right class, with its sign changed."""

    @options_of(F.nll_loss, 2)
    def __init__(self) -> None: ...


class CrossEntropyLoss(FunctionModule):
    """The cross entropy of the softmax of logits."""

    @options_of(F.cross_entropy, 2)
    def __init__(self) -> None: ...


class BCELoss(FunctionModule):
    """The cross entropy of probabilities of one class."""

    @options_of(F.binary_cross_entropy, 2)
    def __init__(self) -> None: ...


class BCEWithLogitsLoss(FunctionModule):
    """The cross entropy of the sigmoid of logits."""

    @options_of(F.binary_cross_entropy_with_logits, 2)
    def __init__(self) -> None: ...


class KLDivLoss(FunctionModule):
    """The divergence of distributions."""

    @options_of(F.kl_div, 2)
    def __init__(self) -> None: ...


class MarginRankingLoss(FunctionModule):
    """What should be larger, and is not by a margin."""

    @options_of(F.margin_ranking_loss, 3)
    def __init__(self) -> None: ...


class HingeEmbeddingLoss(FunctionModule):
    """Distances of what is alike, and nearness of what is not."""

    @options_of(F.hinge_embedding_loss, 2)
    def __init__(self) -> None: ...


class SoftMarginLoss(FunctionModule):
    """log(1 + e^(-target input))."""

    @options_of(F.soft_margin_loss, 2)
    def __init__(self) -> None: ...


class CosineEmbeddingLoss(FunctionModule):
    """1 - cosine of what is alike, and the cosine of what is not."""

    @options_of(F.cosine_embedding_loss, 3)
    def __init__(self) -> None: ...


class TripletMarginLoss(FunctionModule):
    """Nearness to what is alike, by a margin, than to what is not."""

    @options_of(F.triplet_margin_loss, 3)
    def __init__(self) -> None: ...
