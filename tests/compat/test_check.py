"""``fluidlite check``: what a script uses that is not there, without running it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from fluidlite.__main__ import main
from fluidlite.compat.check import check

LEGACY = Path(__file__).parents[1] / "data" / "legacy"
GOOD = """\
from __future__ import print_function
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid import layers
from paddle.fluid.layers import *
from paddle.fluid.dygraph.nn import Conv2D, Linear as L

def net(x):
    fluid = x.fluid  # a variable of the function's own
    return layers.fc(x, 3)

loss = fluid.layers.mean(net(fluid.data('x', [None, 3])))
fluid.optimizer.AdamOptimizer(0.1).minimize(loss)
fluid.core.VarDesc.VarType.FP32
fluid.default_main_program().random_seed = 1
paddle.batch(paddle.dataset.mnist.train(), 3)
L(2, 3)
"""


def test_a_script_that_uses_what_is_there_has_no_findings():
    assert check(GOOD) == []
    assert not [name for name in sys.modules if name.partition(".")[0] == "paddle"]


@pytest.mark.parametrize(
    "line, column, text",
    [
        ("fluid.layers.fcc(3)", 1, "did you mean 'fc'"),
        ("x = fluid.nothing.at_all", 5, "no name 'nothing'"),
        ("import paddle.fluid.nothing", 1, "no module paddle.fluid.nothing"),
        ("from paddle.nothing import x", 1, "no module paddle.nothing"),
        ("from paddle.fluid.layers import fcc", 1, "did you mean 'fc'"),
        (
            "from paddle.fluid.layers.rnn import Cell",
            1,
            "paddle.fluid.layers.rnn has no name 'Cell'",
        ),
        ("from paddle.fluid.dygraph.nn import FC", 1, "use fluid.dygraph.Linear"),
        ("fluid.optimizer.PipelineOptimizer(1)", 1, "use the optimizer"),
        ("  # x\nfluid.optimizer.DGCMomentumOptimizer(1)", 1, "use fluid.optimizer.Momentum"),
        ("fluid.core.VarDesc.VarType.FP99", 1, "no name 'FP99'"),
    ],
)
def test_a_name_that_is_not_there_is_found_with_its_place(line, column, text):
    (found,) = check(f"import paddle.fluid as fluid\n{line}\n")
    assert found.line == 2 + line.count("\n")
    assert (found.column, text in found.message) == (column, True), found.message


def test_what_a_function_calls_so_is_its_own():
    text = (
        "from paddle.fluid import layers\n"
        "def f(layers):\n    return layers.fcc\n"
        "def g():\n    layers = []\n    return layers.fcc\n"
        "h = lambda layers: layers.fcc\n"
        "layers.fcc(1)\n"
    )
    assert [found.line for found in check(text)] == [8]


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import paddle.nope as p\nexcept ImportError:\n    p = None\np.x",
        "try:\n    from paddle.fluid import nope\nexcept:\n    nope = None\nnope",
        "try:\n    fluid.nope()\nexcept AttributeError:\n    pass",
        "if hasattr(fluid.layers, 'nope'):\n    fluid.layers.nope(1)",
        "x = fluid.nope if hasattr(fluid, 'nope') else 1",
        "fluid.layers.nope = 3\nfluid.layers.nope.x",
        "getattr(fluid, 'nope', None)",
        "paddle = 3\npaddle.nope",
    ],
)
def test_a_script_may_be_prepared_for_what_is_not_there(text):
    assert check(f"import paddle.fluid as fluid, paddle\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "layers = fluid.layers\nlayers.nope()",
        "fluid = fluid.layers\nfluid.nope()",
        "\ngetattr(fluid.layers, 'nope')",
        "try:\n    fluid.layers.nope()\nexcept Exception:\n    pass",
        "if hasattr(fluid, 'nope'): pass\nfluid.layers.nope",
    ],
)
def test_a_name_is_found_whatever_leads_to_it(text):
    (found,) = check(f"import paddle.fluid as fluid\n{text}\n")
    assert (found.line, "layers has no name 'nope'" in found.message) == (3, True)


def test_the_scripts_of_a_folder_are_checked(tmp_path, capsys):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "b.py").write_text("import paddle.fluid as fluid\nfluid.nope\n")
    (tmp_path / "a.py").write_text("import paddle.nope\n")
    (tmp_path / "notes.txt").write_text("import paddle.nope\n")
    assert main(["check", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"{tmp_path / 'a.py'}:1:1",
        f"{tmp_path / 'below' / 'b.py'}:2:1",
    ]


def test_a_script_in_another_encoding_has_to_say_so():
    text = "# coding: latin-1\nimport paddle.fluid as fluid\nx = 'é'\n".encode("latin-1")
    assert check(text) == []
    (found,) = check(text.partition(b"\n")[2])
    assert found.line == 2 and "coding: latin-1" in found.message


def test_what_is_refused_may_be_imported_and_is_found_where_it_is_used():
    text = "from paddle.fluid.optimizer import PipelineOptimizer as T\n"
    assert check(text) == []
    (found,) = check(text + "\nt = T()\n")
    assert (found.line, found.column) == (3, 5)


def test_dropped_names_are_found_where_they_are_not_served():
    text = "import time\nimport numpy as np\nt = time.clock()\na = np.float64\n"
    assert check(text) == []
    assert len(check("from time import clock\nclock()\n", strict=True)) == 1
    (found,) = check(text, strict=True)
    assert found.message == "time.clock no longer exists; write time.perf_counter"
    expected = 0 if hasattr(np, "product") else 1
    assert len(check("import numpy\nnumpy.product([1])", strict=True)) == expected


def test_the_names_that_public_programs_use_are_there():
    names = (LEGACY / "used_names.txt").read_text().split()
    text = "import paddle, paddle.dataset\nimport paddle.fluid as fluid\n" + "\n".join(names)
    assert [found.message for found in check(text)] == []
    assert len(names) > 300


def test_python_2_is_said_to_be_python_2():
    (found,) = check("x = 1\nprint 'a'\n")
    assert found.line == 2 and "not Python 3" in found.message


def test_the_command_prints_places_and_ends_with_1(tmp_path, capsys):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(GOOD)
    bad.write_text("import paddle.fluid as fluid\nfluid.layers.fcc(1)\n")
    assert main(["check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: nothing to change\n"
    assert main(["check", str(good), str(bad)]) == 1
    _, line = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{bad}:2:1: paddle.fluid.layers has no name 'fcc'")
    assert main(["check", str(tmp_path / "none.py")]) == 2
    assert "none.py" in capsys.readouterr().err


def test_an_advice_is_said_once_with_its_lines(tmp_path, capsys):
    script = tmp_path / "script.py"
    call = "fluid.layers.fcc(1)\n"
    script.write_text("import paddle.fluid as fluid\n" + call * 2 + "fluid.layerz\n" + call)
    assert main(["check", str(script)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{script}:2:1: ")
    assert first.endswith("did you mean 'fc'? (also in lines 3, 5)")
    assert second.startswith(f"{script}:4:1: paddle.fluid has no name 'layerz'")


def test_modules_that_are_not_installed_are_listed_apart(tmp_path, capsys):
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "folder").mkdir()
    script = tmp_path / "script.py"
    script.write_text(
        "import six, numpy, beside\n"
        "import paddlehub.finetune as hub\n"
        "from folder import x\n"
        "from paddlehub import y\n"
        "from . import z\n"
        "try:\n"
        "    import not_there\n"
        "except ImportError:\n"
        "    pass\n"
    )
    assert main(["check", str(script)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{script}: nothing to change",
        f"{script}:2:1: module 'paddlehub' is not installed (also in line 4)",
    ]
