"""Work that is counted, where time would depend on the machine."""

import gc
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

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # what is called for the garbage of others is not the function's work
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count
