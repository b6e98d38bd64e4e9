"""What several hand-written steps need: parameters in one array, optimizers, the loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from problems import Array


class Flat:
    """Arrays side by side in one.

    Args:
        shapes: by name.
        dtype: of all of them.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], dtype: str) -> None:
        self.all = np.zeros(sum(map(prod, shapes.values())), dtype)
        self.views: dict[str, Array] = {}
        begin = 0
        for name, shape in shapes.items():
            end = begin + prod(shape)
            self.views[name] = self.all[begin:end].reshape(shape)
            begin = end

    def __getitem__(self, name: str) -> Array:
        return self.views[name]

    def load(self, start: Mapping[str, Array]) -> None:
        """Take values of the same shapes."""
        for name, view in self.views.items():
            view[...] = start[name]

    def copies(self) -> dict[str, Array]:
        """What the arrays hold, by name."""
        return {name: view.copy() for name, view in self.views.items()}


class Adam:
    """Adam in ten passes over parameters and states.

    Running means are kept divided by one minus their decay, which saves a pass for each; the
    corrections of the bias go into the rate and into epsilon.
    """

    BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, values: Flat, gradients: Flat, rate: float) -> None:
        self._values, self._gradients, self._rate = values.all, gradients.all, rate
        self._mean = np.zeros_like(values.all)
        self._square = np.zeros_like(values.all)
        self._scratch = np.empty_like(values.all)
        number = self._values.dtype.type
        self._beta1, self._beta2 = np.array(number(self.BETA1)), np.array(number(self.BETA2))
        self._epsilon = np.array(number(self.EPSILON / np.sqrt(1 - self.BETA2)))
        self._factor = np.array(number(0))
        self._steps = 0

    def restart(self) -> None:
        """Forget everything."""
        self._mean.fill(0)
        self._square.fill(0)
        self._steps = 0

    def step(self) -> None:
        """Update the parameters."""
        self._steps += 1
        corrected = np.sqrt(1 - self.BETA2**self._steps) / (1 - self.BETA1**self._steps)
        self._factor[...] = self._rate * corrected * (1 - self.BETA1) / np.sqrt(1 - self.BETA2)
        gradient, mean, square, scratch = self._gradients, self._mean, self._square, self._scratch
        np.multiply(mean, self._beta1, out=mean)
        np.add(mean, gradient, out=mean)
        np.multiply(gradient, gradient, out=scratch)
        np.multiply(square, self._beta2, out=square)
        np.add(square, scratch, out=square)
        np.sqrt(square, out=scratch)
        np.add(scratch, self._epsilon, out=scratch)
        np.divide(mean, scratch, out=scratch)
        np.multiply(scratch, self._factor, out=scratch)
        np.subtract(self._values, scratch, out=self._values)


class Momentum:
    """Gradient descent with momentum."""

    def __init__(self, values: Flat, gradients: Flat, rate: float, momentum: float) -> None:
        self._values, self._gradients = values.all, gradients.all
        self._velocity = np.zeros_like(values.all)
        self._scratch = np.empty_like(values.all)
        self._rate = np.array(rate, values.all.dtype)
        self._momentum = np.array(momentum, values.all.dtype)

    def restart(self) -> None:
        """Forget everything."""
        self._velocity.fill(0)

    def step(self) -> None:
        """Update the parameters."""
        velocity, scratch = self._velocity, self._scratch
        np.multiply(velocity, self._momentum, out=velocity)
        np.add(velocity, self._gradients, out=velocity)
        np.multiply(velocity, self._rate, out=scratch)
        np.subtract(self._values, scratch, out=self._values)


class Loss:
    """The mean cross entropy of the softmax of scores, and its gradient in their place.

    Args:
        classes, batch: scores are [classes, batch]; reductions over the first axis are the fast
            ones where there are few classes.
        scale: what the gradient is multiplied by.
    """

    def __init__(self, classes: int, batch: int, dtype: str, scale: float = 1.0) -> None:
        self._top, self._total, self._picked = (np.empty(batch, dtype) for _ in range(3))
        self._columns = np.arange(batch)
        self._places = np.empty(batch, np.int64)
        self._scale = np.array(scale / batch, dtype)
        self._batch = np.int64(batch)

    def __call__(self, scores: Array, label: Array) -> float:
        top, total, picked, places = self._top, self._total, self._picked, self._places
        flat = scores.reshape(-1)
        np.multiply(label.reshape(-1), self._batch, out=places)
        np.add(places, self._columns, out=places)
        np.maximum.reduce(scores, axis=0, out=top)
        np.subtract(scores, top, out=scores)
        flat.take(places, out=picked, mode="clip")
        np.exp(scores, out=scores)
        np.add.reduce(scores, axis=0, out=total)
        np.divide(self._scale, total, out=top)
        np.multiply(scores, top, out=scores)
        flat[places] -= self._scale
        np.log(total, out=total)
        np.subtract(total, picked, out=total)
        return float(np.add.reduce(total)) / int(self._batch)
