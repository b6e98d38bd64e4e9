"""Programs and parameters in files: looked at, run, compared, drawn, written in other formats."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NoReturn

import numpy as np

from ..errors import FluidError, UnsupportedError, UsageError
from ..export import numpy_source
from ..ground import state
from ..ground.advice import SHAPES, Advice
from ..ground.console import command, complain, say, say_json
from ..ground.options import add_repeated
from ..ground.quoting import printable
from ..ground.values import LoDTensor, SelectedRows
from ..inspect import show
from ..inspect.commands import register
from ..inspect.scan import Scan, scan, scan_values, with_unread
from ..inspect.sequence_options import add_sequences, lengths_of, zeros_in_sequences
from ..io.contents import Contents, read, saved_names
from ..io.conversion import checked_format, left_out, write_contents
from ..io.inference import inference_program
from ..ir.analysis import fed_names
from ..onnx import export as export_onnx
from ..onnx import load as load_onnx
from ..onnx.contents import ENDING, contents_of, kind_of, read_file
from ..onnx.loading import survey as survey_onnx
from ..onnx.model import OPSET
from ..scope import Scope
from ..transform.certificate_command import register_certify
from ..transform.commands import register as register_changes
from ..transform.saved_models import is_source
from .cache import register_cache
from .completion import SHELLS, script

_PATH = "a file, or the folder of a saved model"
_SCRIPTS = "scripts, or folders of them"
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: what stands behind its name; those of the process when None.

    Returns:
        0; 1 where something failed, or where programs differ; 2 where the arguments are not such
        as the command takes; 3 where a program that was scanned has an effect, or an unknown
        operator.
    """
    return command(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    parser = command_parser()
    if not words:
        say(parser.format_help(), end="")
        return 0
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            options, unknown = parser.parse_known_args(words)
            if unknown:
                told = parser.prog if words[0].startswith("-") else f"{parser.prog} {words[0]}"
                raise UsageError(f"unrecognized arguments: {' '.join(unknown)}; see {told} --help")
            with state.reader.guard(attrgetter("shell")):
                return options.run(options) or 0
    except UsageError as error:
        return _failed(error, 2)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return 130  # what a shell says of a command that was interrupted
    except (FluidError, OSError, MemoryError) as error:
        return _failed(error, 1)


def _warned(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Say a warning: a command has no line that it could be of."""
    complain(f"warning: {message}")


def _failed(error: BaseException, status: int) -> int:
    """Say what was wrong; the exit status."""
    complain(str(error) or type(error).__name__)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what was wrong."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message}; see {self.prog} --help")
        raise SystemExit(2)


def command_parser() -> argparse.ArgumentParser:
    """The parser of the command's words."""
    parser = _Parser(prog="fluidlite", description=__doc__)
    version = sys.modules[__package__.partition(".")[0]].__version__
    parser.add_argument("--version", action="version", version=f"fluidlite {version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = _command(
        commands,
        _show,
        help="what a file or a folder is, and its program",
        description="What a file or a folder is, and the program that it holds, as text.",
    )
    show.add_argument("path", help=_PATH)
    show.add_argument("--detail", action="store_true", help="all attributes, whole call sites")

    scanning = _command(
        commands,
        _scan,
        help="what a program would do; runs nothing",
        description="What a program would do outside of the scope, the unknown operators, "
        "its largest tensors, loops and nesting. The exit status is 0 where it has no "
        "effect and all operators are known, 3 where it has or one is not, 1 where the file cannot "
        "be read.",
    )
    scanning.add_argument("path", help=_PATH)
    scanning.add_argument("--json", action="store_true", help="print it for scripts")

    variables = _command(
        commands,
        _vars,
        help="the variables in a file or a folder",
        description="The variables in a file or a folder: types, shapes and ranges of values.",
    )
    variables.add_argument("path", help=_PATH)
    variables.add_argument("names", nargs="*", help="print the values of these")

    conversion = _command(
        commands,
        _convert,
        help="the same in another format",
        description="Write what a file or a folder holds in another format.",
        epilog=_FORMATS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    conversion.add_argument("source", help=_PATH)
    conversion.add_argument("target", help="its ending says the format; a folder ends with /")
    conversion.add_argument(
        "--to", choices=[*_WRITTEN], metavar="FORMAT", help="the format, where no ending says it"
    )
    about = "of what is fed to a model of ONNX or NumPy; -1 for a size that stays unknown"
    add_repeated(conversion, "--shape", about, metavar="NAME=2,3")
    add_sequences(conversion, "a model of ONNX is fed")
    conversion.add_argument(
        "--opset", type=int, default=OPSET, help=f"the version of ONNX's operators; {OPSET}"
    )
    conversion.add_argument(
        "--strip", action="store_true", help="leave out where operators were made"
    )
    register(commands)
    register_certify(commands)
    register_changes(commands)
    checking = _command(
        commands,
        _check,
        help="which names of fluid 1.8 a script uses that are missing",
        description="Say which names of fluid 1.8 a script uses that are missing.",
    )
    checking.add_argument("scripts", nargs="+", metavar="SCRIPT.py", help=_SCRIPTS)
    checking.add_argument("--strict", action="store_true", help="also what Python dropped")
    register_cache(commands)

    completing = _command(
        commands,
        _completion,
        help="what a shell reads to complete these words",
        description='Print what completes these words. In ~/.bashrc: eval "$(fluidlite completion '
        'bash)"; the same with zsh; for fish: fluidlite completion fish > '
        "~/.config/fish/completions/fluidlite.fish.",
    )
    completing.add_argument("shell", choices=[*SHELLS], help="which shell reads it")
    return parser


def _command(
    commands: Any,
    run: Callable[[argparse.Namespace], Any],
    help: str,
    description: str,
    **more: Any,
) -> argparse.ArgumentParser:
    """Add a command, whose name is that of the function that runs it."""
    parser = commands.add_parser(run.__name__[1:], help=help, description=description, **more)
    parser.set_defaults(run=run)
    added: argparse.ArgumentParser = parser
    return added


def _check(given: argparse.Namespace) -> int:
    raise FluidError("the package fluidlite.compat, which checks scripts, is not installed")


def _completion(given: argparse.Namespace) -> None:
    say(script(given.shell, command_parser()), end="")


def _show(given: argparse.Namespace) -> None:
    contents = read_file(given.path)
    say(f"{contents.path}: {contents.kind}")
    for name, value in contents.others.items():
        say(f"{name}: {value}")
    if contents.variables:
        sizes = sum(_data(value).nbytes for value in contents.variables.values())
        say(f"{len(contents.variables)} variables, {sizes} bytes")
    if contents.program is not None:
        show(contents.program, detail=given.detail)
    elif contents.variables:
        _table(contents)


def _scan(given: argparse.Namespace) -> int:
    path, kind, findings = _scanned(given.path)
    if given.json:
        say_json({"path": path, "kind": kind, **findings.to_dict()}, indent=2)
    else:
        say(f"{path}: {kind}")
        say(findings)
    return 3 if findings else 0


def _scanned(path: str) -> tuple[str, str, Scan]:
    """The path and the kind of a file, and what it would do."""
    try:
        contents = read_file(path)
    except UnsupportedError:
        if not path.endswith(ENDING):
            raise
        model = survey_onnx(path)
        unread = ((e.type or e.place, e.place, e.reason) for e in model.unread)
        return path, kind_of(model.opset), with_unread(scan(model.program), unread)
    program = contents.program
    found = scan_values(contents.variables) if program is None else scan(program)
    return contents.path, contents.kind, found


def _vars(given: argparse.Namespace) -> None:
    contents = read_file(given.path)
    if not contents.variables and contents.program is not None:
        for block in contents.program.blocks:
            for variable in block.vars.values():
                say(repr(variable)[1:-1])
        return
    if not given.names:
        _table(contents)
    for name in given.names:
        if name not in contents.variables:
            known = ", ".join(contents.variables)
            raise FluidError(f"{contents.path} holds no variable {name!r}; it holds {known}")
        say(f"{printable(name)} {_described(contents.variables[name])}")
        say(_data(contents.variables[name]))


def _convert(given: argparse.Namespace) -> None:
    with state.reader.guard(lambda advice: _for_a_model(advice, given.source)):
        _write_converted(given)


def _for_a_model(advice: Advice, path: str) -> str:
    """Advice in words of the command, with the sizes that a model is fed."""
    if advice is not SHAPES or path.endswith(ENDING):
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
    if given.source.endswith(ENDING):
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
    if not given.source.endswith(ENDING):
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


def _table(contents: Contents) -> None:
    """A line for each variable: its name, what it is, the range of its values."""
    shown = {printable(name): value for name, value in contents.variables.items()}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        say(f"{name:<{width}}  {_described(value):<24}  {_range(_data(value))}".rstrip())


def _described(value: Any) -> str:
    data = _data(value)
    text = f"{data.dtype}{list(data.shape)}"
    if isinstance(value, LoDTensor):
        return f"{text} lod={value.lod()}"
    if isinstance(value, SelectedRows):
        return f"{text}, rows {value.rows()} of {value.height()}"
    return text


def _data(value: Any) -> Any:
    if isinstance(value, SelectedRows):
        return value.value
    return value.data if isinstance(value, LoDTensor) else value


def _range(data: Any) -> str:
    if not data.size or data.dtype.kind not in "iuf":
        return ""
    if data.size == 1:
        return f"{data.reshape(-1)[0]:.6g}"
    text = f"{data.min():.6g} to {data.max():.6g}"
    bad = data.size - int(np.isfinite(data).sum())
    return text + (f", {bad} not finite" if bad else f", mean {data.mean(dtype='float64'):.6g}")
