"""Files of ONNX models, read without trusting them: messages, and the arrays that they hold."""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FileError, FileFormatError, UnsupportedError
from ..ground.files import Path, are_sizes, inside, open_source, read_bytes
from .types import name_of, numpy_type
from .widened import HELD, Widened, byte_count, decoded

NEEDS = 'pip install "fluidlite[onnx]"'
#: where a tensor of a type lies when it does not lie in raw_data
_FIELDS = {
    "float32": "float_data",
    "float64": "double_data",
    "int64": "int64_data",
    **dict.fromkeys(("int32", "int16", "int8", "uint8", "bool", "float16"), "int32_data"),
}
_EXTERNAL = 1  # TensorProto.EXTERNAL


def need_onnx() -> Any:
    """The package `onnx`.

    Raises:
        UnsupportedError: it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise UnsupportedError(
            f"ONNX needs the package onnx, which is not here: {NEEDS}"
        ) from error
    return onnx


def read_model(path: Path) -> Any:
    """The message in a file.

    Raises:
        FileError: the file cannot be read.
        FileFormatError: it holds no model.
    """
    onnx = need_onnx()
    from google.protobuf.message import DecodeError

    name = os.fspath(path)
    data = read_bytes(path)
    try:
        model = onnx.ModelProto.FromString(data)
    except (DecodeError, RecursionError) as error:
        raise FileFormatError(
            f"{name}: expected a model of ONNX in {len(data)} bytes, found what is no such message "
            f"({error})"
        ) from error
    _check_texts(model, name, "model")
    if not model.HasField("graph") or not model.opset_import:
        raise FileFormatError(
            f"{name}: expected a graph and the versions of its operators, found a message of "
            f"{len(data)} bytes without them; is it a model of ONNX?"
        )
    return model


def _check_texts(message: Any, path: str, place: str) -> None:
    """Refuse texts that are none: the parser leaves them as bytes."""
    for field in message.DESCRIPTOR.fields:
        if field.type not in (field.TYPE_STRING, field.TYPE_MESSAGE):
            continue  # the bytes of tensors would be copied
        value = getattr(message, field.name)
        is_one = isinstance(value, (str, bytes)) or hasattr(value, "DESCRIPTOR")
        if is_one and not message.HasField(field.name):
            continue
        for element in [value] if is_one else value:
            if field.type == field.TYPE_MESSAGE:
                _check_texts(element, path, f"{place}.{field.name}")
            elif isinstance(element, bytes):
                raise FileFormatError(
                    f"{path}: {place}.{field.name}: expected UTF-8, found {element[:40]!r}"
                )


@dataclass(frozen=True)
class Tensors:
    """Gives the arrays of a model's tensors.

    Args:
        path: of the model; tensors that lie in files of their own lie in its folder or below.
    """

    path: str

    def array(self, tensor: Any, place: str) -> Any:
        """The array of a tensor.

        Args:
            tensor: the message.
            place: what messages call it.

        Raises:
            FileFormatError: its sizes do not fit what is there.
            UnsupportedError: variables have no such element type.
        """
        shape, count = self._shape(tensor, place)
        if tensor.HasField("segment"):
            self._fail(place, "a whole tensor", "a segment of one")
        if tensor.data_type == 0:
            self._fail(place, "an element type", "none")
        if tensor.data_type in HELD:
            return self._widened(tensor, shape, count, place)
        dtype = numpy_type(tensor.data_type)
        stored = dtype.newbyteorder("<")
        if tensor.data_location == _EXTERNAL:
            return self._external(tensor, stored, shape, place).astype(dtype, copy=False)
        if tensor.HasField("raw_data"):
            size = count * dtype.itemsize
            if len(tensor.raw_data) != size:
                found = f"{len(tensor.raw_data)}"
                self._fail(place, f"{size} bytes for {dtype.name}{list(shape)}", found)
            data = np.frombuffer(tensor.raw_data, stored)
            if dtype.kind == "b":
                data = data.view("uint8") != 0
            return data.reshape(shape).astype(dtype)
        held = getattr(tensor, _FIELDS[dtype.name])
        if len(held) != count:
            self._fail(place, f"{count} elements for {dtype.name}{list(shape)}", f"{len(held)}")
        if dtype == np.float16:
            return np.array(held, "int64").astype("uint16").view("float16").reshape(shape)
        wide = np.array(held, dtype if dtype.kind == "f" else "int64")
        return wide.astype(dtype).reshape(shape)

    def _widened(self, tensor: Any, shape: tuple[int, ...], count: int, place: str) -> Widened:
        """The array of a tensor whose element type variables have not."""
        number = tensor.data_type
        size, bits = byte_count(number, count), HELD[number][1]
        if tensor.data_location == _EXTERNAL:
            data = self._external(tensor, np.dtype(np.uint8), (size,), place)
        elif tensor.HasField("raw_data"):
            data = np.frombuffer(tensor.raw_data, np.uint8)
        else:  # an element, or the bytes of several, in each
            held = tensor.uint64_data if bits == 32 else tensor.int32_data
            data = np.array(held, np.int64).astype(f"<u{max(bits // 8, 1)}").view(np.uint8)
        if data.size != size:
            self._fail(place, f"{size} bytes for {name_of(number)}{list(shape)}", f"{data.size}")
        return Widened(decoded(number, data, count).reshape(shape), number)

    def sparse(self, tensor: Any, place: str) -> Any:
        """The array of a sparse tensor.

        Raises:
            FileFormatError: its sizes do not fit what is there.
        """
        shape, count = self._shape(tensor, place)
        values = self.array(tensor.values, place)
        places = self.array(tensor.indices, place)
        if count > 64 * max(len(tensor.values.raw_data), 1 << 16):
            self._fail(place, "elements of which some are stored", f"sizes {list(shape)}")
        flat = np.zeros(count, values.dtype)
        if places.ndim == 2 and places.shape[1] == len(shape):
            if (places < 0).any() or (places >= np.array(shape)).any():
                self._fail(place, f"indices within {list(shape)}", "others")
            places = np.ravel_multi_index(tuple(places.T), shape)
        if places.shape != values.shape or (places < 0).any() or (places >= count).any():
            self._fail(place, f"as many indices below {count} as values", f"{places.shape}")
        flat[places] = values
        return flat.reshape(shape)

    def _shape(self, tensor: Any, place: str) -> tuple[tuple[int, ...], int]:
        shape = tuple(tensor.dims)
        if not are_sizes(shape):
            self._fail(place, "sizes of an array", f"{list(shape[:8])}")
        return shape, math.prod(shape)

    def _external(self, tensor: Any, dtype: Any, shape: tuple[int, ...], place: str) -> Any:
        told = {each.key: each.value for each in tensor.external_data}
        folder = os.path.dirname(self.path) or "."
        path = self._inside(folder, told.get("location", ""), place)
        need = math.prod(shape) * dtype.itemsize
        offset = self._number(told, "offset", 0, place)
        length = self._number(told, "length", need, place)
        if length != need:
            self._fail(place, f"{need} bytes for {dtype.name}{list(shape)}", f"length {length}")
        with open_source(path) as source:
            if offset + need > source.size:
                self._fail(
                    place,
                    f"bytes {offset} to {offset + need} of {path}",
                    f"a file of {source.size} bytes",
                )
            source.skip_to(offset, place)
            return source.array(dtype, shape, place)

    def _number(self, told: dict[str, str], key: str, default: int, place: str) -> int:
        text = told.get(key, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            self._fail(place, f"a number as {key}", repr(text[:40]))
        return int(text)

    def _inside(self, folder: str, location: str, place: str) -> str:
        """The path of a file in the folder, that is an ordinary file and no link."""
        try:
            path = inside(folder, location)
        except FileFormatError:
            self._fail(place, "external data in a file of the model's folder", repr(location[:80]))
        at = folder
        for part in os.path.relpath(path, folder).split(os.sep):
            at = os.path.join(at, part)
            try:
                mode = os.lstat(at).st_mode
            except OSError as error:
                raise FileError(
                    f"cannot read {at}, where {self.path} has {place}: {error.strerror}"
                ) from error
            if stat.S_ISLNK(mode):
                self._fail(place, "external data in the model's folder", f"a link, {at}")
        return path

    def _fail(self, place: str, expected: str, found: str) -> Any:
        raise FileFormatError(f"{self.path}: {place}: expected {expected}, found {found}")
