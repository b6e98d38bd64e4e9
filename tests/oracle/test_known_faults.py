"""What the real system computes wrongly, as recordings prove, is computed right here."""

import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidError
from fluidlite.opdef.definition import lookup

from gradcheck import evaluator

DATA = Path(__file__).parents[1] / "data"
FAULTS = json.loads((DATA / "known_faults.json").read_text())
PROGRAMS = json.loads((DATA / "known_faults_of_programs.json").read_text())


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


def ran(fault):
    """What the program of a fault leaves in ``found``."""
    main, startup = fluid.default_main_program(), fluid.default_startup_program()
    given = dict(fluid=fluid, layers=fluid.layers, np=np, main=main, startup=startup)
    given["exe"] = fluid.Executor()
    exec(fault["code"], given)
    return [np.array(each) for each in given["found"]]


@pytest.mark.parametrize("fault", PROGRAMS, ids=[f["name"] for f in PROGRAMS])
def test_a_known_fault_in_a_program_of_the_real_system_is_not_repeated(fault):
    assert fault["why"] and fault["recorded"] != fault["right"]
    if fault["right"] == "refused":
        with pytest.raises(FluidError):
            ran(fault)
        return
    for mine, right in zip(ran(fault), fault["right"], strict=True):
        np.testing.assert_allclose(mine, np.array(right), rtol=1e-5)


def test_the_right_values_of_swish_are_those_of_its_definition():
    """x sigmoid(beta x), and by differences its slope; the recorded ones are those of beta 1."""
    (fault,) = [f for f in PROGRAMS if f["name"] == "swish"]
    x, step = np.array([-1.0, 0.5, 2.0]), 1e-6
    for beta, key in ((2.0, "right"), (1.0, "recorded")):
        value = lambda at, beta=beta: at / (1 + np.exp(-beta * at))
        slope = (value(x + step) - value(x - step)) / (2 * step)
        np.testing.assert_allclose(fault[key], [value(x), slope], rtol=1e-5)


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
