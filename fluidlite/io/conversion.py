"""From one format to another."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from ..errors import ArgumentError, suggestion
from ..files import Path, Transaction
from ..ir.text import program_text
from ..proto.state import as_array, write_state
from .arrays import write_npy, write_npz, write_safetensors
from .contents import Contents, read
from .streams import write_tensors
from .variables import write_variables

#: ending of a path -> the format it asks for
ENDINGS = {
    ".npz": "npz",
    ".npy": "npy",
    ".safetensors": "safetensors",
    ".pdparams": "pdparams",
    ".pdopt": "pdparams",
    ".pdiparams": "combined",
    ".pdmodel": "program",
    "__model__": "program",
    ".txt": "text",
}
FORMATS = ("separate", *dict.fromkeys(ENDINGS.values()))


def convert(
    source: Path, target: Path, format: str | None = None, call_sites: bool | None = None
) -> Contents:
    """Write what a file or a folder holds in another format.

    Args:
        source: whatever :func:`read` reads.
        target: the file or folder to write.
        format: "separate" (a folder, a file for each variable), "combined", "pdparams", "npz",
            "npy" (a single array), "safetensors", "program" or "text"; what the ending of
            ``target`` says when None, a folder when it ends with a slash.
        call_sites: False leaves out of a program where its operators were made; as of
            :meth:`Program.to_bytes`.

    Returns:
        what was read.

    Raises:
        ArgumentError: the format is unknown, or has no room for what was read.
        FileError: a file cannot be read or written; says which, and why.
        FileFormatError: a file is not what it should be; says where.

    >>> np.savez("two.npz", a=np.ones([2, 3], "float32"), b=np.arange(3))
    >>> sorted(fluid.io.convert("two.npz", "folder/").variables)
    ['a', 'b']
    >>> fluid.io.read("folder").variables["b"]
    array([0, 1, 2])
    """
    wanted = checked_format(target, format)
    contents = read(source)
    write_contents(contents, target, wanted, call_sites)
    return contents


def checked_format(target: Path, format: str | None) -> str:
    """The format to write.

    Raises:
        ArgumentError: it is unknown.
    """
    wanted = format or _format_of(os.fspath(target))
    if wanted not in FORMATS:
        raise ArgumentError(
            f"expected one of the formats {', '.join(FORMATS)}, got {wanted!r}"
            f"{suggestion(wanted, FORMATS)}"
        )
    return wanted


def write_contents(
    contents: Contents, target: Path, wanted: str, call_sites: bool | None = None
) -> None:
    """Write what was read, or made, in a format; as of :func:`convert`."""
    with Transaction() as files:
        if wanted in ("program", "text"):
            files.write(target, _program_bytes(contents, wanted, call_sites))
        else:
            _write_variables(files, os.fspath(target), contents, wanted)


def _format_of(target: str) -> str:
    if target.endswith(("/", os.sep)) or os.path.isdir(target):
        return "separate"
    for ending, format in ENDINGS.items():
        if target.endswith(ending):
            return format
    raise ArgumentError(
        f"what to write to {target!r} does not follow from its ending; name the format, one of "
        f"{', '.join(FORMATS)}, or let the path of a folder end with a slash"
    )


def _program_bytes(contents: Contents, format: str, call_sites: bool | None) -> bytes:
    if contents.program is None:
        raise ArgumentError(f"{contents.path} ({contents.kind}) holds no program")
    if format == "text":
        sites = call_sites is not False
        return program_text(contents.program, bool(call_sites), sites).encode("utf-8")
    return contents.program.to_bytes(call_sites)


def _write_variables(files: Transaction, target: str, contents: Contents, format: str) -> None:
    values = contents.variables
    if not values:
        raise ArgumentError(f"{contents.path} ({contents.kind}) holds no variables")
    if format == "separate":
        write_variables(files, target, list(values.items()), None)
    elif format == "combined":
        write_tensors(files, target, sorted(values.items()))
    elif format == "pdparams":
        write_state(files, target, values)
    else:
        arrays = {name: as_array(value, name) for name, value in values.items()}
        with files.open(target) as file:
            _WRITERS[format](file, arrays)


def _write_single(file: BinaryIO, arrays: dict[str, Any]) -> None:
    if len(arrays) != 1:
        raise ArgumentError(f"a .npy file has room for one array, got {len(arrays)}; use .npz")
    write_npy(file, next(iter(arrays.values())))


_WRITERS: dict[str, Callable[[BinaryIO, dict[str, Any]], None]] = {
    "npz": write_npz,
    "npy": _write_single,
    "safetensors": write_safetensors,
}
