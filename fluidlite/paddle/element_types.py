"""What element types are, and which tensors have which."""

from __future__ import annotations

from builtins import bool as _Truth
from typing import Any

import numpy as np

from ..ground.dtypes import DType, as_dtype
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries


def finfo(dtype: Any) -> np.finfo[Any]:
    """The limits of an element type of fractions: ``min``, ``max``, ``eps``, ``tiny``, ``bits``.

    Args:
        dtype: the element type.

    >>> from fluidlite import paddle
    >>> float(paddle.finfo(paddle.float32).eps)
    1.1920928955078125e-07
    """
    return np.finfo(as_dtype(dtype).dtype)


def iinfo(dtype: Any) -> np.iinfo[Any]:
    """The limits of an element type of integers: ``min``, ``max``, ``bits``.

    Args:
        dtype: the element type.
    """
    return np.iinfo(as_dtype(dtype).dtype)


def _kind(x: Any) -> str:
    return as_dtype(x.dtype).dtype.kind


def is_floating_point(x: Any) -> _Truth:
    """Whether the elements of a tensor are fractions."""
    return _kind(x) == "f"


def is_integer(x: Any) -> _Truth:
    """Whether the elements of a tensor are integers."""
    return _kind(x) in "iu"


def is_complex(x: Any) -> _Truth:
    """Whether the elements of a tensor are complex numbers."""
    return _kind(x) == "c"


dtype = DType
#: the type of truth values
bool = DType.BOOL

list_public_names(globals())
api_boundaries(globals())
