"""``fluidlite check script.py``: which names of paddle or oneflow that a script uses are missing.

The script is read, not run.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import suggestion
from ..ground.console import complain, say
from . import dropped, install, installed, uninstall
from .alias import AliasModule
from .editions import is_served
from .packages import PACKAGES, package_of
from .refused import RefusedValue, instead_of, is_refused, refusal

#: packages that a script imports by short names, whatever it calls them
_WATCHED = {*PACKAGES, *map(package_of, dropped.DROPPED)}


@dataclass(frozen=True, order=True)
class Finding:
    """A missing name: where it stands, and what to write."""

    line: int
    column: int
    message: str
    works_in_run: bool = False

    def located(self, path: str) -> str:
        """The finding as a line of text."""
        return f"{path}:{self.line}:{self.column}: {self.message}"


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    argument_parser = argparse.ArgumentParser(
        prog="fluidlite check",
        description="Say which names of paddle and oneflow a script uses that are missing, "
        "and what to write instead, each once with its lines; and which modules it imports that "
        "are not installed. The script is not run.",
        epilog="The exit status is 1 where there are such names, 2 where a file cannot be read.",
    )
    argument_parser.add_argument(
        "scripts", nargs="+", metavar="SCRIPT.py", help="scripts, or folders of them"
    )
    argument_parser.add_argument(
        "--strict",
        action="store_true",
        help="also names that Python and NumPy have dropped, which work within fluidlite run",
    )
    return argument_parser


def main(words: Sequence[str]) -> int:
    """Check scripts; returns the exit status.

    Args:
        words: what stands behind ``fluidlite check``.
    """
    options = parser().parse_args(words)
    status = 0
    for path in _scripts(options.scripts):
        try:
            source = Path(path).read_bytes()
        except OSError as error:
            complain(f"can't open file {path!r}: {error.strerror}")
            return 2
        findings = check(source, path, strict=options.strict)
        status = max(status, bool(findings))
        for line in _once(findings, path):
            say(line)
        if not findings:
            say(f"{path}: nothing to change")
        for line in _once(modules_not_installed(source, path), path):
            say(line)
    return status


def _once(findings: Iterable[Finding], path: str) -> Iterator[str]:
    """A line for each message: where it is said first, and the other lines that it is about."""
    by_message: dict[str, list[Finding]] = {}
    for finding in findings:
        by_message.setdefault(finding.message, []).append(finding)
    for first, *others in by_message.values():
        lines = sorted({other.line for other in others} - {first.line})
        also = f" (also in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})"
        yield first.located(path) + (also if lines else "")


def _scripts(given: Sequence[str]) -> Iterator[str]:
    """The files that were given, and those below the folders that were."""
    for path in given:
        if Path(path).is_dir():
            yield from map(str, sorted(Path(path).rglob("*.py")))
        else:
            yield path


def check(source: str | bytes, path: str = "<script>", *, strict: bool = False) -> list[Finding]:
    """The missing names that a script uses, in the order of its lines.

    Args:
        source: the script's text.
        path: its name, for messages.
        strict: whether to find names that Python and NumPy have dropped, too.

    >>> from fluidlite.compat.check import check
    >>> text = "import paddle.fluid as fluid" + chr(10) + "fluid.layers.fcc"
    >>> [finding.message for finding in check(text)]
    ["paddle.fluid.layers has no name 'fcc'; did you mean 'fc'?"]
    """
    try:
        tree = ast.parse(source, path)
    except SyntaxError as error:
        message = f"not Python 3: {error.msg}"
        if "utf-8" in (error.msg or ""):
            message += '; write in the first line how it is encoded, as "# coding: latin-1"'
        if "print" in (error.msg or "").lower():
            message += "; 2to3, or print(...), makes it so"
        return [Finding(error.lineno or 1, error.offset or 1, message)]
    found = _read(tree).found
    return sorted(each for each in set(found) if strict or not each.works_in_run)


def modules_not_installed(source: str | bytes, path: str = "<script>") -> list[Finding]:
    """The modules that a script imports and that are nowhere, in the order of its lines: neither
    served within ``fluidlite run``, nor installed, nor beside the script.

    Args:
        source: the script's text.
        path: its name, to look beside it.

    >>> from fluidlite.compat.check import modules_not_installed
    >>> [finding.message for finding in modules_not_installed("import paddlehub, six, numpy")]
    ["module 'paddlehub' is not installed"]
    """
    try:
        imported = _read(ast.parse(source, path)).imported
    except SyntaxError:
        return []
    here = Path(path).parent
    return [
        Finding(line, column, f"module {name!r} is not installed")
        for line, column, name in sorted(imported)
        if not any(
            (folder / name).is_dir() or (folder / f"{name}.py").is_file()
            for folder in (here, *here.parents)
        )
    ]


def _read(tree: ast.Module) -> _Reader:
    """What reading a script finds, while ``paddle`` is served."""
    before = installed()
    if not before:
        install(force=True, paddle="1.8")
    try:
        reader = _Reader()
        reader.visit(tree)
        reader.imported = {each for each in reader.imported if not _is_there(each[-1])}
    finally:
        if not before:
            uninstall()
    return reader


def _is_there(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return module in sys.modules or find_spec(module) is not None
    except (ImportError, ValueError):
        return True


class _Reader(ast.NodeVisitor):
    """Follows what a script's names of modules mean."""

    def __init__(self) -> None:
        self.meaning: dict[str, str] = {}  # the script's name -> module or MODULE.NAME
        self.found: list[Finding] = []
        self.imported: set[tuple[int, int, str]] = set()  # line, column, first word of a module
        #: MODULE.NAME that the script makes itself, or asks for before it is used
        self._allowed: set[str] = set()
        self._caught: set[str] = set()  # errors that what is read is prepared for

    def visit_Import(self, node: ast.Import) -> None:
        """``import paddle.fluid as fluid``."""
        for alias in node.names:
            if package_of(alias.name) not in _WATCHED:
                self._other(node, alias.name)
                continue
            if package_of(alias.name) in PACKAGES and not self._module(node, alias.name):
                continue
            top = package_of(alias.name)
            self.meaning[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """``from paddle.fluid import layers``."""
        module = node.module or ""
        if node.level or package_of(module) not in _WATCHED:
            if not node.level:
                self._other(node, module)
            return
        if package_of(module) in PACKAGES and not self._module(node, module):
            return
        for alias in node.names:
            if alias.name == "*":
                continue
            full = f"{module}.{alias.name}"
            if is_served(full) or self._name(node, full, of_module=module):
                self.meaning[alias.asname or alias.name] = full

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """``fluid.layers.fc``."""
        full = self._full(node)
        if not full:
            self.generic_visit(node)
        elif isinstance(node.ctx, ast.Store):
            self._allowed.add(full)
        else:
            self._name(node, full)

    def visit_Assign(self, node: ast.Assign) -> None:
        """``layers = fluid.layers`` gives a module another name."""
        full = self._full(node.value)
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
            if full and isinstance(target, ast.Name) and not _divided(full)[1]:
                self.meaning[target.id] = full

    def visit_Call(self, node: ast.Call) -> None:
        """``getattr(fluid.layers, "fc")``."""
        name = _asked(node, "getattr")
        full = self._full(node.args[0]) if name else ""
        if full and len(node.args) == 2:
            self._name(node, f"{full}.{name}")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        """``if hasattr(fluid.layers, "fc"):``."""
        asked = {
            f"{self._full(inner.args[0])}.{name}"
            for inner in ast.walk(node.test)
            if isinstance(inner, ast.Call) and (name := _asked(inner, "hasattr"))
        }
        asked -= self._allowed
        self._allowed |= asked
        self.generic_visit(node)
        self._allowed -= asked

    visit_IfExp: Any = visit_If

    def visit_Try(self, node: ast.Try) -> None:
        """A script may be prepared for missing names."""
        before = self._caught
        self._caught = before | _caught(node)
        for tried in node.body:
            self.visit(tried)
        self._caught = before
        for other in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(other)

    def _full(self, node: ast.expr) -> str:
        """What a dotted name of the script means; an empty text where it is none of a module."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.meaning:
            return ""
        return ".".join([self.meaning[node.id], *reversed(parts)])

    def visit_Name(self, node: ast.Name) -> None:
        """A name that was imported by itself, and is used."""
        full = self.meaning.get(node.id, "")
        if isinstance(node.ctx, ast.Store):
            self.meaning.pop(node.id, None)
        elif package_of(full) in PACKAGES and not is_served(full):
            self._name(node, full)

    def visit_FunctionDef(self, node: Any) -> None:
        """What a function imports and assigns is its own."""
        around = dict(self.meaning)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                self.meaning.pop(argument.arg, None)
        self.generic_visit(node)
        self.meaning = around

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def _add(self, node: Any, message: str, works_in_run: bool = False) -> None:
        self.found.append(Finding(node.lineno, node.col_offset + 1, message, works_in_run))

    def _other(self, node: Any, module: str) -> None:
        if not self._caught & _MISSING["import"]:
            self.imported.add((node.lineno, node.col_offset + 1, package_of(module)))

    def _module(self, node: ast.AST, name: str) -> bool:
        if is_served(name):
            return True
        if not self._caught & _MISSING["import"]:
            self._add(node, f"there is no module {name}")
        return False

    def _name(self, node: ast.AST, full: str, of_module: str = "") -> bool:
        """Add a finding for a missing name; False if the name is unknown.

        Args:
            node: where it stands.
            full: the name behind that of its module.
            of_module: the module that it is imported from; an empty text elsewhere.
        """
        module, names = (of_module, [full[len(of_module) + 1 :]]) if of_module else _divided(full)
        if not names or any(full == each or full.startswith(each + ".") for each in self._allowed):
            return True
        if package_of(module) not in PACKAGES:
            if dropped.is_dropped(module, names[0]):
                short = module.replace("numpy", "np", 1)
                now = dropped.meaning(module, names[0])
                message = f"{short}.{names[0]} no longer exists; write {now}"
                self._add(node, message, works_in_run=True)
            return True
        held: Any = sys.modules.get(module) or _imported(module)
        for name in names:
            if isinstance(held, (AliasModule, type)) and not hasattr(held, name):
                if is_refused(held):
                    break
                if not self._caught & _MISSING["import" if of_module else "attribute"]:
                    self._missing(node, held, name)
                return False
            held = getattr(held, name, None)
            if not isinstance(held, (ModuleType, type)):
                break
        if not of_module and (is_refused(held) or isinstance(held, RefusedValue)):
            self._add(node, refusal(*held.__refused__))
        return True

    def _missing(self, node: ast.AST, held: Any, name: str) -> None:
        where = held.__name__
        use = instead_of(where, name)
        advice = f"; use {use}" if use else suggestion(name, _plain(dir(held)))
        self._add(node, f"{where} has no name {name!r}{advice}")


#: errors that say that something is missing
_MISSING = {"import": {"ImportError", "ModuleNotFoundError"}, "attribute": {"AttributeError"}}


def _caught(node: ast.Try) -> set[str]:
    """Names of errors that a script catches, or all where it catches whatever an import raises."""
    imports = all(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in node.body)
    caught: set[str] = set()
    for handler in node.handlers:
        names = {n.id for n in ast.walk(handler.type or node) if isinstance(n, ast.Name)}
        if handler.type is None:
            names = {"Exception"}
        caught |= names
        if imports and names & {"Exception", "BaseException"}:
            caught |= _MISSING["import"]
    return caught


def _asked(node: ast.Call, function: str) -> str:
    """The name that a call of ``getattr`` or ``hasattr`` asks for; an empty text of other calls."""
    if not isinstance(node.func, ast.Name) or node.func.id != function or len(node.args) < 2:
        return ""
    name = node.args[1]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def _plain(names: list[str]) -> Iterator[str]:
    return (name for name in names if not name.startswith("_"))


def _divided(full: str) -> tuple[str, list[str]]:
    """A dotted name as its module and what stands behind it."""
    parts = full.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if is_served(module) and not _hidden(parts[: end - 1], parts[end - 1 :]):
            return module, parts[end:]
        if module in dropped.DROPPED:
            return module, parts[end:]
    return parts[0], parts[1:]


def _hidden(above: list[str], below: list[str]) -> bool:
    """Whether a module's name means something else in the module above it, as ``fluid.data``."""
    if not above:
        return False
    return not isinstance(getattr(_imported(".".join(above)), below[0], None), ModuleType)


def _imported(module: str) -> Any:
    return __import__(module, fromlist=["*"])
