"""Graphs: modules that are defined first and run as programs, in OneFlow's spelling."""

from __future__ import annotations

from ....ground.missing_names import answer
from ....ground.public_names import list_given_names
from ....ground.tracebacks import api_boundaries
from .config import GraphConfig as GraphConfig
from .graph import Graph as Graph
from .parts import GraphModule as GraphModule
from .parts import ModuleConfig as ModuleConfig

list_given_names(globals())
api_boundaries(globals())
answer(globals())
