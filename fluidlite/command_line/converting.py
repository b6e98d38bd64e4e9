"""The command ``fluidlite convert``: what a file or a folder holds, in another format."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..errors import UsageError
from ..export import numpy_source
from ..ground import state
from ..ground.advice import SHAPES, Advice
from ..ground.console import say
from ..ground.options import PATH, add_repeated, end_with
from ..inspect.sequence_options import add_sequences, lengths_of, zeros_in_sequences
from ..io.any_file import ONNX_ENDING, read_file
from ..io.contents import Contents, read, saved_names
from ..io.conversion import checked_format, left_out, write_contents
from ..io.inference import inference_program
from ..ir.analysis import fed_names
from ..onnx import export as export_onnx
from ..onnx import load as load_onnx
from ..onnx.contents import contents_of
from ..onnx.model import OPSET
from ..scope import Scope
from ..transform.saved_models import is_source

#: what is written by that name, with its endings
_WRITTEN = {
    "separate": "a folder, with a file for each variable and __model__ (folder/)",
    "program": "a model: .pdmodel with .pdiparams, or __model__ with a file for each variable",
    "text": "a program as text, to be read and edited (.txt)",
    "combined": "all variables in one file (.pdiparams)",
    "pdparams": "variables by name, as paddle.save writes them (.pdparams, .pdopt)",
    "npz": "variables as NumPy's arrays (.npz)",
    "npy": "one variable as an array of NumPy's (.npy)",
    "safetensors": "variables as other libraries read them (.safetensors)",
    "onnx": "a model for other runtimes (.onnx)",
    "numpy": "Python source that needs NumPy alone, with its parameters (.py)",
}
_FORMATS = "formats:\n" + "\n".join(f"  {name:<12} {what}" for name, what in _WRITTEN.items())


def add_convert(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite convert`` takes."""
    parser.description = "Write what a file or a folder holds in another format."
    end_with(parser, _FORMATS)
    parser.add_argument("source", help=PATH)
    parser.add_argument("target", help="its ending says the format; a folder ends with /")
    parser.add_argument(
        "--to", choices=[*_WRITTEN], metavar="FORMAT", help="the format, where no ending says it"
    )
    about = "of what is fed to a model of ONNX or NumPy; -1 for a size that stays unknown"
    add_repeated(parser, "--shape", about, metavar="NAME=2,3")
    add_sequences(parser, "a model of ONNX is fed")
    parser.add_argument(
        "--opset", type=int, default=OPSET, help=f"the version of ONNX's operators; {OPSET}"
    )
    parser.add_argument("--strip", action="store_true", help="leave out where operators were made")
    parser.set_defaults(run=_convert)


def _convert(given: argparse.Namespace) -> None:
    with state.reader.guard(lambda advice: _for_a_model(advice, given.source)):
        _write_converted(given)


def _for_a_model(advice: Advice, path: str) -> str:
    """Advice in words of the command, with the sizes that a model is fed."""
    if advice is not SHAPES or path.endswith(ONNX_ENDING):
        return advice.shell
    fed = _fed(path, ())
    sizes = {name: ",".join("2" if n < 0 else str(n) for n in fed[name]) for name in fed}
    options = [f"--shape {name}={sizes[name]}" for name in fed if -1 in fed[name]]
    return " ".join(options) or advice.shell


def _write_converted(given: argparse.Namespace) -> None:
    if given.to == "onnx" or (given.to is None and given.target.endswith(".onnx")):
        say(export_onnx(path=given.target, opset=given.opset, **_source(given)))
        return
    if given.to == "numpy" or (given.to is None and given.target.endswith(".py")):
        say(numpy_source(path=given.target, **_source(given)))
        return
    sites = False if given.strip else None
    wanted = checked_format(given.target, given.to)
    if given.source.endswith(ONNX_ENDING):
        contents = _from_onnx(given, wanted)
    else:
        contents = read(given.source)
        if is_source(given.target, given.source, contents):
            raise UsageError(f"{given.target} is what was read; write it elsewhere")
    write_contents(contents, given.target, wanted, sites)
    lost = left_out(contents, wanted)
    without = f", without {', '.join(lost)}" if lost else ""
    say(f"{contents.path}: {contents.kind}, written to {given.target}{without}")


def _source(given: argparse.Namespace) -> dict[str, Any]:
    """What is exported: a saved model, or one of ONNX that is loaded."""
    feeds: dict[str, Any] | None = dict(map(_shape, given.shape)) or None
    if given.sequences:
        feeds = {**_fed(given.source, given.sequences), **(feeds or {})}
    if not given.source.endswith(ONNX_ENDING):
        return dict(source=given.source, feeds=feeds)
    model = load_onnx(given.source, feeds=feeds, scope=Scope())
    ends = dict(feeds=feeds or model.feeds, fetches=model.fetches)
    return dict(source=model.program, scope=model.scope, **ends)


def _fed(path: str, sequences: Sequence[str]) -> dict[str, Any]:
    """What a saved model is fed, by name: its declared shape, or rows of zeros in sequences.

    Args:
        path: of the model.
        sequences: what the option says, one by one.
    """
    program = read_file(path).program
    if program is None:
        raise UsageError(f"--sequences is about a model that is fed; {path} holds no program")
    block = program.global_block()
    fed = fed_names(block) or [name for name, variable in block.vars.items() if variable.is_data]
    feeds: dict[str, Any] = {name: [*block.vars[name].shape] for name in fed}
    for name, levels in lengths_of(sequences, feeds).items():
        feeds[name] = zeros_in_sequences(block.vars[name], levels)
    return feeds


def _from_onnx(given: argparse.Namespace, wanted: str) -> Contents:
    """A model of ONNX to be written, as a model to be served where its program is."""
    model = load_onnx(given.source, feeds=dict(map(_shape, given.shape)), scope=Scope())
    contents = contents_of(given.source, model)
    contents.others.clear()
    if wanted in ("program", "separate"):
        program, _ = inference_program(model.program, model.feeds, model.fetches)
        names = saved_names(program)
        contents.program = program
        contents.variables = {name: contents.variables[name] for name in names}
    return contents


def _shape(text: str) -> tuple[str, list[int]]:
    """A name and its shape, from ``NAME=2,3``."""
    name, _, sizes = text.rpartition("=")
    try:
        if not name:
            raise ValueError(text)
        return name, [int(size) for size in sizes.split(",")]
    except ValueError:
        raise UsageError(f"expected --shape NAME=2,3, got {text!r}") from None
