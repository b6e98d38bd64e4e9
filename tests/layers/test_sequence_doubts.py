"""What fluid 1.8 computes with, though it hardly means what it says, is said to be doubtful."""

import re
import warnings

import numpy as np
import pytest
from sequence_cases import (
    ANCHORS,
    BOXES,
    LENGTHS,
    ROWS,
    SIZE,
    UPSIDE_DOWN,
    WORDS,
    WORDS_AND_TAGS,
    X_AND_TAGS,
    Variables,
    X,
    beams,
    chunks,
    column,
    crf,
    labels,
    outcome,
    path,
    proposals,
    search,
    targets,
    truth,
)

import fluidlite as fluid
from fluidlite import layers


def regions(v):
    return layers.generate_proposals(
        layers.reshape(layers.reduce_sum(v.moves, 1), [1, 4, 1, 1]),
        layers.reshape(v.moves, [1, 16, 1, 1]),
        v.size,
        layers.reshape(v.anchors, [1, 1, 4, 4]),
        layers.reshape(v.moves, [1, 1, 4, 4]),
    )[0]


def scattered(v):
    return layers.sequence_scatter(v.padded, v.words, v.one)


def doubt(name, build, feed, like, *words):
    """An entry: what fluid 1.8 computes with, what gives the same, and what is said of it."""
    return pytest.param(build, feed, like, words, id=name)


SCATTERED = {
    "padded": ROWS[:2, :3],
    "words": (column([1, 2]), [[2]]),
    "one": (column([5, 6], "float32"), [[2]]),
}
FAR = (BOXES + 50, [[3]])  # overlaps nothing, either

DOUBTFUL = [
    doubt(
        "sequences of labels",
        lambda v: crf(v.x, v.tags),
        {**X, "tags": (WORDS, [[2, 3]])},
        {"x": (ROWS, [[2, 3]]), "tags": (WORDS, [[2, 3]])},
        "lengths [[3, 2]], got [[2, 3]]: those of Label count",
    ),
    doubt(
        "labels of no path",
        lambda v: path(v, label=v.words),
        {**X_AND_TAGS, "words": (column([9] * 5), LENGTHS)},
        {**X_AND_TAGS, "words": (column([-1] * 5), LENGTHS)},
        "labels in [0, 4)",
        "in sequence 0 of Label: no path has it",
    ),
    doubt(
        "negative tags",
        chunks,
        {**WORDS_AND_TAGS, "words": (column([0, 1, -2, 2, 3]), LENGTHS)},
        {**WORDS_AND_TAGS, "words": (column([0, 1, 0, 2, 3]), LENGTHS)},
        "tags in [0, 4]",
        "in Inference, got -2",
    ),
    doubt(
        "more texts than compared",
        lambda v: layers.edit_distance(v.words, v.tags)[0],
        {"words": (WORDS[:3], [[2, 1]]), "tags": (WORDS, [[2, 1, 2]])},
        {"words": (WORDS[:3], [[2, 1]]), "tags": (WORDS[:3], [[2, 1]])},
        "got 2 and 3: the first count",
    ),
    doubt(
        "more prefixes than scores",
        search,
        beams(pre_ids=(column([1, 1, 0]), [[1, 2], [1, 1, 1]])),
        beams(),
        "pre_ids of 2 prefixes, as scores has, got 3",
    ),
    doubt(
        "more rows than updates",
        scattered,
        SCATTERED,
        {**SCATTERED, "words": (column([1, 2]), [[2, 0]]), "one": (SCATTERED["one"][0], [[2, 0]])},
        "Ids with 2 sequences",
        "got 1: the last rows stay as they are",
    ),
    doubt(
        "more images than boxes have",
        lambda v: layers.box_clip(v.boxes, v.size),
        {"boxes": (BOXES, [[3]]), "size": np.repeat(SIZE, 2, 0)},
        {"boxes": (BOXES, [[3]]), "size": SIZE},
        "ImInfo of 1 images, as Input has, got 2",
    ),
    doubt(
        "true boxes upside down",
        targets,
        truth(truth=(UPSIDE_DOWN, [[3]])),
        truth(truth=FAR),
        "left <= right and top <= bottom, got [4.0, 4.0, 0.0, 0.0] in row 0",
        "GtBoxes",
    ),
    doubt(
        "true boxes of regions upside down",
        labels,
        proposals(truth=(UPSIDE_DOWN, [[3]]), boxes=(ANCHORS[1:2], [[1]])),
        proposals(
            truth=(BOXES[:0], [[0]]),
            crowd=(column([], "int32"), [[0]]),
            classes=(column([], "int32"), [[0]]),
            boxes=(ANCHORS, [[4]]),
        ),
        "left <= right and top <= bottom",
    ),
    doubt(
        "an image without pixels",
        regions,
        truth(size=SIZE * 0),
        truth(size=np.array([[0.2, 0.2, 1]], "float32")),
        "positive heights, widths and scales, got [0.0, 0.0, 0.0]",
        "has no regions",
    ),
]


@pytest.mark.parametrize("build, feed, like, words", DOUBTFUL)
def test_what_fluid_computes_with_is_computed_and_said_to_be_doubtful(build, feed, like, words):
    used = Variables()
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        build(used)
    found, said = outcome(build, {name: feed[name] for name in used})
    again, _ = outcome(build, {name: like[name] for name in used})
    np.testing.assert_array_equal(found, again)
    said = [each for each in said if re.search(r"built at .*sequence_\w+.py:\d+", each)]
    assert len(said) == 1, said
    assert [word for word in words if word not in said[0]] == [], said[0]


def test_a_doubt_is_told_once_and_not_where_there_is_none():
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        v = Variables()
        out = layers.box_clip(v.boxes, v.size)
    exe, boxes = fluid.Executor(), fluid.create_lod_tensor(BOXES, [[3]])
    for size, count in ((SIZE, 0), (np.repeat(SIZE, 2, 0), 1), (np.repeat(SIZE, 3, 0), 0)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            exe.run(main, feed={"boxes": boxes, "size": size}, fetch_list=[out], return_numpy=False)
        assert len(said) == count


EMPTY, NONE = [[0, 5]], [[0, 0]]  #: lengths: the first sequence is empty; both are
KEPT = {  # what keeps sequences as they are
    "sequence_conv": lambda v: layers.sequence_conv(v.x, 3),
    "sequence_reverse": lambda v: layers.sequence_reverse(v.x),
    "row_conv": lambda v: layers.row_conv(v.x, 2),
    "dynamic_lstm": lambda v: layers.dynamic_lstm(v.x, 4)[0],
    "dynamic_lstmp": lambda v: layers.dynamic_lstmp(v.x, 4, 3)[0],
    "dynamic_gru": lambda v: layers.dynamic_gru(layers.fc(v.x, 6), 2),
    "sequence_softmax": lambda v: layers.sequence_softmax(layers.fc(v.x, 1)),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("lengths", [EMPTY, NONE])
def test_empty_sequences_stay_empty(name, lengths):
    rows = ROWS[: lengths[0][1]]
    found, _ = outcome(KEPT[name], {"x": (rows, lengths)})
    assert found.recursive_sequence_lengths() == lengths
    assert len(np.array(found)) == len(rows)
    if len(rows):
        alone, _ = outcome(KEPT[name], {"x": (rows, [[5]])})
        np.testing.assert_array_equal(found, alone)


@pytest.mark.parametrize("pool", ["sum", "average", "sqrt", "max", "first", "last"])
@pytest.mark.parametrize("lengths", [EMPTY, NONE])
def test_empty_sequences_are_pooled_to_the_given_value(pool, lengths):
    rows = ROWS[: lengths[0][1]]
    build = lambda v: layers.sequence_pool(v.x, pool, pad_value=7.0)
    found, _ = outcome(build, {"x": (rows, lengths)})
    assert np.array(found).shape == (2, 4)
    assert (np.array(found)[np.array(lengths[0]) == 0] == 7).all()
