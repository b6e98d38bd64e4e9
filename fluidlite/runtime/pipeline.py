"""The pipeline: which passes run over the graph of a plan, and in which order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ..errors import ArgumentError, suggestion
from .graph import Graph, verify
from .passes.activation_sinking import ACTIVATION_SINKING
from .passes.common_subexpressions import COMMON_SUBEXPRESSIONS
from .passes.constant_folding import CONSTANT_FOLDING
from .passes.copy_elimination import COPY_ELIMINATION
from .passes.dead_code import DEAD_CODE
from .passes.elementwise_fusion import ELEMENTWISE_FUSION
from .passes.form import Context, Pass
from .passes.gemm_batching import GEMM_BATCHING
from .passes.kernel_selection import KERNEL_SELECTION
from .passes.multi_tensor import MULTI_TENSOR
from .passes.operator_fusion import OPERATOR_FUSION
from .passes.scheduling import SCHEDULING
from .passes.slice_forwarding import SLICE_FORWARDING
from .value import GraphError

#: what several passes leave to be done; each is skipped where nothing changed since it last ran
CLEANUP = (COPY_ELIMINATION, COMMON_SUBEXPRESSIONS, DEAD_CODE)

PIPELINE = (
    *CLEANUP,
    SLICE_FORWARDING,
    CONSTANT_FOLDING,
    *CLEANUP,
    GEMM_BATCHING,
    *CLEANUP,
    OPERATOR_FUSION,
    ACTIVATION_SINKING,
    SCHEDULING,
    KERNEL_SELECTION,
    ELEMENTWISE_FUSION,
    MULTI_TENSOR,
)

#: what no plan can do without
NEEDED = (KERNEL_SELECTION.name,)


def names() -> list[str]:
    """The names of all passes, in order."""
    return list(dict.fromkeys(each.name for each in PIPELINE))


def selected(wish: str | None = None) -> tuple[Pass, ...]:
    """The passes that run.

    Args:
        wish: what ``FLUIDLITE_PASSES`` says when None: names behind ``-`` of passes to leave out
            (``-gemm_batching,-scheduling``); names without it of those that alone run; ``none``.

    Raises:
        ArgumentError: there is no pass of a name, or it is needed.
    """
    wish = os.environ.get("FLUIDLITE_PASSES", "") if wish is None else wish
    words = wish.replace(",", " ").split()
    if not words:
        return PIPELINE
    known = names()
    for word in words:
        name = word.removeprefix("-")
        if name not in known and word != "none":
            raise ArgumentError(
                f"expected names of passes ({', '.join(known)}), got {word!r}"
                f"{suggestion(name, known)}"
            )
        if word.startswith("-") and name in NEEDED:
            raise ArgumentError(f"expected passes to leave out, got {word!r}: every plan needs it")
    out = {word[1:] for word in words if word.startswith("-")}
    only = {word for word in words if not word.startswith("-")}
    return tuple(
        each
        for each in PIPELINE
        if each.name not in out and (not only or each.name in only or each.name in NEEDED)
    )


def run(
    graph: Graph,
    context: Context,
    passes: Iterable[Pass],
    after: Callable[[Pass, Graph], None] | None = None,
) -> None:
    """Run passes over a graph, in order; ``after`` is called behind each pass that changed it.

    Raises:
        GraphError: with ``FLUIDLITE_CHECK=1``, a pass left a graph that is not well-formed.
    """
    checks = os.environ.get("FLUIDLITE_CHECK", "") not in ("", "0")
    seen: dict[str, int] = {}  # by name of a pass, the changes that it has seen
    for pass_ in passes:
        if seen.get(pass_.name) == graph.changes:
            continue
        changed = pass_.run(graph, context)
        seen[pass_.name] = graph.changes
        if checks:
            _verify_behind(pass_, graph)
        if changed and after is not None:
            after(pass_, graph)


def _verify_behind(each: Pass, graph: Graph) -> None:
    try:
        verify(graph)
    except GraphError as error:
        raise GraphError(f"{each.name}: {error}") from None
