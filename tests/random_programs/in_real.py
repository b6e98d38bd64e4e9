"""Runs in the real system, a Python 3.7 with paddlepaddle 1.8.5: builds and runs random programs.

    REAL_PYTHON -m random_programs.in_real

Each line of its input is a folder, and is answered by ``ran FOLDER``.
``FOLDER/tasks.json`` has recipes, and ``FOLDER/start.npz`` the values that parameters start from.
What comes out goes to ``FOLDER/found.npz`` and ``FOLDER/failed.json``.
"""

import json
import os
import sys
import traceback

import numpy as np
import paddle.fluid as fluid

from .program import Header, Recipe, batch, build


def ran(recipe, dtype, runs, start):
    """Fetched values of each run, and values of persistable variables at the end."""
    built = build(fluid, recipe, dtype)
    built = built._replace(runs=runs)
    scope, place = fluid.Scope(), fluid.CPUPlace()
    exe = fluid.Executor(place)
    fetched, state = [], {}
    with fluid.scope_guard(scope):
        exe.run(built.startup)
        for name, value in start.items():
            scope.var(name).get_tensor().set(value, place)
        for number, (_, names) in enumerate(built.runs):
            feed = batch(built, recipe.seed, number, dtype)
            fetched.append(exe.run(built.main, feed=feed, fetch_list=names))
        for var in built.main.list_vars():
            held = scope.find_var(var.name) if var.persistable else None
            if held is not None and var.name not in ("feed", "fetch"):
                state[var.name] = np.array(held.get_tensor())
    return fetched, state


def summary(text):
    """The last words of an error."""
    _, found, told = text.partition("Error Message Summary:")
    lines = [line for line in (told if found else text).splitlines() if line.strip("- ")]
    return " ".join(lines[:4] if found else lines[-1:])[:600]


def run_all(folder):
    with open(os.path.join(folder, "tasks.json")) as file:
        tasks = json.load(file)
    with np.load(os.path.join(folder, "start.npz")) as packed:
        starts = {key: packed[key] for key in packed.files}
    results, failed = {}, {}
    for seed, header, pieces, dtype, runs in tasks:
        key = f"{seed}/{dtype}"
        recipe = Recipe(seed, Header(*header), [tuple(piece) for piece in pieces])
        start = {n[len(key) + 1 :]: v for n, v in starts.items() if n.startswith(key + "/")}
        try:
            fetched, state = ran(recipe, dtype, runs, start)
        except Exception:
            failed[key] = summary(traceback.format_exc())
            continue
        for number, values in enumerate(fetched):
            for place, value in enumerate(values):
                value = np.zeros(0) if value is None else np.asarray(value)
                if value.dtype == object:  # such as the scopes of a loop
                    value = np.zeros(0)
                results[f"{key}/run/{number}/{place}"] = value
        for name, value in state.items():
            results[f"{key}/state/{name}"] = value
    np.savez(os.path.join(folder, "found.npz"), **results)
    with open(os.path.join(folder, "failed.json"), "w") as file:
        json.dump(failed, file)


def main():
    for line in sys.stdin:
        folder = line.rstrip("\n")
        run_all(folder)
        print("ran", folder, flush=True)


if __name__ == "__main__":
    main()
