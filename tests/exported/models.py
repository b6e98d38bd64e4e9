"""Models of ONNX that tests write and run."""

import numpy as np
import pytest

from fluidlite.ground.values import bare

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
runtime.set_default_logger_severity(4)


def checked(path):
    """A session of a file, after onnx's own checker."""
    onnx.checker.check_model(path, full_check=True)
    return runtime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(path, feeds, wanted=None):
    """What a runtime of ONNX computes, by the names of the outputs."""
    session = checked(path)
    names = wanted or [each.name for each in session.get_outputs()]
    ends = (*session.get_inputs(), *session.get_overridable_initializers())
    given = {each.name for each in ends}
    fed = {name: np.asarray(bare(value)) for name, value in feeds.items() if name in given}
    return dict(zip(names, session.run(names, fed), strict=True))


def assert_same(found, right, tolerance=1e-5):
    """Arrays agree, floats relative to the largest element."""
    right = np.asarray(bare(right))
    assert (found.shape, found.dtype) == (right.shape, right.dtype)
    if right.dtype.kind == "f":
        scale = np.abs(right[np.isfinite(right)]).max(initial=1.0)
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance * scale)
    else:
        np.testing.assert_array_equal(found, right)
