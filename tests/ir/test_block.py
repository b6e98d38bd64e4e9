"""Blocks: declaring variables, putting in operators, and what is said when that cannot be."""

import pytest

from fluidlite import core, layers
from fluidlite.errors import (
    ArgumentError,
    AttributeValueError,
    DTypeError,
    DuplicateVariableError,
    FluidError,
    ShapeError,
    SlotError,
    UnknownOperatorError,
    UnknownVariableError,
)
from fluidlite.ground.dtypes import DType, Kind
from fluidlite.ir.name_scope import name_scope
from fluidlite.ir.operator import EMPTY, Operator, OpRole
from fluidlite.ir.program import Program, program_guard


@pytest.fixture
def block():
    """A block with data x and w, and y of which nothing is known."""
    made = Program().global_block()
    made.create_var(name="x", shape=[-1, 3], dtype="float32", is_data=True)
    made.create_var(name="w", shape=[3, 2], dtype="float32", is_data=True)
    made.create_var(name="y")
    return made


def texts(block):
    return [str(op) for op in block.ops]


# -- variables -------------------------------------------------------------------------------------


def test_a_variable_without_a_name_gets_one(block):
    assert block.create_var().name == "_generated_var_0"
    assert block.create_parameter([1], "float32").name == "_generated_var_1"


def test_declaring_a_variable_alike_again_gives_the_same(block):
    x = block.var("x")
    assert block.create_var(name="x") is x
    assert block.create_var(name="x", shape=[-1, 3], dtype="float32") is x
    block.create_var(name="x", persistable=True)
    assert x.persistable


@pytest.mark.parametrize(
    "given, clash",
    [
        (dict(shape=[3]), "shape [-1, 3], not [3]"),
        (dict(dtype="int64"), "dtype float32, not int64"),
        (dict(type=Kind.SELECTED_ROWS), "kind LOD_TENSOR, not SELECTED_ROWS"),
        (dict(lod_level=1), "lod_level 0, not 1"),
        (dict(shape=[3], dtype="int64"), "shape [-1, 3], not [3]; dtype float32, not int64"),
    ],
)
def test_declaring_a_variable_otherwise_says_what_clashes(block, given, clash):
    with pytest.raises(DuplicateVariableError) as caught:
        block.create_var(name="x", **given)
    assert f"variable 'x' of block 0 is there already, with {clash};" in str(caught.value)


def test_a_parameter_is_no_other_variable(block):
    with pytest.raises(DuplicateVariableError, match="'w' is there already and is no parameter"):
        block.create_parameter([3, 2], "float32", name="w")
    p = block.create_parameter([3, 2], "float32", name="p")
    assert block.create_parameter([3, 2], "float32", name="p") is p
    with pytest.raises(DuplicateVariableError, match="shape"):
        block.create_parameter([3, 3], "float32", name="p")


def test_parameters_lie_in_block_0(block):
    inner = block.program.create_block()
    p = inner.create_parameter([1], "float32", name="p")
    assert p.block is block
    assert block.all_parameters() == [p]
    assert inner.all_parameters() == []


def test_unknown_arguments_of_create_var_are_warned_about_and_old_ones_ignored(block):
    block.create_var(name="a", capacity=1, belong_to_optimizer=True)
    with pytest.warns(UserWarning, match="'persistible'; did you mean 'persistable'"):
        block.create_var(name="b", persistible=True)
    with pytest.warns(UserWarning, match="create_parameter has no argument 'trainabel'"):
        block.create_parameter([2], "float32", trainabel=True)


def test_an_initializer_appends_what_gives_the_first_value(block):
    def initializer(variable, where):
        where.append_op("fill_constant", {}, {"Out": variable}, {"shape": [1]})

    block.create_var(name="a", initializer=initializer)
    block.create_parameter([1], "float32", name="p", initializer=initializer)
    assert texts(block) == ["a = fill_constant(shape=[1])", "p = fill_constant(shape=[1])"]


def test_variables_are_found_in_the_blocks_around(block):
    inner = block.program.create_block()
    own = inner.create_var(name="y")
    assert inner.var("y") is own
    assert inner.find_var_recursive("x") is block.var("x")
    assert inner.var_recursive("y") is own
    assert not inner.has_var("x")
    assert inner.find_var_recursive("nothing") is None


def test_a_gradient_block_sees_its_forward_block(block):
    forward = block.program.create_block()
    local = forward.create_var(name="local")
    gradient = block.program.create_block(0, forward.idx)
    assert gradient.find_var_recursive("local") is local
    assert gradient.find_var_recursive("x") is block.var("x")


def test_unknown_names_get_a_suggestion(block):
    block.create_var(name="hidden")
    with pytest.raises(UnknownVariableError, match="block 0 has no variable 'hiden'; did you mean"):
        block.var("hiden")
    with pytest.raises(UnknownVariableError, match="nor its ancestors have a variable 'hiden'"):
        block.var_recursive("hiden")
    with pytest.raises(ArgumentError, match="expected the name of a variable"):
        block.var(3)


def test_renaming_a_variable_renames_it_wherever_it_is_meant(block):
    block.append_op("scale", {"X": "x"}, {"Out": "y"})
    meant = block.program.create_block(0)
    meant.create_var(name="a")
    meant.append_op("scale", {"X": "x"}, {"Out": "a"})
    hidden = block.program.create_block(0)
    hidden.create_var(name="x", shape=[1], dtype="float32")
    hidden.append_op("scale", {"X": "x"}, {"Out": "x"})
    before = block.program.revision
    made = block.rename_var("x", "z")
    assert made.name == "z"
    assert list(block.vars) == ["z", "w", "y"]
    assert texts(block) == ["y = scale(X=z)"]
    assert texts(meant) == ["a = scale(X=z)"]
    assert texts(hidden) == ["x = scale(X=x)"]
    assert block.program.revision > before
    with pytest.raises(DuplicateVariableError, match="has a variable 'w' already"):
        block.rename_var("z", "w")
    with pytest.raises(UnknownVariableError):
        block.rename_var("nothing", "b")


def test_a_variable_in_use_is_not_removed(block):
    block.append_op("scale", {"X": "x"}, {"Out": "y"})
    with pytest.raises(ArgumentError, match=r"'y' is still used by: y = scale\(X=x\)"):
        block.remove_var("y")
    block.remove_op(0)
    block.remove_var("y")
    assert not block.has_var("y")
    with pytest.raises(UnknownVariableError):
        block.remove_var("y")


# -- operators -------------------------------------------------------------------------------------


def test_operators_are_put_at_the_end_at_the_front_and_between(block):
    for how, scale in ((block.append_op, 1.5), (block.prepend_op, 2.5), (block.append_op, 3.5)):
        how("scale", {"X": "x"}, {"Out": "y"}, {"scale": scale})
    made = block.insert_op(1, "scale", {"X": ["x"]}, {"Out": [block.var("y")]}, {"scale": 4.5})
    assert [op.attr("scale") for op in block.ops] == [2.5, 4.5, 1.5, 3.5]
    assert made.idx == 1
    block.remove_op(0)
    assert made.idx == 0


def test_outputs_get_the_shape_and_the_element_type_that_follow(block):
    block.append_op("mul", {"X": "x", "Y": "w"}, {"Out": "y"})
    y = block.var("y")
    assert (y.shape, y.dtype) == ((-1, 2), DType.FP32)


def test_outputs_share_the_levels_of_sequences(block):
    block.create_var(name="words", shape=[-1, 3], dtype="float32", lod_level=1)
    block.append_op("scale", {"X": "words"}, {"Out": "y"})
    assert block.var("y").lod_level == 1


def test_where_nothing_is_known_nothing_follows(block):
    block.create_var(name="z")
    block.append_op("scale", {"X": "y"}, {"Out": "z"})
    assert not block.var("z").has_shape


def test_variables_say_themselves_whether_they_stop_gradients(block):
    block.append_op("scale", {"X": "x"}, {"Out": "y"}, stop_gradient=True)
    assert not block.var("y").stop_gradient


def test_every_change_counts(block):
    program = block.program
    seen = [program.revision]

    def changed():
        seen.append(program.revision)
        return seen[-1] > seen[-2]

    block.create_var(name="a")
    assert changed()
    op = block.append_op("scale", {"X": "x"}, {"Out": "y"})
    assert changed()
    op.set_attr("scale", 2.0)
    assert changed()
    op.rename_input("x", "a")
    assert changed()
    op.rename_output("y", "a")
    assert changed()
    block.var("a").declare(shape=[3])
    assert changed()
    block.var("a").declare(dtype="int64")
    assert changed()
    block.remove_op(0)
    assert changed()
    block.remove_var("a")
    assert changed()
    program.random_seed = 1
    assert changed()
    assert repr(block) and str(block) and program.all_parameters() == []
    assert not changed()


def line_of_failure(caught):
    """The line of this file in which an error was raised by a call into the library."""
    return next(e.lineno + 1 for e in reversed(caught.traceback) if str(e.path) == __file__)


@pytest.mark.parametrize(
    "arguments, kind, wanted",
    [
        (("scael", {"X": "x"}, {"Out": "y"}), UnknownOperatorError, "did you mean 'scale'?"),
        (("scale", {"Y": "x"}, {"Out": "y"}), SlotError, "scale has no input slot 'Y'"),
        (("scale", {}, {"Out": "y"}), SlotError, "scale needs a variable in its input slot X"),
        (("scale", {"X": "x"}, {}), SlotError, "scale needs a variable in its output slot Out"),
        (
            ("scale", {"X": ["x", "w"]}, {"Out": "y"}),
            SlotError,
            "input slot X of scale takes one variable, got 2: x, w",
        ),
        (
            ("scale", {"X": 3}, {"Out": "y"}),
            SlotError,
            "slot X of scale takes variables or their names, got 3 of type int",
        ),
        (
            ("scale", {"X": "x"}, {"Out": "y"}, {"scale": "2"}),
            AttributeValueError,
            "scale: attribute 'scale' takes a number, got '2' of type str",
        ),
        (
            ("scale", {"X": "xx"}, {"Out": "y"}),
            UnknownVariableError,
            "have a variable 'xx'; did you mean 'x'?",
        ),
        (
            ("scale", {"X": "x"}, {"Out": "yy"}),
            UnknownVariableError,
            "have a variable 'yy'; did you mean 'y'?",
        ),
    ],
)
def test_what_cannot_be_an_operator_is_refused_with_the_users_line(block, arguments, kind, wanted):
    before = texts(block)
    with pytest.raises(kind) as caught:
        block.append_op(*arguments)
    assert wanted in str(caught.value)
    assert f"called at {__file__}:{line_of_failure(caught)}" in str(caught.value)
    assert texts(block) == before


@pytest.mark.parametrize(
    "shape, dtype, kind", [([4, 2], "float32", ShapeError), ([3, 2], "int64", DTypeError)]
)
def test_inputs_that_do_not_fit_are_shown_with_operator_and_line(block, shape, dtype, kind):
    block.create_var(name="v", shape=shape, dtype=dtype)
    with pytest.raises(kind) as caught:
        block.append_op("mul", {"X": "x", "Y": "v"}, {"Out": "y"})
    text = str(caught.value)
    assert text.startswith("mul: ")
    assert "\n  y = mul(X=x, Y=v)\n" in text
    assert f"\n  x float32[-1, 3], v {dtype}{shape}\n" in text
    assert text.endswith(f"\n  built at {__file__}:{line_of_failure(caught)}")
    assert block.ops == []


def test_errors_are_also_what_old_scripts_catch(block):
    for kind in (ValueError, FluidError):
        with pytest.raises(kind):
            block.append_op("mul", {"X": "w", "Y": "w"}, {"Out": "y"})


# -- the operator itself ---------------------------------------------------------------------------


def test_an_operator_answers_as_descriptions_did(block):
    op = block.append_op("scale", {"X": "x"}, {"Out": "y"}, {"scale": 2.0})
    for each in (op.desc, op):
        assert each.attr("scale") == 2.0
        assert each.attr("bias") == 0.0
        assert each.input("X") == ["x"]
        assert each.output("Out") == ["y"]
        assert each.has_attr("bias_after_scale")
        assert each.attr_type("scale") == core.AttrType.FLOAT
        assert each.attr_type("op_role_var") == core.AttrType.STRINGS
    assert (op.input_names, op.output_names) == (["ScaleTensor", "X"], ["Out"])
    assert (op.input_arg_names, op.output_arg_names) == (["x"], ["y"])
    assert op.desc.type() == "scale"
    assert op.all_attrs()["scale"] == 2.0
    with pytest.raises(AttributeValueError, match="no attribute 'scael'; did you mean 'scale'"):
        op.attr("scael")
    with pytest.raises(SlotError, match="no input slot 'Out'"):
        op.input("Out")


def test_slots_come_in_the_alphabets_order_and_variables_with_them():
    with program_guard(Program(), Program()):
        x = layers.data("x", [3, 8, 8])
        y = layers.conv2d(x, 4, 3, param_attr="w", bias_attr=False)
        layers.dropout(y, 0.5)
        conv, dropout = y.block.ops
    for op in (conv, conv.desc):
        named = op.input_names if op is conv else op.input_names()
        read = op.input_arg_names if op is conv else op.input_arg_names()
        assert (named[:3], read) == (["Bias", "Filter", "Input"], ["w", "x"])
    assert dropout.output_names == ["Mask", "Out"]
    assert dropout.output_arg_names == [*dropout.output("Mask"), *dropout.output("Out")]
    assert [dropout.first_output] == dropout.output("Out")
    assert Program().global_block().desc.append_op().op.first_output == ""


def test_what_the_program_says_about_an_operator_are_attributes_too(block):
    program = block.program
    with program.as_role(OpRole.OPTIMIZE, ["w", "w@GRAD"]), name_scope("a"), name_scope("b"):
        op = block.append_op("scale", {"X": "x"}, {"Out": "y"}, {"op_device": "cpu"})
    assert op.attr("op_role") == 2
    assert op.attr("op_role_var") == ["w", "w@GRAD"]
    assert op.attr("op_namescope") == "/a/b/"
    assert op.attr("op_device") == "cpu"
    (site,) = op.attr("op_callstack")
    assert site.startswith(f'  File "{__file__}", line ')
    assert "op_role" not in op.attrs
    op.set_attr("op_role", 1)
    assert op.role == OpRole.BACKWARD
    assert block.append_op("scale", {"X": "x"}, {"Out": "y"}).role == OpRole.FORWARD


def test_attributes_are_changed_by_set_attr_only(block):
    op = block.append_op("scale", {"X": "x"}, {"Out": "y"})
    op.set_attr("scale", 2)
    assert op.attrs == {"scale": 2.0}
    op.set_attr("scale", 1.0)
    assert op.attrs == {}
    with pytest.raises(AttributeValueError, match="takes a number"):
        op.set_attr("scale", "2")
    with pytest.raises(AttributeValueError, match="no attribute"):
        op.set_attr("scael", 2.0)


def test_a_bare_operator_keeps_what_was_given(block):
    op = block.append_op("scale", {"X": "x"}, {"Out": "y"})
    bare = Operator(
        block, op.type, {"X": ("x",)}, {"Out": ("y",)}, {"scale": 1.0}, lists_given_attrs=True
    )
    assert bare.attr_names[0] == "scale"
    assert not bare.has_attr("bias")
    bare.set_attr("bias", 2)
    assert bare.attrs == {"scale": 1.0, "bias": 2.0}


def test_reading_and_writing_are_asked_by_name(block):
    op = block.append_op("sum", {"X": ["x", "x"]}, {"Out": "y"})
    assert op.reads("x") and not op.reads("y")
    assert op.writes("y") and not op.writes("x")
    op.rename_input("x", "w")
    assert op.inputs == {"X": ("w", "w")}
    assert op.find_var("w") is block.var("w")


def test_an_empty_name_keeps_a_position_in_a_list(block):
    block.create_var(name="a", shape=[2], dtype="float32")
    op = block.append_op("sum", {"X": ["a", EMPTY]}, {"Out": "y"})
    assert op.input("X") == ["a", EMPTY]


def test_the_short_form_of_an_operator_says_where_it_was_made(block):
    op = block.append_op("scale", {"X": "x"}, {"Out": "y"})
    assert repr(op) == f"<Operator y = scale(X=x) at {__file__}:{op.callsite.line}>"
    assert repr(block) == "<Block 0: 3 variables, 1 operators>"
