"""Operators that came after fluid 1.8 have the slots and attributes of Paddle 2.6."""

import gzip
import json
from pathlib import Path

import numpy as np
from oracle.golden import load

import fluidlite  # noqa: F401  (defines the operators)
from fluidlite.opdef.definition import registered

DATA = Path(__file__).parents[1] / "data" / "paddle_2" / "op_protos.json.gz"
PROTOS = json.loads(gzip.decompress(DATA.read_bytes()))
FLUID = load("op_schema.json.gz")
#: the types of attributes here, in the order of Paddle's numbers
KINDS = """
    INT FLOAT STRING INTS FLOATS STRINGS BOOLEAN BOOLEANS BLOCK LONG BLOCKS LONGS FLOATS - - FLOAT
"""
WIRES = dict(enumerate(KINDS.split()))
#: what differs: type and part -> why
DIFFERS = {
    "adamw slots": "parameters of half precision have no master here",
    "merged_adam slots": "the same",
    "merged_momentum slots": "the same",
    "assert slots": "fluid 1.8 says that Data may be absent",
    "unpool3d attribute unpooling_type": "shared with unpool, and has one value",
    "linear_interp attribute use_mkldnn": "not read",
    "read_file attribute filename": "required",
    "gumbel_softmax slots": "Soft is what a hard choice is differentiated by",
    "nextafter slots": "written before it was held against Paddle",
}


def as_recorded(default):
    if isinstance(default, tuple):
        return [as_recorded(each) for each in default]
    return float(np.float32(default)) if isinstance(default, float) else default


def same_default(mine, recorded):
    return recorded is None or as_recorded(mine) == as_recorded(recorded)


def differences(definition, proto):
    inputs = [[s.name, s.many, s.optional] for s in definition.inputs]
    outputs = [[s.name, s.many] for s in definition.outputs]  # more of them may be absent
    if inputs != proto["inputs"] or outputs != [each[:2] for each in proto["outputs"]]:
        yield "slots"
    mine = {a.name: a for a in definition.attributes.values()}
    for name, (wire, default) in proto["attrs"].items():
        one = mine.pop(name, None)
        if (
            one is None
            or one.wire != WIRES.get(wire, one.wire)
            or not same_default(one.default, default)
        ):
            yield f"attribute {name}"
    for name, one in mine.items():
        if not (one.local or one.inert):
            yield f"attribute {name}"


def test_slots_and_attributes_are_those_of_paddle_2():
    differ = {
        f"{op.type} {part}"
        for op in registered()
        if op.type not in FLUID and PROTOS.get(op.type)
        for part in differences(op, PROTOS[op.type])
    }
    assert differ == set(DIFFERS)
