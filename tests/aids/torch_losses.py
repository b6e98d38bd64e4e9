"""Networks that are compared with torch: numbers of one precision, and the losses that torch had.

``tests/data/networks/record.py`` has the same networks in torch.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from network_values import STEPS, integers, normal, start

import fluidlite as fluid
from fluidlite import flow

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data/networks/losses.json").read_text(encoding="utf-8")
)
#: networks are trained in both
in_both_precisions = pytest.mark.parametrize("dtype", ["float64", "float32"])


def assert_as_torch(name, losses, dtype):
    """Losses are those of torch: in single precision as far as its own stay the same when start
    values are moved by 1e-7.
    """
    recorded = RECORDED[name]
    bound = 1e-9 if dtype == "float64" else max(1e-5, 3 * recorded["spread"])
    np.testing.assert_allclose(losses, recorded[dtype], rtol=0, atol=bound)


class Numbers:
    """Data and start values in one precision, for fluid's tensors.

    Args:
        dtype: its name.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        fluid.set_default_dtype(dtype)

    def tensor(self, array):
        return fluid.to_tensor(array)

    def array(self, name, *shape):
        return normal(name, *shape).astype(self.dtype)

    def data(self, name, *shape):
        return self.tensor(self.array(name, *shape))

    def integers(self, name, below, *shape):
        return self.tensor(integers(name, below, *shape))

    def start(self, name, *shape):
        return start(name, *shape).astype(self.dtype)

    def leaf(self, name, *shape):
        return fluid.to_tensor(self.start(name, *shape), stop_gradient=False)

    def begin(self, net):
        """Give all parameters of a module their start values."""
        for name, parameter in net.named_parameters():
            parameter.set_value(self.start(name, *parameter.shape))
        return net


class FlowNumbers(Numbers):
    """The same for OneFlow's tensors, whose weights are ``[out, in]``."""

    def __init__(self, dtype):
        self.dtype = dtype
        flow.set_default_dtype(getattr(flow, dtype))

    def tensor(self, array):
        return flow.tensor(array)

    def leaf(self, name, *shape):
        return flow.tensor(self.start(name, *shape), requires_grad=True)

    def begin(self, net):
        kinds = dict(net.named_modules())
        for name, parameter in net.named_parameters():
            owner, _, kind = name.rpartition(".")
            turned = kind == "weight" and isinstance(kinds[owner], flow.nn.Linear)
            values = self.start(name, *(parameter.shape[::-1] if turned else parameter.shape))
            parameter.data = flow.tensor(values.T if turned else values)
        return net


def trained(optimizer, loss_of, after=lambda: None):
    """The losses of the steps of a training."""
    losses = []
    clear = getattr(optimizer, "clear_grad", None) or optimizer.zero_grad
    for step in range(STEPS):
        clear()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        after()
        losses.append(loss.item())
    return losses
