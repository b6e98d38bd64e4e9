"""``paddle.utils.dlpack`` of paddle 2.6: tensors and other libraries' arrays by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

__all__ = ["from_dlpack", "to_dlpack"]

_CAPSULE = type(np.zeros(1).__dlpack__())


class _Exchanged:
    """A capsule as NumPy takes one: an object that gives it.

    Args:
        capsule: the capsule.
    """

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


def to_dlpack(x: Tensor) -> object:
    """A capsule with a tensor's elements, for other libraries.

    Args:
        x: a tensor.

    Raises:
        ArgumentError: ``x`` is no tensor.

    >>> from fluidlite import paddle
    >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.to_tensor([1.0, 2.0]))
    >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
    [1.0, 2.0]
    """
    if not isinstance(x, Tensor):
        raise ArgumentError(f"to_dlpack: expected a tensor, got {type(x).__name__}")
    return np.array(x.array).__dlpack__()


def from_dlpack(dlpack: object) -> Tensor:
    """A tensor of the elements of a capsule, which is used up.

    Args:
        dlpack: what ``to_dlpack`` gave here or in another library.

    Raises:
        ArgumentError: it is no capsule.
    """
    if not isinstance(dlpack, _CAPSULE):
        raise ArgumentError(f"from_dlpack: expected a capsule, got {type(dlpack).__name__}")
    exchanged: Any = _Exchanged(dlpack)  # NumPy's stubs know a capsule's type from Python 3.13 on
    return Tensor(np.array(np.from_dlpack(exchanged)))


list_public_names(globals())
api_boundaries(globals())
