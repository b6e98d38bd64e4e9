"""Steps are those of Paddle 2 in its words, and those of fluid 1.8 in its own and in programs."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

FILE = Path(__file__).parents[1] / "data" / "optimizers_of_paddle.json.gz"
RECORDED = json.loads(gzip.decompress(FILE.read_bytes()))
PARAMETERS, FACTORS = RECORDED["parameters"], np.array(RECORDED["factors"], "float32")
NAMES = {
    "lr": fluid.optimizer.lr,
    **vars(fluid.optimizer),
    **vars(fluid.regularizer),
    **vars(fluid.clip),
    **{name: getattr(fluid.nn, name) for name in dir(fluid.nn) if name.startswith("ClipGrad")},
}
OWN = {"learning_rate": 0.5, "regularizer": fluid.regularizer.L2Decay(0.3)}


def attributes(case, value):
    start = fluid.initializer.NumpyArrayInitializer(np.array(value, "float32"))
    return fluid.ParamAttr(initializer=start, **(OWN if "own" in case else {}))


def at_once(case):
    """The values of all parameters after each step of an eager optimizer."""
    p = [fluid.create_parameter([2], "float32", attr=attributes(case, v)) for v, _ in PARAMETERS]
    optimizer, found = eval(case, {**NAMES, "p": p, "own": p}), []
    rate = optimizer._learning_rate
    for factor in FACTORS:
        for w, (_, gradient) in zip(p, PARAMETERS):
            fluid.sum(w * fluid.to_tensor(np.array(gradient, "float32") * factor)).backward()
        optimizer.step()
        optimizer.clear_grad()
        if not isinstance(rate, float):
            rate.step()
        found.append([w.numpy() for w in p])
    return found


def in_a_program(case):
    """The same of an optimizer of a program."""
    p = [
        fluid.layers.create_parameter([2], "float32", attr=attributes(case, v))
        for v, _ in PARAMETERS
    ]
    factor = fluid.data("factor", [1], "float32")
    gradients = [fluid.layers.assign(np.array(g, "float32")) for _, g in PARAMETERS]
    total = fluid.layers.sums([w * g * factor for w, g in zip(p, gradients)])
    eval(case, {**NAMES, "p": p}).minimize(fluid.layers.reduce_sum(total))
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    read = lambda w: np.array(fluid.global_scope().find_var(w.name).get_tensor())
    found = []
    for each in FACTORS:
        executor.run(feed={"factor": np.array([each])})
        found.append([read(w) for w in p])
    return found


def assert_steps(found, expected):
    for k, row in enumerate(zip(*found)):
        wanted = np.array([step[k] for step in expected], "float32")
        # of each element: what begins with 0 and gets a gradient of 1e-7 stays small
        size = np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(axis=0)
        error = np.abs(np.array(row) - wanted)
        error[np.isnan(wanted) & np.isnan(np.array(row))] = 0
        assert (error <= 2e-6 * size).all(), (k, np.array(row), wanted)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("case", RECORDED["paddle2"])
def test_in_the_words_of_paddle_2_steps_are_its(case):
    assert_steps(at_once(case), RECORDED["paddle2"][case])


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("run", [at_once, in_a_program])
@pytest.mark.parametrize("case", RECORDED["fluid18"])
def test_in_the_words_of_fluid_steps_are_its(case, run):
    assert_steps(run(case), RECORDED["fluid18"][case])


@pytest.mark.parametrize("case", RECORDED["tables"])
def test_steps_on_some_rows_are_those_of_paddle_2(case):
    net = fluid.nn.Embedding(4, 2, sparse=True)
    net.weight.set_value(np.full([4, 2], 0.5, "float32"))
    optimizer = eval(case, {**NAMES, "p": net.parameters()})
    for rows, expected in zip(RECORDED["rows"], RECORDED["tables"][case]):
        fluid.sum(net(fluid.to_tensor(np.array(rows))) ** 2).backward()
        optimizer.step()
        optimizer.clear_grad()
        np.testing.assert_allclose(net.weight.numpy(), expected, rtol=2e-6)


def parameter():
    return fluid.create_parameter([2], "float32")


@pytest.mark.parametrize(
    "older, newer",
    [
        ({"parameter_list": 0}, {"weight_decay": 0.1}),
        ({"parameter_list": 0}, {"parameters": 0}),
        ({"regularization": fluid.regularizer.L2Decay(0.1)}, {"parameters": 0}),
        (
            {"regularization": fluid.regularizer.L2Decay(0.1), "parameter_list": 0},
            {"weight_decay": 0.1},
        ),
        ({"parameter_list": 0}, {"multi_precision": True}),
    ],
)
@pytest.mark.parametrize("kind", ["SGD", "Adam", "Momentum"])
def test_words_of_both_in_one_call_are_refused(kind, older, newer):
    given = {
        n: [parameter()] if v == 0 and v is not False else v for n, v in {**older, **newer}.items()
    }
    with pytest.raises(
        ArgumentError, match=f"{kind}: .*{next(iter(older))}.* cannot be given both"
    ):
        getattr(fluid.optimizer, kind)(0.1, **given)


def test_what_only_paddle_2_has_a_default_for_is_needed_in_the_words_of_fluid():
    assert fluid.optimizer.SGD(parameters=[parameter()]).get_lr() == 0.001
    assert repr(fluid.optimizer.Momentum(parameters=[parameter()])).startswith(
        "Momentum(learning_rate=0.001, momentum=0.9"
    )
    with pytest.raises(ArgumentError, match="expected the learning rate to be a number"):
        fluid.optimizer.SGD(parameter_list=[parameter()])
    with pytest.raises(ArgumentError, match="momentum to be a number of at least 0, got None"):
        fluid.optimizer.Momentum(0.1, parameter_list=[parameter()])
    for_a_program = fluid.optimizer.Momentum(weight_decay=0.1)
    assert repr(for_a_program).startswith("Momentum(learning_rate=0.001, momentum=0.9")
    with pytest.raises(ArgumentError, match="expected the learning rate to be a number"):
        fluid.optimizer.SGD()


def test_rescale_grad_has_no_effect_and_says_it():
    with pytest.warns(UserWarning, match="rescale_grad has no effect"):
        fluid.optimizer.Momentum(0.1, parameters=[parameter()], rescale_grad=0.5)


def test_a_subclass_of_ones_own_chooses_its_words():
    class Own(fluid.optimizer.Adam):
        def __init__(self, rate, params, **more):
            super().__init__(rate, parameters=params, **more)

    w = parameter()
    assert Own(0.1, [w]).attrs(w)["epsilon"] == 1e-8 and Own(0.1, [w]).type == "adam_v2"
    assert fluid.optimizer.Adam(0.1, parameter_list=[w]).type == "adam"


@pytest.mark.parametrize(
    "optimizer, right",
    [  # what paddle 2.6.2 gives
        ("Adam(1.0, 0.9, 0.95, parameters=[w])", -0.9579858534274823),
        ("AdamW(1.0, 0.9, 0.95, parameters=[w], weight_decay=0.0)", -0.9579858534274823),
        ("Adamax(1.0, 0.9, 0.95, parameters=[w])", -0.7631583088322679),
        ("Lamb(1.0, beta1=0.9, beta2=0.95, parameters=[w])", -0.9579853230891845),
        ("SGD(0.1, parameters=[w])", 0.7),
    ],
)
def test_paddle_2_computes_with_the_numbers_that_are_given_in_double_precision(optimizer, right):
    w = fluid.create_parameter([1], "float64")
    w.set_value([1.0])
    steps = eval(optimizer, {**NAMES, "w": w})
    for factor in (1.0, 2.0):
        (w * factor).sum().backward()
        steps.step()
        steps.clear_grad()
    assert abs(float(w) - right) < 1e-12
