"""What the environment says of the processes that were started together with this one.

Starters of MPI processes and Paddle's launcher tell each process its number in variables of their
own.  Nothing here talks to the others.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

#: variables that say how many processes there are, and which this is: MPICH and its kin, Open MPI,
#: others, PMIx
_MPI = (
    ("PMI_SIZE", "PMI_RANK"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MPI_WORLD_SIZE", "MPI_WORLD_RANK"),
    ("PMIX_SIZE", "PMIX_RANK"),
)
_PADDLE = ("PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ID")
_ON_MACHINE = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")
_FIRST_PORT = 6170


@dataclass(frozen=True)
class Launched:
    """This process among those that were started together."""

    rank: int = 0  #: its number
    size: int = 1  #: how many there are
    on_machine: int = 1  #: how many of them are on this machine
    by_mpi: bool = False  #: whether MPI started them, so that they can reach each other
    endpoints: tuple[str, ...] = ()  #: their names, as ``HOST:PORT``

    @property
    def endpoint(self) -> str:
        """The name of this one."""
        return self.endpoints[self.rank] if self.rank < len(self.endpoints) else ""


def launched() -> Launched:
    """What the environment says; one process where it says nothing.

    >>> launched().size
    1
    """
    for size, rank in _MPI:
        if count := _number(size):
            return _of(count, _number(rank) or 0, by_mpi=True)
    listed = _endpoints()
    count = _number(_PADDLE[0]) or len(listed) or 1
    return _of(count, _number(_PADDLE[1]) or 0, by_mpi=False)


def _of(size: int, rank: int, by_mpi: bool) -> Launched:
    listed = _endpoints()
    if len(listed) != size:
        listed = tuple(f"127.0.0.1:{_FIRST_PORT + number}" for number in range(size))
    beside = [found for name in _ON_MACHINE if (found := _number(name))] if by_mpi else []
    return Launched(rank, size, min(beside[0], size) if beside else 1, by_mpi, listed)


def _endpoints() -> tuple[str, ...]:
    said = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "")
    return tuple(name.strip() for name in said.split(",") if name.strip())


def _number(name: str) -> int | None:
    said = os.environ.get(name, "")
    return int(said) if said.isdigit() else None


def as_variables(found: Launched) -> dict[str, str]:
    """The variables of Paddle's launcher that say the same: old programs read them."""
    return {
        _PADDLE[0]: str(found.size),
        _PADDLE[1]: str(found.rank),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(found.endpoints),
        "PADDLE_CURRENT_ENDPOINT": found.endpoint,
        "TRAINING_ROLE": "TRAINER",
    }


# -- what a process tells the launcher -------------------------------------------------------------

#: the folder of a job of fluidlite's launcher
FOLDER = "FLUIDLITE_LAUNCH"
_SEEN = "seen"
_PAUSE, _MOST = 0.02, 2.0  # seconds


def note(what: str) -> None:
    """Tell the launcher what this process does; nothing if there is none.

    Args:
        what: one word, and what belongs to it: ``joined``, ``ended 1``, ``fault TEXT``.
    """
    folder = os.environ.get(FOLDER, "")
    if folder:
        path = os.path.join(folder, f"rank-{launched().rank}")
        with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as file:
            file.write(f"{time.time()} {os.getpid()} {what}\n")


def note_fault(why: str) -> None:
    """Tell the launcher why this process ends all, and give it the time to look at the others."""
    note("fault " + " ".join(why.split()))
    folder = os.environ.get(FOLDER, "")
    end = time.monotonic() + _MOST
    while folder and time.monotonic() < end:
        if os.path.exists(os.path.join(folder, _SEEN)) or not os.path.isdir(folder):
            return
        time.sleep(_PAUSE)


def answer(folder: str) -> None:
    """Let processes go on that wait in :func:`note_fault`."""
    with contextlib.suppress(OSError), open(os.path.join(folder, _SEEN), "w", encoding="utf-8"):
        pass


@dataclass(frozen=True)
class Note:
    """What a process told the launcher."""

    time: float
    pid: int
    word: str
    rest: str


def notes(folder: str, rank: int) -> list[Note]:
    """What a process has told, in order."""
    try:
        with open(os.path.join(folder, f"rank-{rank}"), encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(" ", 3) for line in file if line.endswith("\n")]
    except OSError:
        return []
    return [Note(float(t), int(pid), *([*rest, ""][:2])) for t, pid, *rest in lines]
