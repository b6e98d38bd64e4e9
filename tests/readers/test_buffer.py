"""Reading ahead in a thread."""

import gc
import os
import threading
import time
import traceback

import pytest

from fluidlite.readers.buffer import Ahead, Buffer, ReaderError


def wait_for(condition):
    """Wait until something holds; a busy machine may take long."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def test_items_come_in_order():
    assert list(Ahead(lambda: range(100), 3, "r")) == list(range(100))


def test_no_more_items_are_made_ahead_than_there_is_room_for():
    made = []

    def items():
        for k in range(100):
            made.append(k)
            yield k

    ahead = Ahead(items, 3, "r")
    wait_for(lambda: len(made) == 4)  # three lie there, one waits
    assert next(ahead) == 0 and next(ahead) == 1
    wait_for(lambda: len(made) == 6)
    assert ahead.size() == 3
    ahead.close()


def test_an_exception_comes_behind_the_items_before_it_with_the_line_that_raised_it():
    def items():
        yield 1
        raise KeyError("mine")

    ahead = Ahead(items, 3, "r")
    assert next(ahead) == 1
    with pytest.raises(KeyError, match="mine") as caught:
        next(ahead)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert 'raise KeyError("mine")' in lines


def test_behind_an_exception_there_is_nothing():
    def items():
        raise KeyError("mine")
        yield

    ahead = Ahead(items, 3, "r")
    with pytest.raises(KeyError):
        next(ahead)
    with pytest.raises(StopIteration):
        next(ahead)


def test_an_exception_of_what_gives_the_iterator_comes_too():
    with pytest.raises(ZeroDivisionError):
        next(Ahead(lambda: 1 / 0, 3, "r"))


@pytest.mark.parametrize("leave", ["close", "forget"])
def test_the_thread_ends_and_the_generator_is_closed_when_nobody_reads_on(leave):
    closed = threading.Event()

    def items():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    ahead = Ahead(items, 2, "r")
    thread = ahead.thread
    assert next(ahead) == 1
    if leave == "close":
        ahead.close()
    del ahead
    gc.collect()
    thread.join(20)
    assert not thread.is_alive() and closed.is_set()


def test_whoever_waits_for_an_item_stops_waiting_when_the_buffer_is_closed():
    buffer = Buffer(1, "r")
    threading.Timer(0.01, buffer.close).start()
    with pytest.raises(StopIteration):
        buffer.take()


def test_what_is_put_into_a_closed_buffer_is_refused():
    buffer = Buffer(1, "r")
    buffer.close()
    assert not buffer.put(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork of a process with threads
def test_a_forked_process_is_told_that_it_has_no_thread():
    ahead = Ahead(lambda: iter(int, 1), 2, "reader 'r'")
    assert next(ahead) == 0
    out, into = os.pipe()
    child = os.fork()
    if not child:
        try:
            next(ahead)
        except ReaderError as error:
            os.write(into, str(error).encode())
        finally:
            ahead.close()
            os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    with open(out, encoding="utf-8") as file:
        assert "reader 'r' was started in process" in file.read()
    assert next(ahead) == 0  # here it goes on
    ahead.close()
