"""Steps of an optimizer on many small parameters as one.

A step of Adam is a dozen calls of NumPy, whatever the size: biases and scales cost more than they
are worth one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dtypes import Kind
from ..kernels.step import SMALL, adam_of_many
from .trace import Kernel, PreparedKernel

FEWEST = 3  #: steps that are worth putting together
#: slots that each parameter has a value in, and those of results
READ = ("Param", "Grad", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow")
MADE = ("ParamOut", "Moment1Out", "Moment2Out", "Beta1PowOut", "Beta2PowOut")


def grouped(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Kernels with the steps of optimizers on small parameters put together, where the last of them
    was.

    Args:
        kernels: in order.
    """
    groups: dict[Any, list[int]] = {}
    for place, kernel in enumerate(kernels):
        if kernel.op.type == "adam" and _is_small(kernel):
            param, rate = kernel.ins["Param"], kernel.ins["LearningRate"]
            key = kernel.op.frozen_attrs(), param.dtype, rate.number
            groups.setdefault(key, []).append(place)
    instead: dict[int, Kernel | None] = {}
    for places in groups.values():
        members = [kernels[place] for place in _not_read_before_the_last(places, kernels)]
        if len(members) >= FEWEST:
            instead.update(dict.fromkeys(map(id, members)))
            instead[id(members[-1])] = _Group(members)
    listed = [instead.get(id(kernel), kernel) for kernel in kernels]
    return [kernel for kernel in listed if kernel is not None]


def _not_read_before_the_last(places: Sequence[int], kernels: Sequence[Kernel]) -> list[int]:
    """The places of kernels whose results nothing reads up to the last of them."""
    if len(places) < FEWEST:
        return []
    made = {v.number: place for place in places for v in kernels[place].outputs}
    between = kernels[places[0] : places[-1] + 1]
    read = {made[v.number] for kernel in between for v in kernel.inputs if v.number in made}
    return [place for place in places if place not in read]


def _is_small(kernel: Kernel) -> bool:
    """Whether a step is one of NumPy's on a small parameter, with nothing unusual about it."""
    ins: dict[str, Any] = {slot: value for slot, value in kernel.ins.items() if value is not None}
    if kernel.library or kernel.prepared is None or set(ins) != {*READ, "LearningRate"}:
        return False
    return (
        all(value.kind is Kind.LOD_TENSOR for value in ins.values())
        and len({value.dtype for value in ins.values()}) == 1
        and all(ins[slot].shape == ins["Param"].shape for slot in READ[:4])
        and all(ins[slot].shape == (1,) for slot in (*READ[4:], "LearningRate"))
        and ins["Param"].size <= SMALL
    )


class _Group(PreparedKernel):
    """The steps of several kernels.

    Args:
        members: they.
    """

    __slots__ = ("_count",)

    def __init__(self, members: Sequence[Kernel]) -> None:
        last, self._count = members[-1], len(members)
        ins = {slot: [k.ins[slot] for k in members] for slot in READ}
        ins["LearningRate"] = last.ins["LearningRate"]
        outs = {slot: [k.outs[slot] for k in members] for slot in MADE}
        params = [k.ins["Param"].spec for k in members]
        super().__init__(last, ins, outs, adam_of_many(last.op, params))

    @property
    def title(self) -> str:
        return f"{self.op.type} of {self._count}"
