"""Saved models that are changed: read whole, and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FileError, FileFormatError, UsageError
from ..ground.files import Transaction, inside
from ..ground.values import LoDTensor, SelectedRows
from ..io.any_file import ONNX_ENDING, read_file
from ..io.contents import COMBINED, Contents, saved_names
from ..io.conversion import checked_format, write_contents
from ..io.inference import append_fetch_ops, prepend_feed_ops
from ..io.variables import write_variables
from ..ir.program import Program
from ..ir.text import program_text
from ..onnx import export, load
from ..onnx.contents import contents_of
from ..proto.state import MODELS, stem_of
from ..scope import Scope

_TEXT = "program text"
_WITH_PROGRAM = ("program", "separate", "text")
_ENDINGS = f".pdmodel, .txt, {ONNX_ENDING}"


@dataclass(frozen=True)
class SavedModel:
    """A program from a file, and the values of its variables.

    path: what was named.
    program: what the file holds.
    values: name -> array, LoDTensor or SelectedRows.
    contents: all that was read.
    """

    path: str
    program: Program
    values: Mapping[str, Any]
    contents: Contents

    def scope(self) -> Scope:
        """A new scope that holds the values."""
        scope = Scope()
        for name, value in self.values.items():
            scope.var(name).value = value
        return scope

    def becoming(self, program: Program, values: Mapping[str, Any]) -> SavedModel:
        """Another program with those of the values that it reads.

        Args:
            program: the other one.
            values: as many as there are.

        Raises:
            FileFormatError: this model has values, and one of that program's variables has none, or
                one of another shape or element type.
        """
        names = saved_names(program)
        own = {name: values[name] for name in names if name in values}
        lacking = [repr(name) for name in names if name not in own]
        if self.values and lacking:
            more = ", ..." if len(lacking) > 5 else ""
            raise FileFormatError(
                f"the changed program has variables whose values {self.path} does not hold: "
                f"{', '.join(lacking[:5])}{more}; give them by --values FILE"
            )
        faults = value_faults(program, own)
        if faults:
            raise FileFormatError(f"{self.path}: {'; '.join(faults[:5])}")
        return SavedModel(self.path, program, own, self.contents)


def value_faults(program: Program, values: Mapping[str, Any]) -> list[str]:
    """In what values do not fit the declarations of their variables, in words."""
    faults = []
    for variable in program.list_vars():
        value = values.get(variable.name)
        if value is None or not variable.persistable:
            continue
        data = value.value if isinstance(value, SelectedRows) else value
        array = np.asarray(data.data if isinstance(data, LoDTensor) else data)
        if variable.has_dtype and array.dtype != variable.dtype.dtype:
            faults.append(
                f"the value of {variable.name!r} is of {array.dtype}, declared is "
                f"{variable.dtype.plain}"
            )
        declared = variable.shape if variable.has_shape else None
        if declared is None or isinstance(value, SelectedRows):
            continue
        fits = len(declared) == array.ndim and all(
            n in (-1, size) for n, size in zip(declared, array.shape)
        )
        if not fits:
            faults.append(
                f"the value of {variable.name!r} has the shape {list(array.shape)}, declared is "
                f"{list(declared)}"
            )
    return faults


def read_model(path: str) -> SavedModel:
    """A program, and the values that lie beside it.

    Args:
        path: a program, as a file or a text; a model, or its folder; a model of ONNX.

    Raises:
        FileError: it cannot be read, or holds no program; says why.
    """
    if path.endswith(ONNX_ENDING):
        model = load(path, scope=Scope())
        contents = contents_of(path, model)
        served = model.program.clone()
        prepend_feed_ops(served, model.feeds)
        append_fetch_ops(served, [variable.name for variable in model.fetches])
        contents.program = served
        contents.others.clear()
        names = saved_names(served)
        contents.variables = {name: contents.variables[name] for name in names}
    else:
        contents = read_file(path)
    if contents.program is None:
        raise FileError(f"{path}: expected a program, found {contents.kind}")
    return SavedModel(path, contents.program, contents.variables, contents)


def check_target(target: str, sources: Sequence[SavedModel]) -> None:
    """Refuse to write over what was read, and to write what holds no program.

    Args:
        target: what is to be written.
        sources: what was read.

    Raises:
        UsageError: says what to do.
        ArgumentError: the format is unknown.
    """
    same = next(
        (source for source in sources if is_source(target, source.path, source.contents)), None
    )
    if same is not None:
        here = "" if _is_pir(same) else ", or say --in-place instead of -o"
        raise UsageError(f"{target} is what was read; write it elsewhere{here}")
    shared = next((each for each in sources if _shares_values(target, each)), None)
    if shared is not None:
        raise UsageError(
            f"{target} would take its values from {shared.path}.pdiparams, and overwrite those of "
            "the model that was read; write it elsewhere, or under another name"
        )
    crowded = next((source for source in sources if _has_no_room_beside(target, source)), None)
    if crowded is not None:
        raise UsageError(
            f"{target} lies in the folder of {crowded.path}, whose files are found by being alone "
            "there; write it elsewhere"
        )
    if (
        not target.endswith(ONNX_ENDING)
        and checked_format(target, None, _ENDINGS) not in _WITH_PROGRAM
    ):
        raise UsageError(
            f"{target!r} has no room for a program; name a folder/, a .pdmodel, .txt or .onnx file"
        )


def write_model(model: SavedModel, target: str) -> str:
    """Write a changed model to another place, all of it or nothing.

    Args:
        model: the changed model.
        target: its ending says the format; a folder ends with a slash.

    Returns:
        what was written, in words.

    Raises:
        ArgumentError, FileError: the target has no room for it, or cannot be written.
    """
    if target.endswith(ONNX_ENDING):
        return str(export(model.program, target, scope=model.scope()))
    wanted = checked_format(target, None, _ENDINGS)
    kind, values = model.contents.kind, dict(model.values)
    write_contents(Contents(model.path, kind, values, model.program), target, wanted)
    lost = ", without the values of its variables" if wanted == "text" and values else ""
    return f"{target}{lost}"


def check_in_place(model: SavedModel) -> None:
    """Refuse to write over what is no program or model alone, or of a form that is read only.

    Raises:
        UsageError: says what to do.
    """
    if _is_pir(model):
        raise UsageError(
            f"{model.path} is a program of Paddle 3, a form that is read and not written; write "
            "the changed one in the form of Paddle 2 or as a text: -o NAME.pdmodel, or -o NAME.txt"
        )
    if model.contents.files is None and not model.path.endswith(ONNX_ENDING):
        raise UsageError(
            f"{model.path} ({model.contents.kind}) holds more than a program and its values; write "
            "the changed one elsewhere: -o folder/"
        )


def write_in_place(model: SavedModel) -> str:
    """Write a changed model to where it was read from, in the same files.

    Args:
        model: made of what was read by :meth:`SavedModel.becoming`.

    Returns:
        what was written, in words.

    Raises:
        UsageError: a value would take the place of another file.
        FileError: it cannot be written.
    """
    contents, places = model.contents, model.contents.files
    if places is None:
        return str(export(model.program, model.path, scope=model.scope()))
    folder = os.path.dirname(places.program)
    if contents.kind != _TEXT and not places.values:
        _check_free(folder, contents.variables, model.values)
    with Transaction() as files:
        if contents.kind == _TEXT:
            files.write(places.program, program_text(model.program).encode("utf-8"))
        else:
            files.write(places.program, model.program.to_bytes())
            write_variables(files, folder, sorted(model.values.items()), places.values or None)
    if contents.kind != _TEXT:
        _remove_old(folder, places.values, contents.variables, model.values)
    return places.program


def _check_free(folder: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to write a value over a file that is none of the model's values.

    Raises:
        UsageError: names it.
    """
    for name in after:
        path = inside(folder, name)
        if name not in before and os.path.exists(path):
            raise UsageError(
                f"{path} is there, and is no value of the model; rename {name!r}, or write the "
                "model elsewhere: -o folder/"
            )


def _remove_old(
    folder: str, combined: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Remove the files of values that the model has no more."""
    if combined:
        old = [] if after else [os.path.join(folder, combined)]
    else:
        old = [inside(folder, name) for name in before if name not in after]
    for path in old:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def is_source(target: str, path: str, contents: Contents) -> bool:
    """Whether a target is what was read, or the folder that holds it.

    Args:
        target: what is to be written.
        path: what was named to be read.
        contents: all that was read.
    """
    places = contents.files
    known = {path, contents.path}
    if places is not None:
        known.add(places.program)
        known.add(stem_of(places.program))
        if os.path.basename(places.program) == "__model__":
            known.add(os.path.dirname(places.program) or os.curdir)
    return any(is_same_file(target, each) for each in known)


def _is_pir(model: SavedModel) -> bool:
    """Whether a model was read from the form of Paddle 3."""
    return model.contents.files is not None and model.contents.files.is_pir


def _shares_values(target: str, source: SavedModel) -> bool:
    """Whether a target's values would lie in the file of those of a source."""
    places = source.contents.files
    if places is None or not places.values or not target.endswith(MODELS):
        return False
    values = os.path.join(os.path.dirname(places.program), places.values)
    return is_same_file(stem_of(target) + COMBINED, values)


def _has_no_room_beside(target: str, source: SavedModel) -> bool:
    """Whether a target lies in a folder that holds a program and one file of values alone."""
    places = source.contents.files
    if places is None or not places.values or places.program.endswith(MODELS):
        return False
    folder = os.path.realpath(os.path.dirname(places.program) or os.curdir)
    return os.path.realpath(target).startswith(folder + os.sep)


def is_same_file(path: str, other: str) -> bool:
    """Whether two paths are those of one file or folder, be it there or not."""
    try:
        return os.path.realpath(path) == os.path.realpath(other)
    except ValueError:  # who writes to it says what no path is
        return False
