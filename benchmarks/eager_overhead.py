"""What an eager operator costs beside its kernel: microseconds for each operator of a long chain.

    python benchmarks/eager_overhead.py [--length 20000] [--repeat 5]

Small arrays are used, so that nearly all the time is overhead; it is that of the process, so that
others on the machine do not count.  Where torch is installed, its times
stand beside ours.  The goals are 4 us forward, and 12 us forward and backward together.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fluidlite as fluid

SIZE = 4


def chains(f: Any, make: Callable[[Any], Any]) -> dict[str, tuple[int, Callable[[Any], Any]]]:
    """Links of chains: how many operators they are, and what they compute."""
    c = make(np.full(SIZE, 0.999, "float32"))
    w = make(np.eye(SIZE, dtype="float32"))
    return {
        "x * c": (1, lambda x: x * c),
        "x + c": (1, lambda x: x + c),
        "x * 0.999": (1, lambda x: x * 0.999),
        "tanh(x)": (1, lambda x: f.tanh(x)),
        "x * x * 0.5": (2, lambda x: x * x * 0.5),
        "x @ w": (1, lambda x: f.matmul(x, w)),
        "tanh(x * c + x)": (3, lambda x: f.tanh(x * c + x)),
    }


def timed(link: Callable[[Any], Any], start: Any, length: int) -> tuple[float, float]:
    """Seconds for the forward and for the backward pass of a chain."""
    gc.collect()
    x = start
    begin = time.process_time()
    for _ in range(length):
        x = link(x)
    middle = time.process_time()
    x.sum().backward()
    return middle - begin, time.process_time() - middle


def measured(f: Any, make: Any, leaf: Any, length: int, repeat: int) -> dict[str, list[float]]:
    """Microseconds for an operator, forward and backward, by chain; the best of several runs."""
    found = {}
    for name, (operators, link) in chains(f, make).items():
        runs = [timed(link, leaf(), length) for _ in range(repeat)]
        found[name] = [min(run[k] for run in runs) / (length * operators) * 1e6 for k in (0, 1)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--length", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    ones = np.ones([1, SIZE], "float32")
    columns = {
        "fluidlite": measured(
            fluid,
            fluid.to_tensor,
            lambda: fluid.to_tensor(ones, stop_gradient=False),
            args.length,
            args.repeat,
        )
    }
    if importlib.util.find_spec("torch") is not None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        columns["torch"] = measured(
            torch,
            torch.from_numpy,
            lambda: torch.from_numpy(ones.copy()).requires_grad_(),
            args.length,
            args.repeat,
        )
    print(f"{'us an operator':<18}" + "".join(f"{name:>24}" for name in columns))
    print(f"{'':<18}" + f"{'forward':>12}{'both':>12}" * len(columns))
    for name in next(iter(columns.values())):
        cells = [
            f"{forward:12.2f}{forward + back:12.2f}"
            for forward, back in (c[name] for c in columns.values())
        ]
        print(f"{name:<18}" + "".join(cells))


if __name__ == "__main__":
    main()
