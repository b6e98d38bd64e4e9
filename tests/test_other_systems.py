"""What systems without fork, groups of processes and many signals do instead."""

import os
import subprocess
import sys

from fluidlite.backend.native import calls
from fluidlite.distributed import guard
from fluidlite.ground.signal_names import signal_name
from fluidlite.paddle.distributed.fleet.utils import LocalFS


def test_a_process_of_a_job_is_waited_for_where_none_can_fork(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fork")
    assert guard.main([str(tmp_path), sys.executable, "-c", "raise SystemExit(3)"]) == 3
    (died,) = tmp_path.glob("died-*")
    assert died.read_text(encoding="utf-8").split()[1] == "3"


def test_a_compiler_is_ended_where_there_are_no_groups_of_processes(monkeypatch):
    monkeypatch.delattr(os, "killpg", raising=False)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        calls.end(process)
        assert process.wait(30) != 0


def test_a_signal_that_the_system_does_not_know_has_its_number_for_a_name():
    assert signal_name(15) == "SIGTERM"
    assert signal_name(4711) == "signal 4711"


def test_a_file_that_is_renamed_takes_the_place_of_another(tmp_path):
    old, new = tmp_path / "old name", tmp_path / "new name"
    old.write_text("new")
    new.write_text("old")
    LocalFS().rename(str(old), str(new))
    assert new.read_text() == "new"
    assert not old.exists()
