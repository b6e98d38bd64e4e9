"""What one network took does not stay with the process when the next one begins."""

from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import allocator

KIB = 1 << 10
STATM = Path("/proc/self/statm")

pytestmark = pytest.mark.skipif(
    not hasattr(allocator._c_library(), "mallinfo2"), reason="a C library that keeps no account"
)


def resident():
    """Bytes of the process that are in memory."""
    return int(STATM.read_text().split()[1]) * 4 * KIB


def leave_holes():
    """Free 32 MB in pieces, with others between them that stay."""
    arrays = [np.ones(60 * KIB, "uint8") for _ in range(1100)]  # smaller ones fit into old holes
    kept = arrays[::2]
    del arrays
    return kept


def run_once():
    x = fluid.data("x", [2], "float32")
    exe = fluid.Executor()
    exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[fluid.layers.scale(x, 2.0)])
    return exe


@pytest.mark.parametrize("begins", ["a plan", "a closed executor"])
def test_freed_memory_goes_back_where_a_network_begins_or_ends(monkeypatch, begins):
    monkeypatch.delenv("FLUIDLITE_KEEP_MEMORY", raising=False)
    monkeypatch.setattr(allocator, "KEPT", 1 << 24)
    exe = run_once()
    allocator.give_back_freed_memory()
    kept = leave_holes()
    before = resident()
    if begins == "a plan":
        run_once()
    else:
        exe.close()
    assert resident() < before - (20 << 20)
    assert len(kept) == 550


def test_a_little_of_it_stays_and_all_where_the_user_says_so(monkeypatch):
    monkeypatch.delenv("FLUIDLITE_KEEP_MEMORY", raising=False)
    monkeypatch.setattr(allocator, "KEPT", 1 << 40)
    assert not allocator.give_back_freed_memory()
    monkeypatch.setattr(allocator, "KEPT", 0)
    monkeypatch.setenv("FLUIDLITE_KEEP_MEMORY", "1")
    assert not allocator.give_back_freed_memory()


def test_other_c_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(allocator, "_c_library", lambda: None)
    assert not allocator.give_back_freed_memory()
    monkeypatch.setattr(allocator, "_c_library", lambda: object())
    assert not allocator.give_back_freed_memory()
