"""Looking into programs: pictures, differences, costs, single steps; are the gradients right, and
where do they come from.
"""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries
from ..ir.highlight import show as show
from .correspondence import Correspondence as Correspondence
from .correspondence import correspondence as correspondence
from .debugging import Debugger as Debugger
from .diff import Difference as Difference
from .diff import diff as diff
from .explain import Explanation as Explanation
from .explain import explain_gradient as explain_gradient
from .exports import to_dot as to_dot
from .exports import to_mermaid as to_mermaid
from .exports import to_networkx as to_networkx
from .gradcheck import gradcheck as gradcheck
from .html import to_html as to_html
from .memory import Timeline as Timeline
from .memory import memory_timeline as memory_timeline
from .network import CriticalPath as CriticalPath
from .network import RepeatedLayers as RepeatedLayers
from .network import critical_path as critical_path
from .network import dominators as dominators
from .network import gradient_cut as gradient_cut
from .network import repeated_layers as repeated_layers
from .network import value_graph as value_graph
from .notebook import Page as Page
from .operators import explain as explain
from .picture import draw as draw
from .picture import to_svg as to_svg
from .report import Report as Report
from .scan import Scan as Scan
from .scan import scan as scan
from .stepping import Trace as Trace
from .stepping import is_infinite as is_infinite
from .stepping import is_nan as is_nan
from .stepping import trace as trace
from .summary import Summary as Summary
from .summary import summary as summary
from .terminal import debug as debug
from .value_summary import Digest as Digest

list_given_names(globals())
api_boundaries(globals())
answer(globals())
