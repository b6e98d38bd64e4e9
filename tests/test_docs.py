"""What the documentation shows works: blocks of Python, examples in docstrings, links.

Blocks marked ``python`` run in order, those of a file in one namespace; a block of ``>>>`` lines is
checked for what it prints.  After the comment ``<!-- no-run -->`` a block only has to compile.
"""

import ast
import doctest
import importlib
import inspect
import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fluidlite import layers

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if path.exists()
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DRAWS = "import matplotlib"
NO_RUN = "<!-- no-run -->"
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+|~~~+) *(?P<language>[\w+-]*)[^\n]*$")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES]
)


@dataclass(frozen=True)
class CodeBlock:
    language: str
    line: int  # of the first line of code, from 1
    code: str
    runs: bool


def split(text):
    """The fenced blocks of a page, and its other lines with fenced ones left blank."""
    blocks, prose, opened, runs = [], [], None, True
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened, start, code = fence, number + 1, []
            prose.append("")
        elif opened is None:
            prose.append(line)
            if line.strip():
                runs = line.strip() != NO_RUN
        elif fence and fence["ticks"].startswith(opened["ticks"]) and not fence["language"]:
            blocks.append(CodeBlock(opened["language"], start, "\n".join(code) + "\n", runs))
            opened, runs = None, True
            prose.append("")
        else:
            code.append(line.removeprefix(opened["indent"]))
            prose.append("")
    assert opened is None, f"the block opened in line {start - 1} is not closed"
    return blocks, prose


def python_blocks(page):
    blocks, _ = split(page.read_text(encoding="utf-8"))
    return [block for block in blocks if block.language in ("python", "py", "pycon")]


def compiled(block, page):
    """The block as code whose tracebacks show the page's own lines."""
    return compile("\n" * (block.line - 1) + block.code, str(page), "exec", dont_inherit=True)


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
    if DRAWS in page.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    module = types.ModuleType("page_" + re.sub(r"\W", "_", page.stem))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in python_blocks(page):
        if not block.runs:
            continue
        if block.code.lstrip().startswith(">>>"):
            check_session(block.code, vars(module), page.name, str(page), block.line - 1)
        else:
            exec(compiled(block, page), vars(module))
    shown = re.findall(r"\]\((?:\.\./)?pictures/([^)]+)\)", page.read_text(encoding="utf-8"))
    drawn = [path.name for path in (tmp_path / "pictures").iterdir()]
    assert sorted(drawn) == sorted(shown), "the pictures of a page are drawn by its code"


@every_page
def test_the_python_blocks_of_the_page_that_do_not_run_compile(page):
    for block in python_blocks(page):
        if not block.runs and not block.code.lstrip().startswith(">>>"):
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
    "page",
    [*PAGES, ROOT / "CHANGELOG.md"],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
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
        yield from docstrings_in(ast.parse(path.read_text(encoding="utf-8")), module, "", path)


def docstrings_in(node, module, qualname, path):
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(node, clean=False)
        if text and ">>>" in text:
            line = node.body[0].end_lineno - text.count("\n") - 1
            title = f"{module}.{qualname}" if qualname else module
            yield pytest.param(module, title, text, path, line, id=title)
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", None)
        inner = ".".join(filter(None, [qualname, name])) if isinstance(name, str) else qualname
        yield from docstrings_in(child, module, inner, path)


def completed(written):
    """Docstrings of layers whose example their family gives.

    Args:
        written: the names of what has an example of its own.
    """
    for name in layers.__all__:
        text, made = getattr(layers, name).__doc__, inspect.unwrap(getattr(layers, name))
        title = f"{made.__module__}.{made.__qualname__}"
        if ">>>" in (text or "") and title not in written:
            path, line = inspect.getsourcefile(made), inspect.getsourcelines(made)[1]
            yield pytest.param(made.__module__, title, text, path, line, id=title)


WRITTEN = list(docstrings())
COMPLETED = list(completed({param.id for param in WRITTEN}))


@pytest.mark.parametrize("module, title, text, path, line", WRITTEN + COMPLETED)
def test_the_examples_of_the_docstring_print_what_they_show(
    module, title, text, path, line, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    names = {"fluid": importlib.import_module("fluidlite"), "np": np, "__name__": title}
    names = {**vars(importlib.import_module(module)), **names}
    check_session(text, names, title, str(path), line)
