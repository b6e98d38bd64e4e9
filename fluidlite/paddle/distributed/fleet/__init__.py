"""``paddle.distributed.fleet`` of paddle 2.6: layers and programs that several processes train."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from ...holders import hold
from ..datasets import BoxPSDataset, FileInstantDataset, InMemoryDataset, QueueDataset
from . import base, data_generator, meta_parallel, metrics, utils
from .data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator
from .recomputing import recompute
from .roles import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from .strategies import DistributedStrategy
from .topologies import CommunicateTopology, HybridCommunicateGroup
from .training import Fleet, UtilBase

fleet: Fleet = Fleet()
util: UtilBase = fleet.util
rank = fleet.worker_index
nranks = world_size = fleet.worker_num
globals().update({name: getattr(fleet, name) for name in dir(Fleet) if not name.startswith("_")})

list_given_names(globals(), "base", "data_generator", "meta_parallel", "metrics", "utils")
hold(globals())
