"""Optimizers with the arguments of paddle 2.6, in both modes."""

import copy
import gzip
import inspect
import json
import pathlib

import numpy as np
import paddle2_training
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import ArgumentError, DTypeError

DATA = pathlib.Path(__file__).parents[1] / "data" / "paddle2_trainings.json.gz"
TRAININGS = json.loads(gzip.decompress(DATA.read_bytes()))

#: as ``inspect`` shows them in 2.6
SIGNATURES = {
    "SGD": "learning_rate=0.001, parameters=None, weight_decay=None, grad_clip=None, "
    "multi_precision=False, name=None",
    "Momentum": "learning_rate=0.001, momentum=0.9, parameters=None, use_nesterov=False, "
    "weight_decay=None, grad_clip=None, multi_precision=False, rescale_grad=1.0, "
    "use_multi_tensor=False, name=None",
    "Adagrad": "learning_rate, epsilon=1e-06, parameters=None, weight_decay=None, grad_clip=None, "
    "name=None, initial_accumulator_value=0.0",
    "Adadelta": "learning_rate=0.001, epsilon=1e-06, rho=0.95, parameters=None, "
    "weight_decay=None, grad_clip=None, name=None",
    "Adam": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameters=None, "
    "weight_decay=None, grad_clip=None, lazy_mode=False, multi_precision=False, "
    "use_multi_tensor=False, name=None",
    "AdamW": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameters=None, "
    "weight_decay=0.01, lr_ratio=None, apply_decay_param_fun=None, grad_clip=None, "
    "lazy_mode=False, multi_precision=False, name=None",
    "Adamax": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, parameters=None, "
    "weight_decay=None, grad_clip=None, name=None",
    "RMSProp": "learning_rate, rho=0.95, epsilon=1e-06, momentum=0.0, centered=False, "
    "parameters=None, weight_decay=None, grad_clip=None, name=None",
    "Lamb": "learning_rate=0.001, lamb_weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-06, "
    "parameters=None, grad_clip=None, exclude_from_weight_decay_fn=None, multi_precision=False, "
    "always_adapt=False, name=None",
    "Optimizer": "learning_rate, parameters=None, weight_decay=None, grad_clip=None, name=None",
}


@pytest.fixture
def weight():
    return paddle.create_parameter(
        [2], "float32", default_initializer=fluid.nn.initializer.Constant(1.0)
    )


@pytest.mark.parametrize("kind", SIGNATURES)
def test_arguments_have_the_order_and_the_defaults_of_2_6(kind):
    found = inspect.signature(getattr(paddle.optimizer, kind))
    plain = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    assert ", ".join(map(str, plain)) == SIGNATURES[kind]
    assert issubclass(getattr(paddle.optimizer, kind), paddle.optimizer.Optimizer)


@pytest.mark.parametrize("case", paddle2_training.OPTIMIZERS)
@pytest.mark.parametrize("way", paddle2_training.WAYS)
def test_trainings_are_those_of_the_real_one(case, way):
    found = paddle2_training.trained(paddle, case, way)
    np.testing.assert_allclose(found, TRAININGS[f"{case}, {way}"], rtol=2e-6, atol=2e-6)


def test_in_dynamic_mode_an_optimizer_is_told_what_to_update():
    with pytest.raises(AttributeError, match="parameters=layer.parameters"):
        paddle.optimizer.SGD(0.1)
    with pytest.raises(TypeError, match="a list, of groups as well"):
        paddle.optimizer.SGD(0.1, parameters={})


@pytest.mark.parametrize(
    "name, value", [("beta1", 1.0), ("beta2", -0.1), ("epsilon", -1.0), ("beta1", None)]
)
def test_numbers_out_of_their_range_are_refused(weight, name, value):
    with pytest.raises(ValueError, match=f"Adam: expected {name} to be a number"):
        paddle.optimizer.Adam(0.1, parameters=[weight], **{name: value})


def test_a_rate_is_a_number_or_a_scheduler(weight):
    for rate in (None, "0.1", paddle.to_tensor(0.1)):
        with pytest.raises(ArgumentError, match="expected the learning rate"):
            paddle.optimizer.SGD(rate, [weight])
    sgd = paddle.optimizer.SGD(0.1, [weight])
    sgd.set_lr(1)
    assert sgd.get_lr() == 1.0
    with pytest.raises(TypeError, match="to be a number"):
        sgd.set_lr(np.float32(0.5))
    sgd.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.5, 1))
    assert sgd.get_lr() == 0.5
    with pytest.raises(RuntimeError, match="a scheduler gives the rate"):
        sgd.set_lr(0.1)


def test_states_have_the_names_of_2_6_and_no_others(weight):
    layer = paddle.nn.Linear(2, 3)
    adam = paddle.optimizer.Adam(
        paddle.optimizer.lr.StepDecay(0.1, 2), parameters=layer.parameters(), name="own"
    )
    layer(paddle.ones([1, 2])).sum().backward()
    adam.step()
    names = [layer.weight.name, layer.bias.name]
    kinds = "moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"
    listed = [f"{name}_own_{kind}_0" for kind in kinds for name in names]
    assert list(adam.state_dict()) == [*listed, "LR_Scheduler"]
    assert adam.state_dict()["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}


def test_states_of_other_names_are_passed_over_and_kept_ones_are_missed(weight):
    momentum = paddle.optimizer.Momentum(0.1, parameters=[weight])
    momentum.set_state_dict({"another": np.ones(3)})
    (weight * 2.0).sum().backward()
    with pytest.raises(AssertionError, match="nothing for '.*velocity'"):
        momentum.step()
    momentum.set_state_dict({})
    momentum.step()
    with pytest.raises(AssertionError, match="lack '.*velocity_0'"):
        momentum.set_state_dict({"another": np.ones(3)})
    momentum.set_state_dict({f"{weight.name}_velocity_0": np.float32([4, 5]), "another": 1})
    assert momentum.state_of("velocity", weight).tolist() == [4.0, 5.0]


def test_a_scheduler_sets_the_rate_of_a_program_before_each_run():
    paddle.enable_static()
    try:
        main, start = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, start):
            w = paddle.create_parameter(
                [2], "float32", name="w", default_initializer=fluid.nn.initializer.Constant(1.0)
            )
            rate = paddle.optimizer.lr.StepDecay(0.1, 1, 0.5)
            sgd = paddle.optimizer.SGD(rate)
            sgd.minimize(paddle.sum(w))
    finally:
        paddle.disable_static()
    exe = paddle.static.Executor()
    exe.run(start)

    def after(program):
        return np.round(exe.run(program, fetch_list=[w])[0], 4).tolist()

    found = []
    for program in (main, main, main.clone(), main.clone(for_test=True)):
        found.append(after(program))
        rate.step()
    assert [row[0] for row in found] == pytest.approx([0.9, 0.85, 0.825, 0.825], abs=1e-4)
    assert sgd.get_lr() == 0.1 / 16
    prepared, before = exe.prepare(main, [], [w]), after(main)[0]
    for _ in range(4):
        begin, rate.base_lr = before, rate.base_lr * 4
        rate.step()
        before = float(prepared({})[0][0])
        assert begin - before == pytest.approx(rate(), abs=1e-4)
    with pytest.raises(AssertionError, match="is for eager parameters"):
        sgd.state_dict()


def test_regularization_is_appended_to_gradients_alone(weight):
    (weight * 2.0).sum().backward()
    sgd = paddle.optimizer.SGD(0.1, [weight])
    pairs = sgd.append_regularization_ops(
        [(weight, weight.grad)], paddle.regularizer.L2Decay(coeff=0.5)
    )
    assert pairs[0][1].tolist() == [2.5, 2.5]


def test_regularizers_say_their_coefficient():
    assert str(paddle.regularizer.L1Decay(0.25)) == "L1Decay, coeff=0.250000"
    assert repr(paddle.regularizer.L2Decay(coeff=0.5)) == "L2Decay(coeff=0.5)"
    assert paddle.regularizer.L2Decay() == paddle.regularizer.L2Decay(0.0)


def test_gradients_that_need_no_clip_neither_change_nor_count():
    parameters = [
        paddle.create_parameter([1], "float32", attr=paddle.ParamAttr(need_clip=need))
        for need in (True, False)
    ]
    (parameters[0] * 3.0 + parameters[1] * 4.0).sum().backward()
    pairs = [(p, p.grad) for p in parameters]
    for clip in (paddle.nn.ClipGradByGlobalNorm(1.0), paddle.nn.ClipGradByNorm(1.0)):
        assert [g.tolist() for _, g in clip(pairs)] == [[1.0], [4.0]]
    assert [g.tolist() for _, g in paddle.nn.ClipGradByValue(0.5)(pairs)] == [[0.5], [4.0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["SGD", "Momentum", "Adam", "AdamW", "Lamb"])
def test_parameters_of_16_bits_are_kept_in_float32_besides(kind, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")

    def trained(dtype, **options):
        w = paddle.create_parameter(
            [2], dtype, name="w", default_initializer=fluid.nn.initializer.Constant(1.0)
        )
        optimizer = getattr(paddle.optimizer, kind)(1e-4, parameters=[w], **options)
        for _ in range(8):
            (w * 2.0).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        return w, optimizer

    whole, _ = trained("float32")
    half, optimizer = trained(dtype, multi_precision=True)
    states = optimizer.state_dict()
    master = states["master_weights"]["w"]
    assert {str(s.dtype) for n, s in states.items() if n != "master_weights"} <= {str(master.dtype)}
    assert str(master.dtype) == str(whole.dtype)
    np.testing.assert_allclose(master.numpy(), whole.numpy(), rtol=1e-6)
    rounded = master.astype(dtype).astype("float32")
    np.testing.assert_array_equal(half.astype("float32").numpy(), rounded.numpy())
    if dtype == "float16" or kind == "SGD":
        rough, _ = trained(dtype)
        assert (rough.astype("float32").numpy() != master.numpy()).all()
    else:
        with pytest.raises(DTypeError, match="bfloat16"):
            trained(dtype)
    again = getattr(paddle.optimizer, kind)(1e-4, parameters=[half], multi_precision=True)
    states["master_weights"] = {"w": np.float32([3.0, 4.0])}
    again.set_state_dict(states)
    assert again.state_dict()["master_weights"]["w"].tolist() == [3.0, 4.0]


def test_states_go_over_to_parameters_of_other_names_by_position():
    first, second = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
    trained = paddle.optimizer.Adam(0.1, parameters=first.parameters())
    first(paddle.ones([1, 2])).sum().backward()
    trained.step()
    again = paddle.optimizer.Adam(0.1, parameters=second.parameters())
    again.set_state_dict(trained.state_dict())
    second(paddle.ones([1, 2])).sum().backward()
    with pytest.raises(AssertionError, match=r"nothing for .*by_position=True"):
        again.step()
    again.set_state_dict(trained.state_dict(), by_position=True)
    again.step()
    for name, left, right in zip("wb", first.parameters(), second.parameters()):
        moments = [
            adam.state_of("moment1", p).numpy() for adam, p in zip((trained, again), (left, right))
        ]
        np.testing.assert_allclose(moments[1], moments[0] * 1.9, rtol=1e-6, err_msg=name)
    with pytest.raises(AssertionError, match=r"lack .*by_position=True"):
        again.set_state_dict({"another": 1})


def test_one_optimizer_updates_a_layer_and_its_copy():
    with fluid.unique_name.guard():
        layer = paddle.nn.Linear(2, 2)
        other, third = copy.deepcopy(layer), copy.deepcopy(layer)
        again, x = copy.deepcopy(other), paddle.ones([1, 2])
        assert other.weight.name == "linear_0.w_0_deepcopy_0"
        assert other.bias.name == "linear_0.b_0_deepcopy_1"
        assert third.weight.name == "linear_0.w_0_deepcopy_2"
        assert again.weight.name == "linear_0.w_0_deepcopy_0_deepcopy_4"
        assert copy.deepcopy(x).name == f"{x.name}_deepcopy_6"
        assert copy.copy(layer).weight.name == "linear_0.w_0"
    adam = paddle.optimizer.Adam(0.5, parameters=layer.parameters() + other.parameters())
    before = other.weight.numpy()
    (layer(x) + other(x) * 2.0).sum().backward()
    adam.step()
    np.testing.assert_array_equal(layer.weight.numpy(), other.weight.numpy())
    assert (before != other.weight.numpy()).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda p: paddle.optimizer.Adam(0.5, parameters=p),
        lambda p: paddle.incubate.LookAhead(paddle.optimizer.Adam(0.5, parameters=p), k=2),
    ],
)
def test_an_optimizer_that_is_copied_with_its_net_goes_on(make):
    net = paddle.nn.Linear(2, 2)
    pair = net, make(net.parameters())

    def step(net, optimizer):
        (net(paddle.to_tensor([[1.0, 2.0]])) ** 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        return net.weight.tolist()

    step(*pair)
    again = copy.deepcopy(pair)
    assert [step(*again) for _ in range(3)] == [step(*pair) for _ in range(3)]
    assert all("deepcopy" in name for name in again[1].state_dict() if "moment" in name)


def test_a_gradient_of_rows_stays_one_for_optimizers_whoever_looks_at_it():
    def trained(look):
        table = paddle.nn.Embedding(5, 2, sparse=True)
        table.weight.set_value(np.arange(10, dtype="float32").reshape(5, 2))
        adam = paddle.optimizer.Adam(0.1, parameters=table.parameters(), lazy_mode=True)
        for rows in ([1, 3, 1], [0, 1]):
            for _ in range(2):  # gradients add up
                (table(paddle.to_tensor(rows)) ** 2).sum().backward()
                look(table.weight)
            adam.step()
            adam.clear_grad()
        return table.weight

    unseen = trained(lambda weight: None).numpy()
    seen = trained(lambda weight: weight.grad)
    np.testing.assert_array_equal(seen.numpy(), unseen)
    assert seen.grad.shape == [5, 2] and not seen.grad.numpy().any()
    still = trained(lambda weight: weight.grad.set_value(weight.grad * 0.0)).numpy()
    np.testing.assert_array_equal(still, np.arange(10).reshape(5, 2))  # what is there counts


class _Mine(paddle.optimizer.Optimizer):
    """An optimizer as programs for 2.6 derive them."""

    def __init__(self, learning_rate, parameters):
        super().__init__(learning_rate=learning_rate, parameters=parameters)
        self.type = "mine"

    def _create_accumulators(self, block, parameters):
        for p in parameters:
            self._add_accumulator("m", p)
            self._add_accumulator(name="t", param=p, fill_value=1.0, shape=[1], dtype="float32")

    def _append_optimize_op(self, block, param_and_grad):
        p, g = param_and_grad
        m, t = self._get_accumulator("m", p), self._get_accumulator("t", p)
        m.set_value(0.5 * m + g)
        t.set_value(t * 2)
        p.add_(-self._create_param_lr(param_and_grad) * m)


def test_an_optimizer_of_yours_says_how_a_parameter_is_updated():
    w = paddle.create_parameter([2], "float32")
    w.set_value(np.ones(2, "float32"))
    mine = _Mine(0.1, [w])
    for _ in range(3):
        w.sum().backward()
        mine.step()
        mine.clear_grad()
    np.testing.assert_allclose(w.numpy(), 0.575, rtol=1e-6)
    states = mine.state_dict()
    assert [*states] == [f"{w.name}_m_0", f"{w.name}_t_0"]
    assert [each.tolist() for each in states.values()] == [[1.75, 1.75], [8.0]]
    again = _Mine(0.1, [w])
    again.set_state_dict(states)
    w.sum().backward()
    again.step()
    assert again._get_accumulator("m", w).tolist() == [1.875, 1.875]
    assert again._get_accumulator("t", w).tolist() == [16.0]


def test_a_derived_optimizer_changes_what_the_step_of_its_base_gets():
    class Halved(paddle.optimizer.SGD):
        def _append_optimize_op(self, block, param_and_grad):
            param, grad = param_and_grad
            return super()._append_optimize_op(block, (param, grad * 0.5))

    w = paddle.create_parameter([2], "float32")
    w.set_value(np.ones(2, "float32"))
    halved = Halved(paddle.optimizer.lr.StepDecay(1.0, 1, 0.5), parameters=[w])
    for _ in range(2):
        w.sum().backward()
        halved.step()
        halved.clear_grad()
        halved._learning_rate.step()
    assert w.tolist() == [0.25, 0.25]


def test_libraries_find_the_parameters_or_the_groups_of_an_optimizer():
    layer, more = paddle.nn.Linear(2, 3), paddle.nn.Linear(3, 2)
    plain = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    assert [id(p) for p in plain._param_groups] == [id(p) for p in layer.parameters()]
    plain._param_groups.extend(more.parameters())
    before = more.weight.numpy()
    more(layer(paddle.ones([1, 2]))).sum().backward()
    plain.step()
    assert (more.weight.numpy() != before).all()

    clip = paddle.nn.ClipGradByNorm(1.0)
    groups = [
        {"params": [layer.weight], "learning_rate": 0.5},
        {"params": layer.bias, "weight_decay": 0.3},
    ]
    adamw = paddle.optimizer.AdamW(0.1, parameters=groups, weight_decay=0.2, grad_clip=clip)
    first, second = adamw._param_groups
    numbers = ["beta1", "beta2", "epsilon", "lazy_mode"]
    assert list(first) == ["params", "learning_rate", "weight_decay", *numbers, "grad_clip"]
    assert first["params"][0] is layer.weight and second["params"][0] is layer.bias
    assert (first["weight_decay"], second["weight_decay"]) == (0.2, 0.3)
    assert first["grad_clip"] is clip and first["learning_rate"] == 0.5


def ones(optimizer, **more):
    """Two parameters, and an optimizer that has each in a group."""
    params = [paddle.create_parameter([2], "float32") for _ in range(2)]
    for each in params:
        each.set_value(np.ones(2, "float32"))
    groups = [{"params": [params[0]], "learning_rate": 0.5}, {"params": [params[1]]}]
    return params, optimizer(0.1, parameters=groups, **more)


def stepped(optimizer, params):
    sum((each * 3.0).sum() for each in params).backward()
    optimizer.step()
    optimizer.clear_grad()
    return np.round([float(each[0]) for each in params], 5).tolist()


def test_what_libraries_write_to_groups_counts_in_later_steps_as_in_paddle():
    params, adamw = ones(paddle.optimizer.AdamW, weight_decay=0.1)
    assert adamw._param_groups is adamw._param_groups
    assert stepped(adamw, params) == [0.945, 0.89]
    for group in adamw._param_groups:
        group["weight_decay"] = 1.0
    assert stepped(adamw, params) == [0.84775, 0.701]
    for group in adamw._param_groups:
        group["learning_rate"] = 2.0  # which Paddle reads once
    assert stepped(adamw, params) == [0.75536, 0.5309]
    params, sgd = ones(paddle.optimizer.SGD)
    sgd._param_groups[1]["grad_clip"] = paddle.nn.ClipGradByValue(1.0)
    assert stepped(sgd, params) == [0.85, 0.9]


def test_a_wrong_value_in_a_group_is_refused_at_each_step_and_changes_nothing():
    params, adamw = ones(paddle.optimizer.AdamW, weight_decay=0.1)
    adamw._param_groups[1].update(beta1=2.0, weight_decay=1.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="beta1"):
            stepped(adamw, params)
        assert [each.tolist() for each in params] == [[1.0, 1.0]] * 2
        adamw.clear_grad()
    adamw._param_groups[1]["beta1"] = 0.9
    assert stepped(adamw, params) == [0.945, 0.8]


def test_libraries_add_groups_to_an_optimizer():
    params, adamw = ones(paddle.optimizer.AdamW)
    more = paddle.create_parameter([2], "float32")
    more.set_value(np.ones(2, "float32"))
    adamw._add_param_group({"params": [more], "learning_rate": 0.1, "weight_decay": 0.0})
    assert stepped(adamw, [*params, more]) == [0.9495, 0.899, 0.99]
    assert len(adamw._param_groups) == 3 and adamw._param_groups[2]["beta1"] == 0.9
    with pytest.raises(ValueError, match="stands in two groups"):
        adamw._add_param_group({"params": [more]})
    with pytest.raises(ValueError, match="are no groups"):
        paddle.optimizer.SGD(0.1, parameters=params)._add_param_group({"params": [more]})
