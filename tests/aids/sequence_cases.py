"""Programs on sequences, labels, beams and boxes, and what they are fed."""

import warnings

import numpy as np

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import FluidError

LENGTHS = [[3, 2]]
ROWS = np.random.default_rng(0).random([5, 4], "float32")
WORDS = np.array([[0], [1], [2], [3], [0]])
BOXES = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [6, 6, 9, 9]], "float32")
UPSIDE_DOWN = BOXES[:, [2, 3, 0, 1]]
ANCHORS = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [6, 6, 9, 9], [0, 0, 9, 9]], "float32")
SIZE = np.array([[10, 10, 1]], "float32")

WORDLIKE = ([None, 1], "int64", 1)
#: what variables are declared: shape, element type, levels
DECLARED = {
    "x": ([None, 4], "float32", 1),
    "y": ([None, 4], "float32", 1),
    "six": ([None, 6], "float32", 1),
    "one": ([None, 1], "float32", 1),
    "deep": ([None, 4], "float32", 2),
    "words": WORDLIKE,
    "tags": WORDLIKE,
    "text": ([None, 1], "int32", 1),
    "padded": ([2, 3], "float32", 0),
    "wide": ([2, 3, 4], "float32", 0),
    "wide_tags": ([2, 3], "int64", 0),
    "n": ([2], "int64", 0),
    "n1": ([2, 1], "int64", 0),
    "offset": ([None, 1], "int64", 0),
    "state": ([None, 1], "float32", 0),
    "ids": ([2, 1, 2], "int64", 0),
    "parents": ([2, 1, 2], "int64", 0),
    "boxes": ([None, 4], "float32", 1),
    "scores": ([None, 1], "float32", 1),
    "size": ([None, 3], "float32", 0),
    "map": ([1, 2, 8, 8], "float32", 0),
    "anchors": ([4, 4], "float32", 0),
    "moves": ([4, 4], "float32", 0),
    "truth": ([None, 4], "float32", 1),
    "crowd": ([None, 1], "int32", 1),
    "classes": ([None, 1], "int32", 1),
    "pre_ids": ([None, 1], "int64", 2),
    "pre_scores": ([None, 1], "float32", 2),
    "next": ([None, 3], "int64", 2),
    "chances": ([None, 3], "float32", 2),
}


class Variables(dict):
    """Variables by name, declared when they are asked for."""

    def __missing__(self, name):
        shape, dtype, levels = DECLARED[name]
        made = self[name] = fluid.data(name, shape, dtype, lod_level=levels)
        return made

    def __getattr__(self, name):
        return self[name]


def fed_as(value):
    """What is fed: a LoDTensor for a pair; a list stands for a pair that is fed as it is."""
    if type(value) is tuple:
        return fluid.create_lod_tensor(*value)
    return tuple(value) if type(value) is list else value


def outcome(build, feed):
    """What a program computes, and what is said; values of the scope stay as they are."""
    main, startup = fluid.Program(), fluid.Program()
    exe, scope = fluid.Executor(), fluid.Scope()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        main.random_seed = startup.random_seed = 1
        out = build(Variables())
        counter = layers.create_global_var([1], 0.0, "float32", persistable=True)
        layers.increment(counter)  # stays 0 where the run fails
    with fluid.scope_guard(scope):
        exe.run(startup)
        held = {v.name: v for v in main.list_vars() if v.persistable}
        before = {name: np.array(scope.find_var(name).get_tensor()) for name in held}
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                fed = {name: fed_as(value) for name, value in feed.items()}
                (found,) = exe.run(main, feed=fed, fetch_list=[out], return_numpy=False)
                return found, [str(each.message) for each in said]
        except FluidError:
            for name, value in before.items():
                np.testing.assert_array_equal(scope.find_var(name).get_tensor(), value)
            raise


def column(values, dtype="int64"):
    return np.array(values, dtype).reshape(-1, 1)


def crf(x, tags, **options):
    return layers.linear_chain_crf(x, tags, fluid.ParamAttr("transition"), **options)


def path(v, **options):
    crf(v.x, v.tags)
    return layers.crf_decoding(v.x, fluid.ParamAttr("transition"), **options)


def chunks(v):
    return layers.chunk_eval(v.words, v.tags, "IOB", 2)[0]


def search(v, beam=2):
    return layers.beam_search(v.pre_ids, v.pre_scores, v.next, v.chances, beam_size=beam, end_id=0)[
        0
    ]


def beams(**other):
    """What a search is fed: two sources of one prefix each."""
    two = [[1, 1], [1, 1]]
    chances = np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4]], "float32")
    return {
        "pre_ids": (column([1, 1]), two),
        "pre_scores": (column([0, 0], "float32"), two),
        "next": (np.array([[1, 2, 3], [4, 5, 6]]), two),
        "chances": (chances, two),
        **other,
    }


def targets(v):
    return layers.rpn_target_assign(
        layers.reshape(v.moves, [1, 4, 4]),
        layers.reshape(layers.reduce_sum(v.moves, 1), [1, 4, 1]),
        v.anchors,
        v.moves,
        v.truth,
        v.crowd,
        v.size,
        use_random=False,
    )[2]


def labels(v):
    return layers.generate_proposal_labels(
        v.boxes, v.classes, v.crowd, v.truth, v.size, 4, class_nums=3, use_random=False
    )[1]


def truth(**other):
    """What detection with true boxes is fed."""
    three = [[3]]
    return {
        "anchors": ANCHORS,
        "moves": np.ones([4, 4], "float32"),
        "truth": (BOXES, three),
        "crowd": (column([0, 0, 0], "int32"), three),
        "size": SIZE,
        **other,
    }


def proposals(**other):
    given = {"boxes": (ANCHORS, [[4]]), "classes": (column([1, 2, 1], "int32"), [[3]]), **other}
    fed = truth(**given)
    return {name: value for name, value in fed.items() if name not in ("anchors", "moves")}


X, WORDS_AND_TAGS = {"x": (ROWS, LENGTHS)}, {"words": (WORDS, LENGTHS), "tags": (WORDS, LENGTHS)}
X_AND_TAGS = {**X, "tags": (WORDS, LENGTHS)}
TEXT = (column([1, 2, 3], "int32"), [[2, 1]])
LEVELS = [[1, 1], [3, 2]]
