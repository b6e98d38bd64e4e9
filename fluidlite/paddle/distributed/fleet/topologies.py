"""Processes as the points of a grid, one axis for each way to divide the work."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.reprs import Described
from ....ground.tracebacks import api_boundaries
from ..groups import ParallelMode, get_rank

__all__ = ["CommunicateTopology", "HybridCommunicateGroup"]


class CommunicateTopology(Described):
    """Processes as the points of a grid.

    Args:
        hybrid_group_names: the names of its axes.
        dims: their sizes.

    >>> from fluidlite.paddle.distributed import fleet
    >>> grid = fleet.CommunicateTopology(["data", "model"], [2, 2])
    >>> grid.get_rank(data=1, model=0), grid.get_comm_list("data")
    (2, [[0, 2], [1, 3]])
    """

    def __init__(
        self,
        hybrid_group_names: Sequence[str] = ("data", "pipe", "sharding", "sep", "model"),
        dims: Sequence[int] = (1, 1, 1, 1, 1),
    ) -> None:
        if len(hybrid_group_names) != len(dims):
            raise ArgumentError(
                f"expected a size for each of {list(hybrid_group_names)}, got {list(dims)}"
            )
        self._hybrid_group_names = list(hybrid_group_names)
        self._dims = [int(size) for size in dims]
        make: Any = namedtuple  # of names that no type checker knows
        self.coordinate: Any = make("Coordinate", self._hybrid_group_names)
        self._ranks = np.arange(int(np.prod(self._dims))).reshape(self._dims)

    def get_hybrid_group_names(self) -> list[str]:
        """The names of the axes."""
        return list(self._hybrid_group_names)

    def _axis(self, name: str) -> int:
        if name not in self._hybrid_group_names:
            raise ArgumentError(f"expected an axis of {self._hybrid_group_names}, got {name!r:.60}")
        return self._hybrid_group_names.index(name)

    def get_dim(self, axis_name: str) -> int:
        """The size of an axis.

        Args:
            axis_name: its name.

        Raises:
            ArgumentError: there is none.
        """
        return self._dims[self._axis(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """How many processes there are."""
        return int(self._ranks.size)

    def get_rank(self, **args: int) -> int:
        """The number of a process.

        Args:
            args: where it is on each axis.

        Raises:
            ArgumentError: an axis is not said, or there is no such process.
        """
        if sorted(args) != sorted(self._hybrid_group_names):
            raise ArgumentError(
                f"expected a place on each of {self._hybrid_group_names}, got {args}"
            )
        place = tuple(args[name] for name in self._hybrid_group_names)
        if not all(0 <= at < size for at, size in zip(place, self._dims)):
            raise ArgumentError(f"expected a place within {self._dims}, got {args}")
        return int(self._ranks[place])

    def get_coord(self, rank: int) -> Any:
        """Where a process is on each axis.

        Args:
            rank: its number.

        Raises:
            ArgumentError: there is none.
        """
        if not 0 <= rank < self._ranks.size:
            raise ArgumentError(f"expected a process of {self._ranks.size}, got {rank!r:.60}")
        return self.coordinate(*map(int, np.unravel_index(rank, self._dims)))

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The processes at a place of an axis.

        Args:
            axis_name: the axis.
            index: the place.
        """
        return self._ranks.take(index, self._axis(axis_name)).ravel().tolist()

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The processes that differ in their place on an axis alone, group by group.

        Args:
            axis_name: the axis.
        """
        lines = np.moveaxis(self._ranks, self._axis(axis_name), -1)
        return lines.reshape(-1, lines.shape[-1]).tolist()

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """The processes that differ in their places on some axes alone, group by group.

        Args:
            fused_axis: the axes.
        """
        axes = [self._axis(name) for name in fused_axis]
        rest = [axis for axis in range(len(self._dims)) if axis not in axes]
        lines = self._ranks.transpose([*rest, *axes])
        sizes = [self._dims[axis] for axis in rest]
        return [lines[place].ravel().tolist() for place in itertools.product(*map(range, sizes))]

    def get_rank_from_stage(self, global_rank: int, **kwargs: int) -> int:
        """The process at other places of some axes.

        Args:
            global_rank: the process.
            kwargs: the places.
        """
        return self.get_rank(**{**self.get_coord(global_rank)._asdict(), **kwargs})


class HybridCommunicateGroup(Described):
    """Which part of the work this process has, on each axis of a grid.

    Args:
        topology: the grid.

    >>> from fluidlite.paddle.distributed import fleet
    >>> hybrid = fleet.HybridCommunicateGroup(fleet.CommunicateTopology())
    >>> hybrid.get_data_parallel_rank(), hybrid.get_data_parallel_world_size()
    (0, 1)
    """

    def __init__(self, topology: CommunicateTopology) -> None:
        self._topology = topology
        self.global_rank: int = get_rank()

    def topology(self) -> CommunicateTopology:
        """The grid."""
        return self._topology

    def get_global_rank(self) -> int:
        """The number of this process."""
        return self.global_rank

    def _place(self, axis: str) -> int:
        return int(getattr(self._topology.get_coord(self.global_rank), axis))

    def _source(self, axis: str) -> int:
        """The first process of those that differ from this one on an axis alone."""
        return self._topology.get_rank_from_stage(self.global_rank, **{axis: 0})

    def get_parallel_mode(self) -> int:
        """What processes have parts of: one of ``ParallelMode``."""
        sizes = {name: self._topology.get_dim(name) for name in ("pipe", "model", "sharding")}
        if sizes["pipe"] > 1:
            return ParallelMode.PIPELINE_PARALLEL
        if sizes["model"] > 1:
            return ParallelMode.TENSOR_PARALLEL
        if sizes["sharding"] > 1:
            return ParallelMode.SHARDING_PARALLEL
        return ParallelMode.DATA_PARALLEL

    def get_stage_id(self) -> int:
        """Which stage of a pipeline this process has."""
        return self._place("pipe")

    def get_rank_from_stage(self, stage_id: int, **kwargs: int) -> int:
        """The process of another stage.

        Args:
            stage_id: the stage.
            kwargs: places on other axes.
        """
        return self._topology.get_rank_from_stage(self.global_rank, pipe=stage_id, **kwargs)


def _of_axis(axis: str) -> None:
    """Give the class what it answers of an axis."""

    def rank(self: HybridCommunicateGroup) -> int:
        return self._place(axis)

    def size(self: HybridCommunicateGroup) -> int:
        return self._topology.get_dim(axis)

    def source(self: HybridCommunicateGroup) -> int:
        return self._source(axis)

    told = {
        f"get_{axis}_parallel_rank": (rank, "The number of this process"),
        f"get_{axis}_parallel_world_size": (size, "How many processes there are"),
        f"get_{axis}_parallel_group_src_rank": (source, "The first process"),
    }
    for name, (method, words) in told.items():
        method.__name__, method.__qualname__ = name, f"HybridCommunicateGroup.{name}"
        method.__doc__ = f"{words} on the axis ``{axis}``."
        setattr(HybridCommunicateGroup, name, method)


for _name in ("data", "model", "pipe", "sharding", "sep"):
    _of_axis(_name)

list_public_names(globals())
api_boundaries(globals())
