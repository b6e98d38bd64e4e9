"""Small parameters are updated in one call, and by the numbers of calls of their own."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.optimizer import joint_steps

KINDS = {
    "SGD": {},
    "Momentum": dict(momentum=0.9, use_nesterov=True),
    "Adam": {},
    "AdamW": dict(weight_decay=0.1, apply_decay_param_fun=lambda name: "b_" not in name),
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSProp": dict(centered=True, momentum=0.5),
    "Lamb": {},
}


def trained(kind, options):
    """Parameters and states after three steps, the last without one of the gradients."""
    fluid.seed(3)
    net = paddle.nn.Sequential(*[paddle.nn.Linear(3, 3) for _ in range(3)])
    groups = [
        {"params": net[0].parameters(), "learning_rate": 0.5},
        {"params": net[1].parameters() + net[2].parameters()},
    ]
    optimizer = getattr(paddle.optimizer, kind)(0.1, parameters=groups, **options)
    x = paddle.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3))
    for step in range(3):
        optimizer.clear_grad(set_to_zero=False)
        net[2 if step == 2 else 0 :](x).square().sum().backward()
        optimizer.step()
    states = [value.numpy() for value in optimizer.state_dict().values() if hasattr(value, "numpy")]
    return [p.numpy() for p in net.parameters()] + states


@pytest.mark.parametrize("kind", KINDS)
def test_joint_steps_give_the_numbers_of_single_ones(kind, monkeypatch):
    joint = trained(kind, KINDS[kind])
    monkeypatch.setattr(joint_steps, "SMALL", -1)
    monkeypatch.setattr(joint_steps, "FEW", -1)
    single = trained(kind, KINDS[kind])
    assert len(joint) == len(single) >= 6
    for one, other in zip(joint, single, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_write_to_one_parameter_leaves_the_others_alone():
    first, second = (paddle.create_parameter([2], "float32") for _ in range(2))
    adam = paddle.optimizer.Adam(0.1, parameters=[first, second])
    (first + second).sum().backward()
    adam.step()
    before = second.numpy()
    first.set_value(np.zeros(2, "float32"))
    first.detach().fill_(7.0)
    np.testing.assert_array_equal(second.numpy(), before)
    powers = [v for k, v in adam.state_dict().items() if "beta1_pow" in k]
    powers[0].set_value(np.array([0.5], "float32"))
    assert powers[1].numpy() != 0.5
