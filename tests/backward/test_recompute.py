"""Recomputing between checkpoints changes memory and time, and no bit of a value."""

from types import SimpleNamespace

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.verify import verify
from fluidlite.runtime.graph import Instruction

layers = fluid.layers


def trained(checkpoints, steps=4):
    """Losses and parameters of a net with dropout, with and without checkpoints."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 5
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 6], "float32")
        hidden, kept = x, []
        for k in range(6):
            hidden = layers.dropout(layers.fc(hidden, 8, act="tanh"), 0.3, seed=11 + k)
            kept.append(hidden)
        loss = layers.mean(layers.square(layers.fc(hidden, 1)))
        optimizer = fluid.optimizer.Adam(0.01)
        if checkpoints:
            optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
            optimizer.set_checkpoints([kept[k] for k in checkpoints])
        optimizer.minimize(loss)
    verify(main)
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(0).normal(size=[5, 6]).astype("float32")}
    losses = [exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(steps)]
    values = {p.name: np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()}
    return losses, values, main


@pytest.mark.parametrize("checkpoints", [[0], [1, 3], [0, 1, 2, 3, 4]])
def test_losses_and_parameters_are_equal_to_the_last_bit(checkpoints):
    plain_losses, plain, _ = trained([])
    losses, values, main = trained(checkpoints)
    assert any(".subprog_" in name for name in main.global_block().vars)
    np.testing.assert_array_equal(losses, plain_losses)
    for name, value in plain.items():
        np.testing.assert_array_equal(values[name], value)


def test_the_masks_of_dropout_without_a_seed_are_drawn_once():
    x = fluid.data("x", [None, 64], "float32")
    x.stop_gradient = False
    hidden = layers.scale(x, 1.0)
    dropped = layers.dropout(hidden, 0.5, dropout_implementation="upscale_in_train")
    out = layers.square(dropped)
    end = layers.scale(out, 1.0)
    loss = layers.reduce_sum(end)
    fluid.backward.append_backward(loss, checkpoints=[hidden, end])
    exe = fluid.Executor()
    feed = {"x": np.ones([3, 64], "float32")}
    first, slope = exe.run(feed=feed, fetch_list=[dropped, "x@GRAD"])
    np.testing.assert_allclose(slope, 2 * first * 2 * (first > 0), rtol=1e-6)
    (second,) = exe.run(feed=feed, fetch_list=[dropped])
    assert (first != second).any()


def test_a_checkpoint_that_is_no_variable_is_refused():
    x = fluid.data("x", [None, 2], "float32")
    loss = layers.mean(layers.fc(x, 1))
    before = str(fluid.default_main_program())
    with pytest.raises(ValueError, match="'nope' is no variable of block 0"):
        fluid.backward.append_backward(loss, checkpoints=["nope"])
    assert str(fluid.default_main_program()) == before


@pytest.mark.parametrize("fed", [True, False])
def test_checkpoints_that_are_fed_or_none_at_all_change_nothing(fed):
    x = fluid.data("x", [None, 2], "float32")
    loss = layers.mean(layers.fc(x, 1))
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    optimizer._set_checkpoints([x] if fed else [])
    optimizer.minimize(loss)
    assert [op.type for op in loss.block.ops] == [
        *("mul", "elementwise_add", "mean", "fill_constant"),
        *("mean_grad", "elementwise_add_grad", "mul_grad", "sgd", "sgd"),
    ]


def test_a_recompute_optimizer_needs_its_checkpoints():
    x = fluid.data("x", [None, 2], "float32")
    loss = layers.mean(layers.fc(x, 1))
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    with pytest.raises(ValueError, match="call set_checkpoints"):
        optimizer.minimize(loss)
    with pytest.raises(TypeError, match="expected an optimizer"):
        fluid.optimizer.RecomputeOptimizer(3)


def test_only_operators_that_are_run_again_are_taken_for_such_by_plans():
    """Gradients that are written out have operators of the backward pass, too; those are fused."""

    def repeated(program):
        ops = program.global_block().ops
        made = [Instruction(op, (), [], {}, SimpleNamespace(op=op)) for op in ops]
        return [i.origin.op.output_arg_names[0] for i in made if i.rematerializes]

    x = fluid.data("x", [2, 3])
    x.stop_gradient = False
    h = fluid.layers.tanh(fluid.layers.exp(x))
    loss = fluid.layers.mean(h * x)
    main = fluid.default_main_program()
    plain, again = main.clone(), main.clone()
    fluid.append_backward(plain.global_block().var(loss.name))
    fluid.append_backward(again.global_block().var(loss.name), checkpoints=[h.name])
    written = fluid.transform.expand(plain)
    assert not any(op.type.endswith("_grad") for op in written.global_block().ops)
    assert repeated(written) == []
    assert repeated(again) == ["exp_0.tmp_0.subprog_0"]
