"""Looking into programs: pictures, differences, costs, single steps; are the gradients right, and
where do they come from.
"""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .correspondence import Correspondence, correspondence
from .debugging import Debugger
from .diff import Difference, diff
from .explain import Explanation, explain_gradient
from .exports import to_dot, to_mermaid, to_networkx
from .gradcheck import gradcheck
from .highlight import show
from .html import to_html
from .memory import Timeline, memory_timeline
from .network import (
    CriticalPath,
    RepeatedLayers,
    critical_path,
    dominators,
    gradient_cut,
    repeated_layers,
    value_graph,
)
from .notebook import Page
from .operators import explain
from .picture import draw, to_svg
from .report import Report
from .scan import Scan, scan
from .stepping import Trace, is_infinite, is_nan, trace
from .summary import Summary, summary
from .terminal import debug
from .value_summary import Digest

__all__ = [
    "to_html", "Page", "draw", "to_svg", "to_dot", "to_mermaid", "to_networkx", "show", "diff",
    "Difference", "summary", "Summary", "memory_timeline", "Timeline", "explain", "trace", "Trace",
    "Debugger", "debug", "Digest", "is_nan", "is_infinite", "explain_gradient", "Explanation",
    "gradcheck", "Report", "scan", "Scan", "value_graph", "dominators", "critical_path",
    "CriticalPath", "gradient_cut", "repeated_layers", "RepeatedLayers", "correspondence",
    "Correspondence",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
