"""Derivatives in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...eager import engine
from ...eager.function import PyLayer, PyLayerContext
from ...eager.mode import (
    RecordingGuard,
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from ...eager.recording import TensorRecord
from ...errors import GradientShapeError
from ...ground.public_names import list_public_names
from ..shapes import stack
from ..tensor import need_start
from . import functional, graph
from .checking import gradcheck, gradgradcheck

__all__ = [
    "Function", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck",
    "gradgradcheck", "graph", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled",
]  # fmt: skip


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = False,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of tensors to ``.grad`` of the leaves that they depend on.

    Args:
        tensors: what is differentiated: a tensor or a list of them.
        grad_tensors: their cotangents in their shapes; None for 1, if there is one element.
        retain_graph: keep the graph, so that this can be done again.
        create_graph: record the gradients, so that they can be differentiated.
        inputs: the tensors that get a gradient, and no others; all leaves when None.

    Raises:
        GradientStateError: a tensor wants no gradient.
        GradientShapeError: a cotangent is of another shape, or missing.
        ArgumentError: an argument is of another kind, or a list is of another length.
        ReleasedError: the graph was released by an earlier call.

    >>> x = fluid.flow.tensor([1.0, 2.0], requires_grad=True)
    >>> fluid.flow.autograd.backward([(x * x).sum(), x], [None, fluid.flow.tensor([1.0, 10.0])])
    >>> x.grad
    tensor([ 3., 14.], dtype=oneflow.float32)
    """
    listed = engine.tensors_in("tensors", tensors)
    seeds = engine.seeds_in("grad_tensors", grad_tensors, len(listed))
    engine.check_bools(retain_graph=retain_graph, create_graph=create_graph)
    for each, seed in zip(listed, seeds):
        need_start(each, seed)
    wanted = None if inputs is None else engine.tensors_in("inputs", inputs)
    engine.sweep_back(
        listed, seeds, retain_graph=retain_graph, create_graph=create_graph, inputs=wanted
    )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = False,
    create_graph: bool = False,
    allow_unused: bool = False,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of outputs with respect to inputs; ``.grad`` of no tensor changes.

    Args:
        outputs: a tensor or a list of them.
        inputs: a tensor or a list of them.
        grad_outputs: the cotangents of the outputs in their shapes; None for 1, if there is one
            element.
        retain_graph: keep the graph, so that it can be differentiated again.
        create_graph: record the gradients, so that they can be differentiated; keeps the graph,
            too.
        allow_unused: give None for an input that takes no part, instead of an error.
        is_grads_batched: cotangents have a first dimension more: so many are pulled back, and the
            gradients have it, too.
        materialize_grads: give zeros for an input that takes no part, instead of an error.

    Returns:
        a tuple with a gradient for each input.

    Raises:
        GradientStateError: an output wants no gradient.
        GradientShapeError: a cotangent is of another shape, or missing.
        UnreachableError: an input takes no part.
        ArgumentError: an argument is of another kind, or a list is of another length.
        ReleasedError: the graph was released by an earlier call.

    >>> x = fluid.flow.tensor(2.0, requires_grad=True)
    >>> (slope,) = fluid.flow.autograd.grad(x * x * x, x, create_graph=True)
    >>> float(slope), float(fluid.flow.autograd.grad(slope, x)[0])
    (12.0, 12.0)
    """
    outs = engine.tensors_in("outputs", outputs)
    ins = engine.tensors_in("inputs", inputs)
    engine.check_bools(
        retain_graph=retain_graph, create_graph=create_graph, allow_unused=allow_unused,
        is_grads_batched=is_grads_batched, materialize_grads=materialize_grads,
    )  # fmt: skip
    keeps = bool(retain_graph or create_graph)
    if is_grads_batched:
        pulled = _batched(outs, ins, grad_outputs, keeps, create_graph)
    else:
        pulled = _pulled(outs, ins, grad_outputs, keeps, create_graph)
    if materialize_grads:
        pulled = [
            each.results(np.zeros_like(each.array)) if gradient is None else gradient
            for each, gradient in zip(ins, pulled)
        ]
    elif not allow_unused:
        engine.check_used(pulled, ins)
    for gradient in pulled:
        if gradient is not None and not create_graph:
            gradient.stop = True
    return tuple(pulled)


def _pulled(
    outs: list[Any], ins: list[Any], grad_outputs: Any, keeps: bool, create_graph: bool
) -> list[Any]:
    """The gradients of outputs for their cotangents."""
    seeds = engine.seeds_in("grad_outputs", grad_outputs, len(outs))
    for each, seed in zip(outs, seeds):
        need_start(each, seed)
    return engine.gradients_of(outs, ins, seeds, retain_graph=keeps, create_graph=create_graph)


def _batched(
    outs: list[Any], ins: list[Any], grad_outputs: Any, keeps: bool, create_graph: bool
) -> list[Any]:
    """The gradients of outputs for several cotangents of each, stacked."""
    seeds = engine.tensors_in("grad_outputs", grad_outputs)
    count = {seed.array.shape[0] if seed.array.shape else 0 for seed in seeds}
    if len(count) != 1 or not min(count):
        raise engine.located(
            GradientShapeError,
            f"expected cotangents with a first dimension of one size, got "
            f"{[list(seed.array.shape) for seed in seeds]}",
        )
    (size,) = count
    rows = [
        _pulled(outs, ins, [seed[k] for seed in seeds], keeps or k + 1 < size, create_graph)
        for k in range(size)
    ]
    return [None if None in column else stack(list(column)) for column in zip(*rows)]


def inference_mode(mode: bool = True) -> RecordingGuard:
    """A guard under which operators are not remembered.

    Args:
        mode: False: they are.

    >>> x = fluid.flow.ones(1, requires_grad=True)
    >>> with fluid.flow.inference_mode():
    ...     y = 2 * x
    >>> y.requires_grad
    False
    """
    return RecordingGuard(not mode)


class Function(PyLayer):
    """An operator with a forward and a backward function of the user's.

    Both are static methods.  ``backward`` gives a gradient for every argument of ``forward``: None
    for those that are no tensors.  ``apply``, or an instance, calls it.

    >>> class Scaled(fluid.flow.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         return gradient * ctx.factor, None
    >>> x = fluid.flow.tensor([1.0, 2.0], requires_grad=True)
    >>> Scaled.apply(x, 3.0).sum().backward()
    >>> x.grad
    tensor([3., 3.], dtype=oneflow.float32)
    """

    writes_arguments: ClassVar[bool] = False
    answers_all: ClassVar[bool] = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same as ``apply``."""
        return self.apply(*args, **kwargs)


list_public_names(globals())
