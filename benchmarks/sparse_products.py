"""Sparse matrices times dense ones, in several ways: which ``fluidlite/kernels/sparse.py`` takes.

    python benchmarks/sparse_products.py

``add.at`` is NumPy's sum of rows that were taken and multiplied; ``reduceat`` sorts them first;
``columns`` is ``bincount`` of each column (what is there without SciPy); ``COO`` and ``CSR`` are
SciPy's products, which are made of the same coordinates each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from fluidlite.backend import numpy_
from fluidlite.kernels.sparse import by_columns


def add_at(rows: Any, cols: Any, values: Any, dense: Any, size: int) -> Any:
    zeros = np.zeros((size, dense.shape[1]), dense.dtype)
    return numpy_.scatter_add(zeros, rows, values[:, None] * dense[cols])


def reduceat(rows: Any, cols: Any, values: Any, dense: Any, size: int) -> Any:
    return numpy_.add_rows(rows, values[:, None] * dense[cols], size)


def of_scipy(kind: Any) -> Callable[..., Any]:
    def product(rows: Any, cols: Any, values: Any, dense: Any, size: int) -> Any:
        return kind((values, (rows, cols)), shape=(size, len(dense))) @ dense

    return product


WAYS: dict[str, Callable[..., Any]] = {
    "add.at": add_at,
    "reduceat": reduceat,
    "columns": by_columns,
    "COO": of_scipy(scipy.sparse.coo_array),
    "CSR": of_scipy(scipy.sparse.csr_array),
}


def best(way: Callable[..., Any], *given: Any) -> float:
    """The least of several times, in milliseconds."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        way(*given)
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


#: numbers stored, rows and columns of the sparse matrix, columns of the dense one
CASES = [
    (1000, 100, 16), (100000, 10000, 1), (100000, 10000, 16), (100000, 10000, 64),
    (1000000, 10000, 16),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="one matrix of 3 numbers")
    random = np.random.default_rng(0)
    print(f"{'stored':>8} {'rows':>6} {'width':>5} " + " ".join(f"{each:>9}" for each in WAYS))
    for stored, size, width in [(3, 2, 4)] if parser.parse_args().small else CASES:
        rows, cols = random.integers(0, size, stored), random.integers(0, size, stored)
        values = random.normal(size=stored).astype("float32")
        dense = random.normal(size=(size, width)).astype("float32")
        times = [best(way, rows, cols, values, dense, size) for way in WAYS.values()]
        print(f"{stored:8} {size:6} {width:5} " + " ".join(f"{each:9.2f}" for each in times))


if __name__ == "__main__":
    main()
