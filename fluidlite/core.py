"""Names only: where fluid 1.8 scripts look for places, tensors, scopes, ``VarDesc.VarType``, roles
and descriptions.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .errors import EOFException
from .errors import FluidError as EnforceNotMet
from .ground.dtypes import DType, Kind
from .ground.extension import ExtensionPoint
from .ground.missing_names import answer
from .ground.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda
from .ground.public_names import list_public_names
from .ground.values import LoDTensor, LoDTensorArray, SelectedRows
from .ir.attribute_types import AttrType
from .ir.descriptions import BlockDesc, OpDesc
from .ir.descriptions import VarDesc as _VarDesc
from .ir.operator import EMPTY, OpRole
from .ir.program import ProgramDesc
from .scope import Scope

#: the module of fluid 1.8's predictors
PREDICTORS: ExtensionPoint[ModuleType] = ExtensionPoint("predictors of models")
#: modules that fluid 1.8 had below this one are found (ground/fluid_paths.py)
__path__: list[str] = []


class _Types(type):
    """The class of :class:`VarType`: what is one of its members is an instance."""

    def __call__(cls, value: Any) -> DType | Kind:
        number = int(value)
        return DType(number) if number in DType.__members__.values() else Kind(number)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (DType, Kind))

    def __getattr__(cls, name: str) -> DType | Kind:
        for members in (DType.__members__, Kind.__members__):
            if name in members:
                return members[name]
        raise AttributeError(name)


class VarType(metaclass=_Types):
    """All element types and kinds by name, and by their number in program files."""


class VarDesc(_VarDesc):
    """A variable's description; holds ``VarType``."""

    __slots__ = ()
    VarType = VarType


class op_proto_and_checker_maker:
    """Roles of operators, and the names of the attributes that every operator has."""

    class OpRole:
        """What an operator is for."""

        Forward = OpRole.FORWARD
        Backward = OpRole.BACKWARD
        Optimize = OpRole.OPTIMIZE
        RPC = OpRole.RPC
        Dist = OpRole.DIST
        LRSched = OpRole.LRSCHED
        Loss = OpRole.LOSS

    @staticmethod
    def kOpRoleAttrName() -> str:
        """The name of the attribute that holds the role."""
        return "op_role"

    @staticmethod
    def kOpRoleVarAttrName() -> str:
        """The name of the one that holds a parameter and its gradient."""
        return "op_role_var"

    @staticmethod
    def kOpNameScopeAttrName() -> str:
        """The name of the one that holds the scope of names."""
        return "op_namescope"

    @staticmethod
    def kOpCreationCallstackAttrName() -> str:
        """The name of the one that says where the operator was made."""
        return "op_callstack"

    @staticmethod
    def kOpDeviceAttrName() -> str:
        """The name of the one that holds the device."""
        return "op_device"


def kEmptyVarName() -> str:
    """What stands in a slot where there is no variable."""
    return EMPTY


def kGradVarSuffix() -> str:
    """What stands behind a variable's name in that of its gradient."""
    return "@GRAD"


def get_cuda_device_count() -> int:
    """0: there is no GPU."""
    return 0


def __getattr__(name: str) -> Any:
    """What serves models is loaded at its first use."""
    predictors = None if name.startswith("_") else PREDICTORS.get()
    if predictors is None or name not in predictors.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(predictors, name)


__all__ = [
    "AttrType", "BlockDesc", "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "EOFException",
    "EnforceNotMet", "LoDTensor", "LoDTensorArray", "OpDesc", "ProgramDesc", "Scope",
    "SelectedRows", "VarDesc", "get_cuda_device_count", "is_compiled_with_cuda", "kEmptyVarName",
    "kGradVarSuffix", "op_proto_and_checker_maker",
]  # fmt: skip

list_public_names(globals())
answer(globals())
