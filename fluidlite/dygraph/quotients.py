"""Python's ``/``, ``//`` and ``%`` of eager tensors under the rules of fluid 1.8.

Quotients of integers are integers, rounded towards zero as in C, and remainders have the sign of
the left operand.  Those of other numbers are what all eager tensors make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..eager.recording import eager
from ..eager.tensor_core import OPERATOR_FUNCTIONS
from ..functions.arithmetic import operands
from ..opdef.operand import Operand

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def _of_integers(method: str, function: str, operator: str) -> Callable[[Any, Any], Tensor]:
    of_others = OPERATOR_FUNCTIONS[method]

    def combine(x: Any, y: Any) -> Tensor:
        x, y = operands(x, y, function)
        both = [(each.array if isinstance(each, Operand) else each).dtype.kind for each in (x, y)]
        call = getattr(eager, operator) if both == ["i", "i"] else of_others
        result: Tensor = call(x, y)
        return result

    return combine


#: methods of Python's operators -> the functions that they are
FUNCTIONS = {
    **OPERATOR_FUNCTIONS,
    "__truediv__": _of_integers("__truediv__", "divide", "elementwise_div"),
    "__floordiv__": _of_integers("__floordiv__", "floor_divide", "elementwise_floordiv"),
    "__mod__": _of_integers("__mod__", "remainder", "elementwise_mod"),
}
