"""Small products of the passes of a recurrent network, put together in compiled plans."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.runtime import session

layers = fluid.layers
STEPS, BATCH, WIDTH, HIDDEN = 7, 3, 4, 5


def network(fetch_more=False, x_needs_gradient=False, dtype="float32"):
    """A recurrent network that is trained: what to fetch."""
    fluid.default_main_program().random_seed = fluid.default_startup_program().random_seed = 3
    x = fluid.data("x", [STEPS, BATCH, WIDTH], dtype)
    x.stop_gradient = not x_needs_gradient
    zeros = layers.fill_constant([BATCH, HIDDEN], dtype, 0.0)
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(init=zeros)
        after = layers.fc([now, before], HIDDEN, act="tanh", param_attr=["wx", "wh"], bias_attr="b")
        rnn.update_memory(before, after)
        rnn.step_output(after)
    loss = layers.mean(layers.square(rnn()))
    fluid.optimizer.SGD(0.5).minimize(loss)
    more = ["wx@GRAD", "wh@GRAD", "b@GRAD"] if fetch_more else []
    return [loss, *more, *(["x@GRAD"] if x_needs_gradient else [])]


def results(wanted, dtype="float32"):
    """What is fetched in some steps, and the plan's source."""
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        exe.run(fluid.default_startup_program())
        rng = np.random.default_rng(0)
        found = [
            exe.run(
                feed={"x": rng.normal(size=[STEPS, BATCH, WIDTH]).astype(dtype)}, fetch_list=wanted
            )
            for _ in range(5)
        ]
    return found, exe.plan(fetch_list=wanted).source


def interpreted(wanted, monkeypatch, dtype="float32"):
    """What is fetched where every step is interpreted."""
    with monkeypatch.context() as patch:
        patch.setattr(session, "function_for", lambda *_: None)
        return results(wanted, dtype)[0]


def agree(found, expected, tolerance):
    for mine, other in zip(found, expected, strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


@pytest.mark.parametrize("fetch_more", [False, True])
@pytest.mark.parametrize("x_needs_gradient", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 1e-14)])
def test_results_agree_with_the_steps_one_by_one(
    fetch_more, x_needs_gradient, dtype, tolerance, monkeypatch
):
    wanted = network(fetch_more, x_needs_gradient, dtype)
    found, _ = results(wanted, dtype)
    agree(found, interpreted(wanted, monkeypatch, dtype), tolerance)


def products(source):
    """The lines of a source that multiply matrices."""
    return [line for line in source.splitlines() if "# mul," in line or "# matmul," in line]


def test_inputs_of_all_passes_are_multiplied_at_once():
    """One product for the inputs of all passes, one of each pass for its state; backwards one of
    each pass but the first, and one for each weight.
    """
    _, source = results(network())
    assert len(products(source)) == 1 + STEPS + (STEPS - 1) + 2


def test_gradients_of_weights_are_added_up_by_one_product():
    _, source = results(network())
    assert sum(line.count("[v") for line in source.splitlines() if "# sum" in line) == STEPS + (
        STEPS - 1
    )  # of two terms: the inputs' product and the state's; what comes from behind and from outside


def test_a_weight_is_transposed_once_for_all_passes():
    _, source = results(network())
    assert source.count("# transpose") == 1


def test_what_is_fed_to_all_passes_is_multiplied_as_it_lies():
    """Only gates and states are put together, and the gates once for all gradients."""
    _, source = results(network())
    joined = [line for line in source.splitlines() if "# concat," in line]
    assert len(joined) == 2
    assert source.count("# reduce_sum,") == 1


def test_what_depends_on_the_pass_before_is_not_moved():
    """The same matrix multiplies what the pass before has computed."""
    x = fluid.data("x", [BATCH, WIDTH], "float32")
    w = layers.create_parameter([WIDTH, WIDTH], "float32", "w")
    hidden = x
    for _ in range(5):
        hidden = layers.tanh(layers.mul(hidden, w))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([BATCH, WIDTH], "float32")}
    for _ in range(4):
        (found,) = exe.run(feed=feed, fetch_list=[hidden])
    weight = np.array(fluid.global_scope().find_var("w").get_tensor())
    expected = feed["x"]
    for _ in range(5):
        expected = np.tanh(expected @ weight)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(products(exe.plan(fetch_list=[hidden]).source)) == 5


def test_products_that_are_fetched_are_still_made():
    parts = [fluid.data(f"x{i}", [BATCH, WIDTH], "float32") for i in range(4)]
    w = layers.create_parameter([WIDTH, HIDDEN], "float32", "w")
    made = [layers.mul(part, w) for part in parts]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    rng = np.random.default_rng(1)
    weight = np.array(fluid.global_scope().find_var("w").get_tensor())
    for _ in range(4):
        feed = {p.name: rng.normal(size=[BATCH, WIDTH]).astype("float32") for p in parts}
        found = exe.run(feed=feed, fetch_list=made)
        for part, product in zip(parts, found, strict=True):
            np.testing.assert_allclose(product, feed[part.name] @ weight, rtol=1e-5, atol=1e-6)
    assert len(products(exe.plan(fetch_list=made).source)) == 1


def test_a_sum_with_a_term_that_is_fetched_is_made_term_by_term():
    parts = [fluid.data(f"x{i}", [BATCH, WIDTH], "float32") for i in range(4)]
    others = [fluid.data(f"y{i}", [BATCH, HIDDEN], "float32") for i in range(4)]
    made = [layers.matmul(a, b, transpose_x=True) for a, b in zip(parts, others, strict=True)]
    total = layers.sum(made)
    exe = fluid.Executor()
    rng = np.random.default_rng(1)
    for wanted, count in (([total], 1), ([total, made[2]], 4)):
        for _ in range(4):
            feed = {
                v.name: rng.normal(size=[BATCH, v.shape[1]]).astype("float32")
                for v in (*parts, *others)
            }
            found = exe.run(feed=feed, fetch_list=wanted)
            expected = sum(feed[f"x{i}"].T @ feed[f"y{i}"] for i in range(4))
            np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-5)
        assert len(products(exe.plan(fetch_list=wanted).source)) == count


def test_products_of_several_heads_are_left_alone(monkeypatch):
    y = fluid.data("y", [4, 2], "float32")
    xs = [fluid.data(f"x{k}", [3, 4], "float32") for k in range(6)]
    for each in (y, *xs):
        each.stop_gradient = False
    program = fluid.default_main_program()
    made = []
    for x in xs:
        out = program.current_block().create_var(dtype="float32")
        program.current_block().append_op(
            "matmul", {"X": x, "Y": y}, {"Out": out}, {"head_number": 2}
        )
        made.append(out)
    wanted = [layers.reduce_sum(layers.sums(made)), *made]
    wanted += fluid.gradients([wanted[0]], [y])
    rng = np.random.default_rng(0)
    feed = {v.name: rng.normal(size=v.shape).astype("float32") for v in (y, *xs)}
    exe = fluid.Executor()
    found = [exe.run(feed=feed, fetch_list=wanted) for _ in range(5)]
    with monkeypatch.context() as patch:
        patch.setattr(session, "function_for", lambda *_: None)
        expected = fluid.Executor().run(feed=feed, fetch_list=wanted)
    assert expected[1].shape == (3, 4)
    agree(found, [expected] * 5, 2e-6)
