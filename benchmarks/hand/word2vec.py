"""A model of language over four words, with gradient descent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem, shapes


class Step:
    """The rate is folded into the gradient of the loss; of the table, only rows in use change."""

    def __init__(self, problem: Problem) -> None:
        sizes, dtype = problem.sizes, problem.dtype
        batch, words, width = sizes["batch"], sizes["words"], sizes["width"]
        hidden, vocabulary = sizes["hidden"], sizes["vocabulary"]
        made = shapes(problem.name, sizes)
        self._v = {name: np.zeros(shape, dtype) for name, shape in made.items()}
        self._ids = np.empty((batch, words), np.int64)
        self._found, self._found_back = (np.empty((batch * words, width), dtype) for _ in range(2))
        self._context = self._found.reshape(batch, words * width)
        self._hidden, self._back, self._slope = (np.empty((batch, hidden), dtype) for _ in range(3))
        self._turned = np.empty((hidden, batch), dtype)
        self._scores = np.empty((batch, vocabulary), dtype)
        self._top, self._total = np.empty((batch, 1), dtype), np.empty(batch, dtype)
        self._w1, self._w2 = np.empty_like(self._v["w1"]), np.empty_like(self._v["w2"])
        self._b1, self._b2 = np.empty_like(self._v["b1"]), np.empty_like(self._v["b2"])
        self._ones, self._long = np.ones(batch, dtype), np.ones(vocabulary, dtype)
        self._rows = np.arange(batch) * vocabulary
        self._factor = np.array(problem.rate / batch, dtype)
        self._half, self._one = np.array(0.5, dtype), np.array(1, dtype)
        self._new = np.empty(batch * words, bool)
        self._new[0] = True
        self._batch, self._words = batch, words

    def load(self, start: Mapping[str, Array]) -> None:
        for name, value in self._v.items():
            value[...] = start[name]

    def step(self, feed: Mapping[str, Array]) -> float:
        v, ids, hidden = self._v, self._ids, self._hidden
        for k in range(self._words):
            ids[:, k] = feed[f"word{k}"][:, 0]
        v["table"].take(ids.reshape(-1), axis=0, out=self._found, mode="clip")
        np.dot(self._context, v["w1"], hidden)
        np.add(hidden, v["b1"], hidden)
        np.multiply(hidden, self._half, hidden)  # sigmoid(x) = (1 + tanh(x / 2)) / 2
        np.tanh(hidden, hidden)
        np.multiply(hidden, self._half, hidden)
        np.add(hidden, self._half, hidden)
        np.dot(hidden, v["w2"], self._scores)
        np.add(self._scores, v["b2"], self._scores)
        loss = self._cross_entropy(self._scores, feed["y"])
        self._dense(self._scores)
        self._table(ids.reshape(-1))
        return loss

    def _cross_entropy(self, scores: Array, label: Array) -> float:
        """The loss; scores become its gradient times the rate."""
        flat, places = scores.reshape(-1), self._rows + label[:, 0]
        np.maximum.reduce(scores, axis=1, keepdims=True, out=self._top)
        np.subtract(scores, self._top, scores)
        picked = flat.take(places)
        np.exp(scores, scores)
        np.dot(scores, self._long, self._total)
        np.multiply(scores, (self._factor / self._total)[:, None], scores)
        flat[places] -= self._factor
        return float(np.add.reduce(np.log(self._total) - picked)) / self._batch

    def _dense(self, scores: Array) -> None:
        v, hidden, back, slope = self._v, self._hidden, self._back, self._slope
        # a product with few rows and a transposed matrix is slower than its transpose
        np.dot(v["w2"], scores.T, self._turned)
        np.dot(hidden.T, scores, self._w2)
        np.subtract(v["w2"], self._w2, v["w2"])
        np.dot(self._ones, scores, self._b2)
        np.subtract(v["b2"], self._b2, v["b2"])
        np.subtract(self._one, hidden, slope)
        np.multiply(slope, hidden, slope)
        np.multiply(self._turned.T, slope, back)
        np.dot(back, v["w1"].T, self._found_back.reshape(self._context.shape))
        np.dot(self._context.T, back, self._w1)
        np.subtract(v["w1"], self._w1, v["w1"])
        np.dot(self._ones, back, self._b1)
        np.subtract(v["b1"], self._b1, v["b1"])

    def _table(self, ids: Array) -> None:
        """Sort by row, add up equal ones, and take them off the table."""
        order = ids.argsort()
        rows, new = ids.take(order), self._new
        np.not_equal(rows[1:], rows[:-1], new[1:])
        begins = new.nonzero()[0]
        rows = rows.take(begins)
        found = self._found  # its values are no longer needed
        self._found_back.take(order, axis=0, out=found, mode="clip")
        self._v["table"][rows] -= np.add.reduceat(found, begins, axis=0)

    def parameters(self) -> dict[str, Array]:
        return {name: value.copy() for name, value in self._v.items()}
