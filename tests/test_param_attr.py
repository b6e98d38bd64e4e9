"""What users say about a parameter."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.param_attr import as_param_attr


def weight_of(attr):
    x = fluid.data("x", [None, 3], "float32")
    fluid.layers.fc(x, 2, param_attr=attr)
    return fluid.default_main_program().all_parameters()[0]


def test_a_parameter_is_as_its_attributes_say():
    decay, clip = fluid.regularizer.L2Decay(0.1), fluid.clip.GradientClipByNorm(1.0)
    attr = fluid.ParamAttr(
        name="w",
        initializer=fluid.initializer.Constant(2.0),
        learning_rate=0.5,
        regularizer=decay,
        trainable=False,
        gradient_clip=clip,
        do_model_average=False,
    )
    param = weight_of(attr)
    assert (param.name, param.trainable, param.do_model_average) == ("w", False, False)
    assert param.optimize_attr == {"learning_rate": 0.5}
    assert param.regularizer is decay and param.gradient_clip_attr is clip
    fluid.Executor().run(fluid.default_startup_program())
    value = np.array(fluid.global_scope().find_var("w").get_tensor())
    np.testing.assert_array_equal(value, np.full([3, 2], 2.0, "float32"))


def test_what_is_left_out_has_its_default():
    param = weight_of(fluid.ParamAttr())
    assert (param.name, param.trainable, param.regularizer) == ("fc_0.w_0", True, None)
    assert param.optimize_attr == {"learning_rate": 1.0}


@pytest.mark.parametrize("short", [None, True])
def test_none_and_true_are_the_defaults(short):
    assert vars(as_param_attr(short)) == vars(fluid.ParamAttr())


def test_false_is_no_parameter():
    assert as_param_attr(False) is None


def test_one_thing_may_be_said_by_itself():
    ones, decay = fluid.initializer.Constant(1.0), fluid.regularizer.L1Decay(0.1)
    assert as_param_attr("w").name == "w"
    assert as_param_attr(ones).initializer is ones
    assert as_param_attr(decay).regularizer is decay
    attr = fluid.ParamAttr("w")
    assert as_param_attr(attr) is attr


def test_something_else_is_refused():
    with pytest.raises(ArgumentError, match=r"or a bool for a parameter, got 0\.5"):
        as_param_attr(0.5)


@pytest.mark.parametrize(
    "argument, value, message",
    [
        ("name", 3, "expected name to be None or a text, got 3 of type int"),
        ("initializer", 0.0, "expected initializer to be None or an initializer such as"),
        ("learning_rate", "0.1", "expected learning_rate to be a finite number, got '0.1'"),
        ("learning_rate", float("nan"), "expected learning_rate to be a finite number, got nan"),
        ("regularizer", 0.1, "expected the regularizer of a ParamAttr to be None or a regularizer"),
        ("trainable", 1, "expected trainable to be a bool, got 1 of type int"),
        ("do_model_average", None, "expected do_model_average to be a bool, got None"),
    ],
)
def test_an_argument_of_another_kind_is_refused(argument, value, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.ParamAttr(**{argument: value})
