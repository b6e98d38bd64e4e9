"""Kernels that tests compile once, and those of matrices, compiled quickly."""

import pytest

from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native.matrices import MatrixKernels

#: files whose tests look at caches, and at what comes into them
BEGIN_EMPTY = {"test_hostile_compilers", "test_kernels", "test_litter"}


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder of kernels for all tests of a process."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def compiler(compiler, request, libraries, monkeypatch):
    """What generates kernels; its cache has those of earlier tests, where that is not looked at."""
    if request.path.stem not in BEGIN_EMPTY:
        monkeypatch.setenv("FLUIDLITE_CACHE", str(libraries))
    return compiler


@pytest.fixture
def kernels(compiler, monkeypatch):
    """Which functions kernels computed, and whether they had results."""
    monkeypatch.setattr(compilers, "FLAGS", (*(f for f in compilers.FLAGS if f != "-O3"), "-O0"))
    runs, run = [], MatrixKernels.run

    def noted(self, name, arrays):
        is_done = run(self, name, arrays)
        runs.append((name, is_done))
        return is_done

    monkeypatch.setattr(MatrixKernels, "run", noted)
    return runs
