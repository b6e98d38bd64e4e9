"""Groups of processes as paddle 2 calls them: that of all, and those of some of them.

MPI brings them together; see ``fluidlite.distributed``.  A process that was started alone has none,
as in paddle 2 on a CPU.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...distributed.mpi import MpiGroup
from ...errors import ArgumentError, NotInitializedError
from ...ground import state
from ...ground.aliases import Alias
from ...ground.job_environment import launched
from ...ground.process_group import joined
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand

__all__ = [
    "Group", "ParallelEnv", "ParallelMode", "ReduceOp", "barrier", "destroy_process_group",
    "get_backend", "get_group", "get_rank", "get_world_size", "global_group", "init_parallel_env",
    "is_available", "is_initialized", "new_group", "wait",
]  # fmt: skip

_NAME = "_default_pg"
_FIRST = 10  #: the number of the first group that a program makes


class ReduceOp:
    """The ways to reduce."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


class ParallelMode:
    """What processes have parts of."""

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


class Group:
    """Some of the processes.

    Args:
        rank_in_group: the number of this process in the group; -1 where it does not belong to it.
        id: the number of the group.
        ranks: the numbers of its processes among all.
        pg: what brings them together; None where this process does not belong to it.
        name: its name.
    """

    def __init__(
        self,
        rank_in_group: int,
        id: int,
        ranks: Sequence[int],
        pg: MpiGroup | None = None,
        name: str | None = None,
    ) -> None:
        self.rank: int = rank_in_group
        self.id: int = id
        self.ranks: list[int] = list(ranks)
        self.process_group: MpiGroup | None = pg
        self.name: str | None = name

    @property
    def nranks(self) -> int:
        """How many processes belong to it."""
        return len(self.ranks)

    @property
    def world_size(self) -> int:
        """The same; -1 where this process does not belong to it."""
        return self.nranks if self.rank >= 0 else -1

    @property
    def backend(self) -> str:
        """What brings them together: MPI."""
        return "MPI"

    def is_member(self) -> bool:
        """Whether this process belongs to it, and there are others."""
        return self.rank >= 0 and self.nranks > 1

    def get_group_rank(self, rank: int) -> int:
        """The number in the group of a process; -1 where it does not belong to it.

        Args:
            rank: its number among all.
        """
        return self.ranks.index(rank) if rank in self.ranks and self.rank >= 0 else -1

    def __repr__(self) -> str:
        ranks = ", ".join(map(str, self.ranks))
        return (
            f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {ranks}; "
            f"name: {self.name}"
        )


@dataclass
class _Groups:
    """Those that there are, by their numbers."""

    known: dict[int, Group] = field(default_factory=dict)
    last: int = _FIRST - 1


_groups: state.StateSlot[_Groups] = state.slot("groups of paddle 2", _Groups)


def init_parallel_env() -> Group | None:
    """Join the processes that were started with this one; nothing where there are no others.

    Returns:
        the group of all.

    Raises:
        UnsupportedError: there are others, and MPI has not started them.
    """
    groups = _groups.get()
    if 0 in groups.known:
        return groups.known[0]
    found = joined()
    if not isinstance(found, MpiGroup):
        return None
    groups.known[0] = Group(found.rank, 0, range(found.size), found, _NAME)
    return groups.known[0]


def is_available() -> bool:
    """Whether processes can be joined: they can, with MPI."""
    return True


def is_initialized() -> bool:
    """Whether ``init_parallel_env`` has joined other processes."""
    return 0 in _groups.get().known


def global_group() -> Group:
    """The group of all processes.

    Raises:
        NotInitializedError: ``init_parallel_env`` has not joined others.
    """
    groups = _groups.get()
    if 0 not in groups.known:
        raise NotInitializedError(
            "there is no group of processes: call init_parallel_env() in processes that were "
            "started together, by mpiexec -n 2 python SCRIPT or python -m "
            "fluidlite.distributed.launch --nproc 2 SCRIPT"
        )
    return groups.known[0]


def get_group(id: int = 0) -> Group | None:
    """The group of a number; None if there is none.

    Args:
        id: its number; 0 is that of all processes.
    """
    return _groups.get().known.get(id)


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: datetime.timedelta = datetime.timedelta(seconds=1800),
) -> Group:
    """Make a group of some processes; all of them have to call this.

    Args:
        ranks: the numbers of its processes; all when None.
        backend: accepted.
        timeout: accepted: ``FLUIDLITE_MPI_TIMEOUT`` says how long processes wait.

    Raises:
        ArgumentError: others belong to it, and ``init_parallel_env`` has not joined them.
    """
    groups = _groups.get()
    groups.last += 1
    together = groups.known.get(0)
    if together is None and (ranks is None or len(ranks) > 1):
        raise ArgumentError("new_group: call init_parallel_env() first, which joins processes")
    members = sorted(ranks) if ranks is not None else range(together.nranks if together else 0)
    process_group = None
    if together is not None and together.process_group is not None:
        process_group = together.process_group.subgroup(members)
    rank = -1 if process_group is None else process_group.rank
    group = Group(rank, groups.last, members, process_group, f"{_NAME}{groups.last}")
    groups.known[group.id] = group
    return group


def destroy_process_group(group: Group | None = None) -> None:
    """Forget a group.

    Args:
        group: which; all of them when None.

    Raises:
        NotInitializedError: there is none.
    """
    groups = _groups.get()
    if group is None:
        global_group()
        groups.known.clear()
    else:
        groups.known.pop(group.id, None)


def get_backend(group: Group | None = None) -> str:
    """What brings the processes of a group together: MPI.

    Args:
        group: that of all processes when None.

    Raises:
        NotInitializedError: this process does not belong to it.
    """
    found = global_group() if group is None else group
    if found.process_group is None:
        raise NotInitializedError(f"this process does not belong to the group of {found.ranks}")
    return found.backend


def get_rank(group: Group | None = None) -> int:
    """The number of this process.

    Args:
        group: the group in which; among all processes when None.

    >>> from fluidlite import paddle
    >>> paddle.distributed.get_rank(), paddle.distributed.get_world_size()
    (0, 1)
    """
    return launched().rank if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """How many processes there are.

    Args:
        group: the group in which; all when None.
    """
    return launched().size if group is None else group.world_size


def barrier(group: Group | None = None) -> None:
    """Wait until all processes of a group have come here.

    Args:
        group: that of all processes when None.

    Raises:
        NotInitializedError: there is none.
    """
    found = global_group() if group is None else group
    if found.process_group is not None:
        found.process_group.exchange([b""] * found.nranks)


def wait(tensor: Operand, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Nothing: calls are done when they return.

    Args:
        tensor: accepted.
        group: accepted.
        use_calc_stream: accepted.
    """


class ParallelEnv:
    """What a process knows of those that were started with it.

    >>> from fluidlite import paddle
    >>> env = paddle.distributed.ParallelEnv()
    >>> env.rank, env.world_size
    (0, 1)
    """

    def __init__(self) -> None:
        launch = launched()
        self.rank: int = launch.rank
        self.world_size: int = launch.size
        self.device_type: str = os.environ.get("PADDLE_XCCL_BACKEND", "")
        said = os.environ.get("FLAGS_selected_gpus", "")  # noqa: SIM112
        self.device_id: int = int(said) if said.isdigit() else 0  #: not read
        several = launch.size > 1
        endpoints = os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",")
        self.trainer_endpoints: list[str] = list(launch.endpoints) if several else endpoints
        self.current_endpoint: str = (
            launch.endpoint if several else os.environ.get("PADDLE_CURRENT_ENDPOINT", "")
        )
        self.nrings: int = int(os.environ.get("FLAGS_nccl_nrings", "1"))  # noqa: SIM112
        self.pg_timeout: int = int(os.environ.get("PADDLE_PG_TIMEOUT", "1800000"))

    local_rank: Alias[int] = Alias("rank", "The number of this process.")
    nranks: Alias[int] = Alias("world_size", "How many processes there are.")
    dev_id: Alias[int] = Alias("device_id", "The number of its device, which is not read.")

    def __repr__(self) -> str:
        return f"ParallelEnv(rank={self.rank}, world_size={self.world_size})"


list_public_names(globals())
api_boundaries(globals())
