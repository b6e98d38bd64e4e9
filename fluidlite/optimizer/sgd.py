"""Stochastic gradient descent."""

from __future__ import annotations

from .optimizer import Optimizer


class SGD(Optimizer):
    """Stochastic gradient descent: ``param -= learning_rate * grad``.

    Args:
        learning_rate, parameter_list, regularization, grad_clip, name: as of
            :class:`~fluidlite.optimizer.optimizer.Optimizer`.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> ops[0].input("LearningRate")
    ['learning_rate_0']
    """

    type = "sgd"


SGDOptimizer = SGD
