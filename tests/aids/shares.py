"""How much of long tests the test command runs: a third.

Where the extra ``fast`` is installed they run whole: .ci/run installs it for a second part.
"""

from itertools import islice

from fluidlite.backend.onednn import description


def share(whole):
    """A number of cases: all of them, or a third."""
    return whole if description() is not None else whole // 3


def shared(cases):
    """Cases by name: all of them, or every third."""
    return dict(islice(cases.items(), 0, None, 1 if description() is not None else 3))
