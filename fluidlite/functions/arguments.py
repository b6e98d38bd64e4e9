"""What functions of tensors take besides tensors, as types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from ..ground.dtypes import DType
from ..opdef.operand import Operand

#: one dimension or several; all where None is allowed
Axes = Union[int, Sequence[int], None]
#: integers of which a program may compute some
Numbers = Union[int, Operand, Sequence[Union[int, Operand]]]
#: the second operand: a tensor, an array or a number
Other = Union[Operand, "np.ndarray[Any, Any]", float]
#: what NumPy makes an array of
ArrayLike = Union[Operand, "np.ndarray[Any, Any]", float, Sequence[Any]]
#: an element type, or its name
DTypeLike = Union[str, type, DType, "np.dtype[Any]"]
