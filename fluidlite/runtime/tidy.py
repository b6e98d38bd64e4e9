"""Kernels without those that nothing needs, without computing one thing twice, and in an order that
needs less memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.operator import OpRole
from .fusing import fused
from .parts import found_in_parts
from .seen import exact
from .stacking import stacked
from .trace import Kernel, Trace, Value

_OPTIMIZE = int(OpRole.OPTIMIZE)  #: a plain number takes less time, and there are many kernels


def tidied(trace: Trace, wanted: Iterable[Value]) -> tuple[list[Kernel], dict[int, Value]]:
    """The kernels that are needed, each once.

    Args:
        trace: has the kernels.
        wanted: values that are needed at the end.

    Returns:
        the kernels, and by number of a value that is no longer made the one to use in its place.
    """
    instead: dict[int, Value] = {}
    wanted = list(wanted)
    kept = _once_and_needed(trace.kernels, wanted, instead)
    found = found_in_parts(kept, trace)
    if found is not None:
        instead.update(found[1])
        kept = _once_and_needed(found[0], wanted, instead)
    together = stacked(kept, [_final(v, instead) for v in wanted], trace)
    if together is not None:
        instead.update(together[1])
        kept = _once_and_needed(together[0], wanted, instead)
    instead.update((number, _final(value, instead)) for number, value in instead.items())
    kept = fused(kept, [_final(v, instead) for v in wanted])
    return _updates_moved_up(kept), instead


def _once_and_needed(
    kernels: Iterable[Kernel], wanted: Iterable[Value], instead: dict[int, Value]
) -> list[Kernel]:
    """The kernels that are needed, each once.

    Args:
        kernels: in order.
        wanted: values that are needed at the end.
        instead: by number of a value that is not made the one to use in its place; grows.
    """
    seen: dict[Any, Kernel] = {}
    once = []
    for kernel in kernels:
        kernel.ins = {slot: _replaced(value, instead) for slot, value in kernel.ins.items()}
        same = _unchanged(kernel)
        if same is not None:
            (made,) = kernel.outputs
            instead[made.number] = same
            continue
        twin = None if kernel.takes_rng else _twin(kernel, seen)
        if twin is not None and twin is not kernel:
            for mine, other in zip(kernel.outputs, twin.outputs, strict=True):
                instead[mine.number] = other
        else:
            once.append(kernel)
    needed = {_final(v, instead).number for v in wanted}
    kept = []
    for kernel in reversed(once):
        if any(v.number in needed for v in kernel.outputs):
            kept.append(kernel)
            needed.update(v.number for v in kernel.inputs)
    return kept[::-1]


def _unchanged(kernel: Kernel) -> Value | None:
    """The value that a kernel gives as it is; None where it computes something."""
    op: Any = kernel.op
    same = op.type in ("assign", "rnn_memory_helper")
    if op.type == "scale" and len(kernel.inputs) == 1:
        same = op.scale == 1.0 and not op.bias
    given = kernel.ins.get("X")
    return given if same and isinstance(given, Value) else None


def _updates_moved_up(kernels: list[Kernel]) -> list[Kernel]:
    """Kernels of optimizers as soon as what they read is there: gradients need not wait for each
    other then.
    """
    made: dict[int, int] = {}  # number of a value -> where the kernel that makes it goes
    places = []
    for index, kernel in enumerate(kernels):
        place = index
        if int(kernel.step.op.role) & _OPTIMIZE and not kernel.takes_rng:
            place = max((made.get(v.number, -1) for v in kernel.inputs), default=-1)
        made.update((v.number, place) for v in kernel.outputs)
        places.append((place, place != index, index))
    return [kernels[index] for _, _, index in sorted(places)]


def _twin(kernel: Kernel, seen: dict[Any, Kernel]) -> Kernel:
    """The first kernel that computes the same, which may be this one."""
    key = _key(kernel)
    if kernel.computes_again and not (key in seen and seen[key].computes_again):
        seen[key] = kernel  # the program says so, to hold the value for a shorter time
    return seen.setdefault(key, kernel)


def _replaced(value: Any, instead: dict[int, Value]) -> Any:
    if isinstance(value, list):
        return [_replaced(each, instead) for each in value]
    return _final(value, instead) if isinstance(value, Value) else value


def _final(value: Value, instead: dict[int, Value]) -> Value:
    """The value to use in the place of one."""
    while value.number in instead:
        value = instead[value.number]
    return value


def _key(kernel: Kernel) -> Any:
    """What two kernels that compute the same have in common."""
    arguments = tuple(
        tuple(_argument(v) for v in value) if isinstance(value, list) else _argument(value)
        for value in kernel.arguments
    )
    made = tuple(slot for slot, value in kernel.outs.items() if value is not None)
    return kernel.op.type, exact(kernel.op.attr_values()), arguments, made


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
