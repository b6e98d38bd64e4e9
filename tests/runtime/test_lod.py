"""Which outputs take over the sequences of which inputs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import FeedError, LoDError
from fluidlite.opdef.definition import Op
from fluidlite.opdef.sequences import offsets_of
from fluidlite.runtime.ragged import ragged_names


def test_the_gradient_of_a_table_has_no_sequences_even_when_its_rows_are_as_many():
    words = fluid.data("words", [None, 1], "int64", lod_level=1)
    table = fluid.layers.embedding(words, size=[6, 2], param_attr="table")
    fluid.backward.append_backward(fluid.layers.reduce_sum(table))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fed = fluid.create_lod_tensor(np.arange(6).reshape(6, 1), [[2, 4]])
    rows, slope = exe.run(feed={"words": fed}, fetch_list=[table, "table@GRAD"], return_numpy=False)
    assert rows.recursive_sequence_lengths() == [[2, 4]]
    assert slope.recursive_sequence_lengths() == []
    np.testing.assert_array_equal(np.array(slope), np.ones([6, 2]))


def test_a_gradient_has_the_sequences_of_its_variable():
    x = fluid.data("x", [None, 2], "float32", lod_level=1)
    x.stop_gradient = False
    (dx,) = fluid.gradients(fluid.layers.relu(x), x)
    fed = fluid.create_lod_tensor(np.ones([3, 2], "float32"), [[1, 2]])
    (found,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[dx], return_numpy=False)
    assert found.recursive_sequence_lengths() == [[1, 2]]


@pytest.mark.parametrize(
    "build", [fluid.layers.relu, lambda x: x + x, lambda x: fluid.layers.reshape(x, [-1, 1])]
)
def test_a_gradient_is_fetched_as_an_array_whatever_has_sequences(build):
    x = fluid.data("x", [None, 2], "float32", lod_level=1)
    x.stop_gradient = False
    (dx,) = fluid.gradients(build(x), x)
    fed = fluid.create_lod_tensor(np.ones([3, 2], "float32"), [[1, 2]])
    exe = fluid.Executor()
    for _ in range(4):
        (found,) = exe.run(feed={"x": fed}, fetch_list=[dx])
        assert type(found) is np.ndarray and found.shape == (3, 2)


ROWS = np.arange(5.0, dtype="float32").reshape(5, 1)


def of_two_levels():
    return fluid.create_lod_tensor(
        np.arange(5.0, dtype="float32").reshape(5, 1), [[1, 2], [2, 0, 3]]
    )


def doubled(levels, shape=(None, 1), dtype="float32"):
    """A variable with sequences, and twice its value."""
    x = fluid.data("x", list(shape), dtype, lod_level=levels)
    return x, fluid.layers.scale(x, 2.0)


def fetched(fed, y):
    (found,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[y], return_numpy=False)
    return np.array(found).tolist(), found.recursive_sequence_lengths()


def test_sequences_may_be_fed_as_lists():
    _, y = doubled(1)
    assert fetched([[1, 2], [], [3]], y) == ([[2.0], [4.0], [6.0]], [[2, 0, 1]])


def test_sequences_of_two_levels_may_be_fed_as_lists_of_lists():
    _, y = doubled(2, [None, 2])
    rows = [[[[1, 2]], [[3, 4], [5, 6]]], [[[7, 8]]]]
    values, lengths = fetched(rows, y)
    assert lengths == [[2, 1], [1, 2, 1]]
    assert values == [[2, 4], [6, 8], [10, 12], [14, 16]]


def test_sequences_may_be_fed_as_an_array_and_lengths():
    _, y = doubled(1)
    array = np.array([[1], [2], [3]], "float32")
    assert fetched((array, [[1, 2]]), y) == ([[2.0], [4.0], [6.0]], [[1, 2]])


def test_lengths_that_do_not_add_up_are_refused_by_name():
    _, y = doubled(1)
    with pytest.raises(FeedError, match="'x'.*covers 5 rows, there are 3"):
        fetched((np.ones([3, 1], "float32"), [[2, 3]]), y)


def test_a_list_that_is_nested_less_deeply_than_its_levels_is_refused():
    _, y = doubled(2)
    with pytest.raises(FeedError, match="'x' has 2 levels of sequences; expected a sequence"):
        fetched([[1, 2], [3]], y)


def test_a_list_for_a_variable_without_sequences_is_refused():
    _, y = doubled(0)
    with pytest.raises(FeedError, match="might mean rows or sequences"):
        fetched([[1.0]], y)


@pytest.mark.parametrize(
    "rows, found",
    [
        ((np.float32(1), np.float32(2)), [2, 4]),
        ((np.array([1], "float32"), np.array([3], "float32")), [[2], [6]]),
    ],
)
def test_a_tuple_is_rows_where_there_are_no_sequences(rows, found):
    x = fluid.data("x", np.shape(found))
    (out,) = fluid.Executor().run(feed={"x": rows}, fetch_list=[fluid.layers.scale(x, 2.0)])
    np.testing.assert_array_equal(out, found)


def test_rows_of_several_lengths_are_refused_by_name():
    _, y = doubled(0)
    with pytest.raises(FeedError, match="variable 'x': "):
        fetched(((1.0, 2.0), (3.0,)), y)


def test_operators_that_never_heard_of_sequences_carry_all_levels():
    x, _ = doubled(2)
    y = fluid.layers.fc(fluid.layers.relu(x), 3)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": of_two_levels()}, fetch_list=[y], return_numpy=False)
    assert y.lod_level == 2
    assert found.recursive_sequence_lengths() == [[1, 2], [2, 0, 3]]


def test_tensors_in_an_array_keep_their_sequences():
    x, _ = doubled(1)
    at = fluid.layers.fill_constant([1], "int64", 1)
    array = fluid.layers.array_write(x, at)
    back = fluid.layers.array_read(array, at)
    assert fetched([[1], [2, 3]], back) == ([[1.0], [2.0], [3.0]], [[1, 2]])


def test_gradients_through_an_array_have_the_sequences_of_their_variables():
    x, _ = doubled(1)
    x.stop_gradient = False
    at = fluid.layers.fill_constant([1], "int64", 0)
    array = fluid.layers.array_write(x, at)
    y = fluid.layers.array_read(array, at) * fluid.layers.array_read(array, at)
    (dx,) = fluid.gradients(y, x)
    assert fetched([[1], [2, 3]], dx) == ([[2.0], [4.0], [6.0]], [[1, 2]])


def classifier():
    """Words in sequences of several lengths, a layer, and the mean of what comes out."""
    words = fluid.data("x", [None, 1], "int64", lod_level=1)
    rows = fluid.layers.fc(fluid.layers.embedding(words, [10, 4]), 3)
    loss = fluid.layers.mean(rows)
    fluid.optimizer.Adam(0.1).minimize(loss)
    return loss


def test_new_lengths_make_no_new_plan():
    loss = classifier()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    plan = exe.plan(fetch_list=[loss])
    for rows in ([3, 2], [4], [1, 1, 1], [7, 2], [5]):
        words = [list(range(n)) for n in rows]
        exe.run(feed={"x": words}, fetch_list=[loss])
    segments = [item for item in plan.items if item.functions]
    assert len(segments) == 1  # the optimizer's, for one combination of shapes
    assert len(segments[0].functions) == 1
    assert segments[0].last is not None and segments[0].last.is_ready


def test_a_program_on_sequences_trains_as_it_does_on_the_same_rows_without():
    def losses(feeds, levels):
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
            fluid.default_main_program().random_seed = 3
            fluid.default_startup_program().random_seed = 3
            words = fluid.data("x", [None, 1], "int64", lod_level=levels)
            rows = fluid.layers.fc(fluid.layers.embedding(words, [10, 4]), 3)
            loss = fluid.layers.mean(rows * rows)
            fluid.optimizer.Adam(0.1).minimize(loss)
            exe = fluid.Executor()
            exe.run(fluid.default_startup_program())
            return [exe.run(feed={"x": fed}, fetch_list=[loss])[0].item() for fed in feeds]

    lengths = [[2, 3], [4], [1, 0, 2], [5, 1], [3]]
    ragged = [[[n % 10 for n in range(k)] for k in batch] for batch in lengths]
    plain = [np.array([[w] for row in batch for w in row], "int64") for batch in ragged]
    np.testing.assert_allclose(losses(ragged, 1), losses(plain, 0), rtol=1e-6)


def test_an_operator_that_needs_sequences_says_what_to_do():
    class needy(Op):
        """Out = X."""

        signature = "X[] -> Out"

        def run(self, xp, X):
            offsets_of(X, "X", 2)
            return X

    x, _ = doubled(1)
    y = x.block.create_var("y")
    x.block.append_op("needy", {"X": x}, {"Out": y})
    with pytest.raises(LoDError) as caught:
        fetched([[1], [2, 3]], y)
    text = str(caught.value)
    assert "expected X with sequences of 2 levels, got 1 level" in text
    assert "x float32[3, 1] with sequences of lengths [[1, 2]]" in text
    assert "test_lod.py" in text


@pytest.mark.parametrize(
    "make, kept",
    [
        (lambda x: fluid.layers.conv2d(x, 3, 3), True),
        (lambda x: fluid.layers.conv2d_transpose(x, 3, filter_size=3), False),
        (lambda x: fluid.layers.resize_bilinear(x, scale=2.0), False),
        (lambda x: fluid.layers.resize_nearest(x, out_shape=[3, 3]), False),
    ],
    ids=["conv2d", "conv2d_transpose", "resize_bilinear", "resize_nearest"],
)
def test_images_keep_sequences_where_those_of_the_real_system_do(make, kept):
    x = fluid.data("x", [None, 2, 6, 6], "float32", lod_level=1)
    y = make(x)
    exe = fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        exe.run(fluid.default_startup_program())
    fed = fluid.create_lod_tensor(np.ones([3, 2, 6, 6], "float32"), [[1, 2]])
    (found,) = exe.run(feed={"x": fed}, fetch_list=[y], return_numpy=False)
    assert (y.lod_level, found.lod()) == ((1, [[0, 1, 3]]) if kept else (0, []))


def test_a_constant_of_the_size_of_a_batch_counts_its_sequences():
    x = fluid.data("x", [None, 2], "float32", lod_level=1)
    y = fluid.layers.fill_constant_batch_size_like(x, [-1, 3], "float32", 2.0)
    exe = fluid.Executor()
    for lengths in ([2, 1], [1, 1, 1], [3, 4, 0, 2]):
        fed = fluid.create_lod_tensor(np.ones([sum(lengths), 2], "float32"), [lengths])
        (found,) = exe.run(feed={"x": fed}, fetch_list=[y], return_numpy=False)
        assert (found.shape(), found.lod()) == ([len(lengths), 3], [])


def test_what_is_computed_from_rows_of_sequences_is_as_long_as_they_are():
    x = fluid.data("x", [None, 3], "float32", lod_level=1)
    turned = fluid.layers.transpose(x, [1, 0])
    total = fluid.layers.reduce_sum(turned, dim=1)
    pooled = fluid.layers.sequence_pool(x, "sum")
    assert turned.lod_level == 0
    names = ragged_names(fluid.default_main_program())
    assert {x.name, turned.name} <= names
    assert not names & {total.name, pooled.name}


def test_a_row_in_place_of_empty_sequences_keeps_them():
    x = fluid.data("x", [None, 5], "float32", lod_level=1)
    words = fluid.layers.ctc_greedy_decoder(x, blank=4)
    fed = fluid.create_lod_tensor(np.eye(5, dtype="float32")[[4, 4, 4, 4]], [[2, 2]])
    results = [words, fluid.layers.scale(words, 2.0)]
    for found in fluid.Executor().run(feed={"x": fed}, fetch_list=results, return_numpy=False):
        assert (found.shape(), found.lod()) == ([1, 1], [[0, 0, 0]])
