"""Command buffers: calls of kernels in a row, recorded with their arrays, and made by one native
call.

The functions that run them stand in ``native/prelude.h``; the structures here are those there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_int, c_int64, c_void_p
from enum import IntEnum
from typing import Any, NamedTuple


class Status(IntEnum):
    """What native functions give; those in C are made of these."""

    DONE = 0
    DECLINED = 1  #: an element is not what it may be
    UNFIT = 2  #: nothing was called: arrays are not contiguous, or there is none
    FAILED = 3  #: a library refused
    NOT_RECORDED = 4  #: nothing was called: the buffer is empty, or for another number of threads


_POINTER = ctypes.sizeof(c_void_p)


class NativeCommand(NamedTuple):
    """A call of a native function."""

    #: its address; None for that which runs a :class:`PrimitiveCall`
    function: int | None
    #: its second argument: an address, a structure or None; or what makes that when it is recorded
    context: Any
    arrays: tuple[Any, ...]  #: that it reads and writes
    is_long: bool  #: whether Python's lock is let go of meanwhile
    #: the number of threads that its library has, where it was made for that
    threads: Any = None


class PrimitiveCall(Structure):
    """A primitive of oneDNN that is to be run."""

    _fields_ = (
        ("set_data", c_void_p),
        ("execute", c_void_p),
        ("primitive", c_void_p),
        ("stream", c_void_p),
        ("count", c_int64),
        ("list", c_void_p),
        ("arrays", c_int64),
        ("memories", POINTER(c_void_p)),
    )


class _Call(Structure):
    _fields_ = (("function", c_void_p), ("args", c_void_p), ("context", c_void_p))


class _Patch(Structure):
    _fields_ = (("place", c_void_p), ("source", c_int64))


class _Commands(Structure):
    _fields_ = (
        ("count", c_int64),
        ("list", c_void_p),
        ("patches", c_int64),
        ("places", c_void_p),
        ("given", c_int64),
        ("outputs", c_int64),
        ("threads", c_void_p),
        ("made_for", c_int64),
    )


class CommandBuffer(c_void_p):
    """Commands on some arrays that stay, and on others that are given in each run; empty at first.

    As an argument of a C function it is a pointer.
    """

    def __init__(self) -> None:
        self._commands = _Commands()
        super().__init__(ctypes.addressof(self._commands))
        self._keeps: tuple[Any, ...] = ()

    @property
    def is_recorded(self) -> bool:
        """Whether there are commands."""
        return bool(self._commands.list)

    def record(
        self,
        commands: Sequence[NativeCommand],
        given: Sequence[Any],
        outputs: tuple[int, int],
        primitive: int,
    ) -> None:
        """Take commands in place of those that were here.

        Args:
            commands: in order.
            given: arrays that other ones come for in each run.
            outputs: the first of them that is written, and the first behind those that are.  What
                is behind that has the same strides in each run; others have to be contiguous.
            primitive: the address of what runs a :class:`PrimitiveCall`.
        """
        places = {id(array): k for k, array in enumerate(given)}
        items_at = tuple.__basicsize__
        calls = (_Call * len(commands))()
        patches: list[tuple[int, int]] = []
        keeps: list[Any] = [calls]  # without what is given, which others own
        for call, command in zip(calls, commands):
            # a tuple of which only the items are there
            args = ctypes.create_string_buffer(items_at + _POINTER * len(command.arrays))
            items = (c_void_p * len(command.arrays)).from_buffer(args, items_at)
            for k, array in enumerate(command.arrays):
                if id(array) in places:
                    place = ctypes.addressof(items) + k * _POINTER
                    patches.append((place, places[id(array)]))
                else:
                    items[k] = id(array)
                    keeps.append(array)
            context = command.context() if callable(command.context) else command.context
            keeps += [args, items, context]
            if isinstance(context, Structure):
                context = ctypes.addressof(context)
            call.function = primitive if command.function is None else command.function
            call.args, call.context = ctypes.addressof(args), context
        listed = (_Patch * len(patches))(*(_Patch(*each) for each in patches))
        threads = next((c.threads for c in commands if c.threads is not None), None)
        buffer = self._commands
        buffer.list = None  # until all is there
        buffer.count, buffer.patches = len(commands), len(patches)
        buffer.places, buffer.outputs, buffer.given = ctypes.addressof(listed), *outputs
        buffer.threads = None if threads is None else ctypes.addressof(threads)
        buffer.made_for = 0 if threads is None else threads.value
        self._keeps = (*keeps, listed, threads)
        buffer.list = ctypes.addressof(calls)


class CommandFunctions:
    """The functions that run command buffers, in a library of kernels.

    Args:
        library, free: the library with Python's lock, and without.
    """

    def __init__(self, library: Any, free: Any) -> None:
        def declared(where: Any) -> Any:
            made = where.run_commands
            made.argtypes, made.restype = [ctypes.py_object, c_void_p], c_int
            return made

        self._library = library  # so that it stays
        #: of a tuple of arrays and a command buffer; gives 0, or why it did not do all
        self.run: Any = declared(library)
        self.run_free: Any = declared(free)
        #: the address of what runs primitives
        self.primitive: int = address_of_function(library.run_primitive)


def address_of_function(function: Any) -> int:
    """The address of a function of a library."""
    found = ctypes.cast(function, c_void_p).value
    assert found is not None
    return found
