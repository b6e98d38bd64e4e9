"""Names only: derivatives of eager tensors."""

from __future__ import annotations

from .absent import answer
from .imperative.engine import backward, grad
from .imperative.function import PyLayer, PyLayerContext
from .imperative.functional import hessian, hvp, jacobian, jvp, value_and_grad, vjp, vmap
from .imperative.mode import (
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .imperative.recompute import checkpoint
from .imperative.saving import saved_tensors_hooks
from .namespace import listing
from .quiet import doors

__all__ = [
    "PyLayer", "PyLayerContext", "backward", "checkpoint", "detect_anomaly", "enable_grad", "grad",
    "hessian", "hvp", "is_grad_enabled", "jacobian", "jvp", "no_grad", "saved_tensors_hooks",
    "set_grad_enabled", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

__dir__ = listing(globals())
doors(globals(), quick=True, but=("Tensor",))
answer(globals())
