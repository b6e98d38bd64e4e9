"""``paddle.version`` of paddle 2.6: the version whose spelling this is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..ground.public_names import list_public_names

__all__ = ["cinn", "cuda", "cudnn", "mkl", "show", "xpu", "xpu_xccl"]

full_version = "2.6.2"
major: str = "2"
minor: str = "6"
patch: str = "2"
rc: str = "0"
cuda_version = cudnn_version = xpu_version = xpu_xccl_version = cinn_version = "False"
istaged = True
commit = ""
with_mkl = "OFF"


def _told(name: str, answer: str, why: str) -> Callable[[], str]:
    """A function that says whether a library is used."""

    def told() -> str:
        return answer

    told.__name__ = told.__qualname__ = name
    told.__doc__ = f'``"{answer}"``: {why}.'
    return told


cuda: Final = _told("cuda", cuda_version, "there is no CUDA")
cudnn: Final = _told("cudnn", cudnn_version, "there is no cuDNN")
xpu: Final = _told("xpu", xpu_version, "there is no XPU")
xpu_xccl: Final = _told("xpu_xccl", xpu_xccl_version, "there is no XPU")
cinn: Final = _told("cinn", cinn_version, "there is no CINN")
mkl: Final = _told("mkl", with_mkl, "MKL is not used")


def show() -> None:
    """Print the version, and what it is built with.

    >>> from fluidlite import paddle
    >>> paddle.version.show()
    full_version: 2.6.2
    major: 2
    minor: 6
    patch: 2
    rc: 0
    cuda: False
    cudnn: False
    xpu: False
    xpu_xccl: False
    cinn: False
    """
    for name in ("full_version", "major", "minor", "patch", "rc"):
        print(f"{name}: {globals()[name]}")
    for library in (cuda, cudnn, xpu, xpu_xccl, cinn):
        print(f"{library.__name__}: {library()}")


list_public_names(globals())
