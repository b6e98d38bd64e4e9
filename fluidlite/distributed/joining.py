"""How a process finds the others that it was started with."""

from __future__ import annotations

import atexit
import faulthandler
import os
import sys
import weakref
from importlib import import_module
from types import TracebackType
from typing import Any

from ..errors import UnsupportedError
from ..ground import state
from ..ground.job_environment import FOLDER, launched, note
from ..ground.process_group import OneProcess, ProcessGroup, groups
from ..kernels.threads import divide
from .mpi import MpiGroup
from .timeouts import Timeouts


def join() -> ProcessGroup:
    """Join the processes that this one was started with, by ``mpiexec`` or a launcher.

    From there on collective operators run among them, an error that nobody catches in one of them
    ends all, and so does a wait that is longer than ``FLUIDLITE_MPI_TIMEOUT`` says.  Further calls
    give the same group.

    Returns:
        the group: ``rank``, ``size`` and the calls of collective operators; that of one process
        where no others were started.

    Raises:
        UnsupportedError: there are others, and mpi4py is not installed or is of another MPI.

    >>> group = fluid.distributed.join()
    >>> group.rank, group.size
    (0, 1)
    """
    known = groups.get()
    if known.size > 1:
        return known
    expected = started_processes()
    if expected < 2:
        return known if isinstance(known, OneProcess) else OneProcess()
    timeouts = Timeouts()
    note("joining")
    if FOLDER not in os.environ:  # the launcher sees it
        # all processes come to this; it is C that waits here, and only C that can end it
        faulthandler.dump_traceback_later(timeouts.first, exit=True)
    try:
        mpi = _mpi(expected)
        group = MpiGroup(mpi, timeouts)
    finally:
        faulthandler.cancel_dump_traceback_later()
    groups.switch(group)
    _end_together(group)
    divide(mpi.COMM_WORLD.Split_type(mpi.COMM_TYPE_SHARED).Get_size())
    note("joined")
    return group


def started_processes() -> int:
    """How many processes were started with this one, as the environment says."""
    found = launched()
    if found.by_mpi:
        return found.size
    mpi = sys.modules.get("mpi4py.MPI")
    return 1 if mpi is None else int(mpi.COMM_WORLD.Get_size())


def _mpi(expected: int) -> Any:
    """MPI, of as many processes as were started."""
    try:
        mpi = import_module("mpi4py.MPI")
    except ImportError as error:
        raise UnsupportedError(
            f"{expected} processes were started together, and they need mpi4py, which cannot be "
            f'loaded ({error}): pip install "fluidlite[mpi]"'
        ) from None
    found = mpi.COMM_WORLD.Get_size()
    if found != expected:
        raise UnsupportedError(
            f"expected {expected} processes, as the environment says, got {found}: the "
            f"mpiexec that started them is of another MPI than mpi4py uses "
            f"({mpi.Get_library_version().split(',')[0].strip()[:60]}); start them with "
            f"{sys.executable} -m fluidlite.distributed.launch, or the mpiexec beside it"
        )
    return mpi


#: the group whose end is that of this process, so that hooks are installed once
_hooked: state.StateSlot[list[Any]] = state.slot("hooked", list)


def _end_together(group: Any) -> None:
    """Let an error that nobody catches end all processes: the others would wait for this one."""
    if _hooked.get():
        return
    _hooked.get().append(group)
    before = sys.excepthook

    def end_all(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        before(kind, error, trace)
        group.abort(f"ends all processes: {kind.__name__} was raised, and nobody caught it")

    sys.excepthook = end_all
    weakref.finalize(group, int)  # so that folders still in use go after the line below waits
    atexit.register(group.leave)
