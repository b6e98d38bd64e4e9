"""A system without threads, processes and foreign libraries, as a browser is."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("_posixsubprocess") is None, reason="refuses processes as POSIX does"
)


def confined(*words):
    """What a Python says that is refused threads, processes and libraries."""
    path = os.pathsep.join([str(HERE / "aids"), str(HERE.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=HERE.parent,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def test_the_core_of_the_suite_passes_without_threads_processes_and_libraries():
    cores = ("tests/backward/test_append_backward.py", "tests/backward/test_loops.py")
    said = confined(
        *("-m", "pytest", "-q", "-p", "confined", "-p", "no:xdist", "-p", "no:cacheprovider"),
        *cores,
    )
    assert " passed" in said
    assert "failed" not in said


def run(script):
    return confined("-c", "import confined\n" + textwrap.dedent(script))


def test_every_way_to_read_ahead_reads_in_place_and_notices_it_once():
    said = run("""
        import numpy as np
        import fluidlite as fluid

        numbers = lambda: iter(range(5))
        assert list(fluid.io.buffered(numbers, 2)()) == [0, 1, 2, 3, 4]
        for order in (False, True):
            squares = fluid.io.xmap_readers(lambda n: n * n, numbers, 2, 3, order)
            assert list(squares()) == [0, 1, 4, 9, 16]
        x = fluid.data("x", [None, 2])
        for many in (False, True):
            loader = fluid.io.DataLoader.from_generator([x], 2, use_multiprocess=many)
            loader.set_batch_generator(lambda: (np.full((3, 2), k, "float32") for k in range(4)))
            assert [np.mean(batch[0]["x"]) for batch in loader] == [0, 1, 2, 3]
            for batch in loader:  # left early, then read anew
                break
            assert len(list(loader)) == 4
        """)
    assert said.count("works without threads") == 1
    assert said.count("in place of a process: Python has no processes") == 1


def test_a_program_that_pulls_its_batches_trains_and_resets_without_threads():
    run("""
        import numpy as np
        import fluidlite as fluid

        x = fluid.data("x", [None, 2])
        loader = fluid.io.DataLoader.from_generator([x], 2, iterable=False)
        loader.set_batch_generator(lambda: (np.full((3, 2), k, "float32") for k in range(4)))
        total = fluid.layers.reduce_sum(x)
        executor = fluid.Executor()
        executor.run(fluid.default_startup_program())
        for _ in range(2):
            loader.start()
            sums = []
            try:
                while True:
                    sums.append(float(executor.run(fetch_list=[total])[0]))
            except fluid.core.EOFException:
                loader.reset()
            assert sums == [0, 6, 12, 18], sums
        """)


def test_an_error_of_a_reader_comes_through_without_threads():
    run("""
        import fluidlite as fluid

        def broken():
            yield 1
            raise KeyError("lost")

        items = fluid.io.buffered(broken, 2)()
        assert next(items) == 1
        try:
            next(items)
        except KeyError as error:
            assert error.args == ("lost",)
        else:
            raise AssertionError
        """)


def test_large_work_is_done_by_one_thread_and_kernels_by_numpy():
    run("""
        import os
        os.environ["FLUIDLITE_NUM_THREADS"] = "4"
        import numpy as np
        import fluidlite as fluid
        from fluidlite.kernels import threads

        x = fluid.data("x", [None, 1000])
        loss = fluid.layers.reduce_mean(fluid.layers.exp(x) * x + x)
        x.stop_gradient = False
        grad, = fluid.gradients(loss, x)
        value = np.full((3000, 1000), 0.5, "float32")
        executor = fluid.Executor()
        for _ in range(8):
            got, = executor.run(feed={"x": value}, fetch_list=[grad])
        want = (np.exp(0.5) * 1.5 + 1) / value.size
        np.testing.assert_allclose(got, np.full_like(value, want), rtol=1e-5)
        parts = []
        threads.each(lambda part, worker: parts.append(part), 5)
        assert parts == [0, 1, 2, 3, 4]
        assert threads.count() == 1
        """)


def test_the_debugger_says_that_it_needs_a_thread():
    said = run("""
        import numpy as np
        import fluidlite as fluid

        x = fluid.data("x", [2])
        y = fluid.layers.exp(x)
        feed = {"x": np.ones(2, "float32")}
        with fluid.inspect.Debugger(fluid.Executor(), feed=feed) as debugger:
            try:
                debugger.step()
            except fluid.errors.UnsupportedError as error:
                print(error)
        """)
    assert "Debugger: expected a thread for the run" in said
