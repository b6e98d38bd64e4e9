"""Sequences cut into steps, the longest first, and put together again."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import LoDError, ShapeError
from fluidlite.ground.values import LoDTensor, LoDTensorArray
from fluidlite.opdef.rank_table import RankTable

from gradcheck import evaluator

f = evaluator()
ROWS = np.arange(9.0).reshape(9, 1)
LODS = {"one": ((0, 2, 5, 9),), "equal": ((0, 3, 6, 9),), "empty": ((0, 4, 4, 9),)}


def brute_order(lengths):
    return sorted(range(len(lengths)), key=lambda k: (-lengths[k], k))


@pytest.mark.parametrize("lod", LODS.values(), ids=LODS)
def test_a_rank_table_has_the_longest_first_and_of_equal_ones_the_first(lod):
    table = f.lod_rank_table(LoDTensor(ROWS, lod))
    lengths = np.diff(lod[0]).tolist()
    order = brute_order(lengths)
    assert table.items() == [(k, lengths[k]) for k in order]
    assert f.max_sequence_len(table).tolist() == [max(lengths)]
    assert [table.count_at(t) for t in range(6)] == [sum(n > t for n in lengths) for t in range(6)]


@pytest.mark.parametrize("lod", LODS.values(), ids=LODS)
def test_steps_are_those_of_a_loop_over_sequences_and_join_to_the_same(lod):
    x = LoDTensor(ROWS, lod)
    table = f.lod_rank_table(x)
    steps = f.lod_tensor_to_array(x, table)
    lengths = np.diff(lod[0]).tolist()
    for t, step in enumerate(steps):
        wanted = [ROWS[lod[0][k] + t, 0] for k in brute_order(lengths) if lengths[k] > t]
        assert step[:, 0].tolist() == wanted
    again = f.array_to_lod_tensor(steps, table)
    np.testing.assert_array_equal(again.data, ROWS)
    assert again.offsets == lod


def test_steps_of_outer_sequences_are_inner_sequences():
    x = LoDTensor(ROWS, ((0, 1, 3), (0, 4, 6, 9)))
    table = f.lod_rank_table(x)
    first, second = f.lod_tensor_to_array(x, table)
    assert first.data[:, 0].tolist() == [4, 5, 0, 1, 2, 3]
    assert first.offsets == ((0, 2, 6),)
    assert (second.data[:, 0].tolist(), second.offsets) == ([6, 7, 8], ((0, 3),))
    again = f.array_to_lod_tensor(LoDTensorArray([first, second]), table)
    np.testing.assert_array_equal(again.data, ROWS)
    assert again.offsets == x.offsets


def test_inner_sequences_are_ranked_on_their_level():
    x = LoDTensor(ROWS, ((0, 1, 3), (0, 4, 6, 9)))
    table = f.lod_rank_table(x, level=1)
    assert table.items() == [(0, 4), (2, 3), (1, 2)]
    assert f.array_to_lod_tensor(f.lod_tensor_to_array(x, table), table).offsets == x.offsets


def test_a_level_that_is_not_there_is_refused():
    with pytest.raises(LoDError, match="sequences on level 0, got 0 levels; declare"):
        f.lod_rank_table(ROWS)


def test_a_missing_step_is_zero_as_a_gradient_is():
    table = RankTable(((0, 1, 3),), 0)
    found = f.array_to_lod_tensor(LoDTensorArray([np.ones([2, 1]), None]), table)
    assert found.data[:, 0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "steps, message",
    [
        ([np.ones([2, 1])], "an array of 2 steps, as the rank table says, got 1"),
        ([np.ones([2, 1]), np.ones([2, 1])], "1 rows at step 1, as the rank table says, got 2"),
    ],
)
def test_steps_that_do_not_fit_the_table_are_refused(steps, message):
    with pytest.raises(ShapeError, match=message):
        f.array_to_lod_tensor(LoDTensorArray(steps), RankTable(((0, 1, 3),), 0))


def test_rows_that_are_not_those_of_the_table_are_refused():
    with pytest.raises(ShapeError, match="expected 3 rows, as the rank table says, got 9"):
        f.lod_tensor_to_array(ROWS, RankTable(((0, 1, 3),), 0))


def test_a_memory_shrinks_to_the_sequences_that_are_still_there():
    table = RankTable(((0, 2, 5, 6),), 0)
    memory = np.arange(3.0).reshape(3, 1)
    for step, count in enumerate([3, 2, 1, 0]):
        assert len(f.shrink_rnn_memory(memory, table, np.array([step]))) == count


def test_a_memory_of_sequences_shrinks_to_the_first_of_them():
    table = RankTable(((0, 2, 5, 6),), 0)
    memory = LoDTensor(ROWS, ((0, 1, 2, 3), (0, 4, 6, 9)))
    found = f.shrink_rnn_memory(memory, table, np.array([1]))
    assert (found.data[:, 0].tolist(), found.offsets) == (
        [0, 1, 2, 3, 4, 5],
        ((0, 1, 2), (0, 4, 6)),
    )


def test_rows_and_sequences_are_put_into_the_order_of_the_table_and_back():
    table = RankTable(((0, 2, 5, 6),), 0)
    for x in (np.arange(3.0).reshape(3, 1), LoDTensor(ROWS, ((0, 4, 6, 9),))):
        there = f.reorder_lod_tensor_by_rank(x, table)
        back = f.reorder_lod_tensor_by_rank_grad(there, table)
        np.testing.assert_array_equal(np.array(back), np.array(x))
    assert np.array(there)[:, 0].tolist() == [4, 5, 0, 1, 2, 3, 6, 7, 8]
    assert there.offsets == ((0, 2, 6, 9),)


def test_as_many_rows_as_the_table_has_sequences_are_needed():
    with pytest.raises(
        ShapeError, match="expected X with 3 rows, as many as the rank table has, got 9 rows"
    ):
        f.reorder_lod_tensor_by_rank(ROWS, RankTable(((0, 2, 5, 6),), 0))


def looped(layers):
    """What a DynamicRNN computes, and what goes into it; both memories and a static input."""
    x = fluid.data("x", [None, 3], "float64", lod_level=1)
    first = fluid.data("first", [None, 2], "float64")
    same = fluid.data("same", [None, 2], "float64")
    for variable in (x, first, same):
        variable.stop_gradient = False
    rnn = layers.DynamicRNN()
    with rnn.block():
        now = rnn.step_input(x)
        fixed = rnn.static_input(same)
        state = rnn.memory(init=first, need_reorder=True)
        count = rnn.memory(shape=[1], value=1.0, dtype="float64")
        new = layers.fc([now, state, fixed], 2, act="tanh")
        rnn.update_memory(state, new)
        rnn.update_memory(count, count + 1.0)
        rnn.output(new, count)
    return x, first, same, *rnn()


def test_gradients_of_a_dynamic_rnn_are_those_of_finite_differences():
    x, first, same, states, counts = looped(fluid.layers)
    loss = fluid.layers.reduce_sum(states * states * counts)
    grads = fluid.gradients(loss, [x, first, same])
    weight = fluid.default_main_program().global_block().all_parameters()[1]
    grads += fluid.gradients(loss, [weight])
    exe, rng = fluid.Executor(), np.random.default_rng(0)
    fluid.default_startup_program().random_seed = 5
    exe.run(fluid.default_startup_program())
    given = {"x": rng.normal(size=[7, 3]), "first": rng.normal(size=[3, 2])}
    given["same"] = rng.normal(size=[3, 2])

    def run(fetched, **moved):
        feed = {**given, **moved}
        feed["x"] = fluid.create_lod_tensor(feed["x"], [[2, 4, 1]])
        return exe.run(feed=feed, fetch_list=fetched, return_numpy=False)

    found = [np.array(v) for v in run([*grads, counts])]
    assert found.pop()[:, 0].tolist() == [1, 2, 1, 2, 3, 4, 1]
    for name, slope in zip(("x", "first", "same"), found):
        direction = rng.normal(size=given[name].shape)
        high, low = (
            np.array(run([loss], **{name: given[name] + sign * 1e-6 * direction})[0]).item()
            for sign in (1, -1)
        )
        np.testing.assert_allclose((slope * direction).sum(), (high - low) / 2e-6, rtol=1e-6)
    assert np.abs(found[-1]).max() > 1e-3


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda rnn, x: rnn.step_input(x), "step_input of a DynamicRNN is used inside"),
        (lambda rnn, x: rnn(), "called after its block"),
    ],
)
def test_use_outside_the_block_is_refused(use, message):
    x = fluid.data("x", [None, 3], lod_level=1)
    with pytest.raises(fluid.errors.ArgumentError, match=message):
        use(fluid.layers.DynamicRNN(), x)


def test_a_memory_before_any_input_is_refused_and_leaves_nothing():
    rnn = fluid.layers.DynamicRNN()
    with pytest.raises(fluid.errors.ArgumentError, match="call step_input before memory"):
        with rnn.block():
            rnn.memory(shape=[2])
    assert len(fluid.default_main_program().blocks) == 1


def test_a_network_over_paragraphs_gives_one_row_for_each_sentence():
    x = fluid.data("x", [None, 1], "float32", lod_level=2)
    x.stop_gradient = False
    network = layers.DynamicRNN()
    with network.block():
        words = network.step_input(x)
        total = network.memory(shape=[1], value=0.0)
        new = layers.elementwise_add(layers.sequence_pool(words, "sum"), total)
        network.update_memory(total, new)
        network.output(new)
    totals = network()
    (grad,) = fluid.gradients(totals, x)
    rows = np.arange(1, 7, dtype="float32").reshape(6, 1)
    fed = fluid.create_lod_tensor(rows, [[2, 1], [2, 1, 3]], fluid.CPUPlace())
    exe = fluid.Executor()
    found = exe.run(feed={"x": fed}, fetch_list=[totals, grad], return_numpy=False)
    assert np.asarray(found[0]).tolist() == [[3], [6], [15]]
    assert found[0].recursive_sequence_lengths() == [[2, 1]]
    assert np.asarray(found[1]).ravel().tolist() == [2, 2, 1, 1, 1, 1]
