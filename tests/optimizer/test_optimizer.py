"""What all optimizers have in common."""

import gc
import re
import weakref

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FluidWarning, NoGradientError, NotInitializedError
from fluidlite.ir.operator import OpRole
from fluidlite.ir.program import default_main_program, default_startup_program


def loss_of_a_layer(**attrs):
    x = fluid.data("x", [None, 3], "float32")
    return fluid.layers.mean(fluid.layers.fc(x, 2, **attrs))


def steps(program):
    return [op for op in program.global_block().ops if op.role & OpRole.OPTIMIZE]


def names(pairs):
    return [(param.name, None if grad is None else grad.name) for param, grad in pairs]


# -- minimize --------------------------------------------------------------------------------------


def test_minimize_returns_the_step_and_the_pairs_in_the_order_of_creation():
    ops, pairs = fluid.optimizer.SGD(0.1).minimize(loss_of_a_layer())
    assert [op.input("Param") for op in ops] == [["fc_0.b_0"], ["fc_0.w_0"]]
    assert names(pairs) == [("fc_0.w_0", "fc_0.w_0@GRAD"), ("fc_0.b_0", "fc_0.b_0@GRAD")]


def test_steps_have_their_role_their_parameter_and_a_scope_each():
    ops, _ = fluid.optimizer.SGD(0.1).minimize(loss_of_a_layer())
    assert [op.role for op in ops] == [OpRole.OPTIMIZE] * 2
    assert ops[0].role_vars == ("fc_0.b_0", "fc_0.b_0@GRAD")
    assert [op.namescope for op in ops] == ["/optimizer/", "/optimizer_1/"]


def test_minimize_goes_to_the_loss_s_program_and_the_given_startup_program():
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = loss_of_a_layer()
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss, startup_program=startup)
    assert [op.type for op in steps(main)] == ["momentum"] * 2
    assert startup.global_block().ops[0].output("Out") == ["learning_rate_0"]
    assert not default_main_program().global_block().ops
    assert not default_startup_program().global_block().ops


def test_a_loss_without_parameters_only_gets_the_rate():
    x = fluid.data("x", [None, 3], "float32")
    with pytest.warns(FluidWarning, match="no trainable parameter reaches the loss 'mean_0.tmp_0'"):
        assert fluid.optimizer.SGD(0.1).minimize(fluid.layers.mean(x)) == ([], [])
    assert "learning_rate_0" in default_startup_program().global_block().vars


def test_a_listed_parameter_that_does_not_exist_is_named():
    loss = loss_of_a_layer()
    said = "its program has no parameter 'fc_0.w_9'; did you mean 'fc_0.w_0'"
    with pytest.warns(FluidWarning, match=re.escape(said)):
        fluid.optimizer.SGD(0.1).minimize(loss, parameter_list=["fc_0.w_9"])


def test_a_loaded_program_trains_the_variables_that_are_listed():
    data = loss_of_a_layer().block.program.to_bytes()
    loaded = fluid.Program.parse_from_string(data), fluid.Program.parse_from_string(data)
    other, loss = (program.global_block().var("mean_0.tmp_0") for program in loaded)
    with pytest.warns(FluidWarning, match="from a file .* parameter_list=..fc_0.[bw]_0', ...]"):
        fluid.optimizer.SGD(0.1).minimize(other, fluid.Program())
    pairs = fluid.optimizer.SGD(0.1).minimize(loss, fluid.Program(), ["fc_0.w_0"])[1]
    assert names(pairs) == [("fc_0.w_0", "fc_0.w_0@GRAD")]


@pytest.mark.parametrize("given", [["fc_0.w_0"], ("fc_0.w_0",), {"fc_0.w_0"}])
def test_only_listed_parameters_are_updated(given):
    loss = loss_of_a_layer()
    ops, pairs = fluid.optimizer.SGD(0.1).minimize(loss, parameter_list=given)
    assert names(pairs) == [("fc_0.w_0", "fc_0.w_0@GRAD")] and len(ops) == 1


def test_the_list_of_the_optimizer_counts_where_minimize_has_none():
    loss = loss_of_a_layer()
    weight = loss.block.var("fc_0.w_0")
    sgd = fluid.optimizer.SGD(0.1, parameter_list=iter([weight]))
    assert names(sgd.minimize(loss)[1]) == [("fc_0.w_0", "fc_0.w_0@GRAD")]
    assert [p.name for p, _ in sgd.minimize(loss, parameter_list=["fc_0.b_0"])[1]] == ["fc_0.b_0"]


def test_parameters_that_are_not_trained_are_left_out():
    ops, pairs = fluid.optimizer.Momentum(0.1, 0.9).minimize(
        loss_of_a_layer(param_attr=fluid.ParamAttr(name="w", trainable=False))
    )
    assert [p.name for p, _ in pairs] == ["fc_0.b_0"] and len(ops) == 1


def test_a_parameter_that_is_no_longer_trained_is_not_updated():
    loss = loss_of_a_layer()
    momentum = fluid.optimizer.Momentum(0.1, 0.9)
    pairs = momentum.backward(loss)
    loss.block.var("fc_0.w_0").trainable = False
    (step,) = momentum.apply_gradients(pairs)
    assert step.input("Param") == ["fc_0.b_0"]
    assert momentum.get_opti_var_name_list() == ["fc_0.b_0_velocity_0"]


def test_gradients_stop_where_no_grad_set_says():
    pairs = fluid.optimizer.SGD(0.1).minimize(loss_of_a_layer(), no_grad_set={"fc_0.w_0"})[1]
    assert [p.name for p, _ in pairs] == ["fc_0.b_0"]


# -- the halves of minimize ------------------------------------------------------------------------


def test_backward_and_apply_gradients_are_minimize():
    texts = []
    for whole in (True, False):
        main, startup = fluid.Program(), fluid.Program()
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            loss = loss_of_a_layer()
            adam = fluid.optimizer.Adam(0.1, regularization=fluid.regularizer.L2Decay(0.1))
            if whole:
                adam.minimize(loss)
            else:
                adam.apply_gradients(adam.backward(loss))
        texts.append([[op.type for op in p.global_block().ops] for p in (main, startup)])
    assert texts[0] == texts[1]


def test_apply_optimize_uses_the_given_startup_program():
    loss, startup = loss_of_a_layer(), fluid.Program()
    sgd = fluid.optimizer.SGD(0.1)
    ops = sgd.apply_optimize(loss, startup, sgd.backward(loss))
    assert [op.type for op in ops] == ["sgd", "sgd"]
    assert [op.type for op in startup.global_block().ops] == ["fill_constant"]


def test_gradients_may_be_changed_between_the_halves():
    sgd = fluid.optimizer.SGD(0.1)
    pairs = sgd.backward(loss_of_a_layer())
    ops = sgd.apply_gradients([(p, fluid.layers.scale(g, 2.0)) for p, g in pairs])
    assert [op.input("Grad") for op in ops] == [["scale_1.tmp_0"], ["scale_0.tmp_0"]]


def test_a_parameter_without_gradient_is_not_updated():
    sgd = fluid.optimizer.SGD(0.1)
    (w, _), (b, db) = sgd.backward(loss_of_a_layer())
    (step,) = sgd.apply_gradients([(w, None), (b, db)])
    assert step.input("Param") == ["fc_0.b_0"]


def test_callbacks_are_called_after_each_gradient_operator():
    seen = []
    fluid.optimizer.SGD(0.1).backward(
        loss_of_a_layer(), callbacks=[lambda block, context: seen.append(block.ops[-1].type)]
    )
    assert seen == ["mean_grad", "elementwise_add_grad", "mul_grad"]


def test_own_callbacks_take_the_place_of_clipping_errors():
    loss = loss_of_a_layer()
    loss.block.var("fc_0.tmp_0").error_clip = fluid.clip.ErrorClipByValue(0.1)
    fluid.optimizer.SGD(0.1).backward(loss, callbacks=[])
    assert "clip" not in [op.type for op in loss.block.ops]
    fluid.optimizer.SGD(0.1).backward(loss)
    assert "clip" in [op.type for op in loss.block.ops]


# -- states ----------------------------------------------------------------------------------------


def test_states_are_named_after_parameter_optimizer_and_purpose():
    adam = fluid.optimizer.Adam(0.1, name="mine")
    adam.minimize(loss_of_a_layer(bias_attr=False))
    assert adam.get_opti_var_name_list() == [
        f"fc_0.w_0_mine_{name}_0"
        for name in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    ]


def test_states_have_the_parameter_s_element_type():
    x = fluid.data("x", [None, 3], "float64")
    momentum = fluid.optimizer.Momentum(0.1, 0.9)
    momentum.minimize(fluid.layers.mean(fluid.layers.fc(x, 2)))
    block = default_main_program().global_block()
    made = ("fc_0.w_0_velocity_0", "learning_rate_0")
    assert {str(block.var(name).dtype) for name in made} == {"float64"}
    assert momentum.state_of("velocity", block.var("fc_0.w_0")).shape == (3, 2)


def test_a_state_that_is_not_kept_is_refused():
    loss = loss_of_a_layer()
    momentum = fluid.optimizer.Momentum(0.1, 0.9)
    momentum.minimize(loss)
    with pytest.raises(ArgumentError, match="Momentum keeps no 'moment1' for 'fc_0.w_0'"):
        momentum.state_of("moment1", loss.block.var("fc_0.w_0"))


def test_one_optimizer_that_minimizes_twice_keeps_its_states():
    loss = loss_of_a_layer()
    momentum = fluid.optimizer.Momentum(0.1, 0.9)
    momentum.minimize(loss)
    count = len(default_startup_program().global_block().ops)
    with pytest.warns(FluidWarning, match="updates fc_0.b_0, fc_0.w_0 already"):
        momentum.minimize(loss)
    assert len(default_startup_program().global_block().ops) == count
    assert [op.input("Velocity") for op in steps(loss.program)][::2] == [
        ["fc_0.b_0_velocity_0"]
    ] * 2


def test_each_program_has_its_own_states_and_rate():
    momentum = fluid.optimizer.Momentum(0.1, 0.9)
    rates = []
    for _ in range(2):
        with fluid.program_guard(fluid.Program(), fluid.Program()):
            momentum.minimize(loss_of_a_layer())
            rates.append(momentum._global_learning_rate().name)
    assert rates == ["learning_rate_0", "learning_rate_1"]


def test_an_optimizer_keeps_no_program_alive():
    sgd, program = fluid.optimizer.SGD(0.1), fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        sgd.minimize(loss_of_a_layer())
    gone = weakref.ref(program)
    del program
    gc.collect()
    assert gone() is None and sgd.get_opti_var_name_list() == []


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", ["0.1", None, True, float("nan"), float("inf"), [0.1]])
def test_a_learning_rate_that_is_no_number_is_refused(rate):
    with pytest.raises(ArgumentError, match="SGD: expected the learning rate to be a number or a"):
        fluid.optimizer.SGD(rate)


@pytest.mark.parametrize("rate", [1, 0.0, np.float32(0.5)])
def test_any_finite_number_is_a_learning_rate(rate):
    assert fluid.optimizer.SGD(rate).current_step_lr() == float(rate)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: fluid.optimizer.SGD(-0.1), "SGD: expected the learning rate to be .* at least 0"),
        (lambda: fluid.optimizer.Momentum(0.1, -1.0), "Momentum: expected momentum .* at least 0"),
        (lambda: fluid.regularizer.L2Decay(-1.0), "L2Decay: .* of at least 0, got -1.0"),
        (
            lambda: fluid.paddle.optimizer.SGD(0.1, [fluid.paddle.ones([1])], weight_decay=-1.0),
            "SGD: expected weight_decay .* at least 0",
        ),
        (lambda: fluid.clip.GradientClipByGlobalNorm(-1.0), "expected clip_norm .* at least 0"),
        (lambda: fluid.optimizer.lr.PiecewiseDecay([5, 2], [1, 2, 3]), "in ascending order"),
    ],
)
def test_numbers_that_hardly_make_sense_get_a_warning(make, said):
    with pytest.warns(FluidWarning, match=said) as warned:
        make()
    assert len(warned) == 1 and "test_optimizer.py" in str(warned[0].message)


@pytest.mark.parametrize("given", ["fc_0.w_0", 3])
def test_a_parameter_list_that_is_no_list_is_refused(given):
    with pytest.raises(ArgumentError, match="SGD: expected parameter_list to be a list of param"):
        fluid.optimizer.SGD(0.1, parameter_list=given)


@pytest.mark.parametrize(
    "argument, value, message",
    [
        ("regularization", 0.01, "expected regularization of SGD to be None or a regularizer"),
        ("grad_clip", 0.5, "SGD: expected grad_clip to be None or a clip such as"),
        ("name", 3, "SGD: expected name to be a text, got 3 of type int"),
    ],
)
def test_an_argument_of_another_kind_is_refused(argument, value, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.optimizer.SGD(0.1, **{argument: value})


def test_a_loss_that_is_no_variable_is_refused():
    with pytest.raises(ArgumentError, match=r"expected the loss to be a variable, got 3\.0"):
        fluid.optimizer.SGD(0.1).minimize(3.0)


def test_a_startup_program_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="expected startup_program to be a Program, got 'no'"):
        fluid.optimizer.SGD(0.1).minimize(loss_of_a_layer(), startup_program="no")


@pytest.mark.parametrize("given", ["ab", None, 3, [3], [("a", "b")], [("a", "b", "c")]])
def test_gradients_that_are_no_pairs_are_refused(given):
    with pytest.raises(ArgumentError, match="expected params_grads to be a list of pairs"):
        fluid.optimizer.SGD(0.1).apply_gradients(given)


def test_pairs_of_different_programs_are_refused():
    sgd = fluid.optimizer.SGD(0.1)
    pairs = sgd.backward(loss_of_a_layer())
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [None, 3], "float32")
        others = sgd.backward(fluid.layers.mean(fluid.layers.fc(x, 2)))
    with pytest.raises(ArgumentError, match=r"parameter 'fc_1.w_0' .* of another program"):
        sgd.apply_gradients([*pairs, *others])


# -- failing ---------------------------------------------------------------------------------------


def snapshot():
    return [
        (str(p), {n: v.stop_gradient for n, v in p.global_block().vars.items()})
        for p in (default_main_program(), default_startup_program())
    ]


def refuses(param):
    raise RuntimeError("not this one")


class HalfAStep(fluid.optimizer.Adam):
    """Fails at the second parameter."""

    def attrs(self, param):
        if param.name.endswith("w_0"):
            raise RuntimeError("no attributes")
        return super().attrs(param)


@pytest.mark.parametrize(
    "make",
    [
        lambda: HalfAStep(0.1),
        lambda: fluid.optimizer.Adam(0.1, grad_clip=fluid.clip.GradientClipByNorm(1.0, refuses)),
    ],
)
def test_a_minimize_that_fails_leaves_the_programs_as_they_were(make):
    loss = loss_of_a_layer()
    before = snapshot()
    failing = make()
    with pytest.raises(RuntimeError):
        failing.minimize(loss)
    assert snapshot() == before
    assert failing.get_opti_var_name_list() == []
    fluid.optimizer.Adam(0.1).minimize(loss)


def test_an_optimizer_that_failed_makes_its_states_anew():
    loss = loss_of_a_layer()
    failing = HalfAStep(0.1)
    with pytest.raises(RuntimeError):
        failing.minimize(loss)
    ops, _ = failing.minimize(loss, parameter_list=["fc_0.b_0"])
    assert loss.block.has_var(ops[0].input("Moment1")[0])
    assert loss.block.has_var(ops[0].input("LearningRate")[0])


def test_a_loss_that_cannot_be_differentiated_keeps_its_role():
    x = fluid.data("x", [None, 3], "float32")
    hidden = fluid.layers.fc(x, 2)
    block = hidden.block
    out = block.create_var(name="out")
    block.append_op("clip_by_norm", {"X": hidden}, {"Out": out}, {"max_norm": 1.0})
    block.ops[-1].type = "unheard_of"
    loss = fluid.layers.mean(out)
    with pytest.raises(NoGradientError):
        fluid.optimizer.SGD(0.1).minimize(loss)
    assert loss.op.role == OpRole.FORWARD
    del block.ops[-2:]


# -- the learning rate -----------------------------------------------------------------------------


def test_a_parameter_s_own_factor_scales_the_rate():
    loss = loss_of_a_layer(param_attr=fluid.ParamAttr(learning_rate=0.5))
    ops, _ = fluid.optimizer.SGD(0.1).minimize(loss)
    assert [op.type for op in ops] == ["sgd", "scale", "sgd"]
    scale, step = ops[1:]
    assert scale.attr("scale") == 0.5 and scale.input("X") == ["learning_rate_0"]
    assert scale.role == OpRole.OPTIMIZE | OpRole.LRSCHED
    assert scale.namescope == "/optimizer_1/scale_with_param_lr/"
    assert step.input("LearningRate") == scale.output("Out") == ["tmp_0"]


def test_a_parameter_of_another_element_type_gets_the_rate_cast():
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 3], "float64")
    both = [fluid.layers.mean(fluid.layers.fc(v, 1, bias_attr=False)) for v in (x, y)]
    loss = both[0] + fluid.layers.cast(both[1], "float32")
    ops, _ = fluid.optimizer.SGD(0.1).minimize(loss)
    assert [op.type for op in ops] == ["sgd", "cast", "sgd"]
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    feed = {"x": np.ones([2, 3], "float32"), "y": np.ones([2, 3])}
    before = np.array(fluid.global_scope().find_var("fc_1.w_0").get_tensor())
    executor.run(feed=feed)
    after = np.array(fluid.global_scope().find_var("fc_1.w_0").get_tensor())
    np.testing.assert_allclose(before - after, 0.1, rtol=1e-6)


def test_a_variable_is_a_learning_rate():
    loss = loss_of_a_layer()
    rate = fluid.layers.create_global_var([1], 0.3, "float32", persistable=True, name="rate")
    sgd = fluid.optimizer.SGD(rate)
    ops, _ = sgd.minimize(loss)
    assert [op.input("LearningRate") for op in ops] == [["rate"]] * 2
    assert sgd._global_learning_rate() is rate
    assert "learning_rate_0" not in default_startup_program().global_block().vars


def test_a_rate_of_another_program_is_refused():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        rate = fluid.layers.create_global_var([1], 0.3, "float32", persistable=True, name="rate")
    loss = loss_of_a_layer()
    with pytest.raises(ArgumentError, match="the learning rate 'rate' of SGD is a variable of ano"):
        fluid.optimizer.SGD(rate).minimize(loss)


def test_there_is_no_variable_of_the_rate_before_minimize():
    assert fluid.optimizer.SGD(0.1)._global_learning_rate() is None


def test_the_rate_can_be_read_and_set_while_training():
    sgd = fluid.optimizer.SGD(0.1)
    sgd.set_lr(0.2)
    sgd.minimize(loss_of_a_layer(param_attr=fluid.initializer.Constant(1.0), bias_attr=False))
    executor, scope = fluid.Executor(), fluid.global_scope()
    with pytest.raises(NotInitializedError, match="no value of 'learning_rate_0'; run the startup"):
        sgd.current_step_lr(scope)
    executor.run(fluid.default_startup_program())
    assert sgd.current_step_lr(scope) == pytest.approx(0.2)
    sgd.set_lr(0.5, scope)
    assert sgd.current_step_lr(scope) == sgd.current_step_lr() == 0.5
    executor.run(feed={"x": np.ones([1, 3], "float32")})
    weight = np.array(scope.find_var("fc_0.w_0").get_tensor())
    np.testing.assert_allclose(weight, 1 - 0.5 * 0.5 * np.ones([3, 2]))


def test_the_rate_of_a_built_program_is_in_a_scope():
    sgd = fluid.optimizer.SGD(0.1)
    sgd.minimize(loss_of_a_layer())
    with pytest.raises(ArgumentError, match=r"set_lr\(0.2, fluid.global_scope\(\)\)"):
        sgd.set_lr(0.2)
    assert sgd.current_step_lr() == 0.1


def test_the_rate_that_is_a_variable_is_not_set():
    rate = fluid.layers.create_global_var([1], 0.25, "float32", persistable=True, name="rate")
    sgd = fluid.optimizer.SGD(rate)
    sgd.minimize(loss_of_a_layer())
    with pytest.raises(ArgumentError, match="set_lr sets a number in place of a number"):
        sgd.set_lr(0.2)
    with pytest.raises(ArgumentError, match=r"give one: current_step_lr\(fluid.global_scope\(\)\)"):
        sgd.current_step_lr()
    fluid.Executor().run(fluid.default_startup_program())
    assert sgd.current_step_lr(fluid.global_scope()) == 0.25


def test_an_optimizer_is_shown_with_its_rate():
    assert repr(fluid.optimizer.SGD(0.1)) == "SGD(learning_rate=0.1)"


def test_the_rate_of_an_optimizer_that_trains_nothing_has_the_type_of_the_loss():
    x = fluid.data("x", [2, 3], "float64")
    x.stop_gradient = False
    sgd = fluid.optimizer.SGD(0.1)
    with pytest.warns(FluidWarning, match="no trainable parameter"):
        assert sgd.minimize(fluid.layers.mean(x)) == ([], [])
    assert sgd._global_learning_rate().dtype == x.dtype


def test_adadelta_scales_no_rate_since_its_steps_read_none():
    x = fluid.data("x", [None, 3], "float32")
    hidden = fluid.layers.fc(x, 1, param_attr=fluid.ParamAttr(learning_rate=0.5), bias_attr=False)
    (op,), _ = fluid.optimizer.Adadelta(0.1).minimize(fluid.layers.mean(hidden))
    assert op.type == "adadelta"
    ops = [each.type for each in fluid.default_main_program().global_block().ops]
    assert "scale" not in ops
