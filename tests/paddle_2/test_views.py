"""What is written to a view of a tensor shows in the tensor, as it does in paddle 2.6."""

import gc
import json
import pathlib
import weakref

import numpy as np
import pytest

from fluidlite import dygraph, errors, paddle

RECORDED = json.loads(
    pathlib.Path(__file__).parents[1].joinpath("data/paddle_2/views.json").read_text()
)
#: paddle 2.6.2 changes the element type of x itself
RECORDED["x.to('float64')"] = "copied"
SHARED = [each for each, how in RECORDED.items() if how == "shared"]


def _x(wanted=False):
    x = paddle.arange(24, dtype="float32").reshape([2, 3, 4]).clone()
    x.stop_gradient = not wanted
    return x


def _of(expression, x):
    return eval(expression, {"paddle": paddle, "x": x})


def test_expressions_share_elements_where_paddle_shares_them():
    differ = {}
    for expression, recorded in RECORDED.items():
        x = _x()
        try:
            _of(expression, x).zero_()
            found = "shared" if float(x.abs().sum()) != 276.0 else "copied"
        except ValueError:
            found = "ValueError"
        if found != recorded:
            differ[expression] = found
    assert not differ


def test_writes_to_the_whole_show_in_views():
    for expression in SHARED:
        x = _x()
        view = _of(expression, x)
        x.set_value(np.arange(24, 48, dtype="float32").reshape(x.shape))
        assert view.tolist() == _of(expression, x).tolist(), expression
        x.zero_()
        assert not np.any(view.numpy()), expression


def test_a_write_to_a_view_changes_its_elements_alone():
    for expression in SHARED:
        x = _x()
        kept = x.numpy()
        _of(expression, x).add_(paddle.to_tensor(100.0))
        written = x.numpy().reshape(kept.shape)
        there = written != kept
        shown = _of(expression, paddle.to_tensor(kept + 100.0)).numpy()
        assert np.array_equal(written[there], (kept + 100)[there]), expression
        assert there.sum() == len({*shown.ravel()}), expression


def test_gradients_flow_through_what_was_written_to_views():
    for expression in SHARED:
        if "detach" in expression or ".data" in expression or "view('int32')" in expression:
            continue
        x = _x(wanted=True)
        y = x * 1.0
        view = _of(expression, y)
        if view is y or _repeats(view):
            continue
        view.scale_(3.0)
        (y * y).sum().backward()
        factor = 1.0 + 2.0 * (y.numpy() > 2 * x.numpy())
        assert np.allclose(x.grad.numpy(), 2 * factor**2 * x.numpy()), expression


def _repeats(view):
    return len({*view.numpy().ravel()}) < view.size


def test_rows_are_written_in_a_loop():
    y = paddle.zeros([3, 2])
    for k, row in enumerate(y):
        row[...] = float(k)
    y[0][1] = 7.0
    assert y.tolist() == [[0.0, 7.0], [1.0, 1.0], [2.0, 2.0]]


def test_rows_that_come_show_what_was_written_in_between():
    y = paddle.ones([3, 2])
    for row in y:
        y.add_(row.sum())
    assert y.tolist() == [[27.0, 27.0]] * 3


def test_sums_that_are_assigned_to_a_view_are_a_new_tensor():
    y = paddle.zeros([2, 2])
    row = y[0]
    row += 1.0
    assert y.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("change", ["add_", "set_value", "copy_", "fill_", "setitem", "uniform_"])
def test_all_ways_of_writing_show(change):
    x = _x()
    row, column = x[0], x.transpose([2, 0, 1])[0]
    new = paddle.full([3, 4], 50.0)
    if change == "setitem":
        row[:] = new
    elif change == "copy_":
        row.copy_(new, True)
    elif change == "uniform_":
        row.uniform_(50.0, 51.0)
    else:
        getattr(row, change)(50.0 if change == "fill_" else new)
    assert x.numpy()[0].min() >= 50.0 and x.numpy()[1].max() < 50.0
    assert column.tolist() == x.numpy()[:, :, 0].tolist()


def test_optimizers_and_loaded_states_show_in_views_of_parameters():
    layer = paddle.nn.Linear(2, 2)
    tied, row = layer.weight.T, layer.weight[0]
    for make in (paddle.optimizer.SGD, paddle.optimizer.Adam):
        before = tied.numpy()
        optimizer = make(0.5, parameters=layer.parameters())
        layer(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
        assert tied.tolist() == layer.weight.numpy().T.tolist() != before.tolist()
    layer.set_state_dict({"weight": paddle.ones([2, 2]), "bias": paddle.ones([2])})
    assert row.tolist() == [1.0, 1.0]


def test_gradients_that_are_added_to_and_cleared_show_in_their_views():
    x = paddle.ones([3])
    x.stop_gradient = False
    (x * 2).sum().backward()
    view = x.grad[1:]
    (x * 2).sum().backward()
    assert view.tolist() == [4.0, 4.0]
    x.clear_grad()
    assert view.tolist() == [0.0, 0.0]


def test_running_means_show_in_their_views():
    layer = paddle.nn.BatchNorm1D(2)
    view = layer._mean[0:1]
    layer(paddle.ones([4, 2]))
    assert view.tolist() == layer._mean[:1].tolist() != [0.0]


def test_a_leaf_is_written_through_its_views_as_paddle_does():
    x = _x(wanted=True)
    x[0][1] = 3.0
    x.reshape([-1])[5:].zero_()
    assert x.numpy().ravel().tolist() == [0.0, 1.0, 2.0, 3.0, 3.0, *[0.0] * 19]
    assert x.is_leaf and not x.stop_gradient
    (x * x).sum().backward()
    assert x.grad.tolist() == (2 * x).tolist()
    with pytest.raises(ValueError, match="is a leaf that wants a gradient"):
        x[0] = 3.0


def test_another_view_of_a_leaf_keeps_its_past():
    x = _x(wanted=True)
    first, second = x[0], x[1]
    first.scale_(3.0)
    second.zero_()
    (first.sum() + second.sum()).backward()
    assert x.grad[:, 0, 0].tolist() == [3.0, 0.0]


@pytest.mark.parametrize(
    "used, written",
    [
        (lambda x, v: v * v, lambda x, v: x.scale_(3.0)),
        (lambda x, v: x * x, lambda x, v: v.scale_(3.0)),
        (lambda x, v: x * x, lambda x, v: v.__setitem__(0, 9.0)),
        (lambda x, v: x * x, lambda x, v: x.detach()[0].fill_(9.0)),
        (lambda x, v: v * v, lambda x, v: x.transpose([2, 1, 0])[0].zero_()),
    ],
)
def test_backward_finds_values_that_were_written_over_through_views(used, written):
    x = _x(wanted=True) * 1.0
    view = x[0]
    result = used(x, view).sum()
    written(x, view)
    with pytest.raises(RuntimeError, match="written"):
        result.backward()


def test_writes_count_in_all_that_share_and_new_values_do_not():
    x = _x()
    view, other = x[0], x.T
    view.add_(1.0)
    x.fill_(2.0)
    assert [x.inplace_version, view.inplace_version, other.inplace_version] == [2, 2, 2]
    assert x[0].inplace_version == view[1:].inplace_version == x.unbind()[1].inplace_version == 2
    x.set_value(np.zeros(x.shape, "float32"))
    assert [x.inplace_version, view.inplace_version] == [2, 2] and not view.any()


def test_tensors_that_change_their_form_still_share():
    x = paddle.arange(4.0).reshape([2, 2])
    view = x[0]
    x.reshape_([4])
    x.fill_(1.0)
    assert view.tolist() == [1.0, 1.0]
    view.unsqueeze_(0)
    view.fill_(5.0)
    assert x.tolist() == [5.0, 5.0, 1.0, 1.0] and view.shape == [1, 2]
    x.reshape_([2, 2])
    x.transpose_([1, 0])
    x[0] = 3.0
    assert view.tolist() == [[3.0, 5.0]]


def test_a_tensor_of_another_type_shares_no_more():
    x = paddle.zeros([2, 2])
    first, second = x[0], x[:, 0]
    x.cast_("int32")
    x.fill_(5)
    assert first.tolist() == [0.0, 0.0]
    first.fill_(2.0)
    assert second.tolist() == [2.0, 0.0] and x.tolist() == [[5, 5], [5, 5]]


def test_windows_that_overlap_are_written_one_after_the_other():
    x = paddle.arange(4.0)
    windows = x.unfold(0, 3, 1)
    windows.add_(paddle.to_tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]))
    assert x.tolist() == [1.0, 11.0, 22.0, 33.0]
    assert windows.tolist() == [[1.0, 11.0, 22.0], [11.0, 22.0, 33.0]]


def test_what_a_view_was_made_with_may_change_later():
    x, axes, index = _x(), [1, 0, 2], paddle.to_tensor(1)
    turned, row = x.transpose(axes), x[index]
    axes.reverse()
    index.zero_()
    x.add_(paddle.to_tensor(1.0))
    assert turned.tolist() == x.numpy().swapaxes(0, 1).tolist()
    assert row.tolist() == x.numpy()[1].tolist()


def test_strides_are_those_of_the_storage():
    x = _x()
    assert (x.T.strides, x[1].offset, x[:, 1:].is_contiguous()) == ([1, 4, 12], 48, False)
    assert x.T.contiguous().is_contiguous()


def test_nothing_is_written_where_there_are_no_elements():
    x = paddle.zeros([0, 3])
    x.reshape([3, 0]).fill_(1.0)
    x[:, 1:].add_(paddle.to_tensor(1.0))
    assert x.shape == [0, 3]


def test_a_view_that_nobody_holds_is_forgotten():
    x = paddle.zeros([2, 2])
    for _ in range(300):
        x[0].add_(paddle.to_tensor(1.0))
    assert len(x._views) <= 64
    row = weakref.ref(x[0])
    gc.collect()
    assert row() is None


def test_refused_writes_change_nothing():
    x = _x()
    row = x[0]
    with pytest.raises(errors.InplaceError, match="cannot change the shape"):
        row.add_(paddle.ones([2, 3, 4]))
    assert x.tolist() == _x().tolist() and x.inplace_version == 0


#: what programs have no views of: these show writes at once only
_NOT_IN_PROGRAMS = (
    *("as_strided", "atleast_2d", "contiguous", "data", "detach", "diagonal", "to_tensor"),
    *(
        "unbind",
        "unfold",
        "value",
        "view('int32')",
        "x.T.reshape",
        "x.T.un",
        "T.squeeze",
        "reshape([3, 1, 2, 4])",
    ),
)


def test_writes_to_views_of_variables_show_as_in_tensors():
    expressions = [
        each
        for each, how in RECORDED.items()
        if how in ("shared", "copied") and not any(part in each for part in _NOT_IN_PROGRAMS)
    ]

    def written(x):
        written = []
        for expression in expressions:
            whole = x * 1.0
            _of(expression, whole).scale_(3.0)
            written.append(whole)
        return written

    x = _x()
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            wholes = written(paddle.static.data("x", [2, 3, 4], "float32"))
            found = paddle.static.Executor().run(program, {"x": x.numpy()}, wholes)
    finally:
        paddle.disable_static()
    for expression, in_program, at_once in zip(expressions, found, written(x), strict=True):
        assert in_program.tolist() == at_once.tolist(), expression


def test_functions_that_become_programs_write_to_views_with_gradients():
    @paddle.jit.to_static(full_graph=True)
    def changed(x):
        y = x * 2.0
        y[0][1] = 7.0
        for row in y:
            row[0] = row[1] * 3.0
        y.reshape([4])[3] = 4.0
        return y

    x = paddle.ones([2, 2])
    x.stop_gradient = False
    y = changed(x)
    y.sum().backward()
    assert y.tolist() == [[21.0, 7.0], [6.0, 4.0]]
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 6.0]]


def test_tensors_of_fluid_copy_as_they_did():
    with dygraph.guard():
        x = dygraph.to_variable(np.zeros((2, 2), "float32"))
        row = x[0]
        x.set_value(np.ones((2, 2), "float32"))
        assert row.numpy().tolist() == [0.0, 0.0]
