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


def assert_same_operators(mine, golden):
    """Operators as plain data are the golden ones: slots, attributes, roles."""
    assert [op["type"] for op in mine] == [op["type"] for op in golden]
    differences = script("_compare").differences(_alone(golden), _alone(mine))
    assert not differences, "\n".join(differences[:20])


def _alone(ops):
    """Operators in the form of a program without variables."""
    block = {"idx": 0, "parent_idx": -1, "forward_block_idx": -1, "vars": [], "ops": ops}
    return {"blocks": [block]}


def optimizer(name):
    """The function that makes the optimizer of that name, for a net's ``build``."""
    return script("_optimizers").OPTIMIZERS[name]
