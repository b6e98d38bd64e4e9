"""A changed copy of a program keeps the rules, or there is none."""

import pytest

from fluidlite import Program
from fluidlite.errors import FluidError, VerifyError
from fluidlite.transform.editing import transformed

TEXT = """
program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var  y: float32[-1, 3]
    var  z: float32[-1, 1]

    y = relu(X=x)
    z = reduce_sum(X=y, dim=[1], keep_dim=true)
  }
}
"""


def test_shapes_of_a_changed_copy_follow_and_the_program_stays():
    program = Program.parse(TEXT)

    def without_dimensions(copied):
        copied.global_block().ops[1].set_attr("keep_dim", False)

    changed = transformed(program, without_dimensions)
    assert changed.global_block().var("z").shape == (-1,)
    assert str(program) == str(Program.parse(TEXT))


def test_a_change_that_breaks_a_rule_is_refused():
    program = Program.parse(TEXT)
    with pytest.raises(VerifyError, match="y"):
        transformed(program, lambda copied: copied.global_block().set_ops(copied.blocks[0].ops[1:]))
    with pytest.raises(FluidError, match="have a variable 'w'"):
        transformed(program, lambda copied: copied.blocks[0].ops[0].set_input("X", "w"))


def test_a_program_that_nobody_can_run_can_be_changed():
    program = Program.parse(
        TEXT.replace("relu(X=x)", "magic(X=x)").replace("y = ", "{Out=y} = ", 1)
    )
    changed = transformed(program, lambda copied: copied.global_block().rename_var("z", "sum"))
    assert changed.global_block().ops[0].type == "magic"
