"""Losses, as modules: arguments are those of the functions."""

from __future__ import annotations

from ...ground.fields import options_of
from . import functional as F
from .module import FunctionModule


class L1Loss(FunctionModule):
    @options_of(F.l1_loss, 2)
    def __init__(self) -> None: ...


class MSELoss(FunctionModule):
    @options_of(F.mse_loss, 2)
    def __init__(self) -> None: ...


class SmoothL1Loss(FunctionModule):
    @options_of(F.smooth_l1_loss, 2)
    def __init__(self) -> None: ...


class HuberLoss(FunctionModule):
    @options_of(F.huber_loss, 2)
    def __init__(self) -> None: ...


class NLLLoss(FunctionModule):
    @options_of(F.nll_loss, 2)
    def __init__(self) -> None: ...


class CrossEntropyLoss(FunctionModule):
    @options_of(F.cross_entropy, 2)
    def __init__(self) -> None: ...


class BCELoss(FunctionModule):
    @options_of(F.binary_cross_entropy, 2)
    def __init__(self) -> None: ...


class BCEWithLogitsLoss(FunctionModule):
    @options_of(F.binary_cross_entropy_with_logits, 2)
    def __init__(self) -> None: ...


class KLDivLoss(FunctionModule):
    @options_of(F.kl_div, 2)
    def __init__(self) -> None: ...


class MarginRankingLoss(FunctionModule):
    @options_of(F.margin_ranking_loss, 3)
    def __init__(self) -> None: ...


class HingeEmbeddingLoss(FunctionModule):
    @options_of(F.hinge_embedding_loss, 2)
    def __init__(self) -> None: ...


class SoftMarginLoss(FunctionModule):
    @options_of(F.soft_margin_loss, 2)
    def __init__(self) -> None: ...


class CosineEmbeddingLoss(FunctionModule):
    @options_of(F.cosine_embedding_loss, 3)
    def __init__(self) -> None: ...


class TripletMarginLoss(FunctionModule):
    @options_of(F.triplet_margin_loss, 3)
    def __init__(self) -> None: ...
