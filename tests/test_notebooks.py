"""A notebook, in a real kernel: cells that are run again, and lines of cells in messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[1]
SEARCH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

BUILD = """
x = fluid.data("x", [None, 3], "float32")
y = fluid.layers.fc(x, 2)
exe = fluid.Executor()
exe.run(fluid.default_startup_program())
exe.run(feed={"x": np.ones([1, 3], "float32")}, fetch_list=[y])
print([p.name for p in fluid.default_main_program().all_parameters()])
"""
OPERATOR = """
@fluid.custom_op
class user_scaled:
    '''Out = factor X.'''
    signature = "X -> Out"

    def run(self, xp, X):
        return X * xp.asarray({factor}, X.dtype)

    def grad(self, f, dOut):
        return dict(X=lambda: f.scale(dOut, scale={factor}))
"""


@pytest.fixture
def run():
    """Run cells in a kernel; what each prints and warns of."""
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")

    def run(*sources):
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(each) for each in sources]
        )
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = SEARCH
        try:
            nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before
        return ["".join(map(said, cell.outputs)) for cell in notebook.cells]

    def said(output):
        if output.output_type == "error":
            return output.evalue
        return output.get("text") or str(output.get("data", {}).get("text/plain", ""))

    return run


IMPORTS = "import numpy as np\nimport fluidlite as fluid"


def test_a_cell_that_builds_warns_when_it_is_run_again(run):
    _, first, second = run(IMPORTS, BUILD, BUILD)
    assert "UserWarning" not in first and "['fc_0.w_0', 'fc_0.b_0']" in first
    assert second.count("this cell was run before") == 1
    assert "fluid.reset_default_programs()" in second
    assert "called at cell 3, line" in second


def test_a_cell_that_begins_anew_can_be_run_again(run):
    anew = "fluid.reset_default_programs()" + BUILD
    _, first, second = run(IMPORTS, anew, anew)
    assert first == second and "['fc_0.w_0', 'fc_0.b_0']" in first


def test_a_cell_that_builds_in_a_program_that_was_not_run_does_not_warn(run):
    build = 'y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)'
    _, _, second = run(IMPORTS, build, build)
    assert "this cell was run before" not in second


def test_another_cell_that_builds_does_not_warn(run):
    more = "z = fluid.layers.mean(y)\nloss = fluid.optimizer.SGD(0.1).minimize(z)\nprint('done')"
    _, _, second = run(IMPORTS, BUILD, more)
    assert second == "done\n"


def test_messages_name_the_cell_and_the_line(run):
    _, shown, error, eager = run(
        IMPORTS,
        '# a\n# b\nx = fluid.data("x", [None, 3], "float32")\ny = fluid.layers.fc(x, 2)\ny',
        '# a line\nfluid.layers.concat([x, fluid.data("z", [2, 2], "float32")], axis=1).shape\n'
        'fluid.layers.reshape(x, "no shape")',
        "w = fluid.to_tensor([1.0], stop_gradient=False)\n\nfluid.matmul(w, fluid.ones([2, 2]))",
    )
    assert "at cell 2, line 4>" in shown
    assert "called at cell 3, line 3" in error
    assert "cell 4, line 3" in eager


def test_a_cell_may_define_its_operator_again(run):
    call = "print(user_scaled(fluid.to_tensor([1.0])).tolist())"
    _, _, first, _, second = run(
        IMPORTS, OPERATOR.format(factor=2.0), call, OPERATOR.format(factor=3.0), call
    )
    assert first == "[2.0]\n" and second == "[3.0]\n"


def test_programs_and_gradients_use_the_new_definition():
    """Without a kernel: what matters is that the class is of ``__main__``."""
    steps = [
        IMPORTS,
        OPERATOR.format(factor=2.0),
        'x = fluid.data("x", [1], "float32")',
        "x.stop_gradient = False",
        "y = user_scaled(x)",
        "(g,) = fluid.gradients(y, x)",
        "exe = fluid.Executor()",
        'run = lambda: [v.item() for v in exe.run(feed={"x": np.ones(1, "float32")}, '
        "fetch_list=[y, g])]",
        "assert [run() for _ in range(4)] == [[2.0, 2.0]] * 4",
        "t = fluid.to_tensor([1.0], stop_gradient=False)",
        "user_scaled(t).backward()",
        OPERATOR.format(factor=3.0),
        "assert [run() for _ in range(4)] == [[3.0, 3.0]] * 4, run()",
        "user_scaled(t).backward()",
        "assert t.grad.tolist() == [5.0]",
        "try:",
        "    fluid.custom_op(type('user_scaled', (), {'signature': 'X -> Out'}))",
        "except fluid.FluidError:",
        "    pass",
        "else:",
        "    raise AssertionError",
        "assert run() == [3.0, 3.0]",
        "assert user_scaled(t).tolist() == [3.0]",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(steps)],
        env={**os.environ, "PYTHONPATH": SEARCH},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


# -- beginning anew --------------------------------------------------------------------------------


def test_everything_begins_anew():
    fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    fluid.Executor().run(fluid.default_startup_program())
    old, scope = fluid.default_main_program(), fluid.global_scope()
    fluid.reset_default_programs()
    assert fluid.default_main_program() is not old and len(old.all_parameters()) == 2
    assert not fluid.default_startup_program().global_block().ops
    assert fluid.global_scope() is not scope and scope.find_var("fc_0.w_0") is not None
    assert fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2).name == "fc_0.tmp_1"


@pytest.mark.parametrize(
    "guard, named",
    [
        (lambda: fluid.program_guard(fluid.Program()), "program_guard"),
        (lambda: fluid.unique_name.guard(), "unique_name.guard"),
        (lambda: fluid.scope_guard(fluid.Scope()), "scope_guard"),
    ],
)
def test_nothing_begins_anew_under_a_guard(guard, named):
    fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    main, scope = fluid.default_main_program(), fluid.global_scope()
    with guard(), pytest.raises(ArgumentError, match=named):
        fluid.reset_default_programs()
    assert fluid.default_main_program() is main and fluid.global_scope() is scope
