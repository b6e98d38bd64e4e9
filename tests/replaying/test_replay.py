"""Steps that run from a plan give what they give as they are, or run as they are and say why."""

from __future__ import annotations

import copy
import gc
import random
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import FluidError
from fluidlite.opdef.prepared import KernelDeclined
from fluidlite.runtime.compile import CompiledSegment

nn = paddle.nn
Body = Callable[..., Callable[..., Any]]


def batch(number: int, count: int = 8) -> tuple[Any, Any]:
    rng = np.random.default_rng(number)
    x = rng.standard_normal((count, 6)).astype("float32")
    return paddle.to_tensor(x), paddle.to_tensor(rng.integers(0, 3, count))


class Run:
    """A short training.

    Args:
        wrap: made of the step.
        body: makes the step of a net, an optimizer and a loss.
        optimizer: made of parameters.
        between: called with the number of a step, net and optimizer before it.
        sizes: of the batches.
    """

    def __init__(
        self,
        wrap: Callable[[Any], Any],
        body: Body | None = None,
        optimizer: Any = None,
        between: Any = None,
        sizes: tuple[int, ...] = (8,) * 10,
        dropout: float = 0.0,
    ) -> None:
        paddle.seed(1)
        parts = [nn.Linear(6, 5, bias_attr=False), nn.BatchNorm1D(5), nn.Tanh()]
        parts += [nn.Dropout(dropout)] if dropout else []
        self.net = nn.Sequential(*parts, nn.Linear(5, 3))
        parameters = self.net.parameters()
        made = optimizer(parameters) if optimizer else None
        self.optimizer = made or paddle.optimizer.Adam(0.05, parameters=parameters)
        self.step = wrap((body or usual)(self.net, self.optimizer, nn.CrossEntropyLoss()))
        self.losses, self.told = [], []
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for number, size in enumerate(sizes):
                if between is not None:
                    between(number, self.net, self.optimizer)
                self.losses.append(float(self.step(*batch(number, size))))
        self.told = [str(each.message) for each in told if "as it is" in str(each.message)]

    def values(self) -> list[Any]:
        tensors = [*self.net.parameters(), *self.net.buffers()]
        return [each.numpy() for each in tensors]

    def gradients(self) -> list[Any]:
        return [None if p.grad is None else p.grad.numpy() for p in self.net.parameters()]


def usual(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any) -> Any:
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def compared(**options: Any) -> Run:
    """A replayed training that ended where the eager one did."""
    as_it_is, replayed = Run(lambda step: step, **options), Run(fluid.replay, **options)
    np.testing.assert_allclose(replayed.losses, as_it_is.losses, rtol=2e-6, atol=2e-6)
    for ours, theirs in zip(replayed.values(), as_it_is.values(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-6)
    for ours, theirs in zip(replayed.gradients(), as_it_is.gradients(), strict=True):
        assert (ours is None) is (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-6)
    return replayed


def test_a_step_is_replayed_after_it_has_repeated_itself() -> None:
    run = compared(sizes=(8,) * 20)
    assert run.step.replayed == 17
    assert not run.told


def test_a_batch_of_another_size_has_a_plan_of_its_own() -> None:
    run = compared(sizes=(8, 8, 8, 8, 5) * 4)
    assert run.step.replayed == 14
    assert not run.told


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda ps: paddle.optimizer.Momentum(0.1, parameters=ps, weight_decay=0.01),
        lambda ps: paddle.optimizer.AdamW(0.01, parameters=ps, weight_decay=0.1),
        lambda ps: paddle.optimizer.Adamax(0.01, parameters=ps),
        lambda ps: paddle.optimizer.SGD(0.1, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    ],
)
def test_updates_of_optimizers_are_replayed(optimizer: Any) -> None:
    assert compared(optimizer=optimizer).step.replayed == 7


def test_the_learning_rate_may_change_between_steps() -> None:
    def faster(number: int, net: Any, optimizer: Any) -> None:
        optimizer.set_lr(0.05 / (number + 1))

    run = compared(between=faster)
    assert run.step.replayed == 7
    scheduled = compared(
        optimizer=lambda ps: paddle.optimizer.SGD(
            paddle.optimizer.lr.StepDecay(0.1, 2), parameters=ps
        ),
        between=lambda number, net, optimizer: optimizer._learning_rate.step(),
    )
    assert scheduled.step.replayed == 7


def cleared_first(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any) -> Any:
        optimizer.clear_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def in_parts(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any) -> Any:
        for part in (slice(0, 4), slice(4, 8)):
            loss = criterion(net(x[part]), y[part])
            loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        return loss

    return step


def detached(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
    mean = paddle.zeros([3])

    def step(x: Any, y: Any) -> Any:
        out = net(x)
        paddle.assign(mean * 0.9 + out.mean(0).detach() * 0.1, mean)
        with paddle.no_grad():
            factor = net[-1].weight.sum()
        loss = criterion(out + mean, y) + (out.detach() * out).mean() * factor
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def learned_to_learn(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any) -> Any:
        loss = criterion(net(x), y)
        (slope,) = paddle.grad(loss, [net[-1].weight], create_graph=True)
        loss = loss + (slope * slope).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


@pytest.mark.parametrize("body", [cleared_first, in_parts, detached, learned_to_learn])
def test_steps_of_other_forms_are_replayed(body: Body) -> None:
    run = compared(body=body)
    assert run.step.replayed == 7
    assert not run.told


def test_what_the_collector_of_garbage_calls_is_none_of_the_steps() -> None:
    def collected(phase: str, facts: dict[str, int]) -> None:
        print(end="")

    before = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(1)
    try:
        assert compared(sizes=(8,) * 5).step.replayed == 2
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(collected)


# -- the first difference --------------------------------------------------------------------------


def evaluated(number: int, net: Any, optimizer: Any) -> None:
    net.eval() if number in (5, 6) else net.train()


def frozen(number: int, net: Any, optimizer: Any) -> None:
    net[0].weight.stop_gradient = number > 6


def hooked(number: int, net: Any, optimizer: Any) -> None:
    if number == 6:
        net[0].weight.register_hook(lambda slope: slope * 0.5)


def replaced(number: int, net: Any, optimizer: Any) -> None:
    if number == 6:
        net[2] = nn.ReLU()


@pytest.mark.parametrize("between", [evaluated, frozen, hooked, replaced])
def test_a_call_runs_as_it_is_at_the_first_difference(between: Any) -> None:
    run = compared(between=between)
    assert 3 <= run.step.replayed < 7
    assert len(run.told) == 1


SETTINGS = {"scale": 1.0}


def test_values_that_the_code_reads_are_compared() -> None:
    def scaled(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
        def step(x: Any, y: Any) -> Any:
            loss = criterion(net(x), y) * SETTINGS["scale"]
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step

    def change(number: int, net: Any, optimizer: Any) -> None:
        SETTINGS["scale"] = 1.0 if number < 6 else 2.0

    run = compared(body=scaled, between=change)
    assert run.step.replayed == 5
    assert "scale of SETTINGS is another" in run.told[0]


def test_states_that_are_loaded_are_read() -> None:
    def load(number: int, net: Any, optimizer: Any) -> None:
        if number == 6:
            net.set_state_dict({name: value * 0.5 for name, value in net.state_dict().items()})

    assert compared(between=load).step.replayed == 7


# -- what is not replayed --------------------------------------------------------------------------


def altered(change: Callable[[Any], Any]) -> Body:
    """A step whose loss goes through a function of Python's."""

    def body(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
        def step(x: Any, y: Any) -> Any:
            loss = change(criterion(net(x), y))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step

    return body


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2.0

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args[0] * 5.0


HISTORY: list[Any] = []
COUNT = [0]


def counted(loss: Any) -> Any:
    COUNT[0] += 1
    return loss * (1.0 if COUNT[0] % 6 else 3.0)


def kept(loss: Any) -> Any:
    HISTORY.append(loss.detach())
    return loss


DRAWN = random.Random(3)


def test_random_numbers_of_python_are_not_repeated() -> None:
    run = Run(fluid.replay, body=altered(lambda loss: loss * DRAWN.choice([1.0, 2.0])))
    assert run.step.replayed == 0
    assert "is called, at" in run.told[0]


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda loss: loss * 2.0 if float(loss) > 0.5 else loss, "item() reads elements"),
        (lambda loss: loss * np.abs(loss.numpy()), "numpy() reads elements"),
        (lambda loss: loss * float(np.random.randint(1, 2)), "numpy.random cannot be watched"),
        (Doubled.apply, "a function of Python's"),
        (counted, "has other elements"),
        (kept, "has other elements"),
        (lambda loss: [print(end=""), loss][1], "print() is called"),
        (lambda loss: loss + 0.0 * paddle.randint(0, 2, [1]), "are drawn outside of operators"),
        (lambda loss: [paddle.seed(3), loss][1], "outside of operators"),
    ],
)
def test_what_cannot_be_watched_runs_as_it_is(change: Any, why: str) -> None:
    run = compared(body=altered(change), sizes=(8,) * 6)
    assert run.step.replayed == 0
    assert len(run.told) == 1
    assert why in run.told[0]


@pytest.mark.parametrize("seeded", [False, True])
def test_dropout_draws_what_it_draws_without_a_plan(seeded: bool) -> None:
    def between(number: int, net: Any, optimizer: Any) -> None:
        if seeded and number % 3 == 0:
            paddle.seed(number)

    run = compared(dropout=0.5, sizes=(8,) * 9, between=between)
    assert run.step.replayed == 6
    assert not run.told


def test_dropout_of_channels_is_replayed_with_its_numbers() -> None:
    def trained(wrap: Any) -> tuple[Any, list[float]]:
        paddle.seed(2)
        net = nn.Sequential(nn.Conv2D(2, 4, 3), nn.Dropout2D(0.5), nn.Conv2D(4, 2, 3))
        sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())

        @wrap
        def step(x: Any) -> Any:
            loss = (net(x) ** 2).mean()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        return step, [float(step(paddle.ones([2, 2, 8, 8]))) for _ in range(7)]

    step, losses = trained(fluid.replay)
    assert step.replayed == 4
    np.testing.assert_allclose(losses, trained(lambda step: step)[1], rtol=2e-6)


def test_dropout_from_a_stream_of_its_own_runs_as_it_is() -> None:
    own = fluid.flow.Generator()

    @fluid.replay
    def step(x: Any) -> Any:
        return fluid.flow.nn.functional.dropout(x, 0.5, generator=own).sum()

    x = fluid.flow.ones(20)
    step(x)
    with pytest.warns(UserWarning, match="draws from a stream of its own"):
        step(x)
    assert step(x) is not None and step.replayed == 0


def test_dropout_that_nothing_reads_draws_too() -> None:
    def forward(loss: Any) -> Any:
        nn.functional.dropout(loss.detach(), 0.5)
        return loss

    run = compared(body=altered(forward), dropout=0.5, sizes=(8,) * 6)
    assert run.step.replayed == 0
    assert "that nothing reads" in run.told[0]


def test_a_plan_that_fails_has_drawn_nothing() -> None:
    paddle.seed(3)

    @fluid.replay
    def step(x: Any) -> Any:
        with paddle.no_grad():
            return nn.functional.dropout(x, 0.5).sum()

    x = paddle.ones([50])
    for _ in range(4):
        step(x)
    (plan,) = step._forms[next(iter(step._forms))].plans
    run, fluid_error = plan._run, FluidError("it fails behind its draws")

    def failing(feed: Any) -> Any:
        run(feed)
        raise fluid_error

    plan._run = failing
    paddle.seed(5)
    with pytest.warns(UserWarning, match="its plan failed"):
        found = step(x)
    paddle.seed(5)
    assert float(found) == float(nn.functional.dropout(x, 0.5).sum())


def test_a_plan_whose_kernels_decline_draws_once(monkeypatch: Any) -> None:
    declines: list[bool] = []
    executable = CompiledSegment._executable

    def made(segment: Any, *lines: Any) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            results = computed(*given, **more)
            if declines:
                declines.append(True)
                raise KernelDeclined
            return results

        computed = executable(segment, *lines)
        return run

    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")  # others come later
    monkeypatch.setattr(CompiledSegment, "_executable", made)

    def dropped(x: Any) -> Any:
        with paddle.no_grad():
            return paddle.tanh(paddle.exp(nn.functional.dropout(x, 0.5) * 2.0) * 0.1) + 1.0

    x, step = paddle.ones([50]), fluid.replay(dropped)
    for _ in range(6):
        step(x)
    declines.append(True)
    state = paddle.get_rng_state()
    found = [step(x).numpy() for _ in range(2)]
    paddle.set_rng_state(state)
    for each in found:
        np.testing.assert_allclose(each, dropped(x).numpy(), rtol=1e-6)
    assert step.replayed == 5 and len(declines) > 4


def test_a_graph_that_goes_on_behind_the_step_is_not_cut() -> None:
    def forward(net: Any, optimizer: Any, criterion: Any) -> Callable[..., Any]:
        return lambda x, y: criterion(net(x), y)

    run = compared(body=forward, sizes=(8,) * 5)
    assert run.step.replayed == 0
    assert "gradients may flow" in run.told[0]


def test_an_error_in_the_step_leaves_parameters_as_they_were() -> None:
    run = compared()
    weight = run.net[0].weight
    before = weight.numpy()
    x, _ = batch(1)
    with pytest.raises(FluidError, match="test_replay.py"):
        run.step(x, paddle.to_tensor(np.full(8, 7)))
    np.testing.assert_array_equal(weight.numpy(), before)
    assert run.step.replayed == 7
    run.step(*batch(2))
    assert run.step.replayed == 8


def test_methods_are_replayed_for_each_object() -> None:
    class Trainer:
        def __init__(self, rate: float) -> None:
            self.net = nn.Linear(6, 3)
            self.sgd = paddle.optimizer.SGD(rate, parameters=self.net.parameters())
            self.power = 2

        @fluid.replay
        def step(self, x: Any) -> Any:
            loss = (self.net(x) ** self.power).mean()
            loss.backward()
            self.sgd.step()
            self.sgd.clear_grad()
            return {"loss": loss, "power": self.power}

    trainers = Trainer(0.0), Trainer(0.1)
    x, _ = batch(0)
    for trainer in trainers:
        found = [trainer.step(x) for _ in range(5)]
        assert {each["power"] for each in found} == {2}
        assert found[4]["loss"].stop_gradient
    steps: list[Any] = [trainer.step for trainer in trainers]
    assert [step.replayed for step in steps] == [2, 2]
    assert float(trainers[0].step(x)["loss"]) != float(trainers[1].step(x)["loss"])


def test_an_object_whose_method_was_replayed_is_gone_when_it_is_dropped() -> None:
    class Counter:
        def __init__(self) -> None:
            self.weight = paddle.ones([2])

        @fluid.replay
        def step(self, x: Any) -> Any:
            return (self.weight * x).sum()

    counter = Counter()
    assert [float(counter.step(paddle.full([2], k))) for k in range(5)] == [0, 2, 4, 6, 8]
    assert counter.step.replayed == 2
    copied = copy.deepcopy(counter)
    assert copied.step.replayed == 0 and float(copied.step(paddle.ones([2]))) == 2
    dropped = weakref.ref(counter)
    del counter
    gc.collect()
    assert dropped() is None


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(fluid.errors.ArgumentError, match="expected a function to replay"):
        fluid.replay(3)  # type: ignore[type-var]
