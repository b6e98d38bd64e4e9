"""Stochastic gradient descent."""

from __future__ import annotations

from .optimizer import OPTIMIZERS, Optimizer


@OPTIMIZERS
class SGD(Optimizer):
    """Stochastic gradient descent: ``param -= learning_rate * grad``.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> ops[0].input("LearningRate")
    ['learning_rate_0']
    """

    type = "sgd"


SGDOptimizer = SGD
