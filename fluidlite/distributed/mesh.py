"""Meshes of devices on which JAX runs programs, with the results of one device."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ir.variable import Variable
from ..runtime.sharding import Split, mesh_in_use, set_layout

_MESHES = "fluidlite.runtime.xla.mesh"  # read when a mesh is first asked for


def mesh(**sizes: int) -> AbstractContextManager[Any]:
    """Share the work of programs among devices inside a ``with`` block, where JAX runs them.

    The results are those of one device.  What is fed is split along the batch over the first axis;
    variables that :func:`shard` names are split, too, and the states of optimizers with their
    parameters; everything else is whole on each device.

    Args:
        sizes: names of axes and how many devices there are along them: ``data=4, model=2``.

    Returns:
        a context manager; within it is JAX's mesh.

    Raises:
        ArgumentError: an axis has no size, or there are not as many devices.
        UnsupportedError: JAX is not installed.

    >>> import jax
    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.relu(x)
    >>> exe = fluid.Executor(backend="jax")
    >>> with fluid.distributed.mesh(data=1):
    ...     exe.run(feed={"x": np.array([[-1.0, 2.0]], "float32")}, fetch_list=[y])[0].tolist()
    [[0.0, 2.0]]
    """
    if not sizes or not all(type(n) is int and n > 0 for n in sizes.values()):
        said = ", ".join(f"{name}={size!r:.20}" for name, size in sizes.items()) or "nothing"
        raise ArgumentError(
            f"expected axes with numbers of devices, as in mesh(data=4, model=2), got {said}"
        )
    return mesh_in_use.guard(_jax(_MESHES).made(sizes))


def shard(variable: Variable, axis: int, over: str = "model") -> Variable:
    """Let a variable be split over the devices of a mesh.

    Args:
        variable: a parameter, or what is fed.
        axis: the dimension that is split.
        over: the axis of the mesh.

    Returns:
        the variable.

    Raises:
        ArgumentError: it is no variable, or has no such dimension.

    >>> w = fluid.layers.create_parameter([4, 6], "float32")
    >>> fluid.distributed.shard(w, 1) is w
    True
    """
    if not isinstance(variable, Variable):
        raise ArgumentError(f"expected a variable to split, got {variable!r:.60}")
    count = len(variable.shape)
    if type(axis) is not int or not -count <= axis < count:
        raise ArgumentError(
            f"expected axis in [{-count}, {count}) for variable {variable.name!r} of shape "
            f"{list(variable.shape)}, got {axis!r:.20}"
        )
    set_layout(variable, Split(axis % count, over))
    return variable


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    timeout: int = 300,
) -> None:
    """Let the processes of several hosts run programs together; call it before anything runs.

    Each process then feeds its part of the batch, inside a :func:`mesh` of all devices, and all of
    them get the same results; parameters and seeds are those of process 0.  This is
    ``jax.distributed.initialize``.

    Args:
        coordinator_address: host and port of process 0; found out on clusters that JAX knows.
        num_processes: how many there are.
        process_id: which of them this is.
        local_device_ids: the devices that this process uses; all that it sees when None.
        timeout: how many seconds to wait for the other processes.

    Raises:
        ArgumentError: process 0 does not listen at its address.
        UnsupportedError: JAX is not installed.

    In process 0 of 2, whose host is called "first":

    >>> fluid.distributed.initialize("first:8476", 2, 0)  # doctest: +SKIP
    """
    jax = _jax("jax")
    if (jax.config.jax_platforms or "").startswith("cpu"):  # processes on CPUs meet by gloo
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    if coordinator_address is not None and process_id:
        _wait_for(coordinator_address, timeout)
    jax.distributed.initialize(
        coordinator_address,
        num_processes,
        process_id,
        local_device_ids=local_device_ids,
        initialization_timeout=timeout,
    )


def _wait_for(address: str, seconds: float) -> None:
    """Wait until somebody listens at an address: JAX would end the process where nobody does.

    Raises:
        ArgumentError: nobody does.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ArgumentError(f"expected the address of process 0 as host:port, got {address!r:.60}")
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), 5).close()
        except OSError as error:
            if time.monotonic() > end:
                raise ArgumentError(
                    f"waited {seconds} seconds for process 0 to listen at {address}: {error}; "
                    f"start it there, or give its address"
                ) from None
            time.sleep(0.1)
        else:
            return


def _jax(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("jax", "jaxlib"):
            raise
        raise UnsupportedError(
            'meshes of devices need JAX, which is not installed: pip install "fluidlite[jax]"'
        ) from None
