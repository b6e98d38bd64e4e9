"""Random programs in the real fluid 1.8.5, and what is known to be wrong there."""

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

#: a Python that has paddlepaddle 1.8.5; None where there is none
PYTHON = os.environ.get("FLUIDLITE_PADDLE18")
HERE = Path(__file__).parent
#: how far two elements may be apart, relative to the largest of the array
#: what is known to be wrong in the real system, or not to be there: how it shows -> why
KNOWN = json.loads((HERE.parent / "data" / "random_programs_in_real.json").read_text())
TOLERANCE = {"float32": 2e-3, "float64": 1e-7}


class Task(NamedTuple):
    """A program to be run.

    Args:
        recipe: it.
        dtype: element type of numbers.
        start: values that parameters start from.
        names: what to fetch in each run; as the program says when empty.
    """

    recipe: Recipe
    dtype: str
    start: dict
    names: Sequence[str] = ()


def in_real(tasks):
    """What the real system computes: for each task what it finds, or the text of its error."""
    with tempfile.TemporaryDirectory() as folder:
        listed = [
            [t.recipe.seed, list(t.recipe.header), list(t.recipe.pieces), t.dtype, list(t.names)]
            for t in tasks
        ]
        Path(folder, "tasks.json").write_text(json.dumps(listed))
        starts = {f"{key_of(t)}/{n}": value for t in tasks for n, value in t.start.items()}
        np.savez(Path(folder, "start.npz"), **starts)
        done = subprocess.run(
            [PYTHON, "-m", "random_programs.in_real", folder],
            cwd=HERE.parent,
            env={**os.environ, "PYTHONPATH": "", "GLOG_v": "0", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return [f"the process ended with {done.returncode}: {done.stderr[-800:]}"] * len(tasks)
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
            task = Task(each, dtype, {name: start[name] for name in built.parameters})
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
        text = "%s: %s" % where
        if dtype == "float32" and f"{seed}/float64" in mine:
            if are_as_near(real, found, mine[f"{seed}/float64"][1]):
                text = "rounding: " + text
        differing.setdefault(seed, {})[dtype] = text
    return differing


def first_operator(recipe, dtype="float64"):
    """The first operator whose result differs when everything is fetched."""
    built = build(fluid, recipe, dtype)
    start = started(built, recipe.seed)
    block, kept = built.main.global_block(), {}
    stored = {name for op in block.ops if "lookup" in op.type for name in op.output_arg_names}
    for op in block.ops:
        for name in op.output_arg_names:
            if name in block.vars and can_be_fetched(block.vars[name]) and name not in stored:
                kept[name] = op
    whole = built._replace(runs=[(rows, list(kept)) for rows, _ in built.runs])
    mine = interpreted(whole, recipe.seed, start, dtype)
    given = {name: start[name] for name in built.parameters}
    (real,) = in_real([Task(recipe, dtype, given, list(kept))])
    if isinstance(real, str):
        return "not found: " + real
    for number, (left, right) in enumerate(zip(mine.fetched, real.fetched, strict=True)):
        for name, a, b in zip(kept, left, right, strict=True):
            how = apart(a, b, TOLERANCE[dtype]) if a.size and b.size else ""
            if how:
                return f"run {number}: {name}: {how}\n{kept[name]}"
    return "none, when every value is fetched"


def explained(differing):
    """What kind of difference it is: nothing where that is not known."""
    whys = [explanation(text) for text in differing.values()]
    return whys[0] if all(whys) else ""


def explanation(text):
    """Why the real system differs; empty where that is not known."""
    return next((why for found, why in KNOWN.items() if re.search(found, text)), "")


def tried_in_real(task):
    """Counts of explained differences of some programs, and those that are not explained."""
    seeds, _ = task
    warnings.simplefilter("ignore")
    recipes = [recipe(seed, whole=False) for seed in seeds]
    differing = held_against_real(recipes)
    counts, said = Counter(), []
    for seed, how in differing.items():
        why = explained(how)
        if why:
            counts[why] += 1
        else:
            each = recipe(seed, whole=False)
            text = "; ".join("%s: %s" % item for item in how.items())
            dtype = "float32" if "fails" in how.get("float64", "fails") else "float64"
            text += "\nfirst: " + first_operator(each, dtype)
            said.append((seed, text, str(build(fluid, each).main)))
    return len(seeds), counts, said
