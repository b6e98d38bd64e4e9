"""``paddle.version`` of paddle 2.6: the version whose spelling this is."""

from __future__ import annotations

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


def cuda() -> str:
    """``"False"``: there is no CUDA."""
    return cuda_version


def cudnn() -> str:
    """``"False"``: there is no cuDNN."""
    return cudnn_version


def xpu() -> str:
    """``"False"``: there is no XPU."""
    return xpu_version


def xpu_xccl() -> str:
    """``"False"``: there is no XPU."""
    return xpu_xccl_version


def cinn() -> str:
    """``"False"``: there is no CINN."""
    return cinn_version


def mkl() -> str:
    """``"OFF"``: MKL is not used."""
    return with_mkl


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
