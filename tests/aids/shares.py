"""How much of long tests the test command runs: a third.

Where the extra ``fast`` is installed they run whole: .ci/run installs it for a second part.
"""

from fluidlite.backend.onednn import description


def share(whole):
    """A number of cases: all of them, or a third."""
    return whole if description() is not None else whole // 3
