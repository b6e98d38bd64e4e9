"""Losses of probabilities are computed from the logits of their softmax."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers

jax = pytest.importorskip("jax")

ROWS, CLASSES = 6, 5


def fed(soft=False, logits=None):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, CLASSES, [ROWS, 1])
    labels[1] = -100
    if soft:
        labels = rng.dirichlet(np.ones(CLASSES), ROWS).astype("float32")
    x = rng.normal(size=[ROWS, CLASSES]).astype("float32") if logits is None else logits
    return {"x": x, "y": labels}


def built(loss_of, soft=False):
    """What is fetched of a loss of probabilities: they, it, and gradients."""
    x = fluid.data("x", [None, CLASSES], "float32")
    x.stop_gradient = False
    y = fluid.data("y", [None, CLASSES if soft else 1], "float32" if soft else "int64")
    p = layers.softmax(layers.scale(x, 2.0))
    loss = layers.mean(loss_of(p, y))
    return [p, loss, *fluid.gradients([loss], [x, p])]


LOSSES = {
    "hard": lambda p, y: layers.cross_entropy(p, y),
    "another number is ignored": lambda p, y: layers.cross_entropy(p, y + 1, ignore_index=2),
    "beside another loss": lambda p, y: layers.cross_entropy(p, y) + layers.square(p),
    "with logits": lambda p, y: layers.softmax_with_cross_entropy(layers.log(p), y),
}


def agree(fetched, feed):
    mine, right = (
        fluid.Executor(backend=each).run(feed=feed, fetch_list=fetched) for each in ("jax", "numpy")
    )
    for one, other in zip(mine, right, strict=True):
        np.testing.assert_allclose(one, other, 1e-5, 1e-5 * np.abs(other).max())


@pytest.mark.parametrize("loss_of", LOSSES.values(), ids=list(LOSSES))
def test_losses_by_indices_and_their_gradients_are_those_of_numpy(loss_of):
    feed = fed()
    if loss_of is LOSSES["another number is ignored"]:
        feed["y"] = np.abs(feed["y"]) % (CLASSES - 1)
    agree(built(loss_of), feed)


def test_losses_by_probabilities_are_those_of_numpy():
    fetched = built(lambda p, y: layers.cross_entropy(p, y, soft_label=True), soft=True)
    agree(fetched, fed(soft=True))


def test_logits_that_count_for_no_less_than_the_least_are_those_of_numpy():
    logits = np.zeros([ROWS, CLASSES], "float32")
    logits[:, 0] = np.array([0, 10, 31, 33, 100, 1e4])
    agree(built(LOSSES["hard"]), fed(logits=logits))


def needed(jaxpr):
    """The equations that results depend on."""
    wanted, found = {v for v in jaxpr.outvars if not hasattr(v, "val")}, []
    for each in reversed(jaxpr.eqns):
        if wanted.intersection(each.outvars):
            wanted.update(v for v in each.invars if not hasattr(v, "val"))
            found.append(each)
    return found


def test_a_gradient_is_not_divided_by_probabilities():
    _, loss, gradient, _ = built(LOSSES["hard"])
    program = fluid.default_main_program()
    function, parameters = fluid.jax.function(program, ["x", "y"], [loss, gradient])
    traced = jax.make_jaxpr(function)(parameters, fed())
    divided = [each for each in needed(traced.jaxpr) if each.primitive.name == "div"]
    rows = [each for each in divided if each.invars[1].aval.shape == (ROWS, 1)]
    # the softmax alone; without the rewriting also the gradient, by the element at each label
    assert len(rows) == 1
