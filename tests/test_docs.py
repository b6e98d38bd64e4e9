"""What the documentation shows works: blocks of Python, examples in docstrings, links.

Blocks marked ``python`` run in order, those of a file in one namespace; a block of ``>>>`` lines
is checked for what it prints.  After the comment ``<!-- no-run -->`` a block only has to compile,
after ``<!-- needs PACKAGE -->`` it runs where the package is installed.
"""

import ast
import doctest
import importlib
import importlib.util
import inspect
import itertools
import re
import shlex
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from fluidlite.command_line.cli import main as fluid_main
from fluidlite.runtime.bound import SWITCHES_AT_JUMPS

from pages import compiled, python_blocks, split

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if path.exists()
]
PICTURES = sorted(ROOT.glob("docs/pictures/**/*.*"))
LARGEST = 50_000  # bytes of a picture
DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PICTURE = re.compile(r"\]\((?:\.\./|docs/)?pictures/([^)]+)\)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES]
)


def check_session(source, names, title, filename, line):
    """Run the ``>>>`` examples of a text and compare what they print."""
    test = doctest.DocTestParser().get_doctest(source, names, title, filename, line)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    output = []
    runner.run(test, out=output.append, clear_globs=False)
    assert not runner.failures, "".join(output)
    names.update(test.globs)


@every_page
def test_the_python_blocks_of_the_page_run(page, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page_" + re.sub(r"\W", "_", page.stem))
    module.__file__ = str(page)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    blocks = [block for block in python_blocks(page) if block.runs]
    for block in blocks:
        if block.missing:
            continue
        if block.code.lstrip().startswith(">>>"):
            check_session(block.code, vars(module), page.name, str(page), block.line - 1)
        else:
            exec(compiled(block, page), vars(module))
    shown = set(PICTURE.findall(text))
    drawn = {path.name for path in tmp_path.iterdir()}
    drawn |= {name for block in blocks if block.missing for name in shown if name in block.code}
    assert shown <= drawn, "the pictures of a page are drawn by its code"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_small_and_a_page_or_an_example_draws_it(picture):
    assert picture.stat().st_size < LARGEST
    pages = any(picture.name in PICTURE.findall(page.read_text(encoding="utf-8")) for page in PAGES)
    assert pages or any(ROOT.glob(f"examples/**/{picture.stem}.*"))


@every_page
def test_the_python_blocks_of_the_page_that_do_not_run_compile(page):
    for block in python_blocks(page):
        if (not block.runs or block.missing) and not block.code.lstrip().startswith(">>>"):
            compiled(block, page)


def slug(heading):
    """The anchor that a heading gets on the usual forges."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    _, prose = split(page.read_text(encoding="utf-8"))
    names, seen = set(), {}
    for line in prose:
        if heading := re.match(r"#+ +(.*?)(?: +#+)?$", line):
            name = slug(heading[1])
            count = seen[name] = seen.get(name, -1) + 1
            names.add(f"{name}-{count}" if count else name)
        names.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return names


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_the_links_of_the_page_lead_somewhere(page):
    _, prose = split(page.read_text(encoding="utf-8"))
    broken = []
    for number, line in enumerate(prose, 1):
        line = re.sub(r"`[^`]*`", lambda code: "`" * len(code[0]), line)
        for target in LINK.findall(line) + IMAGE.findall(line):
            if re.match(r"[a-z][a-z+.-]*:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists() or not file.is_relative_to(ROOT):
                broken.append(f"{page.name}, line {number}: no file {name}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                broken.append(f"{page.name}, line {number}: no heading {anchor} in {file.name}")
    assert not broken, "\n" + "\n".join(broken)


def docstrings():
    """Every docstring of the package that holds an example; found without importing anything."""
    for path in sorted((ROOT / "fluidlite").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        if ">>>" in text:
            yield from docstrings_in(ast.parse(text), module, "", path)


def docstrings_in(node, module, qualname, path):
    if isinstance(node, ast.Module | DEFINITIONS):
        text = ast.get_docstring(node, clean=False)
        if text and ">>>" in text:
            line = node.body[0].end_lineno - text.count("\n") - 1
            title = f"{module}.{qualname}" if qualname else module
            yield pytest.param(module, title, text, path, line, id=title)
    statements = [getattr(node, name, ()) for name in ("body", "handlers", "orelse", "finalbody")]
    for child in itertools.chain(*statements):
        name = getattr(child, "name", None) if isinstance(child, DEFINITIONS) else None
        inner = ".".join(filter(None, [qualname, name]))
        yield from docstrings_in(child, module, inner, path)


def completed(written):
    """Public names whose example their family, or another spelling, gives.

    Args:
        written: the names of what has an example of its own.
    """
    seen = set()
    for face in FACES:
        module = importlib.import_module(face)
        for name in vars(module).get("__all__", ()):
            public = inspect.unwrap(getattr(module, name))
            text = getattr(public, "__doc__", None) or ""
            owner = getattr(public, "__module__", face)
            title = f"{owner}.{getattr(public, '__qualname__', name)}"
            if ">>>" in text and title not in written and title not in seen:
                seen.add(title)
                place = sys.modules.get(owner, module)
                yield pytest.param(place.__name__, title, text, place.__file__, 0, id=title)


FACES = (
    "fluidlite", "fluidlite.autograd", "fluidlite.dygraph", "fluidlite.flow",
    "fluidlite.flow.nn", "fluidlite.flow.nn.functional", "fluidlite.flow.optim",
    "fluidlite.layers", "fluidlite.nn", "fluidlite.nn.functional", "fluidlite.paddle",
)  # fmt: skip
WRITTEN = list(docstrings())
COMPLETED = list(completed({param.id for param in WRITTEN}))


@pytest.mark.parametrize("module, title, text, path, line", WRITTEN + COMPLETED)
def test_the_examples_of_the_docstring_print_what_they_show(
    module, title, text, path, line, tmp_path, monkeypatch
):
    for package in re.findall(r"^ *>>> import (jax|onnx)$", text, re.MULTILINE):
        pytest.importorskip(package)
    if "bound_call" in text and SWITCHES_AT_JUMPS:
        pytest.skip("Python 3.10 has calls of another form")
    monkeypatch.chdir(tmp_path)
    names = {"fluid": importlib.import_module("fluidlite"), "np": np, "__name__": title}
    names = {**vars(importlib.import_module(module)), **names}
    check_session(shown(module, title) or text, names, title, str(path), line)


def shown(module, title):
    """The docstring as ``help`` shows it, where it has an example: with what its family says."""
    found = importlib.import_module(module)
    for name in title[len(module) + 1 :].split("."):
        found = getattr(found, name, None) if name else found
    text = found.__doc__ or ""
    return text if ">>>" in text else None


def test_the_commands_of_the_readme_run_on_what_its_code_saves(tmp_path, monkeypatch, capsys):
    page = ROOT / "README.md"
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in python_blocks(page):
        exec(compiled(block, page), names)
    shells = [
        block.code for block in split(page.read_text(encoding="utf-8"))[0] if not block.language
    ]
    lines = [line for code in shells for line in code.splitlines()]
    commands = [line for line in lines if line.startswith("fluidlite ")]
    capsys.readouterr()
    for command in commands:
        assert not fluid_main(shlex.split(command)[1:])
    assert [command.split()[1] for command in commands] == ["draw", "run"]
    assert "[[0.7" in capsys.readouterr().out  # a quarter and a half
    assert (tmp_path / "line.svg").stat().st_size > 1000
