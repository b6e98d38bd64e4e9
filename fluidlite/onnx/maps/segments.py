"""Values with and without their sequences."""

from __future__ import annotations

from typing import Any

from ...opdef.sequences import lod_of
from ..graph import OnnxGraph
from ..writing import maps


@maps("bare_rows")
def bare_rows(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return X.bare()


@maps("like_rows")
def like_rows(graph: OnnxGraph, op: Any, X: Any, Like: Any) -> Any:
    return (X if hasattr(X, "having") else graph.constant(X)).having(lod_of(Like))
