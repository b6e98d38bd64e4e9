"""Runs libraries that were written for ``paddle.fluid`` 1.8, unmodified, under the alias, and
compares what they compute with what they gave on paddlepaddle 1.8.5.

    python tests/aids/library_runs.py [--folder FOLDER] [--record] [NAME ...]

Each row of :data:`ROWS` is a library, and a program of ``tests/clients/libraries`` that calls it.
The packages are installed without their dependencies, each library's into a folder of its own below
``FOLDER`` (or ``FLUIDLITE_LIBRARIES``), where the next run finds them.  What cannot be had is said,
and skipped.  ``--record`` runs the programs with the Python that ``FLUIDLITE_PADDLE18`` names, one
that has paddlepaddle 1.8.5, and writes ``tests/data/libraries``.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data" / "libraries"
MARK = "RESULTS "


class Row(NamedTuple):
    """A library."""

    #: what is installed, as pip takes it
    packages: list
    #: the program of ``tests/clients/libraries`` that calls it
    program: str
    #: how far numbers may be from those of 1.8.5, relative to the larger of them and 1
    tolerance: float = 0.0
    #: a module that it has to find beside it
    needs: str = ""
    #: a module in Cython of a wheel for Python 3.7, which is compiled for this one
    cython: str = ""
    #: whether its wheels are for Python 3.7 alone, and what is called of them is in Python
    only_37: bool = False
    #: relative changes of what its program computes with; where 1.8.5 itself moves numbers by more
    #: than the tolerance then, ten times that is allowed for those of the same list
    changes: str = ""
    #: the row whose recorded results are its, too
    like: str = ""


ROWS = {
    "lac-0.1.5": Row(["LAC==0.1.5"], "lac"),
    "lac-2.0.5": Row(["LAC==2.0.5"], "lac"),
    "lac-2.1.2": Row(["LAC==2.1.2"], "ranks"),
    "paddle2onnx-0.4": Row(
        ["paddle2onnx==0.4", "protobuf<3.21"], "onnx_files", 1e-6, needs="onnxruntime"
    ),
    "ddparser-0.1.2": Row(["ddparser==0.1.2"], "dependencies", 5e-6),
    "paddlecraft-0.0.2": Row(["paddlecraft==0.0.2"], "pretraining", 2e-6),
    "paddle-ernie-0.0.4.dev1": Row(["paddle-ernie==0.0.4.dev1"], "ernies", 2e-6),
    "paddle-propeller-0.5.1.dev1": Row(
        ["paddle-propeller==0.5.1.dev1", "protobuf<3.21"], "learner", 2e-6
    ),
    "paddle-rec-1.8.5.1": Row(["paddle-rec==1.8.5.1"], "ranking", 2e-6, needs="yaml"),
    "paddle-ner-0.1.0": Row(["paddle-ner==0.1.0", "paddle-tokenizer==0.1.0"], "tagging", 5e-6),
    "paddlehelix-1.0.0b0": Row(["paddlehelix==1.0.0b0"], "proteins", 5e-6, only_37=True),
    "paddlepalm-2.0.2": Row(["paddlepalm==2.0.2"], "palm_trainer", 2e-6),
    "paddletools-0.0.5": Row(["paddletools==0.0.5"], "checkpoints"),
    "plsc-0.1.1": Row(["plsc==0.1.1", "easydict"], "faces", 2e-4),
    "tb-paddle-0.4.0": Row(["tb-paddle==0.4.0", "protobuf<3.21"], "graphs_shown"),
    "paddlehub-1.8.3": Row(["paddlehub==1.8.3", "protobuf<3.21"], "finetuning", 2e-6),
    "paddleslim-1.1.1": Row(["paddleslim==1.1.1"], "slim", 2e-4),
    "paddleslim-1.2.0": Row(["paddleslim==1.2.0"], "slim", 2e-4),
    "x2paddle-0.8.9": Row(["x2paddle==0.8.9", "protobuf<3.21"], "converting", 2e-6),
    "x2paddle-0.8.9-onnx": Row(
        ["x2paddle==0.8.9", "onnx", "sympy", "mpmath", "typing_extensions"],
        *("converting_onnx", 2e-6, "onnx"),
    ),
    **{
        f"paddleslim-{version}-{program}": Row(
            *([f"paddleslim=={version}"], program, 2e-4, need),
            like=f"paddleslim-1.1.1-{program}" if version == "1.1.0" else "",
        )
        for version in ("1.0.1", "1.1.0", "1.1.1", "1.2.0")
        for program, need in (("pruning", ""), ("searching", "zmq"))
    },
    "senta-1.0.3": Row(["Senta==1.0.3"], "sentiment", 1e-5),
    "pgl-1.1.0": Row(["pgl==1.1.0"], "graphs", 2e-6, cython="pgl/graph_kernel.pyx"),
    "pgl-1.2.0": Row(["pgl==1.2.0"], "graphs", 2e-6, cython="pgl/graph_kernel.pyx"),
    "ppdet-0.4.3.7": Row(
        ["ppdet-notebook==0.4.3.7"], "detectors", 2e-5, needs="yaml", changes="1e-7 2e-7"
    ),
    "ppcls-0.1.2.7": Row(["ppcls-notebook==0.1.2.7"], "backbones", 1e-5, changes="1e-7 2e-7"),
}


def pip(folder, *words, of=sys.executable):
    """Call pip; whether it did what it was told.  Old packages want an old setuptools."""
    pin = Path(folder) / "constraints.txt"
    pin.write_text("setuptools<80\n", encoding="utf-8")
    pins = {"PIP_CONSTRAINT": str(pin), "PIP_BUILD_CONSTRAINT": str(pin)}
    command = [of, "-m", "pip", "--disable-pip-version-check", "-q"]
    return not subprocess.run(
        [*command, *words], env={**os.environ, **pins}, capture_output=True, check=False
    ).returncode


def install(name, folder, python=sys.executable):
    """Install a library; where it is, or None where it cannot be had."""
    row = ROWS[name]
    place = Path(folder) / name
    if place.is_dir():
        return place
    with tempfile.TemporaryDirectory() as made:
        inside = Path(made) / "packages"
        if row.cython or row.only_37:
            version = ["--python-version", "3.7", "--platform", "manylinux1_x86_64"]
            done = pip(
                made,
                "download",
                "--no-deps",
                "--only-binary",
                ":all:",
                *version,
                "-d",
                made,
                *row.packages,
            )
            for wheel in Path(made).glob("*.whl"):
                zipfile.ZipFile(wheel).extractall(inside)
            if row.cython and python == sys.executable:
                done = done and compiled(inside / row.cython, Path(made))
        else:
            done = pip(
                made, "install", "--no-deps", "--target", str(inside), *row.packages, of=python
            )
        if not done:
            return None
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mv", str(inside), str(place)], check=True)
    return place


def compiled(source, folder):
    """Compile a module in Cython beside its source; whether that was possible."""
    tools = folder / "tools"
    if not pip(folder, "install", "--target", str(tools), "cython<3"):
        return False
    env = {**os.environ, "PYTHONPATH": str(tools)}
    code = source.with_suffix(".cpp")
    cython = [sys.executable, "-m", "cython", "--cplus", "-3", str(source), "-o", str(code)]
    heads = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    module = source.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
    compiler = ["g++", "-O2", "-w", "-shared", "-fPIC", *heads, str(code), "-o", str(module)]
    try:
        return not any(
            subprocess.run(command, env=env, capture_output=True, check=False).returncode
            for command in (cython, compiler)
        )
    except FileNotFoundError:  # there is no compiler
        return False


def found(name, place, python=sys.executable, change=""):
    """What a library's program gives, or the text of an error."""
    ours = [str(ROOT)] if python == sys.executable else []
    done = subprocess.run(
        [
            python,
            str(TESTS / "clients" / "libraries" / "run.py"),
            ROWS[name].program,
            str(DATA / "sentences.txt"),
            *([change] if change else []),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*ours, str(place)])},
        capture_output=True,
        text=True,
        check=False,
        cwd=tempfile.gettempdir(),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    return json.loads(lines[-1][len(MARK) :]) if lines else done.stderr[-2000:]


def moved(wanted, changed):
    """How far numbers of a list move, relative to the larger of them and 1; 0 for anything else."""
    if not isinstance(changed, list) or not all(isinstance(each, float) for each in wanted):
        return 0.0
    return max((abs(a - b) / max(1.0, abs(a)) for a, b in zip(wanted, changed)), default=0.0)


def farthest(wanted, runs):
    """Of results under several changes those that moved most, list by list."""
    if isinstance(wanted, dict):
        return {key: farthest(value, [run[key] for run in runs]) for key, value in wanted.items()}
    return max(runs, key=lambda run: moved(wanted, run))


def differences(found, wanted, tolerance, where="", changed=None):
    """Where two results differ, as lines; ``changed`` is what comes of a change of the input."""
    tolerance = max(tolerance, 10 * moved(wanted, changed))
    if isinstance(found, dict) and isinstance(wanted, dict) and set(found) == set(wanted):
        pairs = [(key, found[key], wanted[key]) for key in wanted]
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = [(number, *pair) for number, pair in enumerate(zip(found, wanted))]
    elif isinstance(found, float) and isinstance(wanted, float):
        right = abs(found - wanted) <= tolerance * max(1.0, abs(wanted))
        return [] if right else [f"{where}: {found!r}, expected {wanted!r}"]
    else:
        return [] if found == wanted else [f"{where}: {found!r:.300}, expected {wanted!r:.300}"]
    return [
        line
        for key, a, b in pairs
        for line in differences(
            *(a, b, tolerance, f"{where}/{key}" if where else str(key)),
            changed[key] if isinstance(changed, (dict, list)) else None,
        )
    ]


def recorded(name):
    """The file of what a library's program gave on paddlepaddle 1.8.5."""
    return DATA / f"{ROWS[name].like or name}.json"


def record(name, folder):
    """Write what a library's program gives there."""
    python = os.environ["FLUIDLITE_PADDLE18"]
    place = install(name, Path(folder) / "of 3.7", python)
    result = found(name, place, python)
    runs = [found(name, place, python, change) for change in ROWS[name].changes.split()]
    if runs and not isinstance(result, str):
        result = {"results": result, "changed": farthest(result, runs)}
    if isinstance(result, str):
        raise RuntimeError(result)
    text = json.dumps(result, ensure_ascii=False, indent=0, separators=(",", ":"))
    recorded(name).write_text(text + "\n", encoding="utf-8")


def compare(name, folder):
    """Run a library; what became of it, as "right", "skipped: ..." or lines that differ."""
    if ROWS[name].needs and importlib.util.find_spec(ROWS[name].needs) is None:
        return f"skipped: {ROWS[name].needs} is not installed"
    place = install(name, folder)
    if place is None:
        return f"skipped: {', '.join(ROWS[name].packages)} cannot be had here"
    wanted, changed = json.loads(recorded(name).read_text(encoding="utf-8")), None
    if ROWS[name].changes:
        wanted, changed = wanted["results"], wanted["changed"]
    lines = differences(found(name, place), wanted, ROWS[name].tolerance, changed=changed)
    return "\n".join(lines[:20]) or "right"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--folder", default=os.environ.get("FLUIDLITE_LIBRARIES"))
    parser.add_argument("--record", action="store_true", help="write what 1.8.5 gives")
    given = parser.parse_args(arguments)
    status = 0
    with tempfile.TemporaryDirectory() as made:
        for name in given.names or ROWS:
            if given.record:
                record(name, given.folder or made)
            else:
                said = compare(name, given.folder or made)
                status |= said != "right" and not said.startswith("skipped")
                print(f"{name}: {said}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
