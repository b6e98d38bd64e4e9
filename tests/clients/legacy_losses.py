"""Compares what the programs of ``examples/legacy`` print here with what they print on paddlepaddle
1.8.5, with the same start values and data (``legacy_driver.py`` says how).

    FLUIDLITE_PADDLE18=/path/to/python python tests/clients/legacy_losses.py [--record] [NAME ...]

The variable names a Python that has paddlepaddle 1.8.5.  ``--record`` writes what was printed there
to ``tests/data/legacy_losses.json``, for the test that has no such Python.
"""

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import legacy_driver  # noqa: E402

PROGRAMS = sorted(path.stem for path in (ROOT / "examples" / "legacy").glob("*.py"))
RECORDED = ROOT / "tests" / "data" / "legacy_losses.json"
QUICK = "--enable_ce"
BOUND = 1e-4


def difference(here, there):
    """The greatest difference of numbers, by the size of those above 1; where lines agree."""
    here, there = legacy_driver.printed(here), legacy_driver.printed(there)
    assert [text for text, _ in here] == [text for text, _ in there], (here, there)
    assert [len(numbers) for _, numbers in here] == [len(numbers) for _, numbers in there]
    pairs = [pair for a, b in zip(here, there) for pair in zip(a[1], b[1])]
    return max(abs(a - b) / max(1, abs(b)) for a, b in pairs), len(pairs)


def run_real(python, path, samples, folder):
    """What a program printed on the real system, and the seconds that it took."""
    begin = time.perf_counter()
    done = subprocess.run(
        [python, str(ROOT / "tests/clients/legacy_driver.py"), samples, str(path), QUICK],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{path.name} ended with {done.returncode} there:\n{done.stderr[-3000:]}")
    return done.stdout, time.perf_counter() - begin


def main():
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("names", nargs="*", default=PROGRAMS)
    given = parser.parse_args()
    python = os.environ.get("FLUIDLITE_PADDLE18")
    if not python:
        sys.exit("FLUIDLITE_PADDLE18 has to name a Python that has paddlepaddle 1.8.5")
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    failed = False
    print("| program | numbers | greatest difference | seconds here | there |")
    print("| --- | --- | --- | --- | --- |")
    for name in given.names:
        path = ROOT / "examples" / "legacy" / f"{name}.py"
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            begin = time.perf_counter()
            log, status, here = legacy_driver.captured(path, [QUICK])
            seconds = time.perf_counter() - begin
            os.chdir(before)
            if status:
                sys.exit(f"{name} ended with {status} here")
            samples = os.path.join(folder, "samples.pickle")
            with open(samples, "wb") as file:
                pickle.dump(log, file, protocol=4)
            there, seconds_there = run_real(python, path, samples, folder)
        try:
            worst, count = difference(here, there)
        except AssertionError as error:
            print(f"| {name} | - | {error} |\n--- here\n{here}\n--- there\n{there}")
            failed = True
            continue
        if worst > BOUND:
            print(f"--- here\n{here}\n--- there\n{there}")
        failed |= worst > BOUND
        print(f"| {name} | {count} | {worst:.1e} | {seconds:.1f} | {seconds_there:.1f} |")
        recorded[name] = there.splitlines()
    if given.record:
        RECORDED.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
