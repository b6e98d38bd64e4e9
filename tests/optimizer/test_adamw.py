"""AdamW, on tensors and in programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

VALUE = np.array([[1.0, -2.0, 3.0]], "float32")
RATE, DECAY = 0.1, 0.3


def gradient(value):
    return 2 * value + 1


def expected(steps, decay=DECAY, rate=RATE):
    """The algorithm of the paper, written out."""
    value, first, second = VALUE.astype("float64"), 0.0, 0.0
    for t in range(1, steps + 1):
        grad = gradient(value)
        value = value - rate * decay * value
        first, second = 0.9 * first + 0.1 * grad, 0.999 * second + 0.001 * grad**2
        value = value - rate * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    return value


def of_tensors(steps, **options):
    w = fluid.create_parameter([1, 3], "float32", attr=fluid.ParamAttr(name="w"))
    w.set_value(VALUE)
    adamw = fluid.optimizer.AdamW(RATE, parameters=[w], weight_decay=DECAY, **options)
    for _ in range(steps):
        (w * w + w).sum().backward()
        adamw.step()
        adamw.clear_grad()
    return w.numpy()


def of_a_program(steps, **options):
    start = fluid.initializer.NumpyArrayInitializer(VALUE)
    w = fluid.layers.create_parameter(
        [1, 3], "float32", attr=fluid.ParamAttr(name="w", initializer=start)
    )
    loss = fluid.layers.reduce_sum(w * w + w)
    fluid.optimizer.AdamW(RATE, weight_decay=DECAY, **options).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(steps):
        exe.run(fetch_list=[loss])
    return np.array(fluid.global_scope().find_var("w").get_tensor())


@pytest.mark.parametrize("train", [of_tensors, of_a_program])
@pytest.mark.parametrize(
    "options, wanted",
    [
        ({}, {}),
        ({"apply_decay_param_fun": lambda name: name != "w"}, {"decay": 0.0}),
        ({"lr_ratio": lambda param: 0.5}, {"rate": RATE / 2}),
    ],
)
def test_parameters_shrink_apart_from_their_gradient(train, options, wanted):
    np.testing.assert_allclose(train(4, **options), expected(4, **wanted), rtol=2e-5)


def test_it_agrees_with_torch():
    torch = pytest.importorskip("torch")
    w = torch.nn.Parameter(torch.tensor(VALUE))
    adamw = torch.optim.AdamW([w], RATE, weight_decay=DECAY)
    for _ in range(4):
        adamw.zero_grad()
        (w * w + w).sum().backward()
        adamw.step()
    np.testing.assert_allclose(of_tensors(4), w.detach().numpy(), rtol=2e-5)


def test_it_shows_its_numbers_and_refuses_others():
    adamw = fluid.optimizer.AdamW(0.1, beta1=0.8)
    assert repr(adamw) == "AdamW(learning_rate=0.1, beta1=0.8)"
    with pytest.raises(ArgumentError, match="expected lr_ratio to be a function, got 3"):
        fluid.optimizer.AdamW(lr_ratio=3)
