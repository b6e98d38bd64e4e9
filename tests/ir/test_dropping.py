"""Programs for testing: what they leave out, and that it does not matter when they are made."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.compare import differences
from fluidlite.ir.pruning import drop_blocks
from fluidlite.ir.verify import verify

from specimens import lenet, loop, parsed


def main():
    return fluid.default_main_program()


def scheduled(loss):
    rate = fluid.layers.exponential_decay(0.1, decay_steps=5, decay_rate=0.5, staircase=True)
    clip = fluid.clip.GradientClipByGlobalNorm(1.0)
    decay = fluid.regularizer.L2Decay(0.01)
    fluid.optimizer.Adam(rate, regularization=decay, grad_clip=clip).minimize(loss)


OPTIMIZERS = {
    "sgd": lambda loss: fluid.optimizer.SGD(0.1).minimize(loss),
    "scheduled adam": scheduled,
    "backward alone": fluid.backward.append_backward,
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_clone_is_the_same_before_and_after_minimize(name):
    loss = lenet(train=False)
    before = main().clone(for_test=True)
    OPTIMIZERS[name](loss)
    after = main().clone(for_test=True)
    verify(after)
    assert not differences(before, after)
    assert list(before.global_block().vars) == list(after.global_block().vars)


def test_a_clone_says_what_was_left_out():
    loss = lenet(train=False)
    assert main().dropped is None
    scheduled(loss)
    dropped = main().clone(for_test=True).dropped
    assert [what for what, _ in dropped.operators] == ["learning-rate", "backward", "optimizer"]
    assert "fc_0.w_0@GRAD" in dropped.variables and "fc_0.w_0" not in dropped.variables
    text = str(dropped)
    assert text.startswith("left out: ") and "backward operators; " in text
    assert "variables that no other operator mentions: " in text


def test_where_nothing_is_left_out_it_says_so():
    lenet(train=False)
    dropped = main().clone(for_test=True).dropped
    assert not dropped and str(dropped) == "nothing was left out"
    assert main().clone().dropped is None


def test_blocks_of_gradients_go_too():
    x = fluid.data("x", [1], "float32")
    x.stop_gradient = False
    limit = fluid.layers.fill_constant([1], "float32", 1.0)
    (small,) = fluid.layers.while_loop(
        lambda v: fluid.layers.less_than(limit, v), lambda v: [v * 0.5], [x]
    )
    loss = fluid.layers.mean(small)
    before = main().clone(for_test=True)
    feed = {"x": np.array([5.0], "float32")}
    (wanted,) = fluid.Executor().run(main(), feed=feed, fetch_list=[loss])
    fluid.optimizer.SGD(0.1)
    fluid.backward.append_backward(loss)
    after = main().clone(for_test=True)
    assert before.num_blocks == after.num_blocks == 2 < main().num_blocks
    verify(after)
    (value,) = fluid.Executor().run(after, feed=feed, fetch_list=[loss.name])
    assert value == wanted


def test_blocks_behind_those_that_go_get_other_numbers():
    loop()
    program = main().clone()
    program.global_block().ops[:] = [
        op for op in program.global_block().ops if op.type not in ("while", "while_grad")
    ]
    drop_blocks(program, [1])
    assert program.num_blocks == 1  # the block of gradients belongs to the one that went


def test_unknown_operators_drive_their_blocks_by_the_new_numbers():
    text = """program (seed=0) {
      block 0 {
        var x: float32[1]
        {Out=x} = first(X=x, sub_block=block 1)
        {Out=x} = second(X=x, sub_block=block 2, others=[block 2, block 2])
      }
      block 1 in 0 {
      }
      block 2 in 0 {
      }
    }"""
    program = fluid.Program.parse(text.replace("[block 2, block 2]", "blocks [2, 2]"))
    program.global_block().remove_op(0)
    drop_blocks(program, [1])
    (op,) = program.global_block().ops
    assert op.attrs["sub_block"] == 1 and op.attrs["others"] == (1, 1)
    assert [block.idx for block in program.blocks] == [0, 1]


def test_what_no_operator_mentioned_before_stays_but_where_a_program_is_pruned():
    text = "data x: float32[2]\ndata z: float32[2]\nparam w: float32[2]\nvar unused: float32[2]"
    program = parsed(text)
    assert list(program.clone(for_test=True).global_block().vars) == ["x", "z", "w", "unused"]
    assert list(program.pruned(["x"], ["unused"]).global_block().vars) == ["x", "unused"]


def test_state_that_no_operator_mentions_goes_with_the_optimizer():
    fluid.layers.create_global_var([1], 0.0, "float32", persistable=True, name="state")
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2], "float32"), 1))
    assert main().clone(for_test=True).global_block().has_var("state")
    fluid.optimizer.SGD(0.1).minimize(loss)
    assert not main().clone(for_test=True).global_block().has_var("state")
