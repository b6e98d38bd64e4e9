"""Speed and memory of writing a program as ONNX, and as NumPy source.

    python benchmarks/export.py [--megabytes 100] [--folder DIR]

What counts is what a process takes beyond what the program and its parameters took before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

import numpy as np

LAYERS = 12


def resident() -> int:
    """The bytes of memory that the process has now (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """Looks at the memory of the process while a ``with`` block runs."""

    def __enter__(self) -> Peak:
        self.begin = self.most = resident()
        self._running = True
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while self._running:
            self.most = max(self.most, resident())
            time.sleep(0.001)

    def __exit__(self, *error: Any) -> None:
        self._running = False
        self._thread.join()

    @property
    def more(self) -> int:
        """The bytes beyond those at the begin."""
        return self.most - self.begin


def model(megabytes: float) -> Any:
    """A net of so many parameters, in the global scope: the program and what to fetch."""
    import fluidlite as fluid

    width = int((megabytes * 2**20 / 4 / LAYERS) ** 0.5)
    x = out = fluid.data("x", [None, width], "float32")
    for _ in range(LAYERS):
        out = fluid.layers.fc(out, width, act="relu")
    del x
    fluid.Executor().run(fluid.default_startup_program())
    return fluid.default_main_program(), out


def measure(kind: str, megabytes: float, folder: str) -> None:
    """Export in this process, and print what that took."""
    import fluidlite as fluid

    program, out = model(megabytes)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        # modules, and what they make when they are first used
        small, y = fluid.Program(), None
        with fluid.program_guard(small, fluid.Program()):
            y = fluid.layers.relu(fluid.data("y", [2], "float32"))
        write(kind, small, f"{place}/small", y)
        with Peak() as peak:
            begin = time.perf_counter()
            write(kind, program, f"{place}/model", out)
            seconds = time.perf_counter() - begin
        size = sum(os.path.getsize(f"{place}/{n}") for n in os.listdir(place) if "model" in n)
    print(
        f"{kind}: {size / 2**20:.1f} MB in {seconds:.2f} s, "
        f"{peak.more / 2**20:.1f} MB of memory, {peak.more / size:.2f} times the file"
    )


def write(kind: str, program: Any, stem: str, fetched: Any) -> None:
    """Write a program in one form."""
    import fluidlite as fluid

    if kind == "onnx":
        fluid.onnx.export(program, f"{stem}.onnx", fetches=[fetched])
    else:
        fluid.export.numpy_source(program, f"{stem}.py", fetches=[fetched])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--kind", choices=("onnx", "numpy"))
    given = parser.parse_args()
    if given.kind:
        measure(given.kind, given.megabytes, given.folder)
        return
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}")
    for kind in ("onnx", "numpy"):  # each in a process of its own
        subprocess.run([sys.executable, *sys.argv, "--kind", kind], check=True)


if __name__ == "__main__":
    main()
