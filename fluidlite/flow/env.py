"""The processes that were started together, in OneFlow's spelling."""

from __future__ import annotations

from ..ground.job_environment import launched
from ..ground.public_names import list_public_names
from .placements import placement


def get_rank() -> int:
    """The number of this process.

    >>> fluid.flow.env.get_rank(), fluid.flow.env.get_world_size()
    (0, 1)
    """
    return launched().rank


def get_world_size() -> int:
    """How many processes there are."""
    return launched().size


def get_local_rank() -> int:
    """The number of this process among those on this machine."""
    return launched().rank % launched().on_machine


def get_node_size() -> int:
    """How many machines there are.

    >>> fluid.flow.env.get_node_size(), fluid.flow.env.get_local_rank()
    (1, 0)
    """
    return -(-launched().size // launched().on_machine)


def all_device_placement(device_type: str) -> placement:
    """The placement of all processes.

    Args:
        device_type: "cpu".

    >>> fluid.flow.env.all_device_placement("cpu")
    oneflow.placement(type="cpu", ranks=[0])
    """
    return placement.all(device_type)


def rdma_is_initialized() -> bool:
    """False: processes reach each other by MPI alone."""
    return False


list_public_names(globals())
