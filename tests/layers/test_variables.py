"""Variables and parameters on their own, and counters."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, DuplicateVariableError, ShapeError
from fluidlite.ground.dtypes import DType

from building import data, refused, run, started, written


def test_a_tensor_has_no_shape_until_it_is_written():
    made = layers.create_tensor("int64")
    assert (made.name, made.dtype, made.has_shape) == ("create_tensor_0", DType.INT64, False)
    layers.assign(np.zeros([2, 3], "int64"), output=made)
    assert made.shape == (2, 3)


def test_a_tensor_may_persist():
    made = layers.create_tensor("float32", name="total", persistable=True)
    assert (made.name, made.persistable) == ("total", True)


def test_parameters_are_counted_whatever_their_name():
    names = [
        layers.create_parameter([2, 3], "float32").name,
        layers.create_parameter([2], "float32", name="foo").name,
        layers.create_parameter([2], "float32", is_bias=True).name,
        layers.create_parameter([2], "float32", attr=fluid.ParamAttr(name="bar")).name,
        layers.create_parameter([2], "float32").name,
        layers.create_parameter([2], "float32", "a", fluid.ParamAttr(learning_rate=0.5)).name,
        layers.create_parameter([2], "float32", "a", fluid.ParamAttr(name="b")).name,
    ]
    assert names == [
        "create_parameter_0.w_0",
        "foo",
        "create_parameter_1.b_0",
        "bar",
        "create_parameter_3.w_0",
        "a.w_0",
        "b",
    ]


def test_a_parameter_starts_as_the_attribute_or_the_default_says():
    own = fluid.ParamAttr(initializer=fluid.initializer.Constant(2.0))
    default = fluid.initializer.Constant(3.0)
    made = [
        layers.create_parameter([1], "float32", attr=own, default_initializer=default),
        layers.create_parameter([1], "float32", default_initializer=default),
        layers.create_parameter([1], "float32", is_bias=True),
    ]
    assert [value.item() for value in run(*made)] == [2, 3, 0]


def test_no_parameter_is_no_parameter():
    with refused(ArgumentError, "attr=False asks create_parameter_0 for no parameter"):
        layers.create_parameter([1], "float32", attr=False)


def test_a_parameter_of_unknown_size_is_refused():
    with refused(ArgumentError, r"parameter 'w' needs a shape of positive sizes, got \[-1, 3\]"):
        layers.create_parameter([-1, 3], "float32", name="w")


def test_a_parameter_of_another_shape_is_refused():
    layers.create_parameter([2, 3], "float32", name="w")
    with refused(DuplicateVariableError, "'w'"):
        layers.create_parameter([3, 2], "float32", name="w")


def test_a_global_variable_is_set_by_the_startup_program():
    made = layers.create_global_var([2], 1.5, "float32", name="g")
    assert (made.persistable, made.stop_gradient) == (False, True)
    assert started() == ["g = fill_constant(shape=[2], value=1.5)"]
    assert fluid.default_startup_program().global_block().var("g").persistable


def test_a_global_variable_may_persist():
    made = layers.create_global_var([1], 2, "int64", persistable=True)
    assert made.name == "_generated_var_0"
    assert made.persistable
    assert run(layers.increment(made, in_place=False)).item() == 3


def test_a_global_variable_belongs_to_block_0():
    program = fluid.default_main_program()
    program.create_block()
    assert layers.create_global_var([1], 0.0, "float32").block is program.global_block()


def test_a_counter_is_incremented_in_place_or_not():
    i = layers.fill_constant([1], "int64", 3)
    assert layers.increment(i) is i
    assert layers.increment(i, 2.0, in_place=False).name == "increment_1.tmp_0"
    assert written()[1:] == [
        "fill_constant_0.tmp_0 = increment(X=fill_constant_0.tmp_0)",
        "increment_1.tmp_0 = increment(X=fill_constant_0.tmp_0, step=2.0)",
    ]


def test_only_one_element_is_incremented():
    x = data(shape=[2, 3])
    with refused(ShapeError, r"(?s)\[2, 3\].*x float32\[2, 3\]"):
        layers.increment(x)


def test_a_step_counter_is_incremented_before_anything_else():
    layers.relu(data())
    counter = layers.autoincreased_step_counter(begin=5)
    assert (counter.name, counter.dtype) == ("@STEP_COUNTER@", DType.INT64)
    assert written()[0] == "@STEP_COUNTER@ = increment(X=@STEP_COUNTER@)"
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.zeros([1, 4], "float32")}
    counts = [exe.run(feed=feed, fetch_list=[counter])[0].item() for _ in range(3)]
    assert counts == [5, 6, 7]


@pytest.mark.parametrize("name", [None, "mine"])
def test_a_step_counter_is_shared_by_its_name(name):
    first = layers.autoincreased_step_counter(name)
    assert layers.autoincreased_step_counter(name) is first
    assert len(written()) == len(started()) == 1
