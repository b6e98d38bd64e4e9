"""What users see of their mistakes: short tracebacks, warnings with their lines, names that are
explained.  Each case is a script of a user's; one process runs all of them.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mistakes import ERRORS, RIGHT, WARNINGS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "fluidlite")
SEARCH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
#: Python 3.10 raises what was caught with the line that caught it
LINES_OF_OURS = 0 if sys.version_info >= (3, 11) else 1

HEAD = "import numpy as np\nimport fluidlite as fluid\n"
RUNNER = """
import json, sys, traceback, warnings
import numpy as np
import fluidlite as fluid
from fluidlite import state

found = {}
for name, text in json.load(sys.stdin).items():
    state.reset()
    file = name.replace(" ", "_") + ".py"
    with open(file, "w") as script:
        script.write(text)
    said = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(text, file, "exec"), {"__name__": "__main__"})
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
            raised.__traceback__ = raised.__traceback__.tb_next  # this line
            said = traceback.format_exception(type(raised), raised, raised.__traceback__)
    found[name] = {
        "error": error,
        "shown": "".join(said or ""),
        "warned": [[w.category.__name__, str(w.message), w.filename, w.lineno] for w in caught],
    }
json.dump(found, sys.stdout)
"""


def text_of(script):
    return HEAD + textwrap.dedent(script).lstrip("\n")


def run_python(*arguments, folder, given="", **variables):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=given,
        env={**os.environ, "PYTHONPATH": SEARCH, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def run_all(scripts, folder, **variables):
    given = json.dumps({name: text_of(script) for name, script in scripts.items()})
    done = run_python("-c", RUNNER, folder=folder, given=given, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SCRIPTS = {
    **{name: script for name, (_, script) in ERRORS.items()},
    **{name: script for name, (_, script) in WARNINGS.items()},
    **RIGHT,
}


IN_FULL = ["a layer", "a kernel", "an operator of the user's"]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What users see of every script."""
    return run_all(SCRIPTS, tmp_path_factory.mktemp("users"))


@pytest.fixture(scope="module")
def seen_strictly(tmp_path_factory):
    """The same after ``fluidlite.strict()``."""
    scripts = {
        name: "fluid.strict()\n" + textwrap.dedent(s).lstrip("\n") for name, s in SCRIPTS.items()
    }
    return run_all(scripts, tmp_path_factory.mktemp("strict"))


@pytest.fixture(scope="module")
def seen_in_full(tmp_path_factory):
    """What users see of some errors who ask for whole tracebacks."""
    scripts = {name: ERRORS[name][1] for name in IN_FULL}
    return run_all(scripts, tmp_path_factory.mktemp("full"), FLUIDLITE_TRACEBACK="full")


def marked(script, mark):
    """The numbers of the lines with a mark."""
    lines = text_of(script).split("\n")
    return {number for number, line in enumerate(lines, 1) if f"# {mark}" in line}


def lines_in(shown):
    """Of a printed traceback, the lines of the user's and how many of fluidlite's."""
    places = re.findall(r'File "(.*)", line (\d+)', shown)
    users = {int(number) for file, number in places if not file.startswith(PACKAGE)}
    return users, sum(file.startswith(PACKAGE) for file, _ in places)


# -- tracebacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_shows_the_users_lines_and_the_message(seen, name):
    message, script = ERRORS[name]
    shown = seen[name]["shown"]
    assert message in seen[name]["error"] or message in shown
    users, ours = lines_in(shown)
    assert users == marked(script, "here") | marked(script, "and here"), shown
    assert ours <= LINES_OF_OURS * shown.count("Traceback"), shown


@pytest.mark.parametrize("name", IN_FULL)
def test_the_whole_traceback_is_shown_on_request(seen_in_full, name):
    users, ours = lines_in(seen_in_full[name]["shown"])
    assert ours > 1 and users >= marked(ERRORS[name][1], "here")


def test_a_fault_within_keeps_its_traceback(tmp_path):
    script = """
    fluid.default_main_program().blocks = None
    fluid.layers.fill_constant([1], "float32", 1.0)  # here
    """
    shown = run_all({"a fault": script}, tmp_path)["a fault"]["shown"]
    users, ours = lines_in(shown)
    assert ours > 1 and users == marked(script, "here"), shown


@pytest.mark.parametrize("command", [[], ["-m", "fluidlite", "run"]], ids=["python", "run"])
def test_a_script_ends_with_a_short_traceback(command, tmp_path):
    script = ERRORS["no startup program"][1]
    (tmp_path / "script.py").write_text(text_of(script), encoding="utf-8")
    done = run_python(*command, "script.py", folder=tmp_path)
    assert done.returncode == 1
    users, ours = lines_in(done.stderr)
    assert users == marked(script, "here") and ours <= LINES_OF_OURS, done.stderr
    assert done.stderr.count("Traceback") == 1 and "run the startup program first" in done.stderr


def test_a_notebook_shows_the_lines_of_its_cells_and_their_mistakes():
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    cells = [text_of(ERRORS[name][1]) for name in ("a layer", "no startup program")]
    cells += [text_of("fluid.ones([2]) + fluid.ones([3])")]
    cells += [text_of(WARNINGS["a comparison of variables"][1].replace("'x'", "'y'"))]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", SEARCH)
        nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    warning = notebook.cells.pop().outputs[0].text
    assert "FluidWarning" in warning and "called at cell 4, line 4" in warning
    for cell in notebook.cells:
        (error,) = (each for each in cell.outputs if each.output_type == "error")
        shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))
        assert shown.count("Cell In[") == 1 and shown.count("fluidlite/") <= LINES_OF_OURS, shown
        assert error.evalue in shown


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WARNINGS)
def test_a_mistake_warns_with_the_users_line(seen, name):
    said, script = WARNINGS[name]
    assert seen[name]["error"] is None, seen[name]["shown"]
    ((category, message, file, line),) = seen[name]["warned"]
    assert category == "FluidWarning" and file == name.replace(" ", "_") + ".py"
    assert {line} == marked(script, "here"), message
    for each in said:
        wanted = re.sub(r"^line (\d+)$", rf"{re.escape(file)}:\1", each)
        assert re.search(wanted, message) if wanted != each else each in message, message


@pytest.mark.parametrize("name", WARNINGS)
def test_a_mistake_is_an_error_where_it_is_wanted(seen_strictly, name):
    found = seen_strictly[name]
    assert found["error"].startswith("StrictError") and not found["warned"]
    for each in WARNINGS[name][0]:
        assert "line " in each or each in found["error"]
    users, ours = lines_in(found["shown"])
    lines = {number + 1 for number in marked(WARNINGS[name][1], "here")}
    assert users == lines and ours <= LINES_OF_OURS, found["shown"]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_says_nothing(seen, seen_strictly, name):
    for found in (seen[name], seen_strictly[name]):
        assert found["error"] is None and not found["warned"], found


def test_strictness_ends_with_its_block(tmp_path):
    script = """
    x = fluid.data("x", [1], "float32")
    with fluid.strict():
        try:
            bool(x)
        except fluid.FluidError:
            print("refused")
    bool(x)
    with fluid.strict(), fluid.strict(False):
        bool(x)
    """
    found = run_all({"blocks": script.replace("print", "str")}, tmp_path)["blocks"]
    assert found["error"] is None and len(found["warned"]) == 2


def test_a_process_may_begin_strictly(tmp_path):
    script = {"truth": WARNINGS["the truth of a variable"][1]}
    assert run_all(script, tmp_path, FLUIDLITE_STRICT="1")["truth"]["error"].startswith("Strict")
