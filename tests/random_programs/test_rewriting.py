"""Random programs compute the same after rules were applied to them that change nothing.

``python tests/tools/fuzz_rewriting.py`` does this for as many programs as one likes.
"""

import warnings

import pytest
from shares import share

import fluidlite as fluid
from fluidlite import layers
from fluidlite.transform import Rule, attributes, rewriting
from fluidlite.transform.equivalence import compare

from .program import batch, build, recipe


def are_alike(x, y):
    return x.spec == y.spec


def are_floats(x):
    return x.dtype.is_float


LAWS = [
    Rule(
        lambda x, w, b: layers.relu(x @ w + b),
        lambda x, w, b: layers.relu(layers.mul(x, w) + b),
        where=lambda x: len(x.shape) == 2,
        name="layer",
    ),
    Rule(
        lambda f, x, y: f.elementwise_add(x, y),
        lambda f, x, y: f.elementwise_add(y, x),
        where=are_alike,
        name="exchanged",
    ),
    Rule(lambda x: layers.tanh(x), lambda x: 2.0 * layers.sigmoid(2.0 * x) - 1.0, name="tanh"),
    Rule(lambda x: layers.square(x), lambda f, x: f.elementwise_mul(x, x), name="square"),
    Rule(lambda x: layers.mean(x), lambda x: layers.reduce_mean(x), name="mean"),
    Rule(lambda x: layers.relu(x), lambda x: layers.relu(layers.relu(x)), name="relu"),
    Rule(lambda x: layers.assign(x), lambda x: x, name="assign"),
    Rule(
        lambda x: attributes(layers.scale(x), by="scale", shift="bias"),
        lambda x, by, shift: layers.scale(layers.scale(x, by), bias=shift),
        where=are_floats,
        name="scale",
    ),
    Rule(
        lambda f, x: attributes(f.reduce_sum(x), ..., dim="dim", keep="keep_dim", all="reduce_all"),
        lambda f, x, dim, keep, all: f.reduce_sum(
            f.scale(x), dim=dim, keep_dim=keep, reduce_all=all
        ),
        where=are_floats,
        name="sum",
    ),
]


def rewritten(seed):
    """How many places of a random program were rewritten, after a look at what it gives."""
    built = build(fluid, recipe(seed))
    scope = fluid.Scope()
    fluid.Executor().run(built.startup, scope=scope)
    before = str(built.main)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # programs in double precision are others
        done = rewriting(built.main, LAWS, keep=[built.loss], rounds=1 + seed % 2)
        assert str(built.main) == before
        compare(built.main, done.program, batch(built, seed, 0), scope)
    return done.count


@pytest.mark.parametrize("seed", range(share(6)))
def test_laws_change_nothing_in_random_programs(seed):
    assert rewritten(seed) > 0
