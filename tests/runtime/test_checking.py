"""With FLUIDLITE_CHECK=1 every run is interpreted and compiled, and compared."""

import numpy as np
import pytest
from oracle.test_training import CASES, Training
from shares import shared

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.ground.values import SelectedRows
from fluidlite.opdef import definition
from fluidlite.opdef.prepared import Prepared
from fluidlite.runtime.checking import bound, difference

layers = fluid.layers


@pytest.fixture
def checking(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")


@pytest.fixture
def prepare(monkeypatch):
    """A function that gives an operator another prepared kernel."""
    known = definition.preparation_of

    def replace(type, function, **how):
        def wrong(op, *specs):
            return Prepared(function, **how)

        monkeypatch.setattr(
            definition, "preparation_of", lambda name: wrong if name == type else known(name)
        )

    return replace


def run_three_times(program_feed, fetched):
    exe = fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    return [exe.run(feed=program_feed, fetch_list=fetched) for _ in range(4)]


@pytest.mark.filterwarnings("ignore:set_gradient_clip is the old way")
@pytest.mark.filterwarnings("ignore:.* an earlier minimize of")  # minimize_twice means it
@pytest.mark.parametrize("name", shared(sorted(CASES)))
def test_trainings_agree_step_by_step(name, checking):
    Training(CASES[name])


def test_an_operator_that_computes_otherwise_is_named_with_its_line(checking, prepare):
    prepare("square", lambda x, out=None: np.multiply(x, x, out=out) + 0.01, over=(0,), out=False)
    x = fluid.data("x", [3, 40], "float32")
    hidden = layers.tanh(x)
    out = layers.reduce_sum(layers.square(hidden))
    with pytest.raises(
        RuntimeError,
        match=r"(?s)square: the compiled plan computes variable 'square_0.tmp_0' otherwise: "
        r"120 of 120 elements differ, the first at \[0, 0\]: .* in place of .*"
        r"built at .*test_checking.py:\d+",
    ):
        run_three_times({"x": np.ones([3, 40], "float32")}, [out])


def test_what_is_far_below_the_rounding_of_an_operand_is_no_difference(checking, prepare):
    """A difference is held against the largest element that the operator reads."""
    prepare("elementwise_mul", lambda x, y: np.multiply(x, y) + np.float32(0.5))
    large, small = fluid.data("x", [30, 40], "float32"), fluid.data("y", [30, 40], "float32")
    product = layers.elementwise_mul(large, small)
    feed = {"x": np.full([30, 40], 1e6, "float32"), "y": np.full([30, 40], 1e-6, "float32")}
    found = run_three_times(feed, [product])
    assert found[-1][0][0, 0] == pytest.approx(1.5)


def test_a_kernel_that_writes_to_what_it_reads_is_found(checking, prepare):
    prepare("square", lambda x: np.multiply(x, x, out=x))
    x = fluid.data("x", [30, 400], "float32")
    hidden = layers.tanh(x)
    out = layers.square(hidden)
    both = layers.elementwise_add(hidden, out)
    with pytest.raises(RuntimeError, match="the compiled plan computes variable"):
        run_three_times({"x": np.full([30, 400], 0.5, "float32")}, [both])


def test_rounding_that_grows_behind_a_kink_is_no_difference(checking):
    """Adam divides by the size of a gradient, be it rounding alone."""
    x = fluid.data("x", [64, 8], "float32")
    hidden = layers.batch_norm(layers.fc(x, 16))  # takes the bias away again
    loss = layers.mean(layers.square(hidden))
    fluid.optimizer.Adam(0.1).minimize(loss)
    feed = {"x": np.random.default_rng(0).normal(size=[64, 8]).astype("float32")}
    run_three_times(feed, [loss])


def test_values_of_a_checked_run_are_those_of_a_specialised_one(monkeypatch):
    x = fluid.data("x", [64, 50], "float32")
    loss = layers.mean(layers.square(layers.dropout(layers.fc(x, 30, act="tanh"), 0.3)))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 5
    feed = {"x": np.random.default_rng(0).normal(size=[64, 50]).astype("float32")}
    plain = run_three_times(feed, [loss])
    monkeypatch.setenv("FLUIDLITE_CHECK", "1")
    assert run_three_times(feed, [loss]) == plain


def test_numbers_drawn_in_turn_are_no_difference(monkeypatch):
    out = layers.mean(layers.tanh(layers.dropout(fluid.data("x", [4, 6], "float32"), 0.5) * 2.0))
    found = []
    for checks in "01":
        monkeypatch.setenv("FLUIDLITE_CHECK", checks)
        paddle.seed(3)
        found.append(run_three_times({"x": np.ones([4, 6], "float32")}, [out]))
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_blocks_of_loops_are_compared_too(checking, prepare):
    prepare("square", lambda x: x * x * 1.5)
    x = fluid.data("x", [4], "float32")
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    found = layers.while_loop(
        lambda i, y: layers.less_than(i, n),
        lambda i, y: [layers.increment(i), layers.scale(layers.square(y), 0.5)],
        [i, x],
    )
    with pytest.raises(RuntimeError, match="square: the compiled plan computes variable"):
        run_three_times({"x": np.ones(4, "float32")}, [found[1]])


def test_what_counts_as_a_difference():
    ones = np.ones([2, 3], "float32")
    near, far = ones.copy(), ones.copy()
    near[1, 2] += bound(ones.dtype, 1.0) / 2
    far[1, 2] += bound(ones.dtype, 1.0) * 2
    assert not difference(near, ones)
    assert "1 of 6 elements differ, the first at [1, 2]" in difference(far, ones)
    assert not difference(far, ones, largest=4.0)
    assert "float64[2, 3] in place of float32[2, 3]" in difference(ones.astype("float64"), ones)
    assert "float32[6] in place of" in difference(ones.reshape(6), ones)
    assert difference(np.arange(3), np.array([0, 1, 3]))
    assert not difference(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]))
    assert difference(np.array([np.nan, 1.0]), np.array([1.0, 1.0]))
    assert difference(np.array([-np.inf]), np.array([np.inf]))
    rows = SelectedRows([1, 2], 5, np.ones([2, 3]))
    assert not difference(rows, rows)
    assert difference(SelectedRows([1, 3], 5, np.ones([2, 3])), rows) == "other rows are stored"
    assert "SelectedRows" in difference(np.ones([2, 3]), rows)


def test_what_is_not_a_number_is_found_and_infinity_is_a_number(checking):
    x = fluid.data("x", [3], "float32")
    out = layers.log(x)
    exe = fluid.Executor()
    assert np.isneginf(exe.run(feed={"x": np.zeros(3, "float32")}, fetch_list=[out])[0]).all()
    with pytest.raises(ArithmeticError, match="log: variable .* holds NaN: 3 of 3 elements"):
        exe.run(feed={"x": -np.ones(3, "float32")}, fetch_list=[out])
