"""Kernels of rows and elements at numbers, held against NumPy's calls."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.backend import numpy_, rows
from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native.rows import KERNELS
from fluidlite.errors import OutOfRangeError
from fluidlite.kernels import row_sums, threads


@pytest.fixture
def kernels(compiler, monkeypatch):
    """Which functions kernels computed, in how many parts, and whether they did."""
    quick = (*(flag for flag in compilers.FLAGS if flag != "-O3"), "-O1")
    monkeypatch.setattr(compilers, "FLAGS", quick)
    calls, computed = [], type(KERNELS.get()).computed

    def noted(self, name, kind, arrays, parts=1):
        done = computed(self, name, kind, arrays, parts)
        calls.append((name, parts, done))
        return done

    monkeypatch.setattr(type(KERNELS.get()), "computed", noted)
    return calls


def _case(count, size, *width, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, size, count), (rng.normal(size=(count, *width)) * 9).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("width", [(), (5,), (4, 3)])
def test_rows_are_added_in_the_order_of_their_numbers(kernels, dtype, width):
    index, updates = _case(700, 9, *width, dtype=dtype)
    x = np.ones((9, *width), dtype)
    expected = numpy_.scatter_add(x, index, updates)
    assert (numpy_.xp.scatter_add(x, index, updates) == expected).all() and (x == 1).all()
    assert kernels == [("add_rows", 1, True)]
    assert (numpy_.xp.scatter_add(x, index.astype("int32"), updates) == expected).all()
    index[::5] = -1
    kept = index >= 0
    expected = numpy_.scatter_add(np.zeros((9, *width), dtype), index[kept], updates[kept])
    assert (numpy_.xp.add_rows(index, updates, 9) == expected).all()


def test_the_last_of_rows_with_one_number_stays(kernels):
    index, updates = _case(300, 40, 6)
    expected = numpy_.scatter_set(np.ones((50, 6), "float32"), index, updates)
    found = numpy_.xp.scatter_set(np.ones((50, 6), "float32"), index, updates)
    assert (found == expected).all() and kernels == [("set_rows", 1, True)]


def test_any_number_of_threads_gives_the_same_bits(kernels, monkeypatch):
    monkeypatch.setattr(rows, "SHARED", 1000)
    index, updates = _case(900, 70, 5)
    expected = numpy_.scatter_add(np.zeros((70, 5), "float32"), index, updates)
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        assert (numpy_.xp.add_rows(index, updates, 70) == expected).all()
        assert kernels.pop() == ("add_rows", count, True)


@pytest.mark.parametrize("name", ["max_rows", "min_rows"])
def test_extremes_of_rows_are_numpys(kernels, name):
    index, updates = _case(500, 60, 3)
    index[index == 7] = 8
    updates[::50] = np.nan
    expected = getattr(numpy_, name)(index, updates, 60)
    np.testing.assert_array_equal(getattr(numpy_.xp, name)(index, updates, 60), expected)
    assert kernels == [(name, 1, True)] and (expected[7] == 0).all()
    index, updates = _case(20, 6, 3)
    expected = getattr(numpy_, name)(index, updates, 6)
    np.testing.assert_array_equal(getattr(numpy_.xp, name)(index, updates, 6), expected)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_elements_along_a_dimension_are_numpys(kernels, axis):
    x = np.random.default_rng(0).normal(size=(8, 9, 10)).astype("float32")
    index = np.random.default_rng(1).integers(0, x.shape[axis], x.shape)
    for given in (x, np.swapaxes(np.swapaxes(x, 0, 2).copy(), 0, 2)):
        found = numpy_.xp.take_along_axis(given, index, axis)
        np.testing.assert_array_equal(found, np.take_along_axis(x, index, axis))
        np.testing.assert_allclose(
            numpy_.xp.cumsum(given, axis=axis), np.cumsum(x, axis=axis), rtol=1e-4, atol=1e-4
        )
    assert {(name, done) for name, _, done in kernels} == {
        ("take_along", True),
        ("sums_along", True),
    }
    found = numpy_.xp.take_along_axis(x, index - x.shape[axis], axis)  # counted from the end
    np.testing.assert_array_equal(found, np.take_along_axis(x, index, axis))
    assert kernels[-1] == ("take_along", 1, False)


def test_what_is_no_index_of_places_goes_through_numpy(kernels):
    x, updates = np.zeros((30, 20), "float32"), np.ones((30, 20), "float32")
    places = np.arange(30)
    for index in (
        (slice(None), np.arange(20)),
        (places[:, None], np.arange(-20, 0)),
        np.ones((30, 20), bool),
    ):
        given = updates[index] if index.__class__ is np.ndarray else updates
        expected = numpy_.scatter_add(x, index, given)
        assert (numpy_.xp.scatter_add(x, index, given) == expected).all()
    half = updates.astype("float16")
    assert numpy_.xp.scatter_add(half, places, half).dtype == "float16" and not kernels
    with pytest.raises(IndexError):
        numpy_.xp.scatter_add(x, places + 1, updates)


@pytest.mark.parametrize("product", [False, True])
@pytest.mark.parametrize("count, size, width", [(2000, 300, 64), (3000, 11, 9), (400, 9, 1)])
def test_numpy_alone_adds_the_same_rows(monkeypatch, product, count, size, width):
    index, updates = _case(count, size, width)
    index[::3] = 4  # much more often than others
    if not product:
        monkeypatch.setattr(row_sums, "added_by_product", lambda *given: False)
    out = np.ones((size, width), "float32")
    row_sums.add_at_rows(out, index, updates)
    exact = numpy_.scatter_add(np.ones((size, width)), index, updates.astype("float64"))
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-3)


def _layer(x, source, target, weights):
    taken = fluid.layers.gather_nd(x, source) * weights
    return fluid.layers.scatter_nd_add(fluid.layers.zeros_like(x), target, taken)


def test_a_plan_of_a_graph_convolution_computes_what_interpretation_does(kernels):
    rng = np.random.default_rng(0)
    feed = {
        "x": rng.normal(size=(40, 16)).astype("float32"),
        "source": rng.integers(0, 40, (90, 1)),
        "target": rng.integers(0, 40, (90, 1)),
        "weights": rng.random((90, 1)).astype("float32"),
    }
    data = {k: fluid.data(k, list(v.shape), str(v.dtype)) for k, v in feed.items()}
    data["x"].stop_gradient = False
    out = _layer(data["x"], data["source"], data["target"], data["weights"])
    (slope,) = fluid.gradients([fluid.layers.reduce_sum(out * out)], [data["x"]])
    executor = fluid.Executor()
    runs = [executor.run(feed=feed, fetch_list=[out, slope]) for _ in range(3)]
    for planned in runs[1:]:
        for one, other in zip(runs[0], planned):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    assert ("add_rows", 1, True) in kernels
    feed["source"] = feed["source"] + 1
    feed["source"][3] = 40
    with pytest.raises(OutOfRangeError, match=r"expected Index.* in \[0, 40\), got 4"):
        executor.run(feed=feed, fetch_list=[out, slope])


def test_gradients_of_tables_leave_the_padding_out(kernels):
    table = paddle.to_tensor(np.ones((30, 20), "float32"), stop_gradient=False)
    ids = paddle.to_tensor(np.arange(60) % 30)
    rows_taken = paddle.nn.functional.embedding(ids, table, padding_idx=3)
    (slope,) = paddle.grad(rows_taken.sum(), table)
    expected = np.full((30, 20), 2.0)
    expected[3] = 0
    assert (slope.numpy() == expected).all() and ("add_rows", 1, True) in kernels


@pytest.mark.parametrize("reduce", ["assign", "add"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_elements_are_put_along_a_dimension_in_their_order(kernels, axis, dtype, reduce):
    rng = np.random.default_rng(0)
    x, more = (rng.normal(size=(8, 9, 10)) * 9 for _ in range(2))
    index = rng.integers(0, 8, (8, 9, 10))
    expected, more = x.astype(dtype), more.astype(dtype)
    if dtype.startswith("float"):
        expected[0, 0, 0] = more[1, 1, 1] = np.nan
    x = paddle.to_tensor(np.swapaxes(np.swapaxes(expected, 0, 2).copy(), 0, 2))
    for place in np.ndindex(index.shape):
        to = (*place[:axis], index[place], *place[axis + 1 :])
        expected[to] = more[place] + (expected[to] if reduce == "add" else 0)
    into = np.swapaxes(more, 0, 1).copy().swapaxes(0, 1)
    out = paddle.put_along_axis(x, paddle.to_tensor(index), paddle.to_tensor(into), axis, reduce)
    np.testing.assert_array_equal(out.numpy(), expected)
    name = "add_along" if reduce == "add" else "set_along"
    assert kernels == ([(name, 1, True)] if dtype != "float16" else [])
    index[7, 8, 9] = 10
    with pytest.raises(OutOfRangeError, match=r"expected Index in \[0, .*, got 10"):
        paddle.put_along_axis(x, paddle.to_tensor(index), paddle.to_tensor(into), axis, reduce)


def test_elements_are_added_along_a_dimension(kernels):
    rng = np.random.default_rng(0)
    for axis in (0, 1):
        x = rng.normal(size=(40, 30)).astype("float32")
        index = rng.integers(0, x.shape[axis], (40, 30))
        leaf = paddle.to_tensor(x, stop_gradient=False)
        taken = paddle.take_along_axis(leaf, paddle.to_tensor(index), axis)
        (slope,) = paddle.grad(taken, leaf, paddle.to_tensor(x))
        expected = np.zeros((40, 30))
        for i, j in np.ndindex(40, 30):
            place = (index[i, j], j) if axis == 0 else (i, index[i, j])
            expected[place] += x[i, j]
        np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-4, atol=1e-5)
        assert ("add_along", 1, True) in kernels
