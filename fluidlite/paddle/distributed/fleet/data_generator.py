"""``paddle.distributed.fleet.data_generator``: what ``pipe_command`` of a data set runs."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ....readers.data_generator import (
    DataGenerator,
    MultiSlotDataGenerator,
    MultiSlotStringDataGenerator,
)
from ...holders import hold

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]

list_public_names(globals())
hold(globals())
