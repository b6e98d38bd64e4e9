"""Linear algebra beside PyTorch and JAX: stacks of small matrices and one large one, on one thread.

    python benchmarks/linalg.py                                measures and prints
    python benchmarks/linalg.py --torch /venv/bin/python       where PyTorch is installed elsewhere
    python benchmarks/linalg.py --only solve --sizes 200x32    some of it
    python benchmarks/linalg.py --libraries fluidlite lapack   beside bare calls of SciPy's LAPACK,
                                                               which have no gradients

Milliseconds of the processor, in the best of several stretches of calls: of a function, and of it
with the gradient by its first operand.  JAX runs what it has compiled.  Each library runs in a
process of its own, where the C library keeps what was freed.
"""

from __future__ import annotations

import os

os.environ["FLUIDLITE_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
os.environ.setdefault("FLUIDLITE_KERNELS", "native")  # kernels are compiled before they are timed
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(1 << 28))  # freed memory is kept, of all alike
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(1 << 28))
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

SIZES = ("2000x4", "200x32", "1x500")
FUNCTIONS = ("inv", "solve", "det", "cholesky", "triangular", "qr", "lu", "eigh", "svd", "pinv")
LIBRARIES = ("fluidlite", "torch", "jax")
STRETCHES = 5  #: of calls, of which the best one counts


def operands(size: str, dtype: str) -> tuple[Any, Any]:
    """Symmetric positive definite matrices, and right sides."""
    count, rows = map(int, size.split("x"))
    rng = np.random.default_rng(0)
    shape = (count, rows, rows) if count > 1 else (rows, rows)
    x = rng.normal(size=shape)
    x = x @ np.swapaxes(x, -1, -2) / rows + np.diag(np.linspace(1, 2, rows))
    return x.astype(dtype), rng.normal(size=shape).astype(dtype)


def shortest(call: Callable[[], Any], seconds: float) -> float:
    """Milliseconds of the processor for a call, in the best of several stretches of many calls:
    time that other threads take is counted late, so that single calls cannot be told apart.
    """
    call()
    best = float("inf")
    for _ in range(STRETCHES):
        count, start, end = 0, time.process_time(), time.perf_counter() + seconds / STRETCHES
        while not count or time.perf_counter() < end:
            call()
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return best * 1e3


def of_fluidlite(x: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    """For each function a call of it, and one with the gradient."""
    import fluidlite.paddle as paddle

    linalg = paddle.linalg
    functions: dict[str, Any] = {
        "triangular": lambda a, b: linalg.triangular_solve(a, b, upper=False),
        "solve": linalg.solve,
    }
    right = paddle.to_tensor(y)

    def calls(name: str) -> tuple[Any, Any]:
        plain, leaf = paddle.to_tensor(x), paddle.to_tensor(x, stop_gradient=False)
        given = functions.get(name) or (lambda a, b: getattr(linalg, name)(a))

        def gradient() -> Any:
            found = given(leaf, right)
            parts = found if isinstance(found, (tuple, list)) else [found]
            floats = [p for p in parts if p.dtype == leaf.dtype]
            return paddle.grad([p.sum() for p in floats], leaf)

        return lambda: given(plain, right), gradient

    return {name: calls(name) for name in FUNCTIONS}


def of_torch(x: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    """The same of PyTorch."""
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    linalg = torch.linalg
    functions: dict[str, Any] = {
        "triangular": lambda a, b: linalg.solve_triangular(a, b, upper=False),
        "solve": linalg.solve,
        "svd": lambda a, b: linalg.svd(a, full_matrices=False),
        "lu": lambda a, b: linalg.lu_factor(a)[:1],
    }
    right = torch.tensor(y)

    def calls(name: str) -> tuple[Any, Any]:
        plain, leaf = torch.tensor(x), torch.tensor(x, requires_grad=True)
        given = functions.get(name) or (lambda a, b: getattr(linalg, name)(a))

        def gradient() -> Any:
            found = given(leaf, right)
            parts = found if isinstance(found, tuple) else [found]
            return torch.autograd.grad(sum(p.sum() for p in parts), leaf)

        return lambda: given(plain, right), gradient

    return {name: calls(name) for name in FUNCTIONS}


def of_jax(x: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    """The same of JAX."""
    import jax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)
    linalg = jnp.linalg
    functions: dict[str, Any] = {
        "triangular": lambda a, b: jax.lax.linalg.triangular_solve(
            a, b, left_side=True, lower=True
        ),
        "solve": linalg.solve,
        "svd": lambda a, b: linalg.svd(a, full_matrices=False),
        "lu": lambda a, b: jax.lax.linalg.lu(a)[:1],
    }
    left, right = jnp.asarray(x), jnp.asarray(y)

    def calls(name: str) -> tuple[Any, Any]:
        given = functions.get(name) or (lambda a, b: getattr(linalg, name)(a))

        def total(a: Any, b: Any) -> Any:
            return sum(p.sum() for p in jax.tree_util.tree_leaves(given(a, b)))

        forward, slope = jax.jit(given), jax.jit(jax.grad(total))
        ready = jax.block_until_ready
        return lambda: ready(forward(left, right)), lambda: ready(slope(left, right))

    return {name: calls(name) for name in FUNCTIONS}


def of_lapack(x: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    """Bare calls of SciPy's LAPACK, in the place of both."""
    routines, kind = import_module("scipy.linalg.lapack"), {4: "s", 8: "d"}[x.dtype.itemsize]
    trsm = getattr(import_module("scipy.linalg.blas"), f"{kind}trsm")
    work = 64 * x.shape[-1]

    def of(name: str) -> Any:
        return getattr(routines, kind + name)

    def inverse(a: Any, b: Any) -> Any:
        return of("getri")(*of("getrf")(a)[:2], lwork=work)

    def solution(a: Any, b: Any) -> Any:
        factors = of("getrf")(a)[0]
        right = trsm(1.0, factors.T, b.T, side=1, lower=1, diag=1)
        return trsm(1.0, factors.T, right, side=1, lower=0, overwrite_b=1)

    def reflected(a: Any, b: Any) -> Any:
        return of("orgqr")(*of("geqrf")(a, lwork=work)[:2], lwork=work)

    functions: dict[str, Any] = {
        "inv": inverse,
        "solve": solution,
        "cholesky": lambda a, b: of("potrf")(a),
        "triangular": lambda a, b: trsm(1.0, a.T, b.T, side=1),
        "qr": reflected,
        "eigh": lambda a, b: of("syevd")(a),
        **dict.fromkeys(("det", "lu"), lambda a, b: of("getrf")(a)),
        **dict.fromkeys(("svd", "pinv"), lambda a, b: of("gesdd")(a)),
    }
    pairs = [*zip(x.reshape(-1, *x.shape[-2:]), y.reshape(-1, *y.shape[-2:]), strict=True)]

    def call(name: str) -> Any:
        return lambda: [functions[name](a, b) for a, b in pairs]

    return {name: (call(name), call(name)) for name in FUNCTIONS}


CALLS = {"fluidlite": of_fluidlite, "torch": of_torch, "jax": of_jax, "lapack": of_lapack}


def measure(library: str, size: str, options: Any) -> dict[str, list[float]]:
    """Milliseconds by function: of a call, and of one with the gradient."""
    calls = CALLS[library](*operands(size, options.dtype))
    return {
        name: [shortest(call, options.seconds) for call in calls[name]] for name in options.only
    }


def in_process(library: str, python: str, size: str, options: Any) -> dict[str, list[float]]:
    """The same, by another interpreter; empty where the library is not installed there."""
    arguments = ["--library", library, "--sizes", size, "--dtype", options.dtype]
    arguments += ["--seconds", str(options.seconds), "--only", *options.only]
    done = subprocess.run(
        [python, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--seconds", type=float, default=0.3, help="of each measurement")
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="how many matrices x rows")
    parser.add_argument("--only", nargs="+", default=FUNCTIONS, choices=FUNCTIONS)
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES, choices=[*CALLS])
    parser.add_argument("--torch", default=sys.executable, help="a Python that has PyTorch")
    parser.add_argument("--library", choices=[*CALLS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.library:
        print(json.dumps(measure(options.library, options.sizes[0], options)))
        return
    pythons = {"torch": options.torch}
    for size in options.sizes:
        found = {
            library: in_process(library, pythons.get(library, sys.executable), size, options)
            for library in options.libraries
        }
        there = [library for library in options.libraries if found[library]]
        print(f"{size} {options.dtype}", *(f"{name:>20}" for name in there), "times the best")
        for name in options.only:
            times = [found[library][name] for library in there]
            ratios = [times[0][k] / min(t[k] for t in times) for k in (0, 1)]
            shown = [f"{t[0]:9.3f} {t[1]:10.3f}" for t in times]
            print(f"{name:>12}", *shown, *(f"{ratio:5.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
