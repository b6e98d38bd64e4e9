"""Every operator, given what it cannot use."""

import contextlib

import numpy as np
import pytest
from shares import shared

import fluidlite as fluid
from fluidlite.errors import FluidError
from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.definition import registered

VALUES = {"floats": np.ones(2, "float32"), "no rows": np.zeros((0, 2), "float32")}
FILLED = {"str": "x", "list[str]": ["x"], "DType": "float32"}
#: a loop goes on as long as its condition says
OTHERS = {"while"}
OPERATORS = [d for d in registered() if d.effect is None and d.type not in OTHERS]


def only(definition, array):
    """A program of one operator that reads the same variable everywhere."""
    program = fluid.Program()
    block = program.global_block()
    shape, dtype = list(array.shape), str(array.dtype)
    block.create_var(name="x", shape=shape, dtype=dtype, is_data=True)
    outs = {slot: [f"y{slot}"] for slot in definition.output_slots}
    for (name,) in outs.values():
        block.create_var(name=name, shape=[1], dtype="float32")
    attrs = {}
    for each in definition.attributes.values():
        if each.name in definition.block_attributes:
            attrs[each.name] = program._create_block()
            program._rollback()
        elif each.default is REQUIRED:
            attrs[each.name] = FILLED.get(each.kind, 1)
    block.append_op(definition.type, {s: ["x"] for s in definition.input_slots}, outs, attrs)
    return program


@pytest.mark.parametrize("definition", shared(OPERATORS), ids=lambda d: d.type)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VALUES)
def test_what_an_operator_cannot_use_is_an_error_of_the_package(definition, name):
    with contextlib.suppress(FluidError):
        fluid.Executor().run(only(definition, VALUES[name]), feed={"x": VALUES[name]})


def test_an_array_in_the_place_of_a_reader_is_said():
    (read,) = (d for d in OPERATORS if d.type == "read")
    with pytest.raises(FluidError, match="expected variable 'x' to hold a reader, found ndarray"):
        fluid.Executor().run(only(read, np.ones(2, "float32")), feed={"x": np.ones(2, "float32")})
