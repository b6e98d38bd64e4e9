"""Libraries that nobody here wrote run under the alias.  They are fetched from a package index, so
this runs where ``FLUIDLITE_CLIENTS`` is set in the environment.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    not os.environ.get("FLUIDLITE_CLIENTS"), reason="FLUIDLITE_CLIENTS is not set: needs an index"
)
def test_the_algorithms_of_parl_train_with_the_losses_of_1_8():
    script = Path(__file__).with_name("parl_trains.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
