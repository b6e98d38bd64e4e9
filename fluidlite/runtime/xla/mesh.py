"""A mesh of devices that share the work of programs, with the results of one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ...errors import ArgumentError
from ..sharding import Split, layouts_of


def made(sizes: Mapping[str, int]) -> Mesh:
    """A mesh of JAX's devices.

    Args:
        sizes: how many devices along each axis.

    Raises:
        ArgumentError: there are not as many devices; or there are more, of several processes.
    """
    count, devices = int(np.prod(list(sizes.values()))), jax.devices()
    if count > len(devices):
        raise ArgumentError(
            f"expected a mesh of at most {len(devices)} devices, which JAX sees; got "
            f"{' x '.join(map(str, sizes.values()))} = {count}; on a CPU, "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count} makes as many"
        )
    if jax.process_count() > 1 and count < len(devices):
        raise ArgumentError(
            f"expected a mesh of all {len(devices)} devices of {jax.process_count()} processes, "
            f"got {' x '.join(map(str, sizes.values()))} = {count}"
        )
    return Mesh(np.array(devices[:count]).reshape(tuple(sizes.values())), tuple(sizes))


class MeshPlacement:
    """Where the values of a program lie on a mesh.

    Args:
        mesh: of JAX.
        program: whose variables have been split.
    """

    def __init__(self, mesh: Mesh, program: Any) -> None:
        self.mesh = mesh
        self._layouts = layouts_of(program)
        self._block = program.global_block()
        for name, layout in self._layouts.items():
            _refuse_split(self._block.vars.get(name), layout, mesh)

    @property
    def key(self) -> Any:
        """What is equal for equal placings."""
        return self.mesh, tuple(sorted(self._layouts.items()))

    def sharding(self, name: str, shape: Sequence[int]) -> NamedSharding:
        """Where a value lies: split as its variable is said to be; else data along the batch over
        the first axis, where that divides it, and everything else whole.
        """
        variable = self._block.vars.get(name)
        layout = self._layouts.get(name)
        axes: list[Any] = [None] * len(shape)
        first = self.mesh.axis_names[0]
        if layout is not None:
            count = self.mesh.shape[layout.over]
            axes[layout.dimension] = layout.over if shape[layout.dimension] % count == 0 else None
        elif variable is not None and variable.is_data and shape:
            axes[0] = first if shape[0] % self.mesh.shape[first] == 0 else None
        return NamedSharding(self.mesh, P(*axes))

    def placed(self, env: dict[str, Any]) -> dict[str, Any]:
        """Values where they are to lie, while a function is traced."""
        return {
            name: jax.lax.with_sharding_constraint(value, self.sharding(name, value.shape))
            if hasattr(value, "shape")
            else value
            for name, value in env.items()
        }

    @property
    def is_shared(self) -> bool:
        """Whether several processes have devices of the mesh."""
        return jax.process_count() > 1

    def is_data(self, name: str) -> bool:
        """Whether each process feeds a part of a variable."""
        variable = self._block.vars.get(name)
        return variable is not None and variable.is_data and not variable.persistable

    def given(self, name: str, value: Any) -> Any:
        """A value for a function: of several processes, the parts that they were fed together."""
        if not (self.is_shared and isinstance(value, np.ndarray)):
            return value
        if not self.is_data(name) or not value.ndim:
            return _spread(value, self.sharding(name, value.shape))
        rows = value.shape[0]
        shape = (rows * jax.process_count(), *value.shape[1:])
        sharding = self.sharding(name, shape)
        begin = rows * jax.process_index()
        if not _keeps_parts(sharding, shape):
            return _spread(multihost_utils.process_allgather(value, tiled=True), sharding)

        def part(index: Any) -> Any:  # the type that JAX says is another one in each release
            first, last, _ = index[0].indices(shape[0])
            return value[(slice(first - begin, last - begin), *index[1:])]

        return jax.make_array_from_callback(shape, sharding, part)


def _refuse_split(variable: Any, layout: Split, mesh: Mesh) -> None:
    """Refuse what a mesh cannot split.

    Raises:
        ArgumentError: it has no such axis, or the dimension is not a multiple of it.
    """
    if variable is None:
        return
    if layout.over not in mesh.shape:
        raise ArgumentError(
            f"variable {variable.name!r} is to be split over the axis {layout.over!r} of a mesh; "
            f"this one has {', '.join(map(repr, mesh.axis_names))}"
        )
    size, count = variable.shape[layout.dimension], mesh.shape[layout.over]
    if size > 0 and size % count:
        raise ArgumentError(
            f"expected the size of dimension {layout.dimension} of variable {variable.name!r}, "
            f"which is split over the axis {layout.over!r} of a mesh, to be a multiple of {count}, "
            f"got {list(variable.shape)}"
        )


def is_own(value: Any) -> bool:
    """Whether an array is of this process alone."""
    return isinstance(value, np.ndarray) or getattr(value, "is_fully_addressable", False)


def _spread(value: Any, sharding: NamedSharding) -> Any:
    """A value that all processes have, on the devices of all."""
    return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])


def _keeps_parts(sharding: NamedSharding, shape: tuple[int, ...]) -> bool:
    """Whether the devices of each process take nothing but the rows that it was fed."""
    rows = shape[0] // jax.process_count()
    indices: dict[Any, Any] = {**sharding.devices_indices_map(shape)}
    for device, index in indices.items():
        first, last, _ = index[0].indices(shape[0])
        begin = rows * device.process_index
        if first < begin or last > begin + rows:
            return False
    return True


__all__ = ["Split", "MeshPlacement", "is_own", "made"]
