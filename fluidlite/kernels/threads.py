"""A small pool of threads for large work.

Work is cut by position, never by the number of threads, so results do not depend on that number.
Waking a thread takes 10 to 30 microseconds: what is small is not cut.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from queue import SimpleQueue
from typing import Any

import numpy as np

from ..ground import state
from ..ground.job_environment import launched
from .blas import blas_controllers

#: bytes of a result from which on an element-wise function is cut: those that only wait for memory,
#: and those that compute
CHEAP, COSTLY = 1 << 22, 1 << 20
PART = 1 << 19  #: bytes of a part of a result
#: element-wise functions that take longer than reading and writing
COMPUTING = frozenset(
    [
        *(np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10, np.sqrt, np.cbrt, np.tanh),
        *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.power),
        *(np.float_power, np.arctan2, np.floor_divide, np.remainder, np.fmod, np.sign),
        *(np.logaddexp, np.exp2, np.arcsinh, np.arccosh, np.arctanh),
    ]
)


#: variables that say how many threads a BLAS has
BLAS_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cores() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: how many processes that train together share this machine
_sharing: state.StateSlot[int] = state.slot("processes", lambda: launched().on_machine)


def share() -> int:
    """How many of the processors this process may keep busy: the others that were started with it
    on this machine have as many.
    """
    return max(1, cores() // _sharing.get())


#: tells threads that their pool has gone
_End = weakref.ref[Any]


class ThreadPool:
    """Threads that wait for work; started when there is some."""

    def __init__(self) -> None:
        wanted = int(os.environ["FLUIDLITE_NUM_THREADS"]) if is_fixed() else 0
        self.count: int = min(wanted, cores()) if wanted else share()
        self._queue: SimpleQueue[_Task | _End] = SimpleQueue()
        self._started = False
        self._lock = threading.Lock()
        #: the one task at a time that has the threads
        self._task: _Task | None = None

    def takes(self, task: _Task) -> bool:
        """Whether the threads are free for a task, which then has them until :meth:`leave`."""
        with self._lock:
            if self._task is None:
                self._task = task
            return self._task is task

    def leave(self, task: _Task) -> None:
        """Let other tasks have the threads, where this one has them."""
        if self._task is task:
            self._task = None

    def run(self, task: _Task) -> None:
        """Do a task together; the threads are its own."""
        if not self._started:
            self._start()
        for _ in range(min(self.count, task.parts, task.workers) - 1):
            self._queue.put(task)
        task.work()

    def _start(self) -> None:
        self._started = True
        # when the pool goes its reference is put in line, without code of Python, where an
        # interrupt would be lost; the threads hold it until then
        end: _End = weakref.ref(self, self._queue.put)
        for worker in range(1, self.count):
            thread = threading.Thread(
                target=_wait_for_work,
                args=(self._queue, end),
                name=f"fluidlite-{worker}",
                daemon=True,
            )
            try:
                thread.start()
            except RuntimeError:  # there may be no more, as where a process ends
                self.count = worker
                return


class _Task:
    """Parts that threads take, one after the other."""

    def __init__(self, function: Callable[[int, int], None], parts: int, workers: int) -> None:
        self.function: Callable[[int, int], None] = function
        self.parts = parts
        self.workers = workers
        self._taken, self._left, self._workers = 0, parts, 0
        self._lock, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()
        self._error: BaseException | None = None

    def work(self) -> None:
        """Take parts until there are none; a thread that wakes late finds none."""
        with self._lock:
            worker = self._workers
            self._workers += 1
        while True:
            with self._lock:
                part = self._taken
                self._taken += 1
            if part >= self.parts:
                return
            try:
                if self._error is None:
                    self.function(part, worker)
            except BaseException as error:
                self._error = error
            with self._lock:
                self._left -= 1
                if not self._left:
                    self._over.release()

    def wait(self) -> None:
        """Wait until all parts are done.  Raises what one of them raised."""
        self._over.acquire()
        self.function = _nothing  # a thread that wakes late need not hold what was worked on
        error, self._error = self._error, None
        if error is not None:
            raise error


def _nothing(part: int, worker: int) -> None:
    """What there is to do for a task that is over."""


def _wait_for_work(queue: SimpleQueue[_Task | _End], end: _End) -> None:
    with np.errstate(all="ignore"):
        while True:
            task = queue.get()
            if not isinstance(task, _Task):
                queue.put(end)  # for the others
                return
            task.work()
            del task  # what it refers to is not held until the next one comes


_pool: state.StateSlot[ThreadPool] = state.slot("thread pool", ThreadPool)


def is_fixed() -> bool:
    """Whether ``FLUIDLITE_NUM_THREADS`` says how many threads there are."""
    said = os.environ.get("FLUIDLITE_NUM_THREADS", "")
    return said.isdigit() and int(said) > 0


def count() -> int:
    """How many threads work at once, the caller among them: ``FLUIDLITE_NUM_THREADS``, but not more
    than the processors that the process may run on.
    """
    return _pool.get().count


def each(
    function: Callable[[int, int], None], parts: int, workers: int = 1 << 30, blas: bool = False
) -> None:
    """Call a function for each part of some work, in any order, some of them at once.

    Args:
        function: takes the number of a part, and of the worker, from 0; no two parts of one worker
            run at once.
        parts: how many there are; must not depend on the number of threads where a result does on
            the way that it is cut.
        workers: how many may work at once.
        blas: whether the parts multiply matrices; the BLAS then takes one thread for each. If
            nobody can tell it so, the parts follow each other, and it has its own threads.
    """
    if parts < 2:
        for part in range(parts):
            function(part, 0)
        return
    pool = _pool.get()
    with _one_blas_thread() if blas else nullcontext():
        if pool.count > 1 and workers > 1 and (not blas or _blas.get().works):
            task = _Task(function, parts, workers)
            try:  # an interrupt may come anywhere
                if pool.takes(task):
                    pool.run(task)
                    task.wait()
                    return
            finally:
                pool.leave(task)
        for part in range(parts):
            function(part, 0)


# -- the threads of the BLAS -----------------------------------------------------------------------


class _BlasLimit:
    """How many are multiplying in parts, and what the BLAS had before."""

    def __init__(self) -> None:
        found = blas_controllers()
        #: whether the BLAS can be told how many threads it has
        self.works = found is not None
        self.libraries = [(each, each.num_threads) for each in found or ()]
        self.lock = threading.Lock()
        self.users: set[object] = set()


_blas: state.StateSlot[_BlasLimit] = state.slot("threads of the BLAS", _BlasLimit)


def _begin_anew() -> None:
    """Forget what a forked process has of its parent: a pool without threads, held locks."""
    _pool.reset()
    _blas.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def divide(processes: int) -> None:
    """Let this process have its share of the machine's processors, where nobody has said how many
    threads it has.

    Args:
        processes: how many share the machine.
    """
    if processes == _sharing.get() == 1:
        return
    _sharing.switch(processes)
    _pool.reset()
    if not any(os.environ.get(name) for name in BLAS_VARIABLES):
        for each, threads in _blas.get().libraries:
            each.set_num_threads(min(threads, share()))
    _blas.reset()


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Let the BLAS take one thread."""
    limit, user = _blas.get(), object()
    try:  # an interrupt may come anywhere
        with limit.lock:
            if not limit.users:
                limit.libraries = [(each, each.get_num_threads()) for each, _ in limit.libraries]
            limit.users.add(user)
            for library, _ in limit.libraries:
                library.set_num_threads(1)
        yield
    finally:
        with limit.lock:
            limit.users.discard(user)
            if not limit.users:
                for library, before in limit.libraries:
                    library.set_num_threads(before)


class BlasThreads:
    """The threads of NumPy's BLAS; see ``tuning.ThreadPoolControl``."""

    def __init__(self) -> None:
        self.threads: int = count()

    def within(self, threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, while the BLAS has one thread, or those that it had."""
        if threads > 1:
            return function(*arguments)
        with _one_blas_thread():
            return function(*arguments)

    @staticmethod
    def has_several() -> bool:
        """Whether there is a BLAS with more than one thread."""
        return any(each.get_num_threads() > 1 for each, _ in _blas.get().libraries)


# -- element-wise work -----------------------------------------------------------------------------


def ranges(size: int, nbytes: int, part: int | None = None) -> list[slice]:
    """Slices of the same length, but for the last, that cover ``size`` positions.

    Args:
        size: how many positions there are.
        nbytes: what lies at all of them.
        part: about how much lies at those of a slice; ``PART`` when None.
    """
    step = max(1, size * (PART if part is None else part) // max(1, nbytes))
    return [slice(first, min(first + step, size)) for first in range(0, size, step)]


def summed(
    add: Callable[[Any, int, int], Any], blocks: int, parts: int, workers: int
) -> np.ndarray[Any, Any]:
    """The sum over blocks of what each gives; whatever the number of threads, in one order.

    Args:
        add: called with a sum (None at first), a block and a worker; the sum with the block's part.
        blocks: how many there are.
        parts: how many sums are taken at once.
        workers: how many threads may work.
    """
    bounds = ranges(blocks, blocks, -(-blocks // parts))
    sums: list[Any] = [None] * len(bounds)

    def part(k: int, worker: int) -> None:
        for block in range(bounds[k].start, bounds[k].stop):
            sums[k] = add(sums[k], block, worker)

    each(part, len(bounds), workers, blas=True)
    total: np.ndarray[Any, Any] = sums[0]
    for part_sum in sums[1:]:
        np.add(total, part_sum, out=total)
    return total


def outermost(array: Any) -> int:
    """The dimension with the longest steps in memory, among those of several elements."""
    steps = [step if size > 1 else -1 for step, size in zip(array.strides, array.shape)]
    return steps.index(max(steps))


def cut(arrays: Sequence[Any], axis: int, where: slice) -> list[Any]:
    """Arrays of one number of dimensions between two positions of one; those with a single
    position there as they are.
    """
    index = (slice(None),) * axis + (where,)
    return [a if a.shape[axis] == 1 else a[index] for a in arrays]


def spread(function: Any) -> Callable[..., Any]:
    """An element-wise function of NumPy that works on parts of its result at once.

    Args:
        function: a ufunc with one result.
    """

    def run(*arguments: Any, out: Any = None) -> Any:
        shapes = [a.shape for a in arguments]
        shape = shapes[0] if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        if out is None:
            like = next((a for a in arguments if a.shape == shape), None)
            kind = function(*[np.ones(1, a.dtype) for a in arguments]).dtype
            out = np.empty(shape, kind) if like is None else np.empty_like(like, kind)
        same = [a.reshape((1,) * (len(shape) - a.ndim) + a.shape) for a in arguments]
        axis = outermost(out)
        parts = ranges(shape[axis], out.nbytes)

        def part(k: int, _: int) -> None:
            *given, made = cut([*same, out], axis, parts[k])
            function(*given, out=made)

        each(part, len(parts))
        return out

    return run


def spread_where_large(function: Any, nbytes: int) -> Any:
    """A function, cut over threads where it is element-wise and that pays.

    Args:
        function: any.
        nbytes: the size of its result.
    """
    if type(function) is not np.ufunc or function.nout != 1 or function.signature is not None:
        return function
    smallest = COSTLY if function in COMPUTING else CHEAP
    return spread(function) if nbytes >= smallest else function
