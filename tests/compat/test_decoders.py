"""``fluid.contrib.decoder``, and what paddlepaddle 1.8.5 gives for the same programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.compat.modules.decoders import (
    BeamSearchDecoder,
    InitState,
    StateCell,
    TrainingDecoder,
)
from fluidlite.errors import ArgumentError

STATES = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]], "float32")


def cell_of(init, others=()):
    """A cell of one state that is a layer of the state before and of what comes in."""
    cell = StateCell(dict.fromkeys(("x", *others)), {"h": init}, out_state="h")

    @cell.state_updater
    def step(cell):
        ins = [cell.get_state("h"), *(cell.get_input(name) for name in ("x", *others))]
        names = ["wh", "wx", *(f"w_{name}" for name in others)]
        cell.set_state("h", layers.fc(ins, 3, act="tanh", param_attr=names, bias_attr="wb"))

    return cell


def started():
    """An executor, when all parameters have values that are no chance."""
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    parameters = fluid.default_main_program().all_parameters()
    for k, parameter in enumerate(sorted(parameters, key=lambda each: each.name)):
        line = np.sin(np.arange(np.prod(parameter.shape)) * (k + 1.0) + k)
        tensor = fluid.global_scope().find_var(parameter.name).get_tensor()
        tensor.set(line.reshape(parameter.shape).astype("float32"), fluid.CPUPlace())
    return exe


def sequences(rows, lengths, dtype="int64"):
    array = np.array(rows, dtype).reshape(-1, 1)
    return fluid.create_lod_tensor(array, lengths, fluid.CPUPlace())


def test_a_decoder_is_trained():
    state = fluid.data("state", [None, 3])
    words = fluid.data("words", [None, 1], "int64", lod_level=1)
    following = fluid.data("next", [None, 1], "int64", lod_level=1)
    cell = cell_of(InitState(init=state, need_reorder=True))
    table = layers.embedding(words, [6, 2], param_attr="table")
    decoder = TrainingDecoder(cell)
    with decoder.block():
        decoder.state_cell.compute_state(inputs={"x": decoder.step_input(table)})
        chances = layers.fc(
            decoder.state_cell.out_state(), 6, act="softmax", param_attr="ow", bias_attr="ob"
        )
        decoder.state_cell.update_states()
        decoder.output(chances)
    loss = layers.mean(layers.cross_entropy(decoder(), following))
    fluid.optimizer.SGD(0.5).minimize(loss)
    exe = started()
    feed = {
        "state": STATES,
        "words": sequences([0, 3, 2, 0, 5], [[2, 3]]),
        "next": sequences([3, 1, 0, 5, 1], [[2, 3]]),
    }
    losses = [exe.run(feed=feed, fetch_list=[loss])[0].item() for _ in range(4)]
    np.testing.assert_allclose(losses, [2.7437716, 1.6541424, 1.4792798, 1.3410985], rtol=1e-5)


def words_to_begin_with():
    ids = fluid.data("ids", [None, 1], "int64", lod_level=2)
    scores = fluid.data("scores", [None, 1], "float32", lod_level=2)
    one = [[1, 1], [1, 1]]
    return (
        ids,
        scores,
        {
            "ids": sequences([0, 0], one),
            "scores": sequences([0, 0], one, "float32"),
            "state": STATES,
        },
    )


def test_a_search_finds_the_likeliest_sequences():
    state, other = fluid.data("state", [None, 3]), fluid.data("c", [None, 2])
    ids, scores, feed = words_to_begin_with()
    decoder = BeamSearchDecoder(
        cell_of(InitState(init=state), ["c"]), ids, scores, 6, 2, {"c": other},
        topk_size=4, sparse_emb=False, max_len=3, beam_size=2, end_id=1,
    )  # fmt: skip
    decoder.decode()
    found = started().run(
        feed={**feed, "c": np.eye(2, dtype="float32")},
        fetch_list=list(decoder()),
        return_numpy=False,
    )
    assert found[0].recursive_sequence_lengths() == [[2, 2], [4, 4, 4, 4]]
    assert np.asarray(found[0]).tolist() == [0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 3]
    expected = [
        0, -0.6214041, -1.8114409, -2.4616933, 0, -0.6214041, -2.0489271, -2.6323566,
        0, -1.3423122, -1.9855368, -2.8320715, 0, -1.2188894, -1.9103928, -3.0026317,
    ]  # fmt: skip
    np.testing.assert_allclose(np.asarray(found[1]), expected, rtol=1e-5)


def test_a_search_is_built_by_hand():
    state = fluid.data("state", [None, 3])
    ids, scores, feed = words_to_begin_with()
    decoder = BeamSearchDecoder(cell_of(InitState(init=state)), ids, scores, 6, 2, max_len=3)
    with decoder.block():
        word = decoder.read_array(init=ids, is_ids=True)
        score = decoder.read_array(init=scores, is_scores=True)
        cell = decoder.state_cell
        cell.set_state("h", layers.sequence_expand(cell.get_state("h"), score))
        cell.compute_state({"x": layers.embedding(word, [6, 2])})
        chances = layers.fc(layers.lod_reset(cell.out_state(), score), 6, act="softmax")
        best, places = layers.topk(chances, 3)
        total = layers.elementwise_add(layers.log(best), layers.reshape(score, [-1]), axis=0)
        found, sums = layers.beam_search(word, score, places, total, 1, end_id=1, level=0)
        cell.update_states()
        decoder.update_array(word, found)
        decoder.update_array(score, sums)
        decoder.early_stop()
    (sentences,) = started().run(feed=feed, fetch_list=[decoder()[0]], return_numpy=False)
    assert sentences.recursive_sequence_lengths() == [[1, 1], [1, 1]]


def test_a_state_begins_with_a_number():
    state = fluid.data("state", [None, 3])
    value = InitState(init_boot=state, shape=[-1, 2], value=0.5).value
    (found,) = fluid.Executor().run(feed={"state": STATES}, fetch_list=[value])
    assert found.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_what_is_no_decoder_is_refused():
    state = InitState(init=fluid.data("state", [None, 3]))
    for wrong in (
        InitState,
        lambda: StateCell({}, {"h": 3}, "h"),
        lambda: StateCell({}, {"h": state}, "z"),
        lambda: cell_of(state).get_state("h"),
        lambda: cell_of(state).get_input("x"),
        lambda: cell_of(state).compute_state({"y": state.value}),
        lambda: TrainingDecoder(cell_of(state))(),
        lambda: TrainingDecoder(cell_of(state)).state_cell,
        lambda: TrainingDecoder(cell_of(state)).step_input(state.value),
    ):
        with pytest.raises(ArgumentError):
            wrong()


def test_a_cell_is_in_one_decoder():
    cell = cell_of(InitState(init=fluid.data("state", [None, 3])))
    TrainingDecoder(cell)
    with pytest.raises(ArgumentError, match="another decoder"):
        TrainingDecoder(cell)


def test_the_classes_have_the_names_of_old_programs():
    from fluidlite import compat

    compat.install()
    try:
        from paddle.fluid.contrib import StateCell as served
        from paddle.fluid.contrib.decoder.beam_search_decoder import TrainingDecoder as trained
    finally:
        compat.uninstall()
    assert (served, trained) == (StateCell, TrainingDecoder)
