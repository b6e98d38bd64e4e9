"""The JSON in which Paddle 3 writes programs, taken apart: operations, their values and regions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from ...errors import DTypeError, FileFormatError
from ...ground.dtypes import DType, Kind, as_dtype
from ...ground.files import excerpt
from ...opdef.spec import Spec

#: what the files call dialects
_DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf", "3": "custom_op"}
_ELEMENTS = {
    "bool": "bool", "i8": "int8", "ui8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_PARAMETER = "p"
_DEPTH = 64  #: of regions in regions
#: attributes of operations that say nothing of values
_SILENT = frozenset({"struct_name", "place", "op_callstack"})


class Result(NamedTuple):
    """A value that an operation makes."""

    id: int
    #: its Spec; of a list a tuple of one for each element; None where it is no tensor
    spec: Any


class Region(NamedTuple):
    """The only block of a region."""

    arguments: tuple[Result, ...]
    operations: tuple[Operation, ...]


class Operation(NamedTuple):
    """One operation; operands are numbers of results, 0 where one is left out."""

    dialect: str
    name: str
    operands: tuple[int, ...]
    results: tuple[Result, ...]
    attributes: dict[str, Any]
    regions: tuple[Region, ...]

    def __str__(self) -> str:
        return f"{self.dialect}.{self.name}"


class PirFile:
    """One file.

    Args:
        data: its bytes.
        name: what messages call it: its path.

    Raises:
        FileFormatError: the bytes are no program of Paddle 3.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        try:
            self.version, self.region = self._read(json.loads(data.decode("utf-8")))
        except FileFormatError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise FileFormatError(
                f"{name}: expected a program of Paddle 3, found JSON of another form: "
                f"{type(error).__name__}: {excerpt(str(error))}"
            ) from None
        except (ValueError, RecursionError) as error:  # of texts, of JSON, of numbers
            if data.lstrip()[:1] == b"{" and data.rstrip()[-1:] != b"}":
                raise FileFormatError(
                    f"{name}: expected JSON that ends with '}}', found the end of "
                    f"the file at byte {len(data)}: a part of it is missing"
                ) from None
            place = getattr(error, "pos", getattr(error, "start", None))
            at = "" if place is None else f" at byte {place}"
            raise FileFormatError(f"{name}: expected JSON, found something else{at}") from None

    def fail(self, expected: str, found: object) -> NoReturn:
        """Refuse the file."""
        raise FileFormatError(f"{self.name}: expected {expected}, found {excerpt(found)}")

    def _read(self, content: Any) -> tuple[int, Region]:
        base = content["base_code"]
        if base["magic"] != "pir":
            self.fail("the magic word 'pir'", base["magic"])
        regions = content["program"]["regions"]
        if len(regions) != 1:
            self.fail("one region", len(regions))
        return int(base["version"]), self._region(regions[0], 0)

    def _region(self, record: Any, depth: int) -> Region:
        if depth > _DEPTH:
            self.fail(f"at most {_DEPTH} regions in each other", depth)
        if len(record["blocks"]) != 1:
            self.fail("one block in a region", len(record["blocks"]))
        (block,) = record["blocks"]
        arguments = [Result(int(a["#"]), self._spec(a["TT"])) for a in block.get("args", ())]
        operations = (self._operation(each, depth) for each in block["ops"])
        return Region(tuple(arguments), tuple(operations))

    def _operation(self, record: Any, depth: int) -> Operation:
        if record["#"] == _PARAMETER:
            return self._parameter(record)
        attributes = {
            self._text(each["N"]): self._value(each["AT"])
            for each in record["A"]
            if each["N"] not in _SILENT
        }
        return Operation(
            *self._names(record["#"]),
            tuple(int(each["%"]) for each in record["I"]),
            tuple(Result(int(each["%"]), self._spec(each["TT"])) for each in record["O"]),
            attributes,
            tuple(self._region(each, depth + 1) for each in record.get("regions", ())),
        )

    def _parameter(self, record: Any) -> Operation:
        result = Result(int(record["O"]["%"]), self._spec(record["O"]["TT"]))
        name = self._text(record["A"][3])
        persistable, stops, trainable = (bool(each) for each in record["OA"])
        flags = {"persistable": persistable, "stop_gradient": stops, "trainable": trainable}
        return Operation("builtin", "parameter", (), (result,), {"name": name, **flags}, ())

    def _names(self, text: Any) -> tuple[str, str]:
        """Dialect and name."""
        dialect, _, name = self._text(text).partition(".")
        return _DIALECTS.get(dialect, dialect), name

    def _text(self, text: Any) -> str:
        if not isinstance(text, str):
            self.fail("a text", text)
        return text

    # -- types and attributes ----------------------------------------------------------------------

    def _spec(self, record: Mapping[str, Any]) -> Any:
        kind = self._names(record["#"])[1]
        if kind == "t_vec":
            return tuple(self._spec(each) for each in record["D"])
        if kind not in ("t_dtensor", "t_dense_tensor_array"):
            return None
        element, sizes = record["D"][0], record["D"][1]
        dtype = self._element(self._names(element["#"])[1].removeprefix("t_"))
        holds = Kind.LOD_TENSOR if kind == "t_dtensor" else Kind.LOD_TENSOR_ARRAY
        return None if dtype is None else Spec(tuple(map(int, sizes)), dtype, holds)

    def _element(self, name: str) -> DType | None:
        """An element type; None if there is none of that name here."""
        try:
            return as_dtype(_ELEMENTS[name])
        except (DTypeError, KeyError):
            return None

    def _value(self, record: Mapping[str, Any]) -> Any:
        """What an attribute says, as numbers, texts, element types and lists of them."""
        kind, content = self._names(record["#"])[1], record.get("D", record.get("VD"))
        if kind == "a_array":
            return [self._value(each) for each in content or ()]
        if kind == "a_dtype":
            return None if self._text(content).startswith("Undefined") else as_dtype(content)
        if kind in ("a_f32", "a_f64"):
            return float(content)  # what is not finite is a text
        if kind in ("a_i32", "a_i64"):
            return int(content)
        return content
