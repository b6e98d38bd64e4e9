"""What Python's operators on variables write into a program: what fluid 1.8 writes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, DTypeError, FluidWarning, ShapeError
from fluidlite.ground.dtypes import DType, Kind
from fluidlite.ir.program import default_main_program
from fluidlite.ir.text import variable_text


def variable(name="x", shape=(-1, 3), dtype="float32", **more):
    block = default_main_program().current_block()
    return block.create_var(name=name, shape=shape, dtype=dtype, is_data=True, **more)


def written():
    """The operators of the default program, a line each."""
    return [str(op) for op in default_main_program().current_block().ops]


@pytest.mark.parametrize(
    "combine, wanted",
    [
        (lambda x: x + 2.0, "scale(X=x, bias=2.0)"),
        (lambda x: 2.0 + x, "scale(X=x, bias=2.0)"),
        (lambda x: x - 2, "scale(X=x, bias=-2.0)"),
        (lambda x: 2 - x, "scale(X=x, scale=-1.0, bias=2.0)"),
        (lambda x: x * 3, "scale(X=x, scale=3.0)"),
        (lambda x: 3 * x, "scale(X=x, scale=3.0)"),
        (lambda x: x / 4.0, "scale(X=x, scale=0.25)"),
        (lambda x: -x, "scale(X=x, scale=-1.0)"),
        (lambda x: x + np.float64(2), "scale(X=x, bias=2.0)"),
    ],
)
def test_numbers_are_scaled_and_added_by_scale(combine, wanted):
    made = combine(variable())
    assert written() == [f"tmp_0 = {wanted}"]
    assert made.name == "tmp_0"
    assert made.shape == (-1, 3)
    assert made.dtype is DType.FP32
    assert not made.persistable


@pytest.mark.parametrize("two", [np.float32(2), np.int64(2), np.array([2.0])])
def test_numbers_of_numpy_become_variables(two):
    made = two * variable()
    assert len(written()) == 2
    assert "elementwise_mul(X=" in written()[1]
    assert made.shape == (-1, 3)


@pytest.mark.parametrize("one", [1, True, np.array(1), np.array([1]), np.int32(1)])
def test_whatever_is_one_selects_the_second_row(one):
    made = variable()[one]
    assert (made.op.attr("starts"), made.shape) == ([1], (3,))


@pytest.mark.parametrize(
    "combine, wanted",
    [
        (lambda x, y: x + y, "elementwise_add(X=x, Y=y)"),
        (lambda x, y: x - y, "elementwise_sub(X=x, Y=y)"),
        (lambda x, y: x * y, "elementwise_mul(X=x, Y=y)"),
        (lambda x, y: x / y, "elementwise_div(X=x, Y=y)"),
        (lambda x, y: x**y, "elementwise_pow(X=x, Y=y)"),
        (lambda x, y: x % y, "elementwise_mod(X=x, Y=y)"),
        (lambda x, y: x < y, "less_than(X=x, Y=y)"),
        (lambda x, y: x <= y, "less_equal(X=x, Y=y)"),
        (lambda x, y: x > y, "greater_than(X=x, Y=y)"),
        (lambda x, y: x >= y, "greater_equal(X=x, Y=y)"),
        (lambda x, y: x == y, "equal(X=x, Y=y)"),
        (lambda x, y: x != y, "not_equal(X=x, Y=y)"),
    ],
)
def test_two_variables_are_combined_element_by_element(combine, wanted):
    made = combine(variable(shape=(4, 3)), variable("y", shape=(4, 3)))
    assert written() == [f"tmp_0 = {wanted}"]
    assert made.shape == (4, 3)


def test_two_matrices_are_multiplied():
    made = variable(shape=(4, 3)) @ variable("y", shape=(3, 2))
    assert written() == ["tmp_0 = matmul(X=x, Y=y)"]
    assert made.shape == (4, 2)


def test_whole_numbers_are_divided_without_rest():
    x, y = variable(shape=(4, 3), dtype="int64"), variable("y", shape=(4, 3), dtype="int64")
    assert (x // y).dtype is DType.INT64
    assert written() == ["tmp_0 = elementwise_floordiv(X=x, Y=y)"]


def test_operands_with_an_unknown_batch_are_aligned_at_the_front():
    variable() + variable("y")
    assert written() == ["tmp_0 = elementwise_add(X=x, Y=y, axis=0)"]


def test_a_number_divided_by_a_variable_of_unknown_batch_is_filled_like_it():
    2.0 / variable()
    fill, divide = written()
    assert fill == ("tmp_0 = fill_constant_batch_size_like(Input=x, shape=[-1, 3], value=2.0)")
    assert divide == "tmp_1 = elementwise_div(X=tmp_0, Y=x, axis=0)"


def test_a_number_divided_by_a_variable_of_known_shape_is_a_constant_of_that_shape():
    2.0 / variable(shape=(4, 3))
    fill, divide = written()
    assert fill == "tmp_0 = fill_constant(shape=[4, 3], value=2.0)"
    assert divide == "tmp_1 = elementwise_div(X=tmp_0, Y=x)"


def test_powers_and_comparisons_with_numbers_make_a_constant_of_one_element():
    x = variable()
    assert (x**2).name == "tmp_1"
    assert (x < 2.0).dtype is DType.BOOL
    ops = default_main_program().global_block().ops
    assert [op.type for op in ops] == [
        "fill_constant",
        "elementwise_pow",
        "fill_constant",
        "less_than",
    ]
    assert ops[0].attr("shape") == [1]
    assert ops[0].attr("value") == 2.0
    assert str(ops[1]) == "tmp_1 = elementwise_pow(X=x, Y=tmp_0)"
    assert str(ops[3]) == "tmp_3 = less_than(X=x, Y=tmp_2)"
    assert ops[3].attr("axis") == -1


def test_the_right_operand_is_cast_to_the_element_type_of_the_left():
    x, y = variable(shape=(2,)), variable("y", shape=(2,), dtype="int64")
    made = x == y
    cast, equal = default_main_program().global_block().ops
    assert cast.type == "cast"
    assert (cast.attr("in_dtype"), cast.attr("out_dtype")) == (DType.INT64, DType.FP32)
    assert str(equal) == "tmp_1 = equal(X=x, Y=tmp_0)"
    assert made.dtype is DType.BOOL


def test_whole_numbers_stay_whole():
    x = variable(dtype="int64", shape=(2,))
    assert (x + 1).dtype is DType.INT64
    with pytest.raises(ArgumentError, match="'x' is int64 and 0.5 is no integer; cast"):
        x + 0.5
    divided = x / 2
    assert default_main_program().global_block().ops[-1].type == "elementwise_div"
    assert divided.dtype is DType.INT64


@pytest.mark.parametrize("other", ["2", None, object(), [1.0, 2.0]])
def test_what_is_neither_a_variable_nor_a_number_is_refused(other):
    with pytest.raises(ArgumentError, match="elementwise_add: expected a variable or a number"):
        variable() + other


def test_arrays_beside_a_variable_are_constants():
    x = fluid.data("x", [3], "float32")
    made = [x * np.arange(3), np.arange(3) - x]
    found = fluid.Executor().run(feed={"x": np.full(3, 2, "float32")}, fetch_list=made)
    assert [value.tolist() for value in found] == [[0, 2, 4], [-2, -1, 0]]
    assert all(value.dtype == np.float32 for value in found)


def test_hashes_and_truth_do_not_ask_for_values():
    x, y = variable(), variable("y")
    assert len({x, y, x}) == 2
    with pytest.warns(FluidWarning, match="'x' has no truth value before the program runs"):
        assert bool(x)
    assert written() == []


# -- indexing --------------------------------------------------------------------------------------


def sliced(item, shape=(-1, 3)):
    """The result and the operators of ``x[item]``."""
    made = variable(shape=shape)[item]
    return made, default_main_program().global_block().ops


def test_an_integer_takes_one_and_drops_the_dimension():
    made, (op,) = sliced(0)
    assert op.type == "slice"
    assert [op.attr(n) for n in ("axes", "starts", "ends", "decrease_axis")] == [[0], [0], [1], [0]]
    assert op.attr("infer_flags") == [1]
    assert made.name == "x_slice_0"
    assert made.shape == (3,)


def test_minus_one_takes_the_last():
    made, (op,) = sliced(-1)
    assert (op.attr("starts"), op.attr("ends")) == ([-1], [10000000])
    assert made.shape == (3,)


def test_minus_two_takes_the_last_but_one():
    _, (op,) = sliced(-2)
    assert (op.attr("starts"), op.attr("ends")) == ([-2], [-1])


def test_a_slice_keeps_the_dimension():
    made, (op,) = sliced(slice(1, None), shape=(5, 3))
    assert (op.type, op.attr("starts"), op.attr("ends")) == ("slice", [1], [10000000])
    assert op.attr("decrease_axis") == []
    assert made.shape == (4, 3)


def test_several_items_index_several_dimensions():
    made, (op,) = sliced((slice(None), 2, slice(0, 2)), shape=(-1, 3, 4))
    assert (op.attr("axes"), op.attr("starts"), op.attr("ends")) == ([1, 2], [2, 0], [3, 2])
    assert op.attr("decrease_axis") == [1]
    assert made.shape == (-1, 2)


def test_an_ellipsis_stands_for_the_dimensions_between():
    made, (op,) = sliced((0, ..., 1), shape=(2, 3, 4))
    assert op.attr("axes") == [0, 2]
    assert made.shape == (3,)


def test_steps_make_a_strided_slice():
    made, (op,) = sliced(slice(None, None, 2), shape=(5, 3))
    assert op.type == "strided_slice"
    names = ("axes", "starts", "ends", "strides")
    assert [op.attr(n) for n in names] == [[0], [0], [10000000], [2]]
    assert made.shape == (3, 3)


def test_a_variable_may_be_an_index():
    i = variable("i", shape=(1,), dtype="int32")
    made, ops = sliced(i, shape=(5, 3))
    assert [op.type for op in ops] == ["fill_constant", "elementwise_add", "slice"]
    assert ops[-1].input("StartsTensorList") == ["i"]
    assert ops[-1].attr("infer_flags") == [-1]
    assert made.shape == (3,)


@pytest.mark.parametrize("item", [1.5, "a"])
def test_other_indices_are_refused(item):
    with pytest.raises(ArgumentError, match="is indexed by integers, slices, ..., None, masks"):
        sliced(item)


def test_masks_lists_and_new_dimensions_are_indices():
    x = fluid.data("x", [None, 2], "float32")
    made = [x[x > 0.0], x[[1, 0, 1]], x[:, None]]
    assert [each.shape for each in made] == [(-1,), (3, 2), (-1, 1, 2)]
    feed = {"x": np.array([[1, -2], [-3, 4]], "float32")}
    picked, rows, wide = fluid.Executor().run(feed=feed, fetch_list=made)
    assert picked.tolist() == [1, 4] and rows.tolist() == [[-3, 4], [1, -2], [-3, 4]]
    assert wide.tolist() == [[[1, -2]], [[-3, 4]]]


def test_an_element_that_is_set_shows_from_there_on():
    x = fluid.data("x", [2, 2], "float32")
    before, y = x * 1.0, x * 2.0
    y[0, 1] = before[1, 0] * 10.0
    feed = {"x": np.array([[1, 2], [3, 4]], "float32")}
    found = fluid.Executor().run(feed=feed, fetch_list=[before, y])
    assert [each.tolist() for each in found] == [[[1, 2], [3, 4]], [[2, 30], [6, 8]]]


def test_an_attribute_that_is_not_there_is_refused_with_the_one_that_was_meant():
    x = fluid.data("x", [None, 2], "float32")
    with pytest.raises(AttributeError, match="no attribute 'shap'; did you mean 'shape'"):
        getattr(x, "shap")  # noqa: B009
    assert not hasattr(x, "_shap")


def test_too_many_indices_are_refused():
    with pytest.raises(ShapeError, match=r"'x' of shape \[-1, 3\] takes 2 indices, got 3"):
        sliced((0, 0, 0))


@pytest.mark.parametrize("item", [slice(None, None, 0), slice(None, None, 1.5)])
def test_a_step_is_an_integer_other_than_zero(item):
    with pytest.raises(ArgumentError, match="step"):
        sliced(item)


# -- the variable itself ---------------------------------------------------------------------------


def test_a_variable_has_no_value_no_length_and_no_elements():
    x = variable()
    with pytest.raises(ArgumentError, match="'x' of a program has no value of its own; fetch it"):
        x.numpy()
    with pytest.raises(DTypeError, match="no length"):
        len(x)
    with pytest.raises(DTypeError, match="iterated"):
        list(x)


def test_a_variable_says_what_is_known_about_it():
    x = variable(lod_level=1)
    assert repr(x) == "<Variable x: float32[-1, 3] lod=1 is_data>"
    assert (x.ndim, x.type, x.grad_name) == (2, Kind.LOD_TENSOR, "x@GRAD")
    block = x.block
    assert repr(block.create_var(name="y")) == "<Variable y: float32?>"
    assert block.var("y").spec is None
    assert variable_text(x) == "data x: float32[-1, 3] lod=1 not stop_gradient"
    assert x.program is default_main_program()
    assert x.op is None
    assert (x + 1).op.type == "scale"


def test_astype_casts():
    made = variable().astype("int64")
    assert made.dtype is DType.INT64
    assert written() == ["tmp_0 = cast(X=x, out_dtype=int64, in_dtype=float32)"]


def test_sizes_are_integers_or_none():
    block = default_main_program().global_block()
    assert block.create_var(name="a", shape=[None, np.int64(3)]).shape == (-1, 3)
    with pytest.raises(ArgumentError, match=r"shape of variable 'b' holds 1\.5"):
        block.create_var(name="b", shape=[1.5])


def test_parameters_have_positive_sizes():
    block = default_main_program().global_block()
    with pytest.raises(ArgumentError, match=r"'w' needs a shape of positive sizes, got \[-1, 3\]"):
        block.create_parameter(name="w", shape=[-1, 3], dtype="float32")


def test_a_parameter_that_is_not_trained_may_still_be_differentiated():
    block = default_main_program().global_block()
    frozen = block.create_parameter(name="w", shape=[3], dtype="float32", trainable=False)
    assert not frozen.stop_gradient
    assert frozen.takes_gradient


def test_a_fraction_beside_integers_is_rounded_with_a_warning():
    number = variable("count", shape=(4,), dtype="int64")
    for compare in (lambda x: x < 3.5, lambda x: x == 2.5, lambda x: x / 2.5):
        with pytest.warns(FluidWarning, match=r"[.]5 is rounded towards zero"):
            compare(number)


def test_a_smaller_left_operand_is_aligned_at_the_front_with_a_warning():
    weight, x = variable("weight", shape=(3,)), variable("x")
    with pytest.warns(FluidWarning, match="write the larger one first"):
        assert (weight * x).op.attr("axis") == 0
