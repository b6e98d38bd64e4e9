"""Decoding by helpers and by beam search, against all paths that there are."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError

rng = np.random.default_rng(0)
START, END, TOKENS, STEPS = 0, 1, 3, 4


class Table(layers.RNNCell):
    """The scores of tokens after a token and in a state; the state is the token before."""

    def __init__(self, tokens=TOKENS):
        self.tokens = tokens

    def call(self, inputs, states):
        both = layers.concat([states, inputs], axis=1)
        scores = layers.fc(both, self.tokens, param_attr="scores", bias_attr=False)
        return scores, inputs


def flat_one_hot(ids):
    return fluid.one_hot(ids, TOKENS)


def table():
    """Random scores for each pair of tokens, [2 * TOKENS, TOKENS]."""
    scores = rng.normal(size=[2 * TOKENS, TOKENS]).astype("float32") * 2
    return scores


def run(feed, fetch, scores):
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.global_scope().find_var("scores").get_tensor().set(scores)
    return exe.run(feed=feed, fetch_list=fetch)


def log_softmax(x):
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


def all_paths(scores, state, steps):
    """Every path of tokens with the logarithm of its probability; after END comes END."""
    found = {}
    for path in itertools.product(range(TOKENS), repeat=steps):
        total, before, now, done = 0.0, state, np.eye(TOKENS)[START], False
        for token in path:
            if done:
                total += 0.0 if token == END else -np.inf
            else:
                total += log_softmax(np.concatenate([before, now]) @ scores)[token]
            before, now, done = now, np.eye(TOKENS)[token], done or token == END
        if np.isfinite(total):
            found[path] = total
    return found


@pytest.mark.parametrize("is_test", [False, True])
def test_a_beam_that_holds_all_paths_finds_the_best_ones(is_test):
    state = fluid.data("state", [None, TOKENS])
    steps, beam = 3, 15  # as many paths as there can be after three steps, and some more
    decoder = layers.BeamSearchDecoder(Table(), START, END, beam, flat_one_hot)
    ids, last = layers.dynamic_decode(decoder, state, max_step_num=steps - 1, is_test=is_test)
    value = rng.normal(size=[4, TOKENS]).astype("float32")
    scores = table()
    found, totals = run({"state": value}, [ids, last.log_probs], scores)
    assert found.shape == (4, steps, beam)
    for row in range(4):
        wanted = all_paths(scores, value[row], steps)
        best = sorted(wanted, key=wanted.get, reverse=True)
        mine = [tuple(path) for path in found[row].T.tolist()][: len(best)]
        assert mine == best[: len(mine)]
        sums = [wanted[path] for path in best]
        np.testing.assert_allclose(totals[row][: len(best)], sums, rtol=1e-4, atol=1e-4)


def beam_by_hand(scores, state, beam, steps):
    """The paths that a beam search keeps, one step at a time, with their probabilities."""
    paths = [((), 0.0)]
    for _ in range(steps):
        longer = []
        for path, total in paths:
            if END in path:
                longer.append(((*path, END), total))
                continue
            hot = np.eye(TOKENS)
            now = hot[path[-1] if path else START]
            before = state if not path else hot[path[-2] if len(path) > 1 else START]
            each = log_softmax(np.concatenate([before, now]) @ scores)
            longer += [((*path, token), total + each[token]) for token in range(TOKENS)]
        paths = sorted(longer, key=lambda p: -p[1])[:beam]
        if all(END in path for path, _ in paths):
            break
    return paths


@pytest.mark.parametrize("beam", [1, 2, 3])
def test_a_beam_keeps_the_best_paths_of_each_step(beam):
    state = fluid.data("state", [None, TOKENS])
    decoder = layers.BeamSearchDecoder(Table(), START, END, beam, flat_one_hot)
    ids, last = layers.dynamic_decode(decoder, state, max_step_num=STEPS - 1)
    value, scores = rng.normal(size=[1, TOKENS]).astype("float32"), table()
    scores[:, END] -= 3  # no path is finished early
    found, totals = run({"state": value}, [ids, last.log_probs], scores)
    wanted = beam_by_hand(scores, value[0], beam, STEPS)
    assert [tuple(path) for path in found[0].T.tolist()] == [path for path, _ in wanted]
    np.testing.assert_allclose(totals[0], [total for _, total in wanted], rtol=1e-4, atol=1e-4)


def test_a_beam_stops_when_all_paths_are_finished():
    state = fluid.data("state", [None, TOKENS])
    decoder = layers.BeamSearchDecoder(Table(), START, END, 2, flat_one_hot)
    ids, _, lengths = layers.dynamic_decode(
        decoder, state, max_step_num=20, output_time_major=True, return_length=True
    )
    scores = np.zeros([2 * TOKENS, TOKENS], "float32")
    scores[:, END] = 9
    found, n = run({"state": np.zeros([2, TOKENS], "float32")}, [ids, lengths], scores)
    assert found[:, 0, 0].tolist() == [END] * len(found)
    assert len(found) == 2
    assert n.tolist() == [[1, 2]] * 2


def greedy(scores, state, steps):
    path, before, now = [], state, np.eye(TOKENS)[START]
    for _ in range(steps):
        token = int(np.argmax(np.concatenate([before, now]) @ scores))
        path.append(token)
        before, now = now, np.eye(TOKENS)[token]
        if token == END:
            break
    return path


def test_the_greedy_helper_takes_the_largest_score():
    state, start = fluid.data("state", [None, TOKENS]), fluid.data("start", [None], "int64")
    helper = layers.GreedyEmbeddingHelper(flat_one_hot, start, END)
    decoder = layers.BasicDecoder(Table(), helper)
    out, _, lengths = layers.dynamic_decode(
        decoder, state, max_step_num=7, impute_finished=True, return_length=True
    )
    value, scores = rng.normal(size=[6, TOKENS]).astype("float32"), table()
    feed = {"state": value, "start": np.full(6, START)}
    found, n = run(feed, [out.sample_ids, lengths], scores)
    for row in range(6):
        wanted = greedy(scores, value[row], 8)
        assert found[row, : len(wanted)].tolist() == wanted
        assert n[row] == len(wanted)


def test_the_sampling_helper_draws_by_the_scores():
    rows = 4000
    state, start = fluid.data("state", [None, TOKENS]), fluid.data("start", [None], "int64")
    temperature = 0.5
    helper = layers.SampleEmbeddingHelper(flat_one_hot, start, END, temperature, seed=3)
    out, _ = layers.dynamic_decode(layers.BasicDecoder(Table(), helper), state, max_step_num=0)
    scores = table()
    feed = {"state": np.zeros([rows, TOKENS], "float32"), "start": np.full(rows, START)}
    (found,) = run(feed, [out.sample_ids], scores)
    shares = np.bincount(found[:, 0], minlength=TOKENS) / rows
    wanted = np.exp(log_softmax(scores[TOKENS + START] / temperature))
    np.testing.assert_allclose(shares, wanted, atol=5 * 0.5 / np.sqrt(rows))


def test_the_training_helper_reads_what_is_known_and_gradients_flow_through():
    x, n = fluid.data("x", [None, 4, 3]), fluid.data("n", [None], "int64")
    first = fluid.data("first", [None, 2])
    x.stop_gradient = False
    cell = layers.GRUCell(2)
    helper = layers.TrainingHelper(x, n)
    out, last, lengths = layers.dynamic_decode(
        layers.BasicDecoder(cell, helper), first, impute_finished=True, return_length=True
    )
    same, end = layers.rnn(cell, x, first, n)
    pairs = [(out.cell_outputs, last), (same, end)]
    losses = [layers.reduce_sum(layers.square(b)) for _, b in pairs]
    slopes = [fluid.gradients(loss, [x]) for loss in losses]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    value, start = (rng.normal(size=s).astype("float32") for s in ([3, 4, 3], [3, 2]))
    feed = {"x": value, "first": start, "n": np.array([4, 2, 3])}
    fetch = [*pairs[0], *pairs[1], slopes[0][0], slopes[1][0], lengths]
    found = exe.run(feed=feed, fetch_list=fetch)
    np.testing.assert_allclose(found[1], found[3], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[4], found[5], rtol=1e-4, atol=1e-6)
    for row, length in enumerate(feed["n"]):
        np.testing.assert_allclose(found[0][row, :length], found[2][row, :length], rtol=1e-5)
    assert found[6].tolist() == [4, 2, 3]


def test_outputs_of_every_step_have_gradients():
    x, n = fluid.data("x", [None, 3, 3]), fluid.data("n", [None], "int64")
    x.stop_gradient = False
    first = layers.fill_constant_batch_size_like(x, [-1, 2], "float32", 0.0)
    cell = layers.GRUCell(2)
    out, _ = layers.dynamic_decode(layers.BasicDecoder(cell, layers.TrainingHelper(x, n)), first)
    same, _ = layers.rnn(cell, x, first)
    slopes = [
        fluid.gradients(layers.reduce_sum(layers.square(y)), [x])[0]
        for y in (out.cell_outputs, same)
    ]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    value = rng.normal(size=[2, 3, 3]).astype("float32")
    mine, wanted = exe.run(feed={"x": value, "n": np.array([3, 3])}, fetch_list=slopes)
    np.testing.assert_allclose(mine, wanted, rtol=1e-4, atol=1e-6)
    assert np.abs(mine).min(axis=(0, 2)).min() > 0


@pytest.mark.parametrize(
    "changed, message",
    [
        (dict(beam_size=0), "expected beam_size of at least 1, got 0"),
        (dict(end_token=-1), "expected end_token to be a token from 0, got -1"),
        (dict(cell=None), "expected cell to be a function, got None"),
        (dict(embedding_fn=3), "expected embedding_fn to be a function, got 3"),
    ],
)
def test_a_beam_search_that_means_nothing_is_refused(changed, message):
    given = dict(cell=Table(), start_token=START, end_token=END, beam_size=2)
    with pytest.raises(ArgumentError, match=message):
        layers.BeamSearchDecoder(**{**given, **changed})


def test_states_and_scores_that_do_not_fit_are_refused():
    state = fluid.data("state", [None, TOKENS])
    decoder = layers.BeamSearchDecoder(Table(), START, 7, 2, flat_one_hot)
    with pytest.raises(ShapeError, match="expected scores of more than 7 tokens"):
        layers.dynamic_decode(decoder, state, max_step_num=3)
    with pytest.raises(ArgumentError, match="expected max_step_num to be a whole number from 0"):
        layers.dynamic_decode(decoder, state, max_step_num=-1)
    with pytest.raises(ArgumentError, match="expected decoder to be a Decoder, got 3"):
        layers.dynamic_decode(3, state)
    with pytest.raises(ArgumentError, match="first states of a beam search to be variables"):
        layers.dynamic_decode(decoder, None)
    with pytest.raises(ArgumentError, match="expected softmax_temperature above 0"):
        start = fluid.data("start", [None], "int64")
        layers.SampleEmbeddingHelper(flat_one_hot, start, END, softmax_temperature=0.0)
    with pytest.raises(ArgumentError, match="expected helper to be a DecodeHelper"):
        layers.BasicDecoder(Table(), None)


def test_states_are_tiled_for_each_path():
    x = rng.normal(size=[2, 3]).astype("float32")
    tiled = layers.BeamSearchDecoder.tile_beam_merge_with_batch(layers.assign(x), 4)
    (found,) = fluid.Executor().run(fetch_list=[tiled])
    np.testing.assert_array_equal(found, np.repeat(x, 4, axis=0))
