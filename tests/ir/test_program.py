"""Programs: blocks, copies, passes, and the two that layers build by default."""

import copy
import pickle
import threading

import pytest

from fluidlite import unique_name
from fluidlite.errors import ArgumentError, UnknownVariableError
from fluidlite.ir.compare import differences
from fluidlite.ir.name_scope import current_name_scope, name_scope
from fluidlite.ir.operator import OpRole
from fluidlite.ir.passes import for_test, prune
from fluidlite.ir.program import (
    Program,
    default_main_program,
    default_startup_program,
    program_guard,
    switch_main_program,
    switch_startup_program,
)
from fluidlite.ir.verify import verify

TRAINING = """
program (seed=3) {
  block 0 {
    data x: float32[-1, 4]
    param w: float32[4, 2]
    var lr: float32[1] persistable
    var h: float32[-1, 2]
    var d: float32[-1, 2]
    var mask: uint8[-1, 2]
    var loss: float32[1]
    var loss@GRAD: float32[1]
    var d@GRAD: float32[-1, 2]
    var h@GRAD: float32[-1, 2]
    var w@GRAD: float32[4, 2]

    h = mul(X=x, Y=w)
    {Out=d, Mask=mask} = dropout(X=h)
    -- loss --
    loss = mean(X=d)
    -- loss backward --
    loss@GRAD = fill_constant(shape=[1], value=1.0)
    -- backward --
    d@GRAD = mean_grad(X=d, Out@GRAD=loss@GRAD)
    h@GRAD = dropout_grad(Mask=mask, Out@GRAD=d@GRAD)
    {Y@GRAD=w@GRAD} = mul_grad(X=x, Y=w, Out@GRAD=h@GRAD) for [w, w@GRAD]
    -- optimize --
    w = sgd(Param=w, Grad=w@GRAD, LearningRate=lr) for [w, w@GRAD]
  }
}
"""


@pytest.fixture
def training():
    program = Program.parse(TRAINING)
    verify(program)
    return program


def types(program, index=0):
    return [op.type for op in program.blocks[index].ops]


# -- blocks ----------------------------------------------------------------------------------------


def test_a_new_block_is_current_until_it_is_left():
    program = Program()
    assert program.current_block() is program.global_block()
    outer = program.create_block()
    inner = program.create_block()
    assert program.current_block() is inner
    assert (inner.idx, inner.parent_idx, inner.parent) == (2, 1, outer)
    program.leave_block()
    assert program.current_block() is outer
    program.leave_block()
    other = program.create_block(0, forward_block_idx=1)
    assert (other.parent_idx, other.forward_block_idx) == (0, 1)
    assert program.num_blocks == 4
    assert program.block(1) is outer
    assert program.global_block().parent is None


def test_variables_and_parameters_are_listed_block_by_block(training):
    assert [v.name for v in training.list_vars()][:3] == ["x", "w", "lr"]
    assert [p.name for p in training.all_parameters()] == ["w"]


@pytest.mark.parametrize("seed", [1.5, "1", None])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(ArgumentError, match="expected the random seed to be an integer"):
        Program().random_seed = seed


def test_a_role_holds_inside_a_with_block(training):
    with training.as_role(OpRole.OPTIMIZE, [training.global_block().var("w"), "w@GRAD"]):
        assert training.role == OpRole.OPTIMIZE
        assert training.role_vars == ("w", "w@GRAD")
        with training.as_role(OpRole.LRSCHED):
            assert training.role_vars == ()
    assert (training.role, training.role_vars) == (OpRole.FORWARD, ())


def test_a_program_is_described_in_a_line(training):
    assert repr(training) == "<Program: 1 blocks, 8 operators, 1 parameters>"


# -- copies ----------------------------------------------------------------------------------------


def check_independent(program, copied):
    """The copy is alike, its parts are its own, and changing it leaves the program as it was."""
    assert differences(program, copied) == []
    assert str(program) == str(copied)
    for block in copied.blocks:
        assert block.program is copied
        assert all(v.block is block for v in block.vars.values())
        assert all(op.block is block for op in block.ops)
    before = str(program)
    block = copied.global_block()
    block.ops[0].rename_input("x", "h")
    block.ops[1].set_attr("seed", 5)
    block.var("x").declare(shape=[7])
    block.var("w").optimize_attr["learning_rate"] = 2.0
    block.rename_var("loss", "cost")
    block.create_var(name="more")
    block.remove_op(2)
    copied.create_block()
    copied.random_seed = 99
    assert str(program) == before


def test_a_clone_shares_nothing_with_the_program(training):
    check_independent(training, training.clone())


def test_a_deep_copy_shares_nothing_with_the_program(training):
    check_independent(training, copy.deepcopy(training))


def test_a_deep_copy_of_parts_stays_together(training):
    w = training.global_block().var("w")
    program, twin, op = copy.deepcopy((training, w, training.global_block().ops[0]))
    assert program.global_block().var("w") is twin
    assert program.global_block().ops[0] is op


def test_a_program_survives_pickling(training):
    training.create_block()
    training.leave_block()
    check_independent(training, pickle.loads(pickle.dumps(training)))


def test_a_clone_continues_in_the_same_block(training):
    training.create_block()
    assert training.clone().current_block_idx == 1
    assert training.clone(for_test=True).current_block_idx == 0


@pytest.mark.parametrize("way", [lambda p: p.clone(for_test=True), for_test])
def test_for_a_test_there_are_no_gradients_and_dropout_is_off(training, way):
    before = str(training)
    made = way(training)
    assert types(made) == ["mul", "dropout", "mean"]
    assert made.global_block().ops[1].attr("is_test") is True
    assert not training.global_block().ops[1].attr("is_test")
    assert [n for n in made.global_block().vars if "GRAD" in n] == []
    assert made.global_block().has_var("w")
    assert made.random_seed == 3
    assert str(training) == before
    verify(made)


# -- passes ----------------------------------------------------------------------------------------


def test_pruning_keeps_what_the_fetched_variables_need(training):
    before = str(training)
    made = prune(training, ["x"], [training.global_block().var("h")])
    assert types(made) == ["mul"]
    assert list(made.global_block().vars) == ["x", "w", "lr", "h"] or list(
        made.global_block().vars
    ) == ["x", "w", "h"]
    assert str(training) == before
    verify(made)


def test_pruning_stops_at_what_is_fed(training):
    made = prune(training, ["h"], ["loss"])
    assert types(made) == ["dropout", "mean"]
    assert not made.global_block().has_var("w") or made.global_block().has_var("h")
    verify(made, feeds=["h"])


def test_pruning_keeps_an_update_that_is_fetched(training):
    found = types(prune(training, ["x"], ["w"]))
    assert found == [t for t in types(training) if t != "mean"]  # no gradient reads the loss


def test_pruning_for_an_unknown_variable_is_refused(training):
    with pytest.raises(UnknownVariableError, match="'los'; did you mean 'loss'"):
        prune(training, ["x"], ["los"])


# -- default programs, guards, scopes --------------------------------------------------------------


def test_a_guard_covers_both_programs():
    main, startup = Program(), Program()
    before = default_main_program(), default_startup_program()
    with program_guard(main, startup):
        assert (default_main_program(), default_startup_program()) == (main, startup)
        with program_guard(startup):
            assert default_main_program() is startup
            assert default_startup_program() is startup
        assert default_main_program() is main
    assert (default_main_program(), default_startup_program()) == before


def test_a_guard_is_left_after_an_error_too():
    before = default_main_program()
    with pytest.raises(ZeroDivisionError), program_guard(Program()):
        raise ZeroDivisionError
    assert default_main_program() is before


@pytest.mark.parametrize("arguments", [(None,), ("main",), (Program(), 3)])
def test_a_guard_takes_programs(arguments):
    with pytest.raises(ArgumentError, match="to be a Program, got"), program_guard(*arguments):
        pass


def test_a_switch_gives_back_what_was_there():
    main, startup = Program(), Program()
    old = switch_main_program(main), switch_startup_program(startup)
    assert (default_main_program(), default_startup_program()) == (main, startup)
    switch_main_program(old[0])
    switch_startup_program(old[1])
    assert (default_main_program(), default_startup_program()) == old


def test_a_guard_covers_one_thread_and_the_default_is_shared():
    default = default_main_program()
    mine = Program()
    found = {}
    inside, seen = threading.Event(), threading.Event()

    def other():
        found["before"] = default_main_program()
        with program_guard(Program()), name_scope("there"), unique_name.guard("there/"):
            found["guarded"] = default_main_program()
            found["scope"] = current_name_scope()
            inside.set()
            seen.wait(10)

    with program_guard(mine), name_scope("here"):
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(10)
        assert default_main_program() is mine
        assert current_name_scope() == "/here/"
        assert unique_name.generate("fc") == "fc_0"
        seen.set()
        thread.join()
    assert found["before"] is default
    assert found["guarded"] not in (default, mine)
    assert found["scope"] == "/there/"


def test_name_scopes_nest_and_are_counted():
    paths = []
    with name_scope("encoder"):
        for _ in range(2):
            with name_scope("layer"):
                paths.append(current_name_scope())
    with name_scope("encoder"):
        paths.append(current_name_scope())
    assert paths == ["/encoder/layer/", "/encoder/layer_1/", "/encoder_1/"]
    assert current_name_scope() == "/"
    with pytest.raises(ArgumentError, match="needs a name"), name_scope(""):
        pass
