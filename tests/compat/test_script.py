"""``fluidlite run``: a script of 2019 as Python runs a script."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fluidlite as fluid
from fluidlite import compat
from fluidlite.__main__ import main
from fluidlite.compat.script import is_script

ROOT = Path(__file__).parents[2]
LEGACY = ROOT / "tests" / "data" / "legacy"


def python(*words, cwd=None, env=None):
    """What a process says that runs Python."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_script_sees_what_it_sees_in_a_plain_run(tmp_path):
    script = tmp_path / "told.py"
    script.write_text(
        "import os, sys\n"
        "import beside\n"
        "print(sys.argv, __file__, __name__, os.getcwd(), sys.path[0], beside.x)\n"
        "print(sorted(name for name in globals() if name.startswith('__')))\n"
        "sys.exit(3)\n"
    )
    (tmp_path / "beside.py").write_text("x = 1\n")
    plain = python("told.py", "a", "--strict", cwd=tmp_path)
    run = python("-m", "fluidlite", "run", "told.py", "a", "--strict", cwd=tmp_path)
    assert run.returncode == plain.returncode == 3
    assert run.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    names = eval(run.stdout.splitlines()[1])
    assert set(names) >= set(eval(plain.stdout.splitlines()[1])) - {"__annotations__"}


def test_a_traceback_is_that_of_a_plain_run(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(
        "import math\n\ndef f(x):\n    return float(x) + math.sqrt(x)\n\n"
        "try:\n    f('a')\nexcept ValueError as error:\n    raise KeyError('b') from error\n"
    )
    plain = python("fails.py", cwd=tmp_path)
    run = python("-m", "fluidlite", "run", "fails.py", cwd=tmp_path)
    assert run.returncode == plain.returncode == 1

    def lines(text):  # without the marks below them, which newer Pythons draw
        return [line for line in text.splitlines() if line.strip(" ^~")]

    assert [line.replace(str(tmp_path) + "/", "") for line in lines(run.stderr)] == [
        line.replace(str(tmp_path) + "/", "") for line in lines(plain.stderr)
    ]


def test_a_script_may_come_from_the_input(tmp_path):
    text = "import sys\nimport paddle.fluid\nprint(sys.argv, __file__, sys.path[0])\nint('a')\n"
    run, plain = (
        subprocess.run(
            [sys.executable, *words, "-", "a"],
            input=given,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for words, given in (
            (("-m", "fluidlite", "run"), text),
            ((), text.replace("paddle.fluid", "math")),
        )
    )
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout)
    assert run.stderr == plain.stderr and "ValueError" in run.stderr


def test_a_module_that_is_not_there_is_said_in_a_line(tmp_path):
    run = python("-m", "fluidlite", "run", "-m", "nothing.at_all", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (1, "fluidlite: no module named nothing.at_all\n")


def test_a_module_ends_as_it_says(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys\nimport paddle.fluid\nprint(__name__, __package__)\nsys.exit(5)\n"
    )
    run = python("-m", "fluidlite", "run", "-m", "package", "a", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (5, "__main__ package\n")


def test_processes_that_a_script_starts_have_the_alias(tmp_path):
    (tmp_path / "many.py").write_text(
        "import multiprocessing, numpy as np\n"
        "import paddle.fluid as fluid\n\n"
        "def f(x):\n    return fluid.layers.fc.__name__, np.float(x)\n\n"
        "if __name__ == '__main__':\n"
        "    for way in ('spawn', 'forkserver'):\n"
        "        with multiprocessing.get_context(way).Pool(1) as pool:\n"
        "            print(way, pool.map(f, [1]))\n"
    )
    done = python("-m", "fluidlite", "run", "many.py", cwd=tmp_path)
    assert done.stdout.splitlines() == ["spawn [('fc', 1.0)]", "forkserver [('fc', 1.0)]"], (
        done.stderr
    )


def test_the_pipe_command_of_a_data_set_has_the_alias(tmp_path):
    (tmp_path / "lines.txt").write_text("1\n2\n3\n4\n")
    (tmp_path / "generator.py").write_text(
        "from paddle.fluid.incubate.data_generator import MultiSlotDataGenerator\n"
        "class Numbers(MultiSlotDataGenerator):\n"
        "    def generate_sample(self, line):\n"
        "        def samples():\n"
        "            yield [('x', [int(line) * 0.5])]\n"
        "        return samples\n"
        "Numbers().run_from_stdin()\n"
    )
    (tmp_path / "train.py").write_text(
        "import paddle.fluid as fluid\n"
        "x = fluid.layers.data('x', [1])\n"
        "total = fluid.layers.reduce_sum(x)\n"
        "dataset = fluid.DatasetFactory().create_dataset('QueueDataset')\n"
        "dataset.set_use_var([x])\n"
        "dataset.set_batch_size(2)\n"
        f"dataset.set_pipe_command('{sys.executable} generator.py')\n"
        "dataset.set_filelist(['lines.txt'])\n"
        "exe = fluid.Executor(fluid.CPUPlace())\n"
        "exe.train_from_dataset(dataset=dataset, fetch_list=[total], print_period=1)\n"
    )
    run = python("-m", "fluidlite", "run", "train.py", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert [line.split("\t")[1] for line in run.stdout.splitlines()] == ["[1.5]", "[3.5]"]


def test_a_script_that_is_no_python_says_where(here, tmp_path, capsys):
    script = tmp_path / "two.py"
    script.write_text("import paddle\nprint 'Python 2'\n")
    assert main(["run", str(script)]) == 1
    text = capsys.readouterr().err
    assert f'File "{script}", line 2' in text and "SyntaxError" in text
    assert "rewriting.py" not in text


def test_an_old_script_trains(here, capsys, recwarn):
    assert main(["run", str(LEGACY / "fit_a_line.py"), "--epochs", "2"]) == 0
    out = capsys.readouterr().out
    assert "epoch 1, cost" in out
    first, last = (float(line.split()[-1]) for line in out.splitlines() if "epoch" in line)
    assert last < first
    said = {str(warning.message).split(" no longer ")[0] for warning in recwarn}
    assert "np.float" in said or sys.modules["numpy"].__version__ < "1.24"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, wanted",
    [
        ("recognize_digits", ["Pass 8", "test accuracy", "inferred (10,)"]),
        ("word2vec", ["Step 8: Average Cost", "True", "object True"]),
        ("mnist_dygraph", ["Loss at step 9", "falls: [ True]", "same True True"]),
    ],
)
def test_scripts_of_their_time_run_with_made_data(here, capsys, name, wanted):
    assert main(["run", "--synthetic-data", str(LEGACY / f"{name}.py")]) == 0
    out = capsys.readouterr().out
    assert not [text for text in wanted if text not in out], out


@pytest.mark.parametrize("name", ["fit_a_line", "recognize_digits", "word2vec", "mnist_dygraph"])
def test_scripts_that_run_have_no_findings(name, capsys):
    assert main(["check", str(LEGACY / f"{name}.py")]) == 0
    assert capsys.readouterr().out.endswith(f"{name}.py: nothing to change\n")


def test_without_dropped_names_the_script_is_on_its_own(here, tmp_path, capsys):
    script = tmp_path / "clock.py"
    script.write_text("import time\nprint(time.clock())\n")
    assert main(["run", "--strict", str(script)]) == 1
    assert "has no attribute 'clock'" in capsys.readouterr().err


def test_made_data_are_served_where_they_are_asked_for(here, tmp_path, capsys):
    script = tmp_path / "data.py"
    script.write_text(
        "import paddle\nimage, label = next(paddle.dataset.mnist.train()())\nprint(image.shape)\n"
    )
    assert main(["run", "--synthetic-data", str(script)]) == 0
    assert capsys.readouterr().out == "(784,)\n"


def test_another_paddle_is_not_hidden_unless_told(here, tmp_path, monkeypatch, capsys):
    (tmp_path / "paddle.py").write_text("mark = True\n")
    script = tmp_path / "s.py"
    script.write_text("import paddle\nprint(hasattr(paddle, 'mark'))\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["run", str(script)]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["run", "--force", str(script)]) == 0
    assert capsys.readouterr().out == "False\n"


def test_a_script_that_is_not_there_is_named(here, capsys):
    assert main(["run", "nothing.py"]) == 2
    assert "nothing.py" in capsys.readouterr().err


def test_the_content_says_what_a_file_is(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    assert is_script(written("a.py", b"x = 1\n"))
    assert is_script(written("b", b"#!/usr/bin/env python\nx = 1\n"))
    assert is_script(written("c", b"import paddle.fluid as fluid\nfluid.Program()\n"))
    assert not is_script(written("d.txt", b"{ // block 0\n}\n"))
    assert not is_script(written("__model__", b"\n\x03\x00\x00abc"))
    assert not is_script(str(tmp_path))
    assert not is_script(str(tmp_path / "none.txt"))


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_a_folder_with_a_main_module_runs_as_python_runs_it(tmp_path, packed):
    package = tmp_path / "trainer"
    package.mkdir()
    (package / "beside.py").write_text("def half(x):\n    return x / 2\n")
    (package / "__main__.py").write_text(
        "import os, sys\n"
        "import beside\n"
        "print(sys.argv, __file__, __name__, repr(__package__), __spec__.name, os.getcwd())\n"
        "print(sys.path[0], beside.__file__, sys.modules['__main__'].beside is beside)\n"
        "beside.half('a')\n"
    )
    place = shutil.make_archive(str(package), "zip", package) if packed else str(package)
    plain = python(place, "a", "--strict", cwd=tmp_path)
    run = python("-m", "fluidlite", "run", place, "a", "--strict", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, plain.stdout)
    assert run.stdout.startswith(f"['{place}', 'a', '--strict'] {place}")
    head, *lines = plain.stderr.splitlines()
    begin = next(k for k, line in enumerate(lines) if place in line)  # behind those of runpy
    own = [head, *lines[begin:]]
    assert run.stderr.splitlines() == own
    assert "unsupported operand" in own[-1]


def test_dropped_names_work_in_a_folder_too(here, tmp_path, capsys, recwarn):
    (tmp_path / "__main__.py").write_text(
        "import time\nimport numpy as np\nimport paddle.fluid as fluid\n"
        "print(time.clock() >= 0, '%f' % np.array([1.5]), fluid.layers.fc.__name__)\n"
    )
    assert main(["run", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "True 1.500000 fc\n"
    compat.uninstall()
    assert main(["run", "--strict", str(tmp_path)]) == 1
    assert "no attribute 'clock'" in capsys.readouterr().err


def test_run_takes_a_folder_with_a_saved_program(tmp_path, capsys):
    x = fluid.data("x", [None, 2], "float32")
    three = fluid.initializer.Constant(3.0)
    y = fluid.layers.fc(x, 1, param_attr=fluid.ParamAttr(initializer=three))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe)
    assert main(["run", str(tmp_path), "--feed", "x=[[1, 2]]"]) == 0
    assert "[[9.]]" in capsys.readouterr().out


def test_run_goes_on_taking_saved_programs(tmp_path, capsys):

    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.scale(x, 3.0)
    (tmp_path / "net.txt").write_text(str(fluid.default_main_program()))
    words = ["run", str(tmp_path / "net.txt"), "--feed", "x=[[1, 2]]", "--fetch", y.name]
    assert main(words) == 0
    assert "3. 6." in capsys.readouterr().out


SAVES = """
import numpy as np
import paddle.fluid as fluid

with open("net.txt") as file:
    program = fluid.Program.parse(file.read())
fluid.Executor(fluid.CPUPlace()).run(program, feed={"x": np.ones(2, "float32")})
"""
SAVING = (
    'program (seed=0) {\n block 0 {\n  data x: float32[2]\n  save(X=x, file_path="made")\n }\n}\n'
)


def test_a_script_is_refused_effects_of_a_program_that_it_reads_until_it_is_allowed(
    here, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.txt").write_text(SAVING)
    (tmp_path / "old.py").write_text(SAVES)
    assert main(["run", "old.py"]) == 1
    said = capsys.readouterr().err
    assert 'say program.allow("files"), or fluidlite run --allow files' in said
    assert not (tmp_path / "made").exists()
    compat.uninstall()
    assert main(["run", "--allow", "files", "old.py"]) == 0
    assert capsys.readouterr().err == ""
    assert (tmp_path / "made").exists()
    compat.uninstall()
    with pytest.raises(SystemExit, match="2"):
        main(["run", "--allow=any", "old.py"])


def test_install_allows_an_effect_until_it_is_taken_back(here):
    compat.install(force=True, allow=["files"])
    assert not any("files" in op.foreign for op in _ops(SAVING))
    assert "allow=files" in os.environ["FLUIDLITE_ALIAS"].split()
    compat.uninstall()
    assert all("files" in op.foreign for op in _ops(SAVING))
    with pytest.raises(fluid.errors.ArgumentError, match="expected kinds of effects"):
        compat.install(force=True, allow=["all"])
    assert not compat.installed()


def test_a_process_that_is_started_is_allowed_what_its_parent_is(here, monkeypatch):
    compat.install(force=True, allow=["files"])
    said = os.environ["FLUIDLITE_ALIAS"]
    compat.uninstall()
    monkeypatch.setenv("FLUIDLITE_ALIAS", said)
    compat.children.adopt("paddle")
    assert not any("files" in op.foreign for op in _ops(SAVING))


def _ops(text):
    return fluid.Program.parse(text).global_block().ops
