"""A mesh of devices that share the work of programs, with the results of one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ...errors import ArgumentError
from ..sharding import Split, layouts_of


def made(sizes: Mapping[str, int]) -> Mesh:
    """A mesh of JAX's devices.

    Args:
        sizes: how many devices along each axis.

    Raises:
        ArgumentError: there are not as many devices.
    """
    count, devices = int(np.prod(list(sizes.values()))), jax.devices()
    if count > len(devices):
        raise ArgumentError(
            f"expected a mesh of at most {len(devices)} devices, which JAX sees; got "
            f"{' x '.join(map(str, sizes.values()))} = {count}; on a CPU, "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count} makes as many"
        )
    return Mesh(np.array(devices[:count]).reshape(tuple(sizes.values())), tuple(sizes))


class MeshPlacement:
    """Where the values of a program lie on a mesh.

    Args:
        mesh: of JAX.
        program: whose variables have been split.
    """

    def __init__(self, mesh: Mesh, program: Any) -> None:
        self.mesh, self._layouts = mesh, layouts_of(program)
        self._block = program.global_block()

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
            axes[layout.dimension] = layout.over
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

    def given(self, name: str, value: Any) -> Any:
        """A value for a function: of several processes, the parts that they were fed together."""
        if jax.process_count() == 1 or not isinstance(value, np.ndarray):
            return value
        variable = self._block.vars.get(name)
        if variable is not None and variable.is_data and value.ndim:
            shape = (value.shape[0] * jax.process_count(), *value.shape[1:])
            sharding = self.sharding(name, shape)
            return jax.make_array_from_process_local_data(sharding, value, shape)
        sharding = self.sharding(name, value.shape)
        return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])


__all__ = ["Split", "MeshPlacement", "made"]
