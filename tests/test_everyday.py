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

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "fluidlite")
SEARCH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
#: Python 3.10 raises what was caught with the line that caught it
LINES_OF_OURS = 0 if sys.version_info >= (3, 11) else 1

HEAD = "import numpy as np\nimport fluidlite as fluid\n"
#: scripts that fail: what the message says, the line with the mistake marked by `# here`
ERRORS = {
    "a layer": ("expected input to be a variable", "fluid.layers.fc(3, 4)  # here"),
    "an argument too few": ("missing 1 required", "fluid.layers.fc(fluid.data('x', [2])) # here"),
    "an operator": (
        "cannot broadcast shapes",
        "x, y = fluid.data('x', [2, 3]), fluid.data('y', [7])\nx + y  # here",
    ),
    "a method": (
        "5",
        "x = fluid.data('x', [2, 3], 'float32')\nx.reshape([5, 2])  # here",
    ),
    "a function of the user's within a layer": (
        "expected input to be a variable",
        """
        def body(i):
            return [fluid.layers.fc(None, 3)]  # here

        i = fluid.layers.fill_constant([1], "int64", 0)
        ten = fluid.layers.fill_constant([1], "int64", 10)
        fluid.layers.while_loop(lambda i: fluid.layers.less_than(i, ten), body, [i])  # and here
        """,
    ),
    "no startup program": (
        "run the startup program first",
        """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
        feed = {"x": np.ones([2, 3], "float32")}
        fluid.Executor().run(feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a kernel": (
        "matmul",
        """
        x = fluid.data("x", [None, None], "float32")
        y = fluid.layers.matmul(x, x)
        feed = {"x": np.ones([2, 3], "float32")}
        fluid.Executor().run(feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a prepared run": (
        "'x' was not fed",
        """
        x = fluid.data("x", [None, 3], "float32")
        step = fluid.Executor().prepare(feed_names=["x"], fetch_list=[x * 2.0])
        step({"z": np.ones([2, 3], "float32")})  # here
        """,
    ),
    "a loss that is no loss": (
        "nothing can be differentiated",
        "fluid.optimizer.SGD(0.1).minimize(fluid.data('x', [1], 'float32'))  # here",
    ),
    "append_backward": ("expected the loss", "fluid.append_backward(3)  # here"),
    "gradients": ("variable", "fluid.gradients(3, 4)  # here"),
    "an optimizer": ("expected the learning rate", "fluid.optimizer.SGD('much')  # here"),
    "a file": (
        "there is no such folder",
        "fluid.io.load_inference_model('no such folder', fluid.Executor())  # here",
    ),
    "tensors": ("cannot broadcast", "fluid.ones([2]) + fluid.ones([3])  # here"),
    "a function of tensors": (
        "columns",
        "fluid.matmul(fluid.ones([2, 3]), fluid.ones([2, 3])) # here",
    ),
    "a method of a tensor": ("5", "fluid.ones([2, 3]).reshape([5])  # here"),
    "a layer of tensors": ("columns", "fluid.nn.Linear(2, 3)(fluid.ones([2, 4]))  # here"),
    "nn.functional": (
        "columns",
        "fluid.nn.functional.linear(fluid.ones([2, 3]), fluid.ones([2, 3])) # here",
    ),
    "a layer of the user's": (
        "columns",
        """
        class Net(fluid.nn.Layer):
            def __init__(self):
                super().__init__()
                self.inner = fluid.nn.Linear(2, 3)

            def forward(self, x):
                return self.inner(x)  # here

        Net()(fluid.ones([2, 4]))  # and here
        """,
    ),
    "a layer in another spelling": (
        "columns",
        "from fluidlite import flow\nflow.nn.Linear(2, 3)(flow.ones(3, 4))  # here",
    ),
    "a guard": ("expected main_program", "with fluid.program_guard(3):  # here\n    pass"),
    "a variable of a block": (
        "no variable 'nope'",
        "fluid.default_main_program().global_block().var('nope')  # here",
    ),
    "a fraction of several elements": ("one element", "float(fluid.ones([2]))  # here"),
    "a setting": ("stop_gradient", "fluid.ones([2]).stop_gradient = 'yes'  # here"),
    "a reader of the user's": (
        "out of paper",
        """
        def samples():
            yield (np.ones(3, "float32"),)
            raise ValueError("out of paper")  # here

        x = fluid.data("x", [None, 3], "float32")
        loader = fluid.io.DataLoader.from_generator([x], capacity=2, iterable=True)
        loader.set_sample_generator(samples, batch_size=1, drop_last=False)
        for batch in loader():  # and here
            pass
        """,
    ),
    "an operator of the user's": (
        "one too many",
        """
        @fluid.custom_op
        class user_broken:
            '''Out = X.'''

            signature = "X -> Out"

            def infer(self, X):
                return dict(Out=X)

            def run(self, xp, X):
                raise RuntimeError("one too many")  # here

        y = user_broken(fluid.data("x", [2], "float32"))
        fluid.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])  # and here
        """,
    ),
    "a callback of the user's": (
        "I do not like it",
        """
        def callback(block, context):
            raise KeyError("I do not like it")  # here

        loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3], "float32"), 1))
        fluid.append_backward(loss, callbacks=[callback])  # and here
        """,
    ),
    "another error of the user's before": (
        "expected input",
        """
        try:
            {}["key"]  # and here
        except KeyError:
            fluid.layers.fc(3, 4)  # here
        """,
    ),
    "types are no sizes": ("sizes are given as one list", "fluid.randn(2, 3)  # here"),
    "a loss of many elements": (
        "expected a loss of one element",
        """
        y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 1)
        fluid.optimizer.SGD(0.1).minimize(y)  # here
        """,
    ),
    "two losses": (
        "expected the loss to be a variable",
        """
        loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 3], "float32"), 1))
        fluid.optimizer.SGD(0.1).minimize([loss, loss])  # here
        """,
    ),
    "a name that is elsewhere": ("fluid.layers.fc is there", "fluid.fc  # here"),
    "a name that is left out": ("custom_op", "fluid.load_op_library  # here"),
    "an optimizer that is left out": (
        "fluid.optimizer.Momentum",
        "fluid.optimizer.DGCMomentumOptimizer # here",
    ),
    "a name that is misspelt": ("did you mean 'softmax'", "fluid.layers.sotfmax  # here"),
}
OTHER = """
        {first}
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
            {second}
"""
#: scripts that run on, as in fluid 1.8, and are probably mistaken
WARNINGS = {
    "the truth of a variable": (
        ["'x'", "always true", "cond", "fetch"],
        """
        x = fluid.data("x", [1], "float32")
        if x:  # here
            pass
        """,
    ),
    "a comparison of variables": (
        ["always true"],
        "x = fluid.data('x', [1], 'float32')\n0.0 < x < 1.0  # here",
    ),
    "a variable in a list": (
        ["always true", "is"],
        "x, y = fluid.data('x', [1]), fluid.data('y', [1])\nx in [y]  # here",
    ),
    "a parameter of another shape": (
        ["'w'", "[3, 5]", "[3, 2]", "line 5", "line 10", "scope_guard"],
        """
        exe = fluid.Executor()
        x = fluid.data("x", [2, 3], "float32")
        y = fluid.layers.fc(x, 2, param_attr="w")
        exe.run(fluid.default_startup_program())
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()):
            x = fluid.data("x", [2, 3], "float32")
            z = fluid.layers.fc(x, 5, param_attr="w", bias_attr=False)
        exe.run(other, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[z])  # here
        """,
    ),
    "another program's variable": (
        ["'fc_0.tmp_1'", "line 3", "line 6"],
        """
        x = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 4)
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
            z = fluid.layers.fc(fluid.data("z", [None, 7], "float32"), 4)
            fluid.layers.relu(x)  # here
        """,
    ),
    "another program's variable that is fetched": (
        ["'scale_0.tmp_0'", "line 4", "line 7"],
        """
        x = fluid.data("x", [1], "float32")
        y = fluid.layers.scale(x, 2.0)
        other = fluid.Program()
        with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
            z = fluid.layers.scale(fluid.data("x", [1], "float32"), 3.0)
        feed = {"x": np.ones(1, "float32")}
        fluid.Executor().run(other, feed=feed, fetch_list=[y])  # here
        """,
    ),
    "a loss without parameters": (
        ["no trainable parameter reaches", "has no parameters"],
        """
        loss = fluid.layers.mean(fluid.data("x", [2, 3], "float32"))
        fluid.optimizer.SGD(0.1).minimize(loss)  # here
        """,
    ),
    "a loss of frozen parameters": (
        ["frozen", "fc_0.w_0"],
        """
        x = fluid.data("x", [2, 3], "float32")
        frozen = fluid.ParamAttr(trainable=False)
        loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr=frozen, bias_attr=False))
        fluid.optimizer.SGD(0.1).minimize(loss)  # here
        """,
    ),
    "a loss of other parameters": (
        ["does not depend on fc_1.w_0"],
        """
        x = fluid.data("x", [2, 3], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1))
        fluid.layers.fc(x, 1)
        fluid.optimizer.SGD(0.1, parameter_list=["fc_1.w_0"]).minimize(loss)  # here
        """,
    ),
    "a loop that builds": (
        ["line 5", "6 runs", "in front of the loop"],
        """
        x, exe = fluid.data("x", [1], "float32"), fluid.Executor()
        for _ in range(8):
            y = fluid.layers.scale(x, 2.0)
            exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])  # here
        """,
    ),
    "a name that the program does not have": (
        ["'z'"],
        """
        y = fluid.layers.scale(fluid.data("x", [1], "float32"), 2.0)
        one = np.ones(1, "float32")
        fluid.Executor().run(feed={"x": one, "z": one}, fetch_list=[y])  # here
        """,
    ),
}
#: scripts that look alike, and are as they should be
RIGHT = {
    "is None": "x = fluid.data('x', [1], 'float32')\nassert x is not None",
    "a copy for tests": """
        x = fluid.data("x", [None, 3], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1))
        test = fluid.default_main_program().clone(for_test=True)
        fluid.optimizer.SGD(0.1).minimize(loss)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        for program in (fluid.default_main_program(), test):
            exe.run(program, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[loss])
        with fluid.program_guard(test):
            fluid.layers.scale(loss, 2.0)
        """,
    "a shared parameter": """
        exe = fluid.Executor()
        programs = [fluid.Program(), fluid.Program()]
        feed = {"x": np.ones([2, 3], "float32")}
        for program in programs:
            startup = fluid.Program()
            with fluid.program_guard(program, startup), fluid.unique_name.guard():
                y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
            exe.run(startup)
            exe.run(program, feed=feed, fetch_list=[y])
        """,
    "building in steps": """
        x, exe = fluid.data("x", [1], "float32"), fluid.Executor()
        y = x + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        y = y + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        y = y + 1.0
        exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y])
        """,
    "a loss of one element": """
        x = fluid.data("x", [1, 1], "float32")
        fluid.optimizer.SGD(0.1).minimize(fluid.layers.fc(x, 1))
        """,
    "sizes and a type": "assert fluid.randn([2, 3], 'float64').numpy().dtype == 'float64'",
}

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


@pytest.mark.parametrize("name", ["a layer", "a kernel", "an operator of the user's"])
def test_the_whole_traceback_is_shown_on_request(name, tmp_path):
    script = {name: ERRORS[name][1]}
    shown = run_all(script, tmp_path, FLUIDLITE_TRACEBACK="full")[name]["shown"]
    users, ours = lines_in(shown)
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
