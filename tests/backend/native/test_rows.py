"""Kernels of rows and elements at numbers, held against NumPy's calls."""

import sys
from itertools import product

import numpy as np
import pytest
from shares import shared

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.backend import numpy_, rows
from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native.rows import KERNELS
from fluidlite.errors import OutOfRangeError
from fluidlite.kernels import row_sums, threads
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import spec


@pytest.fixture
def kernels(compiler, monkeypatch):
    """Which functions kernels computed, in how many parts, and whether they did."""
    quick = (*(flag for flag in compilers.FLAGS if flag != "-O3"), "-O1")
    monkeypatch.setattr(compilers, "FLAGS", quick)
    functions = type(KERNELS.get())
    calls, computed, caller = [], functions.computed, functions.caller

    def noted(self, name, kind, arrays, parts=1):
        done = computed(self, name, kind, arrays, parts)
        calls.append((name, parts, done))
        return done

    def noting(self, name, kind, is_long):
        run = caller(self, name, kind, is_long)

        def call(arrays):
            status = run(arrays)
            calls.append((name, 1, status == 0))
            return status

        return run and call

    monkeypatch.setattr(functions, "computed", noted)
    monkeypatch.setattr(functions, "caller", noting)
    return calls


def prepared(op, *arrays):
    """The kernel of an operator for some arrays."""
    specs = [None if a is None else spec(a.shape, a.dtype) for a in arrays]
    return op.prepared(specs).function


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
    assert kernels[-4:] == [("add_products", 1, True)] * 4
    assert "sparse_product" in executor.plan(fetch_list=[out, slope]).source
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
    assert (slope.numpy() == expected).all() and ("sum_rows", 1, True) in kernels


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
    assert [call for call in kernels if call[2]] == [(name, 1, True)] * (dtype != "float16")
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


def _segments(how, width, dtype, kind="int64"):
    """Numbers of segments of which some are empty, rows, and slopes of what is made of them."""
    rng = np.random.default_rng(0)
    numbers = np.sort(rng.choice([*range(3), *range(5, 90)], 400)).astype(kind)
    rows = (rng.normal(size=(400, *width)) * 9).astype(dtype)
    slopes = rng.normal(size=(numbers[-1] + 1, *width)).astype(dtype)
    return numbers, rows, slopes


HOWS, WIDTHS = ["sum", "mean", "max", "min"], [(2,), (5,), (4, 3)]
SEGMENTS = product(HOWS, WIDTHS, ["float32", "float64"], ["int32", "int64"])


@pytest.mark.parametrize("how, width, dtype, kind", shared(SEGMENTS))
def test_segments_are_what_their_rows_make_one_after_the_other(kernels, how, width, dtype, kind):
    numbers, rows, slopes = _segments(how, width, dtype, kind)
    rows[numbers == 7] = -0.0
    if how in ("max", "min"):
        rows[::50, 0] = np.nan
    op = lookup("segment_pool")({"pooltype": how.upper()})
    made = prepared(op, rows, numbers)(rows, numbers)
    done = [(f"segment_{how}", 1, True)]
    if how != "sum":
        given = rows, numbers, made, slopes
        slope = prepared(op.like(lookup("segment_pool_grad")), *given)(*given)
        back = "segment_mean_slopes" if how == "mean" else "segment_extreme_slopes"
        done.append((back, 1, True))
    else:
        slope = slopes[numbers]
    assert kernels == done
    leaf = paddle.to_tensor(rows, stop_gradient=False)
    again = getattr(paddle.geometric, f"segment_{how}")(leaf, paddle.to_tensor(numbers))
    np.testing.assert_array_equal(again.numpy(), made)
    for _ in range(20):
        (flow,) = paddle.grad(again, leaf, paddle.to_tensor(slopes), retain_graph=True)
        np.testing.assert_array_equal(flow.numpy(), slope)
    counts = np.bincount(numbers).astype(dtype).reshape(-1, *[1] * len(width))
    if how in ("sum", "mean"):
        expected = numpy_.scatter_add(np.zeros_like(slopes), numbers, rows)
        if how == "mean":
            expected, slopes = expected / np.maximum(counts, 1), slopes / np.maximum(counts, 1)
        back = slopes[numbers]
    else:
        expected = getattr(numpy_, f"{how}_rows")(numbers, rows, len(slopes))
        back = slopes[numbers] * (rows == expected[numbers])
    for one, other in ((made, expected), (slope, back)):
        np.testing.assert_array_equal(one, other)
        assert (np.signbit(one) == np.signbit(other)).all() or how in ("max", "min")


@pytest.mark.parametrize("how", ["SUM", "MEAN", "MAX"])
def test_any_number_of_threads_puts_segments_together(kernels, monkeypatch, how):
    monkeypatch.setattr(rows, "SHARED", 1000)
    numbers, x, slopes = _segments(how, (7,), "float32")
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        made = rows.pooled_segments(how, numbers, x)
        back = np.empty_like(x)
        if how == "MAX":
            assert rows.extreme_slopes(numbers, x, made, slopes, back)
        elif how == "MEAN":
            assert rows.mean_slopes(numbers, slopes, back)
        else:
            rows.take_at(slopes, numbers, back)
        assert [(parts, done) for _, parts, done in kernels[-2:]] == [(count, True)] * 2
        found.append((made, back))
    for made, back in found[1:]:
        assert (made == found[0][0]).all() and (back == found[0][1]).all()


def test_numbers_of_segments_that_are_out_of_order_are_left_to_the_operator(kernels):
    numbers, x, slopes = _segments("SUM", (7,), "float32")
    numbers[[3, 390]] = numbers[[390, 3]]
    assert rows.pooled_segments("SUM", numbers, x) is None
    assert not rows.mean_slopes(numbers, slopes, np.empty_like(x))
    assert rows.pooled_segments("SUM", np.r_[-1, np.zeros(399, int)], x) is None
    assert rows.pooled_segments("SUM", np.full(400, -1), x) is None
    with pytest.raises(OutOfRangeError, match="ascending"):
        paddle.geometric.segment_sum(paddle.to_tensor(x), paddle.to_tensor(numbers))


@pytest.mark.parametrize("step", [1, 7])
def test_segments_may_be_more_than_rows(kernels, step):
    numbers, x = np.arange(40) * step, _case(40, 9, 5)[1]
    op = lookup("segment_pool")({"pooltype": "MAX"})
    found = prepared(op, x, numbers)(x, numbers)
    assert found.shape == (39 * step + 1, 5)
    assert (found[::step] == x).all()
    assert kernels == [("segment_max", 1, True)] * (step == 1)
    found[numbers] = 0
    assert not found.any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "complex128"])
@pytest.mark.parametrize("width", [1, 6])
def test_rows_are_taken_by_their_numbers(kernels, width, dtype):
    index, _ = _case(900, 40)
    x = (np.random.default_rng(1).normal(size=(40, width)) * 9).astype(dtype)
    out = np.empty((900, width), dtype)
    rows.take_at(x, index.astype("int32"), out)
    assert (out == x[index]).all()
    known = np.dtype(dtype).itemsize in (4, 8)
    assert kernels == ([("take_rows", 1, True)] if known else [])
    for wrong in (-1, 40):
        index[500] = wrong
        with pytest.raises(IndexError, match=f"got {wrong}"):
            rows.take_at(x, index, out)


@pytest.mark.parametrize("shape, k", [((70, 30), 8), ((9, 8, 8), 8), ((600,), 1), ((20, 90), 64)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_elements_are_found_in_their_order(kernels, dtype, shape, k):
    rng = np.random.default_rng(0)
    x = rng.integers(-20, 20, shape).astype(dtype)  # of which many are equal
    x[..., 3] = np.inf
    x[..., 1::7] = -np.inf
    values, places = paddle.topk(paddle.to_tensor(x), k)
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    assert (places.numpy() == order).all() and places.numpy().dtype == "int64"
    assert (values.numpy() == np.take_along_axis(x, order, -1)).all()
    assert kernels[0] == ("largest_of", 1, True)
    x[..., 2] = np.nan
    assert (paddle.topk(paddle.to_tensor(x), k)[1].numpy()[..., 0] == 2).all()
    assert not kernels[1][2]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 8, 9, 16, 31, 32, 33])
def test_short_lists_are_put_in_order(kernels, count, dtype, descending):
    x = np.random.default_rng(0).integers(-6, 6, (200, count)).astype(dtype)  # many are equal
    x[0, 0], x[1, -1] = np.inf, -np.inf
    x[2], x[3] = -0.0, np.where(np.arange(count) % 2, 0.0, -0.0)
    op = lookup("argsort")({"descending": descending})
    expected = op.run(numpy_.xp, x)
    del kernels[:]
    made = op.prepared([spec(x.shape, x.dtype)])
    if count > 32:
        assert made is None
        return
    for found, other in zip(made.function(x), expected, strict=True):
        np.testing.assert_array_equal(found, other)
        assert found.dtype == other.dtype and (np.signbit(found) == np.signbit(other)).all()
    assert kernels == [("short_lists", 1, True)]
    x[5, count // 2] = np.nan
    for found, other in zip(made.function(x), op.run(numpy_.xp, x), strict=True):
        np.testing.assert_array_equal(found, other)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count, width", [(700, 6), (700, 1), (20, 6)])
def test_products_with_sparse_matrices_are_added_in_order(kernels, count, width, dtype):
    index, _ = _case(count, 11)
    cols, values = _case(count, 30, dtype=dtype, seed=1)
    dense = np.random.default_rng(2).normal(size=(30, width)).astype(dtype)
    expected = numpy_.scatter_add(
        np.zeros((11, width), dtype), index, values[:, None] * dense[cols]
    )
    op = lookup("sparse_product")({"size": 11})
    kernel = prepared(op, index, cols, values, dense)
    assert (kernel(index, cols, values, dense) == expected).all()
    assert kernels == ([("add_products", 1, True)] if count > 20 else [])
    for name, wrong in ((index, 11), (cols, -1)):
        right, name[5] = name[5], wrong
        with pytest.raises(Exception, match="range|expected"):
            kernel(index, cols, values, dense)
        name[5] = right


@pytest.mark.parametrize(
    "type, attrs, index",
    [
        ("gather", {}, (60,)),
        ("gather_nd", {}, (60, 1)),
        ("index_select", {"dim": -2}, (60,)),
        ("lookup_table_v2", {}, (10, 6)),
        ("lookup_table", {}, (60, 1)),
    ],
)
def test_rows_that_are_taken_are_no_views_which_plans_would_copy(kernels, type, attrs, index):
    x, op = np.random.default_rng(0).normal(size=(30, 20)), lookup(type)(attrs)
    numbers = np.random.default_rng(1).integers(0, 30, index)
    given = [x, numbers, *[None] * (type == "gather")]
    kernel = prepared(op, *given)
    found = kernel(*given)
    assert found.base is None
    wanted = numbers if type == "lookup_table_v2" else numbers.reshape(-1)
    assert (found == x[wanted]).all()
    out = np.empty_like(found)
    assert kernel(*given, out=out) is out and (out == found).all()
    assert kernels == [("take_rows", 1, True)] * 2


@pytest.mark.parametrize("dtype", ["float32", "int64", "float64"])
@pytest.mark.parametrize("count, width", [(900, 6), (900, 1), (9, 20)])
def test_rows_are_replaced_in_a_copy_or_in_place(kernels, monkeypatch, count, width, dtype):
    index, updates = _case(count, 40, width, dtype=dtype)
    x = _case(60, 1, width, dtype=dtype, seed=1)[1]
    op, before = lookup("scatter")({}), x.copy()
    kernel = prepared(op, x, index, updates)
    expected = numpy_.scatter_set(x, index, updates)
    monkeypatch.setattr(rows, "SHARED", 1000)
    for threads_wanted in (1, 3):
        monkeypatch.setattr(threads, "count", lambda count=threads_wanted: count)
        found = kernel(x, index, updates)
        assert (found == expected).all() and (x == before).all() and found.base is None
    short = index.astype("int32")
    in_place = prepared(op, x, short, updates)
    assert in_place(x, short, updates, out=x) is x and (x == expected).all()
    for wrong in (-1, 60):
        index[5] = wrong
        with pytest.raises(IndexError, match="out of range"):
            kernel(x, index, updates)


def _operands(kind="int64"):
    """Arrays by name, and numbers of rows, of places and of columns."""
    rng = np.random.default_rng(0)
    return {
        "x": (rng.normal(size=(30, 12)) * 9).astype("float32"),
        "updates": (rng.normal(size=(40, 12)) * 9).astype("float32"),
        "elements": rng.normal(size=200).astype("float32"),
        "rows": rng.integers(0, 30, 40).astype(kind),
        "below": rng.integers(0, 30, (40, 1)).astype(kind),
        "places": np.stack([rng.integers(0, n, 200) for n in (30, 12)], 1).astype(kind),
        "columns": rng.integers(0, 12, (30, 12)).astype(kind),
    }


#: an operator, its attributes, and its operands, of which the one with numbers is the second last
#: or the last
AT_NUMBERS = [
    ("index_select", {}, ("x", "rows"), "take_rows"),
    ("gather_nd", {}, ("x", "places"), "take_rows"),
    ("scatter_nd_add", {}, ("x", "below", "updates"), "sum_rows"),
    ("scatter_nd_add", {}, ("x", "places", "elements"), "sum_rows"),
    ("gather_adjoint", {"size": 30}, ("rows", "updates"), "sum_rows"),
    ("lookup_table_adjoint", {"size": 30, "padding_idx": 4}, ("rows", "updates"), "sum_rows"),
    ("scatter", {}, ("x", "rows", "updates"), "replace_rows"),
    ("take_along", {"axis": 1}, ("x", "columns"), "take_along"),
    ("add_along", {"axis": 1, "size": 12}, ("columns", "x"), "add_along"),
    ("put_along", {"axis": 1, "adds": True}, ("x", "columns", "x"), "add_along"),
    ("put_along", {"axis": 1}, ("x", "columns", "x"), "set_along"),
    ("cumsum", {"axis": 0}, ("x",), "sums_along"),
    ("cumsum", {"axis": 1}, ("x",), "sums_along"),
    ("cumsum", {"axis": 0, "reverse": True}, ("x",), "sums_along"),
    ("cumsum", {"axis": 1, "reverse": True}, ("x",), "sums_along"),
    ("top_k_v2", {"k": 3}, ("x", None), "largest_of"),
]


def _of_known_forms(type, attrs, names, arrays):
    """What the kernel of an operator gives, anew and in an array that is there."""
    given = [None if name is None else arrays[name] for name in names]
    made = lookup(type)(attrs).prepared(
        [None if a is None else spec(a.shape, a.dtype) for a in given]
    )
    found = made.function(*given)
    if made.out:
        out = np.full_like(found, 7)
        assert made.function(*given, out=out) is out
        np.testing.assert_array_equal(out, found)
    return found


@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("type, attrs, names, function", AT_NUMBERS)
def test_a_call_for_known_forms_computes_what_numpy_does(
    kernels, monkeypatch, type, attrs, names, function, kind
):
    arrays = _operands(kind)
    before = {name: array.copy() for name, array in arrays.items()}
    found = _of_known_forms(type, attrs, names, arrays)
    has_numbers = {"rows", "below", "places", "columns"}.intersection(names)
    if kind == "int64" or not has_numbers:
        assert (function, 1, True) in kernels and all(done for _, _, done in kernels)
    turned = {name: np.asfortranarray(array) for name, array in arrays.items()}
    np.testing.assert_array_equal(_of_known_forms(type, attrs, names, turned), found)
    monkeypatch.setattr(rows, "FEW", 1 << 40)
    monkeypatch.setattr(rows, "LEAST", 1 << 40)
    del kernels[:]
    np.testing.assert_array_equal(_of_known_forms(type, attrs, names, arrays), found)
    assert not [call for call in kernels if call[0] != "add_products"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    "type, attrs, names, function",
    [case for case in AT_NUMBERS if case[0] not in ("cumsum", "top_k_v2")],
)
@pytest.mark.parametrize("wrong", [-1, 30])
def test_a_call_for_known_forms_refuses_numbers_outside(
    kernels, type, attrs, names, function, wrong
):
    for name in {"rows", "below", "places", "columns"}.intersection(names):
        arrays = _operands()
        arrays[name].reshape(-1)[17] = wrong
        with pytest.raises(Exception, match="range|expected"):
            _of_known_forms(type, attrs, names, arrays)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_threads_share_sums_from_the_end(kernels, monkeypatch, axis):
    monkeypatch.setattr(rows, "SHARED", 1)
    x = np.random.default_rng(0).normal(size=(9, 40, 30)).astype("float32")
    found = _of_known_forms("cumsum", {"axis": axis, "reverse": True}, ["x"], {"x": x})
    np.testing.assert_array_equal(found, np.flip(np.cumsum(np.flip(x, axis), axis), axis))
    parts = threads.count() if axis else 1
    assert {*kernels} == {("sums_along", parts, True)}


def test_numpys_sums_beyond_the_range_are_no_warnings(monkeypatch):
    monkeypatch.setattr(rows, "FEW", 1 << 40)
    monkeypatch.setattr(rows, "LEAST", 1 << 40)
    most = np.full([20, 2], np.finfo("float32").max, "float32")
    feed = {"x": most, "index": np.zeros([20, 1], "int64")}
    x, index = fluid.data("x", [20, 2]), fluid.data("index", [20, 1], "int64")
    sums = [fluid.layers.scatter_nd_add(x, index, x), fluid.layers.cumsum(x, axis=0)]
    step = fluid.Executor().prepare(feed_names=[*feed], fetch_list=sums)
    for _ in range(4):
        added, summed = step(feed)
        assert np.isinf(added[0]).all() and np.isinf(summed[1:]).all()


def test_a_built_in_function_says_what_that_of_ctypes_does(compiler):
    functions = KERNELS.get()
    kernel = functions._find("take_rows", "i")
    run = functions.caller("take_rows", "i", False)
    assert type(run) is type(len) and functions.caller("take_rows", "i", True) is kernel.run_free
    x, index, out = np.ones((9, 5), "float32"), np.arange(7), np.empty((7, 5), "float32")
    sizes = rows.sizes_of(5, 9, 1)
    for given, status in (
        ((index, x, sizes, out), 0),
        ((index + 3, x, sizes, out), 1),
        ((index, x.T, sizes, out), 2),
        ((None, x, sizes, out), 2),
    ):
        assert run(given) == kernel.run(given) == status
    held = sys.getrefcount(1)
    for _ in range(10_000):
        run((index + 3, x, sizes, out))
    assert abs(sys.getrefcount(1) - held) < 1000
    with pytest.raises(TypeError):
        run()
