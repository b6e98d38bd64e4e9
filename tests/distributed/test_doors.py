import subprocess
import sys

import numpy as np
import pytest
from doors_job import DOORS, at_once, by_nothing, trained
from mpi_jobs import TESTS, environment, mpiexec, need_mpi, run_job, succeeded

AT_ONCE = ["at once, dense", "at once, sparse"]


@pytest.fixture(scope="module")
def alone():
    """What one process makes of whole batches without any door."""
    return {None: trained(by_nothing), **{door: at_once("sparse" in door) for door in AT_ONCE}}


@pytest.mark.parametrize("count", [2, 3])
def test_every_door_trains_as_one_process_on_all_of_the_batch(count, alone, tmp_path):
    need_mpi()
    doors = [*DOORS, *AT_ONCE]
    succeeded(run_job("doors_job.py", count, tmp_path / "made.npz", *doors))
    with np.load(tmp_path / "made.npz") as made:
        for door in doors:
            for name, want in alone[door if door in AT_ONCE else None].items():
                found = made[f"{door}:{name}"]
                assert np.allclose(found, want, rtol=1e-9, atol=1e-10), f"{door}: {name}"


@pytest.mark.parametrize("door", DOORS)
def test_a_door_changes_nothing_where_a_process_is_alone(door, alone):
    made = trained(DOORS[door])
    for name, want in alone[None].items():
        assert np.allclose(made[name], want, rtol=1e-9, atol=1e-10), name


def test_two_devices_in_each_of_two_processes_are_refused(tmp_path):
    need_mpi()
    job = run_job("doors_job.py", 2, tmp_path / "made.npz", "compiled program", CPU_NUM="2")
    assert job.code != 0
    assert "expected one device in each of 2 processes, got 2" in job.err


def losses(out):
    found = sorted(line.split() for line in out.splitlines() if line.startswith("loss "))
    return {(int(rank), int(step)): float(value) for _, rank, step, value in found}


OLD = ["-m", "fluidlite", "run", str(TESTS / "fleet_script.py")]


def start(*words, **more):
    """Run a command to its end."""
    done = subprocess.run(
        words, env=environment(**more), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_an_old_script_runs_under_mpiexec_and_both_launchers(tmp_path):
    need_mpi()
    python = sys.executable
    launcher = [python, "-m", "fluidlite.distributed.launch", "--nproc", "2", *OLD]
    paddle = [python, "-m", "fluidlite", "run", "-m", "paddle.distributed.launch"]
    ways = {
        "mpiexec": [mpiexec(), "-n", "2", python, *OLD],
        "launcher": launcher,
        "paddle": [*paddle, "--selected_gpus=0,1", OLD[-1]],
    }
    alone = losses(start(python, *OLD, str(tmp_path / "alone")))
    for name, words in ways.items():
        found = losses(start(*words, str(tmp_path / name)))
        assert set(found) == {(rank, step) for rank in (0, 1) for step in range(5)}
        for (_, step), value in alone.items():
            mean = (found[0, step] + found[1, step]) / 2
            assert mean == pytest.approx(value, rel=1e-4), (name, step)
        assert (tmp_path / name / "fc_0.w_0").is_file()
        assert (tmp_path / name / "model" / "__model__").is_file()
