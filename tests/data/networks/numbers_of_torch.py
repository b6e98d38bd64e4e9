"""What the scripts of this folder share: numbers of one precision for torch."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "aids"))
from network_values import STEPS, integers, normal, start

NETWORKS = {}


def network(function):
    """A decorator: the function takes :class:`Numbers` and gives the losses of its steps."""
    NETWORKS[function.__name__] = function
    return function


class Numbers:
    """Data and start values in one precision.

    Args:
        dtype: of torch.
        shift: by which part of them start values are moved.
    """

    def __init__(self, dtype, shift=0.0):
        self.dtype, self.shift = dtype, shift

    def data(self, name, *shape):
        return torch.tensor(normal(name, *shape), dtype=self.dtype)

    def integers(self, name, below, *shape):
        return torch.tensor(integers(name, below, *shape))

    def start(self, name, *shape):
        values = start(name, *shape) * (1.0 + self.shift * normal(f"shift of {name}", *shape))
        return torch.tensor(values, dtype=self.dtype)

    def leaf(self, name, *shape):
        return self.start(name, *shape).requires_grad_()

    def begin(self, module):
        """Give all parameters of a module their start values."""
        module.to(self.dtype)
        kinds = dict(module.named_modules())
        for name, parameter in module.named_parameters():
            owner, _, kind = name.rpartition(".")
            turned = kind == "weight" and isinstance(kinds[owner], torch.nn.Linear)
            shape = parameter.shape[::-1] if turned else parameter.shape
            values = self.start(name, *shape)
            parameter.data = (values.T if turned else values).contiguous()
        return module


def trained(optimizer, loss_of, after=lambda: None):
    """The losses of the steps of a training."""
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        after()
        losses.append(loss.item())
    return losses
