"""The training steps on PyTensor, but for those with convolutions, which it does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from problems import Array, Problem, inputs

Values = Mapping[str, Any]


class Step:
    """A compiled function that updates shared variables where they lie."""

    def __init__(self, problem: Problem) -> None:
        builder = globals().get(f"_{problem.name}")
        if builder is None:
            raise NotImplementedError("PyTensor has no convolutions with filters of images")
        if "heads" in problem.sizes:
            builder = partial(builder, heads=problem.sizes["heads"])
        fed = {
            name: pt.tensor(name, dtype="int64" if high else problem.dtype, shape=shape)
            for name, (shape, high) in inputs(problem.name, problem.sizes).items()
        }
        self._values = {
            name: pytensor.shared(value, name=name, shape=value.shape)
            for name, value in problem.start.items()
        }
        self._states: list[Any] = []
        loss = builder(self._values, fed)
        values = list(self._values.values())
        gradients = pt.grad(loss, values)
        rate = np.asarray(problem.rate, problem.dtype)[()]
        if problem.name in ("fit_a_line", "word2vec"):
            updates = [(v, v - rate * d) for v, d in zip(values, gradients)]
        else:
            updates = self._adam(values, gradients, rate)
        self._run = pytensor.function(list(fed.values()), loss, updates=updates)
        self._run.trust_input = True
        self._names = list(fed)

    def _adam(self, values: list[Any], gradients: list[Any], rate: Any) -> list[Any]:
        number = type(rate)
        count = pytensor.shared(number(0), name="count")
        now = count + number(1)
        one = number(1)
        factor = rate * pt.sqrt(one - number(0.999) ** now) / (one - number(0.9) ** now)
        updates: list[Any] = [(count, now)]
        self._states = [count]
        for v, d in zip(values, gradients):
            zeros = np.zeros_like(v.get_value())
            mean, square = pytensor.shared(zeros), pytensor.shared(zeros.copy())
            self._states += [mean, square]
            new_mean = number(0.9) * mean + number(0.1) * d
            new_square = number(0.999) * square + number(0.001) * d * d
            step = factor * new_mean / (pt.sqrt(new_square) + number(1e-8))
            updates += [(mean, new_mean), (square, new_square), (v, v - step)]
        return updates

    def load(self, start: Mapping[str, Array]) -> None:
        for name, value in start.items():
            self._values[name].set_value(value)
        for state in self._states:
            state.set_value(np.zeros_like(state.get_value()))

    def step(self, feed: Mapping[str, Array]) -> float:
        return float(self._run(*[feed[name] for name in self._names]))

    def parameters(self) -> dict[str, Array]:
        return {name: value.get_value() for name, value in self._values.items()}


def _fit_a_line(v: Values, fed: Values) -> Any:
    return ((fed["x"] @ v["w"] + v["b"] - fed["y"]) ** 2).mean()


def _cost(scores: Any, label: Any) -> Any:
    logs = pt.special.log_softmax(scores, axis=1)
    return -logs[pt.arange(label.shape[0]), label[:, 0]].mean()


def _mnist_mlp(v: Values, fed: Values) -> Any:
    hidden = pt.maximum(fed["x"] @ v["w1"] + v["b1"], 0)
    hidden = pt.maximum(hidden @ v["w2"] + v["b2"], 0)
    return _cost(hidden @ v["w3"] + v["b3"], fed["y"])


def _word2vec(v: Values, fed: Values) -> Any:
    words = pt.concatenate([fed[f"word{k}"] for k in range(len(fed) - 1)], axis=1)
    found = v["table"][words].reshape((words.shape[0], -1))
    hidden = pt.sigmoid(found @ v["w1"] + v["b1"])
    return _cost(hidden @ v["w2"] + v["b2"], fed["y"])


def _lstm(v: Values, fed: Values) -> Any:
    hidden = v["wh"].get_value().shape[0]
    x = fed["x"]

    def cell(projected: Any, before: Any, c: Any, weight: Any) -> Any:
        gates = projected + before @ weight
        take, keep, new, show = (gates[:, k * hidden : (k + 1) * hidden] for k in range(4))
        c = pt.sigmoid(keep) * c + pt.sigmoid(take) * pt.tanh(new)
        return pt.sigmoid(show) * pt.tanh(c), c

    zeros = pt.zeros((x.type.shape[1], hidden), dtype=x.dtype)
    (outs, _) = pytensor.scan(
        cell,
        sequences=[x @ v["wx"] + v["gb"]],
        outputs_info=[zeros, zeros],
        non_sequences=[v["wh"]],
        return_updates=False,
    )
    return _cost(outs[-1] @ v["w1"] + v["b1"], fed["y"])


def _encoder(v: Values, fed: Values, heads: int, act: Callable[[Any], Any], first: bool) -> Any:
    n, t, w = fed["x"].type.shape

    def normed(x: Any, key: str) -> Any:
        x = x - x.mean(axis=1, keepdims=True)
        variance = (x * x).mean(axis=1, keepdims=True)
        return (
            x / pt.sqrt(variance + np.asarray(1e-5, x.dtype)) * v[f"{key}_scale"]
            + v[f"{key}_shift"]
        )

    def product(x: Any, weight: str, bias: str) -> Any:
        return x @ v[weight] + v[bias] if bias in v else x @ v[weight]

    def attention(x: Any) -> Any:
        q, k, u = (
            product(x, f"w{key}", f"b{key}")
            .reshape((n, t, heads, w // heads))
            .dimshuffle(0, 2, 1, 3)
            for key in "qkv"
        )
        scores = pt.matmul(q, k.dimshuffle(0, 1, 3, 2)) * np.asarray((w // heads) ** -0.5, x.dtype)
        mixed = pt.matmul(pt.special.softmax(scores, axis=3), u)
        return product(mixed.dimshuffle(0, 2, 1, 3).reshape((n * t, w)), "wo", "bo")

    def mlp(x: Any) -> Any:
        return product(act(product(x, "w1", "b1")), "w2", "b2")

    x = fed["x"].reshape((n * t, w))  # rows of words: one product, not n
    if first:
        x = x + attention(normed(x, "n1"))
        x = x + mlp(normed(x, "n2"))
    else:
        x = normed(x + attention(x), "n1")
        x = normed(x + mlp(x), "n2")
    return _cost(x.reshape((n, t, w)).mean(axis=1) @ v["w3"] + v["b3"], fed["y"])


def _transformer(v: Values, fed: Values, heads: int) -> Any:
    return _encoder(v, fed, heads, lambda x: pt.maximum(x, 0), False)


def _gpt_block(v: Values, fed: Values, heads: int) -> Any:
    def gelu(x: Any) -> Any:
        half, root = (np.asarray(number, x.dtype) for number in (0.5, 0.5**0.5))
        return half * x * (1 + pt.erf(x * root))

    return _encoder(v, fed, heads, gelu, True)


def describe() -> dict[str, Any]:
    """Version, threads and libraries.

    By itself it takes numba, with SciPy's BLAS: on one machine 4 us for fit_a_line where its C
    takes 10, and C has products of its own where it finds no BLAS to link to.
    """
    linker = type(pytensor.compile.mode.get_default_mode().linker).__name__
    return {"version": pytensor.__version__, "threads": None, "kernels": linker}
