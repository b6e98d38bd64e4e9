"""A recurrent network with gates over sequences of one length, with Adam."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem, shapes

from .arrays import empty, zeros
from .parts import Adam, Flat, Loss


class Step:
    """What does not depend on the step before is computed for all steps at once: the product with
    the inputs, the slopes of the gates, and the gradients of the weights.

    Gates lie in the order output, input, forget, candidate: those with a sigmoid stand together,
    and so do those that go into the cell.
    """

    def __init__(self, problem: Problem) -> None:
        sizes, dtype = problem.sizes, problem.dtype
        n, steps, h = sizes["batch"], sizes["steps"], sizes["hidden"]
        width, classes, gates = sizes["width"], sizes["classes"], 4 * sizes["hidden"]
        self._values = Flat(shapes(problem.name, sizes), dtype)
        self._gradients = Flat(shapes(problem.name, sizes), dtype)
        self._adam = Adam(self._values, self._gradients, problem.rate)
        self._loss = Loss(classes, n, dtype)
        self._hidden = h
        # of all steps; hidden and cell begin with the zeros before the first
        self._gates = empty((steps, n, gates), dtype)
        self._slopes = empty((steps, n, gates), dtype)
        self._back = empty((steps, n, gates), dtype)
        self._h = zeros((steps + 1, n, h), dtype)
        self._c = zeros((steps + 1, n, h), dtype)
        self._tanh = empty((steps, n, h), dtype)
        self._shown = empty((steps, n, h), dtype)
        self._product = empty((n, gates), dtype)
        self._dh, self._dc, self._part = (empty((n, h), dtype) for _ in range(3))
        self._scores = empty((classes, n), dtype)
        # sigmoid(x) = (1 + tanh(x / 2)) / 2: half the weights, and all gates are a tanh
        self._halves = np.full(gates, 0.5, dtype)
        self._halves[3 * h :] = 1
        self._wx, self._wh = empty((width, gates), dtype), empty((h, gates), dtype)
        self._gb = empty((gates,), dtype)
        self._returning = empty((gates, h), dtype)
        self._half, self._one = np.array(0.5, dtype), np.array(1, dtype)
        self._ones, self._many = np.ones(n, dtype), np.ones(steps * n, dtype)
        self._column = self._values["b1"][:, None]
        self._flat = (steps * n, gates)
        self._forward = [
            (self._gates[t], self._h[t], self._c[t], self._c[t + 1], self._h[t + 1], self._tanh[t])
            for t in range(steps)
        ]
        self._backward = [
            (self._back[t], self._shown[t], self._slopes[t], self._gates[t]) for t in range(steps)
        ][::-1]
        split = [slice(k * h, (k + 1) * h) for k in range(4)]
        self._show, self._take, self._keep, self._new = split

    def load(self, start: Mapping[str, Array]) -> None:
        self._values.load({k: self._turned(k, value, [3, 0, 1, 2]) for k, value in start.items()})
        self._adam.restart()

    def _turned(self, name: str, value: Array, order: list[int]) -> Array:
        """A parameter with its gates in another order."""
        if name not in ("wx", "wh", "gb"):
            return value
        parts = np.split(value, 4, axis=-1)
        return np.concatenate([parts[k] for k in order], axis=-1)

    def step(self, feed: Mapping[str, Array]) -> float:
        v, d = self._values.views, self._gradients.views
        inputs = feed["x"].reshape(self._flat[0], -1)
        self._run(inputs)
        last, scores = self._h[-1], self._scores
        np.dot(v["w1"].T, last.T, scores)
        np.add(scores, self._column, scores)
        loss = self._loss(scores, feed["y"])
        np.dot(last.T, scores.T, d["w1"])
        np.dot(scores, self._ones, d["b1"])
        np.dot(scores.T, v["w1"].T, self._dh)
        self._pull()
        back = self._back.reshape(self._flat)
        np.dot(inputs.T, back, d["wx"])
        np.dot(self._h[:-1].reshape(self._flat[0], -1).T, back, d["wh"])
        np.dot(self._many, back, d["gb"])
        self._adam.step()
        return loss

    def _run(self, inputs: Array) -> None:
        v, product, part, half = self._values.views, self._product, self._part, self._half
        show, take, keep, new = self._show, self._take, self._keep, self._new
        np.multiply(v["wx"], self._halves, self._wx)
        np.multiply(v["wh"], self._halves, self._wh)
        np.multiply(v["gb"], self._halves, self._gb)
        gates = self._gates.reshape(self._flat)
        np.dot(inputs, self._wx, gates)
        np.add(gates, self._gb, gates)
        weight, sigmoids = self._wh, slice(0, 3 * self._hidden)
        for g, before, cell, after, shown, tanh in self._forward:
            np.dot(before, weight, product)
            np.add(g, product, g)
            np.tanh(g, g)
            s = g[:, sigmoids]
            np.multiply(s, half, s)
            np.add(s, half, s)
            np.multiply(g[:, keep], cell, after)
            np.multiply(g[:, take], g[:, new], part)
            np.add(after, part, after)
            np.tanh(after, tanh)
            np.multiply(tanh, g[:, show], shown)

    def _pull(self) -> None:
        """The gradients of the gates from that of the last hidden state."""
        gates, slopes, one = self._gates, self._slopes, self._one
        show, take, keep, new = self._show, self._take, self._keep, self._new
        h = self._hidden
        # slopes: (1 - s) s for the sigmoids, (1 + g) (1 - g) for the candidate, each times what the
        # gate was multiplied with
        np.subtract(one, gates, slopes)
        np.multiply(slopes[:, :, : 3 * h], gates[:, :, : 3 * h], slopes[:, :, : 3 * h])
        np.multiply(self._tanh, self._tanh, self._shown)
        np.subtract(one, self._shown, self._shown)
        np.multiply(self._shown, gates[:, :, show], self._shown)
        np.multiply(slopes[:, :, show], self._tanh, slopes[:, :, show])
        np.multiply(slopes[:, :, take], gates[:, :, new], slopes[:, :, take])
        np.multiply(slopes[:, :, keep], self._c[:-1], slopes[:, :, keep])
        np.add(gates[:, :, new], one, self._tanh)  # its values are no longer needed
        np.multiply(slopes[:, :, new], self._tanh, slopes[:, :, new])
        np.multiply(slopes[:, :, new], gates[:, :, take], slopes[:, :, new])
        dh, dc, part = self._dh, self._dc, self._part
        weight = self._returning  # products with few rows are faster with what is not transposed
        np.copyto(weight, self._values["wh"].T)
        dc.fill(0)
        for back, shown, slope, g in self._backward:
            np.multiply(dh, shown, part)
            np.add(dc, part, dc)
            np.multiply(dh, slope[:, show], back[:, show])
            np.multiply(dc, slope[:, take], back[:, take])
            np.multiply(dc, slope[:, keep], back[:, keep])
            np.multiply(dc, slope[:, new], back[:, new])
            np.multiply(dc, g[:, keep], dc)
            np.dot(back, weight, dh)

    def parameters(self) -> dict[str, Array]:
        found = self._values.copies()
        return {name: self._turned(name, value, [1, 2, 3, 0]) for name, value in found.items()}
