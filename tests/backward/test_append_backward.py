"""append_backward: what it returns, what it appends, and what it leaves alone."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FluidWarning, NoGradientError, StrictError
from fluidlite.ground import state
from fluidlite.ir.verify import verify
from fluidlite.opdef.definition import _REGISTRY, Op

layers = fluid.layers


def constant(value, name):
    return fluid.ParamAttr(name=name, initializer=fluid.initializer.Constant(value))


def regression():
    """A loss with the parameters w [3, 1] and b [1]."""
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.data("y", [None, 1], "float32")
    out = layers.fc(x, 1, param_attr=constant(0.5, "w"), bias_attr=constant(0.1, "b"))
    return layers.mean(layers.square_error_cost(out, y))


def operators(program=None):
    program = program or fluid.default_main_program()
    return [op.type for op in program.global_block().ops]


def run(fetch, feed=None):
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


def test_pairs_come_in_the_order_in_which_the_parameters_were_made():
    pairs = fluid.backward.append_backward(regression())
    assert [(p.name, g.name) for p, g in pairs] == [("w", "w@GRAD"), ("b", "b@GRAD")]
    verify(fluid.default_main_program())


def test_gradients_of_a_regression_are_those_of_the_formula():
    pairs = fluid.backward.append_backward(regression())
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=[5, 3]).astype("float32"), rng.normal(size=[5, 1]).astype("float32")
    dw, db = run([g for _, g in pairs], {"x": x, "y": y})
    residual = x @ np.full([3, 1], 0.5, "float32") + 0.1 - y
    np.testing.assert_allclose(dw, 2 / 5 * x.T @ residual, rtol=1e-5)
    np.testing.assert_allclose(db, 2 / 5 * residual.sum(0), rtol=1e-5)


def test_a_parameter_used_twice_gets_numbered_parts_and_their_sum():
    w = layers.create_parameter([2], "float32", attr=constant(3.0, "w"))
    loss = layers.reduce_sum(w * w * w)
    ((_, gradient),) = fluid.backward.append_backward(loss)
    names = fluid.default_main_program().global_block().vars
    assert {f"w@GRAD@RENAME@block0@{k}" for k in range(3)} <= set(names)
    np.testing.assert_allclose(run([gradient])[0], [27.0, 27.0])


def test_sums_come_in_the_order_of_the_gradient_operators_slots():
    x = fluid.data("x", [2, 4, 3, 3], "float32")
    for _ in range(2):
        x = layers.group_norm(x, 2, param_attr=constant(1.0, "s"), bias_attr=constant(0.0, "b"))
    fluid.append_backward(layers.mean(x))
    ops = fluid.default_main_program().global_block().ops
    assert [op.output("Out") for op in ops if op.type == "sum"] == [["b@GRAD"], ["s@GRAD"]]


def test_the_operator_that_completes_a_gradient_names_the_pair():
    fluid.backward.append_backward(regression())
    named = [op.attr("op_role_var") for op in fluid.default_main_program().global_block().ops]
    assert [n for n in named if n] == [["b", "b@GRAD"], ["w", "w@GRAD"]]


def test_a_missing_rule_names_operator_and_line():
    class ruleless(Op):
        """Out = X."""

        signature = "X -> Out"

        def run(self, xp, X):
            return X

    try:
        block = fluid.default_main_program().global_block()
        x = layers.create_parameter([2], "float32")
        out = block.create_var(name="out")
        block.append_op("ruleless", {"X": x}, {"Out": out})
        loss = layers.mean(out)
        before = str(fluid.default_main_program())
        with pytest.raises(NoGradientError, match=r"ruleless(.|\n)*test_append_backward.py:\d+"):
            fluid.backward.append_backward(loss)
        assert str(fluid.default_main_program()) == before
    finally:
        del _REGISTRY["ruleless"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"parameter_list": "w"}, "parameter_list to be a list"),
        ({"parameter_list": [3]}, "variables or names in parameter_list"),
        ({"no_grad_set": "w"}, "no_grad_set to be a list"),
        ({"callbacks": len}, "callbacks to be a list"),
        ({"callbacks": [3]}, "callbacks to be functions"),
        ({"checkpoints": ["nope"]}, "checkpoint 'nope' is no variable"),
    ],
)
def test_a_wrong_argument_is_refused_and_nothing_is_appended(arguments, message):
    loss = regression()
    before = str(fluid.default_main_program())
    with pytest.raises(TypeError, match=message):
        fluid.backward.append_backward(loss, **arguments)
    assert str(fluid.default_main_program()) == before


def test_an_exception_of_a_callback_leaves_the_program_as_it_was():
    loss = regression()
    before = str(fluid.default_main_program())

    def fail(block, context):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fluid.backward.append_backward(loss, callbacks=[fail])
    assert str(fluid.default_main_program()) == before


def test_callbacks_see_the_operator_just_appended_and_what_gradients_belong_to():
    seen = []

    def look(block, context):
        current = context["__current_op_desc__"]
        assert block.ops[-1].type == current.type()
        seen.append((current.type(), context["w@GRAD"]))

    fluid.backward.append_backward(regression(), callbacks=[look])
    assert seen[0] == ("mean_grad", "w")
    assert seen[-1] == ("mul_grad", "w")


def test_a_loss_of_several_elements_is_refused():
    w = layers.create_parameter([3], "float32")
    with pytest.raises(ValueError, match=r"loss of one element, .* has shape \[3\]"):
        fluid.backward.append_backward(layers.square(w))


def test_a_loss_of_unknown_size_is_refused_when_it_turns_out_to_have_several_elements():
    x = fluid.data("x", [None, 2], "float32")
    pairs = fluid.backward.append_backward(layers.fc(x, 1))
    with pytest.raises(ValueError, match=r"loss of one element, 'fc_0.tmp_1' has shape \[3, 1\]"):
        run([pairs[0][1]], {"x": np.ones([3, 2], "float32")})


@pytest.mark.filterwarnings("ignore:append_backward was called")
def test_a_second_call_gets_prefixed_names_and_the_same_values():
    loss = regression()
    first = fluid.backward.append_backward(loss)
    second = fluid.backward.append_backward(loss)
    assert [g.name for _, g in second] == ["grad/grad/w@GRAD", "grad/grad/b@GRAD"]
    feed = {"x": np.ones([2, 3], "float32"), "y": np.zeros([2, 1], "float32")}
    values = run([g for _, g in (*first, *second)], feed)
    np.testing.assert_array_equal(values[0], values[2])
    np.testing.assert_array_equal(values[1], values[3])


def test_unwanted_gradients_leave_their_slot_empty():
    fluid.backward.append_backward(regression())
    (op,) = [o for o in fluid.default_main_program().global_block().ops if o.type == "mul_grad"]
    assert op.output("X@GRAD") == []
    assert op.output("Y@GRAD") == ["w@GRAD"]


def test_a_long_chain_needs_no_recursion(recursion_limit):
    x = layers.create_parameter([2], "float32", attr=constant(0.5, "w"))
    out = x
    for _ in range(2000):
        out = layers.scale(out, 1.0)
    recursion_limit(200)
    ((_, gradient),) = fluid.backward.append_backward(layers.reduce_sum(out))
    verify(fluid.default_main_program())
    np.testing.assert_array_equal(run([gradient])[0], [1.0, 1.0])


def test_a_second_call_for_a_loss_warns_once_with_the_line():
    layers, x = fluid.layers, fluid.data("x", [2], "float32")
    w = layers.create_parameter([2], "float32")
    loss, other = layers.reduce_sum(x * w), layers.reduce_sum(x - w)
    fluid.append_backward(loss)
    fluid.append_backward(other)  # another loss of the same parameters is a usual thing
    with pytest.warns(FluidWarning, match="was called for 'reduce_sum_0.tmp_0' before") as caught:
        fluid.append_backward(loss)
    assert caught[0].filename == __file__
    fluid.append_backward(loss)


@pytest.mark.parametrize("argument", ["no_grad_set", "parameter_list"])
def test_names_that_no_variable_has_are_warned_of(argument):
    w = fluid.layers.create_parameter([2], "float32", name="weight")
    loss = fluid.layers.mean(w * w)
    before = str(w.block)
    with state.strictness.guard(True), pytest.raises(StrictError, match=f"{argument} has 'wieght'"):
        fluid.append_backward(loss, **{argument: ["wieght"]})
    assert str(w.block) == before
    with pytest.warns(FluidWarning, match=f"{argument} has 'wieght', .*; did you mean 'weight'"):
        fluid.append_backward(loss, **{argument: ["wieght"]})
