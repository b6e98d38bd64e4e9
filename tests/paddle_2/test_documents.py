"""What the examples of paddle 2.6's documents rely on, one by one; values recorded with 2.6.2."""

import json

import numpy as np
import paddle_programs
import pytest

from fluidlite import paddle
from fluidlite.ground import state
from fluidlite.ir.message_text import ProgramTexts, texts


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


def test_programs_are_printed_in_the_words_of_paddle_2():
    paddle.enable_static()
    try:
        with texts.guard(ProgramTexts.READABLE):
            found = paddle_programs.printed(paddle)
    finally:
        paddle.disable_static()
    for name, recorded in json.loads(paddle_programs.RECORDED.read_text("utf-8")).items():
        assert found[name] == recorded, name


@pytest.fixture
def in_programs():
    """Programs are built, and things are printed, as in paddle 2."""
    paddle.enable_static()
    main = paddle.static.Program()
    with state.as_paddle_2.guard(True), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def test_values_are_printed_line_by_line(in_programs, capfd):
    x = paddle.static.data("x", [2, 3])
    paddle.static.Print(x, message="hello", summarize=4)
    paddle.static.Print(x, print_tensor_name=False, print_tensor_shape=False)
    fed = np.arange(6, dtype="float32").reshape(2, 3) / 4
    paddle.static.Executor().run(in_programs, feed={"x": fed})
    assert capfd.readouterr().out.splitlines() == [
        "Variable: x",
        "  - message: hello",
        "  - lod: {}",
        "  - place: Place(cpu)",
        "  - shape: [2, 3]",
        "  - layout: NCHW",
        "  - dtype: float32",
        "  - data: [0 0.25 0.5 0.75]",
        "  - lod: {}",
        "  - place: Place(cpu)",
        "  - dtype: float32",
        "  - data: [0 0.25 0.5 0.75 1 1.25]",
    ]


def test_what_an_assertion_is_about_is_printed_before_it_fails(in_programs, capfd):
    x = paddle.full([2], 2.0)
    paddle.static.nn.control_flow.Assert(paddle.max(x) < 1.0, [x])
    with pytest.raises(ValueError, match="to hold, it is False"):
        paddle.static.Executor().run(in_programs)
    assert "  - dtype: float32\n  - data: [2 2]\n" in capfd.readouterr().out


def test_whole_numbers_that_are_fetched_say_their_type(in_programs):
    (found,) = paddle.static.Executor().run(in_programs, fetch_list=[paddle.full([1], 10, "int64")])
    assert repr(found) == "array([10], dtype=int64)"


def test_places_and_element_types_are_shown_as_there():
    x = paddle.to_tensor([1.0])
    with state.as_paddle_2.guard(True):
        assert f"{x.place} {paddle.CPUPlace()}" == "Place(cpu) Place(cpu)"
        assert repr([paddle.float32]) == "[<VarType.FP32: 5>]"
    assert (x.place.is_cpu_place(), x.place.is_gpu_place()) == (True, False)
    assert x.place._equals(paddle.CPUPlace()) and paddle.ones([1], "int64").place == x.place


def test_variables_of_a_training_stand_in_the_order_of_paddle_2(in_programs):
    x = paddle.static.data("x", [2, 3])
    loss = paddle.mean(paddle.static.nn.fc(x, 1, weight_attr="w", bias_attr="b"))
    with paddle.utils.unique_name.guard():
        paddle.optimizer.Momentum(0.1).minimize(loss)
    names = list(in_programs.global_block().vars)
    assert names[names.index(loss.name) + 1 :] == [
        *sorted(name for name in names if name.endswith("@GRAD")),
        *("learning_rate_0", "b_velocity_0", "w_velocity_0"),
    ]


def test_clipped_gradients_flow_on_as_before():
    x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    (x * x).sum().backward()
    paddle.nn.utils.clip_grad_norm_([x], 1.0)
    assert not x.grad.stop_gradient
