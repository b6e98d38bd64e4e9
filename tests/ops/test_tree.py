"""Convolution over trees, node by node."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
EDGES = [[1, 2], [1, 3], [1, 4], [2, 5], [2, 6], [3, 7], [0, 0]]


def window(node, depth):
    """Nodes below a node, with depth and place among their siblings; by recursion."""
    yield node, 0, 0.5
    yield from inner(node, 1, depth)


def inner(node, below, depth):
    if below == depth:
        return
    children = [b for a, b in EDGES if a == node and a]
    for k, child in enumerate(children):
        yield child, below, k / (len(children) - 1) if len(children) > 1 else 0.5
        yield from inner(child, below + 1, depth)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_windows_mix_three_matrices_by_place(depth):
    x, w = rng.normal(size=[1, 8, 3]), rng.normal(size=[3, 3, 4, 2])
    found = f.tree_conv(x, np.array([EDGES]), w, max_depth=depth)
    for node in range(1, 8):
        wanted = np.zeros([4, 2])
        for other, below, place in window(node, depth):
            top = (depth - below) / depth
            right = (1 - top) * place
            shares = [right, (1 - top) * (1 - right), top] if below else [0, 0, 1]
            for k in range(3):
                wanted += shares[k] * np.einsum("f,fom->om", x[0, other - 1], w[:, k])
        np.testing.assert_allclose(found[0, node - 1], wanted)
    assert not found[0, 7].any()  # is not in the tree


def test_a_node_without_features_is_refused():
    x, w = np.ones([1, 2, 3]), np.ones([3, 3, 4, 2])
    with pytest.raises(OutOfRangeError, match=r"nodes in \[1, 2\].*got the edge \[1, 3\]"):
        f.tree_conv(x, np.array([[[1, 3]]]), w)


def test_a_window_has_two_layers_at_least():
    given = dict(NodesVector=[1, 2, 3], Filter=[3, 3, 4, 2])
    specs = {slot: (shape, "float32") for slot, shape in given.items()}
    with pytest.raises(AttributeValueError, match="expected max_depth of at least 2, got 1"):
        infer("tree_conv", dict(max_depth=1), **specs, EdgeSet=([1, 4, 2], "int32"))
