"""Values of all kinds, by themselves, in scopes, and on their way into and out of programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.core import SelectedRows
from fluidlite.errors import ArgumentError, OutOfRangeError, ShapeError
from fluidlite.ground.dtypes import DType
from fluidlite.ground.values import LoDTensor, LoDTensorArray, arrays_in, offsets_from, zeros_like

RNG = np.random.default_rng(0)


# -- tensors of sequences --------------------------------------------------------------------------


def test_a_tensor_copies_what_is_set():
    source = np.ones([2, 3], "float32")
    tensor = LoDTensor()
    assert (tensor.shape(), len(tensor)) == ([0], 0)
    tensor.set(source, fluid.CPUPlace())
    source[:] = 0
    np.testing.assert_array_equal(np.array(tensor), np.ones([2, 3]))
    assert (tensor.shape(), tensor._dtype()) == ([2, 3], DType.FP32)
    assert np.array(tensor, "float64").dtype == np.float64


def test_sequences_are_given_as_lengths_or_as_offsets():
    tensor = LoDTensor(np.zeros([5, 1]))
    tensor.set_recursive_sequence_lengths([[2, 1], [1, 2, 2]])
    assert tensor.lod() == [[0, 2, 3], [0, 1, 3, 5]]
    other = LoDTensor(np.zeros([5, 1]))
    other.set_lod(tensor.lod())
    assert other.recursive_sequence_lengths() == [[2, 1], [1, 2, 2]]
    assert offsets_from([2, 0, 3]) == (0, 2, 2, 5)
    assert offsets_from([]) == (0,)


@pytest.mark.parametrize(
    "lod, match",
    [
        ([[1, 5]], "ascend from 0"),
        ([[0, 3, 2]], "ascend from 0"),
        ([[0]], "ascend from 0"),
        ([[0, 4]], "covers 4 rows, there are 5"),
        ([[0, 3], [0, 2, 5]], "covers 3 entries of the next level, there are 2"),
    ],
)
def test_a_lod_that_does_not_fit_is_refused(lod, match):
    tensor = LoDTensor(np.zeros([5, 1]))
    with pytest.raises(ArgumentError, match=match):
        tensor.set_lod(lod)
    assert not LoDTensor(np.zeros([5, 1]), lod).has_valid_recursive_sequence_lengths()
    assert tensor.has_valid_recursive_sequence_lengths()


def test_a_tensor_is_made_of_an_array_a_list_of_sequences_or_another_tensor():
    made = fluid.create_lod_tensor(np.zeros([5, 2]), [[2, 3]], fluid.CPUPlace())
    assert (made.lod(), made.shape()) == ([[0, 2, 5]], [5, 2])
    words = fluid.create_lod_tensor([[7, 8], [9]], [[2, 1]], fluid.CPUPlace())
    np.testing.assert_array_equal(np.array(words), [[7], [8], [9]])
    again = fluid.create_lod_tensor(words, [[1, 2]], fluid.CPUPlace())
    assert (again.lod(), words.lod()) == ([[0, 1, 3]], [[0, 2, 3]])
    drawn = fluid.create_random_int_lodtensor([[2, 2]], [3], fluid.CPUPlace(), low=1, high=2)
    assert drawn.shape() == [4, 3]
    assert set(np.array(drawn).reshape(-1).tolist()) <= {1, 2}


def test_a_tensor_says_what_it_is():
    assert repr(LoDTensor()) == "LoDTensor(empty)"
    assert repr(LoDTensor(np.zeros(2), [[0, 2]])).startswith("LoDTensor(float64[2], lod=[[0, 2]])")


# -- arrays of tensors -----------------------------------------------------------------------------


def test_an_array_grows_with_gaps():
    empty = LoDTensorArray()
    array = empty.with_item(2, np.ones(2)).with_item(0, np.zeros(3))
    assert (len(empty), len(array), array.item(1), array.item(9)) == (0, 3, None, None)
    assert [None if v is None else v.shape for v in array] == [(3,), None, (2,)]
    with pytest.raises(OutOfRangeError, match="0 or more in an array, got -1"):
        array.with_item(-1, np.ones(1))


def test_arrays_are_added_where_they_hold_something():
    one, two = np.ones(2), np.full(2, 2.0)
    total = LoDTensorArray([one, None, one]) + LoDTensorArray([two, two])
    np.testing.assert_array_equal(np.array(list(total)), [[3, 3], [2, 2], [1, 1]])
    assert list(zeros_like(total)) == [None] * 3


def test_a_user_fills_an_array():
    array = fluid.LoDTensorArray()
    array.append(np.ones(2))
    array.append(fluid.create_lod_tensor(np.ones([3, 1]), [[1, 2]]))
    array[0] = LoDTensor(np.zeros(4))
    assert array[0].shape() == [4]
    assert array[1].lod() == [[0, 1, 3]]
    assert repr(array) == "LoDTensorArray(2 elements)"


# -- rows of tensors -------------------------------------------------------------------------------


def rows(*numbers, height=6):
    return SelectedRows(numbers, height, RNG.normal(size=[len(numbers), 2]))


def naive(*parts):
    """The whole tensor that some rows are, or the sum of several."""
    dense = np.zeros(parts[0].shape)
    for each in parts:
        for number, row in zip(each.rows(), each.value):
            dense[number] += row
    return dense


@pytest.mark.parametrize("numbers", [[], [3], [5, 0, 2], [4, 1, 4, 4, 1]])
def test_rows_that_are_named_twice_add_up(numbers):
    some = rows(*numbers)
    np.testing.assert_allclose(some.to_dense(), naive(some))
    np.testing.assert_allclose(np.array(some), naive(some))
    assert np.array(some, "float32").dtype == np.float32
    merged = some.merged()
    assert merged.rows() == sorted(set(numbers))
    np.testing.assert_allclose(merged.to_dense(), naive(some))


def test_rows_have_the_shape_of_the_whole_tensor():
    some = rows(4, 4)
    assert (some.shape, some.ndim, some.size, some.numel()) == ((6, 2), 2, 12, 4)
    assert (some.height(), some.rows(), some.dtype) == (6, [4, 4], np.float64)
    assert repr(some) == "SelectedRows(2 of 6 rows)"
    assert (zeros_like(some).rows(), zeros_like(some).shape) == ([], (6, 2))


def test_rows_are_added_to_rows_and_to_whole_tensors():
    a, b, dense = rows(1, 4, 1), rows(0, 4), RNG.normal(size=[6, 2])
    before = dense.copy()
    assert isinstance(a + b, SelectedRows)
    np.testing.assert_allclose((a + b).to_dense(), naive(a, b))
    for total in (a + dense, dense + a):
        assert isinstance(total, np.ndarray)
        np.testing.assert_allclose(total, dense + naive(a))
    np.testing.assert_array_equal(dense, before)
    for other in (rows(0, height=7), np.zeros(2)):
        with pytest.raises(ShapeError, match="two tensors of one shape"):
            a + other


def test_rows_are_multiplied_by_one_number():
    some = rows(1, 1)
    for factor in (3.0, np.array(3.0), np.array([3.0])):
        np.testing.assert_allclose((some * factor).to_dense(), 3 * naive(some))
        np.testing.assert_allclose((factor * some).to_dense(), 3 * naive(some))
    single = some.with_value(some.value.astype("float32"))
    assert (single * 2.0).dtype == np.float32
    with pytest.raises(ArgumentError, match="one number"):
        some * np.ones(2)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"a value of 2 rows, got shape \[3, 1\]"):
        SelectedRows([0, 1], 4, np.ones([3, 1]))
    for number in (4, -1):
        with pytest.raises(OutOfRangeError, match=r"numbers of rows in \[0, 4\)"):
            SelectedRows([number], 4, np.ones([1, 1]))


def test_a_user_sets_rows_one_by_one():
    some = SelectedRows([0], 1)
    some.set_height(5)
    some.set_rows([3, 3])
    some.get_tensor().set(np.ones([2, 2]), fluid.CPUPlace())
    some.sync_index()
    assert some.to_dense()[3].tolist() == [2, 2]
    assert some.get_tensor().shape() == [2, 2]


def test_a_copy_of_rows_shares_nothing():
    some = rows(2)
    copy = some.copy()
    copy.numbers[0], copy.value[:] = 1, 0
    assert some.rows() == [2]
    assert some.value.all()


def test_the_arrays_in_a_value():
    a, b, c = np.ones(1), np.ones(2), np.ones([1, 3])
    array = LoDTensorArray([a, None, LoDTensor(b), SelectedRows([0], 2, c)])
    found = arrays_in(array)
    assert [f is each for f, each in zip(found, [a, b, c], strict=True)] == [True] * 3
    assert arrays_in(None) == arrays_in(LoDTensor()) == []


# -- scopes and fetching ---------------------------------------------------------------------------


def test_a_scope_gives_rows_and_arrays_to_fill():
    scope = fluid.Scope()
    some = scope.var("rows").get_selected_rows()
    some.set_height(3)
    assert scope.find_var("rows").get_selected_rows() is some
    array = scope.var("array").get_lod_tensor_array()
    array.append(np.ones(1))
    assert len(scope.find_var("array").get_lod_tensor_array()) == 1


def array_of(values):
    """An array variable of constants; None leaves a gap."""
    array = fluid.layers.create_array("float32")
    for k, value in enumerate(values):
        if value is not None:
            i = fluid.layers.fill_constant([1], "int64", k)
            fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", value), i, array)
    return array


def test_an_array_is_fetched_as_a_list():
    array = array_of([1.0, None, 2.0])
    (found,) = fluid.Executor().run(fetch_list=[array])
    assert [None if v is None else v.tolist() for v in found] == [[1, 1], None, [2, 2]]
    (found,) = fluid.Executor().run(fetch_list=[array], return_numpy=False)
    assert found[2].shape() == [2]
    assert isinstance(found[2], LoDTensor)


def test_an_array_stays_in_the_scope_and_belongs_to_it():
    x = fluid.data("x", [2], "float32")
    array = fluid.layers.create_array("float32")
    array.persistable = True
    fluid.layers.array_write(x, fluid.layers.fill_constant([1], "int64", 0), array)
    value = np.ones(2, "float32")
    fluid.Executor().run(feed={"x": value})
    value[:] = 0
    assert fluid.global_scope().find_var(array.name).value.item(0).tolist() == [1, 1]


def test_a_value_that_is_not_finite_is_found_before_it_goes_into_an_array():
    zero, place = fluid.layers.zeros([1], "float32"), fluid.layers.zeros([1], "int64")
    array = fluid.layers.array_write(fluid.layers.log(zero), place)
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(ArithmeticError, match="^log: .* holds infinity"):
        fluid.Executor().run(fetch_list=[array])


def test_a_scope_s_variable_holds_a_number_of_one_kind():
    variable = fluid.Scope().var("k")
    assert not variable.is_int() and not variable.is_float()
    with pytest.raises(ArgumentError, match="expected 'k' to hold int, got nothing"):
        variable.get_int()
    variable.set_int(5)
    assert variable.is_int() and variable.get_int() == 5
    with pytest.raises(ArgumentError, match="expected 'k' to hold float, got int"):
        variable.set_float(2.5)
    other = fluid.Scope().var("k")
    other.set_float(2.5)
    assert other.is_float() and other.get_float() == 2.5


def test_a_scope_lists_its_kids():
    scope = fluid.Scope()
    kid = scope.new_scope()
    assert scope._kids() == [kid]
    scope._remove_from_pool()
    scope.drop_kids()
    assert scope._kids() == []


@pytest.mark.parametrize("kind", ["float", "double", "int"])
def test_a_tensor_is_allocated_as_old_scripts_do(kind):
    tensor = fluid.LoDTensor()
    tensor._set_dims([2, 3])
    assert tensor.shape() == [2, 3] and not tensor._is_initialized()
    getattr(tensor, f"_alloc_{kind}")(fluid.CPUPlace())
    assert np.array(tensor).dtype == {"float": "float32", "double": "float64", "int": "int32"}[kind]
    tensor._set_dims([3, 2])
    assert np.array(tensor).shape == (3, 2)
    if kind != "int":
        getattr(tensor, f"_set_{kind}_element")(3, 7.5)
        assert getattr(tensor, f"_get_{kind}_element")(3) == np.array(tensor)[1, 1] == 7.5
