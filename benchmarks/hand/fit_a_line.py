"""Linear regression."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem


class Step:
    """One step of gradient descent, the rate folded into the gradient of the loss."""

    def __init__(self, problem: Problem) -> None:
        batch, features = problem.sizes["batch"], problem.sizes["features"]
        self._weight = np.zeros(features, problem.dtype)
        self._bias = np.zeros((), problem.dtype)
        self._error = np.empty(batch, problem.dtype)
        self._gradient = np.empty(features, problem.dtype)
        self._ones = np.ones(batch, problem.dtype)
        self._factor = np.array(2 * problem.rate / batch, problem.dtype)
        self._batch = batch

    def load(self, start: Mapping[str, Array]) -> None:
        self._weight[...] = start["w"][:, 0]
        self._bias[...] = start["b"][0]

    def step(self, feed: Mapping[str, Array]) -> float:
        x, error, gradient = feed["x"], self._error, self._gradient
        np.dot(x, self._weight, error)
        np.add(error, self._bias, error)
        np.subtract(error, feed["y"].reshape(-1), error)
        loss = error.dot(error) / self._batch
        np.multiply(error, self._factor, error)
        np.dot(error, x, gradient)
        np.subtract(self._weight, gradient, self._weight)
        np.subtract(self._bias, error.dot(self._ones), self._bias)
        return float(loss)

    def parameters(self) -> dict[str, Array]:
        return {"w": self._weight[:, None].copy(), "b": self._bias.reshape(1).copy()}
