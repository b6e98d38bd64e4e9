"""The training steps that ``steps.py`` times: sizes, first values, and batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
BATCHES = 4  # that take turns, so that no step learns one batch by heart

#: what each problem is measured with
FULL: dict[str, dict[str, int]] = {
    "fit_a_line": dict(batch=20, features=13),
    "mnist_mlp": dict(batch=64, pixels=784, hidden=200, classes=10),
    "lenet": dict(batch=64, size=28, first=20, second=50, filter=5, classes=10),
    "word2vec": dict(batch=100, words=4, vocabulary=2000, width=32, hidden=256),
    "lstm": dict(batch=32, steps=20, width=64, hidden=128, classes=10),
    "resnet": dict(batch=32, size=32, first=16, second=32, third=64, classes=10),
    "transformer": dict(batch=16, steps=32, width=64, heads=4, hidden=256, classes=10),
    "gpt_block": dict(batch=8, steps=64, width=384, heads=12, hidden=1536, classes=10),
    "mobilenet_block": dict(batch=32, size=32, width=32, hidden=96, classes=10),
}
#: what shows that everything runs and agrees; no two sizes of a problem are alike where they can
#: differ, so that none is taken for another
SMALL: dict[str, dict[str, int]] = {
    "fit_a_line": dict(batch=5, features=3),
    "mnist_mlp": dict(batch=6, pixels=11, hidden=7, classes=4),
    "lenet": dict(batch=3, size=16, first=2, second=5, filter=5, classes=4),
    "word2vec": dict(batch=6, words=4, vocabulary=13, width=3, hidden=5),
    "lstm": dict(batch=3, steps=4, width=5, hidden=6, classes=2),
    "resnet": dict(batch=3, size=8, first=4, second=5, third=6, classes=7),
    "transformer": dict(batch=3, steps=5, width=8, heads=2, hidden=7, classes=4),
    "gpt_block": dict(batch=3, steps=5, width=8, heads=2, hidden=7, classes=4),
    "mobilenet_block": dict(batch=3, size=8, width=4, hidden=6, classes=5),
}
#: the rate of learning
RATES = dict(
    fit_a_line=0.01,
    mnist_mlp=1e-3,
    lenet=1e-3,
    word2vec=0.1,
    lstm=1e-3,
    resnet=0.01,
    transformer=1e-3,
    gpt_block=1e-3,
    mobilenet_block=0.01,
)


@dataclass(frozen=True)
class Problem:
    """A training step to time.

    Args:
        name: one of ``FULL``.
        sizes: by what they are sizes of.
        rate: the rate of learning.
        dtype: of parameters and features, float32 or float64.
        start: first values of the parameters by name, laid out as in fluid 1.8.
        feeds: batches, by name; images are NCHW, sequences [steps, batch, width].
    """

    name: str
    sizes: Mapping[str, int]
    rate: float
    dtype: str
    start: Mapping[str, Array]
    feeds: Sequence[Mapping[str, Array]]


def problem(name: str, small: bool = False, dtype: str = "float32", batches: int = 1) -> Problem:
    """The problem of a name, the same at every call.

    Args:
        name: one of ``FULL``.
        small: sizes that show that it works.
        dtype: float32 or float64.
        batches: how many times as large the batch is; accelerators need large ones.
    """
    sizes = dict((SMALL if small else FULL)[name])
    sizes["batch"] *= batches
    rng = np.random.default_rng(7)
    start = {
        key: _first(rng, key, shape).astype(dtype) for key, shape in shapes(name, sizes).items()
    }
    feeds = [
        {
            key: rng.integers(0, high, shape)
            if high
            else rng.standard_normal(shape).astype(np.float32).astype(dtype)
            for key, (shape, high) in inputs(name, sizes).items()
        }
        for _ in range(BATCHES)
    ]
    return Problem(name, sizes, RATES[name], dtype, start, feeds)


def _first(rng: np.random.Generator, key: str, shape: tuple[int, ...]) -> Array:
    """Scales are near 1, biases small, and weights keep the size of what they are applied to."""
    if key.endswith("scale"):
        return rng.uniform(0.5, 1.5, shape)
    if len(shape) == 1:
        return rng.uniform(-0.1, 0.1, shape)
    inputs = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    # a row of a table is an input itself
    return rng.standard_normal(shape) / np.sqrt(1 if key == "table" else inputs)


def shapes(name: str, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters of a problem by name."""
    s = sizes
    if name == "fit_a_line":
        return dict(w=(s["features"], 1), b=(1,))
    if name == "mnist_mlp":
        return _dense(s["pixels"], s["hidden"], s["hidden"], s["classes"])
    if name == "lenet":
        first, second, k = s["first"], s["second"], s["filter"]
        edge = ((s["size"] - k + 1) // 2 - k + 1) // 2
        return {
            "c1": (first, 1, k, k),
            "cb1": (first,),
            "c2": (second, first, k, k),
            "cb2": (second,),
            **_dense(second * edge * edge, s["classes"]),
        }
    if name == "word2vec":
        dense = _dense(s["words"] * s["width"], s["hidden"], s["vocabulary"])
        return {"table": (s["vocabulary"], s["width"]), **dense}
    if name == "lstm":  # gates in the order input, forget, candidate, output
        gates = 4 * s["hidden"]
        cell = {"wx": (s["width"], gates), "wh": (s["hidden"], gates), "gb": (gates,)}
        return {**cell, **_dense(s["hidden"], s["classes"])}
    found: dict[str, tuple[int, ...]] = {}
    if name in ("transformer", "gpt_block"):
        w = s["width"]
        for key in "qkvo":
            found[f"w{key}"] = (w, w)
            if key != "k":  # a softmax makes nothing of it, so its steps would be of rounding alone
                found[f"b{key}"] = (w,)
        for key in ("n1", "n2"):
            found[f"{key}_scale"] = found[f"{key}_shift"] = (w,)
        return {
            **found,
            **_dense(w, s["hidden"], w),
            "w3": (w, s["classes"]),
            "b3": (s["classes"],),
        }
    if name == "mobilenet_block":
        for block in ("one", "two"):
            found[f"{block}_up"] = (s["hidden"], s["width"], 1, 1)
            found[f"{block}_deep"] = (s["hidden"], 1, 3, 3)
            found[f"{block}_down"] = (s["width"], s["hidden"], 1, 1)
            for part, count in (("up", "hidden"), ("deep", "hidden"), ("down", "width")):
                key = f"{block}_{part}"
                found[f"{key}_scale"] = found[f"{key}_shift"] = (s[count],)
        return {**found, **_dense(s["width"], s["classes"])}
    for key, (count, channels, k, _) in convolutions(s).items():
        found[key] = (count, channels, k, k)
        found[f"{key}_scale"] = found[f"{key}_shift"] = (count,)
    return {**found, **_dense(s["third"], s["classes"])}


def _dense(*widths: int) -> dict[str, tuple[int, ...]]:
    """Weights ``w1``, ``w2``, ... and biases ``b1``, ``b2``, ... of layers one after the other."""
    found: dict[str, tuple[int, ...]] = {}
    for number in range(1, len(widths)):
        found[f"w{number}"] = (widths[number - 1], widths[number])
        found[f"b{number}"] = (widths[number],)
    return found


def convolutions(sizes: Mapping[str, int]) -> dict[str, tuple[int, int, int, int]]:
    """Filters, channels, filter size and stride of the convolutions of ``resnet``.

    ``stem`` comes first; a block is ``a``, then ``b``, and ``short`` where the shape changes.
    """
    first, second, third = sizes["first"], sizes["second"], sizes["third"]
    return {
        "stem": (first, 3, 3, 1),
        "one_a": (first, first, 3, 1),
        "one_b": (first, first, 3, 1),
        "two_a": (second, first, 3, 2),
        "two_b": (second, second, 3, 1),
        "two_short": (second, first, 1, 2),
        "three_a": (third, second, 3, 2),
        "three_b": (third, third, 3, 1),
        "three_short": (third, second, 1, 2),
    }


def inputs(name: str, sizes: Mapping[str, int]) -> dict[str, tuple[tuple[int, ...], int]]:
    """Shapes of what is fed by name; for integers, the number that they stay below, else 0."""
    s = sizes
    n = s["batch"]
    if name == "fit_a_line":
        return {"x": ((n, s["features"]), 0), "y": ((n, 1), 0)}
    if name == "word2vec":
        words = {f"word{k}": ((n, 1), s["vocabulary"]) for k in range(s["words"])}
        return {**words, "y": ((n, 1), s["vocabulary"])}
    x = {
        "mnist_mlp": lambda: (n, s["pixels"]),
        "lenet": lambda: (n, 1, s["size"], s["size"]),
        "lstm": lambda: (s["steps"], n, s["width"]),
        "resnet": lambda: (n, 3, s["size"], s["size"]),
        "transformer": lambda: (n, s["steps"], s["width"]),
        "gpt_block": lambda: (n, s["steps"], s["width"]),
        "mobilenet_block": lambda: (n, s["width"], s["size"], s["size"]),
    }[name]()
    return {"x": (x, 0), "y": ((n, 1), s["classes"])}
