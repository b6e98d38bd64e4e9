"""Pictures, and pixel for pixel what is on them, in the archive of VOC 2012."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from .archives import Members

SET_FILE = "VOCdevkit/VOC2012/ImageSets/Segmentation/{}.txt"
DATA_FILE = "VOCdevkit/VOC2012/JPEGImages/{}.jpg"
LABEL_FILE = "VOCdevkit/VOC2012/SegmentationClass/{}.png"


def members_of(path: str, part: str) -> tuple[Members, list[tuple[str, str]]]:
    """The files of a part, and the names of each picture and of what is on it.

    Args:
        path: of the archive.
        part: "train", "val" or "trainval".

    Raises:
        FileError: the archive cannot be read.
        FileFormatError: it is none, or a file is missing.
    """
    listed = SET_FILE.format(part)
    lines = Members(path, [listed])[listed].decode().split()
    names = [(DATA_FILE.format(line), LABEL_FILE.format(line)) for line in lines]
    return Members(path, [name for pair in names for name in pair]), names


list_public_names(globals())
