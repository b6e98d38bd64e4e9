"""``paddle.quantization`` and ``paddle.nn.quant``: against what paddle 2.6.2 computes."""

import json
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, ShapeError, UsageError
from fluidlite.paddle.nn.quant.format import LinearDequanter, LinearQuanter
from fluidlite.paddle.quantization import PTQ, QAT, QuantConfig
from fluidlite.paddle.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver
from fluidlite.paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

DATA = Path(__file__).parents[1] / "data" / "paddle_2"
RECORDED = json.loads((DATA / "quantization.json").read_text())


@pytest.fixture(scope="module")
def recorder():
    """The script that wrote the records, with paddle's face in paddle's place."""
    text = (DATA / "record_quantization.py").read_text()
    text = text.replace("import paddle\n", "from fluidlite import paddle\n")
    text = text.replace("from paddle", "from fluidlite.paddle")
    text = text.replace("from fluidlite.paddle import nn", "from fluidlite.paddle import nn")
    space = {"__name__": "recorder"}
    exec(compile(text, "record_quantization.py", "exec"), space)
    return space


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("bits", [8, 4])
def test_training_with_roundings_goes_as_in_paddle(recorder, bits):
    found, expected = recorder["of_training"](bits), RECORDED["training"][str(bits)]
    assert found["state"] == expected["state"]
    for name in ("losses", "trained", "converted"):
        close(found[name], expected[name])
    close(np.concatenate(found["scales"]), np.concatenate(expected["scales"]))
    for one, other in zip(found["weights"], expected["weights"]):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bits", [8, 4])
def test_rounding_after_training_goes_as_in_paddle(recorder, bits):
    found, expected = recorder["of_calibration"](bits), RECORDED["calibration"][str(bits)]
    for name, values in expected.items():
        close(found[name], values)
