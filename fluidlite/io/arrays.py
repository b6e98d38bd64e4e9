"""Arrays by name in files of other libraries: NumPy's ``.npy`` and ``.npz``, and safetensors."""

from __future__ import annotations

import contextlib
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..errors import DTypeError
from ..ground.brain_float import of_bits
from ..ground.files import LARGEST, Source, excerpt, with_short_quotes
from ..proto.tensor import write_array

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"
_HEADER = re.compile(
    r"\s*\{\s*'descr'\s*:\s*'(?P<descr>[^'\\]{1,20})'\s*,"
    r"\s*'fortran_order'\s*:\s*(?P<fortran>True|False)\s*,"
    r"\s*'shape'\s*:\s*\((?P<shape>[\d,\s]*)\)\s*,?\s*\}\s*\Z"
)
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c8|c16)\Z")
_LONGEST_HEADER = 10_000
_UNPACKED = 1 << 28  # bytes that any file may unpack to
_USUALLY_PACKED = 20  # times that a file may grow when it is unpacked
_MOST_PACKED = 1032  # bytes that one byte of a packed file can stand for
#: safetensors' names of element types
_NAMES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
_BFLOAT16 = "BF16"  # read as float32 where NumPy has no such type


# -- .npy ------------------------------------------------------------------------------------------


def read_npy(source: Source) -> Any:
    """The array of a ``.npy`` file.

    Raises:
        FileFormatError: it is none, or holds objects.
    """
    start = source.position
    magic = source.take(8, "the begin of a .npy file")
    if magic[:6] != NPY_MAGIC or magic[6] not in (1, 2, 3):
        source.fail("a .npy file (93 4e 55 4d 50 59)", magic.hex(" "), start)
    size = source.number("H" if magic[6] == 1 else "I", "the size of the header")
    if size > _LONGEST_HEADER:
        source.fail(f"a header of at most {_LONGEST_HEADER} bytes", str(size), start + 8)
    at = source.position
    text = source.take(size, "the header").decode("utf-8", "replace")
    match = _HEADER.match(text)
    if match is None or _DTYPE.match(match["descr"]) is None:
        source.fail("a header with the element type and shape of numbers", excerpt(text), at)
    shape = tuple(int(n[:19]) for n in match["shape"].replace(",", " ").split())
    if any(n >= LARGEST for n in shape):
        source.fail("the shape of an array", excerpt(match["shape"]), at)
    return _array(source, np.dtype(match["descr"]), shape, match["fortran"] == "True")


def _array(source: Source, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool) -> Any:
    data = source.array(dtype, shape[::-1] if fortran else shape, "the values of an array")
    if fortran:
        data = np.ascontiguousarray(data.T)
    native = dtype.newbyteorder("=")
    return data.view(native) if dtype.isnative else data.astype(native)


def write_npy(file: BinaryIO, array: Any) -> None:
    """Write a ``.npy`` file.

    Raises:
        DTypeError: the array holds something else than numbers.
    """
    dtype = array.dtype.newbyteorder("<")
    if _DTYPE.match(dtype.str) is None:
        raise DTypeError(f"expected an array of numbers to write, got one of {array.dtype}")
    shape = tuple(map(int, array.shape))
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    file.write(NPY_MAGIC + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode())
    write_array(file, array)


# -- .npz ------------------------------------------------------------------------------------------


class Archive:
    """A ``.npz`` file, or another zip file, that is read.

    Args:
        file: the file, which can be moved about in.
        source: the same, for its name and size.
        unpacked: how many bytes all members may have together when they are unpacked; a quarter of
            a gigabyte, or twenty times the file, when None.

    Raises:
        FileFormatError: it is no zip file, or would unpack to more.
    """

    def __init__(self, file: BinaryIO, source: Source, unpacked: int | None = None) -> None:
        self.source = source
        self.name: str = source.name
        with self._refusing("a zip file"):
            self.zip: ZipFile = zipfile.ZipFile(file)
            self.members: dict[str, ZipInfo] = {info.filename: info for info in self.zip.infolist()}
            packed = sum(info.compress_size for info in self.members.values())
            size = sum(info.file_size for info in self.members.values())
        if packed > source.size:
            source.fail(f"members of {source.size} bytes", f"members of {packed} bytes", 0)
        most = max(_UNPACKED, _USUALLY_PACKED * source.size) if unpacked is None else unpacked
        if size > most:
            source.fail(
                f"members of at most {most} bytes when unpacked",
                f"{size} bytes; if that is right, say so: fluid.io.read(path, unpacked={size})",
                0,
            )

    @contextlib.contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        try:
            yield
        except (
            *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, struct.error),
            *(NotImplementedError, RuntimeError, OverflowError, ValueError, OSError),
        ) as error:
            if type(error).__module__.startswith("fluidlite"):
                raise
            self.source.fail(what, with_short_quotes(str(error)) or type(error).__name__, 0)

    @contextlib.contextmanager
    def open(self, member: str, packed: bool = True) -> Iterator[Source]:
        """One of the members.

        Args:
            member: its name.
            packed: whether it may be compressed.

        Raises:
            FileFormatError: it is missing, or damaged.
        """
        info, shown = self.members.get(member), f"member {excerpt(member)}"
        if info is None:
            self.source.fail(f"a {shown}", f"{len(self.members)} others", 0)
        most = _MOST_PACKED * info.compress_size if packed else info.compress_size
        if info.file_size > most or (not packed and info.compress_type != zipfile.ZIP_STORED):
            what = f"{shown} of at most {most} bytes"
            self.source.fail(what, f"{info.file_size} bytes", info.header_offset)
        with self._refusing(shown), self.zip.open(info) as file:
            made = Source(file, info.file_size, f"{self.name}, {shown}")  # type: ignore[arg-type]
            yield made
            if made.left:
                made.fail("the end of the member", f"{made.left} bytes more")
            file.read(1)  # so that the checksum is compared


def read_npz(file: BinaryIO, source: Source, unpacked: int | None = None) -> dict[str, Any]:
    """The arrays of a ``.npz`` file by name.

    Args:
        file: the file, which can be moved about in.
        source: the same, for its name and size.
        unpacked: how many bytes the arrays may have, as of :class:`Archive`.

    Raises:
        FileFormatError: it is none, or would unpack to more.
    """
    archive = Archive(file, source, unpacked)
    arrays = {}
    for member in archive.members:
        if member.endswith(".npy"):
            with archive.open(member) as entry:
                arrays[_name_of(member.removesuffix(".npy"))] = read_npy(entry)
    return arrays


def write_npz(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write a ``.npz`` file, as ``numpy.savez`` does; :func:`read_npz` gives the names back."""
    write_members(file, {member_name(name): array for name, array in arrays.items()})


def write_members(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write a ``.npz`` file of arrays by the names that :func:`member_name` gives."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as packed:
        for name, array in arrays.items():
            with member_of(packed, name + ".npy", array.nbytes + 256) as entry:
                write_npy(entry, array)


#: what stands for a character that no name in a zip file has: zero, what is not UTF-8, and a
#: backslash that would begin such a sequence
_ESCAPED = re.compile(r"\\u(0000|005c|d[89a-f][0-9a-f]{2})")
_UNNAMABLE = re.compile(f"[\0\ud800-\udfff]|\\\\(?={_ESCAPED.pattern[2:]})")


def member_name(name: str) -> str:
    """What an array of any name is called in a ``.npz`` file.

    >>> print(member_name("fc\\udcff.w_0"))
    fc\\udcff.w_0
    """
    return _UNNAMABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", name)


def _name_of(member: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), member)


@contextlib.contextmanager
def member_of(packed: zipfile.ZipFile, name: str, size: int) -> Iterator[Any]:
    """A member that is written to a zip file; its bytes depend on the content only.

    Args:
        packed: the zip file.
        name: of the member.
        size: its size, roughly.
    """
    info = zipfile.ZipInfo(name)
    info.file_size = size
    with packed.open(info, "w", force_zip64=size > 1 << 30) as entry:
        yield entry


# -- safetensors -----------------------------------------------------------------------------------


def looks_like_safetensors(begin: bytes, size: int) -> bool:
    """Whether a file of ``size`` bytes that begins so is one of safetensors."""
    if len(begin) < 9 or begin[8:9] != b"{":
        return False
    return int(struct.unpack("<Q", begin[:8])[0]) <= size - 8


def read_safetensors(source: Source) -> dict[str, Any]:
    """The arrays of a safetensors file by name.

    Raises:
        FileFormatError: it is none.
    """
    size = source.number("Q", "the size of the header")
    if size > source.left:
        source.fail(f"a header of at most {source.left} bytes", str(size), 0)
    raw = source.take(size, "the header")
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError) as error:
        source.fail("a header of JSON", str(error), 8)
    if not isinstance(header, dict):
        source.fail("a header with tensors by name", type(header).__name__, 8)
    header.pop("__metadata__", None)
    begin, arrays = source.position, {}
    for name, entry in sorted(header.items(), key=_offset):
        dtype, shape, span = _entry(source, name, entry)
        if span[0] != source.position - begin:
            source.fail(f"tensor {excerpt(name)} behind the one before", f"it at {span[0]}", 8)
        data = source.array(dtype, shape, f"tensor {excerpt(name)}")
        if entry["dtype"] == _BFLOAT16:
            data = of_bits(data)
        arrays[name] = data
    return arrays


def _offset(item: tuple[str, Any]) -> Any:
    """Where a tensor lies, to bring tensors into order."""
    try:
        begin, end = item[1]["data_offsets"]
        return (begin, end) if isinstance(begin, int) and isinstance(end, int) else (0, 0)
    except (TypeError, KeyError, ValueError):
        return (0, 0)


def _entry(source: Source, name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """What a header says of a tensor: element type, shape, begin and end."""
    try:
        known = {**_NAMES, _BFLOAT16: "uint16"}
        dtype = np.dtype(known[entry["dtype"]])
        shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
        right = all(type(n) is int and 0 <= n < LARGEST for n in (*shape, start, end))
        right = right and end - start == dtype.itemsize * math.prod(shape)
    except (TypeError, KeyError, ValueError):
        right = False
    if not right:
        what = f"element type, shape and place of tensor {excerpt(name)}"
        source.fail(what, "others", 8)
    return dtype, shape, (start, end)


def write_safetensors(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write a safetensors file.

    Raises:
        DTypeError: the format has no room for an element type.
    """
    codes = {np.dtype(name): code for code, name in _NAMES.items()}
    header: dict[str, Any] = {}
    at = 0
    for name, array in arrays.items():
        code = codes.get(array.dtype.newbyteorder("="))
        if code is None:
            raise DTypeError(f"{name!r} holds {array.dtype}, which safetensors has no room for")
        span = [at, at + array.nbytes]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": span}
        at += array.nbytes
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    file.write(struct.pack("<Q", len(raw)) + raw)
    for array in arrays.values():
        write_array(file, array)
