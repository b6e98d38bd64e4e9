"""Models of ONNX as what files hold."""

from __future__ import annotations

from ..io.contents import Contents
from ..scope import Scope
from .loading import Imported, load


def read_contents(path: str) -> Contents:
    """What a file of a model of ONNX holds.

    Raises:
        UnsupportedError: nodes of it have no form here: all of them.
        FileError: it cannot be read; says why.
    """
    return contents_of(path, load(path, scope=Scope()))


def contents_of(path: str, model: Imported) -> Contents:
    """A model of ONNX that was loaded, as what a file holds."""
    kept = [v.name for v in model.program.list_vars() if v.persistable]
    values = {name: model.scope.host_value(name) for name in kept}
    ends = {"feeds": ", ".join(model.feeds), "fetches": ", ".join(v.name for v in model.fetches)}
    return Contents(path, kind_of(model.opset), values, model.program, ends)


def kind_of(opset: int) -> str:
    """A model of ONNX in words."""
    return f"ONNX model of opset {opset}"
