"""Pictures as arrays: height, width, colours: blue, green, red, the order that OpenCV has."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ...ground.files import read_bytes, usable_path
from ...ground.spellings import Spelling
from ..refused import NotServedError
from .homes import archive

__all__ = [
    "batch_images_from_tar", "center_crop", "left_right_flip", "load_and_transform", "load_image",
    "load_image_bytes", "random_crop", "resize_short", "simple_transform", "to_chw",
]  # fmt: skip

Array = np.ndarray[Any, Any]


def pillow() -> Any:
    """The library that reads pictures.

    Raises:
        NotServedError: it is not installed.
    """
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise NotServedError(
            "paddle.dataset.image reads pictures by Pillow: python -m pip install pillow"
        ) from error


def load_image_bytes(bytes: bytes, is_color: bool = True) -> Array:
    """The picture in a file's content.

    Args:
        bytes: the content.
        is_color: whether it has colours: uint8 [height, width, 3], else [height, width].
    """
    with pillow().open(io.BytesIO(bytes)) as picture:
        if not is_color:
            return np.array(picture.convert("L"))
        return np.array(picture.convert("RGB"))[:, :, ::-1].copy()


def load_image(file: str, is_color: bool = True) -> Array:
    """The picture in a file.

    Args:
        file: its path.
        is_color: as of :func:`load_image_bytes`.
    """
    return load_image_bytes(read_bytes(file), is_color)


def resize_short(im: Array, size: int) -> Array:
    """A picture whose shorter side has a length.

    Args:
        im: the picture.
        size: the length.
    """
    height, width = im.shape[:2]
    if height > width:
        return _resized(im, size * height // width, size)
    return _resized(im, size, size * width // height)


def _resized(im: Array, height: int, width: int) -> Array:
    """Cubic interpolation with a = -0.75 between the nearest 4 by 4 pixels.

    R. Keys: Cubic convolution interpolation for digital image processing, IEEE TASSP 29 (1981).
    """
    pixels = im.astype(np.float64)
    for axis, wanted in ((0, height), (1, width)):
        had = pixels.shape[axis]
        at = (np.arange(wanted) + 0.5) * had / wanted - 0.5
        first = np.floor(at).astype(int)
        weights = _cubic(at - first)
        taps = [pixels.take((first + k - 1).clip(0, had - 1), axis) for k in range(4)]
        shape = [1] * pixels.ndim
        shape[axis] = wanted
        pixels = sum(tap * weight.reshape(shape) for tap, weight in zip(taps, weights))
    if im.dtype.kind in "ui":
        pixels = pixels.round().clip(0, np.iinfo(im.dtype).max)
    return pixels.astype(im.dtype)


def _cubic(part: Array, a: float = -0.75) -> list[Array]:
    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


def to_chw(im: Array, order: tuple[int, ...] = (2, 0, 1)) -> Array:
    """A picture with its axes in another order, colours first.

    Args:
        im: the picture.
        order: of the axes.
    """
    assert len(im.shape) == len(order)
    return im.transpose(order)


def _cropped(im: Array, top: int, left: int, size: int) -> Array:
    return im[top : top + size, left : left + size]


def center_crop(im: Array, size: int, is_color: bool = True) -> Array:
    """The middle of a picture.

    Args:
        im: the picture.
        size: of the square.
        is_color: not read.
    """
    return _cropped(im, (im.shape[0] - size) // 2, (im.shape[1] - size) // 2, size)


def random_crop(im: Array, size: int, is_color: bool = True) -> Array:
    """A part of a picture somewhere in it.

    Args:
        im: the picture.
        size: of the square.
        is_color: not read.
    """
    top = np.random.randint(0, im.shape[0] - size + 1)
    return _cropped(im, top, np.random.randint(0, im.shape[1] - size + 1), size)


def left_right_flip(im: Array, is_color: bool = True) -> Array:
    """A picture in a mirror.

    Args:
        im: the picture.
        is_color: not read.
    """
    return im[:, ::-1]


def _transformed(
    im: Array | str,
    resize_size: int,
    crop_size: int,
    is_train: bool,
    is_color: bool = True,
    mean: Any = None,
) -> Array:
    """A picture as nets take it: float32, resized, cropped, colours first, less a mean.

    Args:
        im: the picture, or its file.
        resize_size: the length of its shorter side.
        crop_size: of the square that is taken.
        is_train: whether it is taken somewhere, and mirrored half of the times; else the middle.
        is_color: whether it has colours.
        mean: of each colour, or of each value.
    """
    im = resize_short(load_image(im, is_color) if isinstance(im, str) else im, resize_size)
    if is_train:
        im = random_crop(im, crop_size, is_color)
        if np.random.randint(2) == 0:
            im = left_right_flip(im, is_color)
    else:
        im = center_crop(im, crop_size, is_color)
    if im.ndim == 3:
        im = to_chw(im)
    im = im.astype(np.float32)
    if mean is not None:
        taken = np.asarray(mean, np.float32)
        im = im - (taken[:, None, None] if taken.ndim == 1 and is_color else taken)
    return im


_IM = "the picture, or its file"
simple_transform: Callable[..., Array] = Spelling({}, types={"Array | str": "Array"})(
    _transformed, "simple_transform", words={_IM: "the picture"}
)
load_and_transform: Callable[..., Array] = Spelling(
    {"im": "filename"}, types={"Array | str": "str"}
)(
    _transformed,
    "load_and_transform",
    "The picture in a file as nets take it: see :func:`simple_transform`.",
    words={_IM: "the file"},
)


def batch_images_from_tar(
    data_file: str, dataset_name: str, img2label: Mapping[str, Any], num_per_batch: int = 1024
) -> str:
    """Write the pictures of an archive to files, so many to each.

    Args:
        data_file: the archive.
        dataset_name: stands in the names of the files.
        img2label: the labels by the pictures' names.
        num_per_batch: how many go into a file.

    Returns:
        the path of a file that lists the others.
    """
    folder = usable_path("write", f"{data_file}_{dataset_name}/batch")
    listing = f"{folder}/batch_names.txt"
    if os.path.exists(listing):
        return listing
    os.makedirs(folder, exist_ok=True)
    data: list[bytes] = []
    labels: list[Any] = []
    paths: list[str] = []

    def write() -> None:
        paths.append(os.path.abspath(f"{folder}/batch_{len(paths)}"))
        with open(paths[-1], "wb") as file:
            pickle.dump({"label": list(labels), "data": list(data)}, file, protocol=2)
        data.clear()
        labels.clear()

    with archive(data_file) as tar:
        for member in tar:
            opened = tar.extractfile(member) if member.name in img2label else None
            if opened is not None:
                data.append(opened.read())
                labels.append(img2label[member.name])
            if len(data) == num_per_batch:
                write()
    if data:
        write()
    with open(listing, "w", encoding="utf-8") as file:
        file.writelines(f"{path}\n" for path in paths)
    return listing
