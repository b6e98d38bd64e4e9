"""Optimizers with the arguments of paddle 2.6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ... import optimizer as library
from ...clip import GradientClipBase
from ...ground.tracebacks import api_boundaries
from .optimizer import OPTIMIZERS, Decay, Optimizer, Parameters, Rate

Clip = GradientClipBase | None


@OPTIMIZERS.like(library.SGD)
class SGD(library.SGD, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
            multi_precision=multi_precision,
        )


@OPTIMIZERS.like(library.Momentum)
class Momentum(library.Momentum, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        momentum: float = 0.9,
        parameters: Parameters = None,
        use_nesterov: bool = False,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            momentum,
            use_nesterov=use_nesterov,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
            multi_precision=multi_precision,
            rescale_grad=rescale_grad,
            use_multi_tensor=use_multi_tensor,
        )


@OPTIMIZERS.like(library.Adagrad)
class Adagrad(library.Adagrad, Optimizer):
    def __init__(
        self,
        learning_rate: Rate,
        epsilon: float = 1e-6,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(
            learning_rate,
            epsilon,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
            initial_accumulator_value=initial_accumulator_value,
        )


@OPTIMIZERS.like(library.Adadelta)
class Adadelta(library.Adadelta, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            epsilon,
            rho,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
        )


@OPTIMIZERS.like(library.RMSProp)
class RMSProp(library.RMSProp, Optimizer):
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Optimizer.bounds,
        "rho": (0.0, float("inf")),
        "momentum": (0.0, float("inf")),
    }

    def __init__(
        self,
        learning_rate: Rate,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            rho,
            epsilon,
            momentum,
            centered,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
        )


@OPTIMIZERS.like(library.Adam)
class Adam(library.Adam, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
            lazy_mode=lazy_mode,
            multi_precision=multi_precision,
            use_multi_tensor=use_multi_tensor,
        )


@OPTIMIZERS.like(library.AdamW)
class AdamW(library.AdamW, Optimizer):
    """
    >>> from fluidlite import paddle
    >>> w = paddle.create_parameter([2], "float32")
    >>> adamw = paddle.optimizer.AdamW(0.1, parameters=[w], lr_ratio=lambda parameter: 0.5)
    """


@OPTIMIZERS.like(library.Adamax)
class Adamax(library.Adamax, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: Clip = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters=parameters,
            weight_decay=weight_decay,
            grad_clip=grad_clip,
            name=name,
        )


@OPTIMIZERS.like(library.Lamb)
class Lamb(library.Lamb, Optimizer):
    def __init__(
        self,
        learning_rate: Rate = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Parameters = None,
        grad_clip: Clip = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            lamb_weight_decay,
            beta1,
            beta2,
            epsilon,
            parameters=parameters,
            grad_clip=grad_clip,
            exclude_from_weight_decay_fn=exclude_from_weight_decay_fn,
            name=name,
            multi_precision=multi_precision,
            always_adapt=always_adapt,
        )


api_boundaries(globals())
