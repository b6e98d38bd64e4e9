"""What the real system computes wrongly, as recordings prove, is computed right here."""

import json
from pathlib import Path

import numpy as np
import pytest

from fluidlite.opdef.definition import lookup

from gradcheck import evaluator

FAULTS = json.loads((Path(__file__).parents[1] / "data/known_faults.json").read_text())


def array(values, dtype):
    return np.array(values, dtype)  # "nan" is one of NumPy's words for numbers


@pytest.mark.parametrize("fault", FAULTS, ids=[f["operator"] for f in FAULTS])
def test_a_known_fault_of_the_real_system_is_not_repeated(fault):
    dtype = fault["dtype"]
    op = lookup(fault["operator"])(fault["attrs"])
    inputs = {slot: array(values, dtype) for slot, values in fault["inputs"].items()}
    found = evaluator().apply(op, inputs)[fault["output"]]
    right, recorded = (array(fault[key], dtype) for key in ("right", "recorded"))
    assert found.shape == right.shape == recorded.shape
    np.testing.assert_allclose(found, right)
    assert not np.allclose(recorded, right)
    assert fault["why"]


def test_the_right_values_of_known_faults_follow_from_their_inputs():
    by = {(f["operator"], str(f["attrs"])): f for f in FAULTS}
    for (operator, _), fault in by.items():
        x, right = np.array(fault["inputs"]["X"]), np.array(fault["right"])
        if operator == "reduce_sum":
            assert right.sum() == x.sum()
        elif operator == "reduce_mean":
            assert right.sum() == x.mean()
        elif operator == "clip_by_norm":
            assert not x.any() and not right.any()
        elif operator == "shuffle_channel":
            np.testing.assert_array_equal(right[0], x[0, [0, 2, 1, 3]])
        else:
            np.testing.assert_array_equal(right, np.array(fault["inputs"]["Out@GRAD"])[1:, :3])
