"""The processes, or devices, that run a program together: what collective operators compute with.

There is one by default.  What brings others, MPI or a mesh of devices, puts its group into
``groups`` while it runs a program.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from . import state
from .extension import ExtensionPoint
from .job_environment import launched

#: the ways to reduce, in the order of their numbers in ``allreduce``
REDUCTIONS = ("sum", "prod", "max", "min")
#: bytes of gradients that are summed by one message: fewer begin earlier, more cost less
BUCKET_BYTES = 4 << 20


class ProcessGroup(Protocol):
    """Members that run the same operators in the same order.

    Every method takes and gives arrays of the backend that runs, and is called by all members.
    ``ring`` is the ``ring_id`` of the operator: which of several groups of the same members.
    """

    @property
    def size(self) -> int:
        """How many members there are."""
        ...

    @property
    def rank(self) -> Any:
        """The number of this member, from 0 on."""
        ...

    def all_reduce(self, x: Any, how: str, ring: int) -> Any:
        """The sum, product, maximum or minimum, as ``REDUCTIONS`` calls it, of all members' ``x``,
        element by element.
        """
        ...

    def buffer(self, size: int, dtype: Any) -> Any:
        """An array for :meth:`start_all_reduce`, [size], whose elements mean nothing yet."""
        ...

    def start_all_reduce(self, x: Any, how: str, ring: int, of: str = "") -> Any:
        """Begin to reduce, and go on meanwhile.

        Args:
            x: nobody else may need it any more: the result may be written there.
            how: as of :meth:`all_reduce`.
            ring: as above.
            of: what it is, for messages.

        Returns:
            what :meth:`wait` takes: an array like ``x``, whose elements mean nothing yet.
        """
        ...

    def wait(self, handle: Any) -> Any:
        """The result of what :meth:`start_all_reduce` began."""
        ...

    def broadcast(self, x: Any, root: int, ring: int) -> Any:
        """The ``x`` of the member ``root``."""
        ...

    def gather_rows(self, x: Any, ring: int) -> Any:
        """All members' stored rows, of SelectedRows, one after the other: their sum."""
        ...

    def all_gather(self, x: Any, ring: int) -> Any:
        """All members' ``x``, one after the other along the first dimension."""
        ...

    def reduce_scatter(self, x: Any, ring: int) -> Any:
        """This member's part of the sum of all ``x``, which is cut along the first dimension."""
        ...

    def begin_run(self) -> Any:
        """Begin a run of a program: what is computed from here on may be repeated.

        Returns:
            what :meth:`end_run` takes: runs may begin inside of runs.
        """
        ...

    @property
    def position(self) -> int:
        """How many calls the run has made, for :meth:`repeat_from`."""
        ...

    def repeat_from(self, position: int) -> None:
        """The run is repeated from a position on: the calls that it makes again get the results
        that they got, and nothing is sent.
        """
        ...

    def end_run(self, begun: Any) -> None:
        """Forget the results of the run that began last."""
        ...

    def share(self, program: Any) -> None:
        """Rewrite a program with an optimizer, so that each member runs it on a share of a batch; a
        program that was rewritten stays as it is.
        """
        ...

    def open_ring(self, ring: int, size: int, rank: int) -> None:
        """Make, or check, the group that operators of a ring belong to.

        Args:
            ring: its number.
            size: how many members the program expects.
            rank: which of them the program expects this one to be.

        Raises:
            UnsupportedError: there are not as many.
        """
        ...


class Unrepeated:
    """Of a group whose runs need not remember what they were sent."""

    position = 0

    def buffer(self, size: int, dtype: Any) -> Any:
        """A new array."""
        return np.empty(size, dtype)

    def begin_run(self) -> None:
        """Nothing."""

    def repeat_from(self, position: int) -> None:
        """Nothing."""

    def end_run(self, begun: None) -> None:
        """Nothing."""

    def share(self, program: Any) -> None:
        """Nothing."""


class OneProcess(Unrepeated):
    """The group of a program that runs alone: everything is what it was."""

    size = 1
    rank = 0

    def all_reduce(self, x: Any, how: str, ring: int) -> Any:
        """``x``."""
        return x

    def start_all_reduce(self, x: Any, how: str, ring: int, of: str = "") -> Any:
        """``x``."""
        return x

    def wait(self, handle: Any) -> Any:
        """What was begun with."""
        return handle

    def gather_rows(self, x: Any, ring: int) -> Any:
        """``x``."""
        return x

    def broadcast(self, x: Any, root: int, ring: int) -> Any:
        """``x``.

        Raises:
            ArgumentError: ``root`` is not 0.
        """
        if root:
            raise ArgumentError(
                f"expected root to be one of the processes, of which there is 1, got {root}"
            )
        return x

    def all_gather(self, x: Any, ring: int) -> Any:
        """``x``."""
        return x

    def reduce_scatter(self, x: Any, ring: int) -> Any:
        """``x``."""
        return x

    def open_ring(self, ring: int, size: int, rank: int) -> None:
        """Nothing.

        Raises:
            UnsupportedError: the program expects more than one process.
        """
        if (size, rank) != (1, 0):
            raise UnsupportedError(
                f"expected a program of 1 process, got one of {size} of which this is number "
                f"{rank}; start as many processes together"
            )


groups: state.StateSlot[ProcessGroup] = state.slot("group", OneProcess)

#: the group of all processes of this job, joined; read where several were started
JOINED: ExtensionPoint[ProcessGroup] = ExtensionPoint("the processes of a job")
_START = (
    "start them together: mpiexec -n {0} python SCRIPT, or python -m fluidlite.distributed.launch "
    "--nproc {0} SCRIPT"
)


def joined(expected: int | None = None, rank: int | None = None) -> ProcessGroup:
    """The group of the processes that were started with this one, which it joins where it has not.

    Args:
        expected: how many there have to be; any number when None.
        rank: which of them this one has to be; any when None.

    Raises:
        UnsupportedError: there are not as many, or they were not started by MPI.
        ArgumentError: this is another one of them.
    """
    launch = launched()
    group = groups.get()
    if group.size == 1 and launch.by_mpi and launch.size > 1:
        group = JOINED.get()
    if expected is None and not launch.by_mpi and launch.size > group.size:
        expected = launch.size
    if expected is not None and expected != group.size:
        raise UnsupportedError(
            f"expected {expected} processes that work together, got {group.size}; "
            + _START.format(expected)
        )
    if rank is not None and rank != group.rank:
        raise ArgumentError(
            f"expected the number of this process to be its rank, {group.rank} of {group.size}, "
            f"got {rank}; os.environ['PADDLE_TRAINER_ID'] says it under fluidlite run, and "
            "fluidlite.distributed.join().rank everywhere"
        )
    return group
