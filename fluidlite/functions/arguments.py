"""What functions of tensors take besides tensors, as types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground.dtypes import DTypeLike as DTypeLike
from ..ground.values import LoDTensor
from ..opdef.operand import Operand

#: one dimension or several; None for all
Axes = int | Sequence[int] | np.ndarray[Any, Any] | None
#: one integer for all dimensions, or one for each
Integers = int | Sequence[int]
#: integers, of which a program may compute some
Numbers = int | Operand | Sequence[int | Operand]
#: the second operand: a tensor, an array or a number
Other = Operand | np.ndarray[Any, Any] | complex
#: what NumPy makes an array of
ArrayLike = Operand | np.ndarray[Any, Any] | np.generic | LoDTensor | complex | Sequence[Any]
