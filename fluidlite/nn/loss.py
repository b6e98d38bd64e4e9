"""Losses: functions of predictions and labels, with their options."""

from __future__ import annotations

from . import functional as F
from .activation import FunctionLayer


class _Loss(FunctionLayer):
    _inputs = 2


class CrossEntropyLoss(_Loss):
    """The cross entropy of logits: :func:`~fluidlite.nn.functional.cross_entropy`.

    >>> loss = fluid.nn.CrossEntropyLoss()
    >>> round(float(loss(fluid.zeros([1, 2]), fluid.to_tensor([1]))), 4)
    0.6931
    """

    function = staticmethod(F.cross_entropy)


class MSELoss(_Loss):
    """The square of the difference: :func:`~fluidlite.nn.functional.mse_loss`."""

    function = staticmethod(F.mse_loss)


class L1Loss(_Loss):
    """The size of the difference: :func:`~fluidlite.nn.functional.l1_loss`."""

    function = staticmethod(F.l1_loss)


class SmoothL1Loss(_Loss):
    """Half the square of small differences: :func:`~fluidlite.nn.functional.smooth_l1_loss`."""

    function = staticmethod(F.smooth_l1_loss)


class NLLLoss(_Loss):
    """Minus the logarithm of the right class: :func:`~fluidlite.nn.functional.nll_loss`."""

    function = staticmethod(F.nll_loss)


class BCELoss(_Loss):
    """The cross entropy of probabilities of one class:
    :func:`~fluidlite.nn.functional.binary_cross_entropy`.
    """

    function = staticmethod(F.binary_cross_entropy)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of logits of one class:
    :func:`~fluidlite.nn.functional.binary_cross_entropy_with_logits`.
    """

    function = staticmethod(F.binary_cross_entropy_with_logits)


class KLDivLoss(_Loss):
    """The divergence of distributions: :func:`~fluidlite.nn.functional.kl_div`."""

    function = staticmethod(F.kl_div)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-label input))``: :func:`~fluidlite.nn.functional.soft_margin_loss`."""

    function = staticmethod(F.soft_margin_loss)


class HingeEmbeddingLoss(_Loss):
    """Distances, and what of a margin they leave:
    :func:`~fluidlite.nn.functional.hinge_embedding_loss`.
    """

    function = staticmethod(F.hinge_embedding_loss)


class MarginRankingLoss(_Loss):
    """Which of two is larger, by a margin: :func:`~fluidlite.nn.functional.margin_ranking_loss`."""

    _inputs = 3
    function = staticmethod(F.margin_ranking_loss)


class CosineEmbeddingLoss(_Loss):
    """The angles of vectors: :func:`~fluidlite.nn.functional.cosine_embedding_loss`."""

    _inputs = 3
    function = staticmethod(F.cosine_embedding_loss)


class TripletMarginLoss(_Loss):
    """What belongs together is nearer, by a margin:
    :func:`~fluidlite.nn.functional.triplet_margin_loss`.
    """

    _inputs = 3
    function = staticmethod(F.triplet_margin_loss)
