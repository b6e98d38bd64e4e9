"""Optimizers with the arguments of paddle 2.6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from ... import optimizer as library
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from .optimizer import OPTIMIZERS, Optimizer

_RATE = "float | Variable | LearningRateDecay"
#: constructors of the library, without fluid 1.8's words
_SPELLED = Spelling(
    {},
    without=["parameter_list", "regularization"],
    types={
        f"{_RATE} | None": "Rate",
        _RATE: "Rate",
        "float | None": "float",
        "Iterable[Any] | None": "Parameters",
    },
)
_COMMON = "parameters, weight_decay, grad_clip"
_BETAS = "beta1, beta2, epsilon, parameters"


@OPTIMIZERS.like(library.SGD)
class SGD(library.SGD, Optimizer):
    __init__: Callable[..., None] = _SPELLED(
        library.SGD.__init__,
        order=f"self, learning_rate, {_COMMON}, multi_precision, name",
        defaults={"learning_rate": 0.001},
    )


@OPTIMIZERS.like(library.Momentum)
class Momentum(library.Momentum, Optimizer):
    __init__: Callable[..., None] = _SPELLED(
        library.Momentum.__init__,
        order="self, learning_rate, momentum, parameters, use_nesterov, weight_decay, grad_clip, "
        "multi_precision, rescale_grad, use_multi_tensor, name",
        defaults={"learning_rate": 0.001, "momentum": 0.9},
    )


@OPTIMIZERS.like(library.Adagrad)
class Adagrad(library.Adagrad, Optimizer):
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}
    __init__: Callable[..., None] = _SPELLED(
        library.Adagrad.__init__,
        order=f"self, learning_rate, epsilon, {_COMMON}, name, initial_accumulator_value",
    )


@OPTIMIZERS.like(library.Adadelta)
class Adadelta(library.Adadelta, Optimizer):
    __init__: Callable[..., None] = _SPELLED(
        library.Adadelta.__init__,
        order=f"self, learning_rate, epsilon, rho, {_COMMON}, name",
        defaults={"learning_rate": 0.001},
    )


@OPTIMIZERS.like(library.RMSProp)
class RMSProp(library.RMSProp, Optimizer):
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Optimizer.bounds,
        "rho": (0.0, float("inf")),
        "momentum": (0.0, float("inf")),
    }
    __init__: Callable[..., None] = _SPELLED(
        library.RMSProp.__init__,
        order=f"self, learning_rate, rho, epsilon, momentum, centered, {_COMMON}, name",
    )


@OPTIMIZERS.like(library.Adam)
class Adam(library.Adam, Optimizer):
    __init__: Callable[..., None] = _SPELLED(
        library.Adam.__init__,
        order=f"self, learning_rate, {_BETAS}, weight_decay, grad_clip, lazy_mode, "
        "multi_precision, use_multi_tensor, name",
    )


@OPTIMIZERS.like(library.AdamW)
class AdamW(library.AdamW, Optimizer):
    """
    >>> from fluidlite import paddle
    >>> w = paddle.create_parameter([2], "float32")
    >>> adamw = paddle.optimizer.AdamW(0.1, parameters=[w], lr_ratio=lambda parameter: 0.5)
    """

    shown_in_groups: ClassVar[Sequence[str]] = ("beta1", "beta2", "epsilon", "lazy_mode")


@OPTIMIZERS.like(library.Adamax)
class Adamax(library.Adamax, Optimizer):
    __init__: Callable[..., None] = _SPELLED(
        library.Adamax.__init__,
        order=f"self, learning_rate, {_BETAS}, weight_decay, grad_clip, name",
    )


@OPTIMIZERS.like(library.Lamb)
class Lamb(library.Lamb, Optimizer):
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}
    __init__: Callable[..., None] = _SPELLED(
        library.Lamb.__init__,
        order=f"self, learning_rate, lamb_weight_decay, {_BETAS}, grad_clip, "
        "exclude_from_weight_decay_fn, multi_precision, always_adapt, name",
        fixed={"weight_decay": None},
    )


api_boundaries(globals())
