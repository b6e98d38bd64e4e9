"""The messages of program files, as tables, and classes made of them when they are first needed.

Texts are declared as bytes and enumerations as integers: that is the same on the wire, and what
other versions put there survives.  For the same reason nothing is declared as required.
"""

from __future__ import annotations

import functools
from typing import Any

PACKAGE = "fluidlite.proto"
VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5  #: how a field is written

#: message -> field -> (number, kind, repeated); a kind that is no scalar is a message
#: the number of a field that program files of Paddle do not have
SIZE_NAMES = 1000
MESSAGES: dict[str, dict[str, tuple[int, str, bool]]] = {
    "ProgramDesc": {
        "blocks": (1, "BlockDesc", True),
        "op_compatible_map": (3, "bytes", False),
        "version": (4, "Version", False),
    },
    "Version": {"version": (1, "int64", False)},
    "BlockDesc": {
        "idx": (1, "int32", False),
        "parent_idx": (2, "int32", False),
        "vars": (3, "VarDesc", True),
        "ops": (4, "OpDesc", True),
        "forward_block_idx": (5, "int32", False),
    },
    "VarDesc": {
        "name": (1, "bytes", False),
        "type": (2, "VarType", False),
        "persistable": (3, "bool", False),
        "need_check_feed": (4, "bool", False),
        "is_parameter": (5, "bool", False),  # this and the next are of Paddle 2
        "stop_gradient": (6, "bool", False),
        # fluidlite's own, which others skip: a name for each size, "" where it has none
        "size_names": (SIZE_NAMES, "bytes", True),
    },
    "VarType": {
        "type": (1, "int32", False),
        "selected_rows": (2, "TensorDesc", False),
        "lod_tensor": (3, "LoDTensorDesc", False),
        "tensor_array": (4, "LoDTensorDesc", False),
        "reader": (5, "ReaderDesc", False),
    },
    "ReaderDesc": {"lod_tensor": (1, "LoDTensorDesc", True)},
    "LoDTensorDesc": {"tensor": (1, "TensorDesc", False), "lod_level": (2, "int32", False)},
    "TensorDesc": {"data_type": (1, "int32", False), "dims": (2, "int64", True)},
    "OpDesc": {
        "inputs": (1, "Slot", True),
        "outputs": (2, "Slot", True),
        "type": (3, "bytes", False),
        "attrs": (4, "Attr", True),
        "is_target": (5, "bool", False),
    },
    "Slot": {"parameter": (1, "bytes", False), "arguments": (2, "bytes", True)},
    "Attr": {
        "name": (1, "bytes", False),
        "type": (2, "int32", False),
        "i": (3, "int32", False),
        "f": (4, "float", False),
        "s": (5, "bytes", False),
        "ints": (6, "int32", True),
        "floats": (7, "float", True),
        "strings": (8, "bytes", True),
        "b": (10, "bool", False),
        "bools": (11, "bool", True),
        "block_idx": (12, "int32", False),
        "l": (13, "int64", False),
        "blocks_idx": (14, "int32", True),
        "longs": (15, "int64", True),
        "float64s": (16, "double", True),  # this and the next are of Paddle 2
        "scalars": (21, "Scalar", True),
    },
    "Scalar": {
        "type": (1, "int32", False),
        "b": (2, "bool", False),
        "i": (3, "int64", False),
        "r": (4, "double", False),
        "c": (5, "Complex", False),
    },
    "Complex": {"r": (1, "double", False), "i": (2, "double", False)},
}

#: wire type of an attribute -> (its number, the field that holds the value)
ATTRIBUTE_TYPES: dict[str, tuple[int, str]] = {
    "INT": (0, "i"),
    "FLOAT": (1, "f"),
    "STRING": (2, "s"),
    "INTS": (3, "ints"),
    "FLOATS": (4, "floats"),
    "STRINGS": (5, "strings"),
    "BOOLEAN": (6, "b"),
    "BOOLEANS": (7, "bools"),
    "BLOCK": (8, "block_idx"),
    "LONG": (9, "l"),
    "BLOCKS": (10, "blocks_idx"),
    "LONGS": (11, "longs"),
    "FLOAT64S": (12, "float64s"),
    "SCALARS": (17, "scalars"),
}
ATTRIBUTE_TYPE_OF: dict[int, str] = {number: name for name, (number, _) in ATTRIBUTE_TYPES.items()}

#: Python's type of a scalar -> its number in a file, and the field that holds it
SCALAR_TYPES: dict[type, tuple[int, str]] = {bool: (1, "b"), int: (2, "i"), float: (3, "r")}
_SCALARS = {"double": 1, "float": 2, "int64": 3, "int32": 5, "bool": 8, "bytes": 12}
_MESSAGE = 11
#: how a scalar is written
WRITTEN = {
    "double": FIXED64, "float": FIXED32, "int64": VARINT, "int32": VARINT, "bool": VARINT,
    "bytes": DELIMITED,
}  # fmt: skip


@functools.cache
def message_classes() -> dict[str, Any]:
    """The class of every message, by name; the protobuf library is loaded when this is first
    called.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name="program.proto", package=PACKAGE, syntax="proto2"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            declared = message.field.add(name=field, number=number, label=3 if repeated else 1)
            declared.type = _SCALARS.get(kind, _MESSAGE)
            if kind not in _SCALARS:
                declared.type_name = f".{PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(find(f"{PACKAGE}.{name}")) for name in MESSAGES}
