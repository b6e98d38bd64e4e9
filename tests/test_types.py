"""What type checkers know: stubs agree with the package, and scripts have types."""

import ast
import importlib.util
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def stubs():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "docs" / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", stubs().STUBS)
def test_stubs_say_what_the_package_has(name):
    made = stubs()
    text = (made.PACKAGE / name).read_text(encoding="utf-8")
    assert text == made.HEAD + made.STUBS[name](), "run python docs/stubs.py"


def revealed(source):
    """The source, with the type of every call that is a statement or is given a name."""
    lines = source.splitlines()
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Assign, ast.Expr)) and isinstance(node.value, ast.Call)
    ]
    for node in sorted(calls, key=lambda each: -each.lineno):
        text = " " * node.col_offset + f"reveal_type({ast.unparse(node.value)})"
        lines.insert(node.lineno - 1, text)
    return "\n".join(lines)


def readme_blocks():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join(part.partition("```")[0] for part in text.split("```python\n")[1:])


def checked(folder, **files):
    """What basedpyright says of files."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("needs basedpyright")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    options = {
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "basic",
        "pythonVersion": "3.10",
        "reportMissingImports": "none",
        "reportMissingModuleSource": "none",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    words = ["-m", "basedpyright", "-p", str(folder), "--outputjson", "--pythonpath"]
    done = subprocess.run(
        [sys.executable, *words, sys.executable], capture_output=True, text=True, timeout=300
    )
    return json.loads(done.stdout)["generalDiagnostics"]


def test_scripts_have_no_type_errors_and_calls_have_types(tmp_path):
    examples = {
        path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")
    }
    typical = (ROOT / "tests" / "aids" / "typical_use.py").read_text(encoding="utf-8")
    said = checked(tmp_path, readme=readme_blocks(), typical_use=revealed(typical), **examples)
    errors = [f"{each['file']}: {each['message']}" for each in said if each["severity"] == "error"]
    assert not errors
    types = [each["message"] for each in said if each["severity"] == "information"]
    assert len(types) > 40
    assert not [text for text in types if text.endswith(('is "Any"', 'is "Unknown"'))]


def test_a_name_that_variables_do_not_have_is_an_error(tmp_path):
    source = 'import fluidlite as fluid\nfluid.data("x", [1]).sun()\nfluid.layers.fcc\nfluid.Exe\n'
    said = checked(tmp_path, wrong=source)
    assert [each["range"]["start"]["line"] for each in said if each["severity"] == "error"] == [
        1,
        2,
        3,
    ]


def followers(module):
    """Functions whose type checkers infer from the function that they are made of: both."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "Final":
            source = node.value.args[node.value.func.id == "of_rank"]
            yield node.target.id, eval(ast.unparse(source), vars(module))


@pytest.mark.parametrize("face", ["fluidlite.nn.functional", "fluidlite.flow.nn.functional"])
def test_functions_have_the_signatures_that_checkers_infer(face):
    package = importlib.import_module(face)
    names = [each.name for each in pkgutil.iter_modules(package.__path__)]
    checked = 0
    for module in [importlib.import_module(f"{face}.{name}") for name in names]:
        for name, source in followers(module):
            parameters = inspect.signature(source).parameters
            told = [str(each) for each in parameters.values() if each.name != "rank"]
            made = inspect.signature(getattr(module, name)).parameters.values()
            assert list(map(str, made)) == told, f"{module.__name__}.{name}"
            checked += 1
    assert checked > 8
