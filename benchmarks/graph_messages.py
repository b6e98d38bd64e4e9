"""Sums of rows by number, in several ways: what ``pool_rows`` and sparse products are made of.

    python benchmarks/graph_messages.py

For each size: NumPy's ``add.at``, ours (``argsort`` and ``reduceat``), ``bincount`` of each column,
and a product with a sparse matrix of SciPy, where that is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fluidlite.backend import numpy_

try:
    import scipy.sparse as scipy_sparse
except ImportError:
    scipy_sparse = None


def add_at(index: Any, rows: Any, size: int) -> Any:
    return numpy_.scatter_add(np.zeros((size, *rows.shape[1:]), rows.dtype), index, rows)


def by_columns(index: Any, rows: Any, size: int) -> Any:
    columns = [np.bincount(index, each, size) for each in rows.T]
    return np.stack(columns, axis=1).astype(rows.dtype)


def by_product(index: Any, rows: Any, size: int) -> Any:
    count = len(index)
    ones = np.ones(count, rows.dtype)
    return scipy_sparse.csr_matrix((ones, (index, np.arange(count))), (size, count)) @ rows


WAYS: dict[str, Callable[..., Any]] = {
    "add.at": add_at,
    "reduceat": numpy_.add_rows,
    "bincount": by_columns,
}
if scipy_sparse is not None:
    WAYS["SciPy"] = by_product


def best(way: Callable[..., Any], *given: Any) -> float:
    """The least of several times, in milliseconds."""
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        way(*given)
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def main() -> None:
    random = np.random.default_rng(0)
    print(f"{'edges':>8} {'nodes':>7} {'width':>5} " + " ".join(f"{each:>9}" for each in WAYS))
    for edges, nodes, width in [
        (1000, 100, 1), (1000, 100, 16), (100000, 10000, 1), (100000, 10000, 16),
        (100000, 10000, 64), (100000, 100, 16),
    ]:  # fmt: skip
        index = random.integers(0, nodes, edges)
        rows = random.normal(size=(edges, width)).astype("float32")
        times = [best(way, index, rows, nodes) for way in WAYS.values()]
        print(f"{edges:8} {nodes:7} {width:5} " + " ".join(f"{each:9.2f}" for each in times))


if __name__ == "__main__":
    main()
