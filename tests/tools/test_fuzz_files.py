"""Hostile files, as ``fuzz_files.py`` tries them by the hour."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz_files.py")


def test_hostile_files_have_no_effect_whatever_command_reads_them(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "FLUIDLITE_CC": ""}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--inputs", "40"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 inputs, 0 findings" in done.stdout
    assert list(tmp_path.iterdir()) == []
