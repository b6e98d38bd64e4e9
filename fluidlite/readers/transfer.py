"""Items on their way from one process to another.

What is large goes through memory that both processes see: an unnamed file in memory, whose
descriptor is handed over.  It has no name that could be left behind, and is gone when it has been
read, however the processes end.  Where the system has no such files, and for what is small,
everything goes through the connection.  A descriptor goes along with what describes it, in one
message: whoever waits is woken once, and never for a part.
"""

from __future__ import annotations

import os
import pickle
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

SMALL = 32 * 1024  #: bytes up to which arrays go through the connection
_ALIGNMENT = 64
#: whether arrays can go through memory that is seen by both
HAS_SHARED_MEMORY = hasattr(os, "memfd_create") and hasattr(socket, "MSG_CMSG_CLOEXEC")


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
        _put(connection, pickle.dumps((None, [bytes(part) for part in parts]), protocol=5))
        return
    file = os.memfd_create("fluidlite", os.MFD_CLOEXEC)
    try:
        os.ftruncate(file, size)
        for (begin, _), part in zip(places, parts):
            _write(file, part, begin)
        _put(connection, pickle.dumps((size, places), protocol=5), [file])
    finally:
        os.close(file)


_LENGTH = struct.Struct("!Q")  # stands before each message
_HANDLE = struct.Struct("i")


@contextmanager
def _socket_of(connection: Connection) -> Iterator[socket.socket]:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=connection.fileno())
    try:
        found.settimeout(None)  # whatever socket.setdefaulttimeout says
        yield found
    finally:
        found.detach()  # it stays the connection's


def _put(connection: Connection, message: bytes, handles: Sequence[int] = ()) -> None:
    """Send a message, and descriptors with its first byte."""
    if not HAS_SHARED_MEMORY:
        connection.send_bytes(message)
        return
    length = _LENGTH.pack(len(message))
    packed = b"".join(map(_HANDLE.pack, handles))
    with _socket_of(connection) as end:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if handles else []
        sent = end.sendmsg([length, message], rights)
        if sent < len(length) + len(message):
            end.sendall(memoryview(length + message)[sent:])


def _get(connection: Connection) -> tuple[bytearray | bytes, list[int]]:
    """A message, and the descriptors that came with it.

    Raises:
        EOFError, OSError: nobody is there any more.
    """
    if not HAS_SHARED_MEMORY:
        return connection.recv_bytes(), []
    with _socket_of(connection) as end:
        begin, rights, _, _ = end.recvmsg(
            _LENGTH.size, socket.CMSG_SPACE(_HANDLE.size), socket.MSG_CMSG_CLOEXEC
        )
        handles = [h for _, _, packed in rights for (h,) in _HANDLE.iter_unpack(packed)]
        try:
            if len(begin) < _LENGTH.size:
                begin += _exactly(end, _LENGTH.size - len(begin))
            return _exactly(end, _LENGTH.unpack(begin)[0]), handles
        except BaseException:
            for handle in handles:
                os.close(handle)
            raise


def _exactly(end: socket.socket, count: int) -> bytearray:
    data = bytearray(count)
    rest = memoryview(data)
    while rest:
        got = end.recv_into(rest)
        if not got:
            raise EOFError
        rest = rest[got:]
    return data


def _write(file: int, part: memoryview, begin: int) -> None:
    done = 0
    while done < part.nbytes:
        done += os.pwrite(file, part[done:], begin + done)


def receive(connection: Connection) -> Any:
    """The next item that the process at the other end sent.

    Raises:
        EOFError, OSError: nobody is there any more.
    """
    message, handles = _get(connection)
    size, places = pickle.loads(message)
    if size is None:
        inside, *parts = places
        return pickle.loads(inside, buffers=map(bytearray, parts))  # which can be written to
    (file,) = handles
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
