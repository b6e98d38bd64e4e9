"""The programs of ``examples/legacy`` beside paddlepaddle 1.8.5, where a Python has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    not os.environ.get("FLUIDLITE_PADDLE18"),
    reason="FLUIDLITE_PADDLE18 is not set: needs a Python that has paddlepaddle 1.8.5",
)
def test_programs_of_their_time_print_here_what_they_print_there():
    script = Path(__file__).with_name("legacy_losses.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
