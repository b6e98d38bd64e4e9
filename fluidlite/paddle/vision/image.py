"""How files of pictures are read."""

from __future__ import annotations

import io
import os
from typing import Any, Literal

import numpy as np

from ...errors import ArgumentError, FileFormatError, UnsupportedError
from ...functions.creation import to_tensor
from ...ground import state
from ...ground.files import open_source
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

_BACKENDS = ("pil", "cv2", "tensor")
_backend: state.StateSlot[str] = state.slot("image backend", lambda: "pil")


def set_image_backend(backend: Literal["pil", "cv2", "tensor"]) -> None:
    """Choose what pictures of files are read as.

    Args:
        backend: "pil" for images of Pillow, "cv2" for arrays with blue, green and red in this
            order, "tensor" for tensors of such arrays.

    Raises:
        ArgumentError: there is no such choice.

    >>> from fluidlite import paddle
    >>> paddle.vision.set_image_backend("cv2")
    >>> paddle.vision.get_image_backend()
    'cv2'
    >>> paddle.vision.set_image_backend("pil")
    """
    _backend.switch(checked_backend(backend))


def get_image_backend() -> str:
    """What pictures of files are read as."""
    return _backend.get()


def checked_backend(backend: str | None) -> str:
    """A choice, that of ``set_image_backend`` if there is none.

    Args:
        backend: the choice.

    Raises:
        ArgumentError: there is no such choice.
    """
    backend = _backend.get() if backend is None else backend
    if backend not in _BACKENDS:
        raise ArgumentError(f'expected backend to be "pil", "cv2" or "tensor", got {backend!r:.40}')
    return backend


def image_load(path: str | os.PathLike[str], backend: str | None = None) -> Any:
    """The picture of a file, read by Pillow.

    Args:
        path: the file.
        backend: what it becomes, as in ``set_image_backend``; what was set there when None.

    Raises:
        ArgumentError: there is no such choice.
        FileError: the file cannot be read, or is no picture.
        UnsupportedError: Pillow is not installed.
    """
    backend = checked_backend(backend)
    with open_source(path) as source:
        picture = opened(source.rest("the file"), os.fspath(path))
    return picture if backend == "pil" else converted(picture, backend)


def opened(data: bytes, name: str) -> Any:
    """An image of Pillow.

    Args:
        data: the bytes of a file.
        name: of the file.

    Raises:
        FileFormatError: they are no picture.
        UnsupportedError: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise UnsupportedError(
            "pictures are read by Pillow, which is not installed: pip install pillow"
        ) from None
    try:
        picture = Image.open(io.BytesIO(data))
        picture.load()
    except OSError as error:
        raise FileFormatError(f"{name}: expected a picture: {error}") from None
    return picture


def converted(picture: Any, backend: str) -> Any:
    """An image of Pillow as a choice says.

    Args:
        picture: the image.
        backend: the choice.
    """
    if backend == "pil":
        return picture
    pixels = np.asarray(picture.convert("RGB"))[:, :, ::-1].copy()
    return pixels if backend == "cv2" else to_tensor(pixels)


list_public_names(globals())
api_boundaries(globals())
