"""Checkpoints: everything that a training needs to go on, in one file of NumPy's ``.npz`` format.

``numpy.load`` reads the variables.  Beside them the file holds ``fluidlite.json`` (shapes, element
types, checksums, LoD, the step, the state of the random numbers) and ``program.txt``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import ArgumentError, FileError, FileFormatError, FluidError, ParseError
from ..ground.callsite import warn
from ..ground.files import (
    Path,
    Transaction,
    excerpt,
    file_error,
    open_source,
    sync_folder,
    usable_path,
    with_short_quotes,
)
from ..ground.process_group import groups
from ..ground.values import LoDTensor, SelectedRows, checked_offsets
from ..ir.program import Program, default_main_program
from ..ir.text import program_text
from ..proto.tensor import write_array
from ..runtime.executor import Executor
from ..scope import Scope, global_scope
from .arrays import Archive, member_of, read_npy, write_npy
from .check import check_value
from .variables import is_persistable, values_of

FORMAT = 1  #: the version of the format
_META, _PROGRAM = "fluidlite.json", "program.txt"
_NAME = re.compile(r"checkpoint-(\d+)\.npz\Z")
_LONGEST = 1 << 28  # bytes of the description


@dataclass
class Checkpoint:
    """What a checkpoint holds."""

    path: str
    step: int
    variables: dict[str, Any]
    program: Program | None = None
    random: dict[str, Any] = field(default_factory=dict)
    reader: dict[str, int] | None = None


class _Stateful(Protocol):
    """A reader that knows where it is."""

    def state(self) -> dict[str, int]: ...

    def restore(self, state: Mapping[str, int], /) -> None: ...


# -- saving ----------------------------------------------------------------------------------------


def save(
    path: Path,
    program: Program | None = None,
    scope: Scope | None = None,
    step: int = 0,
    keep: int = 3,
    executor: Executor | None = None,
    reader: _Stateful | Mapping[str, int] | None = None,
) -> str:
    """Write a checkpoint; whatever happens, those that were there stay whole.

    Where several processes train together, all of them call it, and process 0 writes.

    Args:
        path: the folder of the checkpoints, created if it does not exist.
        program: the program that is trained; the default main program when None.
        scope: where its variables have their values; the global scope when None.
        step: the number of steps done.
        keep: how many checkpoints stay, the newest; 0 for all.
        executor: what runs the program; with it, random operators (dropout) go on as they would
            have.
        reader: a reader of ``fluid.distributed.shard_reader``, or its state, so that the training
            goes on with the samples that are left of the epoch.

    Returns:
        the path of the checkpoint.

    Raises:
        NotInitializedError: a variable has no value; run the startup program first.
        FileError: the file cannot be written; says why.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.fc(x, 1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> saved = fluid.checkpoint.save("checkpoints", step=10)
    >>> fluid.checkpoint.load("checkpoints").step
    10
    """
    program = default_main_program() if program is None else program
    if isinstance(step, bool) or not hasattr(step, "__index__") or step < 0:
        raise ArgumentError(f"expected step to be the number of steps done, got {step!r}")
    target = os.path.join(path, _file_name(step))
    meta: dict[str, Any] = {"format": FORMAT, "step": int(step), "variables": {}}
    meta["random"] = _random_state(program, executor)
    if reader is not None:
        meta["reader"] = dict(reader if isinstance(reader, Mapping) else reader.state())
    held = global_scope() if scope is None else scope

    def write() -> None:
        _write(target, program, values_of(program, held, is_persistable), meta)
        _remove_older(path, int(step), keep)

    _together(write, only_first=True)
    return target


def _file_name(step: int) -> str:
    return f"checkpoint-{int(step):012d}.npz"


def _write(target: str, program: Program, values: Mapping[str, Any], meta: dict[str, Any]) -> None:
    """Write the file of a checkpoint; ``meta`` describes it, and gets what is said of variables."""
    text = program_text(program, call_sites=False).encode("utf-8")
    meta["program"] = {"sha256": hashlib.sha256(text).hexdigest(), "seed": program.random_seed}
    with (
        Transaction() as files,
        files.open(target) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as packed,
    ):
        for name, value in values.items():
            meta["variables"][name] = _write_variable(packed, name, value)
        with member_of(packed, _PROGRAM, len(text)) as entry:
            entry.write(text)
        raw = json.dumps(meta, indent=1).encode("utf-8")
        with member_of(packed, _META, len(raw)) as entry:
            entry.write(raw)


def _together(action: Callable[[], Any], only_first: bool = False) -> Any:
    """Do something in all processes, or in process 0; fail in all of them where it fails in one.

    Args:
        action: what is done.
        only_first: whether the others only wait.

    Raises:
        FileError: another process failed; says which.
    """
    group = groups.get()
    result, failure = None, None
    if group.rank == 0 or not only_first:
        try:
            result = action()
        except Exception as error:
            if group.size == 1:
                raise
            failure = error
    if group.size > 1:
        every = group.all_gather(np.array([failure is not None]), 0)
        if failure is not None:
            raise failure
        if every.any():
            raise FileError(
                f"the checkpoint: expected all {group.size} processes to succeed, process "
                f"{int(every.argmax())} did not; it says why"
            )
    return result


def _write_variable(packed: zipfile.ZipFile, name: str, value: Any) -> dict[str, Any]:
    """Write a variable; returns what the description says of it."""
    said: dict[str, Any] = {}
    data = value
    if isinstance(value, LoDTensor):
        data, said["lod"] = value.data, value.lod()
    elif isinstance(value, SelectedRows):
        data = value.value
        said["rows"], said["height"] = value.rows(), value.height()
    elif not isinstance(value, np.ndarray):
        raise ArgumentError(
            f"variable {name!r} holds {type(value).__name__}, which a checkpoint has no room for"
        )
    member = urllib.parse.quote(name, "@+-=, ", errors="surrogatepass") + ".npy"
    with member_of(packed, member, data.nbytes + 256) as entry:
        write_npy(entry, data)
    said |= {"member": member, "dtype": str(data.dtype), "shape": list(data.shape)}
    said["sha256"] = checksum(data)
    return said


def checksum(array: Any) -> str:
    """The SHA-256 of the bytes of an array, row major and little endian."""
    made = hashlib.sha256()
    write_array(_Digest(made), array)  # type: ignore[arg-type]
    return made.hexdigest()


class _Digest:
    """A file that keeps nothing but a checksum."""

    def __init__(self, made: Any) -> None:
        self.write = made.update


def _random_state(program: Program, executor: Executor | None) -> dict[str, Any]:
    name, keys, *rest = np.random.get_state()
    state: dict[str, Any] = {
        "numpy": [name, np.asarray(keys).tolist(), *rest],
        "python": random.getstate(),
    }
    if executor is not None:
        state["executor"] = executor.random_state(program)
    return state


def _remove_older(path: Path, step: int, keep: int) -> None:
    """Remove checkpoints beyond the newest ones; never the one of this step."""
    if keep <= 0:
        return
    for old, name in sorted(checkpoints_in(path), reverse=True)[keep:]:
        if old != step:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(path, name))
    sync_folder(os.fspath(path))


# -- loading ---------------------------------------------------------------------------------------


def checkpoints_in(path: Path) -> list[tuple[int, str]]:
    """Steps and file names of the checkpoints in a folder."""
    path = usable_path("read", path)
    try:
        names = os.listdir(path)
    except OSError as error:
        raise file_error("read", path, error) from error
    return [(int(match[1]), name) for name in names if (match := _NAME.match(name))]


def latest(path: Path) -> str | None:
    """The path of the newest checkpoint in a folder; None when there is none.

    Args:
        path: the folder.

    Raises:
        FileError: it cannot be read.
    """
    found = max(checkpoints_in(path), default=None)
    return None if found is None else os.path.join(path, found[1])


def load(
    path: Path,
    program: Program | None = None,
    scope: Scope | None = None,
    executor: Executor | None = None,
    reader: _Stateful | None = None,
) -> Checkpoint:
    """Read a checkpoint into a scope, and the state of the random numbers.

    Where several processes train together, all of them call it, and read the same file; there may
    be more of them, or fewer, than wrote it.

    The scope takes all values or, where something does not fit, none.  Where the newest checkpoint
    of a folder is damaged, the one before it is taken, with a warning.

    Args:
        path: a folder of checkpoints, or one of them.
        program: the program that goes on; without it the scope takes all variables, and the program
            of the checkpoint is in the result.
        scope: takes the values; the global scope when None.
        executor: what will run the program.
        reader: a reader of ``fluid.distributed.shard_reader``, which goes on with the samples that
            were left of the epoch.

    Returns:
        the step, the variables and the program.

    Raises:
        FileError: there is no checkpoint, or it cannot be read.
        FileFormatError: it is damaged, or a variable is missing or not as declared; says which.
    """
    first = _together(lambda: _newest(path), only_first=True)
    step = groups.get().broadcast(np.array([0 if first is None else first.step]), 0, 0)[0]

    def read() -> tuple[Checkpoint, dict[str, Any]]:
        checkpoint = first
        if checkpoint is None:  # the file that process 0 has found
            is_folder = os.path.isdir(path)
            checkpoint = read_checkpoint(
                os.path.join(path, _file_name(step)) if is_folder else path
            )
        if reader is not None and checkpoint.reader is None:
            raise FileFormatError(
                f"{checkpoint.path}: expected the state of a reader, found none; "
                "give it to save, too: checkpoint.save(..., reader=reader)"
            )
        values = checkpoint.variables if program is None else _values_for(program, checkpoint)
        return checkpoint, values

    checkpoint, values = _together(read)
    scope = global_scope() if scope is None else scope
    for name, value in values.items():
        (scope.find_var(name) or scope.var(name)).value = value
    _restore_random(checkpoint, program or checkpoint.program, executor)
    if reader is not None:
        reader.restore(checkpoint.reader)
    return checkpoint


def _newest(path: Path) -> Checkpoint:
    """The newest checkpoint that is whole."""
    if not os.path.isdir(path):
        return read_checkpoint(path)
    names = [name for _, name in sorted(checkpoints_in(path), reverse=True)]
    if not names:
        raise FileError(
            f"cannot read a checkpoint in {os.fspath(path)}: it holds none; check the path"
        )
    for number, name in enumerate(names):
        try:
            return read_checkpoint(os.path.join(path, name))
        except FileFormatError as error:
            if number == len(names) - 1:
                raise
            warn(f"{error}; an older checkpoint is taken", None)
    raise AssertionError


def _values_for(program: Program, found: Checkpoint) -> dict[str, Any]:
    """The values of a program's variables."""
    values = {}
    for var in program.list_vars():
        if not is_persistable(var):
            continue
        if var.name not in found.variables:
            raise FileFormatError(
                f"{found.path}: expected variable {var.name!r}, found {len(found.variables)} "
                "others; load a checkpoint of the same network and optimizer"
            )
        check_value(var, found.variables[var.name], var.name, found.path)
        values[var.name] = found.variables[var.name]
    return values


def _restore_random(found: Checkpoint, program: Program | None, executor: Executor | None) -> None:
    state = found.random
    try:
        version, internal, gauss = state["python"]
        random.setstate((version, tuple(internal), gauss))
        np.random.set_state(tuple(state["numpy"]))
        if executor is not None and program is not None and "executor" in state:
            drawn, rank = dict(state["executor"]), groups.get().rank
            if rank and not program.random_seed:  # each process has numbers of its own
                drawn["seed"] += rank
            executor.set_random_state(program, drawn)
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{found.path}: expected the state of the random numbers, found another one "
            f"({type(error).__name__})"
        ) from error


def is_checkpoint(path: Path) -> bool:
    """Whether a ``.npz`` file is a checkpoint."""
    try:
        with open(path, "rb") as file, open_source(path) as source:
            return _META in Archive(file, source).members
    except (FluidError, OSError):
        return False


def read_checkpoint(path: Path) -> Checkpoint:
    """What a checkpoint holds; its checksums are compared.

    Args:
        path: the file.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it is no checkpoint, or damaged; says where.
    """
    with open_source(path) as source:
        try:
            file = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise file_error("read", path, error) from error
        with file:
            archive = Archive(file, source)
            meta = _description(archive)
            checkpoint = Checkpoint(os.fspath(path), meta["step"], {}, random=meta["random"])
            checkpoint.reader = meta.get("reader")
            for name, said in meta["variables"].items():
                checkpoint.variables[name] = _read_variable(archive, name, said)
            with archive.open(_PROGRAM, packed=False) as entry:
                text = entry.rest("the program")
            if hashlib.sha256(text).hexdigest() != meta["program"].get("sha256"):
                archive.source.fail("the program that was saved", "another one", 0)
    try:
        checkpoint.program = Program.parse(text.decode("utf-8"))
    except (ParseError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"{checkpoint.path}: expected a program, found {with_short_quotes(str(error))}"
        ) from None
    return checkpoint


def _description(archive: Archive) -> dict[str, Any]:
    with archive.open(_META, packed=False) as entry:
        if entry.size > _LONGEST:
            entry.fail(f"a description of at most {_LONGEST} bytes", str(entry.size), 0)
        raw = entry.rest("the description")
        try:
            meta = json.loads(raw)
        except (ValueError, RecursionError) as error:
            entry.fail("a description of JSON", str(error), 0)
        right = (
            isinstance(meta, dict)
            and type(meta.get("step")) is int
            and all(isinstance(meta.get(key), dict) for key in ("variables", "random", "program"))
            and isinstance(meta.get("reader", {}), dict)
        )
        if not right:
            entry.fail("step, variables, random state and program", excerpt(raw), 0)
        if meta.get("format") != FORMAT:
            entry.fail(
                f"version {FORMAT} of the format", f"version {excerpt(meta.get('format'))}", 0
            )
    return meta


def _read_variable(archive: Archive, name: str, said: Any) -> Any:
    """The value of a variable, compared with what the description says of it."""
    shown = excerpt(name)
    if not isinstance(said, Mapping) or not isinstance(said.get("member"), str):
        archive.source.fail(f"the place of variable {shown}", excerpt(said), 0)
    with archive.open(said["member"], packed=False) as entry:
        data = read_npy(entry)
        if [str(data.dtype), list(data.shape)] != [said.get("dtype"), said.get("shape")]:
            wanted = excerpt(f"{said.get('dtype')}{said.get('shape')}")
            entry.fail(f"variable {shown} to be {wanted}", f"{data.dtype}{list(data.shape)}", 0)
        if checksum(data) != said.get("sha256"):
            entry.fail(f"the values of variable {shown} that were saved", "others", 0)
        try:
            if "rows" in said:
                return SelectedRows(said["rows"], said["height"], data)
            if "lod" in said:
                return LoDTensor(data, checked_offsets(said["lod"], len(data)))
        except (FluidError, KeyError, TypeError, ValueError, OverflowError):
            entry.fail(f"rows or LoD that fit variable {shown}", "others", 0)
    return data
