"""What show_config says, and what it warns of."""

import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line import config
from fluidlite.kernels import threads

HASWELL = config.BlasLibrary("openblas 0.3.31", "Haswell", 2)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A function that says which processor there is, and which libraries multiply matrices."""

    def pretend(flags, *blas):
        facts = tmp_path / "cpuinfo"
        facts.write_text(f"processor\t: 0\nmodel name\t: A Machine\nflags\t\t: {flags}\n")
        monkeypatch.setattr(config, "CPU_FACTS", facts)
        monkeypatch.setattr(config, "_blas", lambda: list(blas))

    return pretend


def test_it_says_what_is_installed_in_lines_to_be_read(capsys):
    found = fluid.show_config()
    assert capsys.readouterr().out == f"{found}\n"
    assert found.version == fluid.__version__
    assert found.numpy == np.__version__
    assert found.cores == threads.cores()
    assert found.threads == threads.count()
    text = str(found)
    assert repr(found).startswith(f"Config(fluidlite {fluid.__version__}, python")
    names = [line.partition(":")[0] for line in text.splitlines()]
    assert names[:5] == ["fluidlite", "python", "system", "processor", "numpy"]
    assert {"blas", "kernels", "onednn", "threads", "flags"} <= set(names)


def test_a_missing_threadpoolctl_is_warned_of(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    found = fluid.show_config()
    assert found.blas == () and "pip install threadpoolctl" in found.warnings[-1]


def test_flags_are_shown_as_they_are_set():
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    assert "FLAGS_check_nan_inf=True" in str(fluid.show_config())


@pytest.mark.parametrize("core", ["Haswell", "Zen", "HASWELL"])
def test_kernels_older_than_the_processor_are_warned_of(machine, core):
    machine("fpu avx2 avx512f", config.BlasLibrary("openblas 0.3.31", core, 2))
    (warning,) = fluid.show_config().warnings
    assert f"openblas 0.3.31 runs on {core} kernels although the processor has AVX-512" in warning
    assert "OPENBLAS_CORETYPE=SkylakeX in the environment before NumPy is imported" in warning
    assert f"warning: {warning}" in " ".join(str(fluid.show_config()).split())


@pytest.mark.parametrize(
    "flags, blas",
    [
        ("fpu avx2 avx512f", config.BlasLibrary("openblas 0.3.31", "SkylakeX", 2)),
        ("fpu avx2 avx512f", config.BlasLibrary("mkl 2024.1", "", 1)),
        ("fpu avx2", HASWELL),
    ],
)
def test_kernels_that_fit_the_processor_are_fine(machine, flags, blas):
    machine(flags, blas)
    found = fluid.show_config()
    assert not found.warnings
    assert str(blas) in str(found)
    assert found.processor.startswith("A Machine")


def test_a_machine_that_says_nothing_is_described_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CPU_FACTS", tmp_path / "missing")
    monkeypatch.setattr(config, "_blas", list)
    assert "blas:      one that does not say what it is" in str(fluid.show_config())


def test_a_library_that_is_asked_for_and_missing_is_warned_of(machine, monkeypatch):
    machine("fpu avx2", HASWELL)
    monkeypatch.setattr(config.onednn, "description", lambda: None)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    found = fluid.show_config()
    assert "FLUIDLITE_KERNELS=onednn, and the library is missing" in found.warnings[0]
    assert "onednn:    not installed" in str(found)
    assert not found.served
    assert "NumPy computes everything" in str(found)


def test_numpy_serves_everything_where_the_environment_says_so(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    assert "NumPy computes everything (FLUIDLITE_KERNELS=numpy)" in str(fluid.show_config())


def test_it_lists_what_the_library_computes(monkeypatch):
    monkeypatch.setattr(config.onednn, "description", lambda: {"version": "3.2.0"})
    monkeypatch.delenv("FLUIDLITE_KERNELS", raising=False)
    found = fluid.show_config()
    assert "conv2d" in found.served
    assert "oneDNN computes in float32, where that pays, " in str(found)
    assert "version=3.2.0" in str(found)
