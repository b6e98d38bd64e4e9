"""Processes that a program starts: a function that runs in several of them, or a script.

Several processes reach each other by MPI, so MPI starts them.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing import spawn as spawning
from typing import Any, Final

from ...distributed import launch as launching
from ...errors import ArgumentError, UnsupportedError
from ...ground.public_names import list_public_names
from ...ground.refusing import refusing
from ...ground.tracebacks import api_boundaries
from ...kernels.threads import cores
from .. import modes

_CALLER = f"{__package__}.spawned"  #: the module that processes run
#: options that say where processes run, which is here
_OPTIONS = frozenset(["backend", "gpus", "ips", "selected_devices", "start_method", "xpus"])


class MultiprocessContext:
    """Processes that were started.

    Args:
        started: starts them, and ends when they do.
        path: a file that is removed then.
    """

    def __init__(self, started: subprocess.Popen[bytes], path: str) -> None:
        self._started, self._path = started, path

    def join(self, timeout: float | None = None) -> bool:
        """Wait until they end.

        Args:
            timeout: seconds; as long as it takes when None.

        Returns:
            whether they have ended.

        Raises:
            UnsupportedError: one of them failed.
        """
        try:
            code = self._started.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        if os.path.exists(self._path):
            os.remove(self._path)
        if code:
            raise UnsupportedError(f"a process ended with status {code}; it says above why")
        return True

    def __repr__(self) -> str:
        return f"<MultiprocessContext: {'ended' if self._started.poll() is not None else 'runs'}>"


def spawn(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = -1,
    join: bool = True,
    daemon: bool = False,
    **options: Any,
) -> MultiprocessContext:
    """Call a function in processes that are started for it.

    The function has to be found by its name in its module, and what the module does when it is
    run as a script has to stand behind ``if __name__ == "__main__":``.

    Args:
        func: the function.
        args: what it is called with.
        nprocs: how many processes; one when -1.
        join: whether to wait until they end.
        daemon: accepted.
        options: accepted: where they run, which is here.

    Returns:
        what waits for them.

    Raises:
        ArgumentError: an argument is of another kind.
        UnsupportedError: a process failed.
    """
    if not callable(func):
        raise ArgumentError(f"spawn: expected a function, got {func!r:.60}")
    if type(nprocs) is not int or (nprocs < 1 and nprocs != -1):
        raise ArgumentError(f"spawn: expected nprocs to be 1 or more, or -1, got {nprocs!r:.60}")
    if options.keys() - _OPTIONS:
        raise ArgumentError(f"spawn: there is no option {sorted(options.keys() - _OPTIONS)[0]!r}")
    told = spawning.get_preparation_data("spawned")
    del told["authkey"]  # which is not for files
    called = pickle.dumps((func, tuple(args)))  # an error before a file is made
    with tempfile.NamedTemporaryFile(suffix=".call", delete=False) as file:
        pickle.dump(told, file)
        file.write(called)
    script = ["-m", _CALLER, file.name]
    words = [sys.executable, *script]
    if nprocs > 1:
        starter = [sys.executable, "-m", launching.__name__, "--nproc", str(nprocs)]
        words = [*starter, *script]
    context = MultiprocessContext(subprocess.Popen(words), file.name)
    if join:
        context.join()
    return context


def launch() -> None:
    """Run the script that the command line names in several processes, and end.

    ``--nproc_per_node`` says how many.
    """
    parser = argparse.ArgumentParser(prog="paddle.distributed.launch")
    parser.add_argument("--nproc_per_node", type=int, default=cores())
    parser.add_argument("--log_dir", help="accepted: processes write where this one does")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    told = parser.parse_args()
    words = ["--nproc", str(told.nproc_per_node), told.script, *told.arguments]
    raise SystemExit(launching.main(words))


def _need_layer(operation: str, **given: object) -> None:
    if modes.in_dynamic_mode():
        raise ArgumentError("split is for programs: call paddle.enable_static() first")
    if operation not in ("linear", "embedding"):
        raise ArgumentError(f"expected operation to be linear or embedding, got {operation!r:.60}")


split: Final = refusing(
    "split(x: Any, size: Sequence[int], operation: str, axis: int = 0, num_partitions: int = 1, "
    "gather_out: bool = True, weight_attr: Any = None, bias_attr: Any = None, "
    "name: str | None = None)",
    """Nothing, with an error: no layer is cut among processes.

    Args:
        x: what the layer is given.
        size: of its weight.
        operation: "linear" or "embedding".
        axis, num_partitions, gather_out: how it would be cut.
        weight_attr, bias_attr, name: of its parameters.
    """,
    "split: no layer is cut among processes; use paddle.nn.Linear or Embedding, and "
    "paddle.DataParallel to share batches",
    before=_need_layer,
    raises="ArgumentError: there is no such layer, or the mode is dynamic.\n"
    "UnsupportedError: always else; says what to write instead.",
)

list_public_names(globals())
api_boundaries(globals())
