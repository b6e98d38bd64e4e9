"""Operators that are copied attribute by attribute, in each way of fluid 1.8, are the same."""

import copy
import functools

import pytest
from shares import shared

import fluidlite as fluid
from fluidlite.errors import UnknownVariableError
from fluidlite.ir.operator import EMPTY, FRAMEWORK_ATTRIBUTES
from oracle.golden import DATA
from oracle.test_programs import GOLDENS, built, pytestmark  # noqa: F401


def parts(op):
    """What is given to append an operator, taken from another one."""
    return {
        "type": op.type,
        "inputs": {slot: op.input(slot) for slot in op.input_names},
        "outputs": {slot: op.output(slot) for slot in op.output_names},
        "attrs": {name: op.attr(name) for name in op.attr_names},
    }


def through_desc(block, op):
    desc, told = block.desc.append_op(), parts(op)
    desc.set_type(told["type"])
    for slot, names in told["inputs"].items():
        desc.set_input(slot, names)
    for slot, names in told["outputs"].items():
        desc.set_output(slot, names)
    for name, value in told["attrs"].items():
        if isinstance(value, fluid.framework.Block):
            desc.set_block_attr(name, value.desc)
        else:
            desc._set_attr(name, value)


def appended(block, op, append):
    """A copy that ``append`` makes; steps of a loop alone know some names, which it refuses."""
    names = {*op.input_arg_names, *op.output_arg_names} - {EMPTY}
    if all(block.find_var_recursive(name) is not None for name in names):
        return append(**parts(op))
    with pytest.raises(UnknownVariableError):
        append(**parts(op))
    twin = block.insert_blank(0 if append == block._prepend_op else len(block.ops))
    twin.take(op)
    return twin


def through_set_attr(block, op):
    twin = appended(block, op, block.append_op)
    for name in op.attr_names:
        twin._set_attr(name, op.attr(name))


#: how an operator of one block gets to another one
BY_OPERATOR = {
    "append_op": lambda block, op: appended(block, op, block.append_op),
    "_insert_op": lambda block, op: appended(
        block, op, functools.partial(block._insert_op, len(block.ops))
    ),
    "_prepend_op": lambda block, op: appended(block, op, block._prepend_op),
    "_set_attr": through_set_attr,
    "desc": through_desc,
    "copy_from": lambda block, op: block.desc.append_op().copy_from(op.desc),
}
WHOLE = {
    "clone": lambda program: program.clone(),
    "deepcopy": copy.deepcopy,
    "parse_from_string": lambda program: fluid.Program.parse_from_string(
        program.desc.serialize_to_string()
    ),
}
KEEP_SITES = {"_set_attr", "desc", "copy_from", "clone", "deepcopy"}


def programs():
    """Golden programs, and their names."""
    for name in shared(GOLDENS):
        net = built(name)
        for part in ("main", "startup", "test"):
            if part in net:
                yield f"{name}, {part}", net[part]


def described(program, sites):
    """All that the operators of a program say, with where they were made if ``sites``."""
    return [
        [(o := parts(op), forget(o["attrs"], sites))[0] for op in b.ops] for b in program.blocks
    ]


def forget(attrs, sites):
    if not sites:
        attrs.pop("op_callstack", None)
    for name, value in attrs.items():
        attrs[name] = getattr(value, "idx", value)


def again(program, way):
    """The program, whose operators were copied one by one."""
    twin = program.clone()
    for mine, theirs in zip(program.blocks, twin.blocks):
        theirs.set_ops([])
        for op in mine.ops[::-1] if way == "_prepend_op" else mine.ops:
            BY_OPERATOR[way](theirs, op)
    return twin


def only_known(twins, originals):
    """Leave out the defaults that an operator got since it was appended, and slots in which nothing
    stands, which it lists since then.
    """
    for mine, theirs in zip(twins, originals):
        for new, old in zip(mine, theirs):
            new["attrs"] = {n: v for n, v in new["attrs"].items() if n in old["attrs"]}
            for side in ("inputs", "outputs"):
                names = new[side].items()
                new[side] = {slot: some for slot, some in names if some or slot in old[side]}


@pytest.mark.parametrize("way", BY_OPERATOR)
def test_every_operator_of_the_golden_programs_is_the_same_after(way):
    for name, program in programs():
        sites = way in KEEP_SITES
        found, wanted = (described(p, sites) for p in (again(program, way), program))
        only_known(found, wanted)
        assert found == wanted, f"{name}, {way}"


@pytest.mark.parametrize("way", WHOLE)
def test_every_golden_program_is_the_same_after(way):
    for name, program in programs():
        sites = way in KEEP_SITES
        twin = WHOLE[way](program)
        assert described(twin, sites) == described(program, sites), f"{name}, {way}"
        assert twin.desc.serialize_to_string() == program.desc.serialize_to_string(), name


@pytest.mark.parametrize("way", [*WHOLE, "copy_from"])
def test_a_program_that_paddle_2_saved_is_the_same_after(way):
    for path in sorted((DATA / "paddle26_model").glob("*.pdmodel")):
        program = fluid.Program.parse_from_string(path.read_bytes())
        twin = WHOLE[way](program) if way in WHOLE else again(program, way)
        assert described(twin, way in KEEP_SITES) == described(program, way in KEEP_SITES), path
        assert twin.desc.serialize_to_string() == path.read_bytes()


def test_attributes_of_the_framework_are_set_to_what_they_were():
    x = fluid.data("x", [2], "float32")
    op = fluid.layers.scale(x, 2.0).op
    assert set(FRAMEWORK_ATTRIBUTES) <= set(op.attr_names)
    stack = ['  File "a.py", line 7, in <module>', "    y = scale(x)"]
    op._set_attr("op_callstack", stack)
    assert op.attr("op_callstack") == stack
    assert str(op.callsite) == "a.py:7"
    op._set_attr("op_callstack", [])
    assert op.attr("op_callstack") == []
