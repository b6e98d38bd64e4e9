"""Loaders of data sets, and the processes that make their batches."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FeedError
from fluidlite.readers import processes
from fluidlite.readers.buffer import ReaderError

DataLoader = fluid.io.DataLoader
ROOT = Path(__file__).parents[2]
forks = pytest.mark.skipif(
    processes.start_method() != "fork", reason="Python does not fork here, and would import this"
)


class Rows(fluid.io.Dataset):
    """Rows that hold their number."""

    def __init__(self, count=5, wide=3):
        self.count, self.wide = count, wide

    def __getitem__(self, number):
        return np.full(self.wide, number, "float32"), number

    def __len__(self):
        return self.count


class InOrder(fluid.io.IterableDataset):
    def __iter__(self):
        return ((np.full(3, k, "float32"), k) for k in range(5))


def numbers(loader):
    """The numbers in the rows of each batch of a pass."""
    return [np.array(step[0][1]).tolist() for step in loader]


def lists_of(dataset=None, **arguments):
    return DataLoader(Rows() if dataset is None else dataset, return_list=True, **arguments)


def test_batches_have_the_samples_in_their_order():
    loader = lists_of(batch_size=2)
    assert numbers(loader) == numbers(loader()) == [[0, 1], [2, 3], [4]] and len(loader) == 3


def test_a_last_batch_that_is_shorter_is_left_out():
    loader = lists_of(batch_size=2, drop_last=True)
    assert numbers(loader) == [[0, 1], [2, 3]] and len(loader) == 2


def test_shuffled_passes_differ_and_have_every_sample():
    loader = lists_of(Rows(30), batch_size=30, shuffle=True)
    (one,), (other,) = numbers(loader), numbers(loader)
    assert one != other and sorted(one) == sorted(other) == list(range(30))


def test_a_batch_sampler_says_which_samples_are_in_a_batch():
    sampler = fluid.io.BatchSampler(indices=[4, 0, 1], batch_size=2)
    assert numbers(lists_of(batch_sampler=sampler)) == [[4, 0], [1]]
    assert numbers(lists_of(batch_sampler=[[1], [2, 3]])) == [[1], [2, 3]]


def test_a_collate_function_makes_the_arrays():
    def doubled(batch):
        return [np.stack([row for row, _ in batch]), np.array([2 * n for _, n in batch])]

    assert numbers(lists_of(batch_size=5, collate_fn=doubled)) == [[0, 2, 4, 6, 8]]


def test_steps_are_fed_as_they_come():
    x, n = fluid.data("x", [None, 3]), fluid.data("n", [None], "int64")
    loader = DataLoader(Rows(), feed_list=[x, n], places=fluid.CPUPlace(), batch_size=2)
    total = fluid.layers.reduce_sum(x)
    exe = fluid.Executor()
    assert [exe.run(feed=f, fetch_list=[total])[0].item() for f in loader] == [3, 15, 12]


def test_dictionaries_are_fed_by_their_names():
    class Named(Rows):
        def __getitem__(self, number):
            return {"n": number, "x": np.full(3, number, "float32")}

    x, n = fluid.data("x", [None, 3]), fluid.data("n", [None], "int64")
    ((step,),) = DataLoader(Named(2), feed_list=[x, n], batch_size=2)
    assert step["x"].shape() == [2, 3] and step["n"].shape() == [2]


def test_each_place_gets_a_batch():
    loader = lists_of(Rows(7), batch_size=2, places=fluid.cpu_places(2))
    assert [[np.array(b[1]).tolist() for b in step] for step in loader] == [
        [[0, 1], [2, 3]],
        [[4, 5], [6]],
    ]


def test_eager_tensors_are_given_under_the_guard():
    with fluid.dygraph.guard():
        (x, n), *_ = DataLoader(Rows(), batch_size=2)
    assert isinstance(x, fluid.dygraph.VarBase) and n.numpy().tolist() == [0, 1]


@pytest.mark.parametrize("ahead", [True, False])
def test_a_data_set_that_is_read_in_order_has_batches_too(ahead):
    loader = lists_of(InOrder(), batch_size=2, use_buffer_reader=ahead)
    assert numbers(loader) == [[0, 1], [2, 3], [4]]
    assert numbers(lists_of(InOrder(), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    with pytest.raises(ArgumentError, match="does not know its length"):
        len(loader)


def test_an_exception_of_a_data_set_comes_behind_the_batches_before_it():
    class Bad(Rows):
        def __getitem__(self, number):
            if number == 3:
                raise LookupError("mine")
            return super().__getitem__(number)

    passed = iter(lists_of(Bad(), batch_size=2))
    next(passed)
    with pytest.raises(LookupError, match="mine"):
        next(passed)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"batch_size": 0}, "batch_size to be a positive integer, got 0"),
        ({"num_workers": -1}, "num_workers of 0 or more"),
        ({"timeout": -1}, "timeout of 0 or more"),
        ({"collate_fn": 3}, "collate_fn to be a function"),
        ({"worker_init_fn": 3}, "worker_init_fn to be a function"),
        ({"batch_sampler": 3}, "batch_sampler to give lists"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "got both"),
        ({"batch_sampler": [[0]], "shuffle": True}, "got both"),
        ({"dataset": 3}, "data set with __getitem__"),
        ({"dataset": InOrder(), "shuffle": True}, "read in order has no numbers"),
        ({"places": "cpu"}, "a place or a list"),
    ],
)
def test_a_loader_says_what_it_was_given_wrongly(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        DataLoader(**{"dataset": Rows(), "return_list": True, **arguments})


def test_without_variables_batches_are_tensors():
    x, label = next(iter(DataLoader(Rows(), batch_size=2)))
    assert isinstance(x, fluid.Tensor) and isinstance(label, fluid.Tensor)
    assert x.shape[0] == 2 and (x * 2.0).shape == x.shape


def test_samples_of_too_few_fields_say_which_loader_reads_them():
    loader = DataLoader(Rows(), feed_list=[fluid.data("x", [None, 3])])
    with pytest.raises(FeedError, match=r"made at .*1 values \(x\), the samples have 2 fields"):
        next(iter(loader))


# -- processes -------------------------------------------------------------------------------------


@forks
@pytest.mark.parametrize("shared", [True, False])
def test_processes_give_the_batches_in_their_order(shared):
    loader = lists_of(Rows(40, 5000), batch_size=4, num_workers=2, use_shared_memory=shared)
    found = [(np.array(x), np.array(n)) for ((x, n),) in loader]
    assert np.concatenate([n for _, n in found]).tolist() == list(range(40))
    assert all((x[:, -1] == n).all() for x, n in found)
    assert not multiprocessing.active_children()


@forks
def test_no_more_processes_are_started_than_there_are_batches():
    loader = lists_of(Rows(4, 10), batch_size=2, num_workers=8)
    running = iter(loader)
    next(running)
    assert len(multiprocessing.active_children()) <= 2
    running.close()
    assert not multiprocessing.active_children()


@forks
def test_a_process_ends_when_it_has_nothing_more_to_do_while_others_go_on(tmp_path):
    class Slow(Rows):
        def __getitem__(self, number):
            while number and not (tmp_path / "go").exists():
                time.sleep(0.01)
            return super().__getitem__(number)

    running = iter(lists_of(Slow(2, 10), batch_size=1, num_workers=2))
    next(running)
    deadline = time.monotonic() + 30
    while len(multiprocessing.active_children()) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(multiprocessing.active_children()) == 1
    (tmp_path / "go").touch()
    assert len(list(running)) == 1


@forks
def test_each_process_is_begun_by_the_init_function_with_numbers_of_its_own():
    class Drawn(Rows):
        def __getitem__(self, number):
            return os.environ["NUMBER"], np.random.randint(2**31), random.random()

    def begin(number):
        os.environ["NUMBER"] = str(number)

    def collate(batch):
        return [np.array([[float(value) for value in sample] for sample in batch])]

    loader = lists_of(Drawn(8), num_workers=2, worker_init_fn=begin, collate_fn=collate)
    state = np.random.get_state()[1].tolist()
    found = np.concatenate([np.array(step[0][0]) for step in loader])
    assert set(found[:, 0]) == {0, 1}
    assert len(set(found[:, 1])) == len(set(found[:, 2])) == 8
    assert np.random.get_state()[1].tolist() == state
    again = np.concatenate([np.array(step[0][0]) for step in loader])
    assert not set(found[:, 1]) & set(again[:, 1])


@forks
def test_an_exception_of_a_process_comes_with_its_traceback_there():
    class Bad(Rows):
        def __getitem__(self, number):
            raise LookupError(f"mine {number}")

    with pytest.raises(LookupError, match="mine 0") as caught:
        next(iter(lists_of(Bad(), num_workers=1)))
    told = str(caught.value.__cause__)
    assert 'raise LookupError(f"mine {number}")' in told and "in worker 0 of DataLoader" in told
    assert not multiprocessing.active_children()


@forks
def test_an_exception_that_cannot_be_pickled_is_told():
    class Odd(Exception):
        pass

    class Bad(Rows):
        def __getitem__(self, number):
            raise Odd("mine")

    with pytest.raises(ReaderError, match=r"worker 0 raised .*Odd: mine"):
        next(iter(lists_of(Bad(), num_workers=1)))


@forks
def test_what_cannot_be_pickled_is_told():
    with pytest.raises(Exception, match=r"(?i)pickle|local object"):
        next(iter(lists_of(num_workers=1, collate_fn=lambda batch: lambda: batch)))


@forks
def test_a_process_that_is_killed_is_named():
    class Killed(Rows):
        def __getitem__(self, number):
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ReaderError, match=r"worker 0 \(process \d+\) was killed by SIGKILL"):
        next(iter(lists_of(Killed(), num_workers=1)))
    assert not multiprocessing.active_children()


@forks
def test_a_process_that_exits_is_named():
    class Exits(Rows):
        def __getitem__(self, number):
            os._exit(3)

    with pytest.raises(ReaderError, match="ended with exit status 3"):
        next(iter(lists_of(Exits(), num_workers=1)))


@forks
def test_a_process_that_takes_too_long_is_named_and_ended():
    class Slow(Rows):
        def __getitem__(self, number):
            time.sleep(60)

    with pytest.raises(ReaderError, match=r"timeout=0\.05 s, worker 0 gave none"):
        next(iter(lists_of(Slow(), num_workers=1, timeout=0.05)))
    assert not multiprocessing.active_children()


@forks
def test_no_process_is_left_when_a_loop_is_left():
    for _ in lists_of(Rows(100), num_workers=2):
        break
    gc.collect()
    assert not multiprocessing.active_children()


@forks
def test_a_data_set_in_order_is_read_by_one_process_and_says_so():
    loader = lists_of(InOrder(), batch_size=2, num_workers=2)
    with pytest.warns(UserWarning, match="reads in one process") as told:
        assert numbers(loader) == numbers(loader) == [[0, 1], [2, 3], [4]]
    assert len([each for each in told if "reads in one process" in str(each.message)]) == 1


@forks
def test_a_generator_can_run_in_a_process():
    main = os.getpid()
    x = fluid.data("x", [None, 1], "int64")
    loader = DataLoader.from_generator([x], capacity=3, use_multiprocess=True, return_list=True)
    loader.set_batch_generator(lambda: (np.full([2, 1], os.getpid()) for _ in range(5)))
    found = [np.array(step[0][0])[0, 0] for step in loader]
    assert len(found) == 5 and len(set(found)) == 1 and main not in found
    with pytest.raises(LookupError, match="mine"):
        loader.set_batch_generator(failing)
        next(iter(loader))


def failing():
    raise LookupError("mine")
    yield


@forks
def test_readers_run_in_processes_of_their_own():
    merged = fluid.io.multiprocess_reader(
        [lambda k=k: ((os.getpid(), n) for n in range(100 * k, 100 * k + 50)) for k in range(3)]
    )
    found = list(merged())
    assert len({process for process, _ in found}) == 3
    assert sorted(n for _, n in found) == [*range(50), *range(100, 150), *range(200, 250)]
    assert len(list(merged())) == 150
    assert not multiprocessing.active_children()


@forks
def test_a_sample_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="multiprocess_reader made at .*got None"):
        list(fluid.io.multiprocess_reader([lambda: iter([None])])())


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([],), "a list of readers"),
        (([3],), "expected readers, functions"),
        (([lambda: iter([])], True, 0), "queue_size of 1 or more"),
    ],
)
def test_multiprocess_reader_says_what_it_was_given_wrongly(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.io.multiprocess_reader(*arguments)


# -- where processes are not forked ----------------------------------------------------------------


@pytest.fixture
def spawning(monkeypatch):
    monkeypatch.setattr(processes, "start_method", lambda: "spawn")


def test_what_cannot_be_pickled_is_read_in_a_thread_with_one_warning(spawning):
    loader = lists_of(batch_size=2, num_workers=2, collate_fn=lambda b: [0, np.array(len(b))])
    with pytest.warns(UserWarning, match=r"in a thread, .*cannot be pickled") as told:
        assert numbers(loader) == numbers(loader) == [2, 2, 1]
    assert len(told) == 1


def test_readers_that_cannot_be_pickled_run_in_threads_with_one_warning(spawning):
    merged = fluid.io.multiprocess_reader([lambda: iter([1, 2]), lambda: iter([3])])
    with pytest.warns(UserWarning, match="in threads, .*cannot be pickled") as told:
        assert list(merged()) == list(merged()) == [1, 2, 3]
    assert len(told) == 1


@pytest.mark.parametrize(
    "source, why", [("print(1)", "would run it once more"), ('if __name__ == "x": pass', None)]
)
def test_a_main_script_that_would_run_again_is_noticed(
    spawning, tmp_path, monkeypatch, source, why
):
    script = tmp_path / "script.py"
    script.write_text(source)
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", str(script), raising=False)
    monkeypatch.setattr(main, "__spec__", None)
    found = processes.why_not(fluid.readers.worker.Stream(list))
    assert found is None if why is None else why in found


SCRIPT = """
    import multiprocessing, os, sys
    import numpy as np
    import fluidlite as fluid

    class Rows(fluid.io.Dataset):
        def __getitem__(self, number):
            return np.full(20000, number, "float32"), np.array([os.getpid()])
        def __len__(self):
            return 6

    if __name__ == "__main__":
        multiprocessing.set_start_method(sys.argv[1])
        loader = fluid.io.DataLoader(Rows(), return_list=True, batch_size=2, num_workers=1)
        found = [(np.array(x)[:, 0].tolist(), np.array(p)[0, 0]) for ((x, p),) in loader]
        assert [rows for rows, _ in found] == [[0, 1], [2, 3], [4, 5]], found
        assert os.getpid() not in [process for _, process in found]
        assert not multiprocessing.active_children()
        print("read by", len({process for _, process in found}))
"""


def run_script(path, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_processes_that_are_not_forked_read_what_can_be_pickled(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    found = run_script(script, "spawn")
    assert found.stdout == "read by 1\n" and not found.stderr, found.stderr


@forks
def test_an_interrupt_ends_a_loop_and_its_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import multiprocessing, os, signal, threading, time
        import fluidlite as fluid

        # a shell may have started the tests with interrupts ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)

        class Slow(fluid.io.Dataset):
            def __getitem__(self, number):
                os.kill(os.getppid(), signal.SIGINT)
                time.sleep(60)
            def __len__(self):
                return 6

        try:
            list(fluid.io.DataLoader(Slow(), return_list=True, num_workers=2))
        except KeyboardInterrupt:
            print(multiprocessing.active_children())
        """)
    )
    found = run_script(script)
    assert found.stdout == "[]\n" and not found.stderr, found.stderr


@forks
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal
        import numpy as np
        import fluidlite as fluid

        class Rows(fluid.io.Dataset):
            def __getitem__(self, number):
                return [np.array(os.getpid())]
            def __len__(self):
                return 100

        passed = iter(fluid.io.DataLoader(Rows(), return_list=True, num_workers=2))
        print(*[np.array(next(passed)[0][0])[0] for _ in range(6)], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """)
    )
    workers = {int(pid) for pid in run_script(script).stdout.split()}
    assert len(workers) == 2
    end = time.monotonic() + 20
    while any(map(is_alive, workers)):
        assert time.monotonic() < end, "workers stay"
        time.sleep(0.01)


def is_alive(pid):
    """Whether a process runs; one that nobody has asked for its status does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
