"""Rows and elements at numbers, sums of segments, orders and running sums beside PyTorch and JAX,
on one thread.

    python benchmarks/irregular.py                               measures and prints
    python benchmarks/irregular.py --torch /venv/bin/python      where PyTorch and JAX are installed
    python benchmarks/irregular.py --only gather --sizes small   some of it
    python benchmarks/irregular.py --write                       and writes docs/performance.md
    FLUIDLITE_KERNELS=numpy python benchmarks/irregular.py       without kernels in C

Microseconds of the processor, in the best of several stretches of calls: of a function, and of it
with the gradient by its first operand for a given cotangent.  ``tensors`` are fluidlite's, computed
at once; ``plan`` is a program of the same function, which ``Executor.prepare`` has made a function
of its feeds, as JAX's are compiled ones; it gives the gradient of a table with all rows, and is
compared with peers that do.  Each library runs in a process of its own, several times in turn.
"""

from __future__ import annotations

import os

os.environ["FLUIDLITE_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
os.environ.setdefault("FLUIDLITE_KERNELS", "native")  # kernels are compiled before they are timed
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from linalg import shortest

#: how many numbers, rows of the matrix, and its columns
SIZES = {"small": (200, 100, 8), "middle": (5000, 1000, 32), "large": (50000, 10000, 64)}
TINY = (7, 5, 3)
LIBRARIES = ("tensors", "plan", "torch", "jax")
LARGEST = 8  #: how many largest elements are looked for
Functions = dict[str, Callable[[Any], Any]]
FUNCTIONS = (
    *("gather", "gather_nd", "scatter", "scatter_nd_add", "index_add", "segment_sum"),
    *("segment_mean", "segment_max", "embedding", "sparse_embedding", "take_along_axis"),
    *("put_along_axis", "argsort", "sort", "topk", "cumsum", "one_hot", "graph_conv"),
)
CONSTANT = ("argsort", "one_hot")  #: those without a gradient
#: those of which a plan gives a gradient of all rows, and torch one of some -> the same of torch's
#: with all rows
DENSE = {"sparse_embedding": "embedding"}


def operands(size: str) -> dict[str, Any]:
    """Arrays by name."""
    count, rows, width = SIZES.get(size, TINY)
    rng = np.random.default_rng(0)
    arrays = {
        "x": rng.normal(size=(rows, width)).astype("float32"),
        "updates": rng.normal(size=(count, width)).astype("float32"),
        "weights": rng.random((count, 1)).astype("float32"),
        "index": rng.integers(0, rows, count),
        "other": rng.integers(0, rows, count),
        "ascending": np.sort(np.r_[rows - 1, rng.integers(0, rows, count - 1)]),
        "places": np.stack([rng.integers(0, n, count) for n in (rows, width)], 1),
        "columns": rng.integers(0, width, (rows, width)),
    }
    return arrays | {f"{name}_column": arrays[name].reshape(-1, 1) for name in ("index", "other")}


def of_paddle(paddle: Any, a: dict[str, Any], sparse: bool) -> Functions:
    """The functions, of tensors or of variables; ``sparse`` where they are tensors."""
    geometric, functional = paddle.geometric, paddle.nn.functional
    rows, ids = a["x"].shape[0], a["ascending"]
    return {
        "gather": lambda x: paddle.gather(x, a["index"]),
        "gather_nd": lambda x: paddle.gather_nd(x, a["places"]),
        "scatter": lambda x: paddle.scatter(x, a["index"], a["updates"]),
        "scatter_nd_add": lambda x: paddle.scatter_nd_add(x, a["index_column"], a["updates"]),
        "index_add": lambda x: paddle.index_add(x, a["index"], 0, a["updates"]),
        "segment_sum": lambda u: geometric.segment_sum(u, ids),
        "segment_mean": lambda u: geometric.segment_mean(u, ids),
        "segment_max": lambda u: geometric.segment_max(u, ids),
        "embedding": lambda x: functional.embedding(a["index"], x),
        "sparse_embedding": lambda x: functional.embedding(a["index"], x, sparse=sparse),
        "take_along_axis": lambda x: paddle.take_along_axis(x, a["columns"], 1),
        "put_along_axis": lambda x: paddle.put_along_axis(x, a["columns"], a["x"], 1, reduce="add"),
        "argsort": lambda x: paddle.argsort(x, axis=1),
        "sort": lambda x: paddle.sort(x, axis=1),
        "topk": lambda x: paddle.topk(x, min(LARGEST, a["x"].shape[1]), axis=1)[0],
        "cumsum": lambda x: paddle.cumsum(x, axis=1),
        "one_hot": lambda x: functional.one_hot(a["index"], min(rows, 1000)),
        "graph_conv": lambda x: paddle.scatter_nd_add(
            paddle.zeros_like(x), a["other_column"], paddle.gather(x, a["index"]) * a["weights"]
        ),
    }


def leaf_of(name: str) -> str:
    """The operand that a function is differentiated by."""
    return "updates" if name.startswith("segment") else "x"


def of_tensors(arrays: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """For each function a call of it, and one with the gradient."""
    import fluidlite.paddle as paddle

    tensors = {key: paddle.to_tensor(value) for key, value in arrays.items()}
    functions = of_paddle(paddle, tensors, True)

    def calls(name: str) -> tuple[Any, Any]:
        plain, function = tensors[leaf_of(name)], functions[name]
        leaf = paddle.to_tensor(arrays[leaf_of(name)], stop_gradient=False)
        if name in CONSTANT:
            return lambda: function(plain), None
        slope = paddle.to_tensor(np.ones(function(plain).shape, "float32"))

        def gradient() -> Any:
            return paddle.grad(function(leaf), leaf, slope)

        return lambda: function(plain), gradient

    return {name: calls(name) for name in names}


def of_plan(arrays: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The same as programs."""
    import fluidlite.paddle as paddle

    paddle.enable_static()
    executor, rows = paddle.static.Executor(), arrays["x"].shape[0]

    def program(name: str, with_gradient: bool) -> Any:
        whole = paddle.static.Program()
        with paddle.static.program_guard(whole):
            variables = {
                key: paddle.static.data(key, value.shape, str(value.dtype))
                for key, value in arrays.items()
            }
            like = arrays[leaf_of(name)]  # other operands may be equal to it, and are constants
            leaf = paddle.static.data("leaf", like.shape, str(like.dtype))
            leaf.stop_gradient = not with_gradient
            result = of_paddle(paddle, variables, False)[name](leaf)
            fetched = [result]
            if with_gradient:
                shape = [rows if n < 0 else n for n in result.shape]
                slope = paddle.static.data("slope", result.shape, "float32")
                fetched += paddle.static.gradients([result], [leaf], [slope])
            read = {n for op in whole.global_block().ops for n in op.input_arg_names}
        feed = {key: value for key, value in arrays.items() if key in read}
        if "leaf" in read:
            feed["leaf"] = like
        if with_gradient:
            feed["slope"] = np.ones(shape, "float32")
        step = executor.prepare(whole, [*feed], fetched)
        return lambda: step(feed)

    return {
        name: (program(name, False), None if name in CONSTANT else program(name, True))
        for name in names
    }


def of_torch(arrays: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The same of PyTorch."""
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    functional, a = torch.nn.functional, {k: torch.tensor(v) for k, v in arrays.items()}
    rows, width = arrays["x"].shape
    spread = a["ascending"][:, None].expand(-1, width)

    def reduced(u: Any, how: str) -> Any:
        zeros = torch.zeros(rows, width)
        return zeros.scatter_reduce(0, spread, u, how, include_self=False)

    functions: Functions = {
        "gather": lambda x: x.index_select(0, a["index"]),
        "gather_nd": lambda x: x[a["places"][:, 0], a["places"][:, 1]],
        "scatter": lambda x: x.index_copy(0, a["index"], a["updates"]),
        "scatter_nd_add": lambda x: x.index_put((a["index"],), a["updates"], accumulate=True),
        "index_add": lambda x: x.index_add(0, a["index"], a["updates"]),
        "segment_sum": lambda u: torch.zeros(rows, width).index_add(0, a["ascending"], u),
        "segment_mean": lambda u: reduced(u, "mean"),
        "segment_max": lambda u: reduced(u, "amax"),
        "embedding": lambda x: functional.embedding(a["index"], x),
        "sparse_embedding": lambda x: functional.embedding(a["index"], x, sparse=True),
        "take_along_axis": lambda x: x.gather(1, a["columns"]),
        "put_along_axis": lambda x: x.scatter_add(1, a["columns"], a["x"]),
        "argsort": lambda x: x.argsort(dim=1, stable=True),
        "sort": lambda x: x.sort(dim=1, stable=True)[0],
        "topk": lambda x: x.topk(min(LARGEST, width), 1)[0],
        "cumsum": lambda x: x.cumsum(1),
        "one_hot": lambda x: functional.one_hot(a["index"] % 1000, min(rows, 1000)).float(),
        "graph_conv": lambda x: torch.zeros_like(x).index_add(
            0, a["other"], x.index_select(0, a["index"]) * a["weights"]
        ),
    }

    def calls(name: str) -> tuple[Any, Any]:
        plain, function = a[leaf_of(name)], functions[name]
        leaf = plain.clone().requires_grad_()
        slope = torch.ones_like(function(plain))

        def gradient() -> Any:
            return torch.autograd.grad(function(leaf), leaf, slope)

        return lambda: function(plain), None if name in CONSTANT else gradient

    return {name: calls(name) for name in names}


def of_jax(arrays: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The same of JAX."""
    import jax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)
    a = {key: jnp.asarray(value) for key, value in arrays.items()}
    rows, width = arrays["x"].shape
    lines = jnp.arange(rows)[:, None]
    segments = {"num_segments": rows, "indices_are_sorted": True}

    def mean(u: Any, k: dict[str, Any]) -> Any:
        counts = jax.ops.segment_sum(jnp.ones(len(u), "float32"), k["ascending"], **segments)
        return jax.ops.segment_sum(u, k["ascending"], **segments) / counts.clip(1)[:, None]

    functions: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
        "gather": lambda x, k: x[k["index"]],
        "gather_nd": lambda x, k: x[k["places"][:, 0], k["places"][:, 1]],
        "scatter": lambda x, k: x.at[k["index"]].set(k["updates"]),
        "scatter_nd_add": lambda x, k: x.at[k["index"]].add(k["updates"]),
        "index_add": lambda x, k: x.at[k["index"]].add(k["updates"]),
        "segment_sum": lambda u, k: jax.ops.segment_sum(u, k["ascending"], **segments),
        "segment_mean": lambda u, k: mean(u, k),
        "segment_max": lambda u, k: jax.ops.segment_max(u, k["ascending"], **segments),
        "embedding": lambda x, k: x[k["index"]],
        "sparse_embedding": lambda x, k: x[k["index"]],
        "take_along_axis": lambda x, k: jnp.take_along_axis(x, k["columns"], 1),
        "put_along_axis": lambda x, k: x.at[lines, k["columns"]].add(k["x"]),
        "argsort": lambda x, k: jnp.argsort(x, 1),
        "sort": lambda x, k: jnp.sort(x, 1),
        "topk": lambda x, k: jax.lax.top_k(x, min(LARGEST, width))[0],
        "cumsum": lambda x, k: jnp.cumsum(x, 1),
        "one_hot": lambda x, k: jax.nn.one_hot(k["index"] % 1000, min(rows, 1000)),
        "graph_conv": lambda x, k: (
            jnp.zeros_like(x).at[k["other"]].add(x[k["index"]] * k["weights"])
        ),
    }

    def calls(name: str) -> tuple[Any, Any]:
        function, leaf, ready = functions[name], a[leaf_of(name)], jax.block_until_ready
        forward = jax.jit(function)
        if name in CONSTANT:
            return lambda: ready(forward(leaf, a)), None
        slope = jnp.ones_like(forward(leaf, a))

        def with_gradient(x: Any, k: dict[str, Any], g: Any) -> Any:
            value, pull = jax.vjp(lambda v: function(v, k), x)
            return value, pull(g)

        back = jax.jit(with_gradient)
        return lambda: ready(forward(leaf, a)), lambda: ready(back(leaf, a, slope))

    return {name: calls(name) for name in names}


CALLS = {"tensors": of_tensors, "plan": of_plan, "torch": of_torch, "jax": of_jax}


def measure(library: str, size: str, options: Any) -> dict[str, list[float]]:
    """Microseconds by function: of a call, and of one with the gradient."""
    arrays = operands(size)
    if "one_hot" in options.only:  # of at most 1000 classes, in a call of its own
        few = {**arrays, "index": arrays["index"] % 1000}
    times = {}
    for name in options.only:
        chosen = few if name == "one_hot" else arrays
        parts = CALLS[library](chosen, [name])[name]
        times[name] = [shortest(call, options.seconds) * 1e3 for call in parts if call]
    return times


def in_process(library: str, python: str, size: str, options: Any) -> dict[str, list[float]]:
    """The same, by another interpreter; empty where the library is not installed there."""
    arguments = ["--library", library, "--sizes", size, "--seconds", str(options.seconds)]
    done = subprocess.run(
        [python, __file__, *arguments, "--only", *options.only],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def in_turn(size: str, options: Any) -> dict[str, dict[str, list[float]]]:
    """The least of several rounds, by library and function."""
    pythons = dict.fromkeys(("torch", "jax"), options.torch)
    least: dict[str, dict[str, list[float]]] = {}
    for _ in range(options.rounds):
        for library in options.libraries:
            times = in_process(library, pythons.get(library, sys.executable), size, options)
            before = least.setdefault(library, times)
            for name, values in times.items():
                before[name] = [min(pair) for pair in zip(before[name], values, strict=True)]
    return {library: times for library, times in least.items() if times}


def alike(own: str, times: dict[str, list[float]], name: str) -> list[float]:
    """A peer's times of a function, with a gradient of as many rows as ours has."""
    forward, *gradient = times[name]
    dense = times.get(DENSE.get(name, ""))
    return [forward, *(dense[1:] if own == "plan" and dense else gradient)]


def table(size: str, least: dict[str, dict[str, list[float]]], options: Any) -> list[str]:
    """Lines of Markdown."""
    count, rows, width = SIZES.get(size, TINY)
    ours = [name for name in ("tensors", "plan") if name in least]
    peers = [name for name in least if name not in ours]
    heads = [f"{size}: {count:,} numbers, {rows:,} x {width}", *least]
    heads += [f"{name} by the best" for name in ours if peers]
    lines = [f"| {' | '.join(heads)} |", "| --- " + "| ---: " * (len(heads) - 1) + "|"]
    for name in options.only:
        cells = [" / ".join(f"{t:,.0f}" for t in times[name]) for times in least.values()]
        for own in ours if peers else ():
            best = [min(column) for column in zip(*(alike(own, least[p], name) for p in peers))]
            cells.append(" / ".join(f"{m / n:.2f}" for m, n in zip(least[own][name], best)))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.15, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=2, help="of the libraries, in turn")
    parser.add_argument("--sizes", nargs="+", default=[*SIZES], choices=[*SIZES, "tiny"])
    parser.add_argument("--only", nargs="+", default=[*FUNCTIONS], choices=FUNCTIONS)
    parser.add_argument("--libraries", nargs="+", default=[*LIBRARIES], choices=LIBRARIES)
    parser.add_argument("--torch", default=sys.executable, help="a Python with PyTorch and JAX")
    parser.add_argument("--library", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--write", metavar="PAGE", nargs="?", const="", help="write a page")
    options = parser.parse_args()
    if options.library:
        print(json.dumps(measure(options.library, options.sizes[0], options)))
        return
    import machine
    from page import PAGE, replace_part

    kernels = os.environ["FLUIDLITE_KERNELS"]
    lines = [f"Microseconds, forward / forward and gradient; FLUIDLITE_KERNELS={kernels}."]
    lines += [f"{machine.description()}.", ""]
    for size in options.sizes:
        found = table(size, in_turn(size, options), options)
        print("\n".join(found), flush=True)
        lines += found
    if options.write is not None:
        replace_part(Path(options.write or PAGE), "irregular", "\n".join(lines))


if __name__ == "__main__":
    main()
