"""What element types are, and which tensors have which."""

from __future__ import annotations

from builtins import bool as _Truth
from typing import Any

import numpy as np

from ..errors import DTypeError
from ..ground.brain_float import kind_of, limits_of
from ..ground.dtypes import DType, as_dtype
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries


class _Limits:
    """What numbers of an element type can be.

    Args:
        found: NumPy's description of the type.
        names: of the limits.
    """

    def __init__(self, found: Any, *names: str) -> None:
        for name in names:
            value = getattr(found, name)
            setattr(self, name, value.item() if isinstance(value, np.generic) else value)
        self.dtype = str(found.dtype)

    def __repr__(self) -> str:
        each = [f"{name}={_short(value)}" for name, value in vars(self).items()]
        return f"paddle.{type(self).__name__}({', '.join(each)})"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class finfo(_Limits):
    """The limits of an element type of fractions.

    ``min``, ``max``, ``eps``, ``resolution``, ``smallest_normal``, ``tiny``, ``bits``, ``dtype``.

    Args:
        dtype: the element type.

    Raises:
        DTypeError: it is none of fractions.

    >>> from fluidlite import paddle
    >>> paddle.finfo(paddle.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, dtype: Any) -> None:
        names = "min", "max", "eps", "resolution", "smallest_normal", "tiny", "bits"
        super().__init__(limits_of(_need_kind("fc", dtype)), *names)
        # a power of ten in any type
        self.resolution: float = float(f"{vars(self)['resolution']:.3g}")


class iinfo(_Limits):
    """The limits of an element type of integers: ``min``, ``max``, ``bits``, ``dtype``.

    Args:
        dtype: the element type.

    Raises:
        DTypeError: it is none of integers.

    >>> from fluidlite import paddle
    >>> paddle.iinfo(paddle.int8)
    paddle.iinfo(min=-128, max=127, bits=8, dtype=int8)
    """

    def __init__(self, dtype: Any) -> None:
        super().__init__(np.iinfo(_need_kind("iu", dtype)), "min", "max", "bits")


def _need_kind(kinds: str, dtype: Any) -> np.dtype[Any]:
    of_numpy = as_dtype(dtype).dtype
    if kind_of(of_numpy) not in kinds:
        what = "integers" if "i" in kinds else "fractions"
        raise DTypeError(f"expected an element type of {what}, got {of_numpy}")
    return of_numpy


def _kind(x: Any) -> str:
    return kind_of(as_dtype(x.dtype).dtype)


def is_floating_point(x: Any) -> _Truth:
    """Whether the elements of a tensor are fractions.

    >>> x = fluid.to_tensor([1.0])
    >>> fluid.paddle.is_floating_point(x), fluid.paddle.is_floating_point(fluid.to_tensor([1]))
    (True, False)
    """
    return _kind(x) == "f"


def is_integer(x: Any) -> _Truth:
    """Whether the elements of a tensor are integers.

    >>> x = fluid.to_tensor([1])
    >>> fluid.paddle.is_integer(x), fluid.paddle.is_integer(fluid.to_tensor([1.0]))
    (True, False)
    """
    return _kind(x) in "iu"


def is_complex(x: Any) -> _Truth:
    """Whether the elements of a tensor are complex numbers.

    >>> x = fluid.to_tensor([1j])
    >>> fluid.paddle.is_complex(x), fluid.paddle.is_complex(fluid.to_tensor([1.0]))
    (True, False)
    """
    return _kind(x) == "c"


dtype = DType
#: the type of truth values
bool = DType.BOOL

list_public_names(globals())
api_boundaries(globals())
