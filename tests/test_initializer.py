"""First values of parameters."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, DTypeError, ShapeError
from fluidlite.initializer import fans

I = fluid.initializer


def values(initializer, shape=(40, 50), dtype="float32", seed=0):
    """What a parameter begins with."""
    startup = fluid.Program()
    startup.random_seed = seed
    startup.global_block().create_var(
        name="w", shape=shape, dtype=dtype, persistable=True, initializer=initializer
    )
    scope = fluid.Scope()
    fluid.Executor().run(startup, scope=scope)
    found = np.array(scope.find_var("w").get_tensor())
    assert found.shape == tuple(shape) and found.dtype == dtype
    return found


def weight(*shape):
    return fluid.Program().global_block().create_var(name="w", shape=shape, dtype="float32")


# -- values ----------------------------------------------------------------------------------------


def test_a_constant_is_one_number_everywhere():
    assert (values(I.Constant(1.5)) == 1.5).all()
    assert (values(I.Constant()) == 0).all()
    assert (values(I.Constant(3), dtype="int64") == 3).all()


def test_uniform_numbers_fill_their_interval():
    found = values(I.Uniform(-2.0, 4.0, seed=1), [100, 100])
    assert -2 <= found.min() < -1.9 and 3.9 < found.max() < 4
    assert abs(found.mean() - 1) < 0.1 and abs(found.std() - 6 / math.sqrt(12)) < 0.05


def test_normal_numbers_have_their_moments():
    found = values(I.Normal(3.0, 0.5, seed=1), [100, 100])
    assert abs(found.mean() - 3) < 0.03 and abs(found.std() - 0.5) < 0.02
    assert abs(found - 3).max() > 1.5


def test_truncated_normal_numbers_keep_within_two_deviations():
    found = values(I.TruncatedNormal(3.0, 0.5, seed=1), [100, 100])
    assert abs(found - 3).max() <= 1.0 and abs(found.mean() - 3) < 0.03
    assert abs(found.std() - 0.5 * 0.8796) < 0.01  # the deviation of what is left


def test_xavier_s_variance_is_that_of_both_fans():
    limit = math.sqrt(6 / (100 + 80))
    found = values(I.Xavier(seed=1), [100, 80])
    assert 0.98 * limit < abs(found).max() <= limit
    found = values(I.Xavier(uniform=False, seed=1), [100, 80])
    assert abs(found.std() - math.sqrt(2 / 180)) < 0.003 and abs(found).max() > limit


def test_msra_s_variance_is_that_of_fan_in():
    limit = math.sqrt(6 / 100)
    found = values(I.MSRA(seed=1), [100, 80])
    assert 0.98 * limit < abs(found).max() <= limit
    found = values(I.MSRA(uniform=False, seed=1), [100, 80])
    assert abs(found.std() - math.sqrt(2 / 100)) < 0.004


def test_given_fans_take_the_place_of_the_shape_s():
    found = values(I.Xavier(fan_in=2, fan_out=4, seed=1), [100, 80])
    assert 0.98 < abs(found).max() <= 1
    found = values(I.MSRA(fan_in=24, seed=1), [100, 80])
    assert 0.49 < abs(found).max() <= 0.5


def test_arrays_are_taken_as_they_are():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(values(I.NumpyArrayInitializer(array), [2, 3]), array)
    whole = array.astype("int64")
    np.testing.assert_array_equal(values(I.NumpyArrayInitializer(whole), [2, 3], "int64"), whole)


def test_bilinear_weights_follow_their_formula():
    size = 4
    expected = np.zeros(2 * size * size)
    for i in range(expected.size):
        x, y = i % size, (i / size) % size
        expected[i] = (1 - abs(x / 2 - 0.75)) * (1 - abs(y / 2 - 0.75))
    found = values(I.Bilinear(), [2, 1, size, size])
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-6)


def test_a_diagonal_has_a_value_of_its_own():
    found = values(I.Uniform(0.0, 0.5, seed=1, diag_num=3, diag_step=3, diag_val=2.0), [3, 3])
    np.testing.assert_array_equal(np.diag(found), [2.0, 2.0, 2.0])
    assert (found[~np.eye(3, dtype=bool)] < 0.5).all()


@pytest.mark.parametrize("initializer", [I.Constant(0.5), I.Uniform(seed=1), I.Xavier(seed=1)])
def test_float16_is_cast_from_float32(initializer):
    found = values(initializer, [3, 4], "float16")
    np.testing.assert_array_equal(found, values(initializer, [3, 4]).astype("float16"))


# -- seeds -----------------------------------------------------------------------------------------

RANDOM = [I.Uniform, I.Normal, I.TruncatedNormal, I.Xavier, I.MSRA]


@pytest.mark.parametrize("kind", RANDOM)
def test_one_seed_gives_the_same_numbers(kind):
    np.testing.assert_array_equal(values(kind(seed=7)), values(kind(seed=7)))
    assert (values(kind(seed=7)) != values(kind(seed=8))).mean() > 0.9


@pytest.mark.parametrize("kind", RANDOM)
def test_the_program_s_seed_counts_where_the_initializer_has_none(kind):
    np.testing.assert_array_equal(values(kind(), seed=7), values(kind(), seed=7))
    assert (values(kind(), seed=7) != values(kind(), seed=8)).mean() > 0.9
    np.testing.assert_array_equal(values(kind(seed=3), seed=7), values(kind(seed=3), seed=8))


@pytest.mark.parametrize("kind", RANDOM)
def test_without_a_seed_numbers_differ_from_run_to_run(kind):
    startup, scope, executor = fluid.Program(), fluid.Scope(), fluid.Executor()
    startup.global_block().create_var(
        name="w", shape=[40, 50], dtype="float32", persistable=True, initializer=kind()
    )
    seen = []
    for _ in range(2):
        executor.run(startup, scope=scope)
        seen.append(np.array(scope.find_var("w").get_tensor()))
    assert (seen[0] != seen[1]).mean() > 0.9


# -- programs --------------------------------------------------------------------------------------


def test_the_startup_program_lists_the_last_parameter_first():
    block = fluid.Program().global_block()
    for name in ("first", "second"):
        block.create_var(name=name, shape=[2], dtype="float32", initializer=I.Constant(0.0))
    assert [op.output("Out") for op in block.ops] == [["second"], ["first"]]


@pytest.mark.parametrize(
    "initializer, kind",
    [
        (I.Constant(1.0), "fill_constant"),
        (I.Uniform(), "uniform_random"),
        (I.Normal(), "gaussian_random"),
        (I.TruncatedNormal(), "truncated_gaussian_random"),
        (I.Xavier(), "uniform_random"),
        (I.Xavier(uniform=False), "gaussian_random"),
        (I.MSRA(), "uniform_random"),
        (I.NumpyArrayInitializer(np.zeros([4, 3, 2, 2], "float32")), "assign_value"),
        (I.Bilinear(), "assign_value"),
    ],
)
def test_an_initializer_is_one_operator(initializer, kind):
    var = weight(4, 3, 2, 2)
    op = initializer(var, var.block)
    assert [o.type for o in var.block.ops] == [op.type] == [kind]
    assert op.output("Out") == ["w"] and op.attr("shape") == [4, 3, 2, 2]


@pytest.mark.parametrize(
    "shape, expected",
    [
        ((3, 5), (3, 5)),
        ((8, 4, 3, 2), (4 * 6, 8 * 6)),
        ((8, 4, 3, 2, 5), (4 * 30, 8 * 30)),
        ((7,), (7, 7)),
        ((), (1, 1)),
    ],
)
def test_fans_are_those_of_the_shape(shape, expected):
    assert fans(weight(*shape)) == expected


def test_force_init_on_cpu_is_no():
    assert fluid.initializer.force_init_on_cpu() is False


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: I.Constant("1"), "Constant: expected value to be a number, got '1'"),
        (lambda: I.Uniform(1.0, 0.0), r"low to be at most high, got low=1\.0 and high=0\.0"),
        (lambda: I.Uniform(seed=-1), "Uniform: expected seed to be an integer of at least 0"),
        (lambda: I.Uniform(low=None), "Uniform: expected low to be a number, got None"),
        (lambda: I.Normal(scale=-1.0), r"Normal: expected scale, .* of at least 0, got -1\.0"),
        (lambda: I.TruncatedNormal(scale=-1.0), "TruncatedNormal: expected scale"),
        (lambda: I.Xavier(fan_in=math.inf), "Xavier: expected fan_in to be a finite number"),
        (lambda: I.MSRA(fan_in="3"), "MSRA: expected fan_in to be a finite number"),
        (lambda: I.MSRA(seed=1.5), "MSRA: expected seed to be an integer of at least 0, got 1.5"),
        (lambda: I.NumpyArrayInitializer([1.0]), "expected value to be a NumPy array"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_fan_of_zero_leaves_the_variance_to_the_other_one():
    assert values(I.Xavier(False, fan_in=0, fan_out=100, seed=1), [40, 50]).std() == pytest.approx(
        math.sqrt(2 / 100), rel=0.1
    )
    for initializer, what in (
        (I.Xavier(fan_in=0, fan_out=0), r"fan_in \+ fan_out"),
        (I.MSRA(fan_in=0), "fan_in"),
    ):
        with pytest.raises(ArgumentError, match=f"expected {what} to be a positive number"):
            values(initializer, [2, 3])


def test_an_array_of_another_shape_is_the_value_with_a_warning():
    var = weight(4, 2)
    with pytest.warns(UserWarning, match=r"with the shape \[4, 2\], and gets an array .* \[3, 3\]"):
        found = I.NumpyArrayInitializer(np.ones([3, 3], "float32")).values(var)
    assert found.shape == (3, 3)


def test_operators_compute_with_a_parameter_as_it_is():
    x = fluid.data("x", [None, 3])
    start = I.NumpyArrayInitializer(np.ones([3, 5], "float32"))
    with pytest.warns(UserWarning, match="operators compute with that one"):
        y = fluid.layers.fc(x, 2, param_attr=fluid.ParamAttr(initializer=start), bias_attr=False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([2, 3], "float32")}
    with pytest.warns(UserWarning, match="operators compute with that value"):
        exe.run(feed=feed, fetch_list=[y])
    for _ in range(3):
        (found,) = exe.run(feed=feed, fetch_list=[y])
    assert found.tolist() == [[3.0] * 5] * 2


def test_an_array_that_would_be_changed_is_refused():
    with pytest.raises(DTypeError, match="values of float32 would be changed in 'w', which is int"):
        values(I.NumpyArrayInitializer(np.ones([2], "float32")), [2], "int64")


def test_an_element_type_that_programs_cannot_hold_is_refused():
    with pytest.raises(DTypeError, match="values can be written into a program as bool, float32"):
        values(I.NumpyArrayInitializer(np.ones([2], "uint8")), [2], "uint8")


def test_bilinear_weights_may_be_half_as_wide():
    found = values(I.Bilinear(), [2, 1, 3, 3], "float16")
    np.testing.assert_allclose(found, values(I.Bilinear(), [2, 1, 3, 3]), rtol=1e-3)


@pytest.mark.parametrize("shape", [[2, 2], [1, 1, 2, 3]])
def test_bilinear_weights_need_a_square_filter(shape):
    with pytest.raises(ShapeError, match=r"Bilinear: expected a filter of shape \[C, D, K, K\]"):
        values(I.Bilinear(), shape)


def test_an_initializer_takes_a_variable_and_a_block():
    with pytest.raises(ArgumentError, match="an initializer takes a variable and a block"):
        I.Constant(0.0)("w", fluid.Program().global_block())


def test_names_with_and_without_initializer_are_the_same_class():
    for name in ("Constant", "Uniform", "Normal", "TruncatedNormal", "Xavier", "MSRA", "Bilinear"):
        assert getattr(I, name) is getattr(I, f"{name}Initializer")
