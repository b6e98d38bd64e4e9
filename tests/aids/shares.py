"""How much of long tests the test command runs: a third.

Where the extra ``fast`` is installed they run whole: .ci/run installs it for a second part.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from fluidlite.backend.onednn import description


def share(whole):
    """A number of cases: all of them, or a third."""
    return whole if description() is not None else whole // 3


def shared(cases: Iterable[Any]) -> Any:
    """Cases in a list, or by name: all of them, or every third."""
    step = 1 if description() is not None else 3
    if isinstance(cases, Mapping):
        return dict(islice(cases.items(), 0, None, step))
    return [*cases][::step]
