"""Names only: where fluid 1.8 scripts look for places, tensors, scopes and ``VarDesc.VarType``."""

from __future__ import annotations

from types import SimpleNamespace

from .dtypes import DType, Kind
from .errors import FluidError as EnforceNotMet
from .runtime.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda
from .runtime.scope import Scope
from .values import LoDTensor, LoDTensorArray, SelectedRows


class VarDesc:
    """Holds ``VarType``: all element types and kinds by name."""

    VarType = SimpleNamespace(**{m.name: m for m in DType}, **{m.name: m for m in Kind})


__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "EnforceNotMet",
    "LoDTensor",
    "LoDTensorArray",
    "Scope",
    "SelectedRows",
    "VarDesc",
    "is_compiled_with_cuda",
]
