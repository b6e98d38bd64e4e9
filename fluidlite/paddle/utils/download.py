"""``paddle.utils.download`` of paddle 2.6: files that are there already; nothing is fetched."""

from __future__ import annotations

import hashlib
import os
from urllib.parse import urlparse

from ...errors import ArgumentError, FileError
from ...ground.files import missing_file
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

__all__ = ["get_path_from_url", "get_weights_path_from_url", "is_url"]

#: where files of weights are looked for
WEIGHTS_HOME = os.path.join(os.path.expanduser("~"), ".cache", "paddle", "hapi", "weights")


def is_url(path: str) -> bool:
    """Whether a text is an address of the web.

    Args:
        path: the text.

    >>> is_url("https://example.com/a.pdparams"), is_url("a.pdparams")
    (True, False)
    """
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The file of weights in ``~/.cache/paddle/hapi/weights`` that was fetched from an address.

    Args:
        url: the address.
        md5sum: the file's digest; it is not looked at when None.

    Raises:
        ArgumentError: ``url`` is no address.
        FileError: there is no such file, or it is another one; it is not fetched here.
    """
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The file in a folder that was fetched from an address.

    Args:
        url: the address.
        root_dir: the folder.
        md5sum: the file's digest; it is not looked at when None.
        check_exist, decompress, method: accepted; what is there is taken as it is.

    Raises:
        ArgumentError: ``url`` is no address.
        FileError: there is no such file, or it is another one; it is not fetched here.
    """
    if not is_url(url):
        raise ArgumentError(f"expected an address that begins with http, got {url!r:.80}")
    path = os.path.join(root_dir, os.path.basename(urlparse(url).path))
    if not os.path.isfile(path):
        raise missing_file(path, f"expected the file of {url}, which is not fetched; put it there")
    if md5sum is not None and _digest(path) != md5sum:
        raise FileError(f"{path}: expected the file of {url}, which has another MD5 digest")
    return path


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.md5(file.read(), usedforsecurity=False).hexdigest()


list_public_names(globals())
api_boundaries(globals())
