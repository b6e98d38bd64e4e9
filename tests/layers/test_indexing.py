"""Elements at places that other variables name."""

import numpy as np

from fluidlite import layers
from fluidlite.errors import ArgumentError, DTypeError, ShapeError

from building import data, refused, run, written

X = np.arange(10, dtype="float32").reshape(5, 2)


def test_gather_takes_rows():
    x, i = data(shape=[5, 2]), data("i", [3], "int64")
    out = layers.gather(x, i)
    layers.gather(x, i, overwrite=False)
    assert written() == [
        "gather_0.tmp_0 = gather(X=x, Index=i)",
        "gather_1.tmp_0 = gather(X=x, Index=i, overwrite=false)",
    ]
    assert np.array_equal(run(out, x=X, i=np.array([4, 0, 4])), X[[4, 0, 4]])


def test_an_index_holds_integers():
    x, y = data(shape=[5, 2]), data("y", [3])
    with refused(DTypeError, r"(?s)integers.*y float32\[3\]"):
        layers.gather(x, y)


def test_gather_nd_takes_places():
    x, i = data(shape=[5, 2]), data("i", [None, 2], "int64")
    out = layers.gather_nd(x, i, name="g")
    assert (out.name, out.shape) == ("g.tmp_0", (-1,))
    assert run(out, x=X, i=np.array([[4, 1], [0, 0]])).tolist() == [9, 0]


def test_scatter_replaces_rows_or_adds_up():
    x, i, u = data(shape=[5, 2]), data("i", [2], "int64"), data("u", [2, 2])
    last, total = layers.scatter(x, i, u), layers.scatter(x, i, u, overwrite=False)
    assert written()[0] == "scatter_0.tmp_0 = scatter(X=x, Ids=i, Updates=u)"
    updates = np.array([[10, 20], [30, 40]], "float32")
    found = run(last, total, x=X, i=np.array([1, 1]), u=updates)
    assert found[0][1].tolist() == [30, 40]
    assert found[1][1].tolist() == [40, 60]


def test_scatter_refuses_updates_of_another_shape():
    x, i, u = data(shape=[5, 2]), data("i", [2], "int64"), data("u", [3, 2])
    with refused(ShapeError, r"(?s)\[2, 2\], got \[3, 2\].*u float32\[3, 2\]"):
        layers.scatter(x, i, u)


def test_scatter_nd_adds_to_places():
    x, i, u = data(shape=[5, 2]), data("i", [3, 1], "int64"), data("u", [3, 2])
    added, alone = layers.scatter_nd_add(x, i, u), layers.scatter_nd(i, u, [5, 2], name="s")
    assert alone.name == "s.tmp_0"
    assert [line.split("(")[0] for line in written()] == [
        "scatter_nd_add_0.tmp_0 = scatter_nd_add",
        "fill_constant_0.tmp_0 = fill_constant",
        "s.tmp_0 = scatter_nd_add",
    ]
    index, updates = np.array([[1], [1], [4]]), np.ones([3, 2], "float32")
    wanted = np.zeros([5, 2], "float32")
    wanted[1], wanted[4] = 2, 1
    found = run(added, alone, x=X, i=index, u=updates)
    assert np.array_equal(found[0], X + wanted)
    assert np.array_equal(found[1], wanted)


def test_index_select_takes_slices_along_a_dimension():
    x, i = data(), data("i", [2], "int64")
    out = layers.index_select(x, i, dim=1)
    assert (out.shape, out.name) == ((-1, 2), "index_select_0.tmp_0")
    value = np.arange(8, dtype="float32").reshape(2, 4)
    assert run(out, x=value, i=np.array([3, 0])).tolist() == [[3, 0], [7, 4]]


def test_index_sample_and_multiplex_choose_for_each_row():
    x, y, i = data(), data("y"), data("i", [None, 2], "int64")
    which = data("which", [None, 1], "int32")
    sampled, chosen = layers.index_sample(x, i), layers.multiplex([x, y], which)
    value = np.arange(8, dtype="float32").reshape(2, 4)
    feed = dict(x=value, y=-value, i=np.array([[3, 0], [1, 1]]))
    found = run(sampled, chosen, **feed, which=np.array([[1], [0]], "int32"))
    assert found[0].tolist() == [[3, 0], [5, 5]]
    assert found[1].tolist() == [(-value[0]).tolist(), value[1].tolist()]


def test_multiplex_refuses_what_is_no_variable():
    x, which = data(), data("which", [None, 1], "int32")
    with refused(ArgumentError, "inputs to be a variable or a list of them"):
        layers.multiplex([x, 3], which)
