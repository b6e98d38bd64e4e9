"""Names only: derivatives of eager tensors."""

from __future__ import annotations

from .eager.engine import backward as backward
from .eager.engine import grad as grad
from .eager.function import PyLayer as PyLayer
from .eager.function import PyLayerContext as PyLayerContext
from .eager.functional import hessian as hessian
from .eager.functional import hvp as hvp
from .eager.functional import jacobian as jacobian
from .eager.functional import jvp as jvp
from .eager.functional import value_and_grad as value_and_grad
from .eager.functional import vjp as vjp
from .eager.functional import vmap as vmap
from .eager.mode import detect_anomaly as detect_anomaly
from .eager.mode import enable_grad as enable_grad
from .eager.mode import is_grad_enabled as is_grad_enabled
from .eager.mode import no_grad as no_grad
from .eager.mode import set_grad_enabled as set_grad_enabled
from .eager.recompute import checkpoint as checkpoint
from .eager.saving import saved_tensors_hooks as saved_tensors_hooks
from .ground.missing_names import answer
from .ground.public_names import list_given_names
from .ground.tracebacks import api_boundaries

list_given_names(globals())
api_boundaries(globals(), quick=True, but=("Tensor",))
answer(globals())
