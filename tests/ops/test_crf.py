"""Chains of labels against sums over all of them."""

import itertools

import numpy as np
import pytest

from fluidlite.backend import numpy_
from fluidlite.errors import LoDError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval

LOD = ((0, 3, 3, 4, 8),)


def run(type, **ins):
    return Eval(numpy_).apply(lookup(type)(), ins)


def score(emission, transition, labels):
    found = transition[0, labels[0]] + transition[1, labels[-1]]
    found += sum(emission[t, k] for t, k in enumerate(labels))
    return found + sum(transition[2 + a, b] for a, b in itertools.pairwise(labels))


def all_scores(emission, transition):
    tags = range(emission.shape[1])
    return {
        labels: score(emission, transition, labels)
        for labels in itertools.product(tags, repeat=len(emission))
    }


def example(seed, rows=8, tags=3, scale=1.0):
    rng = np.random.default_rng(seed)
    emission = rng.normal(size=[rows, tags]) * scale
    return emission, rng.normal(size=[tags + 2, tags]) * scale, rng.integers(0, tags, [rows, 1])


@pytest.mark.parametrize("scale", [1.0, 3000.0], ids=["near", "far"])
def test_the_cost_is_that_of_the_labels_among_all_chains(scale):
    emission, transition, labels = example(0, scale=scale)
    found = run(
        "linear_chain_crf",
        Emission=LoDTensor(emission, LOD),
        Transition=transition,
        Label=LoDTensor(labels, LOD),
    )["LogLikelihood"]
    for k, (a, b) in enumerate(itertools.pairwise(LOD[0])):
        if a == b:
            assert found[k, 0] == 0
            continue
        scores = all_scores(emission[a:b], transition)
        values = np.array(list(scores.values()))
        whole = values.max() + np.log(np.exp(values - values.max()).sum())
        right = whole - scores[tuple(labels[a:b, 0])]
        np.testing.assert_allclose(found[k, 0], right, 1e-9, 1e-9)


@pytest.mark.parametrize("scale", [1.0, 300.0], ids=["near", "far"])
def test_the_gradient_is_how_often_labels_occur_less_the_given_ones(scale):
    emission, transition, labels = example(1, scale=scale)
    ins = dict(
        Emission=LoDTensor(emission, LOD), Transition=transition, Label=LoDTensor(labels, LOD)
    )
    outs = run("linear_chain_crf", **ins)
    flow = np.array([[1.0], [5.0], [2.0], [0.5]])
    given = {**ins, **{k: outs[k] for k in ("Alpha", "EmissionExps", "TransitionExps")}}
    given["LogLikelihood@GRAD"] = flow
    found = run("linear_chain_crf_grad", **given)
    right, of_transition = np.zeros_like(emission), np.zeros_like(transition)
    for k, (a, b) in enumerate(itertools.pairwise(LOD[0])):
        if a == b:
            continue
        scores = all_scores(emission[a:b], transition)
        most = max(scores.values())
        weights = {way: np.exp(value - most) for way, value in scores.items()}
        whole = sum(weights.values())
        shares = {way: weight / whole for way, weight in weights.items()}
        shares[tuple(labels[a:b, 0])] -= 1
        for way, share in shares.items():
            share *= flow[k, 0]
            of_transition[0, way[0]] += share
            of_transition[1, way[-1]] += share
            for t, label in enumerate(way):
                right[a + t, label] += share
            for one, other in itertools.pairwise(way):
                of_transition[2 + one, other] += share
    np.testing.assert_allclose(bare(found["Emission@GRAD"]), right, 1e-9, 1e-9)
    np.testing.assert_allclose(found["Transition@GRAD"], of_transition, 1e-9, 1e-9)


def test_the_path_is_the_best_of_all_chains():
    emission, transition, _ = example(2)
    path = run("crf_decoding", Emission=LoDTensor(emission, LOD), Transition=transition)
    path = path["ViterbiPath"]
    assert path.offsets == LOD
    for a, b in itertools.pairwise(LOD[0]):
        if a < b:
            scores = all_scores(emission[a:b], transition)
            assert tuple(path.data[a:b, 0]) == max(scores, key=scores.get)


def test_padded_chains_are_those_of_their_rows():
    emission, transition, labels = example(3, rows=8)
    lod = ((0, 4, 6),)
    padded = dict(Emission=emission.reshape(2, 4, 3), Transition=transition)
    padded |= dict(Label=labels.reshape(2, 4, 1), Length=np.array([[4], [2]]))
    rows = dict(Emission=LoDTensor(emission[:6], lod), Transition=transition)
    rows |= dict(Label=LoDTensor(labels[:6], lod))
    one, other = run("linear_chain_crf", **padded), run("linear_chain_crf", **rows)
    np.testing.assert_allclose(one["LogLikelihood"], other["LogLikelihood"])
    one, other = run("crf_decoding", **padded), run("crf_decoding", **rows)
    np.testing.assert_array_equal(
        one["ViterbiPath"].reshape(-1)[:6], other["ViterbiPath"].data[:, 0]
    )
    assert not one["ViterbiPath"][1, 2:].any()


def test_what_does_not_fit_is_named():
    emission, transition, labels = example(4)
    crf = lookup("linear_chain_crf")
    sequences = dict(Emission=LoDTensor(emission, LOD), Transition=transition)
    labels[2] = 7
    with pytest.raises(OutOfRangeError, match=r"labels in \[0, 3\).*got 7 in sequence 0 of Label"):
        Eval(numpy_).apply(crf(), {**sequences, "Label": LoDTensor(labels, LOD)})
    with pytest.raises(ShapeError, match="a label for each of 8 rows, got 7"):
        Eval(numpy_).apply(crf(), {**sequences, "Label": labels[:7]})
    with pytest.raises(LoDError, match="expected Emission with sequences, got no LoD"):
        Eval(numpy_).apply(crf(), dict(sequences, Emission=emission, Label=labels))
    padded = dict(Emission=emission.reshape(2, 4, 3), Transition=transition)
    padded |= dict(Label=labels.reshape(2, 4), Length=np.array([4, 5]))
    with pytest.raises(OutOfRangeError, match=r"lengths in \[0, 4\].*got 5 for row 1"):
        Eval(numpy_).apply(crf(), padded)
