"""Linear regression."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem


class Step:
    """One step of gradient descent, the rate folded into the gradient of the loss; the bias is the
    weight of a feature that is always 1.
    """

    def __init__(self, problem: Problem) -> None:
        batch, features = problem.sizes["batch"], problem.sizes["features"]
        self._values, self._gradient = (np.zeros(features + 1, problem.dtype) for _ in range(2))
        self._features = np.ones((batch, features + 1), problem.dtype)
        self._fed = self._features[:, :-1]
        self._error = np.empty(batch, problem.dtype)
        self._factor = np.array(2 * problem.rate / batch, problem.dtype)
        self._batch = batch

    def load(self, start: Mapping[str, Array]) -> None:
        self._values[:-1] = start["w"][:, 0]
        self._values[-1] = start["b"][0]

    def step(self, feed: Mapping[str, Array]) -> float:
        x, values, error, gradient = self._features, self._values, self._error, self._gradient
        np.copyto(self._fed, feed["x"])
        np.dot(x, values, error)
        np.subtract(error, feed["y"].reshape(-1), error)
        loss = float(error.dot(error)) / self._batch
        np.multiply(error, self._factor, error)
        np.dot(error, x, gradient)
        np.subtract(values, gradient, values)
        return loss

    def parameters(self) -> dict[str, Array]:
        return {"w": self._values[:-1, None].copy(), "b": self._values[-1:].copy()}
