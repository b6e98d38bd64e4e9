"""What is freed stays for the next array, and not for the next network."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground import allocator

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


COUNT_FAULTS = """
import resource
import numpy as np
import fluidlite as fluid

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        pieces = [np.ones(50000, "float32") for _ in range(10)]
        del pieces
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

fluid.to_tensor([1.0]) * 2.0
faults()
print(faults())
"""


@pytest.mark.parametrize("asked, few", [("", True), ("0", False)])
def test_arrays_of_eager_steps_get_the_pages_of_those_before(asked, few):
    environment = {k: v for k, v in os.environ.items() if k not in allocator.VARIABLES}
    environment["FLUIDLITE_KEEP_MEMORY"] = asked
    job = [sys.executable, "-c", COUNT_FAULTS]
    counted = int(subprocess.run(job, env=environment, capture_output=True, check=True).stdout)
    assert (counted < 500) == few, counted


def test_other_c_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(allocator, "_c_library", lambda: None)
    assert not allocator.give_back_freed_memory()
    assert not allocator.keep_freed_pieces.__wrapped__()
    monkeypatch.setattr(allocator, "_c_library", lambda: object())
    assert not allocator.give_back_freed_memory()


def test_zeros_take_no_memory_before_they_are_written():
    fluid.layers.create_global_var([4096, KIB], 0.0, "float32", persistable=True, name="moment")
    before = resident()
    fluid.Executor().run(fluid.default_startup_program())
    assert resident() < before + (8 << 20)  # of 16 MB
    assert not np.asarray(fluid.global_scope().find_var("moment").get_tensor())[:1].any()
