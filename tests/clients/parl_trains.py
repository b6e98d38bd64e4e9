"""Trains the algorithms of the library parl 1.3.2, which nobody here wrote, under the alias.

    python tests/clients/parl_trains.py [--folder FOLDER]

The wheel is installed without its dependencies into a folder of its own, beside current releases of
what it imports.  The losses of 50 steps are compared with those that paddlepaddle 1.8.5 gave with
the same start values and data (``tests/data/legacy/parl_losses.json``).  Where the wheel cannot be
had, this says so and ends with 0.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORDED = ROOT / "tests" / "data" / "legacy" / "parl_losses.json"
PACKAGES = ["parl==1.3.2", "six", "termcolor"]
TOLERANCE = 1e-5  # of a loss, or of 1 where that is less


def install(folder):
    """Install the packages into a folder; whether that was possible."""
    if (Path(folder) / "parl").is_dir():
        return True
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, *PACKAGES], capture_output=True, text=True, check=False)
    return done.returncode == 0


def trained(folder):
    """The losses: algorithm -> steps -> losses, or the text of an error."""
    done = subprocess.run(
        [sys.executable, str(HERE / "parl_programs.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])},
        capture_output=True,
        text=True,
        check=False,
        cwd=tempfile.gettempdir(),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("LOSSES ")]
    if not lines:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(lines[-1].removeprefix("LOSSES "))


def difference(found, wanted):
    """The greatest difference of two runs' losses; infinite where one is an error."""
    if isinstance(found, str) or len(found) != len(wanted):
        return float("inf")
    pairs = [pair for rows in zip(found, wanted) for pair in zip(*rows)]
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in pairs)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="where the packages are, or are installed to")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or made
        if not install(folder):
            print("skipped: the wheel of parl 1.3.2 cannot be had here")
            return 0
        found = trained(folder)
    wanted = json.loads(RECORDED.read_text(encoding="utf-8"))
    status = 0
    for name, losses in wanted.items():
        apart = difference(found.get(name, "not run"), losses)
        right = apart <= TOLERANCE
        status |= not right
        said = "" if right else f"  {found.get(name)!r:.200}"
        print(f"{name:<15} {len(losses)} steps, greatest difference {apart:.1e}{said}")
    return status


if __name__ == "__main__":
    sys.exit(main())
