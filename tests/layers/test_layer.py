"""The form of layers: names, checks, activations, and undoing what failed."""

import gc
import inspect

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError
from fluidlite.layers.layer import Undo, layer, stopped, variables_of

from building import data, declared, refused, started, written


def test_results_are_named_after_the_layer_and_counted():
    x = data()
    assert [layers.relu(x).name, layers.relu(x).name] == ["relu_0.tmp_0", "relu_1.tmp_0"]
    assert layers.fc(x, 3).name == "fc_0.tmp_1"


def test_a_given_name_is_used_without_a_counter():
    x = data()
    assert layers.fc(x, 3, name="top").name == "top.tmp_1"
    assert layers.fc(x, 3, name="top").name == "top.tmp_3"
    assert fluid.default_main_program().global_block().has_var("top.w_1")


def test_a_name_may_be_given_by_position():
    assert layers.relu(data(), "top").name == "top.tmp_0"


def test_a_few_layers_take_the_name_as_that_of_their_result():
    x = data()
    assert layers.clip(x, 0.0, 1.0, name="y").name == "y"
    assert layers.clip(x, 0.0, 1.0, name="y").name == "y.tmp_0"
    assert layers.clip(x, 0.0, 1.0).name == "clip_0.tmp_0"


def test_the_interpreter_is_not_in_the_signature():
    assert list(inspect.signature(layers.relu).parameters) == ["x", "name"]
    assert layers.relu.__name__ == "relu"
    assert layers.relu.__doc__.startswith("``x`` where it is positive")


def test_a_missing_argument_is_reported_as_by_any_function():
    x = data()
    with refused(TypeError, "missing 1 required positional argument: 'size'"):
        layers.fc(x)


@pytest.mark.parametrize("value", [np.zeros([2, 3]), 3.0, [1, 2], None])
def test_what_is_no_variable_is_refused_by_the_name_of_the_argument(value):
    with refused(
        ArgumentError, r"(?s)expected x to be a variable, got .* of type .*in relu, called at "
    ):
        layers.relu(value)


def test_what_is_no_variable_is_refused_by_keyword_too():
    x = data()
    with refused(TypeError, r"expected y to be a variable, got 1\.0 of type float"):
        layers.elementwise_add(x, y=1.0)


def test_a_variable_that_may_be_absent_is_checked_when_it_is_there():
    x = data()
    layers.equal(x, x, cond=None)
    with refused(ArgumentError, "expected cond to be a variable, got 'flag' of type str"):
        layers.equal(x, x, cond="flag")


def test_a_name_is_a_text():
    x = data()
    with refused(ArgumentError, "expected name to be a text, got 3"):
        layers.relu(x, name=3)


def test_an_error_tells_the_layer_and_the_line_once():
    x = data(shape=[None, 8])
    with pytest.raises(ShapeError, match=r"got 'x' of shape") as raised:
        fluid.nets.simple_img_conv_pool(x, 4, 3, 2, 2)
    assert str(raised.value).count("in conv2d, called at ") == 1
    assert str(raised.value).count("test_layer.py:") == 1


def test_an_error_of_an_operator_tells_the_line_once():
    x, y = data(), data("y", [7, 7, 7])
    with pytest.raises(ShapeError, match="built at .*test_layer.py") as raised:
        layers.elementwise_add(x, y)
    assert str(raised.value).count("test_layer.py:") == 1


def test_an_activation_is_applied_to_the_result():
    layers.elementwise_add(data(), data("y"), act="tanh")
    assert written() == [
        "elementwise_add_0.tmp_0 = elementwise_add(X=x, Y=y)",
        "elementwise_add_0.tmp_1 = tanh(X=elementwise_add_0.tmp_0)",
    ]


def test_an_activation_may_come_with_attributes():
    layers.scale(data(), 2.0, act={"type": "leaky_relu", "alpha": 0.5})
    assert written()[1] == "scale_0.tmp_1 = leaky_relu(X=scale_0.tmp_0, alpha=0.5)"


def test_an_unknown_activation_is_refused_with_a_suggestion():
    x = data()
    with refused(ArgumentError, "act='rellu' is no activation: .*did you mean 'relu'"):
        layers.fc(x, 3, act="rellu")


@pytest.mark.parametrize("act", [3, {"alpha": 0.5}])
def test_an_activation_is_named_by_a_text(act):
    x = data()
    with refused(ArgumentError, "expected act to be the name of an activation"):
        layers.fc(x, 3, act=act)


def test_an_unknown_attribute_of_an_activation_is_left_out_with_a_warning():
    x = data()
    with pytest.warns(UserWarning, match="'alpa'; did you mean 'alpha'"):
        y = layers.fc(x, 3, act={"type": "leaky_relu", "alpa": 0.5})
    assert y.op.type == "leaky_relu"


def test_an_unknown_activation_leaves_a_variable_that_would_be_written_alone():
    x = data(shape=[2, 6])
    with refused(ArgumentError, "no activation"):
        layers.reshape(x, [12], act="rellu", inplace=True)
    assert x.shape == (2, 6)


def test_a_layer_that_fails_leaves_no_parameter_behind():
    x, y = data(), data("y", [None, 5], "float64")
    with refused(ValueError, "y"):
        layers.fc([x, y], 3)
    assert not started()


def test_a_layer_that_fails_leaves_what_was_there_before_it():
    x = layers.fc(data(), 3)
    before = written(), started(), declared()
    with pytest.raises(ShapeError):
        layers.elementwise_add(x, data("y", [7, 7, 7]))
    after = written(), started(), declared()
    assert after[:2] == before[:2]
    assert [name for name in after[2][0][0] if name not in before[2][0][0]] == ["y"]


def test_a_layer_that_fails_takes_back_what_it_put_at_the_front():
    @layer
    def counted(f, x):
        layers.autoincreased_step_counter()
        f.relu(x)
        raise KeyboardInterrupt("stopped")

    x = layers.relu(data())
    with refused(KeyboardInterrupt, "stopped"):
        counted(x)


def test_a_layer_that_fails_in_a_block_takes_global_variables_back():
    @layer
    def made(f, x):
        layers.create_global_var([1], 0.0, "float32", name="g")
        raise ValueError("no")

    x = data()
    fluid.default_main_program().create_block()
    with refused(ValueError, "no"):
        made(x)


def test_stopped_marks_one_or_several():
    x, y = data(), data("y")
    x.stop_gradient = y.stop_gradient = False
    assert stopped(x) is x
    assert stopped([x, y]) == [x, y]
    assert x.stop_gradient and y.stop_gradient


def test_several_variables_are_a_list_and_one_is_too():
    x, y = data(), data("y")
    assert variables_of(x, "input")[0] is x
    assert [v.name for v in variables_of((x, y), "input")] == ["x", "y"]
    with pytest.raises(ArgumentError, match="expected input to be a variable or a list of them"):
        variables_of([x, 3], "input")


def test_what_is_undone_from_outside_first_is_undone_once():
    x = data()
    block = x.block
    outer = Undo(block)
    layers.relu(x)
    inner = Undo(block)
    layers.relu(x)
    outer()
    inner()  # what it goes by has been taken out: a layer within that fails comes second
    assert [op.type for op in block.ops] == [] and "relu_0.tmp_0" not in block.vars


def test_a_layer_leaves_nothing_for_the_cycle_collector():
    x = fluid.data("x", [None, 4, 8, 8], "float32")

    def build():
        hidden = layers.conv2d(x, 3, 3, act="relu")
        return layers.fc(hidden[:, 1:], 2) * 2

    def left():
        gc.collect()
        build()
        return gc.collect()

    build()  # definitions are completed at their first use
    gc.disable()
    try:
        assert min(left(), left()) == 0  # a thread of an earlier test may end in one of them
    finally:
        gc.enable()
