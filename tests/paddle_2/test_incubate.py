"""paddle.incubate: the numbers are those of paddle 2.6.2."""

import json

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.errors import FluidWarning, OutOfRangeError
from fluidlite.paddle.incubate import asp


def leaf(*shape):
    """1/4, 2/4, 3/4, ... that wants a gradient."""
    values = np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape) / 4
    return paddle.to_tensor(values, stop_gradient=False)


@pytest.mark.parametrize(
    "reduction, value, slope",
    [("mean", 0.375, 0.5), (1, 0.375, 0.5), ("sum", 0.75, 1), (0, 0.75, 1), (2, [0.25, 0.5], 1)],
)
def test_a_loss_is_put_together(reduction, value, slope):
    x = leaf(2)
    loss = paddle.incubate.identity_loss(x, reduction)
    loss.sum().backward()
    assert loss.tolist() == value and x.grad.tolist() == [slope] * 2


def test_a_loss_is_of_fractions():
    for given, reduction in ((leaf(2), "zz"), (leaf(2), None), (3, "mean")):
        with pytest.raises(ValueError, match="expected"):
            paddle.incubate.identity_loss(given, reduction)
    with pytest.raises(TypeError, match="expected fractions"):
        paddle.incubate.identity_loss(paddle.to_tensor([1, 2]))


def test_a_loss_of_a_program_is_an_operator():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [-1, 1], "float32")
        loss = paddle.incubate.identity_loss(x, reduction=1)
        feed = {"x": np.array([[1.0], [3.0]], "float32")}
        program = paddle.static.default_main_program()
        (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[loss])
    assert float(found) == 2.0


def test_softmax_leaves_out_what_a_mask_says():
    x = paddle.to_tensor(np.arange(8, dtype="float32").reshape(1, 2, 2, 2))
    mask = paddle.to_tensor(np.array([[[[0, -1e9], [0, 0]]]], "float32"))
    fused = paddle.incubate.softmax_mask_fuse(x, mask)
    assert fused.shape == [1, 2, 2, 2]
    np.testing.assert_allclose(fused[0, 1, 0].numpy(), [1.0, 0.0], atol=1e-20)
    above = paddle.incubate.softmax_mask_fuse_upper_triangle(x)
    np.testing.assert_allclose(above.numpy(), fused.numpy(), 1e-6, atol=1e-20)


# -- rows put together by numbers ------------------------------------------------------------------

SEGMENTS = {
    "sum": ([[1.0, 1.5], [0, 0], [3.0, 3.5]], [[1, 1]] * 4, [0, 3, 0, 3]),
    "mean": ([[0.5, 0.75], [0, 0], [1.5, 1.75]], [[0.5, 0.5]] * 4, [0, 1, 0, 3]),
    "max": ([[0.75, 1.0], [0, 0], [1.75, 2.0]], [[0, 0], [1, 1]] * 2, [0, 2, 0, 3]),
    "min": ([[0.25, 0.5], [0, 0], [1.25, 1.5]], [[1, 1], [0, 0]] * 2, [0, 1, 0, 3]),
}


@pytest.mark.parametrize("how", SEGMENTS)
def test_rows_of_segments_are_put_together(how):
    function = getattr(paddle.incubate, f"segment_{how}")
    values, slopes, whole = SEGMENTS[how]
    x = leaf(4, 2)
    y = function(x, paddle.to_tensor([0, 0, 2, 2], dtype="int32"))
    y.sum().backward()
    assert y.tolist() == values and x.grad.tolist() == slopes
    assert function(paddle.arange(4), paddle.to_tensor([0, 1, 1, 3])).tolist() == whole
    for numbers in ([1, 0, 1, 0], [0, 0, 1], [0.0, 1.0, 1.0, 3.0]):
        with pytest.raises(ValueError, match="expected"):
            function(leaf(4, 2), paddle.to_tensor(numbers))


@pytest.mark.parametrize(
    "how, values, slopes",
    [
        ("sum", [[0.25, 0.5], [1.5, 2.0], [0.75, 1.0]], [[2, 2], [1, 1], [1, 1]]),
        ("mean", [[0.25, 0.5], [0.75, 1.0], [0.75, 1.0]], [[1.5, 1.5], [1, 1], [0.5, 0.5]]),
        ("max", [[0.25, 0.5], [1.25, 1.5], [0.75, 1.0]], [[1, 1], [1, 1], [1, 1]]),
        ("min", [[0.25, 0.5], [0.25, 0.5], [0.75, 1.0]], [[2, 2], [1, 1], [0, 0]]),
    ],
)
def test_what_comes_along_edges_is_put_together(how, values, slopes):
    begins, ends = paddle.to_tensor([0, 1, 2, 0]), paddle.to_tensor([1, 2, 1, 0])
    x = leaf(3, 2)
    y = paddle.incubate.graph_send_recv(x, begins, ends, how)
    y.sum().backward()
    assert y.tolist() == values and x.grad.tolist() == slopes
    larger = paddle.incubate.graph_send_recv(leaf(3, 2), begins, ends, how, out_size=4)
    assert larger.tolist() == [*values, [0, 0]]
    with pytest.raises(OutOfRangeError, match=r"expected \w+ in \[0, 2\), got 2"):
        paddle.incubate.graph_send_recv(x, begins, ends, how, out_size=2)
    with pytest.raises(ValueError, match="expected reduce_op"):
        paddle.incubate.graph_send_recv(x, begins, ends, "median")


def test_rows_of_segments_of_programs_are_put_together():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x, numbers = paddle.static.data("x", [4, 2]), paddle.static.data("n", [4], "int64")
        y = paddle.incubate.segment_sum(x, numbers)
        feed = {"x": np.ones([4, 2], "float32"), "n": np.array([0, 0, 2, 2])}
        program = paddle.static.default_main_program()
        (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[y])
    assert y.shape == (-1, 2) and found.tolist() == [[2, 2], [0, 0], [2, 2]]


GRAPH = [3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7], [0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13]


def graph():
    return [paddle.to_tensor(each) for each in (*GRAPH, [0, 8, 1, 2])]


def test_nodes_are_numbered_anew():
    x, beside = paddle.to_tensor([0, 1, 2]), [8, 9, 0, 4, 7, 6, 7]
    one = paddle.incubate.graph_reindex(
        x, paddle.to_tensor(beside), paddle.to_tensor([2, 3, 2], dtype="int32")
    )
    assert [each.tolist() for each in one] == [
        [3, 4, 0, 5, 6, 7, 6], [0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 8, 9, 4, 7, 6],
    ]  # fmt: skip
    two = paddle.incubate.graph_reindex(
        x,
        paddle.to_tensor([*beside, 0, 2, 3, 5, 1]),
        paddle.to_tensor([2, 3, 2, 1, 3, 1], dtype="int32"),
    )
    assert two[1].tolist() == [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2]
    assert two[2].tolist() == [0, 1, 2, 8, 9, 4, 7, 6, 3, 5]


def test_neighbours_are_drawn():
    row, colptr, nodes = graph()
    eids = paddle.arange(13)
    sample = paddle.incubate.graph_sample_neighbors
    found = sample(row, colptr, nodes, eids=eids, return_eids=True)
    assert found[0].tolist() == [3, 7, 9, 7, 0, 9, 1] and found[1].tolist() == [2, 2, 2, 1]
    assert found[2].tolist() == [0, 1, 11, 12, 2, 3, 4]
    drawn, counts = sample(row, colptr, nodes, sample_size=1)
    assert counts.tolist() == [1] * 4
    assert all(each in GRAPH[0][GRAPH[1][n] : GRAPH[1][n + 1]] for each, n in
               zip(drawn.tolist(), [0, 8, 1, 2]))  # fmt: skip
    with pytest.raises(ValueError, match="expected eids"):
        sample(row, colptr, nodes, return_eids=True)


def test_neighbours_of_neighbours_are_drawn():
    row, colptr, nodes = graph()
    found = paddle.incubate.graph_khop_sampler(
        row, colptr, nodes, [5, 5], sorted_eids=paddle.arange(13), return_eids=True
    )
    assert [each.tolist() for each in found] == [
        [[4], [5], [6], [5], [0], [6], [2], [7]], [[0], [0], [1], [1], [2], [2], [3], [4]],
        [0, 8, 1, 2, 3, 7, 9, 4], [0, 1, 2, 3], [0, 1, 11, 12, 2, 3, 4, 5],
    ]  # fmt: skip


# -- weights of which a part is zero ---------------------------------------------------------------


def test_masks_of_matrices():
    matrix = np.random.RandomState(0).rand(4, 4)
    assert asp.get_mask_1d(matrix, 2, 4).tolist() == [
        [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0],
    ]  # fmt: skip
    assert asp.get_mask_2d_greedy(matrix, 2, 4).tolist() == [
        [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0],
    ]  # fmt: skip
    assert asp.get_mask_2d_best(matrix, 2, 4).tolist() == [
        [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0],
    ]  # fmt: skip
    assert asp.get_mask_1d(matrix, 1, 4).sum() == 12
    assert asp.get_mask_2d_best(matrix, 1, 2)[:2].tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]
    assert asp.get_mask_1d(np.array([[-9.0, 8, -3, 7]]), 2, 4).tolist() == [[1, 1, 0, 0]]


def test_masks_are_checked():
    assert asp.check_mask_1d(np.array([[0, 1, 3, 0], [1, 0, 0, 1]]), 2, 4)
    assert not asp.check_mask_1d(np.array([[0, 1, 5, 4], [1, 0, 0, 1]]), 2, 4)
    assert asp.check_mask_1d(np.array([[0, 1, 0, 4, 6]]), 2, 4)
    assert asp.check_mask_2d(np.eye(5), 2, 4)
    assert not asp.check_mask_2d(np.ones((4, 4)), 2, 4)
    assert asp.calculate_density(np.array([[0, 1, 3, 0], [1, 1, 0, 1]])) == 0.625
    with pytest.raises(ValueError, match="expected 1 to 4 dimensions"):
        asp.create_mask(np.ones((1,) * 5))
    with pytest.raises(AssertionError, match="expected func_name to be one of MaskAlgo"):
        asp.create_mask(np.ones((4, 4)), "get_mask_1d")


@pytest.mark.parametrize("shape", [(4,), (4, 8), (2, 4, 4), (2, 4, 3, 3), (5, 7)])
@pytest.mark.parametrize("algo", asp.MaskAlgo)
def test_masks_are_as_they_are_checked(shape, algo):
    array = np.random.RandomState(1).rand(*shape)
    mask = asp.create_mask(array, algo)
    assert mask.shape == shape and {*np.unique(mask)} <= {0.0, 1.0}
    assert asp.check_sparsity(mask, asp.CheckMethod.get_checking_method(algo))


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(4, 4, 3, padding=1)
        self.linear = paddle.nn.Linear(64, 32)
        self.last = paddle.nn.Linear(32, 3)

    def forward(self, x):
        return self.last(self.linear(paddle.flatten(self.conv(x), 1)))


def densities(net):
    return [asp.calculate_density(each.numpy()) for each in net.parameters()]


@pytest.mark.parametrize(
    "excluded, with_mask, before, after",
    [
        (None, True, [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
        ("linear", True, [0.5, 1.0, 0.5], [0.5, 1.0, 0.5]),
        (None, False, [0.5, 0.5, 0.5], None),
    ],
)
def test_pruned_weights_stay_pruned_while_they_are_trained(excluded, with_mask, before, after):
    net = Net()
    asp.reset_excluded_layers()
    if excluded:
        asp.set_excluded_layers([getattr(net, excluded).full_name()])
    optimizer = asp.decorate(paddle.optimizer.SGD(0.1, parameters=net.parameters()))
    masks = asp.prune_model(net, with_mask=with_mask)
    assert len(masks) == 3 - bool(excluded)
    assert densities(net)[::2] == before
    assert asp.check_sparsity(net.last.weight.numpy().T)
    net(paddle.ones([2, 4, 4, 4])).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    if after is None:
        assert densities(net)[0] > 0.9
    else:
        assert densities(net)[::2] == after
    asp.reset_excluded_layers()


def test_pruning_wants_an_optimizer_that_keeps_it():
    net = paddle.nn.Linear(8, 4)
    with pytest.raises(AssertionError, match=r"call asp.decorate\(\) first"):
        asp.prune_model(net)
    with pytest.raises(AssertionError, match="expected mask_algo"):
        asp.prune_model(net, mask_algo="mask_3d")
    with pytest.raises(AssertionError, match="expected n to be 0 to m"):
        asp.prune_model(net, n=3, m=2)
    with pytest.raises(TypeError, match="expected a name, a layer or its class"):
        asp.add_supported_layer(3)
    asp.add_supported_layer(paddle.nn.Linear)


def test_weights_of_programs_stay_pruned():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 8])
        loss = paddle.mean(paddle.static.nn.fc(x, 4))
        asp.decorate(paddle.optimizer.SGD(0.1)).minimize(loss, startup)
        executor = paddle.static.Executor()
        executor.run(startup)
        (name,) = asp.prune_model(main)
        feed = {"x": np.ones((2, 8), "float32")}
        for _ in range(2):
            (weight,) = executor.run(main, feed=feed, fetch_list=[name])
    assert asp.calculate_density(weight) == 0.5


# -- others ----------------------------------------------------------------------------------------


def test_nothing_is_tried_out(tmp_path):
    config = {"kernel": {"enable": True, "tuning_range": [1, 5]}, "layout": {"enable": True}}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    for given in (config, str(path), None):
        paddle.incubate.autotune.set_config(given)
    for given, why in (({"zz": 1}, "there is no 'zz'"), (3, "got 3"), ("/none", "nothing is read")):
        with pytest.warns(FluidWarning, match=why):
            paddle.incubate.autotune.set_config(given)


def naive_correlation(x, y, pad, kernel, most, stride, step):
    """Means of products of neighbourhoods, place by place."""
    x, y = (np.pad(each, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for each in (x, y))
    near, shifts = (kernel - 1) // 2, range(-(most // step) * step, most + 1, step)
    begin = most + near
    rows, columns = (range(begin, size - begin, stride) for size in x.shape[2:])

    def part(array, row, column):
        return array[:, :, row - near : row + near + 1, column - near : column + near + 1]

    return np.array(
        [
            [[(part(x, r, c) * part(y, r + down, c + right)).mean((1, 2, 3)) for c in columns]
             for r in rows]
            for down in shifts for right in shifts
        ]
    ).transpose(3, 0, 1, 2)  # fmt: skip


@pytest.mark.parametrize("sizes", [(4, 1, 4, 1, 1), (4, 3, 2, 2, 1), (3, 3, 2, 1, 2)])
def test_likeness_of_pictures_is_a_mean_of_products(sizes):
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal((2, 3, 4, 5)).astype("float32") for _ in range(2))
    found = paddle.incubate.layers.correlation(paddle.to_tensor(x), paddle.to_tensor(y), *sizes)
    np.testing.assert_allclose(found.numpy(), naive_correlation(x, y, *sizes), 1e-4, 1e-5)


def test_slots_have_linear_layers_of_their_own():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [4, 2, 3], "float32")
        attrs = [paddle.ParamAttr(name=name) for name in ("w", "b")]
        y = paddle.incubate.layers.batch_fc(x, [4, 3, 5], attrs[0], [4, 5], attrs[1], act="relu")
        executor = paddle.static.Executor()
        executor.run(startup)
        given = np.random.default_rng(3).standard_normal((4, 2, 3)).astype("float32")
        found, w, b = executor.run(main, feed={"x": given}, fetch_list=[y, "w", "b"])
        with pytest.raises(ValueError, match="expected a weight"):
            paddle.incubate.layers.batch_fc(x, [4, 2, 5], None, [4, 5], None)
    np.testing.assert_allclose(found, np.maximum(given @ w + b[:, None], 0), 1e-5, 1e-6)
