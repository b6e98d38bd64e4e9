"""Programs as the bytes of program files, and back."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FileFormatError
from fluidlite.ground.dtypes import DType, Kind
from fluidlite.ir.compare import differences
from fluidlite.ir.literal import EmptyList
from fluidlite.ir.operator import Operator
from fluidlite.ir.program import Program
from fluidlite.ir.variable import Parameter
from fluidlite.opdef.attribute import BlockRef, Long
from fluidlite.proto.newer_programs import is_of_paddle2
from fluidlite.proto.program import program_from_bytes
from fluidlite.proto.reading import Reading
from fluidlite.proto.schema import ATTRIBUTE_TYPES
from fluidlite.proto.wire import delimited, varint_field

import fuzzing
import saved_models
from protobuf_messages import message_classes


def block(*parts, index=0, parent=-1):
    """The bytes of a block."""
    return delimited(1, varint_field(1, index) + varint_field(2, parent) + b"".join(parts))


def operator(type="relu", attrs=(), inputs=(), outputs=(), rest=b""):
    """The bytes of an operator, in a block."""
    desc = message_classes()["OpDesc"](type=type.encode())
    for side, slots in ((desc.inputs, inputs), (desc.outputs, outputs)):
        for slot, names in slots:
            side.add(parameter=slot.encode(), arguments=[name.encode() for name in names])
    for name, wire, value in attrs:
        number, field = ATTRIBUTE_TYPES[wire]
        attr = desc.attrs.add(name=name.encode(), type=number)
        if isinstance(value, (list, tuple)):
            getattr(attr, field).extend(value)
        else:
            setattr(attr, field, value)
    return delimited(4, desc.SerializeToString() + rest)


def variable(name, kind=Kind.LOD_TENSOR, dtype=5, dims=(2,), rest=b"", **fields):
    """The bytes of a variable, in a block."""
    desc = message_classes()["VarDesc"](name=name.encode(), **fields)
    desc.type.type = int(kind)
    if kind is Kind.LOD_TENSOR:
        desc.type.lod_tensor.tensor.data_type = dtype
        desc.type.lod_tensor.tensor.dims.extend(dims)
    return delimited(3, desc.SerializeToString() + rest)


def only_operator(data):
    return program_from_bytes(data).global_block().ops[0]


# -- files of the real thing -----------------------------------------------------------------------


@pytest.mark.parametrize("archive, path", saved_models.programs())
def test_a_file_of_the_real_thing_is_written_as_it_was_read(archive, path):
    data = saved_models.file(path, archive)
    program = program_from_bytes(data, path)
    assert program.to_bytes() == data
    assert program.clone().to_bytes() == data


@pytest.mark.parametrize("archive, path", saved_models.programs())
def test_a_file_of_the_real_thing_prints_and_parses(archive, path):
    program = program_from_bytes(saved_models.file(path, archive), path)
    assert not differences(program, Program.parse(str(program)))


def test_a_program_of_an_older_format_keeps_its_version():
    data = block() + delimited(4, varint_field(1, 1005000))
    assert program_from_bytes(data).to_bytes() == data


# -- programs built here ---------------------------------------------------------------------------


def same_after_bytes(program):
    """A program after it was written and read, in what program files have room for."""
    again = program_from_bytes(program.to_bytes())
    assert again.to_bytes() == program.to_bytes()
    for mine, theirs in zip(program.blocks, again.blocks, strict=True):
        assert list(mine.vars) == list(theirs.vars)
        for name, var in mine.vars.items():
            twin = theirs.vars[name]
            assert (var.kind, var.dtype, var.shape) == (twin.kind, twin.dtype, twin.shape)
            assert (var.lod_level, var.persistable) == (twin.lod_level, twin.persistable)
        assert [str(op) for op in mine.ops] == [str(op) for op in theirs.ops]
        for op, twin in zip(mine.ops, theirs.ops, strict=True):
            assert (op.role, op.role_vars, op.namescope) == (
                twin.role,
                twin.role_vars,
                twin.namescope,
            )
            assert op.lists_given_attrs == twin.lists_given_attrs
    return again


def test_a_network_with_its_gradient_and_optimizer_survives():
    same_after_bytes(fuzzing.program())


def test_blocks_of_a_loop_survive():
    again = same_after_bytes(fuzzing.loop())
    (loop,) = [op for op in again.global_block().ops if op.type == "while"]
    assert loop.attr("sub_block") is again.blocks[1]


def test_the_inverse_has_the_names_of_fluid():
    program = fuzzing.program()
    data = program.desc.serialize_to_string()
    assert data == program.serialize_to_string() == program.to_bytes()
    assert Program.parse_from_string(data).to_bytes() == data


def test_other_values_than_bytes_are_refused():
    with pytest.raises(ArgumentError, match="expected the bytes of a program"):
        Program.parse_from_string("text")


def test_programs_are_written_and_read_without_protobuf():
    script = (
        "import sys, fluidlite as f; sys.modules['google'] = None; p = f.Program(); "
        "f.program_guard(p).__enter__(); f.layers.relu(f.data('x', [2])); "
        "assert f.Program.parse_from_string(p.to_bytes()).to_bytes() == p.to_bytes()"
    )
    root = Path(fluid.__file__).parents[1]
    subprocess.run([sys.executable, "-c", script], check=True, cwd=root)


# -- what is unknown here --------------------------------------------------------------------------


def test_an_unknown_operator_keeps_its_attributes_and_their_types():
    attrs = [
        ("i", "INT", 3),
        ("f", "FLOAT", 0.5),
        ("s", "STRING", b"text"),
        ("is", "INTS", [1, 2]),
        ("fs", "FLOATS", [0.25]),
        ("ss", "STRINGS", [b"a", b"b"]),
        ("b", "BOOLEAN", True),
        ("bs", "BOOLEANS", [True, False]),
        ("block", "BLOCK", 0),
        ("l", "LONG", 5),
        ("blocks", "BLOCKS", [0]),
        ("ls", "LONGS", [7, 2**40]),
        ("none", "LONGS", []),
        ("no_text", "STRINGS", []),
    ]
    data = block(operator("nobody_knows", attrs, [("X", ["a"])], [("Out", ["b", "c"])]))
    program = program_from_bytes(data)
    op = program.global_block().ops[0]
    numbers = {"i": 3, "f": 0.5, "b": True, "block": 0, "l": 5}
    lists = {"is": (1, 2), "fs": (0.25,), "ss": ("a", "b"), "bs": (True, False)}
    more = {"s": "text", "blocks": (0,), "ls": (7, 2**40), "none": (), "no_text": ()}
    assert op.attrs == {**numbers, **lists, **more}
    assert isinstance(op.attrs["l"], Long) and isinstance(op.attrs["block"], BlockRef)
    assert isinstance(op.attrs["none"], EmptyList) and op.attrs["none"].wire == "LONGS"
    assert [op.attr_wire(name) for name, _, _ in attrs] == [wire for _, wire, _ in attrs]
    assert not differences(program, Program.parse(str(program)))
    assert program.to_bytes().startswith(data)
    assert Program.parse(str(program)).global_block().ops[0].attrs == op.attrs


def test_an_unknown_attribute_of_a_known_operator_is_told_and_kept():
    data = block(operator("relu", [("magic", "INT", 3)], [("X", ["x"])], [("Out", ["y"])]))
    with pytest.warns(UserWarning, match="does not know the attribute 'magic' of relu"):
        program = program_from_bytes(data)
    assert "magic" not in program.global_block().ops[0].attrs
    assert program.to_bytes().startswith(data)


def test_an_unknown_attribute_that_is_switched_off_is_kept_in_silence():
    attrs = [("magic", "BOOLEAN", False), ("use_gpu_magic", "INT", 3)]
    data = block(operator("relu", attrs, [("X", ["x"])], [("Out", ["y"])]))
    assert program_from_bytes(data).to_bytes().startswith(data)


def test_an_unknown_attribute_is_read_by_its_name_and_survives_copies():
    values = {"out_threshold": 1.5, "kind": "post", "axes": [1, 2], "is_last": True}
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        fluid.layers.relu(fluid.data("x", [2], "float32"))
    for name, value in values.items():
        program.block(0).ops[0]._set_attr(name, value)
    with pytest.warns(UserWarning, match="does not know the attributes? 'kind'"):
        loaded = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    for each in (loaded, loaded.clone(), copy.deepcopy(loaded)):
        (op,) = each.block(0).ops
        assert {name: op.attr(name) for name in values} == values
        assert all(op.has_attr(name) for name in values)
        assert [op.attr_wire(name) for name in values] == ["FLOAT", "STRING", "INTS", "INT"]
        assert each.desc.serialize_to_string() == program.desc.serialize_to_string()


def test_an_unknown_attribute_that_is_set_again_is_written_once_in_its_place():
    attrs = [("magic", "BOOLEAN", False), ("alpha", "INT", 3)]
    data = block(operator("relu", attrs, [("X", ["x"])], [("Out", ["y"])]))
    with pytest.warns(UserWarning, match="the attribute 'alpha' of relu"):
        program = program_from_bytes(data)
    program.global_block().ops[0].mark("alpha", 4)
    attrs[1] = ("alpha", "INT", 4)
    expected = block(operator("relu", attrs, [("X", ["x"])], [("Out", ["y"])]))
    assert program.to_bytes().startswith(expected)


def test_an_unknown_slot_of_a_known_operator_is_told_and_kept():
    data = block(operator("relu", (), [("X", ["x"]), ("Y", ["z"])], [("Out", ["y"])]))
    with pytest.warns(UserWarning, match="the input slot 'Y' of relu"):
        program = program_from_bytes(data)
    assert program.to_bytes().startswith(data)


def test_unknown_fields_survive_where_they_stand():
    more = delimited(99, b"more")
    data = (
        block(variable("x", rest=more), operator("relu", rest=more), more)
        + delimited(3, b"\x0a\x01x")
        + more
    )
    program = program_from_bytes(data)
    assert program.to_bytes() == data
    program.global_block().vars["x"].persistable = True
    program.global_block().ops[0].set_attr("op_device", "cpu")
    changed = program.to_bytes()
    assert changed != data and changed.count(more) == 4


def test_unknown_kinds_and_element_types_survive():
    float8 = variable("b", dtype=32)
    strings = delimited(3, delimited(1, b"s") + delimited(2, varint_field(1, 25)))
    data = block(float8, strings)
    program = program_from_bytes(data)
    assert program.to_bytes() == data
    assert not program.global_block().var("b").has_dtype
    assert program.global_block().var("s").kind is Kind.RAW


def test_fields_of_paddle_2_say_what_is_a_parameter():
    data = block(variable("w", is_parameter=True, stop_gradient=True, persistable=True))
    program = program_from_bytes(data)
    w = program.global_block().var("w")
    assert isinstance(w, Parameter) and w.stop_gradient
    assert program.to_bytes() == data


def test_bytes_that_are_no_text_survive():
    data = block(operator("strange", [("s", "STRING", b"\xff\xfe")], [("X", ["x"])]))
    program = program_from_bytes(data)
    assert program.to_bytes().startswith(data)
    assert not differences(program, Program.parse(str(program)))


def test_a_changed_attribute_is_written_in_its_old_place():
    attrs = [("op_role", "INT", 0), ("scale", "FLOAT", 2.0), ("bias", "FLOAT", 0.0)]
    op = only_operator(block(operator("scale", attrs, [("X", ["x"])], [("Out", ["y"])])))
    op.set_attr("bias", 0.5)
    again = only_operator(op.block.program.to_bytes())
    assert again.attr("bias") == 0.5 and again.attr("scale") == 2.0
    assert list(again.carried.layout.wires) == ["op_role", "scale", "bias"]


def test_an_attribute_of_another_wire_type_keeps_it():
    data = block(operator("reshape2", [("shape", "LONGS", [2, 3])], [("X", ["x"])]))
    op = only_operator(data)
    assert op.attr("shape") == [2, 3]
    assert op.block.program.to_bytes().startswith(data)


def test_an_attribute_twice_counts_as_the_last_one():
    attrs = [("axis", "INT", 0), ("axis", "INT", 1)]
    data = block(operator("softmax", attrs, [("X", ["x"])], [("Out", ["y"])]))
    op = only_operator(data)
    assert op.attr("axis") == 1
    assert op.block.program.to_bytes().startswith(data)


# -- call stacks -----------------------------------------------------------------------------------

STACK_18 = [
    b'  File "/usr/lib/python3/site-packages/paddle/fluid/framework.py", line 26, in op\n    x\n',
    b'  File "train.py", line 31, in build\n    fluid.layers.fc(x)\n',
    b'  File "train.py", line 90, in <module>\n    build()\n',
]


def with_stack(stack):
    return block(operator("relu", [("op_callstack", "STRINGS", stack)], [("X", ["x"])]))


def test_a_call_stack_of_a_file_is_kept_until_it_is_stripped():
    data = with_stack(STACK_18)
    program = program_from_bytes(data)
    op = program.global_block().ops[0]
    assert op.attr("op_callstack") == [line.decode() for line in STACK_18]
    assert program.to_bytes().startswith(data)
    assert b"train.py" not in program.to_bytes(call_sites=False)


def test_the_line_of_the_user_is_found_in_a_call_stack():
    assert str(only_operator(with_stack(STACK_18)).callsite) == "train.py:31"
    newer = [b'  File "train.py", line 9, in <module>', b"    y = layer(x)", *STACK_18[:1]]
    assert str(only_operator(with_stack(newer)).callsite) == "train.py:9"


@pytest.mark.parametrize("end", ["\r", "\f", "\x0b", "\x1c", "\x85", "\u2028", "\0", "\x1b"])
def test_a_frame_with_control_characters_is_left_out(end):
    hostile = f'  File "x{end}y", line 7'.encode()
    data = with_stack([hostile])
    program = program_from_bytes(data)
    assert program.global_block().ops[0].callsite is None
    assert program.to_bytes().startswith(data)
    assert hostile not in program.to_bytes(call_sites=False)
    assert str(only_operator(with_stack([hostile, *STACK_18])).callsite) == "train.py:31"


def test_files_hold_no_paths_of_this_machine_unless_asked():
    program = fuzzing.program()
    assert __file__.encode() not in program.to_bytes()
    main = fluid.Program()
    with fluid.program_guard(main):
        fluid.layers.fill_constant([1], "int64", 0)
    assert __file__.encode() not in main.to_bytes()
    assert __file__.encode() in main.to_bytes(call_sites=True)
    (op,) = program_from_bytes(main.to_bytes(call_sites=True)).global_block().ops
    assert op.callsite.file == __file__


# -- what is wrong ---------------------------------------------------------------------------------

WRONG = {
    "nothing": (b"", "expected a program at byte 0, found nothing"),
    "no block": (delimited(4, b"\x08\x00"), "expected a block at byte 4, found the end"),
    "cut": (block(operator())[:-3], "at byte 0"),
    "no index": (delimited(1, b""), "expected block 0 at byte 2, found no index"),
    "other index": (block(index=4), "expected block 0 at byte 2, found block 4"),
    "a parent": (block(parent=0), r"expected no parent \(-1\) at byte 2, found 0"),
    "later parent": (
        block() + block(index=1, parent=1),
        "expected a parent before block 1 at byte 17, found 1",
    ),
    "forward block": (
        delimited(1, varint_field(1, 0) + varint_field(2, -1) + varint_field(5, 0)),
        "expected a forward block before block 0 at byte 2, found 0",
    ),
    "two variables": (
        block(variable("x"), variable("x")),
        "expected variables of different names in block 0 at byte 34, found 'x' a second time",
    ),
    "no name": (block(delimited(3, b"")), "expected a variable with a name at byte 17, found one"),
    "no type": (block(delimited(4, b"")), "expected an operator with a type at byte 17, found one"),
    "two slots": (
        block(operator("x", (), [("A", ["a"]), ("A", ["b"])])),
        "expected slots of different names of operator x at byte 17, found 'A' twice",
    ),
    "no such block": (
        block(operator("while", [("sub_block", "BLOCK", 3)])),
        "expected the index of one of 1 blocks at byte 17, found 3",
    ),
    "field 0": (b"\x02\x00", "expected a field of ProgramDesc at byte 0, found the number 0"),
    "long tag": (
        b"\xff" * 10,
        "a field of ProgramDesc at byte 0, found a number of more than 5 bytes",
    ),
    "version": (block() + delimited(4, b"\x08"), "expected a number in Version at byte 18"),
    "encoding": (b"\x0f", "the encoding 7, which has no meaning"),
    "long number": (b"\x20" + b"\xff" * 10, "a number of more than 10 bytes"),
    "inside an operator": (
        block(delimited(4, b"\x1a\x04relu\x22\x05")),
        "expected a field of 5 bytes of OpDesc at byte 23, found 0 bytes",
    ),
    "inside an attribute": (
        block(delimited(4, b"\x1a\x04relu" + delimited(4, b"\x0a\x09axis"))),
        "expected a field of 9 bytes of OpDesc.Attr at byte 25, found 4 bytes",
    ),
}


@pytest.mark.parametrize("data, message", WRONG.values(), ids=WRONG)
def test_bytes_that_are_no_program_are_refused_at_their_place(data, message):
    with pytest.raises(FileFormatError, match=f"model: .*{message}"):
        program_from_bytes(data, "model")


def test_every_beginning_of_a_file_is_refused():
    data = fuzzing.loop().to_bytes()
    for size in range(len(data)):
        try:
            found = program_from_bytes(data[:size], "model")
        except FileFormatError:
            continue
        assert size and found.num_blocks < 3  # the end of a block or of the version


def test_a_file_that_asks_for_far_more_memory_than_it_has_bytes_is_refused():
    data = block(b"\x22\x03\x1a\x01x" * 200_000)
    with pytest.raises(FileFormatError, match="a program that fits .* bytes of memory"):
        program_from_bytes(data)


def test_an_operator_with_very_many_attributes_is_refused_before_it_is_read():
    data = block(delimited(4, delimited(3, b"x") + b"\x22\x00" * 200_000))
    with pytest.raises(FileFormatError, match="a program that fits .* bytes of memory"):
        program_from_bytes(data)


def test_many_kinds_of_unknown_operators_take_no_time():
    names = [f"nobody_{k}" for k in range(3000)]
    program = program_from_bytes(block(*map(operator, names)))
    assert [op.type for op in program.global_block().ops] == names


# -- any program -----------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
VALUES = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.floats(width=32, allow_nan=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=4).map(tuple),
    st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=4).map(tuple),
    st.integers(2**31, 2**63 - 1),
)


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(NAMES, min_size=1, max_size=5, unique=True),
    attrs=st.dictionaries(NAMES.map("a".__add__), VALUES, max_size=5),
    dtype=st.sampled_from(list(DType)),
    shape=st.lists(st.integers(-1, 2**40), min_size=1, max_size=4),
)
def test_what_is_written_is_read(names, attrs, dtype, shape):
    program = Program()
    main = program.global_block()
    for name in names:
        main.create_var(name=name, dtype=dtype, shape=shape)
    inputs, outputs = {"X": tuple(names)}, {"Out": (names[0],)}
    main.ops.append(Operator(main, "no body", inputs, outputs, attrs))
    again = program_from_bytes(program.to_bytes())
    assert not differences(program, again)
    assert again.to_bytes() == program.to_bytes()


# -- names of sizes --------------------------------------------------------------------------------


def test_a_file_has_the_names_of_sizes():
    x = fluid.data("x", ["batch", "time", None, 4])
    total = fluid.layers.reduce_sum(x, dim=3)
    data = fluid.default_main_program().to_bytes()
    read = Program.parse_from_string(data)
    assert read.global_block().var("x").size_names == ("batch", "time", None, None)
    assert read.global_block().var(total.name).size_names == ("batch", "time", None)
    assert read.to_bytes() == read.clone().to_bytes() == data
    read.global_block().var("x").declare([2, 3, 5, 4])
    again = Program.parse_from_string(read.to_bytes())
    assert again.global_block().var("x").size_names == ()


@pytest.mark.parametrize(
    "names", [["batch"], ["batch", "4"], ["a b", ""], ["", "four"], ["batch", "", ""]]
)
def test_names_of_sizes_that_are_none_are_carried_as_fields_of_others(names):
    fluid.data("x", ["batch", 4])
    data = fluid.default_main_program().to_bytes()
    told = delimited(1000, b"batch") + delimited(1000, b"")
    changed = b"".join(delimited(1000, name.encode()) for name in names)
    start = data.index(told)
    grown = len(changed) - len(told)
    sizes = bytearray(data)
    for place in (1, data.index(b"\x1a", 4) + 1):  # the lengths of the block and of the variable
        sizes[place] += grown
    read = Program.parse_from_string(bytes(sizes[:start]) + changed + data[start + len(told) :])
    assert read.global_block().var("x").size_names == ()
    assert changed in read.to_bytes()


MORE = delimited(99, b"more")


def test_unknown_fields_of_slots_and_attributes_survive_a_change_of_the_operator():
    attr = delimited(1, b"scale") + varint_field(2, 1) + b"\x25\0\0\0\x40" + MORE
    slot = delimited(1, b"X") + delimited(2, b"x") + MORE
    out = delimited(1, b"Out") + delimited(2, b"y")
    desc = delimited(1, slot) + delimited(2, out) + delimited(3, b"scale") + delimited(4, attr)
    data = block(delimited(4, desc + MORE))
    op = only_operator(data)
    program = op.block.program
    assert program.to_bytes() == data
    op.set_attr("bias", 0.5)
    changed = program.to_bytes()
    assert delimited(1, slot) in changed and delimited(4, attr) in changed
    assert changed.count(MORE) == 3
    op.set_attr("scale", 3.0)
    op.rename_input("x", "z")
    changed = program.to_bytes()
    assert changed.count(MORE) == 3 and only_operator(changed).attr("scale") == 3.0
    assert only_operator(changed).input("X") == ["z"]
    assert program.clone().to_bytes() == changed


def test_unknown_fields_in_the_type_of_a_variable_survive_a_change():
    tensor = varint_field(1, 5) + varint_field(2, 2) + MORE
    inner = delimited(1, tensor) + varint_field(2, 0) + MORE
    type_ = varint_field(1, 7) + delimited(3, inner) + MORE
    desc = delimited(1, b"v") + delimited(2, type_) + MORE
    data = block(delimited(3, desc))
    program = program_from_bytes(data)
    assert program.to_bytes() == data
    v = program.global_block().vars["v"]
    v.persistable = True
    v.declare([3, 4])
    changed = program.to_bytes()
    assert changed.count(MORE) == 4
    again = program_from_bytes(changed).global_block().vars["v"]
    assert again.shape == (3, 4) and again.persistable
    for copied in (program.clone(), pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
        assert copied.to_bytes() == changed


def test_a_variable_with_much_that_is_unknown_is_read():
    desc = delimited(1, b"v") + delimited(2, varint_field(1, 7)) + 500 * MORE
    data = block(delimited(3, desc + delimited(1000, b"n" * 5000)))
    assert program_from_bytes(data).to_bytes() == data


def test_messages_in_many_parts_that_are_unknown_take_no_time():
    part = delimited(99, b"u" * 100)
    type_ = 20_000 * delimited(2, varint_field(1, 7) + part)
    data = block(delimited(3, delimited(1, b"v") + type_)) + 20_000 * delimited(4, part)
    program = program_from_bytes(data)
    assert program.to_bytes().count(part) == 40_000
    assert not is_of_paddle2(program)
    data = block() + delimited(4, part) + delimited(4, varint_field(1, 2_006_002))
    assert is_of_paddle2(program_from_bytes(data))


def test_what_only_saves_time_never_makes_a_file_too_large():
    reading = Reading(b"", "file")
    limit = reading.budget
    assert reading.spares(limit // 16)
    assert not reading.spares(limit)
    assert reading.budget == limit


def test_operators_with_values_that_are_equal_and_not_the_same_are_written_apart():
    x = fluid.data("x", [2])
    for scale in (0.0, -0.0, 1, 1.0, 0.0):
        fluid.layers.scale(x, scale)
    program = fluid.default_main_program()
    program.global_block().ops[-1].namescope = "/inner/"
    read = Program.parse_from_string(program.to_bytes()).global_block().ops
    assert [repr(op.attr("scale")) for op in read] == ["0.0", "-0.0", "1.0", "1.0", "0.0"]
    assert [op.namescope for op in read] == ["/"] * 4 + ["/inner/"]
