"""What is in a file, models of ONNX among them."""

from __future__ import annotations

from typing import Any

from ..ground.extension import ExtensionPoint
from .contents import Contents, read

ONNX_ENDING = ".onnx"
#: has ``read_contents``
ONNX: ExtensionPoint[Any] = ExtensionPoint("models of ONNX in files")


def read_file(path: str) -> Contents:
    """What :func:`fluidlite.io.read` gives, of a model of ONNX, too.

    Args:
        path: as of that; the ending ``.onnx`` says that it is one.

    Raises:
        UnsupportedError: nodes of it have no form here: all of them.
        FileError: it cannot be read; says why.
    """
    if not path.endswith(ONNX_ENDING):
        return read(path)
    contents: Contents = ONNX.get().read_contents(path)
    return contents
