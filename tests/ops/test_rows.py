"""Gradients of tables of which only some rows are stored, and the operators that take them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.core import SelectedRows
from fluidlite.errors import OutOfRangeError, ShapeError
from fluidlite.ground.dtypes import DType, Kind
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.spec import Spec

from gradcheck import evaluator
from infer import infer

f = evaluator()
RNG = np.random.default_rng(0)
X = SelectedRows([4, 1, 4], 6, RNG.normal(size=[3, 2]))
WHOLE = X.to_dense()
ROWS = Spec((6, 2), DType.FP64, Kind.SELECTED_ROWS)
DENSE = ROWS._replace(kind=Kind.LOD_TENSOR)


def kind_of(type, attrs=None, out="Out", **inputs):
    return infer(type, attrs, **inputs)[out].kind


def stays_rows(found, expected):
    assert isinstance(found, SelectedRows)
    np.testing.assert_allclose(found.to_dense(), expected)


def becomes_whole(found, expected):
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected)


# -- operators -------------------------------------------------------------------------------------


def test_rows_are_made_of_numbers_and_updates():
    updates = RNG.normal(size=[3, 2])
    found = f.selected_rows(np.array([4, 1, 4]), updates, height=6)
    assert (found.rows(), found.height()) == ([4, 1, 4], 6)
    np.testing.assert_array_equal(found.value, updates)
    found = f.selected_rows(np.array([4, 1, 4]), updates, height=6, padding_idx=4)
    assert found.rows() == [1]
    np.testing.assert_array_equal(found.value, updates[1:2])
    assert infer("selected_rows", dict(height=6), Ids=([3], "int64"), Updates=([3, 2], "float64"))[
        "Out"
    ] == Spec((6, 2), DType.FP64, Kind.SELECTED_ROWS)


def test_numbers_of_rows_that_do_not_fit_are_refused():
    with pytest.raises(OutOfRangeError, match=r"in \[0, 4\), got 1 to 4"):
        f.selected_rows(np.array([4, 1]), np.ones([2, 1]), height=4)
    with pytest.raises(ShapeError, match=r"Updates of shape \[3, n\], got \[2, 2\]"):
        infer("selected_rows", dict(height=6), Ids=([3], "int64"), Updates=([2, 2], "float32"))


def test_merged_rows_are_stored_once():
    found = f.merge_selected_rows(X)
    assert found.rows() == [1, 4]
    np.testing.assert_allclose(found.to_dense(), WHOLE)
    assert kind_of("merge_selected_rows", X=ROWS) is Kind.SELECTED_ROWS
    assert f.merge_selected_rows(WHOLE) is WHOLE


def test_rows_that_are_stored_once_keep_their_order():
    rows = SelectedRows(np.array([7, 2, 5]), 10, np.arange(6.0).reshape(3, 2))
    found = f.merge_selected_rows(rows)
    np.testing.assert_array_equal(found.numbers, [7, 2, 5])
    np.testing.assert_array_equal(found.value, rows.value)


def test_the_rows_that_are_stored_are_a_tensor():
    np.testing.assert_array_equal(f.get_tensor_from_selected_rows(X), X.value)
    found = infer("get_tensor_from_selected_rows", X=ROWS)["Out"]
    assert (found.shape, found.kind) == ((-1, 2), Kind.LOD_TENSOR)
    assert f.get_tensor_from_selected_rows(WHOLE) is WHOLE
    assert infer("get_tensor_from_selected_rows", X=DENSE)["Out"] == DENSE


def test_scaled_rows_stay_rows_unless_something_is_added():
    stays_rows(f.scale(X, scale=3.0), 3 * WHOLE)
    stays_rows(f.scale(X, np.array([2.0])), 2 * WHOLE)
    becomes_whole(f.scale(X, scale=3.0, bias=1.0), 3 * WHOLE + 1)
    assert kind_of("scale", X=ROWS) is Kind.SELECTED_ROWS
    assert kind_of("scale", dict(bias=1.0), X=ROWS) is Kind.LOD_TENSOR


def test_a_sum_of_rows_is_rows_unless_a_part_is_whole():
    other = SelectedRows([0, 4], 6, RNG.normal(size=[2, 2]))
    dense = RNG.normal(size=[6, 2])
    stays_rows(f.sum([X, other]), WHOLE + other.to_dense())
    for parts in ([X, dense, other], [dense, X, other], [X, other, dense]):
        becomes_whole(f.sum(parts), WHOLE + other.to_dense() + dense)
    assert kind_of("sum", X=[ROWS, ROWS]) is Kind.SELECTED_ROWS
    assert kind_of("sum", X=[ROWS, DENSE]) is kind_of("sum", X=[DENSE, ROWS]) is Kind.LOD_TENSOR


def test_cast_and_copied_rows_stay_rows():
    found = f.cast(X, in_dtype="float64", out_dtype="float32")
    stays_rows(found, WHOLE.astype("float32"))
    assert found.dtype == np.float32
    stays_rows(f.assign(X), WHOLE)
    assert kind_of("assign", X=ROWS) is Kind.SELECTED_ROWS
    assert kind_of("cast", dict(in_dtype="float64", out_dtype="float32"), X=ROWS) is (
        Kind.SELECTED_ROWS
    )


def test_clipped_rows_stay_rows_where_zeros_stay():
    bounds = dict(min=-0.25, max=0.5)
    stays_rows(f.clip(X, **bounds), np.clip(WHOLE, -0.25, 0.5))
    becomes_whole(f.clip(X, min=0.1, max=0.5), np.clip(WHOLE, 0.1, 0.5))
    low = np.array([-0.25])
    becomes_whole(f.clip(X, low, min=0.0, max=0.5), np.clip(WHOLE, -0.25, 0.5))
    assert kind_of("clip", bounds, X=ROWS) is Kind.SELECTED_ROWS
    assert kind_of("clip", dict(min=0.1, max=0.5), X=ROWS) is Kind.LOD_TENSOR


def test_the_norm_of_rows_is_that_of_the_whole_tensor():
    stays_rows(f.clip_by_norm(X, max_norm=0.5), 0.5 * WHOLE / np.sqrt((WHOLE**2).sum()))
    assert kind_of("clip_by_norm", dict(max_norm=0.5), X=ROWS) is Kind.SELECTED_ROWS


def test_rows_times_one_number_stay_rows():
    stays_rows(f.elementwise_mul(X, np.array([2.0])), 2 * WHOLE)
    y = RNG.normal(size=[6, 2])
    becomes_whole(f.elementwise_mul(X, y), WHOLE * y)
    becomes_whole(f.elementwise_mul(y, X), WHOLE * y)
    one = Spec((1,), DType.FP64)
    assert kind_of("elementwise_mul", X=ROWS, Y=one) is Kind.SELECTED_ROWS
    assert kind_of("elementwise_mul", X=ROWS, Y=DENSE) is Kind.LOD_TENSOR


@pytest.mark.parametrize(
    "type, expected",
    [
        ("square", WHOLE**2),
        ("exp", np.exp(WHOLE)),
        ("fill_zeros_like", np.zeros([6, 2])),
        ("mean", np.mean(WHOLE).reshape(1)),
    ],
)
def test_other_operators_see_the_whole_tensor(type, expected):
    becomes_whole(getattr(f, type)(X), expected)
    assert kind_of(type, X=ROWS) is Kind.LOD_TENSOR


def test_lists_are_made_whole_too():
    dense = RNG.normal(size=[3, 2])
    becomes_whole(f.concat([X, dense]), np.concatenate([WHOLE, dense]))
    assert kind_of("concat", X=[ROWS, DENSE]) is Kind.LOD_TENSOR


# -- the gradient of a table -----------------------------------------------------------------------


@pytest.mark.parametrize("padding", [-1, 1])
@pytest.mark.parametrize("type, column", [("lookup_table", True), ("lookup_table_v2", False)])
def test_the_gradient_of_a_table_has_the_rows_that_were_used(type, column, padding):
    table, ids = RNG.normal(size=[6, 2]), np.array([4, 1, 4])
    g = RNG.normal(size=[3, 2])
    ids = ids[:, None] if column else ids
    gradient = getattr(f, f"{type}_grad")
    attrs = dict(is_sparse=True, padding_idx=padding)
    found = gradient(table, ids, g, **attrs)
    assert found.rows() == [4, 1, 4] if padding == -1 else [4, 4]
    dense = gradient(table, ids, g, padding_idx=padding)
    np.testing.assert_allclose(found.to_dense(), dense)
    specs = {
        "W": ([6, 2], "float64"),
        "Ids": (list(ids.shape), "int64"),
        "Out@GRAD": ([3, 2], "float64"),
    }
    assert kind_of(f"{type}_grad", attrs, "W@GRAD", **specs) is Kind.SELECTED_ROWS
    assert kind_of(f"{type}_grad", {}, "W@GRAD", **specs) is Kind.LOD_TENSOR
    assert lookup(type)(attrs).sparse_gradients() == {"W"}
    assert not lookup(type)().sparse_gradients()


@pytest.mark.parametrize("cotangent", [WHOLE, X])
def test_the_second_order_takes_whole_tensors_and_rows(cotangent):
    table, ids, g = RNG.normal(size=[6, 2]), np.array([4, 1, 2]), RNG.normal(size=[3, 2])
    found = f.lookup_table_v2_grad_grad.all(
        table, ids, g, **{"W@GRAD@GRAD": cotangent}, is_sparse=True, padding_idx=2
    )
    expected = np.stack([WHOLE[4], WHOLE[1], np.zeros(2)])
    np.testing.assert_allclose(found["Out@GRAD@GRAD"], expected)


# -- steps of optimizers ---------------------------------------------------------------------------

PARAM, STATE, RATE = RNG.normal(size=[6, 2]), RNG.uniform(0.1, 1, size=[6, 2]), np.array([0.1])


def test_gradient_descent_takes_rows():
    before = PARAM.copy()
    np.testing.assert_allclose(f.sgd(PARAM, RATE, X), PARAM - 0.1 * WHOLE)
    np.testing.assert_array_equal(PARAM, before)
    assert kind_of(
        "sgd", out="ParamOut", Param=DENSE, LearningRate=([1], "float64"), Grad=ROWS
    ) is (Kind.LOD_TENSOR)


def test_momentum_decays_every_row():
    found = f.momentum(PARAM, X, STATE, RATE, mu=0.9)
    np.testing.assert_allclose(found, f.momentum(PARAM, WHOLE, STATE, RATE, mu=0.9))


def adam(grad, steps=0, **attrs):
    """A step of Adam, with the bias correction of so many steps later."""
    powers = np.array([0.81 * 0.9**steps]), np.array([0.998 * np.float32(0.999) ** steps])
    return f.adam(PARAM, grad, RATE, STATE - 0.5, STATE, *powers, beta1=0.9, **attrs)


def test_adam_decays_every_row():
    for mine, expected in zip(adam(X)[:3], adam(WHOLE, 1), strict=False):
        np.testing.assert_allclose(mine, expected, 1e-6)
    np.testing.assert_allclose(adam(X)[3:], adam(WHOLE)[3:])


def test_lazy_adam_leaves_rows_without_gradient_alone():
    found, whole = adam(X, lazy_mode=True), adam(WHOLE, 1)
    used, others = [1, 4], [0, 2, 3, 5]
    for mine, expected, before in zip(found, whole, (PARAM, STATE - 0.5, STATE), strict=False):
        np.testing.assert_allclose(mine[used], expected[used], 1e-6)
        np.testing.assert_array_equal(mine[others], before[others])
    np.testing.assert_allclose(found[3:], adam(WHOLE)[3:])


# -- programs --------------------------------------------------------------------------------------


def table_loss(sparse, times=1, padding=None):
    """A loss of a table's rows, its gradient by the table, and the table."""
    start = np.arange(12).reshape(6, 2).astype("float32") / 7
    attr = fluid.ParamAttr("table", initializer=fluid.initializer.NumpyArrayInitializer(start))
    loss = None
    for k in range(times):
        ids = fluid.data(f"ids{k}", [None], "int64")
        e = fluid.embedding(ids, [6, 2], sparse, padding_idx=padding, param_attr=attr)
        part = fluid.layers.reduce_sum(e * e * e)
        loss = part if loss is None else loss + part
    return loss, fluid.default_main_program().global_block().var("table")


def run(*fetched, start=True, **options):
    exe = fluid.Executor()
    if start:
        exe.run(fluid.default_startup_program())
    feed = {"ids0": np.array([4, 1, 4, 2]), "ids1": np.array([0, 2, 5])}
    block = fluid.default_main_program().global_block()
    feed = {name: value for name, value in feed.items() if block.has_var(name)}
    return exe.run(feed=feed, fetch_list=list(fetched), **options)


def in_fresh_programs(function):
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            return function()


def test_gradients_of_a_shared_table_are_added_as_rows():
    def gradient(sparse):
        loss, table = table_loss(sparse, times=2)
        (found,) = fluid.gradients(loss, table)
        kinds.append((found.type, fluid.default_main_program().global_block().ops[-1].type))
        return run(found)[0]

    kinds = []
    sparse, dense = (
        in_fresh_programs(lambda: gradient(True)),
        in_fresh_programs(lambda: gradient(False)),
    )
    np.testing.assert_allclose(sparse, dense, 1e-6)
    assert kinds == [(Kind.SELECTED_ROWS, "sum"), (Kind.LOD_TENSOR, "sum")]


def test_rows_are_fetched_whole_or_as_they_are():
    loss, table = table_loss(True, padding=2)
    (gradient,) = fluid.gradients(loss, table)
    (whole,) = run(gradient)
    (some,) = run(gradient, return_numpy=False)
    assert isinstance(some, SelectedRows)
    assert some.rows() == [4, 1, 4]
    np.testing.assert_array_equal(some.to_dense(), whole)


@pytest.mark.parametrize("padding", [None, 4])
def test_the_gradient_of_a_gradient_of_rows_is_that_of_whole_tensors(padding):
    def gradients(sparse):
        loss, table = table_loss(sparse, padding=padding)
        (first,) = fluid.gradients(loss, table)
        (second,) = fluid.gradients(fluid.layers.reduce_sum(first * first), table)
        (third,) = fluid.gradients(fluid.layers.reduce_sum(second * second), table)
        return run(first, second, third)

    sparse, dense = (in_fresh_programs(lambda s=s: gradients(s)) for s in (True, False))
    for mine, expected in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(mine, expected, 1e-5)


CLIPS = {
    "none": lambda: None,
    "value": lambda: fluid.clip.GradientClipByValue(0.5),
    "norm": lambda: fluid.clip.GradientClipByNorm(0.5),
    "global_norm": lambda: fluid.clip.GradientClipByGlobalNorm(0.5),
}
OPTIMIZERS = {
    "sgd": fluid.optimizer.SGD,
    "momentum": lambda rate, **more: fluid.optimizer.Momentum(rate, 0.9, **more),
}


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_with_rows_is_training_with_whole_gradients(optimizer, clip):
    def train(sparse):
        loss, _ = table_loss(sparse, times=2)
        decay = fluid.regularizer.L2Decay(0.1) if clip == "none" else None
        more = dict(regularization=decay, grad_clip=CLIPS[clip]())
        OPTIMIZERS[optimizer](0.1, **more).minimize(loss)
        run(loss)
        run(loss, start=False)
        return np.array(fluid.global_scope().find_var("table").get_tensor())

    sparse, dense = (in_fresh_programs(lambda s=s: train(s)) for s in (True, False))
    np.testing.assert_allclose(sparse, dense, 1e-5)


def test_a_gradient_with_as_many_rows_as_words_forms_no_sequences():
    """The table has 6 rows, and so has the batch: its sequences are not the table's."""
    ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    e = fluid.layers.embedding(ids, [6, 2], is_sparse=True)
    ((_, gradient),) = fluid.append_backward(fluid.layers.reduce_sum(e))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"ids": fluid.create_lod_tensor(np.arange(6).reshape(6, 1), [[2, 4]])}
    (found,) = exe.run(feed=feed, fetch_list=[gradient])
    np.testing.assert_array_equal(found, np.ones([6, 2]))


def test_rows_that_are_not_finite_are_found():
    loss, table = table_loss(True)
    (gradient,) = fluid.gradients(fluid.layers.log(loss * 0.0), table)
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(ArithmeticError, match="holds"):
        run(gradient)


def test_rows_stay_in_the_scope_and_survive_text():
    loss, table = table_loss(True)
    (gradient,) = fluid.gradients(loss, table)
    gradient.persistable = True
    run(loss)
    kept = fluid.global_scope().find_var(gradient.name).get_selected_rows()
    assert kept.rows() == [4, 1, 4, 2]
    read = fluid.Program.parse(str(fluid.default_main_program()))
    assert read.global_block().var(gradient.name).type is Kind.SELECTED_ROWS


def test_layers_merge_rows_and_take_them_out():
    loss, table = table_loss(True)
    (gradient,) = fluid.gradients(loss, table)
    merged = fluid.layers.merge_selected_rows(gradient)
    taken = fluid.layers.get_tensor_from_selected_rows(merged)
    whole, found = run(gradient, taken)
    np.testing.assert_allclose(found, whole[[1, 2, 4]])
