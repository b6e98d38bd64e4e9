"""Work that is counted, where time would depend on the machine."""

import sys


def calls_in(function, *arguments):
    """How many functions are called while one runs, those of libraries too; what it raises passes.

    Args:
        function: what runs.
        arguments: which it gets.
    """
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return count
