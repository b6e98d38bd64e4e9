"""A perceptron of three layers, with Adam."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem, shapes

from .parts import Adam, Flat, Loss


class Step:
    """Hidden layers lie as they are fed, [batch, width]; scores are [classes, batch]."""

    def __init__(self, problem: Problem) -> None:
        sizes, dtype = problem.sizes, problem.dtype
        batch, hidden, classes = sizes["batch"], sizes["hidden"], sizes["classes"]
        self._values = Flat(shapes(problem.name, sizes), dtype)
        self._gradients = Flat(shapes(problem.name, sizes), dtype)
        self._adam = Adam(self._values, self._gradients, problem.rate)
        self._loss = Loss(classes, batch, dtype)
        self._first, self._second, self._back = (np.empty((batch, hidden), dtype) for _ in range(3))
        self._scores = np.empty((classes, batch), dtype)
        self._active = np.empty((batch, hidden), bool)
        self._zeros = np.zeros((batch, hidden), dtype)
        self._ones = np.ones(batch, dtype)
        self._column = self._values["b3"][:, None]

    def load(self, start: Mapping[str, Array]) -> None:
        self._values.load(start)
        self._adam.restart()

    def step(self, feed: Mapping[str, Array]) -> float:
        v, d, x = self._values.views, self._gradients.views, feed["x"]
        first, second, scores, back = self._first, self._second, self._scores, self._back
        np.dot(x, v["w1"], first)
        np.add(first, v["b1"], first)
        np.maximum(first, self._zeros, out=first)
        np.dot(first, v["w2"], second)
        np.add(second, v["b2"], second)
        np.maximum(second, self._zeros, out=second)
        np.dot(v["w3"].T, second.T, scores)
        np.add(scores, self._column, scores)
        loss = self._loss(scores, feed["y"])
        np.dot(second.T, scores.T, d["w3"])
        np.dot(scores, self._ones, d["b3"])
        np.dot(scores.T, v["w3"].T, back)
        self._through_relu(second, back)
        np.dot(first.T, back, d["w2"])
        np.dot(self._ones, back, d["b2"])
        np.dot(back, v["w2"].T, second)  # its values are no longer needed
        self._through_relu(first, second)
        np.dot(x.T, second, d["w1"])
        np.dot(self._ones, second, d["b1"])
        self._adam.step()
        return loss

    def _through_relu(self, out: Array, back: Array) -> None:
        np.greater(out, self._zeros, self._active)
        np.multiply(back, self._active, back)

    def parameters(self) -> dict[str, Array]:
        return self._values.copies()
