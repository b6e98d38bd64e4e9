"""What the BLAS of this process is, asked itself and by way of threadpoolctl."""

import numpy as np
import pytest

from fluidlite.kernels import blas

pytest.importorskip("threadpoolctl")


def known():
    return {str(each.get("architecture")).lower() for each in blas.blas_info()}


def test_a_blas_that_is_asked_itself_says_what_threadpoolctl_finds():
    assert np.ones((2, 2)) @ np.ones(2) is not None  # it is loaded
    assert blas.blas_cores() >= known() - {"none"}


def test_where_the_system_tells_of_no_libraries_threadpoolctl_is_asked(monkeypatch):
    monkeypatch.setattr(blas, "_loaded", set)
    assert blas.blas_cores() == known()


@pytest.mark.parametrize("name", ["libopenblas.so", "libblas.so.3", "libm.so"])
def test_where_no_openblas_is_loaded_threadpoolctl_is_asked(monkeypatch, tmp_path, name):
    (tmp_path / name).write_text("nothing")
    monkeypatch.setattr(blas, "_loaded", lambda: {str(tmp_path / name)})
    assert blas._cores_of(str(tmp_path / name)) == []
    assert blas.blas_cores() == known()


def test_an_openblas_may_have_the_name_of_the_interface(monkeypatch, tmp_path):
    name = str(tmp_path / "libblas.so.3")
    monkeypatch.setattr(blas, "_loaded", lambda: {name})
    monkeypatch.setattr(blas, "_cores_of", lambda path: ["Haswell"] if path == name else [])
    assert blas.blas_cores() == {"haswell"}
