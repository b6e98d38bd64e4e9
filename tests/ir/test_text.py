"""What programs look like in text, and that nothing is lost in it."""

import pickle

import pytest

from fluidlite.errors import ParseError
from fluidlite.ground.dtypes import Kind
from fluidlite.ir.compare import differences
from fluidlite.ir.literal import EmptyList, float_text, name_text, typed_text, value_text, wire_type
from fluidlite.ir.name_scope import name_scope
from fluidlite.ir.operator import EMPTY, Operator, OpRole
from fluidlite.ir.program import Program
from fluidlite.ir.text import operator_text, program_text, variable_text
from fluidlite.ir.variable import Variable
from fluidlite.opdef.attribute import BlockRef, Long


def program_of_every_kind():
    """A program in which everything occurs that the format can say."""
    program = Program()
    program.random_seed = 7
    block = program.global_block()
    x = block.create_var(
        name="x", shape=[-1, 13], dtype="float32", is_data=True, stop_gradient=True
    )
    w = block.create_parameter(name="fc_0.w_0", shape=[13, 1], dtype="float32")
    block.create_parameter(
        name="frozen",
        shape=[2],
        dtype="float64",
        trainable=False,
        optimize_attr={"learning_rate": 0.1},
    )
    block.create_var(name="words", shape=[-1, 1], dtype="int64", lod_level=1, is_data=True)
    block.create_var(name="table", dtype="float32", type=Kind.SELECTED_ROWS, shape=[10, 4])
    block.create_var(name="array", dtype="float32", type=Kind.LOD_TENSOR_ARRAY)
    block.create_var(name="steps", type=Kind.STEP_SCOPES)
    block.create_var(name="nothing known")
    block.create_var(name="block", shape=[], dtype="bool", persistable=True, need_check_feed=True)
    y = block.create_var(name="y")
    block.append_op("mul", {"X": x, "Y": w}, {"Out": y}, {"x_num_col_dims": 1})
    with name_scope("head"):
        z = block.create_var(name="z")
        op = block.append_op("scale", {"X": y}, {"Out": z}, {"scale": 0.1, "op_device": "cpu"})
    with program.as_role(OpRole.BACKWARD, ["fc_0.w_0", "fc_0.w_0@GRAD"]):
        one = block.create_var(name="z@GRAD")
        block.append_op("fill_constant", {}, {"Out": one}, {"shape": [1], "dtype": "int64"})
    op = Operator(
        block, op.type, {"X": ("y",)}, {"Out": ("z",)}, {"scale": 1.0}, lists_given_attrs=True
    )
    op.role = 5
    block.ops.append(op)
    inner = program.create_block()
    inner.create_var(name="x", shape=[3], dtype="int32")
    program.create_block(0, forward_block_idx=1)
    program.current_block_idx = 0
    return program


def test_the_text_of_a_program_says_everything(check_program):
    check_program(program_of_every_kind(), "every_kind")


@pytest.mark.parametrize("detail", [False, True])
def test_a_program_and_the_one_read_from_its_text_are_the_same(detail):
    program = program_of_every_kind()
    text = program.to_string(with_details=detail)
    again = Program.parse(text)
    assert differences(program, again) == []
    assert differences(again, program) == []
    assert program_text(again, detail) == program_text(program, detail, call_sites=False)


def test_call_sites_are_comments_with_the_file_name_only_and_with_details_the_whole_path():
    program = Program()
    block = program.global_block()
    block.append_op("fill_constant", {}, {"Out": block.create_var(name="x")}, {"shape": [1]})
    line = next(line for line in str(program).splitlines() if "fill_constant" in line)
    assert line.split("#")[1].strip().startswith("test_text.py:")
    line = next(
        line for line in program.to_string(with_details=True).splitlines() if "fill_" in line
    )
    assert line.split("# ")[1].startswith(f"{__file__}:")


def test_details_show_attributes_at_their_default_and_a_bare_operator_has_none():
    program = Program()
    block = program.global_block()
    x = block.create_var(name="x", shape=[2], dtype="float32")
    op = block.append_op("scale", {"X": x}, {"Out": x}, {"scale": 1.0})
    assert operator_text(op) == "x = scale(X=x)"
    assert "bias_after_scale=true" in operator_text(op, detail=True)
    bare = Operator(
        block, op.type, {"X": ("x",)}, {"Out": ("x",)}, {"scale": 1.0}, lists_given_attrs=True
    )
    assert operator_text(bare, detail=True) == "x = scale(X=x, scale=1.0)"


def test_what_only_objects_know_is_said_in_a_comment():
    class Clip:
        pass

    block = Program().global_block()
    made = block.create_parameter(name="w", shape=[1], dtype="float32", gradient_clip_attr=Clip())
    assert variable_text(made) == "param w: float32[1]  # gradient_clip_attr: Clip"


@pytest.mark.parametrize(
    "name, text",
    [
        ("fc_0.w_0@GRAD", "fc_0.w_0@GRAD"),
        ("grad/grad/w@GRAD", "grad/grad/w@GRAD"),
        (EMPTY, EMPTY),
        ("0", "`0`"),
        (".5", "`.5`"),
        ("a b", "`a b`"),
        ("größe", "`größe`"),
        ("back`quote", "`back\\u0060quote`"),
        ('a"b\\c\n', '`a\\"b\\\\c\\n`'),
        ("", "``"),
        ("true", "`true`"),
        ("block", "`block`"),
        ("float32", "`float32`"),
        ("trues", "trues"),
    ],
)
def test_names_are_in_quotes_where_they_would_be_something_else(name, text):
    assert name_text(name) == text
    program = Program()
    program.global_block().create_var(name=name)
    assert list(Program.parse(str(program)).global_block().vars) == [name]


@pytest.mark.parametrize(
    "value, text",
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e-5, "1e-05"),
        (1e20, "1e+20"),
        (16777216.0, "16777216.0"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "nan"),
    ],
)
def test_floats_are_the_shortest_that_single_precision_reads_back(value, text):
    assert float_text(value) == text


@pytest.mark.parametrize(
    "value, wire, text",
    [
        (True, "BOOLEAN", "true"),
        (3, "INT", "3"),
        (2**31 - 1, "INT", "2147483647"),
        (2**31, "LONG", "2147483648"),
        (Long(3), "LONG", "long 3"),
        (BlockRef(1), "BLOCK", "block 1"),
        (0.5, "FLOAT", "0.5"),
        ('a "b"\n#', "STRING", '"a \\"b\\"\\n#"'),
        ((1, 2), "INTS", "[1, 2]"),
        ((1, 2**40), "LONGS", "[1, 1099511627776]"),
        ((Long(1), Long(2)), "LONGS", "longs [1, 2]"),
        ((BlockRef(1), BlockRef(2)), "BLOCKS", "blocks [1, 2]"),
        ((1.0, float("nan")), "FLOATS", "[1.0, nan]"),
        ((False,), "BOOLEANS", "[false]"),
        (("a", "b c"), "STRINGS", '["a", "b c"]'),
        ((), "INTS", "ints []"),
        *[
            (EmptyList(wire), wire, f"{wire.lower()} []")
            for wire in ("INTS", "FLOATS", "BOOLEANS", "STRINGS", "LONGS", "BLOCKS")
        ],
    ],
)
def test_attributes_of_unknown_operators_keep_their_wire_type(value, wire, text):
    assert wire_type(value) == wire
    assert typed_text(value) == text
    program = Program()
    block = program.global_block()
    block.ops.append(Operator(block, "magic", {}, {}, {"a": value}))
    again = Program.parse(str(program))
    op = again.global_block().ops[0]
    assert differences(program, again) == []
    assert op.attr_wire("a") == wire
    assert value_text(op.attrs["a"]) == value_text(value)


def test_lists_of_nothing_are_pickled_with_their_type():
    again = pickle.loads(pickle.dumps(EmptyList("LONGS")))
    assert again == ()
    assert again.wire == "LONGS"


def test_an_unknown_operator_reads_variables_where_words_are_no_values():
    program = Program.parse(
        """
        program (seed=0) {
          block 0 {
            {Out=[y, @EMPTY@], Mask=z} = magic(X=x, Y=[a, `true`], on=true, s="x", `F1-Score`=0.5)
          }
        }
        """
    )
    op = program.global_block().ops[0]
    assert op.inputs == {"X": ("x",), "Y": ("a", "true")}
    assert op.outputs == {"Out": ("y", EMPTY), "Mask": ("z",)}
    assert op.attrs == {"on": True, "s": "x", "F1-Score": 0.5}
    assert differences(program, Program.parse(str(program))) == []


def test_roles_without_a_name_are_numbers():
    program = program_of_every_kind()
    assert "    -- role 5 --" in str(program).splitlines()
    assert program.blocks[0].ops[-1].role == 5


def test_differences_name_what_differs():
    a = program_of_every_kind()
    b = a.clone()
    b.random_seed = 8
    b.global_block().ops[1].set_attr("scale", 0.2)
    b.global_block().ops[0].rename_input("x", "words")
    b.global_block().var("y").persistable = True
    b.global_block().remove_var("steps")
    b.blocks[1].create_var(name="new")
    found = differences(a, b)
    assert len(found) == 6
    assert found[0] == "seed: 7, 8"
    assert any("variable y, persistable: False, True" in line for line in found)
    assert any("operator 1, attributes" in line for line in found)
    assert any("operator 0, inputs" in line for line in found)
    assert any("'steps' is in one only" in line for line in found)
    assert any("'new' is in the other only" in line for line in found)


def test_nothing_but_a_program_is_read():
    with pytest.raises(ParseError, match="expected 'program', got the end of the text"):
        Program.parse("")


def test_printing_asks_no_variable_for_methods_that_it_has_not(monkeypatch):
    asked = []
    program = program_of_every_kind()
    expected = program_text(program)
    monkeypatch.setattr(Variable, "__getattr__", lambda self, name: asked.append(name))
    assert program_text(program) == expected
    assert asked == []
