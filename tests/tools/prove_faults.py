"""Runs the known faults of fluid 1.8.5 in it once more: each must still be what was recorded.

    FLUIDLITE_PADDLE18=/path/to/python python tests/tools/prove_faults.py

``FLUIDLITE_PADDLE18`` names a Python that has paddlepaddle 1.8.5.  That the same programs compute
what is right here is a test: ``tests/oracle/test_known_faults.py``.  Ends with the number of faults
that are no longer proven.
"""

import json
import os
import subprocess
import sys

import numpy as np

from paths import TESTS

FAULTS = TESTS / "data" / "known_faults_of_programs.json"
PATIENCE = 60  # seconds
RUN = """
import json, sys
import numpy as np
import paddle.fluid as fluid
given = dict(fluid=fluid, layers=fluid.layers, np=np, exe=fluid.Executor(fluid.CPUPlace()))
given["main"], given["startup"] = fluid.default_main_program(), fluid.default_startup_program()
exec(sys.stdin.read(), given)
print("found" + json.dumps([np.array(each).tolist() for each in given["found"]]))
"""


def found_by(python: str, code: str) -> object:
    """What a program leaves in the real one; None where it leaves nothing."""
    command = [python, "-c", RUN]
    try:
        done = subprocess.run(command, input=code, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("found")]
    return json.loads(lines[-1].removeprefix("found")) if lines else None


def is_proven(fault: dict, found: object) -> bool:
    """Whether what was found is what is recorded, and not what is right."""
    recorded = fault["recorded"]
    if found is None or isinstance(recorded, str):
        return found is None and isinstance(recorded, str)
    return len(found) == len(recorded) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-4, 1e-6, equal_nan=True)
        for a, b in zip(found, recorded, strict=True)
    )


def main() -> int:
    python = os.environ.get("FLUIDLITE_PADDLE18")
    if not python:
        print(__doc__)
        return 1
    unproven = 0
    for fault in json.loads(FAULTS.read_text()):
        found = found_by(python, fault["code"])
        if not is_proven(fault, found):
            unproven += 1
            print(f"{fault['name']}: recorded {fault['recorded']!r:.200}, found {found!r:.200}")
    print(f"{unproven} faults are not proven")
    return unproven


if __name__ == "__main__":
    sys.exit(main())
