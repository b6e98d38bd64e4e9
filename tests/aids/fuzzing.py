"""Damaged files: bytes like those of real files, and what reading them must not do.

    python tests/aids/fuzzing.py --count 1000000 --seed 7

Each reader is given mutations of sample files.  It may accept them, or raise FileFormatError; it
must not raise anything else, call more than twenty functions for each byte and 20,000 beyond, or
take more memory than four times the bytes and 16 MB.
"""

import argparse
import contextlib
import heapq
import io
import os
import random
import re
import struct
import sys
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fluidlite as fluid
from fluidlite.errors import FileFormatError
from fluidlite.ground.files import Source
from fluidlite.ground.values import LoDTensor, SelectedRows
from fluidlite.io.arrays import read_npy, write_npy, write_npz, write_safetensors
from fluidlite.proto.pickled import read_pickle
from fluidlite.proto.pickling import write_pickle
from fluidlite.proto.program import program_from_bytes
from fluidlite.proto.tensor import read_rows, read_tensor, write_value

from work import calls_in

CALLS, BYTES = 20, 1000  # so many calls for each byte, and for so many bytes more
SLOWEST = 2  # inputs whose calls are counted
TIMES, MORE = 4, 16 << 20
EXTREMES = [0, 1, 2, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1]


@dataclass
class Reader:
    """What reads, and bytes to begin with."""

    read: object
    samples: list


def readers(folder):
    """All readers by name; files are written to ``folder``."""
    path = os.path.join(folder, "input")

    def through_file(ending):
        def read(data):
            name = path + ending
            with open(name, "wb") as file:
                file.write(data)
            return fluid.io.read(name)

        return read

    def whole(data):
        source = Source.of(data, "tensors")
        while source.left:
            read_tensor(source)

    programs = [program().to_bytes(), loop().to_bytes(True)]
    texts = [str(program()).encode(), loop().to_string(with_details=True).encode()]
    tensors = [written(value) for value in values()]
    pickles = [pickled(), pickled_by_python(4), pickled_by_python(2)]
    return {
        "program": Reader(lambda data: program_from_bytes(data, "program"), programs),
        "text": Reader(through_file(".txt"), texts),
        "tensor": Reader(lambda data: read_tensor(Source.of(data, "tensor")), tensors),
        "rows": Reader(lambda data: read_rows(Source.of(data, "rows")), [written(rows())]),
        "combined": Reader(whole, [b"".join(tensors[:3]), tensors[0] * 4]),
        "pickle": Reader(lambda data: read_pickle(Source.of(data, "pickle")), pickles),
        "checkpoint": Reader(through_file(".npz"), [checkpoint(folder)]),
        "description": description(through_file(".npz"), checkpoint(folder)),
        "npy": Reader(lambda data: read_npy(Source.of(data, "npy")), [npy()]),
        "npz": Reader(through_file(".npz"), [npz()]),
        "safetensors": Reader(through_file(".safetensors"), [safetensors()]),
        "any": Reader(through_file(""), [*programs, *tensors, *pickles, npz()]),
    }


# -- samples ---------------------------------------------------------------------------------------


def program():
    """A small network with its gradient and an optimizer."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.data("x", [None, 3], "float32")
        y = fluid.layers.fc(x, 2, act="relu")
        fluid.optimizer.SGD(0.1).minimize(fluid.layers.mean(y))
    return main


def loop():
    """A loop, so that there are several blocks."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        i = fluid.layers.fill_constant([1], "int64", 0)
        end = fluid.layers.fill_constant([1], "int64", 5)
        fluid.layers.while_loop(lambda i, end: i < end, lambda i, end: [i + 1, end], [i, end])
    return main


def values():
    rng = np.random.default_rng(0)
    yield rng.normal(size=[2, 3]).astype("float32")
    yield LoDTensor(np.arange(6).reshape(6, 1), ((0, 2, 3), (0, 1, 3, 6)))
    yield np.zeros([0, 3], "int8")
    yield rng.normal(size=[4]).astype("float64")


def rows():
    return SelectedRows([1, 7, 4], 9, np.ones([3, 2], "float32"))


def written(value):
    file = io.BytesIO()
    write_value(file, value, "sample")
    return file.getvalue()


def state():
    return {
        "fc_0.w_0": np.arange(6, dtype="float32").reshape(2, 3),
        "fc_0.b_0": np.arange(3, dtype="float32"),
        "lr": {"step": 3, "rate": 0.5},
        "names": ["a", ("b", 2**40), None, True],
    }


def pickled():
    file = io.BytesIO()
    write_pickle(file, state())
    return file.getvalue()


def pickled_by_python(protocol):
    import pickle

    return pickle.dumps(state(), protocol)


def npy():
    file = io.BytesIO()
    write_npy(file, np.arange(6.0).reshape(2, 3))
    return file.getvalue()


def npz():
    file = io.BytesIO()
    write_npz(file, {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3)})
    return file.getvalue()


def safetensors():
    file = io.BytesIO()
    write_safetensors(file, {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3)})
    return file.getvalue()


def description(read, sample):
    """Reads the description of a checkpoint that is whole but for it."""
    with zipfile.ZipFile(io.BytesIO(sample)) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    whole = members.pop("fluidlite.json")

    def packed_again(data):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            for name, content in {**members, "fluidlite.json": data}.items():
                packed.writestr(name, content)
        return read(file.getvalue())

    return Reader(packed_again, [whole])


def checkpoint(folder):
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    with fluid.scope_guard(fluid.Scope()):
        fluid.Executor().run(startup)
        path = fluid.checkpoint.save(os.path.join(folder, "checkpoints"), main, step=3)
    return Path(path).read_bytes()


# -- mutations -------------------------------------------------------------------------------------


def mutated(rng, data, others):
    """Bytes like ``data``, with some damage."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        data = rng.choice(MUTATIONS)(rng, data, others)
        if len(data) > 1 << 20:
            break
    return bytes(data)


def flip(rng, data, others):
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def replace(rng, data, others):
    if data:
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    return data


def truncate(rng, data, others):
    return data[: rng.randrange(len(data) + 1)]


def insert(rng, data, others):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice([1, 1, 2, 4, 8, 60])) + data[at:]


def delete(rng, data, others):
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice([1, 1, 2, 4, 8, 60]) :]


def repeat(rng, data, others):
    at = rng.randrange(len(data) + 1)
    size = rng.choice([1, 2, 5, 20, 100])
    times = rng.choice([2, 3, 10, 100, 1000])
    return data[:at] + data[at : at + size] * times + data[at + size :]


def number(rng, data, others):
    """A number of 1, 2, 4 or 8 bytes that is very large or very small."""
    form = rng.choice("BHIQ")
    at = rng.randrange(len(data) + 1)
    size = struct.calcsize(form)
    value = rng.choice(EXTREMES) % (1 << 8 * size)
    return data[:at] + struct.pack("<" + form, value) + data[at + size :]


def splice(rng, data, others):
    other = rng.choice(others)
    at, begin = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:at] + other[begin : begin + rng.choice([4, 20, 200])] + data[at:]


MUTATIONS = [flip, flip, replace, replace, truncate, insert, delete, repeat, number, number, splice]


# -- the run ---------------------------------------------------------------------------------------


@dataclass
class Found:
    """How a reader took an input."""

    outcome: str  #: "accepted", "refused"
    seconds: float
    memory: int


def attempt(reader, data, trace=True):
    """Give a reader some bytes.

    Args:
        reader: what reads.
        data: the bytes.
        trace: whether to measure memory.

    Raises:
        AssertionError: it did what it must not do.
    """
    if trace:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
    begin = time.process_time()  # whatever else the machine does
    message = None
    try:
        reader.read(data)
    except FileFormatError as error:
        message = str(error)
    outcome = "accepted" if message is None else "refused"
    assert message is None or re.search("expected.*(found|got)", message, re.DOTALL), message
    seconds = time.process_time() - begin
    memory = tracemalloc.get_traced_memory()[1] - before if trace else 0
    assert memory <= TIMES * len(data) + MORE, f"{memory} bytes for {len(data)}"
    return Found(outcome, seconds, memory)


@contextlib.contextmanager
def tracing(on=True):
    """Memory is measured inside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if on:
            tracemalloc.start(1)
        try:
            yield
        finally:
            if on:
                tracemalloc.stop()


def check_work(reader, data):
    """Count the calls that reading takes: time would depend on the machine.

    Raises:
        AssertionError: there are too many.
    """

    def read():
        with contextlib.suppress(FileFormatError):
            reader.read(data)

    calls = calls_in(read)
    assert calls <= CALLS * (len(data) + BYTES), f"{calls} calls for {len(data)} bytes"


def run(name, reader, count, seed, trace_every=1, keep=None):
    """Give a reader mutations of its samples; count the work of those that took longest.

    Returns:
        counts of outcomes; the longest time; the most memory, beyond four times the bytes.
    """
    rng = random.Random(f"{name}-{seed}")
    outcomes, slowest, most = Counter(), [], 0
    for sample in reader.samples:
        assert attempt(reader, sample, trace=False).outcome == "accepted", name
    for turn in range(count):
        data = mutated(rng, rng.choice(reader.samples), reader.samples)
        try:
            found = attempt(reader, data, trace=trace_every > 0 and turn % trace_every == 0)
        except BaseException:
            if keep:
                Path(keep, f"{name}-{seed}-{turn}").write_bytes(data)
            raise
        outcomes[found.outcome] += 1
        if len(slowest) < SLOWEST or found.seconds > slowest[-1][0]:
            slowest = heapq.nlargest(SLOWEST, [*slowest, (found.seconds, data)])
        most = max(most, found.memory - TIMES * len(data))
    for _, data in [] if trace_every else slowest:
        check_work(reader, data)
    return outcomes, max(seconds for seconds, _ in slowest), most


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="inputs, all readers together")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--reader", action="append", help="only this one")
    parser.add_argument(
        "--trace-every", type=int, default=0, help="measure memory of every n-th; slows all"
    )
    parser.add_argument("--keep", help="a folder for inputs that are taken wrongly")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=shm()) as folder, tracing(given.trace_every > 0):
        chosen = readers(folder)
        names = given.reader or list(chosen)
        failures = 0
        for name in names:
            begin = time.perf_counter()
            try:
                outcomes, longest, most = run(
                    name,
                    chosen[name],
                    given.count // len(names),
                    given.seed,
                    given.trace_every,
                    given.keep,
                )
            except Exception as error:
                failures += 1
                print(f"{name}: {type(error).__name__}: {error}", flush=True)
                if given.keep is None:
                    raise
                continue
            print(
                f"{name:<12} {dict(outcomes)}  longest {longest * 1e3:.0f} ms  "
                f"memory beyond 4 x the bytes {most / 2**20:.1f} MB  "
                f"{time.perf_counter() - begin:.0f} s",
                flush=True,
            )
    return failures


def shm():
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


if __name__ == "__main__":
    sys.exit(main())
