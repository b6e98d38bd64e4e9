"""Speed of files: variables against numpy.save and numpy.load, and long program files.

    python benchmarks/files.py [--megabytes 1024] [--operators 100000] [--folder DIR]
    PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python python benchmarks/files.py --megabytes 1

Programs are read and written by protobuf, too, where it is installed: in C (upb), or in Python as
in the second line.

fluidlite syncs what it saves to the disk before it replaces the old file, numpy does not; so numpy
is timed with and without a sync.  With ``--folder /dev/shm`` there is no disk.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fluidlite as fluid

ARRAYS = 16


def best(work: Callable[[], Any], rounds: int, before: Callable[[], Any] | None = None) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(rounds):
        if before is not None:
            before()
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def save_by_numpy(folder: Path, arrays: dict[str, Any], sync: bool) -> None:
    """The same arrays, a file each."""
    for name, array in arrays.items():
        with open(folder / f"{name}.npy", "wb") as file:
            np.save(file, array)
            if sync:
                file.flush()
                os.fsync(file.fileno())


def load_by_numpy(folder: Path, names: list[str]) -> None:
    for name in names:
        np.load(folder / f"{name}.npy")


def variables(folder: Path, megabytes: float, rounds: int) -> None:
    """Time a combined file."""
    elements = int(megabytes * 2**20 / 4 / ARRAYS)
    rng = np.random.default_rng(0)
    arrays = {f"w_{k:02d}": rng.random(elements, "float32") for k in range(ARRAYS)}
    main, exe = fluid.Program(), fluid.Executor()
    for name, array in arrays.items():
        main.global_block().create_parameter([elements], "float32", name=name)
        fluid.global_scope().var(name).value = array
    size = sum(array.nbytes for array in arrays.values()) / 2**20

    def clean() -> None:
        for path in folder.rglob("*"):
            if path.is_file():
                path.unlink()
        os.sync()

    def row(what: str, seconds: float) -> None:
        print(f"{what:<34}{seconds:8.2f} s {size / seconds:8.0f} MB/s", flush=True)

    print(f"{size:.0f} MB in {ARRAYS} arrays")
    names = list(arrays)
    row("numpy.save", best(lambda: save_by_numpy(folder, arrays, False), rounds, clean))
    row("numpy.save, synced", best(lambda: save_by_numpy(folder, arrays, True), rounds, clean))
    row("numpy.load", best(lambda: load_by_numpy(folder, names), rounds))
    save = lambda: fluid.io.save_persistables(exe, folder, main, "all")  # noqa: E731
    row("save_persistables, one file", best(save, rounds, clean))
    row(
        "load_persistables, one file",
        best(lambda: fluid.io.load_persistables(exe, folder, main, "all"), rounds),
    )
    row("checkpoint.save", best(lambda: fluid.checkpoint.save(folder, main), rounds, clean))
    row("checkpoint.load", best(lambda: fluid.checkpoint.load(folder, main), rounds))


def alike(operators: int) -> fluid.Program:
    """A program whose operators differ in the names of their variables."""
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        x = fluid.data("x", [4, 8], "float32")
        out = x
        for _ in range(operators // 2):
            out = fluid.layers.tanh(fluid.layers.elementwise_add(out, x))
    return program


def different(operators: int) -> fluid.Program:
    """A program whose operators have attributes, and variables sizes, that no other one has."""
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        for k in range(operators // 2):
            made = fluid.layers.fill_constant([k + 2, 4, 8], "float32", k)
            fluid.layers.scale(made, k + 0.5, float(k))
    return program


def by_protobuf(data: bytes) -> None:
    """Time protobuf on a program file: messages, and then their fields, which a program needs."""
    try:
        from google.protobuf.internal import api_implementation
    except ImportError:
        return
    fluid.compat.install()
    from paddle.fluid.proto.framework_pb2 import ProgramDesc

    begin = time.process_time()
    message = ProgramDesc.FromString(data)
    parsed = time.process_time()
    fields = [
        (
            {slot.parameter: tuple(slot.arguments) for slot in op.inputs},
            {slot.parameter: tuple(slot.arguments) for slot in op.outputs},
            {each.name: (each.type, each.i, each.f, each.s, each.b) for each in op.attrs},
        )
        for block in message.blocks
        for op in block.ops
    ]
    read = time.process_time()
    message.SerializeToString()
    end = time.process_time()
    kind = f"protobuf ({api_implementation.Type()})"
    print(f"{kind + ', parsed':<34}{parsed - begin:8.2f} s")
    print(f"{kind + f', {len(fields)} read':<34}{read - parsed:8.2f} s")
    print(f"{kind + ', written':<34}{end - read:8.2f} s", flush=True)


def programs(operators: int) -> None:
    """Time long program files."""
    for build, call_sites in ((alike, False), (alike, True), (different, False)):
        program = build(operators)
        begin = time.perf_counter()
        data = program.to_bytes(call_sites=call_sites)
        middle = time.perf_counter()
        again = fluid.Program.parse_from_string(data)
        end = time.perf_counter()
        count = len(again.global_block().ops)
        sites = ", with call sites" if call_sites else ""
        print(f"{count} operators, {build.__name__}{sites}, {len(data) / 2**20:.1f} MB")
        print(f"{'to_bytes':<34}{middle - begin:8.2f} s")
        print(f"{'parse_from_string':<34}{end - middle:8.2f} s", flush=True)
        by_protobuf(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=1024)
    parser.add_argument("--operators", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where to write; the folder for temporary files if None")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        variables(Path(name), given.megabytes, given.rounds)
    programs(given.operators)


if __name__ == "__main__":
    sys.exit(main())
