"""Bad sequences, labels, beams and boxes are refused with what helps, and change nothing."""

import re

import numpy as np
import pytest
from sequence_cases import (
    BOXES,
    LENGTHS,
    LEVELS,
    ROWS,
    SIZE,
    TEXT,
    WORDS,
    WORDS_AND_TAGS,
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
from fluidlite.errors import (
    ArgumentError,
    AttributeValueError,
    FeedError,
    LoDError,
    OutOfRangeError,
    ShapeError,
)


def mistake(name, build, feed, error, *words, variable=None):
    """An entry of the table: what is raised, and words of its message."""
    return pytest.param(build, feed, error, words, variable, id=name)


def plain(layer, variable="x"):
    """An entry for a layer that is fed rows without sequences."""
    rows = {"x": ROWS, "six": np.ones([5, 6], "float32"), "one": ROWS[:, :1], "words": WORDS}
    return mistake(
        f"no LoD: {layer.__name__.strip('<>')} {variable}",
        lambda v: layer(v[variable]),
        {variable: rows[variable]},
        LoDError,
        "with sequences",
        "LoDTensor",
        variable=variable,
    )


def named(name, function):
    function.__name__ = name
    return function


def pad(x, **options):
    return layers.sequence_pad(x, layers.fill_constant([1], "float32", 0), **options)[0]


def cut(v):
    return layers.sequence_slice(v.x, v.offset, layers.ones_like(v.offset))


def sums(*inputs, start=None):
    """A DynamicRNN that adds up its inputs."""
    rnn = layers.DynamicRNN()
    with rnn.block():
        now = [rnn.step_input(x) for x in inputs]
        before = rnn.memory(shape=[4], value=0.0)
        total = before
        for x in now:
            total = total + x
        rnn.update_memory(before, total)
        rnn.output(total)
    return rnn()


def with_static(v):
    rnn = layers.DynamicRNN()
    with rnn.block():
        rnn.step_input(v.x)
        rnn.output(layers.sequence_pool(rnn.static_input(v.y), "sum"))
    return rnn()


REFUSED = [
    # no LoD where one is needed
    plain(named("sequence_pool", lambda x: layers.sequence_pool(x, "max"))),
    plain(layers.sequence_first_step),
    plain(layers.sequence_softmax, "one"),
    plain(named("sequence_conv", lambda x: layers.sequence_conv(x, 3))),
    plain(named("sequence_expand", lambda x: layers.sequence_expand(x, x))),
    plain(named("sequence_expand_as", lambda x: layers.sequence_expand_as(x, x))),
    plain(named("sequence_concat", lambda x: layers.sequence_concat([x, x]))),
    plain(named("sequence_pad", pad)),
    plain(named("sequence_reshape", lambda x: layers.sequence_reshape(x, 2))),
    plain(layers.sequence_reverse),
    plain(named("sequence_enumerate", lambda x: layers.sequence_enumerate(x, 2)), "words"),
    plain(named("row_conv", lambda x: layers.row_conv(x, 2))),
    plain(named("dynamic_lstm", lambda x: layers.dynamic_lstm(x, 4)[0])),
    plain(named("dynamic_lstmp", lambda x: layers.dynamic_lstmp(x, 4, 3)[0])),
    plain(named("dynamic_gru", lambda x: layers.dynamic_gru(x, 2)), "six"),
    plain(named("DynamicRNN", sums)),
    mistake(
        "no LoD: greedy decoding",
        lambda v: layers.ctc_greedy_decoder(v.x, 0),
        {"x": ROWS},
        LoDError,
        "Input with sequences",
        "LoDTensor",
    ),
    mistake(
        "no LoD: CRF",
        lambda v: crf(v.x, v.tags),
        {"x": ROWS, "tags": WORDS},
        LoDError,
        "Emission with sequences",
        variable="x",
    ),
    mistake(
        "no LoD: decoding",
        path,
        {"x": ROWS, "tags": WORDS},
        LoDError,
        "Emission with sequences",
        variable="x",
    ),
    mistake(
        "no LoD: CTC",
        lambda v: layers.warpctc(v.x, v.text),
        {**X, "text": TEXT[0]},
        LoDError,
        "Label with sequences",
        variable="text",
    ),
    mistake(
        "no LoD: chunks",
        chunks,
        {"words": (WORDS, LENGTHS), "tags": WORDS},
        LoDError,
        "Label with sequences",
        variable="tags",
    ),
    mistake(
        "no LoD: edit distance",
        lambda v: layers.edit_distance(v.words, v.tags)[0],
        {"words": WORDS, "tags": WORDS},
        LoDError,
        "Hyps with sequences",
        variable="words",
    ),
    mistake(
        "no LoD: static input",
        with_static,
        {**X, "y": ROWS},
        LoDError,
        "X with 2 rows",
        "5 rows and no LoD",
        "feed a LoDTensor",
        variable="y",
    ),
    mistake(
        "no LoD: lod_reset",
        lambda v: layers.lod_reset(v.x, v.y),
        {"x": ROWS, "y": ROWS},
        LoDError,
        "Y with sequences, or integers as offsets",
        "no LoD and float32",
        variable="y",
    ),
    mistake(
        "no LoD: beam search",
        search,
        beams(next=beams()["next"][0], chances=beams()["chances"][0]),
        LoDError,
        "scores with sequences on level 0",
        variable="chances",
    ),
    mistake(
        "no LoD: multiclass_nms",
        lambda v: layers.multiclass_nms(layers.reshape(v.boxes, [-1, 1, 4]), v.one, 0.1, 3, 3),
        {"boxes": BOXES, "one": ROWS[:3, :1]},
        LoDError,
        "Scores with a sequence for each image",
        "[N, M, 4]",
        variable="one",
    ),
    mistake(
        "no LoD: proposals of levels",
        lambda v: layers.distribute_fpn_proposals(v.boxes, 2, 4, 3, 4)[0][0],
        {"boxes": BOXES},
        LoDError,
        "FpnRois with sequences",
        variable="boxes",
    ),
    mistake(
        "no LoD: targets of anchors",
        targets,
        truth(truth=BOXES),
        LoDError,
        "GtBoxes with sequences",
        variable="truth",
    ),
    # levels that do not fit
    mistake(
        "levels: two in concat",
        lambda v: layers.sequence_concat([v.deep, v.deep]),
        {"deep": (ROWS, LEVELS)},
        LoDError,
        "1 level",
        "[[1, 1], [3, 2]]",
        "lod_reset",
    ),
    mistake(
        "levels: two in pad",
        lambda v: pad(v.deep),
        {"deep": (ROWS, LEVELS)},
        LoDError,
        "1 level",
        "lod_reset",
    ),
    mistake(
        "levels: one where two are read",
        lambda v: layers.sequence_first_step(layers.sequence_first_step(v.deep)),
        {"deep": (ROWS, LENGTHS)},
        LoDError,
        "got no LoD",
    ),
    mistake(
        "levels: a reference beyond them",
        lambda v: layers.sequence_expand(v.y, v.x, ref_level=3),
        {**X, "y": (ROWS[:2])},
        LoDError,
        "one of the 1 levels of Y",
        "got 3",
    ),
    mistake(
        "levels: a negative reference",
        lambda v: layers.sequence_expand(v.y, v.x, ref_level=-2),
        None,
        AttributeValueError,
        "-1 for the innermost one; got -2",
    ),
    mistake(
        "levels: offsets that descend",
        lambda v: layers.lod_reset(v.x, target_lod=[0, 3, 2, 5]),
        None,
        AttributeValueError,
        "ascend from 0",
        "[0, 2, 5]",
    ),
    mistake(
        "levels: offsets not from 0",
        lambda v: layers.lod_append(v.x, [1, 5]),
        None,
        AttributeValueError,
        "ascend from 0",
    ),
    mistake(
        "levels: no level to append",
        lambda v: layers.lod_append(v.x, 1),
        None,
        ArgumentError,
        "expected level to be a variable or offsets",
    ),
    # lengths that do not add up
    mistake(
        "lengths: fed pair",
        lambda v: layers.sequence_first_step(v.x),
        {"x": [ROWS, [[3, 3]]]},
        FeedError,
        "'x'",
        "level 0 of the LoD covers 6 rows, there are 5",
    ),
    mistake(
        "lengths: more than padded",
        lambda v: layers.sequence_unpad(v.padded, v.n),
        {"padded": ROWS[:2, :3], "n": np.array([4, 1])},
        LoDError,
        "lengths from 0 to 3",
        "got [4, 1]",
        variable="n",
    ),
    mistake(
        "lengths: offsets end early",
        lambda v: layers.lod_reset(v.x, target_lod=[0, 2, 4]),
        X,
        LoDError,
        "offsets from 0 to 5",
        "covers 4 rows, there are 5",
    ),
    mistake(
        "lengths: too few places",
        lambda v: pad(v.x, maxlen=2),
        X,
        LoDError,
        "at least 3",
        "lengths [3, 2]",
        "got 2",
    ),
    mistake(
        "lengths: rows do not fill others",
        lambda v: layers.sequence_reshape(v.x, 8),
        X,
        LoDError,
        "sequence 0 with 12 numbers",
        "[3, 2]",
    ),
    mistake(
        "lengths: a slice beyond",
        cut,
        {**X, "offset": column([1, 2])},
        LoDError,
        "sequence 1 of X, which has 2 (lengths [3, 2])",
        "1 rows from row 2",
    ),
    mistake(
        "lengths: fewer rows to expand",
        lambda v: layers.sequence_expand(v.y, v.x),
        {**X, "y": ROWS[:3]},
        LoDError,
        "X with 2 rows",
        "lengths [3, 2]",
        "got 3",
    ),
    mistake(
        "lengths: other rows to expand",
        lambda v: layers.sequence_expand_as(v.y, v.x),
        {**X, "y": ROWS[:3]},
        LoDError,
        "X with 2 rows",
        "lengths [3, 2]",
        "got 3",
    ),
    mistake(
        "lengths: sequences to join",
        lambda v: layers.sequence_concat([v.x, v.y]),
        {**X, "y": (ROWS, [[5]])},
        LoDError,
        "equally many sequences, got [2, 1]",
    ),
    mistake(
        "lengths: step inputs",
        lambda v: sums(v.x, v.y),
        {**X, "y": (ROWS[:3], [[2, 1]])},
        ShapeError,
        "expected 5 rows, as the rank table says, got 3",
        variable="y",
    ),
    mistake(
        "lengths: labels of a CRF",
        lambda v: crf(v.x, v.tags),
        {**X, "tags": (WORDS[:3], [[2, 1]])},
        ShapeError,
        "a label for each of 5 rows, got 3 in Label",
    ),
    mistake(
        "lengths: padded CRF",
        lambda v: crf(v.wide, v.wide_tags, length=v.n1),
        {
            "wide": np.ones([2, 3, 4], "float32"),
            "wide_tags": np.zeros([2, 3], "int64"),
            "n1": column([1, 4]),
        },
        OutOfRangeError,
        "in [0, 3], the padded size, in Length, got 4 for row 1",
    ),
    mistake(
        "lengths: chunks",
        chunks,
        {"words": (WORDS, LENGTHS), "tags": (WORDS, [[2, 3]])},
        ShapeError,
        "[[3, 2]] in Inference and [[2, 3]] in Label",
    ),
    mistake(
        "lengths: texts to compare",
        lambda v: layers.edit_distance(v.words, v.tags)[0],
        {"words": (WORDS, [[2, 2, 1]]), "tags": (WORDS, LENGTHS)},
        ShapeError,
        "as many texts in Hyps as in Refs, got 3 and 2",
    ),
    mistake(
        "lengths: CTC",
        lambda v: layers.warpctc(v.x, v.text),
        {**X, "text": (TEXT[0], [[1, 1, 1]])},
        LoDError,
        "as many sequences in Label as in Logits, got 3 and 2",
    ),
    mistake(
        "lengths: first states",
        lambda v: layers.dynamic_lstm(v.x, 4, h_0=v.state, c_0=v.state)[0],
        {**X, "state": ROWS[:3, :1]},
        ShapeError,
        "H0 with 2 rows, one for each sequence, got [3, 1]",
        variable="state",
    ),
    mistake(
        "lengths: levels of a pyramid",
        lambda v: layers.collect_fpn_proposals([v.boxes, v.truth], [v.scores] * 2, 2, 3, 4),
        {"boxes": (BOXES, [[3]]), "truth": (BOXES, [[2, 1]]), "scores": (ROWS[:3, :1], [[3]])},
        LoDError,
        "MultiLevelRois[1] of 1 sequences, one for each image, got 2",
    ),
    mistake(
        "lengths: regions of more images",
        lambda v: layers.roi_align(v.map, v.boxes),
        {"boxes": (BOXES, [[2, 1]]), "map": np.ones([1, 2, 8, 8], "float32")},
        ShapeError,
        "3 regions in 1 images, got [2, 1] for each",
    ),
    # empty sequences where they have no meaning
    mistake(
        "empty: a text to divide by",
        lambda v: layers.edit_distance(v.words, v.tags)[0],
        {"words": (WORDS, LENGTHS), "tags": (WORDS, [[0, 5]])},
        ShapeError,
        "number 0; leave it out, or set normalized=False",
    ),
    mistake(
        "empty: no step at all",
        lambda v: sums(v.x),
        {"x": (ROWS[:0], [[0, 0]])},
        OutOfRangeError,
        "sequences that are all empty have no steps",
    ),
    # labels outside the tags
    mistake(
        "labels: CRF",
        lambda v: crf(v.x, v.tags),
        {**X, "tags": (column([0, 1, 2, 4, 0]), LENGTHS)},
        OutOfRangeError,
        "labels in [0, 4), the tags that Transition has, got 4 in sequence 1 of Label",
    ),
    mistake(
        "labels: negative in a CRF",
        lambda v: crf(v.x, v.tags),
        {**X, "tags": (column([0, -1, 2, 3, 0]), LENGTHS)},
        OutOfRangeError,
        "got -1 in sequence 0 of Label",
    ),
    mistake(
        "labels: chunks",
        chunks,
        {**WORDS_AND_TAGS, "words": (column([0, 1, 2, 9, 0]), LENGTHS)},
        OutOfRangeError,
        "tags in [0, 4]",
        "in Inference, got 9",
    ),
    mistake(
        "labels: CTC",
        lambda v: layers.warpctc(v.x, v.text),
        {**X, "text": (column([1, 2, 4], "int32"), [[2, 1]])},
        OutOfRangeError,
        "labels in [0, 4), the columns of Logits, got 4 in text 1 of Label",
    ),
    mistake(
        "labels: blank",
        lambda v: layers.warpctc(v.x, v.text, blank=4),
        None,
        AttributeValueError,
        "blank in [0, 4), the columns of Logits, got 4",
    ),
    mistake(
        "labels: classes of boxes",
        labels,
        proposals(classes=(column([1, 5, 1], "int32"), [[3]])),
        OutOfRangeError,
        "GtClasses in [0, 3), as class_nums says, got 5",
    ),
    mistake(
        "labels: paths of a tree",
        lambda v: layers.gather_tree(v.ids, v.parents),
        {"ids": np.ones([2, 1, 2], "int64"), "parents": np.full([2, 1, 2], 5)},
        OutOfRangeError,
        "Parents in [0, 2), got 5",
    ),
    # beams
    mistake(
        "beam: zero", lambda v: search(v, 0), None, ArgumentError, "beam_size of at least 1, got 0"
    ),
    mistake(
        "beam: negative",
        lambda v: search(v, -1),
        None,
        ArgumentError,
        "beam_size of at least 1, got -1",
    ),
    mistake(
        "beam: too few prefixes",
        search,
        beams(pre_ids=(column([1]), [[1], [1]])),
        ShapeError,
        "got 1 prefixes and 2 rows",
    ),
    # boxes and what they are relative to
    mistake(
        "boxes: levels upside down",
        lambda v: layers.distribute_fpn_proposals(v.boxes, 4, 2, 3, 4),
        None,
        ArgumentError,
        "max_level above min_level, got levels 4 to 2",
    ),
    mistake(
        "boxes: sizes upside down",
        lambda v: layers.prior_box(v.map, v.map, [8.0], [4.0])[0],
        None,
        AttributeValueError,
        "max_sizes above min_sizes, got [4.0] and [8.0]",
    ),
    mistake(
        "boxes: targets in an image without pixels",
        targets,
        truth(size=SIZE * 0),
        OutOfRangeError,
        "positive heights, widths and scales, got [0.0, 0.0, 0.0]",
    ),
]


@pytest.mark.parametrize("build, feed, error, words, variable", REFUSED)
def test_what_means_nothing_is_refused_with_what_helps(build, feed, error, words, variable):
    if feed is None:  # known when the program is built
        main = fluid.Program()
        with fluid.program_guard(main, fluid.Program()), pytest.raises(error) as caught:
            build(Variables())
        assert not [op for op in main.global_block().ops if op.type != "fill_constant"]
    else:
        with pytest.raises(error) as caught:
            outcome(build, feed)
    said = str(caught.value)
    assert [word for word in words if word not in said] == [], said
    if not isinstance(caught.value, FeedError):  # the user's line is that of the run
        assert re.search(r"at .*sequence_\w+.py:\d+", said), said
    if variable is not None:
        assert f"  {variable} " in said or f", {variable} " in said, said
