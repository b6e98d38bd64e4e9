"""Operators compute what those of paddlepaddle 2.6.2 do for their samples, gradients too."""

import json
from pathlib import Path

import numpy as np
from recorded_models import array_of

from fluidlite.opdef.definition import lookup

from cases import Case, listed
from gradcheck import evaluator, pull_back
from samples.form import samples_of

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "paddle_2" / "operators.json").read_text()
)
#: what differs, and why: type and sample, and what of it
DIFFERS = {
    "index_put  value@GRAD": "of what is written to one place twice, the first value counts there"
}


def cotangent(value):
    return np.cos(np.arange(value.size)).reshape(value.shape).astype(value.dtype)


def differences(type, sample, recorded):
    """What is not as it was recorded: names of slots."""
    if sample.values_matter is False or "error" in recorded:
        return
    case = Case(lookup(type)(sample.attrs), sample)
    if any(array[0] == "float32" for arrays in recorded["outputs"].values() for array in arrays):
        case = case.in_single_precision()
    for slot, arrays in recorded["outputs"].items():
        mine = [v for v in listed(case.outputs.get(slot)) if v is not None]
        for found, one in zip(mine, map(array_of, arrays), strict=True):
            if not alike(found, one):
                yield slot
    gradients = recorded["gradients"]
    if gradients and "error" not in gradients and case.differentiated:
        sides = [cotangent(listed(case.outputs[slot])[k]) for slot, k in case.targets]
        pulled = pull_back(evaluator(), case.function, case.values, sides)
        for (slot, k), found in zip(case.variable, pulled, strict=True):
            if f"{slot}{k}" in gradients and not alike(found, array_of(gradients[f"{slot}{k}"])):
                yield f"{slot}@GRAD"


def alike(found, right):
    if found is None:
        return not right.any()
    found = np.asarray(found)
    same = (found.shape, found.dtype) == (right.shape, right.dtype)
    tolerance = 2e-5 if right.dtype == np.float32 else 1e-6
    return same and np.allclose(found, right, tolerance, tolerance, equal_nan=True)


def test_results_and_gradients_are_those_of_paddle():
    differ = {
        f"{type} {name} {slot}"
        for type, samples in RECORDED.items()
        for name, recorded in samples.items()
        for sample in samples_of(type)
        if sample.name == name
        for slot in differences(type, sample, recorded)
    }
    assert differ == set(DIFFERS)


def test_every_record_is_of_a_sample():
    for type, samples in RECORDED.items():
        assert list(samples) == [each.name for each in samples_of(type)], type
