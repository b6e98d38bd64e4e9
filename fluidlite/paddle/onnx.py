"""``paddle.onnx`` of paddle 2.6: layers as models for other runtimes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from .. import onnx
from ..errors import ArgumentError
from ..ground.files import Path, usable_path
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..nn.layer import Layer
from ..onnx.model import OLDEST_OPSET
from . import jit
from .holders import hold

__all__ = ["export"]


def export(
    layer: Layer,
    path: Path,
    input_spec: Sequence[Any] | None = None,
    opset_version: int = 9,
    **configs: Any,
) -> None:
    """Write a layer as an ONNX model.

    Args:
        layer: its parameters are written with it.
        path: of the file, without ``.onnx``.
        input_spec: what each input looks like: ``InputSpec`` or tensors; as the layer was decorated
            when None.
        opset_version: the version of ONNX's operators; the oldest that can be written where it is
            older.
        configs: accepted.

    Raises:
        ArgumentError: ``layer`` is no layer, or the path names no file.
        UnsupportedError: operators have no form in ONNX, or the package ``onnx`` is not installed.
    """
    if not isinstance(layer, Layer):
        raise ArgumentError(f"onnx.export: expected a layer, got {layer!r:.60}")
    prefix = usable_path("write", path).removesuffix(".onnx")
    if not os.path.basename(prefix):
        raise ArgumentError(f"onnx.export: expected a path with a file's name, got {path!r}")
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        jit.save(layer, model, input_spec)
        onnx.export(model, prefix + ".onnx", opset=max(opset_version, OLDEST_OPSET))


list_public_names(globals())
api_boundaries(globals())
hold(globals())
