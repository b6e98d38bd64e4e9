"""``paddle.distributed.sharding``: optimizers whose states are divided, which fluidlite lacks."""

from __future__ import annotations

from typing import Final

from ...ground.public_names import list_public_names
from ...ground.refusing import refusing
from ...ground.tracebacks import api_boundaries
from ..holders import hold
from .groups import global_group

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

group_sharded_parallel: Final = refusing(
    "group_sharded_parallel(model: Any, optimizer: Any, level: str, scaler: Any = None, "
    "group: Group | None = None, offload: bool = False, sync_buffers: bool = False, "
    "buffer_max_size: int = 8388608, segment_size: int = 1048576, sync_comm: bool = False, "
    "dp_group: Group | None = None, exclude_layer: Any = None)",
    "Nothing, with an error: states of optimizers are not divided among processes.",
    "group_sharded_parallel: states are not divided; use paddle.DataParallel: every process has "
    "all parameters and states",
    before=lambda **given: global_group(),
    raises="NotInitializedError: there are no other processes.\n"
    "UnsupportedError: always else; says what to write instead.",
)
save_group_sharded_model: Final = refusing(
    "save_group_sharded_model(model: Any, output: Any, optimizer: Any = None)",
    "Nothing, with an error: there is no layer that ``group_sharded_parallel`` gave.",
    "save_group_sharded_model: states are not divided; use paddle.save",
)

list_public_names(globals())
api_boundaries(globals())
hold(globals())
