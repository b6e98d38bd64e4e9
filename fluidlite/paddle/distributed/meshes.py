"""Meshes of processes, and where on them the parts of a tensor are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries

__all__ = [
    "DistAttr", "Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard",
    "mesh_text",
]  # fmt: skip


class ReduceType(IntEnum):
    """How parts make a whole."""

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6


class ProcessMesh:
    """Processes as the points of a mesh, with names for its axes.

    Args:
        mesh: the numbers of the processes, as nested lists or an array.
        dim_names: the names of the axes; d0, d1, ... when None.
        shape: its sizes, where ``mesh`` is None.
        process_ids: the numbers in one row, where ``mesh`` is None.

    Raises:
        ArgumentError: a number is negative, or occurs twice; or names do not fit.

    >>> from fluidlite.paddle import distributed
    >>> mesh = distributed.ProcessMesh([[2, 4, 5], [0, 1, 3]], dim_names=["x", "y"])
    >>> mesh.shape, mesh.get_dim_size("y"), mesh[0].process_ids
    ([2, 3], 3, [2, 4, 5])
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Sequence[int] | None = None,
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise ArgumentError("ProcessMesh: expected mesh, or shape and process_ids")
            mesh = np.array(process_ids).reshape(shape)
        if not isinstance(mesh, (list, tuple, np.ndarray)):
            raise ArgumentError(f"expected mesh to be lists of processes, got {mesh!r:.60}")
        self._mesh: Any = np.array(mesh)
        if self._mesh.dtype.kind not in "iu" or (self._mesh < 0).any():
            raise ArgumentError(f"expected numbers of processes, 0 or more, got {mesh!r:.60}")
        if len(np.unique(self._mesh)) != self._mesh.size:
            raise ArgumentError(f"expected each process once, got {mesh!r:.60}")
        rank = self._mesh.ndim
        if dim_names is None:
            dim_names = [f"d{k}" for k in range(rank)]
        if not isinstance(dim_names, (list, tuple)) or not all(
            isinstance(name, str) for name in dim_names
        ):
            raise ArgumentError(f"expected dim_names to be a list of texts, got {dim_names!r:.60}")
        if len(dim_names) != rank or len({*dim_names}) != rank:
            raise ArgumentError(f"expected {rank} different dim_names, got {list(dim_names)}")
        self._dim_names = list(dim_names)

    mesh: Alias[Any] = Alias("_mesh", "The numbers of the processes, as an array.")
    dim_names: Alias[list[str]] = Alias("_dim_names", "The names of the axes.")

    @property
    def shape(self) -> list[int]:
        """The sizes of the axes."""
        return list(self._mesh.shape)

    ndim: Alias[int] = Alias("_mesh.ndim", "How many axes there are.")
    size: Alias[int] = Alias("_mesh.size", "How many processes there are.")

    @property
    def process_ids(self) -> list[int]:
        """The numbers of the processes, in one row."""
        return self._mesh.ravel().tolist()

    def get_dim_size(self, dim_name: str) -> int:
        """The size of an axis.

        Args:
            dim_name: its name.

        Raises:
            ArgumentError: there is none.
        """
        if dim_name not in self._dim_names:
            raise ArgumentError(f"expected an axis of {self._dim_names}, got {dim_name!r:.60}")
        return self.shape[self._dim_names.index(dim_name)]

    dim_size = get_dim_size

    def contains(self, process_id: int) -> bool:
        """Whether a process is on it.

        Args:
            process_id: its number.
        """
        return process_id in self.process_ids

    def empty(self) -> bool:
        """Whether there is no process on it."""
        return self._mesh.size == 0

    def get_mesh_with_dim(self, dim_name: str) -> ProcessMesh:
        """The mesh with an axis before all others.

        Args:
            dim_name: the name of the axis.

        Raises:
            ArgumentError: there is none.
        """
        self.get_dim_size(dim_name)
        axis = self._dim_names.index(dim_name)
        rest = [name for name in self._dim_names if name != dim_name]
        return ProcessMesh(np.moveaxis(self._mesh, axis, 0), [dim_name, *rest])

    def __getitem__(self, index: int | slice | tuple[int | slice, ...]) -> ProcessMesh:
        indexes = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(each, (int, slice)) for each in indexes):
            raise ArgumentError(f"expected numbers and slices, got {index!r:.60}")
        part = self._mesh[index]
        names = [
            name
            for k, name in enumerate(self._dim_names)
            if k >= len(indexes) or isinstance(indexes[k], slice)
        ]
        return ProcessMesh(part, names) if names else ProcessMesh([int(part)])

    def __enter__(self) -> ProcessMesh:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing: a mesh has no effect on what is computed."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProcessMesh)
            and self._dim_names == other.dim_names
            and np.array_equal(self._mesh, other.mesh)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.shape), tuple(self.process_ids), tuple(self._dim_names)))

    def __str__(self) -> str:
        return f"shape {self.shape}, process_ids {self.process_ids}, dim_nams {self._dim_names}"

    def __repr__(self) -> str:
        return f"ProcessMesh({self._mesh.tolist()}, dim_names={self._dim_names})"


def mesh_text(mesh: ProcessMesh) -> str:
    """A mesh as tensors show it."""
    parts = [",".join(map(str, each)) for each in (mesh.shape, mesh.process_ids, mesh.dim_names)]
    return "{{shape: [{}], process_ids: [{}], dim_names: [{}]}}".format(*parts)


class Placement:
    """Where the parts of a tensor are, on one axis of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has some rows.

        Args:
            dim: of this dimension; of any when None.
        """
        return False

    def is_replicated(self) -> bool:
        """Whether each process has the whole tensor."""
        return False

    def is_partial(self) -> bool:
        """Whether what all processes have makes the tensor."""
        return False

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, *sorted(vars(self).items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Shard(Placement):
    """Each process has some rows of a dimension.

    Args:
        dim: the dimension.
    """

    def __init__(self, dim: int) -> None:
        if type(dim) is not int:
            raise ArgumentError(f"expected dim to be a whole number, got {dim!r:.60}")
        self._dim = dim

    def get_dim(self) -> int:
        """The dimension."""
        return self._dim

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self._dim

    def __repr__(self) -> str:
        return f"Shard(dim={self._dim})"


class Replicate(Placement):
    """Each process has the whole tensor."""

    def is_replicated(self) -> bool:
        return True


class Partial(Placement):
    """What all processes have makes the tensor.

    Args:
        reduce_type: how.
    """

    def __init__(self, reduce_type: ReduceType = ReduceType.kRedSum) -> None:
        self._reduce_type = ReduceType(reduce_type)

    def is_partial(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self._reduce_type.name.removeprefix('kRed').upper()})"


class DistAttr(Described):
    """Where the parts of a tensor are, by the names of a mesh's axes.

    Args:
        mesh: the mesh.
        sharding_specs: for each dimension of the tensor the name of the axis along which it is
            divided; None where it is not.

    Raises:
        ArgumentError: there is no such axis, or an argument is of another kind.

    >>> from fluidlite.paddle import distributed
    >>> mesh = distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
    >>> distributed.DistAttr(mesh, ["y", None]).dims_mapping
    [1, -1]
    """

    def __init__(self, mesh: ProcessMesh, sharding_specs: Sequence[str | None]) -> None:
        if not isinstance(mesh, ProcessMesh):
            raise ArgumentError(f"expected mesh to be a ProcessMesh, got {mesh!r:.60}")
        if not isinstance(sharding_specs, list):
            raise ArgumentError(f"expected sharding_specs to be a list, got {sharding_specs!r:.60}")
        unknown = [
            name for name in sharding_specs if name is not None and name not in mesh.dim_names
        ]
        if unknown:
            raise ArgumentError(f"expected an axis of {mesh.dim_names}, got {unknown.pop()!r:.60}")
        self._sharding_specs = list(sharding_specs)
        self.process_mesh: ProcessMesh | None = mesh
        self.dims_mapping: list[int] = [
            -1 if name is None else mesh.dim_names.index(name) for name in sharding_specs
        ]
        self.batch_dim: int = 0
        self.chunk_id: int = 0
        self.dynamic_dims: list[bool] = [False] * len(sharding_specs)
        self.annotated: dict[str, bool] = {"dims_mapping": True, "process_mesh": True}

    @property
    def sharding_specs(self) -> list[str | None]:
        """What it was made of."""
        return self._sharding_specs

    def is_annotated(self, name: str) -> bool:
        """Whether somebody has said a part of it.

        Args:
            name: of the part.
        """
        return self.annotated.get(name, False)

    def mark_annotated(self, name: str) -> None:
        """Note that somebody has said a part of it.

        Args:
            name: of the part.
        """
        self.annotated = dict(sorted({**self.annotated, name: True}.items()))

    def clear_annotated(self) -> None:
        """Note that nobody has said anything."""
        self.annotated = {}

    def reset(self) -> None:
        """Forget where the parts are."""
        self.process_mesh = None
        self.dims_mapping = [-1] * len(self.dims_mapping)
        self.annotated = {}

    def verify(self, tensor_shape: Sequence[int]) -> bool:
        """Whether it fits a tensor.

        Args:
            tensor_shape: the sizes of the tensor.
        """
        return len(tensor_shape) == len(self.dims_mapping)

    def serialize_to_string(self) -> bytes:
        """All of it as bytes."""
        told = {**vars(self), "process_mesh": None}
        mesh = self.process_mesh
        if mesh is not None:
            told["process_mesh"] = [mesh.mesh.tolist(), mesh.dim_names]
        return json.dumps(told).encode()

    def parse_from_string(self, data: bytes) -> None:
        """Take what ``serialize_to_string`` gave.

        Args:
            data: the bytes.

        Raises:
            ArgumentError: they are others.
        """
        try:
            told = json.loads(data)
            mesh = told["process_mesh"]
            told["process_mesh"] = None if mesh is None else ProcessMesh(*mesh)
            if told.keys() != vars(self).keys():
                raise KeyError(*told)
        except (KeyError, TypeError, ValueError) as error:
            raise ArgumentError(f"expected what serialize_to_string gave: {error}") from None
        vars(self).update(told)

    def __str__(self) -> str:
        nothing = "{shape: [], process_ids: [], dim_names: []}"
        mesh = nothing if self.process_mesh is None else mesh_text(self.process_mesh)
        return (
            f"{{process_mesh: {mesh}, dims_mappings: [{_row(self.dims_mapping)}], "
            f"batch_dim: {self.batch_dim}, chunk_id: {self.chunk_id}, "
            f"dynamic_dims: [{_row(map(int, self.dynamic_dims))}], "
            f"annotated: [{_row(f'{name}: 1' for name in self.annotated)}], partial: [].}}"
        )


def _row(items: Any) -> str:
    return ",".join(map(str, items))


list_public_names(globals())
api_boundaries(globals())
