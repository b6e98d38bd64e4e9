"""``fluid.incubate.fleet``: names of base classes, which programs derive from or compare with."""

from __future__ import annotations

from ...incubate.fleet.collective import Collective, CollectiveOptimizer, Mode

Fleet = Collective
DistributedOptimizer = CollectiveOpBasedOptimizer = CollectiveOptimizer

__all__ = ["CollectiveOpBasedOptimizer", "DistributedOptimizer", "Fleet", "Mode"]
