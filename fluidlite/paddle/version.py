"""``paddle.version`` of paddle 2.6: the version whose spelling this is."""

from __future__ import annotations

from ..ground.public_names import list_public_names

__all__ = ["cuda", "cudnn", "full_version", "major", "minor", "patch", "rc", "show", "xpu"]

full_version = "2.6.2"
major: str = "2"
minor: str = "6"
patch: str = "2"
rc: str = "0"
commit = ""


def cuda() -> str:
    """``"False"``: there is no CUDA."""
    return "False"


def cudnn() -> str:
    """``"False"``: there is no cuDNN."""
    return "False"


def xpu() -> str:
    """``"False"``: there is no XPU."""
    return "False"


def xpu_xccl() -> str:
    """``"False"``: there is no XPU."""
    return "False"


def show() -> None:
    """Print the version.

    >>> from fluidlite import paddle
    >>> paddle.version.show()
    full_version: 2.6.2
    major: 2
    minor: 6
    patch: 2
    rc: 0
    """
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")


list_public_names(globals())
