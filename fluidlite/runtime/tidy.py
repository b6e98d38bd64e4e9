"""Kernels without those that nothing needs, without computing one thing twice, and in an order that
needs less memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.operator import OpRole
from .trace import Kernel, Value


def tidied(
    kernels: Iterable[Kernel], wanted: Iterable[Value]
) -> tuple[list[Kernel], dict[int, Value]]:
    """The kernels that are needed, each once.

    Args:
        kernels: in order.
        wanted: values that are needed at the end.

    Returns:
        the kernels, and by number of a value that is no longer made the one to use in its place.
    """
    instead: dict[int, Value] = {}
    seen: dict[Any, Kernel] = {}
    once = []
    for kernel in kernels:
        kernel.ins = {slot: _replaced(value, instead) for slot, value in kernel.ins.items()}
        twin = None if kernel.takes_rng else _twin(kernel, seen)
        if kernel.op.type == "assign" and isinstance(kernel.ins.get("X"), Value):
            instead[kernel.outs["Out"].number] = kernel.ins["X"]
        elif twin is not None and twin is not kernel:
            for mine, other in zip(kernel.outputs, twin.outputs, strict=True):
                instead[mine.number] = other
        else:
            once.append(kernel)
    needed = {instead.get(v.number, v).number for v in wanted}
    kept = []
    for kernel in reversed(once):
        if any(v.number in needed for v in kernel.outputs):
            kept.append(kernel)
            needed.update(v.number for v in kernel.inputs)
    return _updates_moved_up(kept[::-1]), instead


def _updates_moved_up(kernels: list[Kernel]) -> list[Kernel]:
    """Kernels of optimizers as soon as what they read is there: gradients need not wait for each
    other then.
    """
    made: dict[int, int] = {}  # number of a value -> where the kernel that makes it goes
    places = []
    for index, kernel in enumerate(kernels):
        place = index
        if kernel.step.op.role & OpRole.OPTIMIZE and not kernel.takes_rng:
            place = max((made.get(v.number, -1) for v in kernel.inputs), default=-1)
        made.update((v.number, place) for v in kernel.outputs)
        places.append((place, place != index, index))
    return [kernels[index] for _, _, index in sorted(places)]


def _twin(kernel: Kernel, seen: dict[Any, Kernel]) -> Kernel:
    """The first kernel that computes the same, which may be this one."""
    key = _key(kernel)
    if _computes_again(kernel) and not (key in seen and _computes_again(seen[key])):
        seen[key] = kernel  # the program says so, to hold the value for a shorter time
    return seen.setdefault(key, kernel)


def _computes_again(kernel: Kernel) -> bool:
    """Whether a kernel is part of an operator in the backward pass that is no gradient operator."""
    op = kernel.step.op
    return bool(op.role & OpRole.BACKWARD) and kernel.step.instance.derived_from is None


def _replaced(value: Any, instead: dict[int, Value]) -> Any:
    if isinstance(value, list):
        return [_replaced(each, instead) for each in value]
    return instead.get(value.number, value) if isinstance(value, Value) else value


def _key(kernel: Kernel) -> Any:
    """What two kernels that compute the same have in common."""
    arguments = tuple(
        tuple(_argument(v) for v in value) if isinstance(value, list) else _argument(value)
        for value in kernel.arguments
    )
    return kernel.op.type, kernel.op.frozen_attrs(), arguments


def _argument(value: Any) -> Any:
    if not isinstance(value, Value) or value.constant is None:
        return None if value is None else value.number
    constant = value.constant
    return constant.shape, constant.dtype.str, constant.tobytes()


def last_uses(kernels: list[Kernel], kept: Iterable[Value]) -> list[list[Value]]:
    """For each kernel the values that nothing after it reads and that are not ``kept``."""
    seen = {v.number for v in kept}
    freed: list[list[Value]] = []
    for kernel in reversed(kernels):
        dead = []
        for value in (*kernel.inputs, *kernel.outputs):
            if value.number not in seen and value.constant is None:
                seen.add(value.number)
                dead.append(value)
        freed.append(dead)
    freed.reverse()
    return freed
