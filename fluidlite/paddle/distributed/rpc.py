"""``paddle.distributed.rpc``: calls of functions in other processes; in one, that is itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...errors import ArgumentError, NotInitializedError, UnsupportedError
from ...ground import state
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ..holders import hold

__all__ = [
    "get_all_worker_infos", "get_current_worker_info", "get_worker_info", "init_rpc", "rpc_async",
    "rpc_sync", "shutdown",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Worker:
    """A process that functions are called in."""

    name: str
    rank: int
    ip: str
    port: int

    def __repr__(self) -> str:
        return f"{{name: {self.name}, rank: {self.rank}, ip: {self.ip}, port: {self.port}}}"


class _Calls:
    """The process that was initialised, and the thread that its calls run in."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.threads: ThreadPoolExecutor | None = None


_calls: state.StateSlot[_Calls] = state.slot("rpc", _Calls)


class FutureWrapper:
    """What a call gives, when it is done.

    Args:
        future: the call.
        timeout: seconds that it may take; any when 0 or less.
    """

    def __init__(self, future: Future[Any], timeout: float) -> None:
        self._future, self._timeout = future, timeout

    def wait(self) -> Any:
        """The result of the function, or its error."""
        return self._future.result(self._timeout if self._timeout > 0 else None)

    def __repr__(self) -> str:
        return f"<FutureWrapper: {'done' if self._future.done() else 'runs'}>"


def init_rpc(
    name: str,
    rank: int | None = None,
    world_size: int | None = None,
    master_endpoint: str | None = None,
) -> None:
    """Say by which name functions are called in this process.

    Args:
        name: the name.
        rank: the number of this process; what ``PADDLE_TRAINER_ID`` says when None.
        world_size: how many there are; what ``PADDLE_TRAINERS_NUM`` says when None.
        master_endpoint: accepted.

    Raises:
        UnsupportedError: there are several processes; says what to write instead.
    """
    number = int(os.environ.get("PADDLE_TRAINER_ID", "0")) if rank is None else rank
    count = int(os.environ.get("PADDLE_TRAINERS_NUM", "1")) if world_size is None else world_size
    if (number, count) != (0, 1):
        raise UnsupportedError(
            f"rpc: functions are called in one process, got number {number} of {count}; send "
            "tensors and objects with paddle.distributed, as all_gather_object does"
        )
    ip, _, port = os.environ.get("PADDLE_WORKER_ENDPOINT", "127.0.0.1:0").rpartition(":")
    shutdown()
    calls = _calls.get()
    calls.worker = Worker(name, number, ip, int(port))
    calls.threads = ThreadPoolExecutor(1, "rpc")


def shutdown() -> None:
    """Wait until all calls are done, and call no more."""
    calls = _calls.get()
    if calls.threads is not None:
        calls.threads.shutdown()
    calls.worker = calls.threads = None


def get_current_worker_info() -> Worker:
    """This process.

    Raises:
        NotInitializedError: ``init_rpc`` has not been called.
    """
    worker = _calls.get().worker
    if worker is None:
        raise NotInitializedError("rpc: call init_rpc() first")
    return worker


def get_worker_info(name: str) -> Worker:
    """A process.

    Args:
        name: its name.

    Raises:
        NotInitializedError: ``init_rpc`` has not been called.
        ArgumentError: there is none of that name.
    """
    worker = get_current_worker_info()
    if name != worker.name:
        raise ArgumentError(f"expected the name of a process, {worker.name!r}, got {name!r:.60}")
    return worker


def get_all_worker_infos() -> list[Worker]:
    """All processes.

    Raises:
        NotInitializedError: ``init_rpc`` has not been called.
    """
    return [get_current_worker_info()]


def rpc_async(
    to: str,
    fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    timeout: float = -1,
) -> FutureWrapper:
    """Begin to call a function in a process.

    Args:
        to: the name of the process.
        fn: the function.
        args, kwargs: what it is called with.
        timeout: seconds that it may take; any when 0 or less.

    Returns:
        what has the result when ``wait`` returns.

    Raises:
        NotInitializedError: ``init_rpc`` has not been called.
        ArgumentError: there is no such process.

    >>> from fluidlite.paddle.distributed import rpc
    >>> rpc.init_rpc("own", rank=0, world_size=1)
    >>> rpc.rpc_async("own", max, args=(2, 3)).wait()
    3
    >>> rpc.shutdown()
    """
    get_worker_info(to)
    threads = _calls.get().threads
    assert threads is not None
    return FutureWrapper(threads.submit(fn, *(args or ()), **(kwargs or {})), timeout)


def _awaited(call: FutureWrapper) -> Any:
    return call.wait()


rpc_sync: Callable[..., Any] = Spelling({})(
    rpc_async,
    "rpc_sync",
    """Call a function in a process.

    Returns:
        its result.
    """,
    then=_awaited,
)

list_public_names(globals())
api_boundaries(globals())
hold(globals())
