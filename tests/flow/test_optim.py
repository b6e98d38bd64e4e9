"""Optimizers and schedulers of ``flow`` do the steps of OneFlow's."""

import json
import pathlib

import numpy as np
import pytest

from fluidlite import errors, flow

RECORDED = pathlib.Path(__file__).parents[1] / "data" / "flow_by_oneflow.txt"
CASES = dict(
    line.split(" -> ")
    for line in RECORDED.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
OPTIM, RATES = vars(flow.optim), vars(flow.optim.lr_scheduler)
PLATEAUS = [case for case in CASES if case.startswith("ReduceLR")]
SCHEDULERS = [case for case in CASES if "(o" in case or "([" in case if case not in PLATEAUS]
OPTIMIZERS = [case for case in CASES if "(p" in case]
LOSSES = [3, 2, 2, 2, 2, 2, 1.9999, 2, 2, 2, 1, 1, 1, 1, 1, 1]


def weight(*values):
    return flow.nn.Parameter(flow.tensor(values, dtype=flow.float32))


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_five_steps_are_those_of_oneflow(case):
    w = weight(1.0, -2.0, 3.0)
    optimizer = eval(case, {**OPTIM, "p": [w]})
    for k, expected in enumerate(json.loads(CASES[case])):
        optimizer.zero_grad()
        ((w * w * w).sum() * (k + 1) - w.sum() * k * k).backward()
        optimizer.step()
        assert w.tolist() == pytest.approx(expected, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("case", SCHEDULERS)
def test_rates_are_those_of_oneflow(case):
    o = flow.optim.SGD([weight(1.0)], lr=0.5)
    scheduler, found = eval(case, {**RATES, "o": o}), []
    for _ in range(12):
        found.append(o.param_groups[0]["lr"])
        o.step()
        scheduler.step()
    assert found == pytest.approx(json.loads(CASES[case]), abs=2e-7)


@pytest.mark.parametrize("case", PLATEAUS)
def test_rates_on_a_plateau_are_those_of_oneflow(case):
    o = flow.optim.SGD([weight(1.0)], lr=0.5)
    scheduler, found = eval(case, {**RATES, "o": o}), []
    for loss in LOSSES:
        scheduler.step(flow.tensor(loss))
        found.append(o.param_groups[0]["lr"])
    assert found == pytest.approx(json.loads(CASES[case]), abs=2e-7)


def test_groups_have_options_of_their_own():
    a, b = weight(1.0), weight(1.0)
    sgd = flow.optim.SGD([{"params": [a], "lr": 0.5}, {"params": b, "weight_decay": 1.0}], lr=0.1)
    (a + b).sum().backward()
    sgd.step()
    assert (a.item(), b.item()) == pytest.approx((0.5, 0.8))
    sgd.add_param_group({"params": [weight(3.0)]})
    assert [group["lr"] for group in sgd.param_groups] == [0.5, 0.1, 0.1]


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "LAMB"])
def test_training_goes_on_from_a_state(kind):
    def stepped(w, optimizer, count):
        for _ in range(count):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()

    more = {"momentum": 0.9} if kind == "SGD" else {}
    w = weight(1.0, 2.0)
    first = OPTIM[kind]([w], lr=0.1, **more)
    stepped(w, first, 3)
    again = weight(*w.tolist())
    second = OPTIM[kind]([again], lr=0.7)
    second.load_state_dict(first.state_dict())
    stepped(w, first, 2)
    stepped(again, second, 2)
    assert again.tolist() == w.tolist()


def test_a_step_changes_no_parameter_where_one_fails():
    class Failing(flow.optim.SGD):
        def updated(self, array, gradient, group, kept):
            if array.size == 1:
                raise RuntimeError("no")
            return super().updated(array, gradient, group, kept)

    a, b = weight(1.0, 2.0), weight(1.0)
    optimizer = Failing([a, b], lr=0.1)
    (a.sum() + b.sum()).backward()
    with pytest.raises(RuntimeError, match="no"):
        optimizer.step()
    assert a.tolist() == [1.0, 2.0]


def test_a_step_counts_as_a_write_in_place():
    w = weight(2.0)
    sgd = flow.optim.SGD([w], lr=0.1)
    y = (w * w).sum()
    y.backward(retain_graph=True)
    sgd.step()
    with pytest.raises(errors.OverwrittenError):
        y.backward()


def test_zeroed_gradients_are_zeros_or_none():
    w = weight(2.0)
    sgd = flow.optim.SGD([w], lr=0.1)
    (w * w).sum().backward()
    sgd.zero_grad()
    assert w.grad.tolist() == [0.0]
    sgd.zero_grad(set_to_none=True)
    assert w.grad is None


def test_a_closure_finds_the_gradients():
    w = weight(2.0)
    sgd = flow.optim.SGD([w], lr=0.1)

    def closure():
        sgd.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    assert sgd.step(closure).item() == 4.0
    assert w.item() == pytest.approx(1.6)


def test_gradients_are_clipped_by_group():
    w = weight(3.0, 4.0)
    sgd = flow.optim.SGD([{"params": [w], "clip_grad_max_norm": 1.0}], lr=0.1)
    (w * w).sum().backward()
    sgd.clip_grad()
    assert w.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda w: flow.optim.SGD([]), "expected parameters to update, got none"),
        (lambda w: flow.optim.SGD(w), "got one tensor"),
        (lambda w: flow.optim.SGD([w, w]), "stands twice"),
        (lambda w: flow.optim.SGD([w * 2]), "leaves of fractions"),
        (lambda w: flow.optim.SGD([w], lr=-1), "expected lr from 0.0 on"),
        (lambda w: flow.optim.Adam([w], betas=(1.0, 0.5)), "expected betas in"),
        (lambda w: flow.optim.SGD([w], nesterov=True), "nesterov needs a momentum"),
        (lambda w: flow.optim.SGD([{"params": [w], "beta": 1}]), "has no options"),
        (lambda w: flow.optim.lr_scheduler.StepLR([w], 1), "expected an optimizer"),
    ],
)
def test_what_means_nothing_is_refused(make, says):
    with pytest.raises(errors.ArgumentError, match=says):
        make(weight(1.0))


def test_a_scheduler_of_the_users_own_says_its_rates():
    class Halving(flow.optim.lr_scheduler.LRScheduler):
        def get_lr(self, base_lr, step):
            return base_lr / 2**step

    o = flow.optim.SGD([weight(1.0)], lr=1.0)
    rates = Halving(o)
    rates.step()
    assert rates.get_last_lr() == [0.5]
    other = Halving(flow.optim.SGD([weight(1.0)], lr=1.0))
    other.load_state_dict(rates.state_dict())
    assert other.last_step == 1


def test_rates_are_printed_where_that_is_wanted(capsys):
    o = flow.optim.SGD([weight(1.0)], lr=1.0)
    flow.optim.lr_scheduler.StepLR(o, 1, verbose=True).step()
    assert "learning rate of group 0 is 0.1" in capsys.readouterr().out
    assert "lr: 0.1" in repr(o)


def test_amsgrad_keeps_the_largest_mean():
    w = weight(1.0)
    adam = flow.optim.Adam([w], lr=0.1, amsgrad=True)
    (w * 10.0).sum().backward()
    adam.step()
    largest = adam.state_dict()["state"][0]["max_exp_avg_sq"]
    assert np.allclose(largest.numpy(), 0.1)


def test_a_state_of_another_kind_changes_nothing():
    o = flow.optim.SGD([weight(1.0)], lr=1.0)
    steps, exponential = RATES["StepLR"](o, 2), RATES["ExponentialLR"](o, 0.5)
    before = dict(steps.state_dict())
    with pytest.raises(errors.StateDictError, match=r"StepLR: missing names \['step_size'\]"):
        steps.load_state_dict(exponential.state_dict())
    assert steps.state_dict() == before
    with pytest.raises(errors.StateDictError, match="expected 'state' and 'param_groups'"):
        o.load_state_dict({"w": 1})
    state = o.state_dict()
    state["param_groups"][0]["lr"] = -1.0
    with pytest.raises(errors.ArgumentError, match="expected lr from 0"):
        o.load_state_dict(state)
    assert o.param_groups[0]["lr"] == 1.0


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_fused_steps_are_the_same_steps(name):
    weights = [weight(1.0, -2.0), weight(1.0, -2.0)]
    for w, fused in zip(weights, (False, True)):
        optimizer = OPTIM[name]([w], lr=0.1, weight_decay=0.1, fused=fused)
        for _ in range(3):
            optimizer.zero_grad()
            (w * w * w).sum().backward()
            optimizer.step()
    assert weights[0].tolist() == weights[1].tolist() != [1.0, -2.0]


class Halving:
    """A function with a state."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, step):
        return self.factor**step


def test_states_of_schedulers_hold_those_that_they_use():
    def made():
        o = flow.optim.SGD([weight(1.0)], lr=1.0)
        parts = [RATES["ConstantLR"](o, 0.5, 2), RATES["LambdaLR"](o, Halving(0.5))]
        return RATES["SequentialLR"](o, parts, [2], interval_rescaling=True), parts

    first, parts = made()
    parts[1].lr_lambdas[0].factor = 0.25
    first.step()
    state = first.state_dict()
    assert state["interval_rescaling"] == [True] and state["milestones"] == [2]
    assert [inner.get("lr_lambdas") for inner in state["schedulers"]] == [None, [{"factor": 0.25}]]
    second, others = made()
    second.load_state_dict(state)
    for _ in range(3):
        first.step()
        second.step()
        assert first.get_last_lr() == second.get_last_lr()
    assert others[1].lr_lambdas[0].factor == 0.25
    assert RATES["LambdaLR"](first.optimizer, lambda step: 1.0).state_dict()["lr_lambdas"] == [None]


def test_a_state_with_other_schedulers_changes_nothing():
    o = flow.optim.SGD([weight(1.0)], lr=1.0)
    chained = RATES["ChainedScheduler"]([RATES["StepLR"](o, 2), RATES["ExponentialLR"](o, 0.5)])
    before = chained.state_dict()
    turned = {**before, "last_step": 7, "schedulers": before["schedulers"][::-1]}
    with pytest.raises(errors.StateDictError, match="expected a state of StepLR"):
        chained.load_state_dict(turned)
    with pytest.raises(errors.StateDictError, match="expected 2 schedulers, got 1"):
        chained.load_state_dict({**before, "schedulers": before["schedulers"][:1]})
    assert chained.state_dict() == before


def test_a_state_of_a_polynomial_has_oneflows_names():
    o = flow.optim.SGD([weight(1.0)], lr=1.0)
    rates = RATES["PolynomialLR"](o, 4, end_learning_rate=0.0)
    rates.step()
    assert rates.get_last_lr() == [0.75] and rates.state_dict()["max_decay_steps"] == 4
    assert "decay_batch" not in rates.state_dict()
