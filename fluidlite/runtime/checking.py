"""Whether a compiled segment computes what its steps mean, and which of them it gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OpError
from ..ground.values import LoDTensor, SelectedRows
from ..ir.operator import located
from .finite import numbers_in
from .segment import Segment, Watch
from .step import Environment, Step, spec_of

if TYPE_CHECKING:
    from .compile import CompiledSegment

#: How far an element of a compiled value may be from the interpreted one, in units of rounding
#: (the distance of 1 and the next number) of the largest element that the operator reads or
#: writes.  What is not a floating-point number must be the same.  Most kernels agree bitwise;
#: sums and products may be taken in another order.
ROUNDINGS = 1024


def bound(dtype: Any, largest: float) -> float:
    """How far two elements may be apart where ``largest`` is the largest one around."""
    return float(ROUNDINGS * np.finfo(dtype).eps * largest)


def difference(mine: Any, want: Any, largest: float = 0.0) -> str:
    """In which way a value differs from a wanted one by more than rounding; empty where it does
    not. ``largest`` is the largest element that it was computed from.
    """
    kinds = [type(each).__name__ for each in (mine, want)]
    if isinstance(mine, SelectedRows) and isinstance(want, SelectedRows):
        if not np.array_equal(mine.numbers, want.numbers):
            return "other rows are stored"
    elif isinstance(want, (LoDTensor, SelectedRows)) and kinds[0] != kinds[1]:
        return f"it is of type {kinds[0]} in place of {kinds[1]}"
    for actual, wanted in zip(numbers_in(mine), numbers_in(want), strict=True):
        if (actual.shape, actual.dtype) != (wanted.shape, wanted.dtype):
            return (
                f"it is {actual.dtype}{list(actual.shape)} in place of "
                f"{wanted.dtype}{list(wanted.shape)}"
            )
        wrong = _apart(actual, wanted, largest)
        if wrong is not None:
            at = np.unravel_index(int(wrong.argmax()), wrong.shape)
            return (
                f"{int(wrong.sum())} of {wrong.size} elements differ, the first at "
                f"{[int(i) for i in at]}: {actual[at]} in place of {wanted[at]}"
            )
    return ""


def _apart(found: Any, wanted: Any, largest: float) -> Any:
    """Which elements differ; None where none do."""
    if wanted.dtype.kind not in "fc":
        wrong = found != wanted
    else:
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        if same.all():
            return None
        finite = np.isfinite(wanted)
        largest = max(largest, float(np.abs(wanted[finite]).max(initial=0.0)))
        near = np.abs(found - wanted) <= bound(wanted.dtype, largest)
        wrong = ~(same | near)
    return wrong if wrong.any() else None


def refuse_differences(
    stretch: Segment,
    function: CompiledSegment,
    given: Environment,
    mine: Environment,
    want: Mapping[str, Any],
    interpret: Callable[[Step, Environment], None],
    draw: Callable[[str], Any],
    repeat: Callable[[], None],
) -> None:
    """Compare what a compiled segment computed (``mine``) with what its steps did (``want``);
    ``repeat`` says that what other processes sent is to be taken from the beginning again.

    Roundings grow on the way through a program, and may change a sign at the end.  So where a
    result differs, each step is taken by itself, from the values that the function has there.

    Raises:
        OpError: they differ by more than rounding; names the first operator that does.
    """
    if not any(n in want and difference(mine[n], want[n]) for n in function.results):
        return
    computed: dict[int, Any] = {}

    def keep(index: int, *arrays: Any) -> None:
        for value, array in zip(function.order[index].results, arrays, strict=True):
            computed[value.number] = array.copy()

    watched = dict(given)
    repeat()
    function(watched, draw, Watch("values", keep))
    local = dict(given)
    repeat()
    written = _by_step(function)
    for step in stretch.steps:
        read = {n: local[n] for n in step.op.input_arg_names if n in local}
        interpret(step, local)
        largest = max((_largest(value) for value in read.values()), default=0.0)
        for name, value in written.get(id(step), ()):
            here = function.as_plain(value, computed)
            if here is None or name not in local:
                continue  # nothing needs the value, or it is one that came from outside
            wrong = difference(here, local[name], largest)
            if wrong:
                raise _refusal(step, name, wrong, local)
            local[name] = here
    for name in function.results:  # buffers that are written too early show only without watching
        wrong = difference(mine[name], watched[name])
        if wrong:
            raise _refusal(_writer(stretch, name), name, wrong, watched)


def _by_step(function: CompiledSegment) -> dict[int, list[tuple[str, Any]]]:
    found: dict[int, list[tuple[str, Any]]] = {}
    for step, name, value in function.named:
        found.setdefault(id(step), []).append((name, value))
    return found


def _largest(value: Any) -> float:
    """The largest finite element of a value, by size."""
    maxima = [
        float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
        for array in numbers_in(value)
        if array.dtype.kind in "fc"
    ]
    return max(maxima, default=0.0)


def _writer(stretch: Segment, name: str) -> Step:
    """The last step that writes a name."""
    return next(s for s in reversed(stretch.steps) if name in s.op.output_arg_names)


def _refusal(step: Step, name: str, wrong: str, env: Mapping[str, Any]) -> Exception:
    return located(
        OpError(f"the compiled plan computes variable {name!r} otherwise: {wrong}"),
        step.op,
        [(name, spec_of(env[name]))],
    )
