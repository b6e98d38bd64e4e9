# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.distributed`` of paddle 2.6, over MPI where several processes were started together."""

from __future__ import annotations

from ..holders import hold
from ...ground.public_names import list_given_names
from . import auto_parallel, communication, communicator, fleet, io, rpc, sharding
from .communication import stream
from .collectives import (
    P2POp, all_gather, all_gather_object, all_reduce, alltoall, alltoall_single,
    batch_isend_irecv, broadcast, broadcast_object_list, gather, irecv, isend, recv, reduce,
    reduce_scatter, scatter, scatter_object_list, send,
)  # fmt: skip
from .datasets import BoxPSDataset, InMemoryDataset, QueueDataset
from .entries import CountFilterEntry, ProbabilityEntry, ShowClickEntry
from .gloo import gloo_barrier, gloo_init_parallel_env, gloo_release
from .groups import (
    ParallelEnv, ParallelMode, ReduceOp, barrier, destroy_process_group, get_backend, get_group,
    get_rank, get_world_size, init_parallel_env, is_available, is_initialized, new_group, wait,
)  # fmt: skip
from .meshes import (
    DistAttr, Partial, Placement, ProcessMesh, ReduceType, Replicate, Shard,
)  # fmt: skip
from .parallel import DataParallel
from .planning import Strategy
from .sharded import (
    dtensor_from_fn, load_state_dict, reshard, save_state_dict, shard_layer, shard_optimizer,
    shard_tensor, to_static,
)  # fmt: skip
from .sharding import group_sharded_parallel, save_group_sharded_model
from .spawning import launch, spawn, split

list_given_names(
    globals(), "auto_parallel", "communication", "communicator", "fleet", "io", "rpc", "sharding",
    "stream",
)  # fmt: skip
hold(globals())
