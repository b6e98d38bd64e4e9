"""Which tests a change needs: those of ``pytest --changed``.

A test file is needed if one of these holds: it changed; it imports a changed file, itself or by a
helper; it stands in the folder that mirrors a changed module's; it names a changed document or
script.  A change reaches other tests, too: the whole suite has the last word.
"""

import ast
import contextlib
import functools
import re
import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "fluidlite"
#: folders on Python's path while tests run, as setup.cfg has them
HELPERS = ("tests", "tests/aids", "tests/jobs", "tests/tools")
#: cheap, and about every file
ALWAYS = ("tests/test_layering.py", "tests/test_repository.py")
#: changes of these reach every test
EVERYWHERE = ("setup.cfg", "pyproject.toml", "tests/conftest.py")
#: an import statement at the beginning of a line; a line of a text may look so, too
STATEMENT = re.compile(
    r"^[ \t]*((?:import|from)\b[^\n(#]*(?:\((?:#[^\n]*\n|[^)#])*\))?)", re.MULTILINE
)


def changed_files(since: str) -> set[str]:
    """Files that differ from a revision, and untracked ones, relative to the root."""
    commands = (
        ["git", "diff", "--name-only", "-z", since],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    )
    names: set[str] = set()
    for command in commands:
        out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names.update(filter(None, out.split("\0")))
    return names


def is_needed(test: Path, changed: set[str]) -> bool:
    """Whether a change needs a test file.

    Args:
        test: the file.
        changed: files relative to the root.
    """
    name = test.relative_to(ROOT).as_posix()
    if name in changed or name in ALWAYS or changed.intersection(EVERYWHERE):
        return True
    if any(_mirrors(name, each) for each in changed):
        return True
    return bool(_reached(test) & changed) or any(map(_named_in(test), changed))


def _mirrors(test: str, module: str) -> bool:
    """Whether a test file mirrors a module: by its folder, or at the top level by its name."""
    path = PurePosixPath(module)
    if path.parts[0] != PACKAGE or path.suffix != ".py":
        return False
    folder = PurePosixPath("tests", *path.parts[1:-1])
    if len(folder.parts) == 1:
        return PurePosixPath(test).name.startswith(f"test_{path.stem}")
    return PurePosixPath(test).is_relative_to(folder)


def _named_in(test: Path):
    """Whether a test file names a file that is no module."""
    text = _source(test)

    def names(file: str) -> bool:
        path = PurePosixPath(file)
        return path.parts[0] in ("docs", "benchmarks", "examples") and (
            path.name in text or f'"{path.parts[0]}"' in text
        )

    return names


@functools.cache
def _reached(file: Path) -> frozenset[str]:
    """The files that a test file imports, and those that helpers among them import in turn."""
    reached: set[str] = set()
    waiting = [file]
    while waiting:
        for name in _imports(waiting.pop()) - reached:
            reached.add(name)
            if not name.startswith(PACKAGE):
                waiting.append(ROOT / name)
    return frozenset(reached)


@functools.cache
def _imports(file: Path) -> frozenset[str]:
    """The files of the repository that a file's import statements name; those of scripts that it
    holds as texts, too.
    """
    modules: set[str] = set()
    for node in map(_parsed, STATEMENT.findall(_source(file))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = node.module or ""
            if node.level:
                package = file.relative_to(ROOT).parts[: -node.level]
                stem = ".".join(filter(None, [*package, stem]))
            modules.update([stem, *(f"{stem}.{alias.name}" for alias in node.names)])
    return frozenset(found for module in modules if (found := _file_of(module)))


def _parsed(statement: str) -> ast.stmt | None:
    with contextlib.suppress(SyntaxError):  # of prose
        return ast.parse(statement).body[0]
    return None


@functools.cache
def _file_of(module: str) -> str | None:
    path = module.replace(".", "/")
    for folder in ("", *HELPERS):
        for name in (f"{path}.py", f"{path}/__init__.py"):
            there = (PurePosixPath(folder) / name).as_posix()
            if (ROOT / there).is_file():
                return there
    return None


@functools.cache
def _source(file: Path) -> str:
    return file.read_text(encoding="utf-8")
