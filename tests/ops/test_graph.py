"""Rows put together by numbers, messages along edges, and parts of graphs that are drawn."""

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.eager.recording import eager
from fluidlite.errors import DTypeError, OutOfRangeError, ShapeError

POOLS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
JOINS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
BEGINS, ENDS = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 1, 0, 1])
geometric = paddle.geometric


def tensors(*arrays):
    return [paddle.to_tensor(each) for each in arrays]


def pooled(how, messages, ends, size):
    """Rows put together, one after the other."""
    rows = [messages[ends == i] for i in range(size)]
    zero = np.zeros(messages.shape[1:], messages.dtype)
    return np.stack([POOLS[how](each, axis=0) if len(each) else zero for each in rows])


@pytest.mark.parametrize("how", POOLS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("join", JOINS)
def test_messages_are_joined_and_put_together(how, join, dtype):
    x = np.arange(12).reshape(4, 3).astype(dtype)
    y = np.array([[[1], [2]], [[4], [2]], [[1], [1]], [[8], [4]], [[1], [2]]], dtype)
    begins, ends = tensors(BEGINS, ENDS)
    if dtype[0] == "f":
        found = geometric.send_ue_recv(*tensors(x, y), begins, ends, join, how, out_size=5)
        messages = JOINS[join](x[BEGINS][:, None], y)
        np.testing.assert_allclose(found.numpy(), pooled(how, messages, ENDS, 5), 1e-6)
        found = geometric.send_uv(*tensors(x, y), begins, begins, join)
        np.testing.assert_allclose(found.numpy(), JOINS[join](x[BEGINS][:, None], y[BEGINS]), 1e-6)
    found = geometric.send_u_recv(*tensors(x), begins, ends, how)
    expected = pooled(how, x[BEGINS], ENDS, 4).astype(dtype)
    np.testing.assert_allclose(found.numpy(), expected, 1e-6)
    numbers = np.array([0, 0, 2, 5], "int32")
    found = getattr(geometric, f"segment_{how}")(*tensors(x, numbers))
    np.testing.assert_allclose(found.numpy(), pooled(how, x, numbers, 6).astype(dtype), 1e-6)
    assert found.numpy().dtype == dtype


def test_means_of_integers_are_cut_off():
    x, numbers = tensors(np.array([-3, 0, 5, 0]), np.array([0, 0, 1, 1]))
    assert geometric.segment_mean(x, numbers).tolist() == [-1, 2]
    least = np.iinfo("int64").min
    x, numbers = tensors(np.array([least, 3]), np.array([0, 0]))
    assert geometric.segment_min(x, numbers).tolist() == [least]


def test_without_rows_or_edges_there_are_zeros():
    nothing = paddle.zeros([0], "int64")
    x = paddle.ones([3, 2])
    x.stop_gradient = False
    for how in POOLS:
        found = geometric.send_u_recv(x, nothing, nothing, how)
        found.sum().backward()
        assert found.tolist() == [[0, 0]] * 3 and x.grad.tolist() == [[0, 0]] * 3
        assert getattr(geometric, f"segment_{how}")(x[:0], nothing).shape == [0, 2]


def test_what_is_no_number_stays():
    x, numbers = tensors(np.array([1.0, np.nan, 2.0]), np.array([0, 0, 1]))
    for how in POOLS:
        found = getattr(geometric, f"segment_{how}")(x, numbers).numpy()
        assert np.isnan(found[0]) and found[1] == 2


def test_equal_extremes_have_the_whole_gradient_each():
    x = paddle.to_tensor([[1.0, 2], [1, 3], [5, 5]], stop_gradient=False)
    geometric.segment_max(x, paddle.to_tensor([0, 0, 2])).sum().backward()
    assert x.grad.tolist() == [[1, 0], [1, 1], [1, 1]]


@pytest.mark.parametrize("how", ["sum", "mean"])
def test_gradients_of_the_third_order(how):
    x = paddle.to_tensor(np.array([[1.0, 2], [3, 4], [5, 6]]), stop_gradient=False)
    begins, ends = tensors(np.array([0, 1, 2, 0]), np.array([1, 1, 0, 0]))
    value = (geometric.send_u_recv(x, begins, ends, how) ** 4).sum()
    for _ in range(3):
        (slope,) = paddle.grad(value, x, create_graph=True)
        value = (slope * slope.detach()).sum()
    linear = np.zeros((3, 3))
    np.add.at(linear, ([1, 1, 0, 0], [0, 1, 2, 0]), 1.0)
    linear /= np.maximum(linear.sum(1, keepdims=True), 1) if how == "mean" else 1
    own = linear @ x.numpy()
    first = linear.T @ (4 * own**3)
    second = linear.T @ (12 * own**2 * (linear @ first))
    third = linear.T @ (24 * own * (linear @ first) * (linear @ second))
    # the last slope is that of sum(second-order slope * constant): the third derivative and more
    assert slope.shape == list(third.shape)
    np.testing.assert_allclose(slope.numpy(), third, 1e-9)


def test_what_is_no_graph_is_refused():
    x, begins, ends = tensors(np.ones((4, 3), "float32"), BEGINS, ENDS)
    for size, index in ((2, begins), (None, begins - 1)):
        with pytest.raises(OutOfRangeError, match=r"expected \w+ in \[0, "):
            geometric.send_u_recv(x, index, ends, out_size=size)
    with pytest.raises(ShapeError, match="as many ends as beginnings"):
        geometric.send_u_recv(x, begins[:3], ends)
    with pytest.raises(ShapeError, match="a row of Y for each of 5 edges, got 4"):
        geometric.send_ue_recv(x, x, begins, ends)
    with pytest.raises(DTypeError, match="integers"):
        geometric.send_u_recv(x, begins.astype("float32"), ends)
    with pytest.raises(DTypeError, match="one element type"):
        geometric.send_uv(x, x.astype("float64"), begins, ends)
    with pytest.raises(ValueError, match="expected message_op to be one of"):
        geometric.send_uv(x, x, begins, ends, "pow")
    with pytest.raises(OutOfRangeError, match="ascending"):
        geometric.segment_sum(x, paddle.to_tensor([0, 2, 1, 3]))
    with pytest.raises(ShapeError, match="for each of 4 rows of X, got 2"):
        geometric.segment_sum(x, paddle.to_tensor([0, 2]))


# -- parts of graphs -------------------------------------------------------------------------------

ROW, COLUMNS = np.array([3, 7, 0, 9, 1, 4, 2, 9, 3]), np.array([0, 2, 4, 5, 6, 9])


def test_as_many_neighbours_are_drawn_as_there_may_be():
    paddle.seed(3)
    row, columns, nodes = tensors(ROW, COLUMNS, np.array([4, 0, 2]))
    seen = set()
    for _ in range(60):
        drawn, counts, edges = geometric.sample_neighbors(
            row, columns, nodes, 2, eids=paddle.arange(9), return_eids=True
        )
        assert counts.tolist() == [2, 2, 1] and ROW[edges.numpy()].tolist() == drawn.tolist()
        seen.add(tuple(sorted(edges.tolist()[:2])))
        assert sorted(edges.tolist()[2:4]) == [0, 1] and edges.tolist()[4:] == [4]
    assert seen == {(6, 7), (6, 8), (7, 8)}


def test_neighbours_of_large_weights_are_drawn_more_often():
    paddle.seed(1)
    row, columns = tensors(np.tile(np.arange(4), 4000), np.arange(4001) * 4)
    weights = paddle.to_tensor(np.tile([1.0, 2.0, 5.0, 0.0], 4000))
    drawn, _ = geometric.weighted_sample_neighbors(row, columns, weights, paddle.arange(4000), 1)
    shares = np.bincount(drawn.numpy(), minlength=4) / 4000
    np.testing.assert_allclose(shares, [1 / 8, 2 / 8, 5 / 8, 0], atol=0.03)
    drawn, counts = geometric.weighted_sample_neighbors(
        row, columns, weights, paddle.to_tensor([7]), 5
    )
    assert drawn.tolist() == [0, 1, 2, 3] and counts.tolist() == [4]


def test_samples_are_refused_where_they_mean_nothing():
    row, columns = tensors(ROW, COLUMNS)
    with pytest.raises(OutOfRangeError, match="expected nodes from 0 to 4, got 5"):
        geometric.sample_neighbors(row, columns, paddle.to_tensor([5]))
    with pytest.raises(ValueError, match="expected eids"):
        geometric.weighted_sample_neighbors(row, columns, row, row, return_eids=True)
    with pytest.raises(ShapeError, match="a weight for each of 9 edges, got 2"):
        geometric.weighted_sample_neighbors(row, columns, row[:2], row)
    with pytest.raises(ShapeError, match="how many of 2 neighbours each of 2 nodes has"):
        eager.graph_reindex(*tensors(np.array([1, 2]), np.array([1, 2]), np.array([1])))
    with pytest.raises(OutOfRangeError, match="each node once"):
        geometric.reindex_graph(*tensors(np.array([1, 1]), np.array([3, 2]), np.array([1, 1])))


def test_nodes_of_several_kinds_of_edges_are_numbered_anew():
    begins, ends, nodes = geometric.reindex_heter_graph(
        paddle.to_tensor([0, 1, 2]),
        tensors(np.array([8, 9, 0, 4, 7, 6, 7]), np.array([0, 2, 3, 5, 1])),
        tensors(np.array([2, 3, 2], "int32"), np.array([1, 3, 1], "int32")),
    )
    assert begins.tolist() == [3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1]
    assert ends.tolist() == [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2]
    assert nodes.tolist() == [0, 1, 2, 8, 9, 4, 7, 6, 3, 5]


def messages_and_samples(x, begins, ends, columns, size):
    y = geometric.send_u_recv(x, begins, ends, "max", out_size=size)
    z = geometric.send_ue_recv(x, geometric.send_uv(x, x, begins, ends), begins, ends, "mul")
    drawn, counts = geometric.sample_neighbors(ends, columns, columns[:1], 3)
    return y, z, drawn, counts


def test_programs_compute_the_same():
    x = np.array([[1.0, 2], [3, 4], [5, 1], [1, 7]], "float32")
    arrays = [x, np.array([0, 1, 2, 3]), np.array([1, 1, 3, 0]), np.array([0, 2, 4]), np.array([5])]
    given = tensors(*arrays)
    given[0].stop_gradient = False
    y, z, *drawn = messages_and_samples(*given)
    (y.sum() + z.sum()).backward()
    expected = [each.numpy() for each in (y, z, *drawn, given[0].grad)]
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        shapes = zip("xbecs", ([-1, 2], [-1], [-1], [3], [1]), arrays, strict=True)
        fed = [paddle.static.data(name, shape, each.dtype.name) for name, shape, each in shapes]
        fed[0].stop_gradient = False
        results = messages_and_samples(*fed)
        fetched = [*results, *paddle.static.gradients(list(results[:2]), fed[0])]
    run, feed = paddle.static.Executor().run, dict(zip("xbecs", arrays, strict=True))
    for _ in range(3):  # interpreted, compiled, bound
        for found, each in zip(run(program, feed, fetched), expected, strict=True):
            np.testing.assert_allclose(found, each, 1e-6)
