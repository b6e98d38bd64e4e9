"""``paddle.distributed.sharding``: optimizers whose states are divided, which are not there."""

from __future__ import annotations

from typing import Any, NoReturn

from ...errors import UnsupportedError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .groups import Group, global_group

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

_USE = "use paddle.DataParallel: every process has all parameters and states"


def group_sharded_parallel(
    model: Any,
    optimizer: Any,
    level: str,
    scaler: Any = None,
    group: Group | None = None,
    offload: bool = False,
    sync_buffers: bool = False,
    buffer_max_size: int = 8388608,
    segment_size: int = 1048576,
    sync_comm: bool = False,
    dp_group: Group | None = None,
    exclude_layer: Any = None,
) -> NoReturn:
    """Nothing, with an error: states of optimizers are not divided among processes.

    Args:
        model, optimizer, level, scaler, group: not read.
        offload, sync_buffers, buffer_max_size, segment_size, sync_comm: not read.
        dp_group, exclude_layer: not read.

    Raises:
        NotInitializedError: there are no other processes.
        UnsupportedError: always else; says what to write instead.
    """
    global_group()
    raise UnsupportedError(f"group_sharded_parallel: states are not divided; {_USE}")


def save_group_sharded_model(model: Any, output: Any, optimizer: Any = None) -> NoReturn:
    """Nothing, with an error: there is no layer that ``group_sharded_parallel`` gave.

    Args:
        model, output, optimizer: not read.

    Raises:
        UnsupportedError: always; says what to write instead.
    """
    raise UnsupportedError("save_group_sharded_model: states are not divided; use paddle.save")


list_public_names(globals())
api_boundaries(globals())
