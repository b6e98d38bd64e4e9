"""Streams that operators draw from."""

import sys

import pytest

from fluidlite.eager.mode import thread
from fluidlite.eager.prepared import Generator, generator, stream_guard


def test_an_interrupt_as_a_stream_is_switched_leaves_none_behind():
    def lines(interrupt):
        count = 0

        def trace(frame, event, _):
            nonlocal count
            if not frame.f_code.co_filename.endswith(("prepared.py", "state.py", "contextlib.py")):
                return None
            count += event == "line"
            if event == "line" and count == interrupt:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with stream_guard(Generator(1)):
                sys.settrace(before)
        finally:
            sys.settrace(before)
        return count

    for place in range(1, lines(0) + 1):
        with pytest.raises(KeyboardInterrupt):
            lines(place)
        assert not generator.is_covered and not thread.run(lambda: generator.is_covered), place
