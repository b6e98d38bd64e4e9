"""``fluid.proto.framework_pb2``: the messages of program files as classes of protobuf, of any of
its versions, where that is installed; the numbers of types else.
"""

from __future__ import annotations

import functools
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from ...core import VarType as _TypeNumbers
from ...ground.dtypes import DType, Kind
from ...proto.schema import ATTRIBUTE_TYPES, MESSAGES, OPTIONAL, REPEATED, REQUIRED, FieldForm

_PACKAGE = "paddle.framework.proto"
_SCALARS = {"double": 1, "float": 2, "int64": 3, "int32": 5, "bool": 8, "string": 9}
_MESSAGE, _ENUMERATION = 11, 14  #: kinds of fields, as protobuf numbers them
_NUMBERS = {name: number for name, (number, _) in ATTRIBUTE_TYPES.items()}
_AttrType = IntEnum("AttrType", _NUMBERS, module=__name__)  # type: ignore[misc]
_FORM = FieldForm
_INNER = ("string", "strings", "vocab", "sparse_coo", "sparse_csr")
#: messages that the reader of files does not take apart: what an operator is like, and of Paddle 2
#: the versions of operators, attributes of variables, and types that tensors have not
_MORE: dict[str, dict[str, FieldForm]] = {
    "OpVersion": {"version": _FORM(1, "int32", REQUIRED)},
    "OpVersionMap": {"pair": _FORM(1, "OpVersionMap.OpVersionPair", REPEATED)},
    "OpVersionMap.OpVersionPair": {
        "op_name": _FORM(1, "string", REQUIRED),
        "op_version": _FORM(2, "OpVersion", REQUIRED),
    },
    "ProgramDesc": {**MESSAGES["ProgramDesc"], "op_version_map": _FORM(5, "OpVersionMap")},
    "VarDesc": {**MESSAGES["VarDesc"], "attrs": _FORM(7, "VarDesc.Attr", REPEATED)},
    "VarDesc.Attr": {
        "name": _FORM(1, "string", REQUIRED),
        "type": _FORM(2, "AttrType", REQUIRED),
        "i": _FORM(3, "int32"),
        "s": _FORM(4, "string"),
        "ints": _FORM(5, "int32", REPEATED),
    },
    "VarType": {
        **MESSAGES["VarType"],
        **{name: _FORM(number, "VarType.TensorDesc") for number, name in enumerate(_INNER, 8)},
    },
    "Scalar": {**MESSAGES["Scalar"], "type": _FORM(1, "Scalar.Type", REQUIRED)},
    "Complex": {"r": _FORM(1, "double", REQUIRED), "i": _FORM(2, "double", REQUIRED)},
    "OpProto": {
        "type": _FORM(1, "string", REQUIRED),
        "inputs": _FORM(2, "OpProto.Var", REPEATED),
        "outputs": _FORM(3, "OpProto.Var", REPEATED),
        "attrs": _FORM(4, "OpProto.Attr", REPEATED),
        "comment": _FORM(5, "string", REQUIRED),
    },
    "OpProto.Var": {
        "name": _FORM(1, "string", REQUIRED),
        "comment": _FORM(2, "string", REQUIRED),
        "duplicable": _FORM(3, "bool", OPTIONAL),
        "intermediate": _FORM(4, "bool", OPTIONAL),
        "dispensable": _FORM(5, "bool", OPTIONAL),
        "extra": _FORM(6, "bool", OPTIONAL),
        "quant": _FORM(7, "bool", OPTIONAL),
    },
    "OpProto.Attr": {
        "name": _FORM(1, "string", REQUIRED),
        "type": _FORM(2, "AttrType", REQUIRED),
        "comment": _FORM(3, "string", REQUIRED),
        "generated": _FORM(4, "bool", OPTIONAL),
        "extra": _FORM(5, "bool", OPTIONAL),
        "quant": _FORM(6, "bool", OPTIONAL),
        "support_tensor": _FORM(7, "bool", OPTIONAL),
    },
}
_MESSAGES = {**MESSAGES, **_MORE}
#: types of variables of Paddle 2
_LATER = ("STRING", "STRINGS", "VOCAB", "FEED_LIST", "PSTRING", "SPARSE_COO", "SPARSE_CSR")
_ENUMERATIONS: dict[str, dict[str, int]] = {
    "AttrType": _NUMBERS,
    "VarType.Type": {
        **{each.name: int(each) for each in (*DType, *Kind)},
        **{name: number for number, name in enumerate(_LATER, 25)},
        "SIZE_T": 19,
    },
    "Scalar.Type": {"BOOLEAN": 1, "LONG": 2, "FLOAT64": 3, "COMPLEX128": 4},
    "CompatibleInfo.Type": {
        "COMPATIBLE": 0, "DEFINITELY_NOT": 1, "POSSIBLE": 2, "BUG_FIX": 3, "PRECISION_CHANGE": 4,
    },
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return _served()[name]
    except ImportError:
        without = {"VarType": _TypeNumbers, "AttrType": _AttrType, **_NUMBERS}
    except KeyError:
        without = {}
    if name in without:
        return without[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.cache
def _served() -> MappingProxyType[str, Any]:
    """The names of the module; protobuf is loaded when this is first called.

    Programs may bring a module of the same messages, so these are not in protobuf's common pool.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    pool = descriptor_pool.DescriptorPool()
    pool.Add(_declared(descriptor_pb2))
    file = pool.FindFileByName("framework.proto")
    class_of = getattr(message_factory, "GetMessageClass", None)  # since 4.22
    if class_of is None:
        class_of = message_factory.MessageFactory(pool).GetPrototype
    served = {}
    for name in _MESSAGES:
        outer, _, inner = name.rpartition(".")
        message = class_of(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        if not outer:
            served[name] = message
        elif not hasattr(served[outer], inner):  # in versions before 4
            setattr(served[outer], inner, message)
    served["AttrType"] = EnumTypeWrapper(file.enum_types_by_name["AttrType"])
    return MappingProxyType({"DESCRIPTOR": file, **_NUMBERS, **served})


def _declared(descriptor_pb2: Any) -> Any:
    """The messages as protobuf's own message of a file."""
    file = descriptor_pb2.FileDescriptorProto(
        name="framework.proto", package=_PACKAGE, syntax="proto2"
    )
    messages: dict[str, Any] = {}
    for name, fields in _MESSAGES.items():
        outer, _, inner = name.rpartition(".")
        place = messages[outer].nested_type if outer else file.message_type
        message = messages[name] = place.add(name=inner)
        for field, form in fields.items():
            declared = message.field.add(name=field, number=form.number, label=form.label)
            if form.kind in _SCALARS:
                declared.type = _SCALARS[form.kind]
            else:
                declared.type = _ENUMERATION if form.kind in _ENUMERATIONS else _MESSAGE
                declared.type_name = f".{_PACKAGE}.{form.kind}"
            if field == "forward_block_idx":
                declared.default_value = "-1"
    for name, numbers in _ENUMERATIONS.items():
        outer, _, inner = name.rpartition(".")
        enumeration = (messages[outer] if outer else file).enum_type.add(name=inner)
        for value, number in numbers.items():
            enumeration.value.add(name=value, number=number)
    return file
