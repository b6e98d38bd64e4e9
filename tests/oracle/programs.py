"""Programs as plain data, in the form of the golden programs."""

import functools

import numpy as np

import fluidlite as fluid
from oracle.golden import script


@functools.cache
def _dump():
    """The script that writes a program as plain data, told how to ask fluidlite."""
    module = script("_dump")
    module.block_attr = _block_attribute
    module.dtype_name = lambda dtype: np.dtype(dtype).name
    return module


def _block_attribute(op, name):
    """``{"block": index}`` when the attribute is a block, ``{"blocks": ...}`` for several."""
    value = op.attr(name)
    if hasattr(value, "idx"):
        return {"block": value.idx}
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "idx"):
        return {"blocks": [block.idx for block in value]}
    return None


def as_data(program):
    """A program as plain data."""
    return _dump().dump_program(program, fluid.framework.Parameter)


def operators(program):
    """The types of the operators of each block."""
    return [[op["type"] for op in block["ops"]] for block in program["blocks"]]


def assert_same_program(program, golden):
    """The program is the golden one: operators, slots, attributes, roles, variables."""
    mine = as_data(program)
    assert operators(mine) == operators(golden)
    differences = script("_compare").differences(golden, mine)
    assert not differences, "\n".join(differences[:20])


def optimizer(name):
    """The function that makes the optimizer of that name, for a net's ``build``."""
    return script("_optimizers").OPTIMIZERS[name]
