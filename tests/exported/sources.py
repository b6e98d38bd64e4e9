"""Python files that tests write, load and run."""

import importlib.util
from pathlib import Path

import numpy as np

from fluidlite.ground.values import LoDTensor, bare


def loaded(path):
    """The module of a written file."""
    Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)  # of the file before it
    found = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def given(written, feed):
    """What a written function takes, in its order."""
    return [
        (bare(value), value.recursive_sequence_lengths())
        if isinstance(value := feed[name], LoDTensor) and value.lod()
        else np.asarray(bare(value))
        for name in written.inputs
    ]


def run(written, feed):
    """What a written file computes, by name."""
    module = loaded(written.path)
    found = getattr(module, written.function)(module.load(), *given(written, feed))
    return found[0] if isinstance(found, tuple) else found


def assert_same(found, right, tolerance=1e-6):
    """Arrays agree, floats relative to the largest element."""
    right = np.asarray(bare(right))
    assert (found.shape, found.dtype) == (right.shape, right.dtype)
    if right.dtype.kind == "f":
        scale = np.abs(right[np.isfinite(right)]).max(initial=1.0)
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance * scale)
    else:
        np.testing.assert_array_equal(found, right)
