"""Jobs of several processes, for tests."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent
#: seconds after which a job hangs, whatever it was to show
MOST = 120


class Job(NamedTuple):
    """What a job left."""

    code: int
    out: str
    err: str
    seconds: float


def mpiexec():
    """The mpiexec of this Python's environment, or any; None if there is none."""
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    return beside or shutil.which("mpiexec")


def need_mpi():
    """Skip a test where processes cannot be started together."""
    if importlib.util.find_spec("mpi4py") is None or mpiexec() is None:
        pytest.skip('several processes need fluidlite[mpi]: pip install "fluidlite[mpi]"')


def command(script, count, *args):
    """What starts a script of this folder in several processes."""
    python = [sys.executable, str(TESTS / script), *map(str, args)]
    return [mpiexec(), "-n", str(count), *python]


def environment(**more):
    """The environment of jobs: one thread for each process, and no long waits."""
    paths = [str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "FLUIDLITE_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "FLUIDLITE_MPI_TIMEOUT": "20,60",
        **more,
    }


def run_job(script, count, *args, **more):
    """Run a script in several processes to its end."""
    begin = time.monotonic()
    done = subprocess.run(
        command(script, count, *args),
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=MOST,
    )
    return Job(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


def succeeded(job):
    """A job that has to have ended well."""
    assert job.code == 0, job.err + job.out
    return job
