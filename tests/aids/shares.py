"""How much of long tests the test command runs: a tenth.

Where the extra ``fast`` is installed they run whole: .ci/run installs it for a part.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import Any

import pytest

from fluidlite.backend.onednn import description

PARTS = 1 if description() is not None else 10

#: for tests that only this part runs
whole_only = pytest.mark.skipif(PARTS > 1, reason="long: runs where the extra fast is installed")


def share(whole: int) -> int:
    """A number of cases: all of them, or a tenth."""
    return whole // PARTS


def shared(cases: Iterable[Any]) -> Any:
    """Cases in a list, or by name: all of them, or every tenth."""
    if isinstance(cases, Mapping):
        return dict(islice(cases.items(), 0, None, PARTS))
    return [*cases][::PARTS]


def shared_of_each(cases: Iterable[Any], kind: Callable[[Any], Hashable]) -> list[Any]:
    """Cases: all of them, or the first of each kind and every tenth of its others."""
    numbers: dict[Hashable, int] = {}
    chosen = []
    for case in cases:
        number = numbers[kind(case)] = numbers.get(kind(case), -1) + 1
        if number % PARTS == 0:
            chosen.append(case)
    return chosen


def in_both_types(cases: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Cases in float32, and in float64: all of them, or every tenth."""
    cases = [*cases]
    return [(*c, "float32") for c in cases] + [(*c, "float64") for c in shared(cases)]
