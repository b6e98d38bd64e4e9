"""``fluidlite run script.py``: a program for paddle or OneFlow, as Python runs a script."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec, module_from_spec
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, cast
from zipimport import ZipImportError, zipimporter

if TYPE_CHECKING:
    from importlib.abc import InspectLoader

from ..ground.console import complain
from ..ground.interrupts import as_python_does
from ..ground.options import add_repeated
from ..opdef.effect import KINDS
from . import AliasError, install, rewriting
from .editions import EDITIONS

_HERE = os.path.dirname(os.path.abspath(__file__))
_MAIN = "__main__"
_STDIN = "-"  # the script is what is written to this process


def parser() -> argparse.ArgumentParser:
    """What stands behind ``fluidlite run`` before the script's own arguments."""
    argument_parser = argparse.ArgumentParser(
        prog="fluidlite run",
        description="Run a script that was written for paddle 1.8, for paddle 2, or for OneFlow.",
        epilog="What stands behind the script's name is the script's.",
    )
    argument_parser.add_argument(
        "--strict", action="store_true", help="without names that Python and NumPy have dropped"
    )
    argument_parser.add_argument(
        "--synthetic-data", action="store_true", help="paddle.dataset makes samples, reads no files"
    )
    argument_parser.add_argument(
        "--force", action="store_true", help="even where another paddle or oneflow can be imported"
    )
    about = "an effect that programs which the script reads may have"
    add_repeated(argument_parser, "--allow", about, choices=[*KINDS])
    argument_parser.add_argument(
        "--paddle",
        choices=EDITIONS,
        help="the version that names mean which both have; what the script uses first decides",
    )
    argument_parser.add_argument(
        "-m", dest="module", action="store_true", help="SCRIPT is a module's name, as for Python"
    )
    argument_parser.add_argument(
        "script",
        metavar="SCRIPT",
        help="a file, a folder or an archive with a __main__.py, or - to read it from the input",
    )
    argument_parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments"
    )
    return argument_parser


def is_script(path: str) -> bool:
    """Whether a path is that of a script in Python, not of a saved program; its content says so."""
    if is_package(path):
        return True
    if not os.path.isfile(path):
        return path.endswith(".py")
    with open(path, "rb") as file:
        start = file.read(1 << 20)
    if path.endswith(".py") or (start.startswith(b"#!") and b"python" in start.split(b"\n")[0]):
        return True
    if b"\0" in start:
        return False
    try:
        text = start.decode("utf-8")
        rewriting.compiled(text, path)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(line.lstrip().startswith(("import ", "from ")) for line in text.splitlines())


def is_package(path: str) -> bool:
    """Whether Python runs a folder or an archive: its ``__main__`` is what is run."""
    if os.path.isdir(path):
        return any(os.path.isfile(os.path.join(path, _MAIN + end)) for end in (".py", ".pyc"))
    if not os.path.isfile(path) or path.endswith(".py"):
        return False
    try:
        return zipimporter(path).find_spec(_MAIN) is not None
    except ZipImportError:
        return False


def main(words: Sequence[str]) -> int:
    """Run a script; returns the exit status.

    Args:
        words: what stands behind ``fluidlite run``.
    """
    options = parser().parse_args(words)
    path = options.script
    source = b""
    is_folder = not options.module and is_package(path)
    try:
        if path == _STDIN:
            source = sys.stdin.buffer.read()
        elif not options.module and not is_folder:
            with open(path, "rb") as file:
                source = file.read()
    except OSError as error:
        complain(f"can't open file {path!r}: {error.strerror}")
        return 2
    # A plain run has the script's folder first; ``python -m`` had put the working folder there.
    if sys.path and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.abspath(path) if is_folder else _folder(path, options.module)
    sys.argv = [path, *options.arguments]
    try:
        install(
            force=options.force,
            synthetic_data=options.synthetic_data,
            dropped_names=not options.strict,
            allow=options.allow,
            paddle=options.paddle,
        )
    except AliasError as error:
        complain(f"{error}")
        return 1
    if options.module:
        return _reported(partial(_run_module, path))
    if is_folder:
        return _reported(partial(_run_package, os.path.abspath(path)))
    if path == _STDIN:
        return _reported(partial(_run, "<stdin>", source, options.strict))
    return _reported(partial(_run, os.path.abspath(path), source, options.strict))


def _folder(path: str, is_module: bool) -> str:
    """Where a plain run looks for modules first."""
    if path == _STDIN:
        return ""
    return os.getcwd() if is_module else os.path.dirname(os.path.realpath(path))


def _run_module(name: str) -> int:
    try:
        found = find_spec(name)
    except (ImportError, AttributeError, ValueError):
        found = None
    if found is None:
        complain(f"no module named {name}")
        return 1
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _run_package(path: str) -> int:
    """Run what a folder or an archive holds; what finds modules compiles it as it does others."""
    held = sys.modules.pop(_MAIN)
    try:
        spec = find_spec(_MAIN)
        if spec is None or spec.loader is None:
            raise ImportError(f"can't find {_MAIN!r} module in {path!r}", name=_MAIN, path=path)
        sys.modules[_MAIN] = main_module = module_from_spec(spec)
        code = cast("InspectLoader", spec.loader).get_code(_MAIN)
    except BaseException:
        sys.modules[_MAIN] = held
        raise
    if code is not None:
        exec(code, vars(main_module))
    return 0


def _run(path: str, source: bytes, strict: bool) -> int:
    main_module = ModuleType(_MAIN)
    names: dict[str, Any] = vars(main_module)
    names.update(__file__=path, __builtins__=sys.modules["builtins"], __cached__=None)
    sys.modules[_MAIN] = main_module
    if strict:
        code = compile(source, path, "exec", dont_inherit=True)
    else:
        code = rewriting.compiled(source, path)
    exec(code, names)
    return 0


def _reported(run: Callable[[], int]) -> int:
    """Run a program, and show what it raises as Python does; of an interrupt only where it was."""
    try:
        as_python_does()
        return run()
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and sys.excepthook is sys.__excepthook__:
            _trim(error, set())
            frame = [None, *_frames(error.__traceback__)][-1]
            place = "" if frame is None else _place(frame)
            complain(f"interrupted{place}")
        else:
            _report(error)
        if isinstance(error, KeyboardInterrupt):
            sys.excepthook = _silent  # it has been shown
            raise
        return 1


def _place(frame: TracebackType) -> str:
    return f" at {frame.tb_frame.f_code.co_filename!r}, line {frame.tb_lineno}"


def _silent(*shown: object) -> None:
    """Show nothing."""


def _report(error: BaseException) -> None:
    """Show a traceback without the frames that ran the script."""
    _trim(error, set())
    hook = sys.excepthook
    if isinstance(error, SyntaxError) and error.__traceback__ is None:
        traceback.print_exception(type(error), error, None)
        return
    hook(type(error), error, error.__traceback__)


def _trim(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    frames = [
        frame
        for frame in _frames(error.__traceback__)
        if not os.path.abspath(frame.tb_frame.f_code.co_filename).startswith(_HERE + os.sep)
        or not frame.tb_frame.f_code.co_filename.endswith(_OWN)
    ]
    if isinstance(error, SyntaxError):
        frames = [frame for frame in frames if frame.tb_frame.f_globals.get("__name__") != "ast"]
    rebuilt: TracebackType | None = None
    for frame in reversed(frames):
        rebuilt = TracebackType(rebuilt, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = rebuilt
    _trim(error.__cause__, seen)
    _trim(error.__context__, seen)


#: files whose frames are none of a script's
_OWN = ("script.py", "rewriting.py")


def _frames(found: TracebackType | None) -> list[TracebackType]:
    frames = []
    while found is not None:
        frames.append(found)
        found = found.tb_next
    return frames
