"""Clips of gradients: those that optimizers take, and functions that change gradients at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..clip import CLIPS, GradientClipByGlobalNorm, GradientClipByNorm, GradientClipByValue
from ..eager.tensor import Tensor
from ..eager.tensor_core import TensorCore
from ..errors import ArgumentError, NonFiniteError


@CLIPS
class ClipGradByValue(GradientClipByValue):
    """Keeps every element of a gradient in [min, max].

    >>> fluid.nn.ClipGradByValue(0.5).min
    -0.5
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        super().__init__(max, min)


@CLIPS.like(GradientClipByNorm)
class ClipGradByNorm(GradientClipByNorm):
    """
    >>> clip = fluid.nn.ClipGradByNorm(clip_norm=1.0)
    >>> layer = fluid.nn.Linear(2, 1)
    >>> optimizer = fluid.paddle.optimizer.SGD(0.1, parameters=layer.parameters(), grad_clip=clip)
    """

    def __init__(self, clip_norm: float) -> None:
        super().__init__(clip_norm)


@CLIPS.like(GradientClipByGlobalNorm)
class ClipGradByGlobalNorm(GradientClipByGlobalNorm):
    """
    >>> clip = fluid.nn.ClipGradByGlobalNorm(clip_norm=1.0)
    >>> layer = fluid.nn.Linear(2, 1)
    >>> optimizer = fluid.paddle.optimizer.SGD(0.1, parameters=layer.parameters(), grad_clip=clip)
    """

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        super().__init__(clip_norm, group_name)
        object.__setattr__(self, "auto_skip_clip", auto_skip_clip)


def _with_gradients(parameters: Any) -> list[tuple[Tensor, Tensor]]:
    given: list[Any] = [parameters] if isinstance(parameters, TensorCore) else list(parameters)
    return [(p, p.grad) for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor,
    max_norm: float,
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale the gradients of tensors by one number when their norm together is larger than
    ``max_norm``, so that it becomes that.

    Args:
        parameters: tensors; those without a gradient are left out.
        max_norm: the largest norm.
        norm_type: which norm: a number of at least 0, or infinity; may be a text (``"inf"``).
        error_if_nonfinite: refuse gradients whose norm is no number, or infinite.

    Returns:
        the norm before.

    Raises:
        ArgumentError: ``norm_type`` is no norm.
        NonFiniteError: the norm is not finite, where that is refused.

    >>> w = fluid.create_parameter([2], "float32")
    >>> (w * fluid.to_tensor([3.0, 4.0])).sum().backward()
    >>> float(fluid.nn.utils.clip_grad_norm_([w], 1.0)), w.grad.numpy().round(3).tolist()
    (5.0, [0.6000000238418579, 0.800000011920929])
    """
    try:
        kind = float(norm_type)
    except (TypeError, ValueError):
        kind = -1.0
    if not kind >= 0:
        raise ArgumentError(f"expected norm_type of at least 0, got {norm_type!r}")
    listed = [parameters] if isinstance(parameters, TensorCore) else list(parameters)
    pairs = _with_gradients(listed)
    gradients = [grad for _, grad in pairs]
    norms = [np.linalg.norm(g.array.reshape(-1).astype("float64"), kind) for g in gradients]
    whole = float(np.linalg.norm(norms, kind)) if norms else 0.0
    if error_if_nonfinite and not np.isfinite(whole):
        raise NonFiniteError(f"expected gradients with a finite norm, got {whole}")
    factor = min(float(max_norm) / (whole + 1e-6), 1.0)
    if factor < 1:
        _change(pairs, lambda array: array * np.asarray(factor, array.dtype))
    if not gradients:
        make: Any = listed[0].results if listed else Tensor
        nothing: Tensor = make(np.asarray(whole, "float32"))
        return nothing
    return gradients[0].results(np.asarray(whole, gradients[0].array.dtype))


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Keep the gradients of tensors in [-clip_value, clip_value].

    Args:
        parameters: tensors; those without a gradient are left out.
        clip_value: the largest size of an element.

    Raises:
        ArgumentError: it is below 0.
    """
    most = float(clip_value)
    if most < 0:
        raise ArgumentError(f"expected clip_value of at least 0, got {clip_value!r}")
    _change(_with_gradients(parameters), lambda array: np.clip(array, -most, most))


def _change(pairs: Any, function: Any) -> None:
    for p, grad in pairs:
        p.grad = grad.results(function(grad.array), None, grad.stop)
