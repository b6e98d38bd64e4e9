"""What the C library keeps of memory that was freed.

Steps on sequences have other sizes in every run, so they work in no buffers of their own: their
arrays come from the C library.  As it is set, it gives what is large back to the system at once,
and a tenth of a training step goes by while the system hands the same pages out again, full of
zeros.  It is a setting of the whole process, so the user asks for it: ``FLUIDLITE_KEEP_MEMORY=1``.

Eager operators make a new array for each result, and let go of many within a step.  The C library
learns to keep such pieces when it frees a larger one, up to 32 MB; a large array that is made and
freed before the first step teaches it that at once.

Arrays of middle size it keeps: what a network took stays with the process when the network is gone,
in pieces that do not fit the next one.  So it is asked to give them back where a network begins,
and around the first run of a plan, which shows the pieces that buffers take the place of.
"""

from __future__ import annotations

import ctypes
import functools
import os

#: the largest arrays that are taken from kept memory, and how much may be free: at its end, and in
#: all before it goes back
LARGEST, KEPT = 1 << 25, 1 << 28
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # as malloc.h has them
#: bytes of the largest array that the C library learns from: 32 MB with what it adds
LEARNED = (1 << 25) - (1 << 16)
#: by which a user says the same
VARIABLES = (
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "GLIBC_TUNABLES",
)


class _Heap(ctypes.Structure):
    """How much there is of what, as malloc.h has it."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


@functools.cache
def _c_library() -> ctypes.CDLL | None:
    """GNU's; None where it is another one, whose functions of these names mean something else."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018
    except (AttributeError, OSError, TypeError):
        return None
    return library


def _adjustable() -> ctypes.CDLL | None:
    """GNU's C library, where the environment leaves its settings to us."""
    return None if any(name in os.environ for name in VARIABLES) else _c_library()


def _is_kept() -> bool:
    return os.environ.get("FLUIDLITE_KEEP_MEMORY", "") not in ("", "0")


@functools.cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to ``KEPT`` bytes that were freed, for what is allocated next.

    Returns:
        whether it does: not where nobody asks for it or it is another one than GNU's, and not where
        the environment says what it is to do.
    """
    library = _adjustable()
    if library is None or not _is_kept():
        return False
    option = library.mallopt
    return bool(option(_MMAP_THRESHOLD, LARGEST) and option(_TRIM_THRESHOLD, KEPT))


@functools.cache
def keep_freed_pieces() -> bool:
    """Have the C library keep pieces of up to 32 MB that were freed, as it does once it has freed
    one of that size.

    Returns:
        whether it does: not where ``FLUIDLITE_KEEP_MEMORY`` is 0, it is another one than GNU's, or
        the environment says what it is to do.
    """
    library = _adjustable()
    if library is None or os.environ.get("FLUIDLITE_KEEP_MEMORY") == "0":
        return False
    make, free = library.malloc, library.free
    make.argtypes, make.restype = (ctypes.c_size_t,), ctypes.c_void_p
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    free(make(LEARNED))  # no page of it is touched
    return True


def give_back_freed_memory(above: int | None = None) -> bool:
    """Have the C library give back to the system what was freed, where that is more.

    Args:
        above: bytes; ``KEPT`` when None.

    Returns:
        whether it did: not where the user has it kept, nor where it is another one than GNU's from
            2.33 on.
    """
    library = _c_library()
    heap = getattr(library, "mallinfo2", None)  # those before 2.33 count in 32 bits
    if library is None or heap is None or _is_kept():
        return False
    heap.restype = _Heap
    return bool(heap().fordblks > (KEPT if above is None else above) and library.malloc_trim(0))
