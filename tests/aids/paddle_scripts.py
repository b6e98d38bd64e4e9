"""Runs the programs of ``examples/paddle_2`` under the alias.

    FLUIDLITE_PADDLE26=/path/to/python python tests/aids/paddle_scripts.py [NAME ...]

The variable names a Python that has paddlepaddle 2.6.2.  What the programs print there is written
to ``tests/data/paddle_2/printed.json``, and how far the numbers move where all start values are
changed by 1e-7 of themselves.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples" / "paddle_2").glob("*.py"))
RECORDED = ROOT / "tests" / "data" / "paddle_2" / "printed.json"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")

#: runs a program with other start values
CHANGING = """
import functools, runpy, sys
import paddle

def changed(create):
    @functools.wraps(create)
    def created(*args, **kwargs):
        parameter = create(*args, **kwargs)
        if parameter is not None and paddle.in_dynamic_mode():
            value = parameter.numpy()
            parameter.set_value((value * (1 + 1e-7)).astype(value.dtype))
        return parameter
    return created

def scaled(begin):
    return lambda self, value, name=None: begin(self, value * (1 + 1e-7), name)

for holder in (paddle, paddle.nn.Layer):
    holder.create_parameter = changed(holder.create_parameter)
first = paddle.nn.initializer.Assign
first.__init__ = scaled(first.__init__)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def captured(program):
    """The exit status of a program, and the lines that it printed."""
    from fluidlite import compat
    from fluidlite.__main__ import main

    before = sys.argv, list(sys.path), sys.modules["__main__"]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            status = main(["run", "--force", str(program)])
    finally:
        compat.uninstall()
        sys.argv, sys.path[:], sys.modules["__main__"] = before
    return status, _lines(out.getvalue(), os.getcwd())


def _lines(text, folder):
    """The lines of what was printed in a folder."""
    return text.replace(folder, ".").splitlines()


def told(lines):
    """Lines without their numbers, and the numbers; whole ones are text."""
    return [NUMBER.sub("#", line) for line in lines], [
        float(number) for line in lines for number in NUMBER.findall(line)
    ]


def distance(one, two):
    """The largest difference of numbers in lines."""
    return max(abs(a - b) for a, b in zip(told(one)[1], told(two)[1], strict=True))


def _there(*words):
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ["FLUIDLITE_PADDLE26"], *words]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True
        )
    return _lines(done.stdout, folder)


if __name__ == "__main__":
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for path in PROGRAMS:
        if path.stem in (sys.argv[1:] or [path.stem]):
            lines = _there(str(path))
            moved = distance(lines, _there("-c", CHANGING, str(path)))
            recorded[path.stem] = {"moved": moved, "lines": lines}
            print(path.stem, moved)
    RECORDED.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")
