"""Weight decay."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.ir.operator import OpRole
from fluidlite.regularizer import append_regularization_ops

WEIGHT = np.array([[0.5], [-2.0], [0.0]], "float32")
X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], "float32")


def pairs_of_a_layer(**attrs):
    x = fluid.data("x", [None, 3], "float32")
    attr = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(WEIGHT), **attrs)
    loss = fluid.layers.reduce_sum(fluid.layers.fc(x, 1, param_attr=attr, bias_attr=False))
    return fluid.backward.append_backward(loss)


def value(grad):
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return executor.run(feed={"x": X}, fetch_list=[grad])[0]


def appended(pairs):
    return [op for op in pairs[0][0].block.ops if op.role & OpRole.OPTIMIZE]


@pytest.mark.parametrize(
    "make, decay",
    [
        (lambda: fluid.regularizer.L2Decay(0.25), 0.25 * WEIGHT),
        (lambda: fluid.regularizer.L1Decay(0.25), 0.25 * np.sign(WEIGHT)),
    ],
)
def test_the_decay_is_added_to_the_gradient(make, decay):
    ((_, grad),) = append_regularization_ops(pairs_of_a_layer(), make())
    np.testing.assert_allclose(value(grad), X.sum(axis=0)[:, None] + decay)


def test_a_parameter_s_own_regularizer_takes_the_place_of_the_other():
    pairs = pairs_of_a_layer(regularizer=fluid.regularizer.L1Decay(0.5))
    append_regularization_ops(pairs, fluid.regularizer.L2Decay(0.25))
    assert [op.type for op in appended(pairs)] == ["sign", "scale", "sum"]


def test_operators_are_about_the_parameter_in_one_scope():
    pairs = pairs_of_a_layer()
    append_regularization_ops(pairs, fluid.regularizer.L2Decay(0.25))
    assert {op.namescope for op in appended(pairs)} == {"/regularization/"}
    assert {op.role_vars for op in appended(pairs)} == {("fc_0.w_0", "fc_0.w_0@GRAD")}


def test_nothing_is_appended_without_a_regularizer():
    pairs = pairs_of_a_layer()
    assert append_regularization_ops(pairs, None) == pairs and not appended(pairs)


def test_a_parameter_without_gradient_does_not_decay():
    ((param, _),) = pairs_of_a_layer()
    decay = fluid.regularizer.L2Decay(0.25)
    assert append_regularization_ops([(param, None)], decay) == [(param, None)]


class Towards(fluid.regularizer.WeightDecayRegularizer):
    """A user's own: pulls towards a number."""

    def __init__(self, target):
        self.target = target

    def __call__(self, param, grad, block):
        return fluid.layers.scale(param, bias=-self.target)


def test_users_write_their_own():
    ((_, grad),) = append_regularization_ops(pairs_of_a_layer(), Towards(3.0))
    np.testing.assert_allclose(value(grad), X.sum(axis=0)[:, None] + WEIGHT - 3.0)


@pytest.mark.parametrize("coefficient", ["0.1", None, True, float("nan")])
def test_a_coefficient_that_is_no_number_is_refused(coefficient):
    with pytest.raises(ArgumentError, match="L2Decay: .* to be a number of at least 0"):
        fluid.regularizer.L2Decay(coefficient)


def test_something_that_is_no_regularizer_is_refused():
    with pytest.raises(ArgumentError, match="expected regularization to be None or a regularizer"):
        append_regularization_ops([], 0.1)


def test_names_with_and_without_regularizer_are_the_same_class():
    assert fluid.regularizer.L1Decay is fluid.regularizer.L1DecayRegularizer
    assert fluid.regularizer.L2Decay is fluid.regularizer.L2DecayRegularizer
    assert fluid.regularizer.L2Decay(0.5) == fluid.regularizer.L2Decay(0.5)
    assert repr(fluid.regularizer.L1Decay(0.5)) == "L1Decay(regularization_coeff=0.5)"


def test_a_regularizer_is_printed_as_in_fluid():
    assert str(fluid.regularizer.L2Decay(0.1)) == "L2Decay, regularization_coeff=0.100000"
    assert str(fluid.regularizer.L1DecayRegularizer(1)) == "L1Decay, regularization_coeff=1.000000"
