import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import resumed_job
from mpi_jobs import TESTS, environment, need_mpi, run_job, succeeded

import fluidlite as fluid
from fluidlite.errors import FileError
from fluidlite.ground.process_group import OneProcess, groups
from fluidlite.io.checkpoint import checkpoints_in, read_checkpoint

PER_EPOCH = -(-resumed_job.SAMPLES // resumed_job.BATCH)
LAST = 2 * PER_EPOCH


def read_by(folder, first_steps):
    """The samples that the processes had which began at one of these steps."""
    found = []
    for path in folder.glob("samples-*.txt"):
        if int(path.name.split("-")[1]) in first_steps:
            found += map(int, path.read_text().split())
    return sorted(found)


@pytest.mark.parametrize("first, second", [(4, 2), (2, 3), (1, 4)])
def test_a_training_goes_on_with_another_number_of_processes(first, second, tmp_path):
    need_mpi()
    stop = PER_EPOCH - 3
    folder = tmp_path / "several"
    succeeded(run_job("resumed_job.py", first, folder, stop, 100, 0))
    had = read_by(folder, {0})
    assert len(had) == stop * resumed_job.BATCH == len(set(had))
    succeeded(run_job("resumed_job.py", second, folder, PER_EPOCH, 100, 0))
    assert read_by(folder, {0, stop}) == list(range(resumed_job.SAMPLES))
    succeeded(run_job("resumed_job.py", second, folder, LAST, 100, 0))
    assert read_by(folder, {PER_EPOCH}) == list(range(resumed_job.SAMPLES))
    want = resumed_job.main(str(tmp_path / "alone"), LAST, 100)
    found = fluid.checkpoint.load(folder, scope=fluid.Scope()).variables
    for name, value in want.items():
        assert np.allclose(found[name], value, rtol=2e-6, atol=1e-8), name


def killed_at(moment, folder):
    """Kill one of two processes some time after they have begun; the launcher's exit status."""
    job = subprocess.Popen(
        [sys.executable, "-m", "fluidlite.distributed.launch", "--nproc", "2"]
        + [str(TESTS / "resumed_job.py"), str(folder), str(LAST), "1", "0.05"],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    before = len(list(folder.glob("samples-*-0.txt"))) if folder.is_dir() else 0
    end = time.monotonic() + 60
    while time.monotonic() < end and job.poll() is None:
        if folder.is_dir() and len(list(folder.glob("samples-*-0.txt"))) > before:
            break
        time.sleep(0.01)
    time.sleep(moment)
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True).stdout
    pids = [
        int(line.split()[0])
        for line in listed.splitlines()
        if str(folder) in line and "distributed.ranked" in line and "mpiexec" not in line
    ]
    for pid in pids[-1:]:
        os.kill(pid, signal.SIGKILL)
    try:
        _, said = job.communicate(timeout=60)
    finally:
        job.kill()  # where it hangs, later tests are not to find it
    return job.returncode, said


def test_a_process_that_is_killed_at_any_moment_leaves_whole_checkpoints(tmp_path):
    need_mpi()
    drawn = random.Random(1)
    folder = tmp_path / "checkpoints"
    statuses = [killed_at(drawn.uniform(0, 0.5), folder) for _ in range(3)]
    assert any("was killed by SIGKILL" in said for _, said in statuses), statuses
    for _, name in checkpoints_in(folder):
        read_checkpoint(folder / name)
    succeeded(run_job("resumed_job.py", 2, folder, LAST, 100, 0))
    want = resumed_job.main(str(tmp_path / "alone"), LAST, 100)
    found = fluid.checkpoint.load(folder, scope=fluid.Scope()).variables
    for name, value in want.items():
        assert np.allclose(found[name], value, rtol=2e-6, atol=1e-8), name


class Second(OneProcess):
    """The second of two processes, of which the first one is not really there."""

    size, rank = 2, 1
    failed = False

    def all_gather(self, x, ring):
        return np.concatenate([np.full_like(x, self.failed), x])


def test_only_process_0_writes(tmp_path):
    with groups.guard(Second()):
        path = fluid.checkpoint.save(tmp_path, fluid.Program(), step=3)
    assert path.endswith("checkpoint-000000000003.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_process_0_cannot_write_fails_everywhere(tmp_path):
    group = Second()
    group.failed = True
    with groups.guard(group), pytest.raises(FileError, match="process 0 did not"):
        fluid.checkpoint.save(tmp_path, fluid.Program(), step=3)


def test_a_checkpoint_without_a_reader_says_what_to_save(tmp_path):
    fluid.checkpoint.save(tmp_path, fluid.Program())
    reader = fluid.distributed.shard_reader(lambda: iter([[1, 2]]))
    before = reader.state()
    with pytest.raises(fluid.errors.FileFormatError, match=r"save\(..., reader=reader\)"):
        fluid.checkpoint.load(tmp_path, reader=reader)
    assert reader.state() == before


def test_a_state_may_be_saved_in_the_place_of_a_reader(tmp_path):
    reader = fluid.distributed.shard_reader(lambda: iter([[k] for k in range(5)]), seed=1)
    taken = reader()
    assert [next(taken) for _ in range(3)] == [[0], [1], [2]]
    fluid.checkpoint.save(tmp_path, fluid.Program(), reader=reader.state(batches=2))
    again = fluid.distributed.shard_reader(lambda: iter([[k] for k in range(5)]))
    fluid.checkpoint.load(tmp_path, reader=again)
    assert list(again()) == [[2], [3], [4]]
    assert len(list(again())) == 5
