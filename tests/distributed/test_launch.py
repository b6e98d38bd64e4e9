import os
import re
import signal
import subprocess
import sys
import time
import uuid

import pytest
from mpi_jobs import TESTS, Job, environment, need_mpi

from fluidlite.distributed import launch

#: seconds: the bound of a job, and what starting and ending processes may take besides
BOUND, MARGIN = 2, 30


def words(script, *args, count=3):
    bound = f"--timeout={BOUND},{BOUND}"
    own = [sys.executable, "-m", "fluidlite.distributed.launch", "--nproc", str(count), bound]
    return [*own, str(TESTS / script), *args]


def launched(*args, **options):
    need_mpi()
    begin, mark = time.monotonic(), uuid.uuid4().hex
    done = subprocess.run(
        words(*args, mark, **options),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    seconds = time.monotonic() - begin
    assert seconds < BOUND + MARGIN
    assert left_over(mark) == []
    return Job(done.returncode, done.stdout, done.stderr, seconds)


def left_over(mark):
    """Processes with a word among their arguments."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if mark in line]


def test_an_error_is_shown_with_its_rank_and_the_line_of_the_script():
    job = launched("faulty_job.py", "raises")
    assert job.code == 1
    assert "[rank 2] ValueError: a mistake of the user's" in job.err
    assert "fluidlite: rank 2 of 3 raised ValueError: a mistake of the user's" in job.err
    assert "runpy" not in job.err and "ranked.py" not in job.err


@pytest.mark.parametrize("fault", ["is killed", "is killed behind its end"])
def test_the_process_that_was_killed_is_named(fault):
    job = launched("faulty_job.py", fault)
    assert job.code == 128 + signal.SIGKILL
    assert "fluidlite: rank 2 of 3 was killed by SIGKILL; the others are stopped" in job.err
    assert "BAD TERMINATION" not in job.err + job.out


def test_the_place_is_named_where_a_process_hangs():
    job = launched("faulty_job.py", "hangs")
    assert job.code == 1
    assert "rank 0 of 3 waited 2 s for the sum of fc_0.b_0@GRAD" in job.err
    assert 'rank 2 was at File "' in job.err
    assert "faulty_job.py" in job.err.partition("rank 2 was at")[2].splitlines()[0]


def test_the_status_of_a_process_that_ends_too_early_is_that_of_the_job():
    job = launched("faulty_job.py", "ends", count=2)
    assert job.code == 3
    assert "rank 1 has ended" in job.err


@pytest.mark.parametrize(
    "fault, status, said",
    [
        ("raises", 1, "fluidlite: rank 1 of 3 raised ValueError: a mistake of the user's"),
        ("ends", 7, "fluidlite: rank 1 has ended with status 7"),
        ("ends well", 1, "fluidlite: rank 1 has ended without joining; rank [02] waits for it"),
        ("hangs", 1, r"s in fluidlite.distributed.join\(\); rank 1 did not come to it"),
    ],
)
def test_a_process_that_fails_before_it_joins_ends_the_others(fault, status, said):
    job = launched("early_job.py", fault)
    assert job.code == status and re.search(said, job.err), job.err


def test_a_job_that_goes_well_ends_well_with_its_output():
    job = launched("faulty_job.py", "none", count=2)
    assert (job.code, job.out.count("done")) == (0, 2)
    assert job.err == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_over_when_the_launcher_is_ended(number):
    need_mpi()
    mark = uuid.uuid4().hex
    job = subprocess.Popen(words("early_job.py", "hangs", mark, count=2), env=environment())
    end = time.monotonic() + 60
    while len(left_over(mark)) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(job.pid, number)
    job.wait(60)
    assert job.returncode == (-number if number == signal.SIGKILL else 128 + number)
    while left_over(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert left_over(mark) == []


def test_a_machine_without_mpi_is_told_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(launch, "mpiexec", lambda: None)
    assert launch.main(["--nproc", "2", __file__]) == 2
    assert 'need mpiexec: pip install "fluidlite[mpi]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, said",
    [
        (["--nproc", "0", __file__], "at least 1, got 0"),
        (["nowhere.py"], "there is no file 'nowhere.py'"),
        ([], "required: SCRIPT"),
    ],
)
def test_wrong_arguments_are_refused(given, said, capsys):
    with pytest.raises(SystemExit):
        launch.main(given)
    assert said in capsys.readouterr().err
