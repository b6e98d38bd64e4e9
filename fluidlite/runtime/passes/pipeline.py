"""The pipeline: which passes run over the graph of a plan, and in which order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ...errors import ArgumentError, PassError, suggestion
from ...ground.contracts import Contract
from ..graph import Graph, verify
from ..value import GraphError
from .activation_sinking import ACTIVATION_SINKING
from .common_subexpressions import COMMON_SUBEXPRESSIONS
from .constant_folding import CONSTANT_FOLDING
from .copy_elimination import COPY_ELIMINATION
from .dead_code import DEAD_CODE
from .elementwise_fusion import ELEMENTWISE_FUSION
from .form import Context, Pass, outputs
from .gemm_batching import GEMM_BATCHING
from .kernel_selection import KERNEL_SELECTION
from .multi_tensor import MULTI_TENSOR
from .operator_fusion import OPERATOR_FUSION
from .padded_sums import PADDED_SUMS
from .row_sums import ROW_SUMS
from .scheduling import SCHEDULING
from .slice_forwarding import SLICE_FORWARDING

#: what several passes leave to be done; each is skipped where nothing changed since it last ran
CLEANUP = (COPY_ELIMINATION, COMMON_SUBEXPRESSIONS, DEAD_CODE)

PIPELINE = (
    *CLEANUP,
    SLICE_FORWARDING,
    PADDED_SUMS,
    CONSTANT_FOLDING,
    *CLEANUP,
    ROW_SUMS,
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
    """The names of all passes, in order.

    >>> from fluidlite.runtime import passes
    >>> passes.names()[:2]
    ['copy_elimination', 'common_subexpressions']
    """
    return list(dict.fromkeys(each.name for each in PIPELINE))


def selected(wish: str | Sequence[Pass] | None = None) -> tuple[Pass, ...]:
    """The passes that run.

    Args:
        wish: what ``FLUIDLITE_PASSES`` says when None: names behind ``-`` of passes to leave out
            (``-gemm_batching,-scheduling``); names without it of those that alone run; ``none``.
            Or the passes themselves, in order: those of ``PIPELINE`` and others.

    Raises:
        ArgumentError: there is no pass of a name, or one that is needed is left out.

    >>> from fluidlite.runtime import passes
    >>> [each.name for each in passes.selected("dead_code")]
    ['dead_code', 'dead_code', 'dead_code', 'kernel_selection']
    """
    if wish is not None and not isinstance(wish, str):
        return _ordered(wish)
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


def _ordered(passes: Sequence[Pass]) -> tuple[Pass, ...]:
    """Passes as they were given."""
    if not isinstance(passes, Iterable):
        raise ArgumentError(f"expected a sequence of passes, got {passes!r:.60}")
    for pass_ in passes:
        if not isinstance(pass_, Pass):
            raise ArgumentError(
                f"expected a sequence of passes, as plan_pass makes them, got {pass_!r:.60} of "
                f"type {type(pass_).__name__}"
            )
    for name in NEEDED:
        if name not in [each.name for each in passes]:
            raise ArgumentError(
                f"expected passes with {name!r}, which every plan needs: "
                f"(*PIPELINE[:k], yours, *PIPELINE[k:])"
            )
    return tuple(passes)


def run(
    graph: Graph,
    context: Context,
    passes: Iterable[Pass],
    after: Callable[[Pass, Graph], None] | None = None,
) -> None:
    """Run passes over a graph, in order; ``after`` is called behind each pass that changed it.

    Raises:
        PassError: a pass that is not fluidlite's failed, broke its contract, or left a graph that
            is not well-formed.
        GraphError: with ``FLUIDLITE_CHECK=1``, one of fluidlite's left such a graph.

    >>> from fluidlite.runtime import passes
    >>> @passes.plan_pass()
    ... def remove_dead(graph, context):
    ...     before = graph.changes
    ...     passes.run(graph, context, passes.selected("dead_code"))
    ...     return graph.changes != before
    >>> exe = fluid.Executor(passes=[remove_dead, *passes.PIPELINE])
    """
    checks = os.environ.get("FLUIDLITE_CHECK", "") not in ("", "0")
    seen: dict[str, int] = {}  # by name of a pass, the changes that it has seen
    for pass_ in passes:
        if seen.get(pass_.name) == graph.changes:
            continue
        if pass_.concerns is not None and not any(map(pass_.concerns, graph.definitions)):
            continue
        changed = (pass_.run if pass_ in PIPELINE else partial(_run_checked, pass_))(graph, context)
        seen[pass_.name] = graph.changes
        if checks:
            _verify_behind(pass_, graph)
        if changed and after is not None:
            after(pass_, graph)


def _run_checked(each: Pass, graph: Graph, context: Context) -> bool:
    """Run a pass of the user's: it may be wrong, and its mistakes are its own."""
    facts = each.contract.before(each.name, graph)
    forms = outputs.facts(graph)
    try:
        changed = each.run(graph, context)
        _verify_behind(each, graph)
    except Exception as error:
        raise PassError(f"pass {each.name}: {type(error).__name__}: {error}") from error
    each.contract.behind(each.name, graph, facts)
    Contract(keeps=(outputs,)).behind(each.name, graph, [forms])
    return changed


def _verify_behind(each: Pass, graph: Graph) -> None:
    try:
        verify(graph)
    except GraphError as error:
        raise GraphError(f"{each.name}: {error}") from None
