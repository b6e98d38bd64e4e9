"""Names only: derivatives of eager tensors."""

from __future__ import annotations

from .eager.engine import backward, grad
from .eager.function import PyLayer, PyLayerContext
from .eager.functional import hessian, hvp, jacobian, jvp, value_and_grad, vjp, vmap
from .eager.mode import (
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .eager.recompute import checkpoint
from .eager.saving import saved_tensors_hooks
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries

__all__ = [
    "PyLayer", "PyLayerContext", "backward", "checkpoint", "detect_anomaly", "enable_grad", "grad",
    "hessian", "hvp", "is_grad_enabled", "jacobian", "jvp", "no_grad", "saved_tensors_hooks",
    "set_grad_enabled", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals(), quick=True, but=("Tensor",))
answer(globals())
