"""Mixed precision: what works in 16 bits, the factor on the loss, and training with both."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.contrib.mixed_precision import AutoMixedPrecisionLists, decorate
from fluidlite.errors import ArgumentError, FluidWarning
from fluidlite.ground.dtypes import DType

from building import data, refused

HALF, SINGLE = DType.FP16, DType.FP32
WIDE = AutoMixedPrecisionLists(custom_black_list=["mul", "matmul", "conv2d"])


def dtypes(*names):
    block = fluid.default_main_program().global_block()
    return [block.var(name).dtype for name in names]


def static(optimizer=None, lists=None, scaling=8.0):
    return decorate(
        optimizer or fluid.optimizer.SGD(0.1), lists, scaling, use_dynamic_loss_scaling=False
    )


def started():
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe


# -- the lists -------------------------------------------------------------------------------------


def test_a_type_of_a_custom_list_leaves_the_others():
    lists = AutoMixedPrecisionLists(["softmax", "tanh"], ["mul", "scale"])
    assert lists.white_list == {"conv2d", "matmul", "softmax", "tanh"}
    assert "softmax" not in lists.black_list and {"mul", "scale"} < lists.black_list
    assert not {"tanh", "scale"} & lists.gray_list


@pytest.mark.parametrize(
    "given, message",
    [
        ((["relu"], ["relu"]), "got 'relu' in both"),
        (("relu",), "expected custom_white_list to be a list of texts, got 'relu'"),
        ((None, [1]), r"expected custom_black_list to be a list of texts, got \[1\]"),
        ((None, None, 3), "expected custom_black_varnames to be a list of texts, got 3"),
    ],
)
def test_lists_of_something_else_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        AutoMixedPrecisionLists(*given)


# -- the program -----------------------------------------------------------------------------------


def test_products_read_copies_in_16_bits_and_losses_in_32():
    label = data("y", [None, 1], "int64")
    hidden = fluid.layers.fc(data(), 5, act="relu")
    out = fluid.layers.fc(hidden, 3, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(out, label))
    static().minimize(loss)
    types = [op.type for op in fluid.default_main_program().global_block().ops]
    forward = types[: types.index("fill_constant")]
    assert forward == [
        *["cast", "cast", "mul", "cast", "elementwise_add", "relu"],
        *["cast", "mul", "cast", "elementwise_add"],
        *["cast", "softmax", "cross_entropy2", "mean", "elementwise_mul"],
    ]
    halves = ["x.cast_fp16", "fc_0.w_0.cast_fp16", "fc_0.tmp_0", "fc_0.tmp_2", "fc_1.tmp_1"]
    assert set(dtypes(*halves, "fc_1.tmp_1@GRAD", "fc_0.w_0.cast_fp16@GRAD")) == {HALF}
    singles = ["x", "fc_0.w_0", "fc_0.w_0@GRAD", "fc_1.tmp_1.cast_fp32", "fc_1.tmp_2"]
    assert set(dtypes(*singles, loss.name)) == {SINGLE}


def test_a_value_that_several_operators_read_is_copied_once():
    x = data()
    hidden = fluid.layers.fc(x, 4, bias_attr=False) + fluid.layers.fc(x, 4, bias_attr=False)
    static().backward(fluid.layers.mean(hidden))
    ops = fluid.default_main_program().global_block().ops
    assert [op.input("X") for op in ops if op.type == "cast"].count(["x"]) == 1


def test_a_value_that_is_overwritten_is_copied_again():
    x = data(shape=[2, 4])
    state = fluid.layers.fill_constant([2, 4], "float32", 1.0)
    first = fluid.layers.matmul(x, state, transpose_y=True)
    fluid.layers.assign(x * 3.0, state)
    second = fluid.layers.matmul(x, state, transpose_y=True)
    loss = fluid.layers.mean(first) + fluid.layers.mean(second)
    with pytest.warns(FluidWarning, match="no trainable parameter"):
        static().backward(loss)
    value = np.eye(2, 4, dtype="float32")
    (found,) = started().run(feed={"x": value}, fetch_list=[loss])
    assert found[0] == pytest.approx(1.0 + 6.0 / 4)


def test_a_gray_operator_follows_what_it_reads_and_black_goes_before_white():
    x = data()
    half = fluid.layers.fc(x, 4, bias_attr=False)
    both = half + fluid.layers.softmax(half)
    follows = fluid.layers.scale(x, 2.0) + half
    loss = fluid.layers.mean(both) + fluid.layers.mean(follows)
    static().backward(loss)
    assert dtypes(half.name, both.name, follows.name) == [HALF, SINGLE, HALF]


def test_names_of_variables_keep_operators_in_32_bits():
    x = data()
    first = fluid.layers.fc(x, 4, bias_attr=False)
    second = fluid.layers.fc(first, 4, bias_attr=False)
    lists = AutoMixedPrecisionLists(custom_black_varnames=["fc_0.w_0"])
    static(lists=lists).backward(fluid.layers.mean(second))
    assert dtypes(first.name, second.name) == [SINGLE, HALF]


def test_a_cast_of_the_user_gives_what_the_user_said():
    wide = fluid.layers.cast(fluid.layers.fc(data(), 4), "float32")
    static().backward(fluid.layers.mean(wide))
    assert dtypes(wide.name) == [SINGLE]
    (found,) = started().run(feed={"x": np.ones([2, 4], "float32")}, fetch_list=[wide])
    assert found.dtype == "float32"


def test_what_blocks_of_branches_mention_stays_in_32_bits():
    hidden = fluid.layers.fc(data(), 4)
    positive = fluid.layers.reduce_all(hidden > -1e9)
    out = fluid.layers.cond(positive, lambda: hidden * 2.0, lambda: hidden)
    loss = fluid.layers.mean(out)
    static().minimize(loss)
    assert dtypes("fc_0.tmp_0", hidden.name, out.name) == [HALF, SINGLE, SINGLE]
    exe = started()
    before, after = (
        exe.run(feed={"x": np.ones([2, 4], "float32")}, fetch_list=[loss])[0] for _ in range(2)
    )
    assert after < before


def test_statistics_of_batch_norm_stay_in_32_bits():
    hidden = fluid.layers.batch_norm(fluid.layers.conv2d(data(shape=[2, 3, 5, 5]), 4, 3))
    loss = fluid.layers.mean(hidden * hidden)
    static().minimize(loss)
    assert dtypes(hidden.name, "batch_norm_0.tmp_0", "batch_norm_0.w_1") == [HALF, SINGLE, SINGLE]
    value = np.random.default_rng(0).normal(size=[2, 3, 5, 5]).astype("float32")
    exe = started()
    for _ in range(3):
        found, mean = exe.run(feed={"x": value}, fetch_list=[hidden, "batch_norm_0.w_1"])
    assert found.dtype == "float16" and mean.dtype == "float32"
    assert abs(found.astype("float32").mean()) < 1e-3


def test_an_operator_of_a_custom_list_gets_all_of_its_numbers_in_16_bits():
    hidden = fluid.layers.layer_norm(data())
    lists = AutoMixedPrecisionLists(["layer_norm"])
    static(fluid.optimizer.SGD(0.0), lists).minimize(fluid.layers.mean(hidden))
    assert dtypes(hidden.name, "layer_norm_0.w_0", "layer_norm_0.w_0.cast_fp16") == [
        *[HALF, SINGLE, HALF]
    ]
    value = np.random.default_rng(0).normal(size=[3, 4]).astype("float32")
    exe = started()
    for _ in range(3):
        (found,) = exe.run(feed={"x": value}, fetch_list=[hidden])
    assert found.dtype == "float16" and np.allclose(found.astype("f").mean(axis=1), 0.0, atol=1e-3)


def test_a_clone_for_tests_that_was_made_before_is_left_alone():
    loss = fluid.layers.mean(fluid.layers.fc(data(), 1))
    test = fluid.default_main_program().clone(for_test=True)
    before = str(test)
    static().minimize(loss)
    assert str(test) == before


def test_a_clone_for_tests_has_no_factor_and_no_steps():
    out = fluid.layers.fc(data(), 1)
    loss = fluid.layers.mean(out)
    decorate(fluid.optimizer.Adam(0.1)).minimize(loss)
    test = fluid.default_main_program().clone(for_test=True)
    assert {op.type for op in test.global_block().ops} <= {
        *["cast", "mul", "elementwise_add", "elementwise_mul", "mean"]
    }


def test_a_loss_in_16_bits_is_scaled_in_32():
    half = fluid.layers.fc(data(shape=[1, 4]), 1)
    optimizer = static(scaling=4.0)
    loss = fluid.layers.reshape(half, [1])
    optimizer.minimize(loss)
    assert loss.dtype is HALF
    assert optimizer.get_scaled_loss().dtype is SINGLE


def test_names_of_both_variables_and_what_minimize_returns():
    loss = fluid.layers.mean(fluid.layers.fc(data(), 1))
    optimizer = static(scaling=4.0)
    ops, pairs = optimizer.minimize(loss)
    assert [op.type for op in ops] == ["sgd", "sgd"]
    assert optimizer.get_loss_scaling().name == "loss_scaling_0"
    value = np.ones([2, 4], "float32")
    feed = {"x": value}
    names = [loss, optimizer.get_scaled_loss(), optimizer.get_loss_scaling()]
    plain, scaled, factor = started().run(feed=feed, fetch_list=names)
    assert scaled == 4.0 * plain and factor == 4.0
    grads = fluid.Executor().run(feed=feed, fetch_list=[g for _, g in pairs])
    by_name = {p.name: g for (p, _), g in zip(pairs, grads, strict=True)}
    np.testing.assert_allclose(by_name["fc_0.w_0"], np.ones([4, 1]))
    np.testing.assert_allclose(by_name["fc_0.b_0"], [1.0])


def test_backward_and_apply_gradients_are_the_halves_of_minimize():
    def build(halves):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            loss = fluid.layers.mean(fluid.layers.fc(data(), 1))
            optimizer = decorate(fluid.optimizer.Momentum(0.1, 0.9))
            if halves:
                optimizer.apply_gradients(optimizer.backward(loss))
            else:
                optimizer.minimize(loss)
        blocks = [block for program in (main, startup) for block in program.blocks]
        return [(op.type, op.inputs, op.outputs, op.role) for block in blocks for op in block.ops]

    assert build(True) == build(False)


class Failing(fluid.optimizer.SGD):
    def attrs(self, param):
        raise RuntimeError("no attributes")


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_minimize_that_fails_leaves_the_programs_as_they_were(dynamic):
    hidden = fluid.layers.fc(data(), 4, act="relu")
    loss = fluid.layers.mean(fluid.layers.fc(hidden, 1))
    optimizer = decorate(Failing(0.1), use_dynamic_loss_scaling=dynamic)
    before = str(fluid.default_main_program())
    with refused(RuntimeError, "no attributes"):
        optimizer.minimize(loss)
    assert str(fluid.default_main_program()) == before
    assert dtypes(hidden.name) == [SINGLE]


# -- the factor ------------------------------------------------------------------------------------


def square_error():
    y = data("y", [None, 1])
    half = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5))
    out = fluid.layers.fc(data(shape=[None, 2]), 1, param_attr=half)
    return fluid.layers.mean(fluid.layers.square_error_cost(out, y))


POINTS = np.array([[1, 2], [3, -1]], "float32")
LABELS = np.ones([2, 1], "float32")
# Losses, factors and weights of fluid 1.8.5 on a processor, where nothing is rewritten: good steps
# first, then three whose input is infinite.  fluid counts one step more before it changes a factor.
LOSSES = [0.125, 0.11050001531839371, 0.09784945845603943, 0.0867796242237091]
WEIGHTS = [
    [0.4950000047683716, 0.49000000953674316],
    [0.49059998989105225, 0.4805000126361847],
    [0.4867289960384369, 0.4714770019054413],
    [0.4833243489265442, 0.4629088044166565],
]
FACTORS = [8.0, 8.0, 16.0, 16.0, 16.0, 16.0, 8.0]


def test_losses_weights_and_factors_are_those_of_fluid():
    loss = square_error()
    optimizer = decorate(fluid.optimizer.SGD(0.01), WIDE, 8.0, 3, 3, 2.0, 0.5)
    optimizer.minimize(loss)
    exe = started()
    for step, factor in enumerate(FACTORS):
        feed = {"x": POINTS if step < 4 else POINTS * np.inf, "y": LABELS}
        fetched = exe.run(feed=feed, fetch_list=[loss, "fc_0.w_0", optimizer.get_loss_scaling()])
        if step < 4:
            assert fetched[0][0] == pytest.approx(LOSSES[step], rel=1e-6)
        np.testing.assert_allclose(fetched[1].ravel(), WEIGHTS[min(step, 3)], rtol=1e-6)
        assert fetched[2][0] == factor


@pytest.mark.parametrize(
    "optimizer", [fluid.optimizer.Momentum, fluid.optimizer.AdamOptimizer], ids=["momentum", "adam"]
)
def test_a_step_that_overflows_leaves_parameters_and_states_alone(optimizer):
    loss = square_error()
    inner = optimizer(0.01, 0.9)
    amp = decorate(inner, None, 8.0, 100, 100)
    amp.minimize(loss)
    exe = started()
    names = ["fc_0.w_0", "fc_0.b_0", *inner.get_opti_var_name_list()]

    def after(points):
        exe.run(feed={"x": points, "y": LABELS})
        return [np.array(fluid.global_scope().find_var(n).get_tensor()) for n in names]

    after(POINTS)
    before = after(POINTS)
    assert all(map(np.array_equal, after(POINTS * 1e6), before))  # infinite as float16
    assert all(map(np.array_equal, after(POINTS * np.nan), before))
    assert not np.array_equal(after(POINTS)[0], before[0])


def test_the_factor_rises_after_good_steps_and_falls_after_bad_ones_in_a_row():
    loss = square_error()
    optimizer = decorate(fluid.optimizer.SGD(0.01), None, 8.0, 2, 2, 4.0, 0.5)
    optimizer.minimize(loss)
    exe = started()
    found = []
    for bad in [0, 0, 1, 1, 1, 0, 1, 1, 0, 0]:
        feed = {"x": POINTS * np.inf if bad else POINTS, "y": LABELS}
        (factor,) = exe.run(feed=feed, fetch_list=[optimizer.get_loss_scaling()])
        found.append(factor[0])
    assert found == [8, 32, 32, 16, 16, 16, 16, 8, 8, 32]


def test_the_factor_stays_at_least_1_and_finite():
    loss = square_error()
    optimizer = decorate(fluid.optimizer.SGD(0.0), WIDE, 1.5, 1, 1, 3e38, 0.5)
    optimizer.minimize(loss)
    exe = started()

    def factor(points):
        feed = {"x": points, "y": 0.0 * LABELS}
        return exe.run(feed=feed, fetch_list=[optimizer.get_loss_scaling()])[0][0]

    assert factor(POINTS * np.inf) == 1.0
    assert factor(0.0 * POINTS) == np.float32(3e38)
    assert factor(0.0 * POINTS) == np.float32(3e38)


def test_small_gradients_do_not_become_zero():
    def gradient(scaling):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup):
            out = fluid.layers.fc(data(shape=[1, 4]), 1, bias_attr=False)
            loss = fluid.layers.mean(out) * 1e-8
            ((_, found),) = static(scaling=scaling).backward(loss)
        exe = fluid.Executor()
        with fluid.scope_guard(fluid.Scope()):
            exe.run(startup)
            return exe.run(main, feed={"x": np.ones([1, 4], "float32")}, fetch_list=[found])[0]

    assert not gradient(1.0).any()
    np.testing.assert_allclose(gradient(2.0**15), np.full([4, 1], 1e-8), rtol=1e-3)


def test_gradients_of_rows_are_scaled_and_skipped_too():
    words = data("words", [None, 1], "int64")
    factor = data("factor", [1])
    table = fluid.layers.embedding(words, [6, 4], is_sparse=True)
    out = fluid.layers.fc(table, 1, bias_attr=False)
    loss = fluid.layers.mean(out) * factor
    decorate(fluid.optimizer.SGD(0.5), None, 8.0, 100, 100).minimize(loss)
    exe = started()
    value = lambda: np.array(fluid.global_scope().find_var("embedding_0.w_0").get_tensor())
    first, ids = value(), np.array([[1], [4]])
    exe.run(feed={"words": ids, "factor": np.ones([1], "float32")})
    second = value()
    moved = np.abs(second - first).sum(axis=1) > 0
    assert moved.tolist() == [False, True, False, False, True, False]
    exe.run(feed={"words": ids, "factor": np.full([1], np.inf, "float32")})
    assert np.array_equal(value(), second)


# -- training --------------------------------------------------------------------------------------


def spirals(count=96):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, [count, 1])
    turn = rng.uniform(0.5, 3.0, [count, 1])
    angle = turn * 2 + kind * np.pi
    points = np.hstack([turn * np.cos(angle), turn * np.sin(angle)]) / 3
    return points.astype("float32"), kind.astype("int64")


def pictures(count=48):
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 3, [count, 1])
    images = rng.normal(0, 0.3, [count, 1, 8, 8])
    for image, k in zip(images, kind.ravel(), strict=True):
        image[0, 2 * k : 2 * k + 2] += 1.0
    return images.astype("float32"), kind.astype("int64")


def mlp(x):
    hidden = fluid.layers.fc(x, 32, act="tanh")
    return fluid.layers.fc(fluid.layers.fc(hidden, 32, act="relu"), 2)


def conv_net(x):
    hidden = fluid.layers.conv2d(x, 8, 3, padding=1, bias_attr=False)
    hidden = fluid.layers.batch_norm(hidden, act="relu")
    hidden = fluid.layers.pool2d(hidden, 2, "max", 2)
    hidden = fluid.layers.conv2d(hidden, 8, 3, padding=1, act="relu")
    return fluid.layers.fc(hidden, 3)


def losses(net, examples, steps, amp):
    """The losses of a training that begins the same with and without mixed precision."""
    x, y = examples
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 7
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        image, label = data(shape=[None, *x.shape[1:]]), data("y", [None, 1], "int64")
        loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(net(image), label))
        optimizer = fluid.optimizer.Adam(0.01)
        if amp:
            optimizer = decorate(optimizer, incr_every_n_steps=20)
        optimizer.minimize(loss)
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        run = lambda: exe.run(main, feed={"x": x, "y": y}, fetch_list=[loss])[0]
        return np.array([run()[0] for _ in range(steps)])


@pytest.mark.parametrize(
    "net, examples, steps", [(mlp, spirals, 150), (conv_net, pictures, 25)], ids=["mlp", "conv"]
)
def test_training_converges_as_in_32_bits(net, examples, steps):
    wide = losses(net, examples(), steps, amp=False)
    mixed = losses(net, examples(), steps, amp=True)
    assert mixed[-1] < 0.25 * mixed[0]
    np.testing.assert_allclose(mixed[:8], wide[:8], atol=0.02)
    np.testing.assert_allclose(mixed[-1], wide[-1], atol=0.05)


def test_other_optimizers_go_around_it_and_inside_it():
    def trained(wrap):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            loss = square_error()
            wrap(loss)
        exe = fluid.Executor()
        with fluid.scope_guard(fluid.Scope()):
            exe.run(startup)
            feed = {"x": POINTS, "y": LABELS}
            return [exe.run(main, feed=feed, fetch_list=[loss])[0][0] for _ in range(12)]

    def lookahead(loss):
        inner = decorate(fluid.optimizer.SGD(0.05), None, 8.0)
        fluid.optimizer.LookaheadOptimizer(inner, k=2).minimize(loss)

    def recompute(loss):
        inner = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.05))
        inner.set_checkpoints([loss.block.var("fc_0.tmp_1")])
        decorate(inner, None, 8.0).minimize(loss)

    def clipped(loss):
        sgd = fluid.optimizer.SGD(
            0.05,
            regularization=fluid.regularizer.L2Decay(1e-4),
            grad_clip=fluid.clip.GradientClipByGlobalNorm(1.0),
        )
        decorate(sgd, None, 8.0).minimize(loss)

    for wrap in (lookahead, recompute, clipped):
        found = trained(wrap)
        assert found[-1] < 0.5 * found[0]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"optimizer": 3}, "expected an optimizer, such as .*, got 3"),
        (
            {"amp_lists": ["mul"]},
            r"expected amp_lists to be AutoMixedPrecisionLists, got \['mul'\]",
        ),
        ({"init_loss_scaling": 0}, "expected init_loss_scaling to be a positive number, got 0"),
        ({"incr_every_n_steps": 0}, "expected incr_every_n_steps to be a positive integer, got 0"),
        ({"decr_ratio": float("nan")}, "expected decr_ratio to be a positive number, got nan"),
    ],
)
def test_arguments_of_another_kind_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        decorate(**{"optimizer": fluid.optimizer.SGD(0.1), **given})


def test_an_optimizer_of_eager_parameters_is_refused():
    w = fluid.create_parameter([2], "float32")
    with pytest.raises(ArgumentError, match="this optimizer is one of eager parameters"):
        decorate(fluid.optimizer.SGD(0.1, parameter_list=[w]))


def test_the_factor_may_be_asked_for_before_minimize():
    optimizer = decorate(fluid.optimizer.SGD(0.1))
    factor = optimizer.get_loss_scaling()
    optimizer.minimize(fluid.layers.mean(fluid.layers.fc(data(), 1)))
    assert optimizer.get_loss_scaling() is factor
    assert optimizer.get_scaled_loss().op.input("Y") == [factor.name]


def test_there_is_no_scaled_loss_before_minimize():
    optimizer = decorate(fluid.optimizer.SGD(0.1))
    with pytest.raises(ArgumentError, match=r"no scaled loss yet; call minimize\(loss\) first"):
        optimizer.get_scaled_loss()
    with pytest.raises(
        ArgumentError, match=r"no scaled gradients yet; call backward\(loss\) first"
    ):
        optimizer.apply_gradients([])


def test_gradients_may_be_applied_outside_of_the_program_s_guard():
    main = fluid.Program()
    optimizer = decorate(fluid.optimizer.SGD(0.1))
    with fluid.program_guard(main):
        pairs = optimizer.backward(fluid.layers.mean(fluid.layers.fc(data(), 1)))
    ops = optimizer.apply_gradients(pairs)
    assert {op.block.program for op in ops} == {main}
    assert not fluid.default_main_program().global_block().ops
