"""What the examples of paddle 2.6's documents rely on, one by one; values recorded with 2.6.2."""

import numpy as np
import pytest

from fluidlite import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", paddle.ones([1]))
        self.register_buffer("later", None)
        self.plain = paddle.ones([2])

    def forward(self, x):
        self.last = x * 2
        return self.last


def buffers(net):
    return [name for name, _ in net.named_buffers()]


def test_a_tensor_that_is_assigned_is_a_buffer_that_is_not_saved():
    net = Net()
    assert buffers(net) == ["kept", "plain"]
    net(paddle.ones([1]))
    assert buffers(net) == ["kept", "plain", "last"]
    assert list(net.state_dict()) == ["kept"]
    net.plain = None
    assert buffers(net) == ["kept", "last"]


def test_a_buffer_that_is_assigned_anew_is_saved_as_before():
    net = Net()
    net.kept, net.later = paddle.zeros([3]), paddle.ones([1])
    assert {name: value.shape for name, value in net.state_dict().items()} == {
        "kept": [3],
        "later": [1],
    }


def test_parameters_and_layers_do_not_become_buffers():
    net = Net()
    net.weight, net.inner = paddle.create_parameter([1], "float32"), paddle.nn.Linear(1, 1)
    for name in ("weight", "inner"):
        with pytest.raises(TypeError, match=f"attribute '{name}' of Net holds a"):
            setattr(net, name, paddle.ones([1]))
    with pytest.raises(TypeError, match="holds a tensor"):
        net.plain = 5
    net.plain = paddle.nn.Linear(1, 1)
    assert buffers(net) == ["kept"]


def test_flags_are_what_they_are_where_nobody_set_them():
    flags = ["FLAGS_eager_delete_tensor_gb", "FLAGS_check_nan_inf", "FLAGS_use_mkldnn"]
    assert list(paddle.get_flags(flags).values()) == [0.0, False, False]
    assert paddle.get_flags("FLAGS_allocator_strategy") == {
        "FLAGS_allocator_strategy": "auto_growth"
    }
    with pytest.raises(ValueError, match="has no flag 'FLAGS_check_nan_inff'; did you mean"):
        paddle.get_flags("FLAGS_check_nan_inff")
    with pytest.raises(TypeError, match="expected the name of a flag"):
        paddle.get_flags(3)


class Tanh(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = paddle.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        return dy * (1 - paddle.square(ctx.saved_tensor()[0]))


def test_gradients_that_a_users_function_gave_stop_gradients():
    x, y = paddle.to_tensor([0.5], stop_gradient=False), paddle.to_tensor(2.0, stop_gradient=False)
    (Tanh.apply(x) + y).backward()
    assert (x.grad.stop_gradient, y.grad.stop_gradient) == (True, False)


def test_a_gradient_in_rows_is_told_as_rows_and_their_numbers():
    words = paddle.nn.Embedding(5, 2, sparse=True)
    words(paddle.to_tensor([1, 3, 1])).sum().backward()
    rows, numbers = words.weight.gradient()
    assert rows.tolist() == [[1.0, 1.0]] * 3
    assert numbers.tolist() == [1, 3, 1]


def test_margins_take_whole_labels():
    x = paddle.to_tensor([0.5, -0.25])
    loss = paddle.nn.functional.soft_margin_loss(x, paddle.to_tensor([1, -1]), "none")
    np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp([-0.5, -0.25])), rtol=1e-6)


def test_the_rate_of_noam_takes_a_fraction():
    rate = paddle.optimizer.lr.NoamDecay(d_model=0.01, warmup_steps=100)
    rate.step()
    assert rate() == pytest.approx(0.01)
    with pytest.raises(ValueError, match="d_model"):
        paddle.optimizer.lr.NoamDecay(d_model=0, warmup_steps=100)
