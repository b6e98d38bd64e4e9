"""From one format to another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, BinaryIO

from ..errors import ArgumentError, FileFormatError, suggestion
from ..ground.callsite import warn
from ..ground.extension import ExtensionPoint
from ..ground.files import Path, Transaction
from ..ir.program import Program
from ..ir.text import program_text
from ..proto.libraries import lacking_operators
from ..proto.state import MODEL as PROGRAM
from ..proto.state import as_array, write_state
from .arrays import write_npy, write_npz, write_safetensors
from .contents import COMBINED, Contents, read, saved_names
from .inference import MODEL
from .streams import write_tensors
from .variables import write_variables

#: ending of a path -> the format it asks for
ENDINGS = {
    ".npz": "npz",
    ".npy": "npy",
    ".safetensors": "safetensors",
    ".pdparams": "pdparams",
    ".pdopt": "pdparams",
    COMBINED: "combined",
    PROGRAM: "program",
    MODEL: "program",
    ".txt": "text",
}
#: has ``in_form``
PADDLE_26: ExtensionPoint[Any] = ExtensionPoint("models in the form of paddle 2.6")
FORMATS = ("separate", *dict.fromkeys(ENDINGS.values()))


def convert(
    source: Path, target: Path, format: str | None = None, call_sites: bool | None = None
) -> Contents:
    """Write what a file or a folder holds in another format.

    A ``.pdmodel`` has the operators of paddle 2.6, but for a program that fluid 1.8 wrote, and
    ``__model__`` those that the program has.  A warning names those that paddle 2.6, or fluid 1.8,
    lacks.

    A model is written whole where the format has room for it: "program" writes its variables, too,
    ``net.pdiparams`` beside ``net.pdmodel`` and a file for each beside ``__model__``; "separate"
    writes ``__model__`` to the folder.

    Args:
        source: whatever :func:`read` reads; of the file of a model's program the whole model.
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
        FileFormatError: a file is not what it should be; says where.  A model lacks the values of
            some of its variables; says which.

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


def checked_format(target: Path, format: str | None, endings: str = "") -> str:
    """The format to write.

    Args:
        target: the file or folder.
        format: its name; None where it follows from the ending.
        endings: those that a caller takes who cannot name a format, for the message.

    Raises:
        ArgumentError: it is unknown.
    """
    path = os.fspath(target)
    if path.endswith(".json"):
        raise ArgumentError(
            f"{path!r} names a program of Paddle 3, a form that is read and not written; write a "
            ".pdmodel, which Paddle 2 reads, or a .txt file"
        )
    wanted = format or _format_of(path, endings)
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
    path = os.fspath(target)
    with Transaction() as files:
        if wanted == "text":
            files.write(path, _program_bytes(contents, wanted, call_sites))
            return
        _check_values(contents)
        if wanted == "program" or (wanted == "separate" and contents.program is not None):
            _write_model(files, path, contents, wanted, call_sites)
        else:
            _write_variables(files, path, contents, wanted)


def left_out(contents: Contents, wanted: str) -> list[str]:
    """What a format has no room for, in words; also the values that a program alone lacks."""
    lost = []
    if contents.program is not None:
        if wanted not in ("program", "separate", "text"):
            lost.append("the program")
        elif saved_names(contents.program) and (wanted == "text" or not contents.variables):
            lost.append("the values of the variables")
    return [*lost, *contents.others]


def _check_values(contents: Contents) -> None:
    """Refuse a model whose variables have not all values; a program alone needs none."""
    if contents.program is None or contents.is_program_alone:
        return
    names = saved_names(contents.program)
    lacking = [repr(name) for name in names if name not in contents.variables]
    if lacking:
        listed = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
        raise FileFormatError(
            f"{contents.path} ({contents.kind}): expected values of all {len(names)} variables of "
            f"the program, found none of {listed}; add their files, or convert the program alone, "
            f"as a text"
        )


def _write_model(
    files: Transaction, path: str, contents: Contents, wanted: str, call_sites: bool | None
) -> None:
    """Write a program, and the values of its variables where there are some."""
    folder, name = (path, MODEL) if wanted == "separate" else os.path.split(path)
    values = sorted(contents.variables.items())
    if name in contents.variables:
        raise ArgumentError(
            f"a variable of {contents.path} is called {name!r}, as the file of the program would "
            f"be; write the program to another file, as in {os.path.join(folder, 'net.pdmodel')!r}"
        )
    written = replace(contents, program=_in_form_of(contents.program, name))
    files.write(os.path.join(folder, name), _program_bytes(written, "program", call_sites))
    one = None if name == MODEL else name.removesuffix(PROGRAM) + COMBINED
    write_variables(files, folder, values, one)


def _in_form_of(program: Program | None, name: str) -> Program | None:
    """A program as the library has it that reads files of a name."""
    if program is None:
        return None
    if name.endswith(PROGRAM):
        in_form: Program = PADDLE_26.get().in_form(program)
        return in_form
    lacking = lacking_operators(program, "fluid 1.8")
    if lacking:
        warn(
            f"fluid 1.8, which reads {name}, has no operator {', '.join(map(repr, lacking))}: it "
            f"cannot run this model; write a .pdmodel for paddle 2.6",
            None,
        )
    return program


def _format_of(target: str, endings: str) -> str:
    if target.endswith(("/", os.sep)) or os.path.isdir(target):
        return "separate"
    for ending, format in ENDINGS.items():
        if target.endswith(ending):
            return format
    named = f"name the format, one of {', '.join(FORMATS)}"
    raise ArgumentError(
        f"what to write to {target!r} does not follow from its ending; "
        f"{f'take one of {endings}' if endings else named}, or let the path of a folder end with "
        f"a slash"
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
