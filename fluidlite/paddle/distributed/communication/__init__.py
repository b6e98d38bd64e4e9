# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.distributed.communication``: what processes compute together."""

from __future__ import annotations

from ...holders import hold
from ....ground.public_names import list_given_names
from .. import groups as group
from . import stream
from ..collectives import (
    P2POp, all_gather, all_gather_object, all_reduce, alltoall, alltoall_single,
    batch_isend_irecv, broadcast, broadcast_object_list, gather, irecv, isend, recv, reduce,
    reduce_scatter, scatter, scatter_object_list, send,
)  # fmt: skip
from ..groups import (
    ReduceOp, barrier, destroy_process_group, get_backend, get_group, is_initialized, wait,
)  # fmt: skip

list_given_names(globals(), "group", "stream")
hold(globals())
