"""The rules that programs keep, each broken once."""

import pytest

from fluidlite.errors import VerifyError
from fluidlite.ir.block import Block
from fluidlite.ir.operator import Operator
from fluidlite.ir.program import Program
from fluidlite.ir.verify import RULES, verify
from fluidlite.opdef.attribute import REQUIRED, BlockRef
from fluidlite.opdef.definition import Op


@pytest.fixture(scope="module", autouse=True)
def driver():
    """An operator that drives a block; at collection it would be among those of the package."""

    class drive_for_tests(Op):
        """Drives a block."""

        signature = "X*? -> Out*?"
        sub_block: BlockRef = REQUIRED
        states: list[str] = ()
        grad = None

        def execute(self, run):
            raise NotImplementedError


def program_of(lines, more=""):
    """A program whose block 0 holds these lines."""
    return Program.parse(f"program (seed=0) {{\nblock 0 {{\n{lines}\n}}\n{more}\n}}")


def message(program, rule, **arguments):
    """What verify says about a program that breaks a rule."""
    with pytest.raises(VerifyError) as caught:
        verify(program, **arguments)
    text = str(caught.value)
    assert f"\n  rule {rule}: {RULES[rule]}\n" in text
    return text


DATA = "data x: float32[-1, 3]\nvar y: float32[-1, 3]\nvar z: float32[-1, 3]\n"


def test_a_program_that_keeps_the_rules_passes():
    verify(program_of(DATA + "y = scale(X=x)\nz = scale(X=y)"))
    verify(Program())


def test_a_failure_names_rule_block_operator_text_and_call_site():
    program = Program()
    block = program.global_block()
    for name in ("x", "y"):
        block.create_var(name=name, shape=[2], dtype="float32")
    block.append_op("fill_constant", {}, {"Out": "x"}, {"shape": [2]})
    block.append_op("scale", {"X": "x"}, {"Out": "y"})
    block.remove_op(0)
    line = block.ops[0].callsite.line
    assert message(program, 3) == (
        "variable 'x' is read before anything writes it\n"
        "  rule 3: a value is written before it is read\n"
        "  block 0, operator 0: y = scale(X=x)\n"
        f"  built at {__file__}:{line}"
    )


def test_rule_1_blocks_are_numbered_and_parents_come_first():
    program = Program()
    program.create_block()
    program.blocks[1].idx = 2
    assert "block 2 stands at position 1" in message(program, 1)
    program.blocks[1].idx = 1
    program.blocks[1].parent_idx = 1
    assert "the parent of block 1 is block 1" in message(program, 1)
    program.blocks[1].parent_idx = 0
    program.blocks[1].forward_block_idx = 3
    assert "the forward block of block 1 is 3" in message(program, 1)
    program.blocks[1] = Block(Program(), 1, 0)
    assert "belongs to another program" in message(program, 1)
    program.blocks[:] = [Block(program, 0, 0)]
    assert "block 0 lies in block 0" in message(program, 1)


def test_rule_2_names_are_declared():
    found = message(program_of(DATA + "y = scale(X=x)\nz = scale(X=yy)"), 2)
    assert found.startswith("there is no variable 'yy'; did you mean 'y'?")
    assert "block 0, operator 1: z = scale(X=yy)" in found
    assert "no variable 'out'" in message(program_of(DATA + "out = scale(X=x)"), 2)


def test_rule_2_a_block_sees_the_blocks_around_it_and_a_gradient_block_its_forward_block():
    inner = "block 1 in 0 {\nvar a: float32[-1, 3]\na = scale(X=x)\n}\n"
    drive = "drive_for_tests(X=x, sub_block=block 1)\n"
    verify(program_of(DATA + drive, inner))
    gradient = "block 2 in 0 of 1 {\nvar b: float32[-1, 3]\nb = scale(X=a)\n}\n"
    verify(program_of(DATA + drive + "drive_for_tests(X=x, sub_block=block 2)", inner + gradient))
    other = gradient.replace(" of 1", "")
    text = DATA + drive + "drive_for_tests(X=x, sub_block=block 2)"
    assert "no variable 'a'" in message(program_of(text, inner + other), 2)


def test_rule_2_variables_are_kept_under_their_names():
    program = program_of(DATA)
    program.global_block().var("y").name = "other"
    assert "variable 'other' is kept under the name 'y'" in message(program, 2)


def test_rule_3_values_are_written_before_they_are_read():
    swapped = program_of(DATA + "z = scale(X=y)\ny = scale(X=x)")
    assert "variable 'y' is read before" in message(swapped, 3)
    verify(swapped, feeds=["y"])
    verify(
        program_of(
            DATA.replace("var y: float32[-1, 3]", "var y: float32[-1, 3] persistable")
            + "z = scale(X=y)"
        )
    )


def test_rule_3_blocks_run_where_their_operator_stands():
    inner = "block 1 in 0 {\nvar a: float32[-1, 3]\na = scale(X=y)\n}\n"
    drive = "drive_for_tests(X=x, sub_block=block 1)\n"
    verify(program_of(DATA + "y = scale(X=x)\n" + drive, inner))
    found = message(program_of(DATA + drive + "y = scale(X=x)", inner), 3)
    assert "block 1, operator 0: a = scale(X=y)" in found


def test_rule_3_an_operator_gives_values_to_names_in_the_block_it_drives():
    inner = "block 1 in 0 {\nvar x: float32[3]\nvar s: float32[3]\nvar a: float32[3]\n{}\n}}\n"
    program = (
        DATA + 'drive_for_tests(X=x, sub_block=block 1, states=["s"])',
        inner.replace("{}\n}}", "a = scale(X=x)\na = scale(X=s)\n}"),
    )
    verify(program_of(*program))
    local = program_of(program[0].replace('states=["s"]', 'states=["t"]'), program[1])
    assert "variable 's' is read" in message(local, 3)


def test_rule_3_a_block_that_nothing_drives_yet_may_read_what_is_around_it():
    inner = "block 1 in 0 {\nvar a: float32[-1, 3]\na = scale(X=y)\n}\n"
    verify(program_of(DATA, inner))
    assert "'a' is read" in message(program_of(DATA, inner.replace("X=y", "X=a")), 3)


def test_rule_3_arrays_of_tensors_begin_empty():
    lines = DATA + "var arr: lod_tensor_array float32[?]\ny = scale(X=arr)"
    program = program_of(lines)
    verify(program)


def test_rule_4_operators_are_defined():
    assert "there is no operator 'magic'" in message(program_of(DATA + "magic(X=x)"), 4)


def operator(program, *arguments):
    block = program.global_block()
    block.ops.append(Operator(block, *arguments))
    return program


@pytest.mark.parametrize(
    "inputs, outputs, attrs, wanted",
    [
        ({"Y": ("x",)}, {"Out": ("y",)}, {}, "scale has no input slot 'Y'"),
        (
            {"X": ("x",)},
            {"Output": ("y",)},
            {},
            "scale has no output slot 'Output'; did you mean 'Out'?",
        ),
        ({}, {"Out": ("y",)}, {}, "scale needs a variable in its input slot X"),
        ({"X": ("x",)}, {}, {}, "scale needs a variable in its output slot Out"),
        (
            {"X": ("x", "x")},
            {"Out": ("y",)},
            {},
            "input slot X of scale takes one variable, it has 2",
        ),
        (
            {"X": ("x",)},
            {"Out": ("y",)},
            {"scael": 1.0},
            "no attribute 'scael'; did you mean 'scale'?",
        ),
        (
            {"X": ("x",)},
            {"Out": ("y",)},
            {"scale": "1"},
            "attribute 'scale' takes a number, got '1'",
        ),
    ],
)
def test_rule_4_slots_and_attributes_are_those_of_the_definition(inputs, outputs, attrs, wanted):
    assert wanted in message(operator(program_of(DATA), "scale", inputs, outputs, attrs), 4)


def test_rule_4_attributes_without_a_default_are_given():
    program = operator(program_of(DATA), "drive_for_tests", {}, {}, {})
    assert "needs a value of its attribute 'sub_block'" in message(program, 4)


def test_rule_5_a_block_belongs_to_one_operator():
    drive = "drive_for_tests(X=x, sub_block=block 1)\n"
    found = message(program_of(DATA + drive + drive, "block 1 in 0 {\n}\n"), 5)
    assert "block 1 belongs to another operator: drive_for_tests(" in found
    assert "block 0, operator 1" in found
    assert "drives block 1, which is missing" in message(program_of(DATA + drive), 5)


def test_rule_6_parameters_lie_in_block_0_and_are_persistable():
    inner = program_of(DATA, "block 1 in 0 {\nparam w: float32[3]\n}\n")
    assert "parameter 'w' lies in block 1" in message(inner, 6)
    passing = program_of("param w: float32[3] not persistable")
    assert "parameter 'w' is not persistable" in message(passing, 6)


def test_rule_7_sizes_are_unknown_or_not_negative():
    assert "variable 'v' has the shape [-2]" in message(program_of("var v: float32[-2]"), 7)


@pytest.mark.parametrize("shape", ["[-1, 4]", "[-1]"])
def test_rule_7_declared_shapes_follow_from_the_operators(shape):
    lines = DATA.replace("var y: float32[-1, 3]", f"var y: float32{shape}")
    found = message(program_of(lines + "y = scale(X=x)"), 7)
    assert (
        f"variable 'y' is declared with the shape {shape}, the operator gives it [-1, 3]" in found
    )


def test_rule_7_inputs_fit_together():
    lines = "data x: float32[2, 3]\ndata w: float32[4, 5]\nvar y: float32[2, 5]\ny = mul(X=x, Y=w)"
    assert "mul(X=x, Y=w)" in message(program_of(lines), 7)


def test_rule_7_what_is_written_several_times_may_change_its_shape():
    lines = "data x: float32[2, 3]\ndata u: float32[4]\nvar y: float32[4]\n"
    verify(program_of(lines + "y = scale(X=x)\ny = scale(X=u)"))


def with_gradient(between="", out="y"):
    """y = tanh(x) and its gradient, with something in between."""
    return program_of(
        "data x: float32[2]\nvar y: float32[2]\nvar c: float32[2]\n"
        "var y@GRAD: float32[2]\nvar x@GRAD: float32[2]\n"
        f"y = tanh(X=x)\n{between}y@GRAD = fill_constant(shape=[2])\n"
        f"{{X@GRAD=x@GRAD}} = tanh_grad(Out={out}, Out@GRAD=y@GRAD)"
    )


def test_rule_8_gradient_operators_read_what_their_operator_saw():
    verify(with_gradient())
    found = message(with_gradient("y = scale(X=y)\n"), 8)
    assert "tanh_grad reads 'y' after something else was written there" in found
    assert "block 0, operator 3: x@GRAD = tanh_grad(Out=y, Out@GRAD=y@GRAD)" in found


def test_rule_8_copies_stand_for_what_they_are_copies_of():
    verify(with_gradient("c = assign(X=y)\ny = scale(X=y)\n", out="c"))
    message(with_gradient("y = scale(X=y)\nc = assign(X=y)\n", out="c"), 8)


def test_rule_8_a_copy_of_a_value_that_stays_counts_beside_a_name_that_holds_several():
    lines = (
        "data x: float32[2]\ndata w: float32[2]\nvar y: float32[2]\nvar c: float32[2]\n"
        "var d: float32[2]\ny = elementwise_mul(X=x, Y=w)\n{}c = assign(X=x)\n"
        "{{X@GRAD=d}} = elementwise_mul_grad(X=c, Y=w, Out@GRAD=y)\n"
    )
    verify(program_of(lines.format("")))
    message(program_of(lines.format("w = scale(X=w)\n")), 8)


def test_rule_8_an_operator_that_ran_again_on_the_same_names_has_a_gradient_of_its_own():
    verify(with_gradient("y = scale(X=y)\ny = tanh(X=x)\n"))


def test_rule_8_gradient_blocks_begin_with_what_their_forward_block_left():
    lines = (
        "data x: float32[2]\nvar t: float32[2]\nvar g: float32[2]\nt = scale(X=x)\n"
        "drive_for_tests(X=x, sub_block=block 1)\n"
        "g = scale(X=x)\ndrive_for_tests(X=g, sub_block=block 2)"
    )
    inner = "block 1 in 0 {\nvar y: float32[2]\ny = tanh(X=x)\n}\n"
    gradient = (
        "block 2 in 0 of 1 {\nvar d: float32[2]\n{X@GRAD=d} = tanh_grad(Out=y, Out@GRAD=g)\n}\n"
    )
    verify(program_of(lines, inner + gradient))
    outer = inner.replace("var y: float32[2]\n", "").replace("y =", "t =")
    message(program_of(lines, outer + gradient.replace("Out=y", "Out=t")), 8)


def test_rule_9_feed_and_fetch_stand_at_the_ends_of_block_0():
    head = DATA + "var feed: feed_minibatch persistable\nvar fetch: fetch_list persistable\n"
    feed, fetch = "x = feed(X=feed, col=0)\n", "fetch = fetch(X=x, col=0)\n"
    scale = "y = scale(X=x)\n"
    verify(program_of(head + feed + scale + fetch))
    assert "a feed operator comes after others" in message(program_of(head + scale + feed), 9)
    assert "scale comes after a fetch operator" in message(
        program_of(head + feed + fetch + scale), 9
    )
    inner = program_of(head + feed, "block 1 in 0 {\n" + fetch + "}\n")
    assert "a fetch operator lies in block 1" in message(inner, 9)


def test_every_rule_is_broken_here():
    names = [name for name in globals() if name.startswith("test_rule_")]
    assert {int(name.split("_")[2]) for name in names} == set(RULES)


def test_a_program_verifies_itself():
    program = Program()
    block = program.global_block()
    block.declare_var(name="x", shape=(2,), dtype="float32", is_data=True)
    block.declare_var(name="y", shape=(2,), dtype="float32")
    block.append_op("relu", {"X": ["x"]}, {"Out": ["y"]})
    program.verify()
    program.global_block().ops[0].rename_input("x", "nowhere")
    with pytest.raises(VerifyError, match="rule 2"):
        program.verify()
