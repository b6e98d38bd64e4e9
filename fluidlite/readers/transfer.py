"""Items on their way from one process to another.

What is large goes through memory that both processes see: an unnamed file in memory, whose
descriptor is handed over.  It has no name that could be left behind, and is gone when it has been
read, however the processes end.  Where the system has no such files, and for what is small,
everything goes through the connection.
"""

from __future__ import annotations

import os
import pickle
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

SMALL = 32 * 1024  #: bytes up to which arrays go through the connection
_ALIGNMENT = 64
#: whether arrays can go through memory that is seen by both
HAS_SHARED_MEMORY = hasattr(os, "memfd_create") and reduction.HAVE_SEND_HANDLE


def send(connection: Connection, item: Any, shared: bool = True) -> None:
    """Send an item to the process at the other end of a connection.

    Args:
        connection: to that process.
        item: what can be pickled.
        shared: whether its arrays may go through shared memory.

    Raises:
        Exception: the item cannot be pickled; nothing has been sent.
        OSError: nobody is there any more.
    """
    buffers: list[pickle.PickleBuffer] = []
    inside = pickle.dumps(item, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(inside), *(buffer.raw() for buffer in buffers)]
    places, size = [], 0
    for part in parts:
        places.append((size, part.nbytes))
        size += -(-part.nbytes // _ALIGNMENT) * _ALIGNMENT
    if not (shared and HAS_SHARED_MEMORY) or size <= SMALL:
        connection.send_bytes(pickle.dumps((None, [bytes(part) for part in parts]), protocol=5))
        return
    file = os.memfd_create("fluidlite", os.MFD_CLOEXEC)
    try:
        os.ftruncate(file, size)
        for (begin, _), part in zip(places, parts):
            _write(file, part, begin)
        connection.send_bytes(pickle.dumps((size, places), protocol=5))
        reduction.send_handle(connection, file, 0)
    finally:
        os.close(file)


def _write(file: int, part: memoryview, begin: int) -> None:
    done = 0
    while done < part.nbytes:
        done += os.pwrite(file, part[done:], begin + done)


def receive(connection: Connection) -> Any:
    """The next item that the process at the other end sent.

    Raises:
        EOFError, OSError: nobody is there any more.
    """
    size, places = pickle.loads(connection.recv_bytes())
    if size is None:
        inside, *parts = places
        return pickle.loads(inside, buffers=map(bytearray, parts))  # which can be written to
    file = reduction.recv_handle(connection)
    try:
        memory = np.empty(size, "uint8").data
        done = 0
        while done < size:
            done += os.preadv(file, [memory[done:]], done)
    finally:
        os.close(file)
    inside, *parts = [memory[begin : begin + n] for begin, n in places]
    return pickle.loads(inside, buffers=parts)


__all__ = ["HAS_SHARED_MEMORY", "SMALL", "receive", "send"]
