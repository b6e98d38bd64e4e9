"""``fluid.incubate.fleet``: other names of what is there, which programs derive from or compare
with.
"""

from __future__ import annotations

from ...incubate.fleet.collective import CollectiveOptimizer, Fleet, Mode

Collective = Fleet
DistributedOptimizer = CollectiveOpBasedOptimizer = CollectiveOptimizer

__all__ = ["Collective", "CollectiveOpBasedOptimizer", "DistributedOptimizer", "Fleet", "Mode"]
