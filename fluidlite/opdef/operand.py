"""What functions of tensors are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar


class Operand:
    """A value that operators are applied to: an eager tensor, or a variable of a program.

    Functions read ``array`` of it, the elements or what is declared of them; ``origin`` and
    ``stop``, how gradients flow; and ``results``, which makes an operand of the same kind of an
    array.
    """

    __slots__ = ()

    array: Any
    origin: Any
    stop: Any
    results: ClassVar[Any]
    #: how element types are chosen for functions of operands of different ones
    promotion: ClassVar[Any]
    #: what appends operators on such operands to a program, in place of running them: takes the
    #: operator and its inputs by slot, gives its outputs by slot; None where operators run
    appends: ClassVar[Any] = None
    #: whether functions that only choose or arrange elements give views, which are written with
    #: what they show
    sees: ClassVar[bool] = False


#: an operand, or several
Operands = Operand | Sequence[Operand]


def appends(values: Iterable[Any]) -> Any:
    """What appends operators to a program where one of its variables is among values; else None."""
    for each in values:
        if isinstance(each, Operand) and each.appends is not None:
            return each.appends
    return None
