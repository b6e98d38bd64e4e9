"""gradcheck agrees with right gradients, and names what is wrong about others."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import unique_name
from fluidlite.errors import (
    ArgumentError,
    FeedError,
    GradientCheckError,
    GradientShapeError,
    NotInitializedError,
)
from fluidlite.opdef import definition
from fluidlite.opdef.definition import Op

layers = fluid.layers


@pytest.fixture
def operators():
    """Operators that a test defines are gone after it."""
    before = set(definition._REGISTRY)
    yield
    for name in set(definition._REGISTRY) - before:
        if name.startswith("wrong_"):
            del definition._REGISTRY[name]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def apply(type, x, **attrs):
    """The output of an operator without a layer."""
    block = fluid.default_main_program().current_block()
    out = block.create_var(name=unique_name.generate(type))
    block.append_op(type, {"X": x}, {"Out": out}, attrs)
    return out


def define_wrong_square():
    class wrong_square(Op):
        """Out = X^2, with a wrong slope in the column 1."""

        signature = "X -> Out"

        def run(self, xp, X):
            return X * X

        def grad(self, f, X, dOut):
            def flow():
                at = f.assign_value(shape=[3], dtype="float32", fp32_values=[2.0, 3.0, 2.0])
                factor = f.cast(at, in_dtype=at.dtype, out_dtype=X.dtype)
                return f.elementwise_mul(dOut * X, factor)

            return dict(X=flow)


def failure(*args, **kwargs):
    with pytest.raises(GradientCheckError) as caught:
        fluid.gradcheck(*args, **kwargs)
    return str(caught.value)


# -- what is right ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_gradients_agree_up_to_an_order(order, rng):
    def energy(x, y):
        return layers.reduce_sum(layers.tanh(x * y) * x)

    inputs = {"x": rng.normal(size=[2, 3]), "y": rng.normal(size=[2, 3])}
    report = fluid.gradcheck(energy, inputs, order=order)
    assert report.ok and report.order == order
    assert [(each.name, each.order) for each in report.inputs] == [
        (name, k) for k in range(1, order + 1) for name in ("x", "y")
    ]
    assert all(each.elements == 6 and each.error < 1e-6 for each in report.inputs)
    assert str(report).startswith(f"gradients agree with finite differences up to order {order}\n")


def test_a_target_of_several_elements_is_weighted(rng):
    report = fluid.gradcheck(lambda x: layers.softmax(x), [rng.normal(size=[2, 4])], order=2)
    assert report.ok and max(abs(each.found) for each in report.inputs) > 1e-3


def test_several_targets_are_differentiated_together(rng):
    def pair(x):
        return layers.square(x), layers.reduce_sum(layers.tanh(x))

    assert fluid.gradcheck(pair, {"x": rng.normal(size=[3])}, order=2).ok


def test_a_program_is_checked_in_double_precision_with_its_parameters(rng):
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 5])
        label = fluid.data("label", [None, 1], "int64")
        hidden = layers.dropout(layers.fc(x, 6, act="tanh"), 0.3)
        loss = layers.mean(layers.cross_entropy(layers.fc(hidden, 4, act="softmax"), label))
        fluid.optimizer.Adam(0.1).minimize(loss)
    scope = fluid.Scope()
    fluid.Executor().run(startup, scope=scope)
    names = unique_name.current().counts.copy()
    texts = str(main), str(startup)
    values = {n: np.array(scope.find_var(n).value) for n in scope.local_var_names()}
    feed = {"x": rng.normal(size=[7, 5]).astype("float32"), "label": rng.integers(0, 4, [7, 1])}
    report = fluid.gradcheck(main, feed, loss, order=2, scope=scope)
    assert report.ok
    assert {each.name for each in report.inputs} == {
        "x",
        "fc_0.w_0",
        "fc_0.b_0",
        "fc_1.w_0",
        "fc_1.b_0",
    }
    assert (str(main), str(startup)) == texts
    assert unique_name.current().counts == names
    assert set(values) == set(scope.local_var_names())
    for name, value in values.items():
        np.testing.assert_array_equal(scope.find_var(name).value, value)
        assert scope.find_var(name).value.dtype == value.dtype


def test_constants_of_the_program_become_double_precision_too(rng):
    def shifted(x):
        steps = layers.assign(np.array([0.5, 0.25, 3.0], "float32"))
        ones = layers.fill_constant([3], "float32", 1.0)
        return layers.tanh(x * steps + ones) + layers.cast(x, "float32")

    assert fluid.gradcheck(shifted, {"x": rng.normal(size=[3]).astype("float32")}).ok


def test_a_gradient_of_the_program_can_be_the_target(rng):
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [4], "float64")
        x.stop_gradient = False
        (slope,) = fluid.gradients(layers.tanh(x), x)
    assert fluid.gradcheck(main, {"x": rng.normal(size=[4])}, slope).ok


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_branches_are_checked_to_the_second_order(sign):
    def branch(x):
        zero = layers.fill_constant([1], "float64", 0.0)
        return layers.cond(
            layers.less_than(layers.reduce_sum(x), zero),
            lambda: layers.square(x) * x,
            lambda: layers.tanh(x),
        )

    assert fluid.gradcheck(branch, {"x": sign * np.array([0.5, 1.5])}, order=2).ok


def test_loops_are_checked_to_the_first_order():
    def power(x):
        count = layers.fill_constant([1], "int64", 0)
        limit = layers.fill_constant([1], "int64", 3)
        total = layers.assign(x)
        _, total = layers.while_loop(
            lambda k, y: layers.less_than(k, limit),
            lambda k, y: [k + 1, layers.tanh(y * x)],
            [count, total],
        )
        return total

    report = fluid.gradcheck(power, {"x": np.array([0.5, 1.5])})
    assert report.ok and abs(report.inputs[0].found) > 1e-3


def test_sequences_are_checked(rng):
    table = fluid.create_lod_tensor(rng.normal(size=[5, 2]), [[2, 3]])
    assert fluid.gradcheck(lambda x: layers.tanh(x), {"x": table}).ok


def test_sparse_gradients_are_checked():
    def embedded(ids):
        return layers.tanh(fluid.embedding(ids, [6, 3], is_sparse=True))

    report = fluid.gradcheck(embedded, {"ids": np.array([1, 4, 1])})
    assert report.ok and report.inputs[0].shape == (6, 3)


def test_an_input_that_the_target_does_not_depend_on_agrees():
    report = fluid.gradcheck(lambda x, y: layers.square(x), [np.ones(2), np.ones(2)], order=2)
    assert report.ok and report.inputs[1].found == report.inputs[1].expected == 0.0


def test_what_is_linear_has_no_higher_orders():
    report = fluid.gradcheck(lambda x: layers.scale(x, 3.0), [np.ones(2)], order=4)
    assert report.ok and report.order == 4


def test_of_a_large_array_some_elements_are_checked(rng):
    report = fluid.gradcheck(
        lambda x: layers.tanh(x), [rng.normal(size=[30, 40])], elements=5, seed=3
    )
    assert report.ok and report.inputs[0].elements == 5


# -- what is wrong ---------------------------------------------------------------------------------


def test_a_wrong_operator_is_named_with_its_line_input_and_element(operators, rng):
    define_wrong_square()

    def network(x, y):
        z = layers.tanh(x)
        z = apply("wrong_square", z)
        return layers.reduce_sum(z * y)

    inputs = {"x": rng.normal(size=[2, 3]), "y": rng.normal(size=[2, 3])}
    report = fluid.gradcheck(network, inputs, raise_error=False)
    assert not report.ok and report.order == 0
    assert [each.name for each in report.wrong] == ["x"]
    assert report.wrong[0].index[1] == 1
    (culprit,) = report.culprits
    assert (culprit.type, culprit.slot, culprit.index[1]) == ("wrong_square", "X", 1)
    assert culprit.variable == "tanh_0.tmp_0"
    np.testing.assert_allclose(culprit.found, 1.5 * culprit.expected, rtol=1e-5)
    np.testing.assert_allclose(report.wrong[0].found, 1.5 * report.wrong[0].expected, rtol=1e-5)
    text = failure(network, inputs)
    assert text == str(report)
    line = inspect.getsourcelines(apply)[1] + 4
    built = f"wrong_square_0 = wrong_square(X=tanh_0.tmp_0), built at {__file__}:{line}\n"
    assert f"operator {built}" in text
    assert re.search(r"input X, variable 'tanh_0.tmp_0', element \[[01], 1\]: its rule gives", text)


def test_one_wrong_element_of_many_is_found(operators, rng):
    class wrong_tail(Op):
        """Out = X^2, with a wrong slope at the element 777."""

        signature = "X -> Out"

        def run(self, xp, X):
            return X * X

        def grad(self, f, X, dOut):
            def flow():
                where = np.full(1000, 2.0)
                where[777] = 2.1
                return dOut * X * where

            return dict(X=flow)

    report = fluid.gradcheck(
        lambda x: apply("wrong_tail", x), [rng.normal(size=[1000])], raise_error=False
    )
    assert report.wrong[0].index == (777,) and report.culprits[0].index == (777,)


def test_an_operator_that_is_wrong_at_the_second_order_is_named(operators, rng):
    class wrong_cube(Op):
        """Out = X^3, whose rule reads a constant that is none."""

        signature = "X -> Out, Square!~"

        def run(self, xp, X):
            return X**3, X * X

        def grad(self, f, Square, dOut):
            return dict(X=lambda: f.scale(dOut * Square, scale=3.0))

    def network(x):
        block = fluid.default_main_program().current_block()
        out, square = block.create_var(name="out"), block.create_var(name="square")
        block.append_op("wrong_cube", {"X": x}, {"Out": out, "Square": square})
        return layers.tanh(out)

    assert fluid.gradcheck(network, [rng.normal(size=[2])]).ok
    report = fluid.gradcheck(network, [rng.normal(size=[2])], order=2, raise_error=False)
    assert not report.ok and report.order == 1
    (culprit,) = report.culprits
    assert (culprit.type, culprit.slot, culprit.variable) == ("wrong_cube_grad", "Square", "square")
    assert "its definition says that nothing flows to Square" in culprit.what


def test_a_wrong_operator_inside_a_loop_is_named(operators):
    define_wrong_square()

    def power(x):
        count = layers.fill_constant([1], "int64", 0)
        limit = layers.fill_constant([1], "int64", 2)
        _, total = layers.while_loop(
            lambda k, y: layers.less_than(k, limit),
            lambda k, y: [k + 1, apply("wrong_square", y)],
            [count, layers.assign(x)],
        )
        return total

    report = fluid.gradcheck(power, {"x": np.array([0.5, 1.5, 1.1])}, raise_error=False)
    assert [culprit.type for culprit in report.culprits] == ["wrong_square"]


def test_a_rule_that_gives_nothing_is_found_by_what_is_missing(operators):
    class wrong_constant(Op):
        """Out = X^2, said to be constant."""

        signature = "X -> Out"
        grad = None

        def run(self, xp, X):
            return X * X

    report = fluid.gradcheck(
        lambda x: layers.tanh(apply("wrong_constant", x)), [np.ones(2)], raise_error=False
    )
    assert report.wrong[0].problem == "it has no gradient, although the target depends on it"
    assert "nothing flows through it, finite differences give" in report.culprits[0].what
    (explanation,) = report.explanations
    assert "the operator that makes it has no gradient" in explanation.stops[0].reason


def test_a_rule_of_a_wrong_shape_is_found(operators):
    class wrong_shape(Op):
        """Out = X^2, with a gradient that is summed."""

        signature = "X -> Out"

        def run(self, xp, X):
            return X * X

        def grad(self, f, X, dOut):
            return dict(X=lambda: f.reduce_sum(dOut * X, dim=[0]))

    with pytest.raises(
        GradientShapeError, match=r"of shape \[2, 3\] for X, got one of shape \[3\]"
    ):
        fluid.gradcheck(lambda x: apply("wrong_shape", x), [np.ones([2, 3])])


def test_a_gradient_that_is_stopped_on_the_way_is_explained():
    def half_stopped(x):
        other = layers.tanh(x)
        other.stop_gradient = True
        return x * other

    report = fluid.gradcheck(half_stopped, {"x": np.array([0.5, 1.0])}, raise_error=False)
    assert not report.ok and not report.culprits
    (explanation,) = report.explanations
    assert explanation.flows
    assert [stop.variable for stop in explanation.stops] == ["tanh_0.tmp_0"]
    assert "gradients stop at it (stop_gradient)" in str(report)


def test_a_kink_is_recognised():
    text = failure(lambda x: layers.relu(x), {"x": np.array([1.0, 0.0])})
    assert "element [1]" in text and "jumps there: move the input away" in text


def test_the_report_can_be_had_without_an_error():
    report = fluid.gradcheck(lambda x: layers.relu(x), [np.zeros(1)], raise_error=False)
    assert not report.ok and str(report).startswith("gradients disagree with finite differences\n")


# -- what does not fit -----------------------------------------------------------------------------


def test_a_clone_is_checked_at_the_variable_of_the_program_that_it_was_cloned_from():
    main, other = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [1, 2])
        x.stop_gradient = False
        y = layers.tanh(x)
    with fluid.program_guard(other), fluid.unique_name.guard():
        fluid.data("x", [1, 2])
        exponential = layers.tanh(layers.exp(fluid.data("u", [1, 2])))
    ones = {"x": np.ones([1, 2], "float32")}
    assert fluid.gradcheck(main.clone(for_test=True), ones, target=y).ok
    message = "'tanh_0.tmp_0' is a variable of another program or block, .*; give it by its name"
    with pytest.raises(ArgumentError, match=message):
        fluid.gradcheck(main, ones, target=exponential)


def test_arguments_that_do_not_fit_are_refused():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [1, 2])
        y = layers.fc(layers.tanh(x), 2)
        k = layers.argmax(y)
    ones = {"x": np.ones([1, 2], "float32")}
    for arguments, message in (
        ((3, ones), "expected a program or a function that builds one, got 3 of type int"),
        ((main, ones), "a program is checked at a target; say which variable: target=loss"),
        ((main, [np.ones(2)], y), "expected inputs to be a dictionary of names and arrays"),
        ((main, {"z": np.ones(2)}, y), "the program has no variable 'z' to feed"),
        ((main, ones, "tahn_0.tmp_0"), "no variable of block 0 .*; did you mean 'tanh_0.tmp_0'"),
        ((main, ones, 3), "expected the target to be a variable or its name, got 3"),
        ((main, ones, k), "expected the target to be a tensor of floats"),
        ((layers.tanh, 3), "expected inputs to be arrays by name, or a list of them, got int"),
        ((layers.tanh, [np.ones(2)], y), "target and scope belong to a program"),
        ((layers.tanh, [np.ones(2)], None, 0), "expected order to be an integer of at least 1"),
        ((layers.tanh, [np.ones(2)], None, 1, 0.0), "expected rtol to be above 0, got 0.0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            fluid.gradcheck(*arguments)


def test_what_a_run_lacks_is_said_as_by_an_executor():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        y = layers.fc(fluid.data("x", [None, 2]), 2)
    with pytest.raises(FeedError, match="data variable 'x' was not fed"):
        fluid.gradcheck(main, {}, y)
    with pytest.raises(NotInitializedError, match="run the startup program first"):
        fluid.gradcheck(main, {"x": np.ones([1, 2])}, y, scope=fluid.Scope())


def test_networkx_is_loaded_by_explanations_only():
    script = """
import sys
import numpy as np, fluidlite as fluid
fluid.gradcheck(fluid.layers.tanh, [np.ones(2)])
assert "networkx" not in sys.modules
x = fluid.data("x", [2])
fluid.explain_gradient(x, fluid.layers.tanh(x))
assert "networkx" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_both_parts_of_complex_numbers_are_moved():
    rng = np.random.default_rng(0)
    z, w = (rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in ([2, 3], [3, 2]))

    def product(z, w):
        return fluid.paddle.matmul(fluid.paddle.sin(z), w)

    report = fluid.gradcheck(product, {"z": z, "w": w}, order=2)
    assert report.ok and [each.elements for each in report.inputs] == [12, 12, 12, 12]
    tensors = [fluid.to_tensor(each) for each in (z, w)]
    assert fluid.gradcheck(lambda z, w: product(z, w).abs(), tensors, order=3).ok


def test_a_rule_without_conjugates_is_found():
    class Square(fluid.paddle.autograd.PyLayer):
        @staticmethod
        def forward(context, z):
            context.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(context, slope):
            (z,) = context.saved_tensor()
            return slope * z * 2.0

    report = fluid.gradcheck(
        Square.apply, [fluid.to_tensor(np.array([1.0 + 2.0j]))], raise_error=False
    )
    assert not report.ok
