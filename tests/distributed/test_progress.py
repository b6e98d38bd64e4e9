import threading
import time

from fluidlite.distributed.progress import Progress


def test_a_thread_calls_while_something_is_on_its_way_and_rests_else():
    calls, enough = [], threading.Event()

    def advance():
        calls.append(threading.current_thread())
        if len(calls) == 5:
            enough.set()

    progress = Progress(advance)
    progress.need(2)
    assert enough.wait(10)
    progress.need(1)
    progress.need(0)
    assert set(calls) != {threading.current_thread()}
    assert len(set(calls)) == 1
    time.sleep(0.02)  # the call that was under way
    before = len(calls)
    time.sleep(0.02)
    assert len(calls) == before
