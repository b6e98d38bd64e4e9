"""A barrier among processes that somebody else started: they meet at an address."""

from __future__ import annotations

import time
from multiprocessing.connection import Client, Connection, Listener

from ...errors import ArgumentError, ClosedError
from ...ground import state
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

_MOST = 120.0  #: seconds in which all have to come
_PAUSE = 0.02
_KEY = b"fluidlite"


class _Meeting:
    """The connections of a process: of process 0 to all others, of others to process 0."""

    def __init__(self, rank: int, size: int, host: str, port: int) -> None:
        self._leads = rank == 0
        self._connections: list[Connection] = []
        if self._leads:
            with Listener((host, port), backlog=size, authkey=_KEY) as listener:
                self._connections = [listener.accept() for _ in range(size - 1)]
            self._tell()
        else:
            self._connections = [_connected(host, port)]
            self._connections[0].recv_bytes()

    def barrier(self) -> None:
        """Wait until all have come here."""
        if self._leads:
            for each in self._connections:
                each.recv_bytes()
            self._tell()
        else:
            self._connections[0].send_bytes(b"here")
            self._connections[0].recv_bytes()

    def _tell(self) -> None:
        for each in self._connections:
            each.send_bytes(b"go on")

    def close(self) -> None:
        """Leave."""
        for each in self._connections:
            each.close()


def _connected(host: str, port: int) -> Connection:
    end = time.monotonic() + _MOST
    while True:
        try:
            return Client((host, port), authkey=_KEY)
        except OSError as error:
            if time.monotonic() > end:
                raise ClosedError(
                    f"process 0 did not come to {host}:{port} in {_MOST:g} s: {error}"
                ) from None
            time.sleep(_PAUSE)


_meetings: state.StateSlot[list[_Meeting]] = state.slot("gloo", list)


def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """Meet other processes, all of which call this.

    Args:
        rank_id: the number of this process.
        rank_num: how many there are, 2 or more.
        server_endpoint: where they meet, as ``HOST:PORT``; process 0 listens there.

    Raises:
        ArgumentError: there are less than two, or an argument is of another kind.
        ClosedError: process 0 does not come.
    """
    if type(rank_num) is not int or rank_num < 2:
        raise ArgumentError(f"expected rank_num to be 2 or more, got {rank_num!r:.60}")
    if type(rank_id) is not int or not 0 <= rank_id < rank_num:
        raise ArgumentError(f"expected rank_id to be 0 to {rank_num - 1}, got {rank_id!r:.60}")
    host, _, port = str(server_endpoint).rpartition(":")
    if not host or not port.isdigit():
        raise ArgumentError(f"expected server_endpoint as HOST:PORT, got {server_endpoint!r:.60}")
    meeting = _Meeting(rank_id, rank_num, host, int(port))
    gloo_release()
    _meetings.get().append(meeting)


def gloo_barrier() -> None:
    """Wait until all processes have come here.

    Raises:
        ArgumentError: they have not met.
    """
    if not _meetings.get():
        raise ArgumentError("gloo_barrier: call gloo_init_parallel_env() first")
    _meetings.get()[-1].barrier()


def gloo_release() -> None:
    """Leave the other processes."""
    while _meetings.get():
        _meetings.get().pop().close()


list_public_names(globals())
api_boundaries(globals())
