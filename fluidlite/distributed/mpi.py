"""Processes that run a program together, over MPI.

mpi4py does the talking; here is what programs need beside it: types that MPI does not know, runs
that are repeated without being sent again, and an end of all processes where one fails.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..ground.job_environment import note_fault
from ..ground.values import SelectedRows
from ..ir.program import Program
from ..runtime.ownership import reusable
from .progress import Progress
from .rewriting import data_parallel, is_loss_gradient
from .timeouts import Timeouts

#: element types that are sent as others: MPI has no sums of them
_SENT_AS = {"float16": np.dtype("float32"), "bfloat16": np.dtype("float32")}
#: how truths are reduced, which are sent as bytes: a sum is "any", a product "all"
_OF_TRUTHS = {"sum": "max", "max": "max", "prod": "min", "min": "min"}
_SPINS = 200  #: looks at a request before the processor is left to others
_PAUSE = 5e-5  #: seconds between looks after that
_PAUSE_AT_END = 5e-3
_LEFT = 1  #: tag of the message of a process that ends
_GRACE = 1.0  #: seconds in which what an ended process sent must have come
_FORWARDED = 0.2  #: seconds in which a launcher passes on what was said, before it ends all


@dataclass
class Traffic:
    """What a process has sent since it joined."""

    messages: int = 0  #: collective calls
    bytes: int = 0  #: that this process gave to them
    waited: float = 0.0  #: seconds that it did nothing but wait


class _Started(NamedTuple):
    """A call that has begun."""

    request: Any
    what: str
    result: Callable[[], Any]
    kept: Any  #: arrays that MPI reads and writes


@dataclass
class _Journal:
    """The results of the calls of a run, for one that is repeated."""

    is_open: bool = False
    position: int = 0
    results: list[Any] = field(default_factory=list)


class MpiGroup:
    """The processes of an MPI job.

    Args:
        mpi: the module ``mpi4py.MPI``.
        timeouts: how long it waits for others.
        members: the communicator of those that belong to it; all processes when None.
    """

    def __init__(self, mpi: Any, timeouts: Timeouts, members: Any = None) -> None:
        world = mpi.COMM_WORLD if members is None else members
        self._mpi, self._world = mpi, world
        self._ops = {"sum": mpi.SUM, "prod": mpi.PROD, "max": mpi.MAX, "min": mpi.MIN}
        self.size: int = world.Get_size()
        self.rank: int = world.Get_rank()
        self.timeouts = timeouts
        self.traffic: Traffic = Traffic()
        self._rings: dict[int, Any] = {}
        self._control = world.Dup()  # for what processes tell each other beside programs
        near = world.Split_type(mpi.COMM_TYPE_SHARED)
        #: whether a thread lets MPI go on while operators compute.  Between processes of one
        #: machine the processors do the sending: there is nothing to gain
        self.is_polled: bool = near.Get_size() < self.size
        near.Free()
        self._started: dict[int, _Started] = {}  # by the identity of what wait() is given
        self._journal = _Journal()
        self._buffers: dict[Any, list[Any]] = {}
        self._progress = Progress(self._advance)
        self._alone_since = 0.0  # when the process before this one was seen to have ended

    # -- what operators call -----------------------------------------------------------------------

    def buffer(self, size: int, dtype: Any) -> Any:
        """An array that nobody holds any more, or a new one."""
        buffers = self._buffers.setdefault((size, np.dtype(dtype)), [])
        for place in reusable(buffers, range(len(buffers))):
            return buffers[place]
        buffers.append(np.empty(size, dtype))
        return buffers[-1]

    def all_reduce(self, x: Any, how: str, ring: int) -> Any:
        """All processes' ``x``, reduced element by element."""
        return self._once(lambda: self._finish(self._reduction(_copied(x), how, ring, "")))

    def start_all_reduce(self, x: Any, how: str, ring: int, of: str = "") -> Any:
        """Begin to reduce ``x``, which may be written; gives what :meth:`wait` takes.

        Raises:
            UnsupportedError: it is on a device.
        """

        if type(x) is not np.ndarray:
            raise UnsupportedError("what is sent between processes is on the host")

        def start() -> Any:
            self._started[id(x)] = self._reduction(x, how, ring, of)
            if self.is_polled:
                self._progress.need(len(self._started))
            return x

        return self._once(start)

    def wait(self, handle: Any) -> Any:
        """The result of what :meth:`start_all_reduce` began.

        Raises:
            ArgumentError: nothing was begun.
            UnsupportedError: it is on a device.
        """
        if type(handle) is not np.ndarray:
            raise UnsupportedError("what is sent between processes is on the host")

        def wait() -> Any:
            started = self._started.get(id(handle))
            if started is None:
                raise ArgumentError("expected what start_all_reduce gave, and not waited for yet")
            try:
                return self._finish(started)
            finally:
                del self._started[id(handle)]
                if self.is_polled:
                    self._progress.need(len(self._started))

        return self._once(wait)

    def broadcast(self, x: Any, root: int, ring: int) -> Any:
        """The ``x`` of the process ``root``.

        Raises:
            ArgumentError: there is no such process.
        """
        if not 0 <= root < self.size:
            raise ArgumentError(
                f"expected root to be one of the processes, of which there are {self.size}, got "
                f"{root}"
            )

        def broadcast() -> Any:
            made = _copied(x)
            request = self._ring(ring).Ibcast(_bytes_of(made), root)
            what = f"{_named(made)} from process {root}"
            return self._finish(self._begun(request, what, lambda: made, made))

        return self._once(broadcast)

    def all_gather(self, x: Any, ring: int) -> Any:
        """All processes' ``x``, one after the other."""
        return self._once(lambda: self._gathered(np.asarray(x), ring))

    def reduce_scatter(self, x: Any, ring: int) -> Any:
        """This process's part of the sum of all ``x``."""
        rows = len(x) // self.size
        whole = self.all_reduce(x, "sum", ring)
        return whole[self.rank * rows : (self.rank + 1) * rows].copy()

    def gather_rows(self, x: Any, ring: int) -> Any:
        """All processes' stored rows, one after the other."""
        if not isinstance(x, SelectedRows):
            return self.all_reduce(x, "sum", ring)

        def gather() -> Any:
            counts = self._gathered(np.array([len(x.numbers)], "int64"), ring)
            numbers = self._gathered(x.numbers, ring, counts)
            value = self._gathered(x.value, ring, counts)
            return SelectedRows(numbers, x.height(), value)

        return self._once(gather)

    def open_ring(self, ring: int, size: int, rank: int) -> None:
        """Check that a program expects these processes.

        Raises:
            UnsupportedError: it expects others.
        """
        if (size, rank) != (self.size, self.rank):
            raise UnsupportedError(
                f"expected a program of {self.size} processes of which this is number "
                f"{self.rank}, got one of {size} of which this is number {rank}"
            )

    def share(self, program: Any) -> None:
        """Rewrite a program that has gradients, so that they are summed over all processes."""
        if any(is_loss_gradient(op) for block in program.blocks for op in block.ops):
            data_parallel(program, Program())

    # -- what programs of paddle 2 call ------------------------------------------------------------

    def subgroup(self, ranks: Sequence[int]) -> MpiGroup | None:
        """The group of some of these processes, which all of them ask for.

        Args:
            ranks: their numbers, in the order of those that they have in the group.

        Returns:
            the group; None where this process does not belong to it.
        """
        self._wait_for(self._world.Ibarrier(), "all processes to make a group")
        belongs = self.rank in ranks
        place = list(ranks).index(self.rank) if belongs else 0
        members = self._world.Split(0 if belongs else self._mpi.UNDEFINED, place)
        return MpiGroup(self._mpi, self.timeouts, members) if belongs else None

    def begin_send(self, x: Any, to: int) -> Any:
        """Begin to send an array to one process; gives what :meth:`finish` takes.

        Args:
            x: the array.
            to: the number of the process.
        """
        sent = _copied(x)
        request = self._ring(0).Isend(_bytes_of(sent), to)
        return self._begun(request, f"process {to} to take {_named(sent)}", lambda: sent, sent)

    def begin_receive(self, like: Any, sender: int) -> Any:
        """Begin to wait for an array of one process; gives what :meth:`finish` takes.

        Args:
            like: an array of the same shape and element type.
            sender: the number of the process.
        """
        received = np.empty(like.shape, like.dtype)
        request = self._ring(0).Irecv(_bytes_of(received), sender)
        what = f"{_named(received)} from process {sender}"
        return self._begun(request, what, lambda: received, received)

    def finish(self, begun: Any) -> Any:
        """The result of what :meth:`begin_send` or :meth:`begin_receive` began."""
        return self._finish(begun)

    def exchange(self, parts: Sequence[Any]) -> list[Any]:
        """What each process has for this one.

        Args:
            parts: bytes for each process, in their order.
        """
        counts = [len(each) for each in parts]
        table = self._gathered(np.array([counts], "int64"), 0)
        sizes = [int(n) for n in table[:, self.rank]]
        sent = np.frombuffer(b"".join(parts), "uint8")
        received = np.empty(sum(sizes), "uint8")
        byte = self._mpi.BYTE
        request = self._ring(0).Ialltoallv(
            [sent, counts, None, byte], [received, sizes, None, byte]
        )
        whole = self._finish(
            self._begun(request, "the parts of all processes", received.tobytes, (sent, received))
        )
        ends = np.cumsum([0, *sizes])
        return [whole[a:b] for a, b in pairwise(ends)]

    # -- runs that are repeated --------------------------------------------------------------------

    def begin_run(self) -> Any:
        """Remember the results of calls from here on."""
        around, self._journal = self._journal, _Journal(is_open=True)
        return around

    @property
    def position(self) -> int:
        """How many calls the run has made."""
        return self._journal.position

    def repeat_from(self, position: int) -> None:
        """Give the results of calls from a position on once more."""
        self._journal.position = position

    def end_run(self, begun: Any) -> None:
        """Forget the results of the run, and go on with the one around it."""
        self._journal = begun

    def _once(self, call: Callable[[], Any]) -> Any:
        """The result of a call, or that which it had before the run was repeated."""
        journal = self._journal
        if not journal.is_open:
            return call()
        if journal.position == len(journal.results):
            journal.results.append(call())
        journal.position += 1
        return journal.results[journal.position - 1]

    # -- MPI ---------------------------------------------------------------------------------------

    def _ring(self, number: int) -> Any:
        """The communicator of a ring; the same processes in each."""
        ring = self._rings.get(number)
        if ring is None:
            ring, request = self._world.Idup()
            self._wait_for(request, f"communicator of ring {number}")
            self._rings[number] = ring
        return ring

    def _reduction(self, x: Any, how: str, ring: int, of: str) -> _Started:
        """The reduction of an array, begun; it is written where its type is MPI's."""
        sent = x
        if x.dtype == bool:
            how, sent = _OF_TRUTHS[how], x.view("uint8")
        elif x.dtype.name in _SENT_AS:
            sent = x.astype(_SENT_AS[x.dtype.name])
        request = self._ring(ring).Iallreduce(self._mpi.IN_PLACE, sent, self._ops[how])
        what = f"the {how} of {of or _named(x)} over ring {ring}"
        is_own = sent is x or x.dtype == bool
        return self._begun(request, what, lambda: x if is_own else sent.astype(x.dtype), sent)

    def _gathered(self, x: Any, ring: int, counts: Sequence[int] | None = None) -> Any:
        """All processes' arrays, of which each has a number of rows."""
        x = np.ascontiguousarray(x)
        rows = [len(x)] * self.size if counts is None else [int(n) for n in counts]
        gathered = np.empty((sum(rows), *x.shape[1:]), x.dtype)
        row = x.nbytes // len(x) if len(x) else gathered.nbytes // max(1, len(gathered))
        sizes = [n * row for n in rows]
        request = self._ring(ring).Iallgatherv(
            _bytes_of(x), [_bytes_of(gathered), sizes, None, self._mpi.BYTE]
        )
        what = f"rows of all processes beside {_named(x)} over ring {ring}"
        return self._finish(self._begun(request, what, lambda: gathered, (x, gathered)))

    def _begun(self, request: Any, what: str, result: Callable[[], Any], kept: Any) -> _Started:
        self.traffic.messages += 1
        self.traffic.bytes += (kept[0] if isinstance(kept, tuple) else kept).nbytes
        return _Started(request, what, result, kept)

    def _finish(self, started: _Started) -> Any:
        self._wait_for(started.request, started.what)
        return started.result()

    def _wait_for(self, request: Any, what: str) -> None:
        """Wait until a call is done; end all processes where that takes too long."""
        if request.Test():
            self.timeouts.met(what)
            return
        begin = time.monotonic()
        looks = 0
        while not request.Test():
            looks += 1
            if looks >= _SPINS:
                time.sleep(_PAUSE)
                self._look_around(what, time.monotonic() - begin)
        self.traffic.waited += time.monotonic() - begin
        self.timeouts.met(what)

    def _look_around(self, what: str, waited: float) -> None:
        """End all processes where what is waited for does not come any more."""
        if waited > self.timeouts.of(what):
            self.abort(
                f"waited {waited:.0f} s for {what}: not all processes came to it "
                f"({self.timeouts.name}={self.timeouts.text})",
                look=True,
            )
        if self._before_has_ended():
            now = time.monotonic()
            self._alone_since = self._alone_since or now
            if now - self._alone_since > _GRACE:
                ended = (self.rank - 1) % self.size
                self.abort(f"waits for {what}, and rank {ended} has ended")

    def _before_has_ended(self) -> bool:
        """Whether the process of the number before this one's has ended.

        Each tells the next one: where one waits for it in vain, so does every other.
        """
        return bool(self._control.Iprobe((self.rank - 1) % self.size, _LEFT))

    def leave(self) -> None:
        """Tell that this process ends, and wait until all do; they may have more to do, and get as
        long as for a first step.
        """
        if self._mpi.Is_finalized():
            return
        self._control.Isend(np.zeros(0, "uint8"), (self.rank + 1) % self.size, _LEFT)
        together = self._control.Ibarrier()
        begin = time.monotonic()
        while not together.Test():
            time.sleep(_PAUSE_AT_END)
            if time.monotonic() - begin > self.timeouts.first:
                self.abort(
                    f"ended, and waited {self.timeouts.first:g} s for the others to end "
                    f"({self.timeouts.name}={self.timeouts.text})"
                )

    def _advance(self) -> None:
        """Let MPI go on with what has begun."""
        self._before_has_ended()

    def abort(self, why: str, look: bool = False) -> None:
        """End all processes, and say why.

        Args:
            why: what this process has met.
            look: whether the launcher is to say where the others are.
        """
        sys.stdout.flush()
        print(f"fluidlite: rank {self.rank} of {self.size} {why}", file=sys.stderr, flush=True)
        if look:
            note_fault(why)
        time.sleep(_FORWARDED)
        self._world.Abort(1)
        os._exit(1)

    def __repr__(self) -> str:
        return f"<MpiGroup: process {self.rank} of {self.size}>"


def _copied(x: Any) -> Any:
    """An array of its own, in one piece."""
    return np.array(x, order="C")


def _bytes_of(x: Any) -> Any:
    """The memory of an array: MPI need not know its type where nothing is computed."""
    return x.reshape(-1).view("uint8")


def _named(x: Any) -> str:
    return f"{x.dtype}{list(x.shape)}"
