"""Optimizers of eager parameters; dygraph/test_twins compares their steps with programs'."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError, ParameterListError, ShapeError, StateDictError
from fluidlite.ground import state


@pytest.fixture(autouse=True)
def guard():
    with dygraph.guard(), fluid.unique_name.guard():
        yield


def parameter(*values, name=None, **more):
    attr = fluid.ParamAttr(name=name, **more)
    made = layers.create_parameter([len(values)], "float32", attr=attr)
    made.set_value(np.array(values))
    return made


def net():
    made = dygraph.Sequential(dygraph.Linear(2, 3, act="tanh"), dygraph.Linear(3, 1))
    for k, p in enumerate(made.parameters()):
        p.set_value(np.cos(np.arange(p.size) + k).reshape(p.shape))
    return made


def step(model, optimizer):
    x = dygraph.to_variable(np.arange(8).reshape(4, 2).astype("float32") / 8)
    model.clear_gradients()
    loss = layers.reduce_mean(layers.square(model(x) - 1.0))
    loss.backward()
    optimizer.minimize(loss)
    return loss.item()


def test_minimize_uses_the_gradients_that_are_there():
    w = parameter(1.0, 2.0)
    sgd = fluid.optimizer.SGD(0.1, parameter_list=[w])
    loss = layers.reduce_sum(w * 3.0)
    loss.backward()
    ops, pairs = sgd.minimize(loss)
    assert ops == []
    assert [(p, g.numpy().tolist()) for p, g in pairs] == [(w, [3, 3])]
    np.testing.assert_allclose(w.numpy(), [0.7, 1.7])
    assert sgd.apply_gradients([(w, None)]) == []
    np.testing.assert_allclose(w.numpy(), [0.7, 1.7])
    sgd.apply_gradients(sgd.backward(loss))
    np.testing.assert_allclose(w.numpy(), [0.4, 1.4])


def test_step_and_clear_grad_of_paddle_2():
    w = fluid.create_parameter([2], "float32")
    start = w.numpy()
    momentum = fluid.optimizer.Momentum(0.5, 0.5, parameter_list=[w])
    for _ in range(2):
        fluid.sum(w).backward()
        momentum.step()
        momentum.clear_grad()
    np.testing.assert_allclose(start - w.numpy(), 0.5 + 0.75, rtol=1e-5)
    assert w.grad.tolist() == [0, 0]
    momentum.clear_grad(set_to_zero=False)
    assert w.gradient() is None


def test_the_parameters_must_be_named():
    with pytest.raises(ParameterListError, match=r"parameter_list=net\.parameters"):
        fluid.optimizer.SGD(0.1)
    with pytest.raises(AttributeError):
        fluid.optimizer.Adam()
    with pytest.raises(ArgumentError, match="eager parameters, got 'w'"):
        fluid.optimizer.SGD(0.1, parameter_list=["w"])
    with pytest.raises(ArgumentError, match="expected parameter_list to be a list"):
        fluid.optimizer.SGD(0.1, parameter_list=parameter(1.0))
    with pytest.raises(ArgumentError, match="two parameters are called 'w'"):
        fluid.optimizer.SGD(
            0.1, parameter_list=[parameter(1.0, name="w"), parameter(2.0, name="w")]
        )
    with pytest.raises(ArgumentError, match="parameters of floats"):
        fluid.optimizer.SGD(0.1, parameter_list=[dygraph.to_variable(np.arange(3))])


def test_one_parameter_may_stand_twice():
    w = parameter(1.0)
    with pytest.warns(fluid.errors.FluidWarning, match=f"more than once among .*: {w.name};"):
        sgd = fluid.optimizer.SGD(0.1, parameter_list=[w, w])
    layers.reduce_sum(w).backward()
    sgd.step()
    np.testing.assert_allclose(w.numpy(), [0.9])


def test_some_parameters_only():
    a, b, c = parameter(1.0, name="a"), parameter(1.0, name="b"), parameter(1.0, name="c")
    sgd = fluid.optimizer.SGD(0.5, parameter_list=[a, b, c])
    loss = layers.reduce_sum(a + b + c)
    loss.backward()
    sgd.minimize(loss, parameter_list=[a, "b"], no_grad_set={"b"})
    assert [p.item() for p in (a, b, c)] == [0.5, 1, 1]
    c.trainable = False
    sgd.minimize(loss)
    assert [p.item() for p in (a, b, c)] == [0, 0.5, 1]


def test_without_gradients_it_warns():
    w = parameter(1.0)
    loss = layers.reduce_sum(w)
    with pytest.warns(UserWarning, match=r"backward\(\) of the loss first"):
        fluid.optimizer.SGD(0.1, parameter_list=[w]).minimize(loss)
    assert w.item() == 1


def test_programs_and_tensors_do_not_mix():
    w = parameter(1.0)
    sgd = fluid.optimizer.SGD(0.1, parameter_list=[w])
    with pytest.raises(ArgumentError, match="expected the loss to be an eager tensor"):
        sgd.minimize(fluid.data("x", [1]))
    with state.eager.guard(False):
        of_programs = fluid.optimizer.SGD(0.1)
    with pytest.raises(ArgumentError, match="one of programs"):
        of_programs.step()
    with pytest.raises(ArgumentError, match="make it with a parameter_list"):
        of_programs.minimize(layers.reduce_sum(w))


def test_a_parameter_has_its_own_rate_regularizer_and_clip():
    fast = parameter(1.0, learning_rate=2.0)
    decayed = parameter(1.0, regularizer=fluid.regularizer.L2Decay(3.0))
    clipped = parameter(1.0, gradient_clip=fluid.clip.GradientClipByValue(0.5))
    sgd = fluid.optimizer.SGD(0.1, parameter_list=[fast, decayed, clipped])
    layers.reduce_sum(fast + decayed + clipped).backward()
    sgd.step()
    found = [p.item() for p in (fast, decayed, clipped)]
    np.testing.assert_allclose(found, [0.8, 0.6, 0.95], rtol=1e-6)


def test_clips_and_decays_of_the_users_own_are_said_in_layers():
    class Halved(fluid.clip.GradientClipBase):
        def clip(self, params_grads):
            return [layers.scale(gradient, 0.5) for _, gradient in params_grads]

    class Pulled(fluid.regularizer.WeightDecayRegularizer):
        def __call__(self, param, grad, block):
            return layers.scale(param, 2.0)

    w = parameter(1.0)
    sgd = fluid.optimizer.SGD(0.1, [w], regularization=Pulled(), grad_clip=Halved())
    layers.reduce_sum(w * 4.0).backward()
    sgd.step()
    np.testing.assert_allclose(w.item(), 1 - 0.1 * (2 + 2), rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: fluid.optimizer.SGD(0.1, p),
        lambda p: fluid.optimizer.SGD(0.1, p, regularization=fluid.regularizer.L2Decay(0.1)),
        lambda p: fluid.optimizer.SGD(0.1, p, grad_clip=fluid.clip.GradientClipByValue(0.5)),
        lambda p: fluid.optimizer.SGD(0.1, p, grad_clip=fluid.clip.GradientClipByNorm(0.5)),
        lambda p: fluid.optimizer.SGD(0.1, p, grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5)),
        lambda p: fluid.optimizer.Momentum(0.1, 0.9, p),
        lambda p: fluid.optimizer.Adagrad(0.1, parameter_list=p),
    ],
)
def test_sparse_gradients_make_the_steps_of_dense_ones(make):
    tables = [dygraph.Embedding([5, 2], is_sparse=sparse) for sparse in (True, False)]
    tables[1].set_dict(tables[0].state_dict())
    for table in tables:
        optimizer = make(table.parameters())
        for _ in range(3):
            ids = dygraph.to_variable(np.array([1, 3, 1]))
            layers.reduce_sum(layers.square(table(ids))).backward()
            optimizer.step()
    sparse, dense = (table.weight.numpy() for table in tables)
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)


class TestTheRate:
    def test_of_a_number(self):
        sgd = fluid.optimizer.SGD(0.1, parameter_list=[parameter(1.0)])
        assert sgd.current_step_lr() == 0.1
        sgd.set_lr(0.02)
        assert sgd.current_step_lr() == 0.02
        with pytest.raises(ArgumentError):
            sgd.set_lr("fast")

    def test_of_a_decay(self):
        w = parameter(1.0)
        rate = dygraph.ExponentialDecay(0.1, 1, 0.5)
        sgd = fluid.optimizer.SGD(rate, parameter_list=[w])
        assert sgd.current_step_lr() == 0.1
        found = []
        for _ in range(3):
            layers.reduce_sum(w).backward()
            sgd.step()
            found.append(sgd.current_step_lr())
        np.testing.assert_allclose(found, [0.1, 0.05, 0.025])
        np.testing.assert_allclose(w.item(), 1 - 0.175, rtol=1e-6)
        with pytest.raises(ArgumentError, match="in place of a number"):
            sgd.set_lr(0.1)

    def test_functions_of_layers_make_decays(self):
        rate = layers.piecewise_decay([1], [0.5, 0.25])
        sgd = fluid.optimizer.SGD(rate, parameter_list=[parameter(1.0)])
        assert sgd.current_step_lr() == 0.5

    def test_a_decay_is_for_eager_parameters(self):
        rate = dygraph.NoamDecay(4, 3)
        with state.eager.guard(False), pytest.raises(ArgumentError, match="schedule of fluid"):
            fluid.optimizer.SGD(rate)


class TestStates:
    def test_names_are_those_of_fluid(self):
        model = net()
        adam = fluid.optimizer.Adam(0.1, parameter_list=model.parameters(), name="my")
        assert adam.state_dict() == {}
        step(model, adam)
        assert adam.get_opti_var_name_list()[0] == "linear_0.w_0_my_moment1_0"
        assert adam.state_of("moment1", model[0].weight).shape == [2, 3]
        with pytest.raises(ArgumentError, match="keeps no 'velocity'"):
            adam.state_of("velocity", model[0].weight)

    def test_training_goes_on_from_a_state(self, tmp_path):
        model = net()
        rate = dygraph.PolynomialDecay(0.1, 10)
        adam = fluid.optimizer.Adam(rate, parameter_list=model.parameters())
        for _ in range(3):
            step(model, adam)
        path = str(tmp_path / "model")
        fluid.save_dygraph(model.state_dict(), path)
        fluid.save_dygraph(adam.state_dict(), path)
        expected = [step(model, adam) for _ in range(3)]
        parameters, states = fluid.load_dygraph(path)
        assert int(states["global_step"][0]) == 3

        model.set_dict(parameters)
        adam.set_dict(states)
        np.testing.assert_allclose([step(model, adam) for _ in range(3)], expected, rtol=1e-6)

        fresh = fluid.optimizer.Adam(
            dygraph.PolynomialDecay(0.1, 10), parameter_list=model.parameters()
        )
        model.set_dict(parameters)
        fresh.set_dict(states)
        np.testing.assert_allclose([step(model, fresh) for _ in range(3)], expected, rtol=1e-6)

    def test_a_state_must_fit(self):
        model = net()
        momentum = fluid.optimizer.Momentum(0.1, 0.9, parameter_list=model.parameters())
        step(model, momentum)
        state = {name: value.numpy() for name, value in momentum.state_dict().items()}
        with pytest.raises(StateDictError, match=r"lack 'linear_0\.w_0_velocity_0'"):
            momentum.set_dict({})
        with pytest.raises(ShapeError, match=r"shape \[2, 3\]"):
            momentum.set_dict({**state, "linear_0.w_0_velocity_0": np.zeros(3)})
        with pytest.raises(ArgumentError, match="dictionary of arrays"):
            momentum.set_dict([1])

    def test_optimizers_are_copied_and_pickled_with_their_nets(self):
        model = net()
        adam = fluid.optimizer.Adam(0.1, parameter_list=model.parameters())
        step(model, adam)
        pair = model, adam
        copies = [copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))]
        expected = [step(model, adam) for _ in range(3)]
        for again in copies:
            assert [step(*again) for _ in range(3)] == expected

    def test_an_optimizer_of_programs_is_copied_without_them(self):
        with state.eager.guard(False):
            x = fluid.data("x", [None, 3])
            loss = layers.mean(layers.fc(x, 1))
            adam = fluid.optimizer.Adam(0.1)
            adam.minimize(loss)
            again = pickle.loads(pickle.dumps(adam))
            assert again.get_opti_var_name_list() == []
            assert again.current_step_lr() == 0.1


def test_a_subclass_adds_to_the_step_of_eager_parameters():
    class Decaying(fluid.optimizer.SGD):
        def apply_optimize(self, loss, startup_program, params_grads):
            super().apply_optimize(loss, startup_program, params_grads)
            for param, _ in params_grads:
                fluid.layers.assign(param * (1.0 - 0.5 * self.current_step_lr()), param)

    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(2, 1, bias_attr=False)
        layer.weight.set_value(np.array([[1.0], [3.0]], "float32"))
        loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.ones([4, 2], "float32"))))
        loss.backward()
        Decaying(1.0, parameter_list=layer.parameters()).minimize(loss)
        assert layer.weight.numpy().tolist() == [[0.0], [1.0]]
