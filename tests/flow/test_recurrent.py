"""Recurrent modules of ``flow`` compute what torch does with the same weights."""

import numpy as np
import pytest

from fluidlite import errors, flow


def wave(*shape, by=1.3):
    return np.sin(np.arange(np.prod(shape), dtype="float64") * by + 0.7).reshape(shape)


def filled(module):
    module.double()
    for k, parameter in enumerate(module.parameters()):
        parameter.data = flow.tensor(wave(*parameter.shape, by=0.3 + 0.1 * k) * 0.5)
    return module


def digest(tensor):
    values = tensor.detach().numpy().ravel()
    return float((values * np.cos(np.arange(values.size))).sum())


@pytest.mark.parametrize(
    "make, expected",
    [
        ("LSTM(3, 4)", [0.562219, 0.119869, 0.267468, 0.46303, 1.650311]),
        ("LSTM(3, 4, 2, bidirectional=True)", [-0.382134, 0.167047, -0.122698, 0.349737, 1.048912]),
        (
            "LSTM(3, 4, batch_first=True, proj_size=2)",
            [-0.12973, -0.516392, -1.485739, 0.507942, -0.128141],
        ),
        ("GRU(3, 4, 2)", [0.175764, 1.164892, 0.100176, -0.785014]),
        ("GRU(3, 4, bias=False, bidirectional=True)", [0.069057, 0.840248, 4.73617, -0.022125]),
        ("RNN(3, 4, 2)", [1.256836, 2.0139, -0.05327, 0.825124]),
        ("RNN(3, 4, nonlinearity='relu')", [4.237228, 3.567861, 7.796803, 188.606501]),
    ],
)
def test_outputs_states_and_gradients_are_those_of_torch(make, expected):
    module = filled(eval(make, vars(flow.nn)))
    x = flow.tensor(wave(5, 2, 3), requires_grad=True)
    out, state = module(x)
    states = state if isinstance(state, tuple) else (state,)
    sum((each * each).sum() for each in (out, *states)).backward()
    found = [out, *states, x.grad, module.weight_hh_l0.grad]
    assert [digest(each) for each in found] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_cell_goes_a_step_of_the_layer(kind):
    layer = filled(vars(flow.nn)[kind](3, 4))
    cell = vars(flow.nn)[f"{kind}Cell"](3, 4).double()
    cell.load_state_dict({n.removesuffix("_l0"): v for n, v in layer.state_dict().items()})
    x, state = flow.tensor(wave(5, 2, 3)), None
    for step in x:
        state = cell(step, state)
    out, last = layer(x)
    shown = state[0] if kind == "LSTM" else state
    assert np.allclose(shown.detach().numpy(), out[-1].detach().numpy())
    assert cell(x[0, 0])[0].shape == ([4] if kind == "LSTM" else [])
    memory = (last[1], state[1]) if kind == "LSTM" else (last, state)
    assert np.allclose(memory[0][0].detach().numpy(), memory[1].detach().numpy())


def test_one_sequence_needs_no_batch():
    layer = filled(flow.nn.GRU(3, 4, 2, batch_first=True))
    x = flow.tensor(wave(5, 3))
    out, state = layer(x)
    whole, states = layer(x.unsqueeze(0))
    assert (out.shape, state.shape) == ([5, 4], [2, 4])
    assert np.allclose(out.detach().numpy(), whole[0].detach().numpy())
    assert np.allclose(state.detach().numpy(), states[:, 0].detach().numpy())


def test_dropout_is_between_layers_and_in_training():
    layer = flow.nn.LSTM(3, 4, 2, dropout=1.0)
    layer.bias_ih_l1.data.zero_()
    layer.bias_hh_l1.data.zero_()
    assert layer(flow.ones(2, 1, 3))[0].tolist() == [[[0.0] * 4]] * 2
    assert layer.eval()(flow.ones(2, 1, 3))[0].abs().sum() > 0


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: flow.nn.RNN(3, 4, nonlinearity="elu"), "expected nonlinearity"),
        (lambda: flow.nn.LSTM(3, 4, proj_size=4), "expected proj_size in"),
        (lambda: flow.nn.GRU(3, 4)(flow.ones(2, 3, 5)), "the last one of size 3"),
        (lambda: flow.nn.GRU(3, 4)(flow.ones(2, 1, 3), flow.ones(1, 2, 4)), "expected a state of"),
    ],
)
def test_what_does_not_fit_is_refused(call, says):
    with pytest.raises(errors.FluidError, match=says):
        call()


def test_all_weights_are_listed_by_layer_and_direction():
    net = flow.nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)
    listed = net.all_weights
    assert [len(weights) for weights in listed] == [5] * 4
    assert listed[1][0] is net.weight_ih_l0_reverse and listed[2][4] is net.weight_hr_l1
    assert [w.shape[0] for w in flow.nn.GRU(3, 4, bias=False).all_weights[0]] == [12, 12]
