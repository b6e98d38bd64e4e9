"""What users say about parameters, and where it goes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DuplicateVariableError
from fluidlite.initializer import Constant, NumpyArrayInitializer

from building import data, refused, run, started

W = np.arange(12, dtype="float32").reshape(4, 3)


def parameters():
    return fluid.default_main_program().global_block().all_parameters()


def test_parameters_are_named_after_the_layer():
    layers.fc(data(), 3)
    assert [(p.name, p.shape) for p in parameters()] == [("fc_0.w_0", (4, 3)), ("fc_0.b_0", (3,))]


def test_the_startup_program_lists_the_last_parameter_first():
    layers.fc(data(), 3)
    assert [line.split(" = ")[0] for line in started()] == ["fc_0.b_0", "fc_0.w_0"]


def test_weights_start_by_xavier_and_biases_at_0():
    layers.fc(data(), 3)
    bias, weight = started()
    assert bias == "fc_0.b_0 = fill_constant(shape=[3])"
    limit = float(np.float32(np.sqrt(6 / 7)))
    assert f"min={-limit!r}"[:10] in weight


def test_an_attribute_names_and_starts_a_parameter():
    attr = fluid.ParamAttr(name="mine", initializer=Constant(0.5))
    out = layers.fc(data(), 3, param_attr=attr, bias_attr=False)
    assert [p.name for p in parameters()] == ["mine"]
    assert np.array_equal(run(out, x=np.ones([2, 4], "float32")), np.full([2, 3], 2.0))


@pytest.mark.parametrize("attr", ["mine", fluid.ParamAttr(name="mine")])
def test_a_name_alone_is_an_attribute(attr):
    layers.fc(data(), 3, param_attr=attr)
    assert parameters()[0].name == "mine"


def test_an_initializer_alone_is_an_attribute():
    out = layers.fc(data(), 3, param_attr=NumpyArrayInitializer(W))
    assert np.array_equal(run(out, x=np.eye(4, dtype="float32")), W)


def test_a_regularizer_alone_is_an_attribute():
    decay = fluid.regularizer.L2Decay(0.1)
    layers.fc(data(), 3, param_attr=decay)
    assert parameters()[0].regularizer is decay


def test_everything_else_is_refused():
    x = data()
    with refused(ArgumentError, "expected a ParamAttr, a name, .* got 3"):
        layers.fc(x, 3, param_attr=3)


def test_what_the_optimizer_needs_is_kept():
    attr = fluid.ParamAttr(trainable=False, learning_rate=0.5, do_model_average=False)
    layers.fc(data(), 3, param_attr=attr)
    weight, bias = parameters()
    assert (weight.trainable, bias.trainable) == (False, True)
    assert weight.optimize_attr == {"learning_rate": 0.5}
    assert (weight.do_model_average, bias.do_model_average) == (False, True)


def test_nothing_flows_to_a_parameter_that_is_not_trained():
    out = layers.fc(data(), 3, param_attr=fluid.ParamAttr(trainable=False))
    pairs = fluid.append_backward(layers.mean(out))
    assert [p.name for p, _ in pairs] == ["fc_0.b_0"]


def test_a_parameter_is_shared_by_its_name():
    x = data()
    layers.fc(x, 3, param_attr="w", bias_attr=False)
    layers.fc(x, 3, param_attr="w", bias_attr=False)
    assert [p.name for p in parameters()] == ["w"]
    assert len(started()) == 1


def test_a_shared_parameter_of_another_shape_is_refused():
    x = data()
    layers.fc(x, 3, param_attr="w", bias_attr=False)
    with refused(DuplicateVariableError, r"'w'.*\[4, 3\].*\[4, 2\]|'w'.*4, 2.*4, 3"):
        layers.fc(x, 2, param_attr="w", bias_attr=False)


def test_a_parameter_of_the_name_of_another_variable_is_refused():
    x = data(shape=[3, 3])
    with refused(DuplicateVariableError, "variable 'x' is there already and is no parameter"):
        layers.fc(x, 3, param_attr="x")


def test_several_inputs_may_have_an_attribute_each():
    layers.fc([data(), data("y")], 3, param_attr=["v", fluid.ParamAttr(name="w")])
    assert [p.name for p in parameters()] == ["v", "w", "fc_0.b_0"]


def test_there_is_one_attribute_for_each_input():
    x, y = data(), data("y")
    with refused(ArgumentError, "expected one param_attr for each of 2 inputs, got 3"):
        layers.fc([x, y], 3, param_attr=["u", "v", "w"])


def test_gradients_stop_at_no_parameter_of_the_startup_program():
    layers.batch_norm(data(shape=[None, 4]))
    block = fluid.default_startup_program().global_block()
    assert not any(v.stop_gradient for v in block.vars.values())
    stops = [p.name for p in parameters() if p.stop_gradient]
    assert stops == ["batch_norm_0.w_1", "batch_norm_0.w_2"]
