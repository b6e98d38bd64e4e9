"""What a file or a folder is, and what is in it, without a program that says so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import FileError, FileFormatError, FluidError, ParseError
from ..ground.dtypes import Kind
from ..ground.files import Path, Source, is_partial, open_source, read_bytes, with_short_quotes
from ..ground.quantities import quantity
from ..ground.quoting import printable
from ..ir.program import Program
from ..proto.pickled import read_pickle
from ..proto.program import program_from_bytes
from ..proto.state import MODEL as PROGRAM
from ..proto.state import MODELS as PROGRAMS
from ..proto.state import NAME_TABLE, OPTIMIZER, PARAMETERS, program_at, state_of, stem_of
from ..proto.tensor import read_rows, read_tensor
from .arrays import (
    NPY_MAGIC,
    ZIP_MAGIC,
    looks_like_safetensors,
    read_npy,
    read_npz,
    read_safetensors,
)
from .check import check_value
from .checkpoint import is_checkpoint, latest, read_checkpoint
from .inference import MODEL, model_files
from .variables import is_persistable

COMBINED = ".pdiparams"
_BLOCK = 0x0A  # the tag of the first block of a program
_PIR, _BEGIN = b'"base_code"', 200  # what stands at the begin of programs of Paddle 3


@dataclass(frozen=True)
class ModelFiles:
    """Where a program lies, and the values of its variables."""

    program: str  #: the path of the file
    values: str = ""  #: the name of the file of all values; "" where each has a file, or none has
    is_pir: bool = False  #: the program is in the form of Paddle 3, which is read and not written


@dataclass
class Contents:
    """What a file or a folder holds.

    >>> import tempfile
    >>> from fluidlite.io.contents import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/w.npz", w=np.ones([2, 3]))
    ...     contents = read(f"{folder}/w.npz")
    >>> contents.variables["w"].shape, contents.program
    ((2, 3), None)
    """

    path: str
    kind: str  #: in words: "program", "combined tensors", "inference model", ...
    variables: dict[str, Any] = field(default_factory=dict)
    """Arrays by name; LoDTensors where rows form sequences, SelectedRows where only some rows are
    stored."""
    program: Program | None = None
    others: dict[str, Any] = field(default_factory=dict)
    """What is no array: numbers and texts of a state, the step of a checkpoint."""
    files: ModelFiles | None = None
    """Of a program alone, as a file or a text, and of a model to be served."""

    @property
    def is_program_alone(self) -> bool:
        """Whether it is a program that needs no values beside it: a text, or no model."""
        if self.kind == "program" and self.program is not None:
            return all(op.type != "fetch" for op in self.program.global_block().ops)
        return self.kind == "program text"


def read(path: Path, unpacked: int | None = None) -> Contents:
    """What a file or a folder is, and its variables as arrays, whatever the format.

    Knows program files and texts, single and combined tensors, folders of them, models to be
    served, ``.pdparams`` and the like of fluid 1.8 and Paddle 2, checkpoints, ``.npy``, ``.npz``
    and safetensors.

    Args:
        path: a file, a folder, or the path of a training state without the endings of its files.
        unpacked: how many bytes a compressed ``.npz`` may become in memory; a quarter of a
            gigabyte, or twenty times the file, when None.

    Raises:
        FileError: it cannot be read; says why.
        FileFormatError: it is none of these, or damaged; says where.

    >>> np.savez("two.npz", a=np.ones([2, 3]), b=np.arange(3))
    >>> found = fluid.io.read("two.npz")
    >>> found.kind, sorted(found.variables)
    ('npz', ['a', 'b'])
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        return _folder(path)
    if not os.path.exists(path):
        if os.path.exists(path + PARAMETERS):
            return _training_state(path)
        if program_at(path) is not None:
            return _model(*model_files(path))
    return _with_values_beside(_file(path, unpacked))


# -- files -----------------------------------------------------------------------------------------


def _file(path: str, unpacked: int | None = None) -> Contents:
    with open_source(path) as source:
        begin = source.take(min(source.size, 16), "the begin of the file")
    if not begin:
        raise FileFormatError(f"{path}: expected a file of a known kind at byte 0, found nothing")
    stem = os.path.basename(path)
    if begin.startswith(ZIP_MAGIC):
        if is_checkpoint(path):
            return _checkpoint(path)
        with open(path, "rb") as file, open_source(path) as source:
            return Contents(path, "npz", read_npz(file, source, unpacked))
    with open_source(path) as source:
        if looks_like_safetensors(begin, source.size):
            return Contents(path, "safetensors", read_safetensors(source))
        if begin.startswith(NPY_MAGIC):
            return Contents(path, "npy", {os.path.splitext(stem)[0]: read_npy(source)})
        if begin[0] == 0x80:
            return _pickle(source, os.path.splitext(stem)[0])
        if begin.startswith(b"\0\0\0\0"):
            return _tensors(path)
    data = read_bytes(path)
    if begin.lstrip().startswith(b"program"):
        parsed = _parsed(data, path)
        return Contents(path, "program text", program=parsed, files=ModelFiles(path))
    if begin[0] != _BLOCK and not _is_pir(data):
        raise FileFormatError(
            f"{path}: expected a program, tensors, a pickle of arrays, .npy, .npz or safetensors "
            f"at byte 0, found {begin[:8].hex(' ')}"
        )
    program = program_from_bytes(data, path)
    files = ModelFiles(path, is_pir=_is_pir(data))
    return Contents(path, "program", program=program, files=files)


def _is_pir(data: bytes) -> bool:
    """Whether a program is one of Paddle 3."""
    return _PIR in data[:_BEGIN]


def _parsed(data: bytes, path: str) -> Program:
    try:
        return Program.parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path}: expected UTF-8 at byte {error.start}, found {data[error.start]:#04x}"
        ) from error
    except ParseError as error:
        found = with_short_quotes(str(error))
        raise FileFormatError(f"{path}: expected a program, found {found}") from None


def _pickle(source: Source, stem: str) -> Contents:
    contents = Contents(source.name, "state")
    for name, value in _flat(read_pickle(source), ""):
        if NAME_TABLE in name.split("."):
            continue
        if isinstance(value, np.ndarray):
            contents.variables[name or stem] = value
        else:
            contents.others[name or stem] = value
    return contents


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Arrays and other values of plain data by their path."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        value = value[1]  # Paddle 2 pairs an array with its name
    if isinstance(value, dict) and value:
        for key, element in value.items():
            yield from _flat(element, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)) and any(map(_has_arrays, value)):
        for number, element in enumerate(value):
            yield from _flat(element, f"{name}.{number}" if name else str(number))
    else:
        yield name, value


def _tensors(path: str) -> Contents:
    """One tensor, several, or rows."""
    tensors: list[Any] = []
    with open_source(path) as source:
        try:
            while source.left:
                tensors.append(read_tensor(source))
        except FluidError as error:
            rows = None if tensors else _rows(path)
            if rows is None:
                raise
            del error
            return rows
    name = os.path.basename(path)
    if len(tensors) == 1 and not name.endswith(COMBINED):
        return Contents(path, "tensor", {name: tensors[0]})
    names = _names_beside(path, len(tensors))
    return Contents(path, "combined tensors", dict(zip(names, tensors)))


def _rows(path: str) -> Contents | None:
    with open_source(path) as source:
        try:
            value = read_rows(source)
        except FluidError:
            return None
        return None if source.left else Contents(path, "rows", {os.path.basename(path): value})


def _names_beside(path: str, count: int) -> list[str]:
    """The names of the tensors of a combined file: those that a program beside it reads, where
    there are as many; else numbers.
    """
    folder, name = os.path.split(path)
    stem = name.removesuffix(COMBINED)
    for beside in (*(stem + end for end in PROGRAMS), MODEL, "model"):
        try:
            program = program_from_bytes(read_bytes(os.path.join(folder, beside)), beside)
        except FluidError:
            continue
        names = saved_names(program)
        if len(names) == count:
            return names
    return [f"tensor_{number}" for number in range(count)]


def saved_names(program: Program) -> list[str]:
    """The variables that are saved with a program, in the order of a combined file."""
    return sorted(
        {
            var.name
            for var in program.list_vars()
            if is_persistable(var) and var.kind is not Kind.RAW
        }
    )


def _has_arrays(value: Any) -> bool:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return isinstance(value, np.ndarray)
    return any(map(_has_arrays, value))


# -- folders ---------------------------------------------------------------------------------------


def _folder(path: str) -> Contents:
    newest = latest(path)
    if newest is not None:
        return _checkpoint(newest)
    files = sorted(_files_in(path))
    if MODEL in files:
        return _model(path, os.path.join(path, MODEL), None)
    _refuse_several(path, files)
    programs = [name for name in files if _is_program(path, name)]
    states = [name for name in files if name.endswith(PARAMETERS)]
    if len(states) == 1 and all(name.startswith(states[0][: -len(PARAMETERS)]) for name in files):
        return _training_state(os.path.join(path, states[0].removesuffix(PARAMETERS)))
    if len(programs) == 1:
        return _model(*model_files(os.path.join(path, stem_of(programs[0]))))
    return _any_folder(path, files)


def _refuse_several(folder: str, files: Sequence[str]) -> None:
    """Refuse a folder of models, which are named one by one.

    Raises:
        FileFormatError: lists them.
    """
    folders = [os.path.dirname(name) for name in files if os.path.basename(name) == MODEL]
    stems = dict.fromkeys(stem_of(name) for name in files if _is_program(folder, name))
    models = [os.path.join(folder, name) for name in sorted([*folders, *stems])]
    if folders or len(models) > 1:
        more = ", ..." if len(models) > 20 else ""
        raise FileFormatError(
            f"{folder}: expected one model, found a folder of {quantity(len(models), 'model')}; "
            f"give the path of one: {', '.join(map(printable, models[:20]))}{more}"
        )


def _is_program(folder: str, name: str) -> bool:
    """Whether a file is a program by its ending, and where others have that ending, its begin."""
    if not name.endswith(PROGRAMS) or name.endswith(PROGRAM):
        return name.endswith(PROGRAM)
    with open_source(os.path.join(folder, name)) as source:
        return _is_pir(source.take(min(source.size, _BEGIN), "the begin of the file"))


def _any_folder(path: str, files: list[str]) -> Contents:
    """A folder whose files have names of their own: of variables, of a model, or a single file."""
    if not files:
        raise FileError(f"cannot read the folder {path}: it holds no files")
    by_name = {}
    for name in files:
        try:
            by_name[name] = _file(os.path.join(path, name))
        except FileFormatError as error:
            raise FileFormatError(
                f"{path}: expected a folder of variables, a model, a training state or "
                f"checkpoints; {error}"
            ) from error
    programs = [name for name, each in by_name.items() if each.kind == "program"]
    if len(programs) == 1:
        return _model(path, os.path.join(path, programs[0]), None)
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    contents = Contents(path, "variables")
    for name, part in by_name.items():
        if part.kind not in ("tensor", "rows"):
            raise FileFormatError(
                f"{path}: expected a folder of variables, one in each file, found {name}: "
                f"{part.kind}; give the path of that file"
            )
        contents.variables[name] = next(iter(part.variables.values()))
    return contents


def _files_in(folder: str) -> Iterator[str]:
    """Paths of the files below a folder, as names of variables."""
    for root, _, names in os.walk(folder):
        for name in names:
            if not is_partial(name):
                yield os.path.relpath(os.path.join(root, name), folder).replace(os.sep, "/")


def _model(folder: str, path: str, params: Any) -> Contents:
    """A model to be served."""
    data = read_bytes(path)
    program = program_from_bytes(data, path)
    names = saved_names(program)
    if params is None:
        beside = [name for name in _files_in(folder) if name != os.path.basename(path)]
        if names and len(beside) == 1 and beside[0] not in names:
            params = beside[0]
    shown = stem_of(path) if path.endswith(PROGRAMS) else folder or os.curdir
    contents = Contents(shown, "inference model", program=program)
    contents.files = ModelFiles(path, is_pir=_is_pir(data))
    if params is not None and os.path.exists(os.path.join(folder, params)):
        contents.files = replace(contents.files, values=params)
        with open_source(os.path.join(folder, params)) as source:
            tensors = []
            while source.left:
                tensors.append(read_tensor(source))
            if len(tensors) != len(names):
                source.fail(f"{len(names)} tensors, as the program has", str(len(tensors)), 0)
        contents.variables = dict(zip(names, tensors))
        for name, tensor in contents.variables.items():
            check_value(program.global_block().vars.get(name), tensor, name, source.name)
        return contents
    for name in names:
        file = os.path.join(folder, *name.split("/"))
        if os.path.isfile(file):
            contents.variables[name] = next(iter(_tensors(file).variables.values()))
    return contents


def _with_values_beside(contents: Contents) -> Contents:
    """The whole model where a file of its program was read, and the values of its variables lie
    beside; else what was read.
    """
    stem = stem_of(contents.path)
    folder = os.path.dirname(contents.path)
    if contents.kind != "program":
        return contents
    if os.path.exists(stem + COMBINED):
        return _model(folder, contents.path, os.path.basename(stem) + COMBINED)
    if stem != contents.path and os.path.exists(stem + PARAMETERS):
        return _training_state(stem)
    if stem == contents.path:
        with contextlib.suppress(FluidError):  # what lies beside is something else
            model = _model(folder, contents.path, None)
            return model if model.variables else contents
    return contents


def _training_state(path: str) -> Contents:
    contents = Contents(path, "training state")
    for ending in (PARAMETERS, OPTIMIZER):
        if not os.path.exists(path + ending):
            continue
        with open_source(path + ending) as source:
            for name, value in state_of(source).items():
                if isinstance(value, np.ndarray):
                    contents.variables[name] = value
                elif name != NAME_TABLE:
                    contents.others[name] = value
    if os.path.exists(path + PROGRAM):
        contents.program = program_from_bytes(read_bytes(path + PROGRAM), path + PROGRAM)
    return contents


def _checkpoint(path: str) -> Contents:
    found = read_checkpoint(path)
    others = {"step": found.step}
    return Contents(path, "checkpoint", found.variables, found.program, others)
