"""Losses made in a branch: gradients reach what was computed in the blocks around it."""

import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.verify import verify

layers = fluid.layers
X = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6]])
RATE = 1.0


def dense(x, size, name):
    init = fluid.initializer.Uniform(-0.8, 0.8, seed=sum(map(ord, name)))
    return layers.fc(x, size, param_attr=fluid.ParamAttr(name, init), bias_attr=False, act="tanh")


def below(flag, limit):
    return layers.less_than(flag, layers.fill_constant([1], "float64", limit))


def squares(h):
    return layers.mean(layers.square(h))


def step(loss):
    """What trains: one step is the gradient."""
    fluid.optimizer.SGD(RATE).minimize(loss)


def still(loss):
    """What does not."""


# Programs: a function of a flag, of what is done with a loss in a branch, giving the result


def in_cond(x, flag, train):
    h = dense(x, 3, "w0")

    def taken():
        loss = squares(dense(h, 2, "w1"))
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def in_both(x, flag, train):
    h = dense(x, 3, "w0")

    def branch(name):
        def taken():
            loss = squares(dense(h, 2, name))
            train(loss)
            return loss

        return taken

    return layers.cond(below(flag, 0.5), branch("w1"), branch("w2"))


def shared(x, flag, train):
    h = dense(x, 3, "w0")

    def taken():
        loss = squares(dense(dense(h, 3, "w0"), 3, "w0"))
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def nested(x, flag, train):
    h = dense(x, 3, "w0")

    def outer():
        g = dense(h, 3, "w1")

        def inner():
            loss = squares(layers.elementwise_mul(dense(g, 3, "w2"), h))
            train(loss)
            return loss

        return layers.cond(below(flag, 0.2), inner, lambda: layers.mean(g))

    return layers.cond(below(flag, 0.5), outer, lambda: layers.mean(h))


def branches(x, train):
    h = dense(x, 3, "w0")

    def branch(name):
        def taken():
            loss = squares(dense(h, 2, name))
            train(loss)
            return loss

        return taken

    return [branch(f"w{k}") for k in (1, 2, 3)]


def in_case(x, flag, train):
    first, second, default = branches(x, train)
    return layers.case([(below(flag, 0.5), first), (below(flag, 1.5), second)], default)


def in_switch_case(x, flag, train):
    first, second, default = branches(x, train)
    return layers.switch_case(layers.cast(flag, "int32"), {0: first, 1: second}, default)


def in_switch(x, flag, train):
    h = dense(x, 3, "w0")
    out = layers.fill_constant([1], "float64", 0.0)
    with layers.Switch() as switch:
        with switch.case(below(flag, 0.5)):
            loss = squares(dense(h, 2, "w1"))
            train(loss)
            layers.assign(loss, out)
        with switch.default():
            layers.assign(layers.mean(h), out)
    return out


def behind_a_branch(x, flag, train):
    h = dense(x, 3, "w0")
    h = layers.cond(below(flag, 0.3), lambda: dense(h, 3, "w1"), lambda: layers.scale(h, 2.0))

    def taken():
        loss = squares(dense(h, 2, "w2"))
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def behind_a_loop(x, flag, train):
    h = dense(x, 3, "w0")
    i = layers.fill_constant([1], "float64", 0.0)

    def body(i, h):
        return [layers.increment(i), dense(h, 3, "w1")]

    _, h = layers.while_loop(lambda i, h: below(i, 3.0), body, [i, h])

    def taken():
        loss = squares(dense(h, 2, "w2"))
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def overwritten(x, flag, train):
    h = dense(x, 3, "w0")
    s = layers.square(h)
    layers.assign(layers.scale(h, 3.0), h)

    def taken():
        loss = layers.mean(layers.elementwise_mul(s, h))
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def written_inside(x, flag, train):
    h = dense(x, 3, "w0")

    def taken():
        layers.assign(layers.elementwise_mul(h, dense(h, 3, "w1")), h)
        loss = squares(h)
        train(loss)
        return loss

    return layers.cond(below(flag, 0.5), taken, lambda: layers.mean(h))


def built(program, train):
    """The program, what makes its parameters, and its result, on its own names."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", list(X.shape), "float64")
        flag = fluid.data("flag", [1], "float64")
        result = program(x, flag, train)
    verify(main)
    return main, startup, result


def parameters(main, scope):
    return {p.name: np.array(scope.find_var(p.name).get_tensor()) for p in main.all_parameters()}


def by_differences(main, result, scope, feed, name, eps=1e-6):
    """The gradient of a result with respect to a parameter."""
    tensor = scope.find_var(name).get_tensor()
    start = np.array(tensor)
    found = np.zeros_like(start)
    for at in np.ndindex(*start.shape):
        sides = []
        for sign in (1, -1):
            moved = start.copy()
            moved[at] += sign * eps
            tensor.set(moved, fluid.CPUPlace())
            (value,) = fluid.Executor().run(main, feed, [result], scope=scope)
            sides.append(float(np.sum(value)))
        found[at] = (sides[0] - sides[1]) / (2 * eps)
    tensor.set(start, fluid.CPUPlace())
    return found


PROGRAMS = [
    (in_cond, 0.0, {"w0", "w1"}),
    (in_both, 0.0, {"w0", "w1"}),
    (in_both, 1.0, {"w0", "w2"}),
    (shared, 0.0, {"w0"}),
    (nested, 0.0, {"w0", "w1", "w2"}),
    (in_case, 0.0, {"w0", "w1"}),
    (in_case, 1.0, {"w0", "w2"}),
    (in_case, 2.0, {"w0", "w3"}),
    (in_switch_case, 0.0, {"w0", "w1"}),
    (in_switch_case, 1.0, {"w0", "w2"}),
    (in_switch_case, 2.0, {"w0", "w3"}),
    (in_switch, 0.0, {"w0", "w1"}),
    (behind_a_branch, 0.0, {"w0", "w1", "w2"}),
    (behind_a_branch, 0.4, {"w0", "w2"}),
    (behind_a_loop, 0.0, {"w0", "w1", "w2"}),
    (overwritten, 0.0, {"w0"}),
    (written_inside, 0.0, {"w0", "w1"}),
]


@pytest.mark.parametrize(
    "program, value, trained", PROGRAMS, ids=[f"{p.__name__}-{v}" for p, v, _ in PROGRAMS]
)
def test_a_branch_trains_all_that_its_loss_depends_on(program, value, trained):
    main, startup, _ = built(program, step)
    plain, _, result = built(program, still)
    scope = fluid.Scope()
    exe = fluid.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": X, "flag": np.array([value])}
    before = parameters(main, scope)
    expected = {name: by_differences(plain, result, scope, feed, name) for name in trained}
    exe.run(main, feed, scope=scope)
    after = parameters(main, scope)
    assert {name for name in before if not np.array_equal(before[name], after[name])} == trained
    for name in trained:
        np.testing.assert_allclose((before[name] - after[name]) / RATE, expected[name], atol=1e-8)


def test_computing_again_in_a_branch_trains_what_was_before_it():
    found = []
    for again in (False, True):

        def train(loss, again=again):
            optimizer = fluid.optimizer.SGD(RATE)
            if again:
                (kept,) = [v for v in loss.block.vars.values() if v.name == "fc_1.tmp_1"]
                optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
                optimizer._set_checkpoints([kept])
            optimizer.minimize(loss)

        main, startup, _ = built(shared, train)
        inside = [name for name in main.block(1).vars if "subprog" in name]
        assert bool(inside) is again
        scope = fluid.Scope()
        fluid.Executor().run(startup, scope=scope)
        fluid.Executor().run(main, {"x": X, "flag": np.zeros(1)}, scope=scope)
        found.append(parameters(main, scope)["w0"])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("program", [in_cond, nested, in_switch])
def test_a_branch_that_is_not_taken_trains_nothing(program):
    main, startup, _ = built(program, step)
    scope = fluid.Scope()
    exe = fluid.Executor()
    exe.run(startup, scope=scope)
    before = parameters(main, scope)
    for _ in range(4):
        exe.run(main, {"x": X, "flag": np.array([0.9])}, scope=scope)
    after = parameters(main, scope)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_steps_of_a_branch_are_the_same_when_they_are_compiled():
    losses = []
    for runs in (1, 4):
        main, startup, result = built(nested, step)
        scope = fluid.Scope()
        fluid.Executor().run(startup, scope=scope)
        feed = {"x": X, "flag": np.array([0.0])}
        found = []
        exe = fluid.Executor()
        for k in range(4):
            if k % runs == 0:
                exe = fluid.Executor()
            found.append(float(np.sum(exe.run(main, feed, [result], scope=scope)[0])))
        losses.append(found)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-12)
    assert losses[0] == sorted(losses[0], reverse=True)


def test_gradients_in_a_branch_reach_a_variable_before_it():
    x = fluid.data("x", [3], "float64")
    x.stop_gradient = False
    y = layers.square(x)
    flag = fluid.data("flag", [1], "float64")

    def taken():
        (found,) = fluid.gradients(layers.reduce_sum(layers.square(y)), x)
        return layers.reduce_sum(found)

    out = layers.cond(below(flag, 0.5), taken, lambda: layers.reduce_sum(y))
    verify(fluid.default_main_program())
    value = np.array([1.0, 2.0, 3.0])
    (found,) = fluid.Executor().run(feed={"x": value, "flag": np.zeros(1)}, fetch_list=[out])
    assert float(np.sum(found)) == 4 * float((value**3).sum())


def test_the_program_before_the_branch_stays_as_it_was():
    with_step, _, _ = built(in_cond, step)
    without, _, _ = built(in_cond, still)
    types = [op.type for op in without.global_block().ops]
    assert [op.type for op in with_step.global_block().ops] == types
    inside = [op.type for op in with_step.block(1).ops]
    assert inside.count("mul_grad") == inside.count("tanh_grad") == 2


def test_gradients_do_not_hide_outer_ones_that_the_branch_reads():
    x = fluid.data("x", [3], "float64")
    x.stop_gradient = False
    y = layers.square(x)
    (outer,) = fluid.gradients(layers.reduce_sum(layers.square(y)), x)
    flag = fluid.data("flag", [1], "float64")

    def taken():
        (found,) = fluid.gradients(layers.reduce_sum(layers.elementwise_mul(y, outer)), x)
        return layers.reduce_sum(found)

    out = layers.cond(below(flag, 0.5), taken, lambda: layers.reduce_sum(outer))
    verify(fluid.default_main_program())
    value = np.array([0.5, 2.0, -1.0])
    (found,) = fluid.Executor().run(feed={"x": value, "flag": np.zeros(1)}, fetch_list=[out])
    np.testing.assert_allclose(float(np.sum(found)), 20 * float((value**4).sum()))


def test_a_loss_of_a_finished_branch_sees_what_was_before_the_branch():
    x = fluid.data("x", [2], "float64")
    x.stop_gradient = False
    y = layers.square(x)
    flag = fluid.data("flag", [1], "float64")
    total = layers.fill_constant([2], "float64", 0.0)
    made = []

    def taken():
        made.append(layers.reduce_sum(layers.square(y)))
        layers.assign(x, total)
        return made[0]

    layers.cond(below(flag, 0.5), taken, lambda: layers.reduce_sum(y))
    layers.assign(layers.scale(y, 100.0), y)
    (found,) = fluid.gradients(made[0], x)
    block = made[0].block
    assert found.block is block
    block.append_op("assign", {"X": found}, {"Out": total})
    verify(fluid.default_main_program())
    value = np.array([1.0, 3.0])
    (out,) = fluid.Executor().run(feed={"x": value, "flag": np.zeros(1)}, fetch_list=[total])
    np.testing.assert_allclose(out, 4 * value**3)


def test_a_loop_warns_of_parameters_that_get_no_gradient():
    x = fluid.data("x", list(X.shape), "float64")
    h = dense(x, 3, "w0")
    i = layers.fill_constant([1], "float64", 0.0)
    cond = below(i, 2.0)
    with layers.While(cond).block():
        loss = squares(dense(h, 2, "w1"))
        with pytest.warns(UserWarning, match=r"block of 'while': 'w0', used before it, get none"):
            step(loss)
        layers.increment(i)
        layers.less_than(i, layers.fill_constant([1], "float64", 2.0), cond=cond)


def test_a_loop_that_depends_on_nothing_before_it_warns_of_nothing():
    x = fluid.data("x", list(X.shape), "float64")
    i = layers.fill_constant([1], "float64", 0.0)
    cond = below(i, 2.0)
    with layers.While(cond).block(), warnings.catch_warnings():
        warnings.simplefilter("error")
        step(squares(dense(x, 2, "w1")))
        layers.increment(i)
        layers.less_than(i, layers.fill_constant([1], "float64", 2.0), cond=cond)


def test_what_stands_behind_minimize_in_a_branch_reads_the_old_parameters():
    """As in fluid, where the step comes behind the branch."""
    x = fluid.data("x", [2, 1])
    w = layers.create_parameter(
        [1, 1], "float32", "w", default_initializer=fluid.initializer.Constant(1.0)
    )

    def trained():
        fluid.optimizer.SGD(0.5).minimize(layers.mean(layers.mul(x, w)))
        return layers.reduce_sum(w)

    truth = layers.fill_constant([1], "bool", True)
    out = layers.cond(truth, trained, lambda: layers.fill_constant([1], "float32", 0.0))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = [exe.run(feed={"x": np.ones([2, 1], "float32")}, fetch_list=[out, w]) for _ in range(4)]
    assert [float(a.item()) for a, _ in found] == [1.0, 0.5, 0.0, -0.5]
    assert [float(b.item()) for _, b in found] == [0.5, 0.0, -0.5, -1.0]


def test_what_reads_a_gradient_behind_minimize_in_a_branch_finds_it():
    x = fluid.data("x", [2, 1])
    w = layers.create_parameter(
        [1, 1], "float32", "w", default_initializer=fluid.initializer.Constant(1.0)
    )

    def trained():
        _, pairs = fluid.optimizer.SGD(0.5).minimize(layers.mean(layers.mul(x, w)))
        return layers.reduce_sum(pairs[0][1])

    truth = layers.fill_constant([1], "bool", True)
    out = layers.cond(truth, trained, lambda: layers.fill_constant([1], "float32", 0.0))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": np.ones([2, 1], "float32")}, fetch_list=[out])
    assert found.item() == 1.0
