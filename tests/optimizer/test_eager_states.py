"""States of optimizers of eager parameters: what is loaded, and what is refused."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError, StateDictError

KINDS = ["Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSProp", "Lamb"]


def net():
    made = fluid.nn.Sequential(fluid.nn.Linear(2, 3), fluid.nn.Tanh(), fluid.nn.Linear(3, 3))
    for k, p in enumerate(made.parameters()):
        p.set_value(np.cos(np.arange(p.size) + k).reshape(p.shape))
    return made


def made(kind, parameters, **more):
    return getattr(fluid.optimizer, kind)(learning_rate=0.1, parameters=parameters, **more)


def step(model, optimizer):
    loss = fluid.mean((model(fluid.to_tensor(np.eye(2, dtype="float32"))) - 1.0) ** 2)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss.item()


def stepped(kind="Adam", **more):
    model = net()
    optimizer = made(kind, model.parameters(), **more)
    for _ in range(3):
        step(model, optimizer)
    return model, optimizer, {k: v.numpy() for k, v in optimizer.state_dict().items()}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_states_of_an_equal_net_load_by_position(kind, late):
    first, optimizer, state = stepped(kind)
    second = net()
    again = made(kind, second.parameters())
    if late:
        step(second, again)
    for mine, other in zip(second.parameters(), first.parameters()):
        mine.set_value(other.numpy())
    with pytest.raises(StateDictError, match=r"keeps nothing called '.*by_position=True"):
        again.set_state_dict(state)
    again.set_state_dict(state, by_position=True)
    expected = [step(first, optimizer) for _ in range(3)]
    assert [step(second, again) for _ in range(3)] == expected


def test_entries_that_make_no_sense_are_named_and_change_nothing():
    model, adam, state = stepped()
    before = {k: v.numpy() for k, v in adam.state_dict().items()}
    names = list(state)
    for optimizer in (adam, made("Adam", model.parameters())):
        for wrong in ({"foo": 1}, {"linear_9.w_0_moment1_0": np.zeros(3)}, {names[0] + "x": 1}):
            with pytest.raises(StateDictError, match=f"keeps nothing called '{next(iter(wrong))}'"):
                optimizer.set_state_dict({**{k: v * 0 for k, v in state.items()}, **wrong})
    with pytest.raises(StateDictError, match="and 2 more"):
        adam.set_state_dict({**state, **dict.fromkeys("abcdef", 1)})
    with pytest.raises(StateDictError, match="keeps nothing called '.*velocity"):
        adam.set_state_dict(stepped("Momentum")[2])
    assert all((before[k] == v.numpy()).all() for k, v in adam.state_dict().items())


@pytest.mark.parametrize("late", [False, True])
def test_a_state_that_is_missing_is_named(late):
    model, adam, state = stepped()
    optimizer = adam if late else made("Adam", model.parameters())
    name = next(n for n in state if "moment2" in n)
    with pytest.raises(StateDictError, match=f"the states lack '{name if late else name[:-2]}"):
        optimizer.set_state_dict({k: v for k, v in state.items() if k != name})
    with pytest.raises(ShapeError, match=rf"expected '{name}' of shape \[2, 3\], got \[7\]"):
        optimizer.set_state_dict({**state, name: np.zeros(7)})
    with pytest.raises(ArgumentError, match="dictionary of arrays"):
        optimizer.set_state_dict([1])


def test_the_first_step_says_which_parameters_the_states_lack():
    model, _, state = stepped()
    owner = model[2].weight.name
    fresh = made("Adam", model.parameters())
    fresh.set_state_dict({k: v for k, v in state.items() if not k.startswith(f"{owner}_")})
    before = [p.numpy() for p in model.parameters()]
    with pytest.raises(StateDictError, match=f"have nothing for '{owner}_moment1', '{owner}_mom"):
        step(model, fresh)
    assert all((b == p.numpy()).all() for b, p in zip(before, model.parameters()))


def test_parameters_without_gradients_have_no_states_and_need_none():
    model = net()
    model[0].weight.stop_gradient = True
    adam = made("Adam", model.parameters())
    step(model, adam)
    state = adam.state_dict()
    assert not any(model[0].weight.name in name for name in state)
    again = made("Adam", model.parameters())
    again.set_state_dict(state)
    step(model, again)
    model[0].weight.stop_gradient = False  # all that was loaded is in use: it begins with zeros
    step(model, again)
    assert again.state_of("moment1", model[0].weight).numpy().any()


def test_the_number_behind_a_name_does_not_matter():
    model, _, state = stepped()
    fresh = made("Adam", model.parameters())
    state = {k if k == "formula" else k.rpartition("_")[0] + "_7": v for k, v in state.items()}
    fresh.set_state_dict(state)
    step(model, fresh)
    kept = fresh.state_of("beta1_pow_acc", model[0].weight).numpy()
    np.testing.assert_allclose(kept, 0.9**5, rtol=1e-6)


def test_a_state_by_position_needs_as_many_parameters():
    model, _, state = stepped()
    fewer = made("Adam", model.parameters()[:3])
    with pytest.raises(StateDictError, match="expected states of 3 parameters, got those of 4"):
        fewer.set_state_dict(state, by_position=True)
    with pytest.raises(StateDictError, match="expected names that end in moment1, moment2"):
        fewer.set_state_dict({"foo": 1}, by_position=True)


def test_a_learning_rate_that_does_not_fit_changes_no_state():
    model = net()
    rate = fluid.optimizer.lr.StepDecay(0.1, 2)
    adam = fluid.optimizer.Adam(rate, parameters=model.parameters())
    step(model, adam)
    state = {k: v.numpy() * 0 if hasattr(v, "numpy") else v for k, v in adam.state_dict().items()}
    before = adam.state_of("moment1", model[0].weight).numpy()
    with pytest.raises(StateDictError, match="the state of StepDecay lacks"):
        adam.set_state_dict({**state, "LR_Scheduler": {}})
    assert (adam.state_of("moment1", model[0].weight).numpy() == before).all()


@pytest.mark.parametrize("kind, told", [("Adam", True), ("Lamb", True), ("RMSProp", False)])
def test_states_of_before_load_and_say_once_that_the_formula_has_changed(kind, told, recwarn):
    model, _, state = stepped(kind)
    assert ("formula" in state) is told
    of_before = {k: v for k, v in state.items() if k != "formula"}
    for _ in range(2):
        fresh = made(kind, model.parameters())
        fresh.set_state_dict(of_before)
        step(model, fresh)
    assert [("paddle 2's formula" in str(w.message)) for w in recwarn] == [True] * told
    fluids = getattr(fluid.optimizer, kind)(0.1, parameter_list=model.parameters())
    fluids.set_state_dict(of_before)
    assert len(recwarn) == told
    fluids.set_state_dict(state)
    assert len(recwarn) == 2 * told


def test_states_of_a_program_load_by_position():
    kept = {}
    for name in ("first", "second"):
        with fluid.program_guard(fluid.Program(), fluid.Program()):
            x = fluid.data("x", [2, 2], "float32")
            loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.fc(x, 2, name=name), 2) ** 2)
            adam = fluid.optimizer.Adam(0.1)
            adam.minimize(loss)
            executor, scope = fluid.Executor(), fluid.Scope()
            executor.run(fluid.default_startup_program(), scope=scope)
            executor.run(feed={"x": np.eye(2, dtype="float32")}, scope=scope)
            kept[name] = adam, scope, adam.state_dict(scope)
            accumulated = adam._accumulators["moment1"]
            assert sorted(v.name for v in accumulated.values()) == sorted(
                n for n in kept[name][2] if "moment1" in n
            )
    (_, _, given), (adam, scope, _) = kept.values()
    with pytest.raises(ArgumentError, match="the states lack"):
        adam.set_state_dict(given, scope)
    adam.set_state_dict(given, scope, by_position=True)
    for mine, other in zip(adam.state_dict(scope).values(), given.values()):
        assert (mine == other).all()


def test_accumulators_are_those_of_eager_parameters_too():
    model, adam, _ = stepped()
    weight = model[0].weight
    assert adam._accumulators["moment1"][weight.name] is adam.state_of("moment1", weight)
