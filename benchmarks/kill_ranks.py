"""Kills one of several processes that train together, again and again: the others must end, too.

    python benchmarks/kill_ranks.py [--kills 50] [--processes 3] [--bound 5]

A job trains without end.  At a random moment, from the first line of the program on, one of its
processes is killed (SIGKILL), stopped (SIGSTOP: it hangs) or interrupted (SIGINT: it raises).  Then
the job must have ended within the bound of waiting and what starting and ending take.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve()
MARGIN = 20.0  # seconds that ending takes at most, on a busy machine
FIRST = 4  # times the bound: for the first steps
WAYS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP, "interrupted": signal.SIGINT}


def train(folder: Path) -> None:
    """Train without end, after saying which process this is."""
    (folder / str(os.getpid())).touch()
    import numpy as np

    import fluidlite as fluid

    group = fluid.distributed.join()
    x = fluid.data("x", [None, 8], "float32")
    hidden = fluid.layers.fc(fluid.layers.fc(x, 32, act="relu"), 32, act="relu")
    loss = fluid.layers.mean(fluid.layers.square(hidden))
    clip = fluid.clip.GradientClipByGlobalNorm(1.0)
    fluid.optimizer.Adam(0.01, grad_clip=clip).minimize(loss)
    main = fluid.distributed.data_parallel(fluid.default_main_program(), bucket_bytes=2000)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    rng = np.random.default_rng(group.rank)
    while True:
        exe.run(main, feed={"x": rng.normal(size=[16, 8]).astype("float32")}, fetch_list=[loss])


def one(way: str, processes: int, bound: float, delay: float) -> float:
    """Seconds from the fault of a process to the end of the job.

    Raises:
        TimeoutError: it did not end.
    """
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or "mpiexec"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        environment = {
            **os.environ,
            "PYTHONPATH": str(HERE.parent.parent),
            "FLUIDLITE_MPI_TIMEOUT": f"{bound},{FIRST * bound}",
            "FLUIDLITE_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [mpiexec, "-n", str(processes), sys.executable, str(HERE), "--train", folder]
        job = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        while len(os.listdir(folder)) < processes:
            time.sleep(0.01)
        time.sleep(delay)
        pids = [int(name) for name in os.listdir(folder)]
        if job.poll() is not None:
            raise RuntimeError(f"the job ended by itself: {job.returncode}")
        victim = random.choice(pids)
        os.kill(victim, WAYS[way])
        begin = time.monotonic()
        try:
            job.wait(FIRST * bound + MARGIN)
            took = time.monotonic() - begin
            if not job.returncode:
                raise RuntimeError("the job ended well")
            return took
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{way} after {delay:.2f} s: the job did not end") from None
        finally:
            for pid in pids if job.poll() is None else ():
                os.kill(pid, signal.SIGKILL)
            job.kill()
            job.wait()


def main() -> None:
    """Do it again and again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--bound", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=Path)
    given = parser.parse_args()
    if given.train is not None:
        train(given.train)
        return
    random.seed(given.seed)
    longest: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for number in range(given.kills):
        way = list(WAYS)[number % len(WAYS)]
        took = one(way, given.processes, given.bound, random.uniform(0.0, 5.0))
        times[way] += 1
        longest[way] = max(longest[way], took)  # type: ignore[assignment]
    for way in times:
        print(f"{times[way]} {way}: all ended, the last of them after {longest[way]:.1f} s")


if __name__ == "__main__":
    main()
