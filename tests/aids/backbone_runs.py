"""Trains the backbones of PaddleClas that ``library_runs.py`` leaves out, a process each, and
compares them with paddlepaddle 1.8.5.

    python tests/aids/backbone_runs.py [--folder FOLDER] [--record] [NAME ...]

``--record`` runs them with the Python that ``FLUIDLITE_PADDLE18`` names, too, as they are and with
pictures that are others by 1 and 2 parts in 10 million, and adds a line to
``tests/data/libraries/backbones.jsonl``: what they gave there, how far their own numbers move, how
far ours are from them, and what memory each took.  Without it, ours are compared with these lines.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from library_runs import DATA, MARK, ROOT, ROWS, TESTS, farthest, install, moved

LIBRARY, ALLOWED = "ppcls-0.1.2.7", 1e-5
LINES = DATA / "backbones.jsonl"
LISTS = ("losses", "logits", "norms of gradients")


def run(python, place, change, name, seconds):
    """What a backbone gives and the megabytes it takes, or the end of what was said of a fault."""
    ours = [str(ROOT)] if python == sys.executable else []
    program = TESTS / "clients" / "libraries" / "run.py"
    command = [python, str(program), "backbones", str(DATA / "sentences.txt"), change, name]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*ours, str(place)])}
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"no end after {seconds} seconds", 0
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        return f"status {done.returncode}: {done.stderr[-300:]}", 0
    results = json.loads(lines[-1][len(MARK) :])
    return results[name], results["megabytes"]


def distances(one, other):
    """How far two results are from each other, list by list."""
    return {key: moved(one[key], other[key]) for key in LISTS}


def judged(ours, real):
    """What is to be said of a backbone: "right", or what differs."""
    if isinstance(ours, str):
        return ours
    if ours["program"] != real["program"]:
        return "another program"
    far = distances(real, ours)
    wrong = [key for key in LISTS if far[key] > max(ALLOWED, 10 * real["moved"][key])]
    return f"{', '.join(wrong)}: {far}" if wrong else "right"


def recorded():
    """What is known of the real ones, by name."""
    if not LINES.exists():
        return {}
    lines = map(json.loads, LINES.read_text(encoding="utf-8").splitlines())
    return {line["name"]: line for line in lines}


def record(name, folder, seconds):
    """What a backbone gives on 1.8.5, and how far that moves; an error as a text."""
    python = os.environ["FLUIDLITE_PADDLE18"]
    place = install(LIBRARY, Path(folder) / "of 3.7", python)
    real, size = run(python, place, "0", name, seconds)
    if isinstance(real, str):
        return real
    changes = ROWS[LIBRARY].changes.split()
    others = [run(python, place, change, name, seconds)[0] for change in changes]
    if fault := next((run for run in others if isinstance(run, str)), ""):
        return fault
    spread = distances(real, {key: farthest(real[key], [o[key] for o in others]) for key in LISTS})
    return {"name": name, **real, "moved": spread, "megabytes": size}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", default=os.environ.get("FLUIDLITE_LIBRARIES"))
    parser.add_argument("--seconds", type=int, default=600, help="how long one may take")
    parser.add_argument("--record", action="store_true", help="run them on 1.8.5, too")
    given = parser.parse_args(arguments)
    known, status = recorded(), 0
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or made
        for name in given.names or known:
            real = record(name, folder, given.seconds) if given.record else known[name]
            if isinstance(real, str):
                print(f"{name}: 1.8.5: {real}", flush=True)
                continue
            ours, size = run(sys.executable, install(LIBRARY, folder), "0", name, given.seconds)
            said = judged(ours, real)
            status |= said != "right"
            print(f"{name}: {said} ({size} MB, 1.8.5 {real['megabytes']})", flush=True)
            if given.record:
                known[name] = real if isinstance(ours, str) else {
                    **real, "here": {**distances(real, ours), "megabytes": size}
                }  # fmt: skip
                text = "\n".join(json.dumps(line) for line in known.values())
                LINES.write_text(text + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
