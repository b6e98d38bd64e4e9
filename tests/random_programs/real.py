"""Random programs in the real fluid 1.8.5, and what is known to be wrong there."""

import atexit
import json
import os
import re
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fluidlite as fluid

from .program import Recipe, build, recipe
from .ways import (
    Found,
    apart,
    are_as_near,
    can_be_fetched,
    difference,
    interpreted,
    names_of,
    started,
)

#: a Python that has paddlepaddle 1.8.5; None if there is none
PYTHON = os.environ.get("FLUIDLITE_PADDLE18")
HERE = Path(__file__).parent
#: how far two elements may be apart, relative to the largest of the array
#: what is known to be wrong in the real system, or not to be there: how it shows -> why
KNOWN = json.loads((HERE.parent / "data" / "random_programs_in_real.json").read_text())
TOLERANCE = {"float32": 2e-3, "float64": 1e-6}  # learning rates that decay are float32


class Task(NamedTuple):
    """A program to be run.

    Args:
        recipe: it.
        dtype: element type of numbers.
        start: values that parameters start from.
        runs: rows of the batch and names to fetch, of each.
    """

    recipe: Recipe
    dtype: str
    start: dict
    runs: Sequence[tuple[int, Sequence[str]]]


class RealProcess:
    """A process of the real system, which runs the programs of one folder after another: it takes
    longer to start than to run many of them.
    """

    def __init__(self):
        self._process = None

    def ran(self, folder):
        """Have the programs of a folder run; False where that ended the process."""
        if self._process is None:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "random_programs.in_real"],
                cwd=HERE.parent,
                env={**os.environ, "PYTHONPATH": "", "GLOG_v": "0", "OMP_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            atexit.register(self.end)
        try:
            self._process.stdin.write(folder + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.end()
            return False
        while line := self._process.stdout.readline():
            if line == f"ran {folder}\n":  # it prints other things, too
                return True
        self.end()
        return False

    def end(self):
        """End it; the next folder starts another."""
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(self.end)
            process.kill()
            process.communicate()


REAL = RealProcess()


def in_real(tasks):
    """What the real system computes: for each task what it finds, or the text of its error."""
    with tempfile.TemporaryDirectory() as folder:
        listed = [
            [t.recipe.seed, list(t.recipe.header), list(t.recipe.pieces), t.dtype, t.runs]
            for t in tasks
        ]
        Path(folder, "tasks.json").write_text(json.dumps(listed))
        starts = {f"{key_of(t)}/{n}": value for t in tasks for n, value in t.start.items()}
        np.savez(Path(folder, "start.npz"), **starts)
        if not REAL.ran(folder):
            if len(tasks) == 1:
                return ["the process ended"]
            half = len(tasks) // 2  # which of them ends it?
            return in_real(tasks[:half]) + in_real(tasks[half:])
        failed = json.loads(Path(folder, "failed.json").read_text())
        with np.load(Path(folder, "found.npz"), allow_pickle=False) as found:
            values = {key: found[key] for key in found.files}
    return [failed.get(key_of(task)) or _found(values, key_of(task)) for task in tasks]


def key_of(task):
    """What a task goes by in files."""
    return f"{task.recipe.seed}/{task.dtype}"


def _found(values, key):
    """What came out of a task."""
    runs, state = {}, {}
    for name, value in values.items():
        if not name.startswith(key + "/"):
            continue
        kind, rest = name[len(key) + 1 :].split("/", 1)
        if kind == "state":
            state[rest] = value
        else:
            number, place = map(int, rest.split("/"))
            runs.setdefault(number, {})[place] = value
    most = max(runs, default=-1)
    fetched = [[runs.get(n, {})[i] for i in sorted(runs.get(n, {}))] for n in range(most + 1)]
    return Found(fetched, state)


def held_against_real(recipes, dtypes=("float64", "float32")):
    """For each recipe what differs from the real system, by element type."""
    tasks, mine = [], {}
    for each in recipes:
        for dtype in dtypes:
            built = build(fluid, each, dtype)
            start = started(built, each.seed)
            task = Task(each, dtype, given_in_real(built, start), built.runs)
            mine[key_of(task)] = built, interpreted(built, each.seed, start, dtype)
            tasks.append(task)
    differing = {}
    for task, real in zip(tasks, in_real(tasks), strict=True):
        built, found = mine[key_of(task)]
        seed, dtype = task.recipe.seed, task.dtype
        if isinstance(real, str):
            differing.setdefault(seed, {})[dtype] = "the real system fails: " + real
            continue
        where = difference(found, real, names_of(built), TOLERANCE[dtype])
        if where is None:
            continue
        text = "{}: {}".format(*where)
        truth = mine.get(f"{seed}/float64")
        if dtype == "float32" and truth is not None and are_as_near(found, real, truth[1]):
            text = "rounding: " + text
        differing.setdefault(seed, {})[dtype] = text
    return differing


def given_in_real(built, start):
    """What a program of the real system starts from: parameters, and what optimizers keep for the
    slopes of ``prelu``, which the real system makes as float32 whatever the slopes are.
    """
    slopes = tuple(name + "_" for name in built.parameters if name.startswith("prelu"))
    return {n: v for n, v in start.items() if n in built.parameters or n.startswith(slopes)}


def first_operator(recipe, dtype="float64"):
    """The first operator whose result differs when everything is fetched."""
    built = build(fluid, recipe, dtype)
    start = started(built, recipe.seed)
    block, kept = built.main.global_block(), {}
    stored = {name for op in block.ops if "lookup" in op.type for name in op.output_arg_names}
    for op in block.ops:  # statistics of a batch that is not asked for its own
        if op.type == "batch_norm" and op.attr("use_global_stats"):
            stored |= {*op.output("SavedMean"), *op.output("SavedVariance")}
    for op in block.ops:
        for name in op.output_arg_names:
            if name in block.vars and can_be_fetched(block.vars[name]) and name not in stored:
                kept[name] = op
    whole = built._replace(runs=[(rows, list(kept)) for rows, _ in built.runs])
    mine = interpreted(whole, recipe.seed, start, dtype)
    (real,) = in_real([Task(recipe, dtype, given_in_real(built, start), whole.runs)])
    if isinstance(real, str):
        return "not found: " + real
    for number, (left, right) in enumerate(zip(mine.fetched, real.fetched, strict=True)):
        for name, a, b in zip(kept, left, right, strict=True):
            if a is None:
                continue
            how = apart(a, b, TOLERANCE[dtype]) if np.size(a) and np.size(b) else ""
            if how:
                return f"run {number}: {name}: {how}\n{kept[name]}"
    return "none, when every value is fetched"


def told(recipe):
    """The types of a program's operators; ``unreached`` behind one whose ``X`` gets no gradient."""
    ops = build(fluid, recipe).main.global_block().ops
    alone = [op.type for op in ops if op.type.endswith("_grad") and not op.outputs.get("X@GRAD")]
    return ", ".join(sorted({*(op.type for op in ops), *(type + " unreached" for type in alone)}))


def explanation(text):
    """Why the real system differs; empty where that is not known."""
    return next((why for found, why in KNOWN.items() if re.search(found, text)), "")


def unexplained(recipes):
    """Differences from the real system that nobody has explained: seeds and texts, with the first
    operator that differs; and how often there were others, by reason.
    """
    counts, said = Counter(), []
    by_seed = {each.seed: each for each in recipes}
    for seed, how in held_against_real(recipes).items():
        open_ones = {dtype: text for dtype, text in how.items() if not explanation(text)}
        counts.update(explanation(text) for text in how.values() if explanation(text))
        for dtype, text in open_ones.items():
            if not text.startswith("the real system fails"):
                text += "\nfirst: " + first_operator(by_seed[seed], dtype)
            text += "\noperators: " + told(by_seed[seed])
            if explanation(text):
                counts[explanation(text)] += 1
            else:
                said.append((seed, f"{dtype}: {text}"))
    return counts, said


def tried_in_real(seeds):
    """Counts of explained differences of some programs, and those that are not explained."""
    warnings.simplefilter("ignore")
    counts, said = unexplained([recipe(seed, whole=False) for seed in seeds])
    programs = {seed: str(build(fluid, recipe(seed, whole=False)).main) for seed, _ in said}
    return len(seeds), counts, [(seed, text, programs[seed]) for seed, text in said]
