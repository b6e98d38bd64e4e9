"""Functions of ``flow`` give what torch gave for the same numbers: values, and gradients."""

import ast
import pathlib
import re

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow

F = flow.nn.functional
RECORDED = pathlib.Path(__file__).parents[1] / "data" / "flow_by_torch.txt"
CASES = [
    line.split(" -> ")
    for line in RECORDED.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
CONSTANT = {"mean4", "var4", "signs", "wc"}  # torch has no gradient for these


def wave(*shape, by=1.3):
    return np.sin(np.arange(np.prod(shape), dtype="float64") * by + 0.7).reshape(shape)


def share(*shape):
    return (wave(*shape, by=0.9) + 1.2) / 2.4


def inputs():
    arrays = {
        "a": wave(3, 4),
        "b": wave(3, 4, by=0.7),
        "p": share(3, 4),
        "q": share(3, 4)[::-1],
        "slope": wave(1),
        "slopes": wave(4) + 1.5,
        "wc": wave(4) + 1.5,
        "bias3": wave(3),
        "w34": wave(3, 4, by=2.1),
        "table": wave(3, 2),
        "ids": np.array([[0, 2], [1, 0]]),
        "mean4": wave(4) / 4,
        "var4": wave(4) + 1.5,
        "img": wave(2, 4, 5, 6),
        "seq": wave(2, 4, 7),
        "vol": wave(1, 4, 3, 4, 3),
        "k1": wave(3, 4, 3),
        "k2": wave(3, 4, 2, 3),
        "k3": wave(3, 4, 2, 2, 3),
        "kt1": wave(4, 3, 3),
        "kt2": wave(4, 3, 2, 3),
        "kt3": wave(4, 3, 2, 3, 2),
        "depth": wave(4, 2, 2, 2),
        "signs": np.where(wave(3, 4, by=0.4) > 0, 1.0, -1.0),
        "labels": np.array([0, 2, 3]),
        "pixels": np.arange(60).reshape(2, 5, 6) % 4,
        "index": np.array([[0, 3], [1, 1], [2, 0]]),
    }
    made = {name: flow.tensor(array) for name, array in arrays.items()}
    for name, tensor in made.items():
        tensor.requires_grad = arrays[name].dtype.kind == "f" and name not in CONSTANT
    return made


def digest(values):
    return (values.ravel() * np.cos(np.arange(values.size))).sum()


@pytest.mark.parametrize("expression, expected", CASES, ids=[case[0] for case in CASES])
def test_values_and_gradients_are_those_of_torch(expression, expected):
    shape, value, slope = re.fullmatch(r"(\[.*\]) (\S+) (\S+)", expected).groups()
    given = inputs()
    out = eval(expression, {**given, "F": F, "flow": flow})
    assert out.shape == ast.literal_eval(shape)
    assert digest(out.numpy()) == pytest.approx(float(value), abs=2e-6)
    if slope == "None":
        assert not out.requires_grad
        return
    weights = np.cos(np.arange(out.array.size, dtype="float64")).reshape(out.array.shape)
    (out * flow.tensor(weights)).sum().backward()
    named = [given[name] for name in re.findall(r"\b[a-z]\w*\b", expression) if name in given]
    first = next(tensor.grad for tensor in named if tensor.grad is not None)
    assert digest(first.numpy()) == pytest.approx(float(slope), abs=2e-6)


SMOOTH = {
    "asinh": (flow.asinh, 0.0),
    "acosh": (flow.acosh, 2.5),
    "atanh": (lambda x: flow.atanh(x * 0.5), 0.0),
    "erfc": (flow.erfc, 0.0),
    "exp2": (flow.exp2, 0.0),
    "logsigmoid": (flow.logsigmoid, 0.0),
    "softplus": (lambda x: F.softplus(x, 2.0), 0.0),
    "normalize": (lambda x: F.normalize(x, dim=0), 2.0),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), 0.0),
    "cross_entropy": (lambda x: F.cross_entropy(x, flow.tensor([1, 0, 3]), label_smoothing=0.2), 0),
    "triplet": (lambda x: F.triplet_margin_loss(x, x * 0.5, x * x, 9.0), 0.0),
    "avg_pool": (lambda x: F.avg_pool1d(x * x, 2, 1, 1), 0.0),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_two_orders_agree_with_differences(name):
    function, offset = SMOOTH[name]
    x = flow.tensor(wave(3, 4) + offset)
    assert fluid.gradcheck(function, [x], order=2).ok
