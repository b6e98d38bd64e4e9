"""Kills a process while it saves, again and again: files must be the old ones or the new ones.

    python benchmarks/kill_while_saving.py [--kills 200] [--megabytes 8]

A child process saves one state after the other, in every way there is, and is killed (SIGKILL) at a
random moment.  Then every file must be whole, hold one state and no mixture, and not be older than
the last state that the child said was saved.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fluidlite as fluid

NAMES = ["w_0", "w_1", "w_2", "w_3"]


def program(elements: int) -> fluid.Program:
    """A program of four variables that stay in the scope."""
    made = fluid.Program()
    for name in NAMES:
        made.global_block().create_parameter([elements], "float32", name=name)
    return made


def put(version: int, elements: int) -> None:
    """The state of a version: every number of every variable is the version."""
    for name in NAMES:
        fluid.global_scope().var(name).value = np.full([elements], version, "float32")


def ways(main: fluid.Program, exe: fluid.Executor) -> dict[str, Callable[[str, int], Any]]:
    """The ways of saving, by the name of the folder that they save to."""
    return {
        "combined": lambda folder, _: fluid.io.save_persistables(exe, folder, main, "all"),
        "separate": lambda folder, _: fluid.io.save_persistables(exe, folder, main),
        "save": lambda folder, _: fluid.save(main, os.path.join(folder, "model")),
        "checkpoint": lambda folder, version: fluid.checkpoint.save(folder, main, step=version),
    }


def save_for_ever(folder: str, first: int, elements: int, said: int) -> None:
    """Save versions in turn; say each one that is saved."""
    main, exe = program(elements), fluid.Executor()
    functions = ways(main, exe)
    version = first
    while True:
        put(version, elements)
        for name, save in functions.items():
            save(os.path.join(folder, name), version)
            os.write(said, f"{name} {version}\n".encode())
        version += 1


def saved_by_child(folder: str, first: int, elements: int, seconds: float) -> dict[str, int]:
    """Let a child save for some time, and kill it; the last versions that it said it had saved."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            save_for_ever(folder, first, elements, write)
        finally:
            os._exit(1)  # it never ends by itself
    os.close(write)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit("the child ended before it was killed")
    with os.fdopen(read) as file:
        lines = [line.split() for line in file if line.endswith("\n")]
    return {name: int(version) for name, version in lines}


def versions_of(found: dict[str, Any], elements: int, what: str) -> set[int]:
    """The versions that variables hold, each of which must hold one."""
    versions = set()
    for name in NAMES:
        array = found.get(name)
        if array is None or array.shape != (elements,) or array.min() != array.max():
            raise SystemExit(f"{what}: variable {name} is damaged")
        versions.add(int(array[0]))
    return versions


def check(folder: Path, last: dict[str, int], elements: int) -> Counter[str]:
    """What was left by a killed process is whole, and nothing that was saved is lost."""
    left: Counter[str] = Counter()
    for way, version in last.items():
        if way == "checkpoint":
            newest = fluid.checkpoint.load(folder / way, program(elements), fluid.Scope())
            found, mixed = newest.variables, False
        elif way == "separate":
            files = [folder / way / name for name in NAMES]
            found = {path.name: fluid.io.read(path).variables[path.name] for path in files}
            mixed = True  # each file by itself is the old or the new one
        else:
            path = folder / way / ("all" if way == "combined" else "model")
            found, mixed = fluid.io.read(path).variables, False
            if way == "combined":
                found = dict(zip(NAMES, found.values()))
        versions = versions_of(found, elements, way)
        if len(versions) > 1 and not mixed:
            raise SystemExit(f"{way}: a mixture of the versions {versions}")
        if min(versions) < version or max(versions) > version + 1:
            raise SystemExit(f"{way}: version {version} was saved, the files hold {versions}")
        left[f"{way}: {'new' if max(versions) > version else 'old'}"] += 1
        left["mixture of whole files"] += len(versions) > 1
    return left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=8, help="of a state")
    parser.add_argument("--longest", type=float, default=0.5, help="seconds until a kill")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    elements = int(given.megabytes * 2**20 / 4 / len(NAMES))
    rng = random.Random(given.seed)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put(0, elements)
        first, last = 1, {}
        for way, save in ways(program(elements), fluid.Executor()).items():
            save(str(folder / way), 0)
            last[way] = 0
        for _ in range(given.kills):
            said = saved_by_child(name, first, elements, rng.uniform(0, given.longest))
            last |= said
            total += check(folder, last, elements)
            put(first := max(last.values()) + 2, elements)
            for way, save in ways(program(elements), fluid.Executor()).items():
                save(str(folder / way), first)  # all of them start from one version again
                last[way] = first
            first += 1
        total["unfinished files left"] = sum(1 for _ in folder.rglob(".*.partial"))
    print(f"{given.kills} kills: nothing lost, nothing half-written")
    for what, count in sorted(total.items()):
        print(f"  {what:<26}{count:>6}")


if __name__ == "__main__":
    sys.exit(main())
