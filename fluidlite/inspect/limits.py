"""How much a program may do that a command only looks at: a few bytes may ask for any work."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import WorkLimitError
from ..ground.values import arrays_in
from ..ir.costs import MOST, as_bytes, counted
from ..ir.operator import EMPTY, located
from ..runtime.session import Observer
from ..runtime.step import Environment, Step, spec_of

if sys.platform != "win32":
    import resource

GIB = 1 << 30
_STEP = 1 << 13  # bytes that a step counts for beside its results, so that loops end, too
_ASIDE = 1 << 31  # bytes for what kernels and libraries need beside values


class WorkLimit(Observer):
    """Ends a run before an operator whose results, with those before it, are larger than a limit.

    Args:
        most: bytes of all results together; each step counts for some, too.
    """

    def __init__(self, most: int) -> None:
        self._most, self._done = most, 0

    def take(self, sizes: Iterable[int], what: str) -> None:
        """Count bytes.

        Raises:
            WorkLimitError: there are too many.
        """
        wanted = self._done + sum(sizes)
        if wanted > self._most:
            raise WorkLimitError(
                f"expected a program whose values are at most {as_bytes(self._most)} together, "
                f"got {as_bytes(wanted)} with {what}; to run it all the same, raise the limit: "
                f"--limit {wanted // GIB + 1} (in GiB)"
            )
        self._done = wanted

    def before(self, step: Step, env: Environment) -> None:
        """Ask the shape rule what a step will write."""
        if step.instance.is_control:
            return
        ins: dict[str, Any] = {}
        for slot, names, many in step.inputs:
            specs = [None if n == EMPTY else spec_of(env.get(n)) for n in names]
            ins[slot] = specs if many else specs[0]
        try:
            output_specs = step.instance.infer_outputs(ins)
        except Exception:  # the step itself says what is wrong
            return
        done = self._done
        results = (each for given in output_specs.values() for each in _listed(given))
        self._take_results(step, map(_bytes_of, results))
        self._done = done  # what was written is counted then

    def after(self, step: Step, env: Environment) -> None:
        """Count what a step has written."""
        written = (a.nbytes for n in step.op.output_arg_names for a in arrays_in(env.get(n)))
        self._take_results(step, (_STEP, *written))

    def _take_results(self, step: Step, sizes: Iterable[int]) -> None:
        try:
            self.take(sizes, f"the results of {step.op.type}")
        except WorkLimitError as error:
            raise located(error, step.op, []) from None


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _bytes_of(spec: Any) -> int:
    """How many bytes a value takes, 0 where its size is not known before there are values."""
    if spec is None or -1 in spec.shape:
        return 0
    return min(counted(spec.shape) * int(spec.dtype.dtype.itemsize), MOST)


@contextlib.contextmanager
def little_memory(most: int) -> Iterator[None]:
    """Let the process have no more memory than a limit, beside what it has and kernels need: sizes
    may depend on values, which no rule knows.  Systems that do not tell or limit it do nothing.

    Args:
        most: bytes for values.
    """
    if sys.platform == "win32":
        yield
        return
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = has + most + _ASIDE
    lowest = min(n for n in (wanted, soft) if n != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
