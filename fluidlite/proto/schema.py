"""The messages of program files, as tables."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.attribute_types import AttrType

#: the number of a field that program files of Paddle do not have
SIZE_NAMES = 1000
OPTIONAL, REQUIRED, REPEATED = 1, 2, 3  #: as protobuf numbers them


class FieldForm(NamedTuple):
    """What a field holds."""

    number: int
    kind: str  #: a scalar, or the name of a message or of an enumeration
    label: int = OPTIONAL


_FORM = FieldForm
#: message -> field -> its form.  Labels say what Paddle's own writer gives; the reader asks for
#: nothing, since other versions leave out other things.
MESSAGES: dict[str, dict[str, FieldForm]] = {
    "ProgramDesc": {
        "blocks": _FORM(1, "BlockDesc", REPEATED),
        "op_compatible_map": _FORM(3, "OpCompatibleMap"),
        "version": _FORM(4, "Version"),
    },
    "Version": {"version": _FORM(1, "int64")},
    "BlockDesc": {
        "idx": _FORM(1, "int32", REQUIRED),
        "parent_idx": _FORM(2, "int32", REQUIRED),
        "vars": _FORM(3, "VarDesc", REPEATED),
        "ops": _FORM(4, "OpDesc", REPEATED),
        "forward_block_idx": _FORM(5, "int32"),
    },
    "VarDesc": {
        "name": _FORM(1, "string", REQUIRED),
        "type": _FORM(2, "VarType", REQUIRED),
        "persistable": _FORM(3, "bool"),
        "need_check_feed": _FORM(4, "bool"),
        "is_parameter": _FORM(5, "bool"),  # this and the next are of Paddle 2
        "stop_gradient": _FORM(6, "bool"),
        # fluidlite's own, which others skip: a name for each size, "" where it has none
        "size_names": _FORM(SIZE_NAMES, "string", REPEATED),
    },
    "VarType": {
        "type": _FORM(1, "VarType.Type", REQUIRED),
        "selected_rows": _FORM(2, "VarType.TensorDesc"),
        "lod_tensor": _FORM(3, "VarType.LoDTensorDesc"),
        "tensor_array": _FORM(4, "VarType.LoDTensorArrayDesc"),
        "reader": _FORM(5, "VarType.ReaderDesc"),
        "tuple": _FORM(7, "VarType.Tuple"),
    },
    "VarType.TensorDesc": {
        "data_type": _FORM(1, "VarType.Type", REQUIRED),
        "dims": _FORM(2, "int64", REPEATED),
    },
    "VarType.LoDTensorDesc": {
        "tensor": _FORM(1, "VarType.TensorDesc", REQUIRED),
        "lod_level": _FORM(2, "int32"),
    },
    "VarType.LoDTensorArrayDesc": {
        "tensor": _FORM(1, "VarType.TensorDesc", REQUIRED),
        "lod_level": _FORM(2, "int32"),
    },
    "VarType.ReaderDesc": {"lod_tensor": _FORM(1, "VarType.LoDTensorDesc", REPEATED)},
    "VarType.Tuple": {"element_type": _FORM(1, "VarType.Type", REPEATED)},
    "OpDesc": {
        "inputs": _FORM(1, "OpDesc.Var", REPEATED),
        "outputs": _FORM(2, "OpDesc.Var", REPEATED),
        "type": _FORM(3, "string", REQUIRED),
        "attrs": _FORM(4, "OpDesc.Attr", REPEATED),
        "is_target": _FORM(5, "bool"),
    },
    "OpDesc.Var": {
        "parameter": _FORM(1, "string", REQUIRED),
        "arguments": _FORM(2, "string", REPEATED),
    },
    "OpDesc.Attr": {
        "name": _FORM(1, "string", REQUIRED),
        "type": _FORM(2, "AttrType", REQUIRED),
        "i": _FORM(3, "int32"),
        "f": _FORM(4, "float"),
        "s": _FORM(5, "string"),
        "ints": _FORM(6, "int32", REPEATED),
        "floats": _FORM(7, "float", REPEATED),
        "strings": _FORM(8, "string", REPEATED),
        "b": _FORM(10, "bool"),
        "bools": _FORM(11, "bool", REPEATED),
        "block_idx": _FORM(12, "int32"),
        "l": _FORM(13, "int64"),
        "blocks_idx": _FORM(14, "int32", REPEATED),
        "longs": _FORM(15, "int64", REPEATED),
        "float64s": _FORM(16, "double", REPEATED),  # this and the next are of Paddle 2
        "var_name": _FORM(17, "string"),
        "vars_name": _FORM(18, "string", REPEATED),
        "float64": _FORM(19, "double"),
        "scalar": _FORM(20, "Scalar"),
        "scalars": _FORM(21, "Scalar", REPEATED),
    },
    "Scalar": {
        "type": _FORM(1, "int32"),
        "b": _FORM(2, "bool"),
        "i": _FORM(3, "int64"),
        "r": _FORM(4, "double"),
        "c": _FORM(5, "Complex"),
    },
    "Complex": {"r": _FORM(1, "double"), "i": _FORM(2, "double")},
    "OpCompatibleMap": {
        "pair": _FORM(1, "OpCompatibleMap.OpCompatiblePair", REPEATED),
        "default_required_version": _FORM(2, "string"),
    },
    "OpCompatibleMap.OpCompatiblePair": {
        "op_name": _FORM(1, "string", REQUIRED),
        "compatible_info": _FORM(2, "CompatibleInfo", REQUIRED),
    },
    "CompatibleInfo": {
        "version": _FORM(1, "string", REQUIRED),
        "type": _FORM(2, "CompatibleInfo.Type", REQUIRED),
    },
}
ENUMERATIONS = ("AttrType", "VarType.Type", "CompatibleInfo.Type")

#: type of an attribute -> the field that holds its value
_FIELDS_OF_ATTRIBUTES = {
    "INT": "i",
    "FLOAT": "f",
    "STRING": "s",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
    "BOOLEAN": "b",
    "BOOLEANS": "bools",
    "BLOCK": "block_idx",
    "LONG": "l",
    "BLOCKS": "blocks_idx",
    "LONGS": "longs",
    "FLOAT64S": "float64s",
    "VAR": "var_name",
    "VARS": "vars_name",
    "FLOAT64": "float64",
    "SCALAR": "scalar",
    "SCALARS": "scalars",
}
#: wire type of an attribute -> (its number, the field that holds the value)
ATTRIBUTE_TYPES: dict[str, tuple[int, str]] = {
    wire: (int(AttrType.of_wire(wire)), field) for wire, field in _FIELDS_OF_ATTRIBUTES.items()
}
ATTRIBUTE_TYPE_OF: dict[int, str] = {number: name for name, (number, _) in ATTRIBUTE_TYPES.items()}

COMPLEX_SCALAR = 4  #: the number of complex scalars in a file
#: Python's type of a scalar -> its number in a file, and the field that holds it
SCALAR_TYPES: dict[type, tuple[int, str]] = {bool: (1, "b"), int: (2, "i"), float: (3, "r")}
