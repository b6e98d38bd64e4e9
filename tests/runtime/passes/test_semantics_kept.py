"""What the rewriting of plans must not bend, found by looking for programs that it would."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import session
from fluidlite.runtime.passes import pipeline

layers = fluid.layers
F32 = "float32"


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(F32)


def runs(wanted, feed):
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        if fluid.default_startup_program().global_block().ops:
            exe.run(fluid.default_startup_program())
        return [exe.run(feed=feed, fetch_list=wanted) for _ in range(5)], exe


def agrees(wanted, feed, monkeypatch):
    """A plan computes what the steps one by one do, without a warning: its source."""
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 5
    found, exe = runs(wanted, feed)
    source = exe.plan(fetch_list=wanted).source
    with monkeypatch.context() as patch:
        patch.setattr(session, "function_for", lambda *_: None)
        expected, _ = runs(wanted, feed)
    for mine, other in zip(found, expected, strict=True):
        for a, b in zip(mine, other, strict=True):
            assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert "def run(" in source
    return source


@pytest.mark.parametrize("behind_another_kernel", [False, True])
def test_the_transpose_of_a_known_matrix_is_known(behind_another_kernel, monkeypatch):
    x = fluid.data("x", [4, 4], F32)
    known = layers.assign(array(4, 4, seed=1))
    hidden = layers.tanh(x) if behind_another_kernel else x
    for _ in range(7):
        hidden = layers.tanh(layers.matmul(hidden, known, transpose_y=True) * 0.5)
    agrees([hidden], {"x": array(4, 4)}, monkeypatch)


def test_a_product_of_the_first_product_is_not_made_before_it(monkeypatch):
    x, y = fluid.data("x", [4, 4], F32), fluid.data("y", [4, 4], F32)
    w = layers.create_parameter([4, 4], F32, "w")
    first = layers.matmul(x, w)
    others = [first, y, layers.transpose(first, [1, 0])]
    wanted = [first, *[layers.matmul(other, w) for other in others]]
    agrees(wanted, {"x": array(4, 4), "y": array(4, 4, seed=1)}, monkeypatch)


def test_a_slice_may_leave_out_a_dimension_of_what_was_padded(monkeypatch):
    x = fluid.data("x", [1, 3], F32)
    agrees([layers.pad(x * 2.0, [1, 2, 0, 0])[1]], {"x": array(1, 3)}, monkeypatch)


def test_a_part_may_be_known(monkeypatch):
    x = fluid.data("x", [3], F32)
    both = layers.stack([layers.fill_constant([3], F32, 2.0), x * 2.0])
    agrees([both[0] + x, both[1]], {"x": array(3)}, monkeypatch)


def test_a_sum_of_what_is_known_and_of_zeros_is_known(monkeypatch):
    x = fluid.data("x", [2, 3], F32)
    around = layers.slice(layers.pad(x, [1, 1, 0, 0]), [0], [0], [1])
    known = [layers.fill_constant([1, 3], F32, value) for value in (1.0, 2.0)]
    agrees([layers.sum([*known, around]) + 1.0], {"x": array(2, 3)}, monkeypatch)


def test_a_kernel_does_not_write_over_what_it_reads_a_second_time(monkeypatch):
    x = fluid.data("x", [64, 64], F32)
    x.stop_gradient = False
    t = layers.tanh(x * 0.7)
    wanted = fluid.gradients([t], [x], target_gradients=[t])
    agrees(wanted, {"x": array(64, 64)}, monkeypatch)


def test_the_two_zeros_are_two_numbers(monkeypatch):
    x = fluid.data("x", [3], F32)
    wanted = [1.0 / layers.scale(x, 0.0), 1.0 / layers.scale(x, -0.0)]
    agrees(wanted, {"x": np.ones(3, F32)}, monkeypatch)


def test_equal_operators_may_make_different_outputs(monkeypatch):
    x = fluid.data("x", [4, 3], F32)
    block = fluid.default_main_program().global_block()
    state = layers.reshape(layers.reduce_sum(x * 1.0), [1])
    wanted = []
    for number, slots in enumerate((("OutState", "OutAccum"), ())):
        made = {"Out": [block.create_var(name=f"out{number}", dtype=F32, shape=[4, 3])]}
        for slot in ("OutScale", *slots):
            made[slot] = [block.create_var(name=f"{slot}{number}", dtype=F32, shape=[1])]
        block.append_op(
            type="fake_quantize_moving_average_abs_max",
            inputs={"X": [x], "InScale": [state], "InAccum": [state], "InState": [state]},
            outputs=made,
            attrs={"bit_length": 8, "moving_rate": 0.9},
        )
        wanted += made["Out"]
    agrees(wanted, {"x": np.ones([4, 3], F32)}, monkeypatch)


@pytest.mark.parametrize("height", [1, 7])
def test_a_gradient_of_some_rows_is_fetched_as_a_whole(height, monkeypatch):
    ids = fluid.data("ids", [5, 1], "int64")
    found = layers.embedding(ids, [height, 1], is_sparse=True, param_attr="table")
    loss = layers.mean(layers.square(found))
    fluid.optimizer.SGD(0.1).minimize(loss)
    feed = {"ids": np.array([[1], [2], [2], [0], [6]]) % height}
    agrees(["table@GRAD", loss], feed, monkeypatch)


def test_what_is_fetched_is_no_view_of_what_is_known():
    x = fluid.data("x", [3], F32)
    known = layers.fill_constant([300, 300], F32, 1.5)
    wanted, exe = [layers.reshape(known, [90000]), x + 1.0], fluid.Executor()
    for _ in range(6):
        found, _ = exe.run(feed={"x": np.ones(3, F32)}, fetch_list=wanted)
        assert (found == 1.5).all()
        found[...] = 77


def test_what_is_fetched_or_kept_is_no_view_of_a_feed_that_lies_otherwise():
    x = fluid.data("x", [6, 5], F32)
    kept = layers.create_global_var([30], 0.0, F32, persistable=True, name="kept")
    flat = layers.reshape(x, [30])
    layers.assign(flat, kept)
    exe, turned = fluid.Executor(), array(5, 6).T
    exe.run(fluid.default_startup_program())
    for _ in range(4):
        exe.run(feed={"x": turned}, fetch_list=[flat])
    straight = np.ascontiguousarray(turned)
    for _ in range(3):
        (found,) = exe.run(feed={"x": straight}, fetch_list=[flat])
        assert not np.shares_memory(found, straight)
        assert not np.shares_memory(fluid.global_scope().find_var("kept").value, straight)


def test_a_mistake_in_the_making_of_a_plan_is_reported_and_the_steps_run(monkeypatch):
    def wrong(*_):
        raise IndexError("no such kernel")

    x = fluid.data("x", [3], F32)
    out, exe = x + 1.0, fluid.Executor()
    feed = {"x": np.ones(3, F32)}
    exe.run(feed=feed, fetch_list=[out])
    monkeypatch.setattr(pipeline, "run", wrong)
    with pytest.warns(RuntimeWarning, match="could not be compiled.* IndexError: no such kern"):
        assert exe.run(feed=feed, fetch_list=[out])[0].tolist() == [2, 2, 2]
    assert exe.run(feed=feed, fetch_list=[out])[0].tolist() == [2, 2, 2]
