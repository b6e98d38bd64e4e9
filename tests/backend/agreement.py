"""Nets on oneDNN compared with the same on NumPy."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backend.onednn import description
from fluidlite.runtime.segment import Segment

needs_library = pytest.mark.skipif(
    description() is None, reason="oneDNN is not installed: pip install onednn-cpu-gomp"
)


def sources(exe, program=None):
    """The source of the functions that an executor has made for a program."""
    runs = exe._known(program or fluid.default_main_program())
    segments = [i for p in runs.plans.values() for i in p.items if isinstance(i, Segment)]
    return "".join(getattr(f, "source", "") for s in segments for f in s.functions.values())


def ran(monkeypatch, kernels, make, times=4, **how):
    """What a net gives in some runs, and the source of its plans.

    Args:
        monkeypatch: pytest's.
        kernels: what FLUIDLITE_KERNELS says.
        make: builds it into the default programs; gives what is fetched, and what is fed.
        times: how often it is run.
        how: how ``make`` builds it.
    """
    monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 5
    scope = fluid.Scope()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        fetches, feed = make(**how)
    exe = fluid.Executor()
    if startup.global_block().ops:
        exe.run(startup, scope=scope)
    found = [exe.run(main, feed, fetches, scope=scope) for _ in range(times)]
    return found, sources(exe, main)


def assert_near(found, right, tolerance):
    """Arrays agree, relative to the largest element of each."""
    for mine, want in zip(found, right, strict=True):
        assert (mine.shape, mine.dtype) == (want.shape, want.dtype)
        if want.dtype.kind == "f":
            scale = np.abs(want).max(initial=1e-30)
            np.testing.assert_allclose(mine, want, rtol=0, atol=tolerance * scale)
        else:
            np.testing.assert_array_equal(mine, want)


def agree(monkeypatch, make, tolerance=1e-5, times=4, **how):
    """Compare a net on oneDNN with the same on NumPy; gives the source of the first."""
    right, numpy_source = ran(monkeypatch, "numpy", make, times, **how)
    found, source = ran(monkeypatch, "onednn", make, times, **how)
    assert "oneDNN" not in numpy_source
    for mine, want in zip(found, right, strict=True):
        assert_near(mine, want, tolerance)
    return source


def gradients(target, of):
    """Gradients, those that there are."""
    return [g for g in fluid.gradients([target], of) if g is not None]


def fed(name, shape, low=None):
    """A data variable and an array for it: floats, or whole numbers below ``low``."""
    rng = np.random.default_rng(sum(map(ord, name)))
    if low is not None:
        return fluid.data(name, shape, "int64"), {name: rng.integers(0, low, shape)}
    return fluid.data(name, shape, "float32"), {name: rng.normal(size=shape).astype("float32")}
