"""What the environment says of the processes that were started together with this one.

Starters of MPI processes and Paddle's launcher tell each process its number in variables of their
own.  Nothing here talks to the others.
"""

from __future__ import annotations

import os
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
        if _number(size) and _number(rank) is not None:
            return _of(_number(size) or 1, _number(rank) or 0, by_mpi=True)
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
