"""Operators of detection against what paddlepaddle 1.8.5 computed of random inputs."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from fluidlite.ground.values import LoDTensor, bare, offsets_from
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.sequences import lod_of

from gradcheck import evaluator

FILE = Path(__file__).parents[1] / "data" / "detection.json.gz"
CASES = json.loads(gzip.decompress(FILE.read_bytes()))


def value(recorded):
    array = np.array(recorded["data"], recorded["dtype"]).reshape(recorded["shape"])
    lengths = recorded["lengths"]
    return LoDTensor(array, map(offsets_from, lengths)) if lengths else array


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case['op']}-{k}") for k, case in enumerate(CASES)]
)
def test_what_was_recorded_comes_out(case):
    op = lookup(case["op"])(case["attrs"])
    ins = {
        slot: [value(each) for each in given] if op.input_slots[slot].many else value(given[0])
        for slot, given in case["inputs"].items()
    }
    outs = evaluator().apply(op, ins)
    for slot, recorded in case["outputs"].items():
        found = outs[slot] if op.output_slots[slot].many else [outs[slot]]
        for got, want in zip(found, map(value, recorded), strict=True):
            assert lod_of(got) == lod_of(want), slot
            if bare(want).size:  # what is fetched of an empty tensor has no shape
                assert bare(got).dtype == bare(want).dtype, slot
                np.testing.assert_allclose(bare(got), bare(want), 1e-5, 1e-5, err_msg=slot)
            else:
                assert not bare(got).size, slot
