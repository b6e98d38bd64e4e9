"""Memory that the C library keeps for what is computed next.

Steps on sequences have other sizes in every run, so they work in no buffers of their own: their
arrays come from the C library.  As it is set, it gives what is large back to the system at once,
and a tenth of a training step goes by while the system hands the same pages out again, full of
zeros.  It is a setting of the whole process, so the user asks for it: ``FLUIDLITE_KEEP_MEMORY=1``.
"""

from __future__ import annotations

import ctypes
import functools
import os

#: the largest arrays that are taken from kept memory, and how much of it may be free at its end
LARGEST, KEPT = 1 << 25, 1 << 28
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # as malloc.h has them
#: by which a user says the same
VARIABLES = (
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "GLIBC_TUNABLES",
)


@functools.cache
def keep_freed_memory() -> bool:
    """Have the C library keep up to ``KEPT`` bytes that were freed, for what is allocated next.

    Returns:
        whether it does: not where nobody asks for it or it is another one than GNU's, and not where
        the environment says what it is to do.
    """
    if os.environ.get("FLUIDLITE_KEEP_MEMORY", "") in ("", "0"):
        return False
    if any(name in os.environ for name in VARIABLES):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  (others have a mallopt with other meanings)
        option = library.mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(option(_MMAP_THRESHOLD, LARGEST) and option(_TRIM_THRESHOLD, KEPT))
