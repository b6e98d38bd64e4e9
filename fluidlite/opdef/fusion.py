"""What kernels can fuse: an operator with one whose result it reads, and like steps of an
optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .prepared import Prepared
from .spec import Spec


class Fusion(NamedTuple):
    """A kernel of two operators, the second of which alone reads what the first makes."""

    kernel: Prepared
    #: what it takes: of which operator, ``"consumer"`` or ``"producer"``, the operand in which slot
    takes: tuple[tuple[str, str], ...]


#: makes a fusion of the consumer and the producer, from the specs of their operands by side and
#: slot; None where it cannot
Fuse = Callable[[Any, Any, Mapping[tuple[str, str], "Spec | None"]], "Fusion | None"]
_fusions: dict[str, list[tuple[str, str, Fuse]]] = {}


def fuses(consumer: str, slot: str, producer: str) -> Callable[[Fuse], Fuse]:
    """A decorator for functions that make fused kernels.

    Args:
        consumer: type of the operator that reads, in ``slot``.
        producer: type of the operator whose result that is.
    """

    def register(fuse: Fuse) -> Fuse:
        _fusions.setdefault(consumer, []).append((slot, producer, fuse))
        return fuse

    return register


def fusions_of(consumer: str) -> Sequence[tuple[str, str, Fuse]]:
    """What an operator can be fused with: in which slot, with which producer, by what."""
    return _fusions.get(consumer, ())


class MultiTensor(NamedTuple):
    """A kernel that does one operator on many sets of operands at once."""

    reads: tuple[str, ...]  #: slots of which each set has its own
    shared: tuple[str, ...]  #: slots of which all have the same
    makes: tuple[str, ...]  #: output slots
    #: whether operands of these specs, by slot, may be part of it
    fits: Callable[[Mapping[str, Spec]], bool]
    #: the kernel, from the operator and, of each set, the spec of the first operand
    kernel: Callable[[Any, Sequence[Spec]], Prepared]


_multi_tensors: dict[str, MultiTensor] = {}


def register_multi_tensor(type: str, kernel: MultiTensor) -> None:
    """Offer a kernel that does many operators of a type at once."""
    _multi_tensors[type] = kernel


def multi_tensor_of(type: str) -> MultiTensor | None:
    """The kernel that does many operators of a type at once; None if there is none."""
    return _multi_tensors.get(type)
