"""A training that goes on for long takes no more than at its beginning; ``tests/tools/soak.py`` is
the long form.
"""

import sys

import pytest
from shares import whole_only
from soak import grown, soaked

from fluidlite.backend.native.compiler import COMPILER


@whole_only
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has is read from /proc")
def test_memory_files_threads_and_caches_stay_what_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")  # nothing is compiled behind the first step
    places = {name: str(tmp_path / name) for name in ("saves", "cache", "tmp")}
    for place in places.values():
        (tmp_path / place).mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", places["tmp"])
    monkeypatch.setenv("FLUIDLITE_CACHE", places["cache"])
    COMPILER.reset()
    first, last = soaked(800, 400, 100, places)
    assert grown(first, last) == []
    assert last["files in saves"] > 0


def test_what_grows_is_named():
    first = {"resident KiB": 1000, "open files": 5, "threads": 2}
    assert grown(first, {**first, "resident KiB": 1019}) == []
    assert grown(first, {**first, "resident KiB": 1020}) == ["resident memory: +2.0%"]
    assert grown(first, {**first, "threads": 3}) == ["threads: 2 -> 3"]
