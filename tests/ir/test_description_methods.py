"""Methods of fluid's descriptions that programs of the time call, with the answers of 1.8.5."""

import copy
import pickle

import pytest

import fluidlite as fluid
from fluidlite import core
from fluidlite.errors import ArgumentError, AttributeValueError


@pytest.fixture
def program():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [None, 3])
        fluid.layers.fc(x, 2, param_attr="w", bias_attr="b")
    return main


@pytest.fixture
def op(program):
    return program.global_block().ops[0]


def test_the_type_of_an_attribute_is_printed_compared_and_copied_as_in_fluid(op):
    kind, types = op.attr_type("x_num_col_dims"), core.AttrType
    assert (str(kind), repr(kind), f"{kind}") == ("AttrType.INT",) * 3
    assert (int(kind), hash(kind), "%d" % kind) == (0, 0, "0")  # noqa: UP031
    assert kind == types.INT and kind == 0 and kind != 1 and kind != types.INTS
    assert kind != core.VarDesc.VarType.INT16 and kind is not None and bool(kind)
    assert kind in {types.INT: "known"} and types(3) is types.INTS
    assert all(make(kind) == kind for make in (copy.copy, copy.deepcopy))
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert isinstance(kind, types) and not isinstance(kind, int)
    with pytest.raises(TypeError):
        kind < types.INTS  # noqa: B015
    with pytest.raises(AttributeValueError):
        op.attr_type("nope")


def test_types_of_attributes_have_fluids_numbers():
    numbers = {kind.name: int(kind) for kind in core.AttrType}
    assert numbers == {
        **dict(INT=0, FLOAT=1, STRING=2, INTS=3, FLOATS=4, STRINGS=5, BOOL=6, BOOLS=7, BLOCK=8),
        **dict(LONG=9, BLOCKS=10, LONGS=11, FLOAT64S=12, VAR=13, VARS=14, FLOAT64=15),
        **dict(SCALAR=16, SCALARS=17),
    }


def test_every_attribute_has_a_type(program):
    for op in program.global_block().ops:
        for name in op.attr_names:
            assert core.AttrType.of_wire(op.attr_wire(name)) is op.desc.attr_type(name)
    assert op.attr_type("use_mkldnn") == core.AttrType.BOOL


def test_a_program_says_that_an_operator_is_a_target(program, op):
    before = op.desc.serialize_to_string()
    op.desc.set_is_target(True)
    assert op.desc.serialize_to_string() == before + b"\x28\x01"
    again = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    assert again.global_block().ops[0].desc.serialize_to_string() == before + b"\x28\x01"
    op.desc.set_is_target(0)
    assert op.desc.serialize_to_string() == before + b"\x28\x00"
    with pytest.raises(ArgumentError, match="truth value"):
        op.desc.set_is_target("x")
    assert op.is_target is False


def test_an_attribute_is_a_text_that_bytes_are(op):
    op.desc.set_serialized_attr("note", b"abc")
    assert op.attr("note") == "abc" and op.attr_type("note") == core.AttrType.STRING
    with pytest.raises(ArgumentError, match="bytes"):
        op.desc.set_serialized_attr("other", "abc")
    assert not op.has_attr("other")


def test_slots_are_emptied_and_attributes_listed(op):
    assert op.desc.get_attr_map() == op.all_attrs()
    op.desc.remove_input("X")
    op.desc.remove_output("Out")
    op.desc.remove_output("nope")
    assert (op.input_arg_names, op.output_arg_names) == (["w"], [])


def test_every_operator_and_variable_has_a_number_of_its_own(program):
    block = program.global_block()
    for parts in (block.ops, list(block.vars.values())):
        assert len({part.desc.id() for part in parts}) == len(parts)
        assert parts[0].desc.id() == parts[0].desc.id()


def test_the_version_of_a_program_is_read_and_set(program):
    desc = program.desc
    assert desc._version() == 1008005
    desc._set_version(5)
    assert desc.serialize_to_string().endswith(b'"\x02\x08\x05')
    again = fluid.Program.parse_from_string(desc.serialize_to_string())
    assert (desc._version(), program.clone().desc._version(), again.desc._version()) == (5, 5, 5)
    desc._set_version()
    assert desc._version() == 1008005
    with pytest.raises(ArgumentError, match="64 bits"):
        desc._set_version(2**63)
    desc._set_version(-1)
    assert desc._version() == -1


def test_a_reader_declares_each_variable_of_a_batch():
    types = core.VarDesc.VarType
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        fluid.layers.py_reader(4, [[-1, 3], [-1, 1]], ["float32", "int64"], lod_levels=[1, 0])
    desc = next(v.desc for v in main.list_vars() if v.type == types.READER)
    assert desc.shapes() == [[-1, 3], [-1, 1]]
    assert desc.dtypes() == [types.FP32, types.INT64] and desc.lod_levels() == [1, 0]
    desc.set_shapes([[7, 2], [3]])
    desc.set_dtypes(["float64", types.INT32])
    desc.set_lod_levels([2, 1])
    again = fluid.Program.parse_from_string(main.desc.serialize_to_string())
    (desc,) = (v.desc for v in again.list_vars() if v.name == desc.name())
    assert desc.shapes() == [[7, 2], [3]] and desc.dtypes() == [types.FP64, types.INT32]
    assert desc.lod_levels() == [2, 1]
    desc.set_shapes([[7, 2]])
    assert desc.shapes() == [[7, 2]] and desc.dtypes() == [types.FP64]


def test_only_readers_have_several_variables(program):
    desc = program.global_block().var("x").desc
    for call in (desc.shapes, desc.dtypes, desc.lod_levels, lambda: desc.set_shapes([[1]])):
        with pytest.raises(core.EnforceNotMet, match="expected a reader, got 'x'"):
            call()
    assert desc.shape() == [-1, 3]


def test_a_program_lists_what_it_feeds_and_fetches(program, tmp_path):
    assert program.desc.get_feed_target_names() == program.desc.get_fetch_target_names() == []
    block = program.global_block()
    block.create_var(name="feed", type=core.VarDesc.VarType.FEED_MINIBATCH, persistable=True)
    block.create_var(name="fetch", type=core.VarDesc.VarType.FETCH_LIST, persistable=True)
    block.append_op("feed", {"X": "feed"}, {"Out": "w"}, {"col": 1})
    block.append_op("feed", {"X": "feed"}, {"Out": "x"}, {"col": 0})
    block.append_op("fetch", {"X": "w"}, {"Out": "fetch"}, {"col": 0})
    assert program.desc.get_feed_target_names() == ["x", "w"]
    assert program.desc.get_fetch_target_names() == ["w"]
