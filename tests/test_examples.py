"""Every example runs, from start to end, in its quick mode."""

import ast
import configparser
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fluidlite as fluid

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = [*sorted(ROOT.glob("examples/*.ipynb")), *sorted(ROOT.glob("docs/course/*.ipynb"))]
OPTIONAL = {"jax", "matplotlib", "mpi4py", "onnx"}
LONGEST = 150
SECONDS = 180

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def imported_packages(source):
    """The packages that a source imports."""
    wanted = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            wanted |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            wanted.add(node.module.split(".")[0])
    return wanted


def missing_packages(source):
    """Optional packages that the source imports and that are not installed."""
    wanted = imported_packages(source) & OPTIONAL
    return sorted(name for name in wanted if not importlib.util.find_spec(name))


def test_the_extra_examples_brings_what_examples_import():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    lines = extras["examples"].split() + extras["progress"].split()
    assert "fluidlite[progress]" in lines
    brought = {re.match(r"[\w-]+", line)[0] for line in lines} | {"numpy"}
    known = brought | sys.stdlib_module_names | OPTIONAL
    for path in EXAMPLES:
        assert imported_packages(path.read_text(encoding="utf-8")) <= known, path.name


@every_example
def test_the_example_runs_in_quick_mode(path, tmp_path):
    missing = missing_packages(path.read_text(encoding="utf-8"))
    if missing:
        pytest.skip(f"{path.name} needs {', '.join(missing)}")
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(path), "--quick"],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": search, "FLUIDLITE_STRICT": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{path.name} ended with {done.returncode}:\n{done.stdout}"


@every_example
def test_the_example_is_short_and_says_what_it_shows(path):
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") < LONGEST
    assert ast.get_docstring(ast.parse(source)), f"{path.name} has no docstring"


def test_there_are_examples():
    assert EXAMPLES and NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_the_notebook_run_and_show_themselves(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fluid.strict()
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if missing := missing_packages("\n".join(code)):
        pytest.skip(f"{path.name} needs {', '.join(missing)}")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    assert notebook["nbformat"] == 4 and notebook["cells"][0]["cell_type"] == "markdown"
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}[{number}]", "exec"), names)
        assert cell["execution_count"], "not filled: python tests/tools/fill_notebooks.py"
        assert all(output["output_type"] != "error" for output in cell["outputs"])
        if last is not None:
            code = compile(ast.Expression(last.value), f"{path.name}[{number}]", "eval")
            shown = eval(code, names)
            filled = cell["outputs"] or shown is None
            assert filled, "not filled: python tests/tools/fill_notebooks.py"
            assert isinstance(getattr(shown, "_repr_html_", lambda: "")(), str)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_shows_what_its_cells_print(path):
    pytest.importorskip("ipykernel")
    pytest.importorskip("nbclient")
    from fill_notebooks import filled

    def printed(notebook):
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        texts = [
            "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")
            for cell in cells
        ]
        return list(zip([cell["execution_count"] for cell in cells], texts))

    told = printed(json.loads(path.read_text(encoding="utf-8")))
    assert told == printed(filled(path)), "not filled anew: python tests/tools/fill_notebooks.py"
    assert path.stat().st_size < 300_000
