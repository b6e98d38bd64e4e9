"""Objects of public classes are pickled and copied, or say how to save them instead."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow, paddle
from fluidlite.errors import ClosedError, UnsupportedError

WAYS = [lambda each: pickle.loads(pickle.dumps(each)), copy.deepcopy, copy.copy]
ROWS = np.ones([2, 3], "float32")


def trained():
    """A program that trains, and what was made with it."""
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    adam = fluid.optimizer.Adam(0.1)
    adam.minimize(loss)
    average = fluid.optimizer.ModelAverage(0.1)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return x, loss, adam, average, executor


@pytest.mark.parametrize("way", WAYS)
def test_an_executor_that_is_copied_runs_the_same(way):
    _, loss, _, _, executor = trained()
    again = way(executor)
    first = again.run(feed={"x": ROWS}, fetch_list=[loss])
    second = executor.run(feed={"x": ROWS}, fetch_list=[loss])
    assert first != second  # both made a step of the same parameters
    executor.close()
    assert again.run(feed={"x": ROWS}, fetch_list=[loss])
    with pytest.raises(ClosedError):
        way(executor).run(feed={"x": ROWS})


def test_an_executor_of_a_users_class_keeps_what_it_has():
    executor = Mine()
    executor.note = [1]
    for way in WAYS:
        again = way(executor)
        assert (again.note, again.place, type(again)) == ([1], executor.place, Mine)


class Mine(fluid.Executor):
    """An executor with a constructor of its own."""

    def __init__(self):
        super().__init__(fluid.CPUPlace())


class Net(flow.nn.Graph):
    """A graph."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def build(self, x):
        return self.layer(x)


def objects():
    """Objects of public classes, by their names."""
    x, loss, adam, average, executor = trained()
    main = fluid.default_main_program()
    compiled = fluid.CompiledProgram(main).with_data_parallel(places=fluid.cpu_places(1))
    ema = fluid.optimizer.ExponentialMovingAverage(0.9)
    yield from (main, main.desc, main.global_block(), loss.op, x, compiled, adam, average, ema)
    yield from (executor, fluid.global_scope(), fluid.DataFeeder([x]), fluid.io.PyReader([x], 2))
    yield from (fluid.ParamAttr("a"), fluid.CPUPlace(), fluid.metrics.Auc("a"), x.dtype)
    with fluid.dygraph.guard():
        line = fluid.dygraph.Linear(3, 2)
        tensor = fluid.dygraph.to_variable(ROWS)
        yield from (line, tensor, fluid.dygraph.TracedLayer.trace(line, [tensor])[1])
        yield fluid.dygraph.DataParallel(line)
    net = paddle.nn.LSTM(3, 2)
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    adamw = paddle.optimizer.AdamW(rate, parameters=net.parameters())
    yield from (net, adamw, paddle.Model(net), paddle.metric.Accuracy())
    layer = flow.nn.Linear(3, 2)
    optimizer, graph = flow.optim.Adam(layer.parameters()), Net(layer)
    graph(flow.ones(2, 3))
    data = flow.utils.data.TensorDataset(flow.ones(2, 3))
    yield from (layer, optimizer, graph, flow.ones(2).shape, flow.utils.data.DataLoader(data))


def test_objects_of_public_classes_are_pickled_and_copied():
    for each in objects():
        for way in WAYS:
            assert type(way(each)) is type(each)


def test_an_average_that_is_pickled_applies_its_programs():
    *_, average, executor = trained()
    executor.run(feed={"x": ROWS})
    again = pickle.loads(pickle.dumps(average))
    assert again._opti_name_list == average._opti_name_list
    held = fluid.global_scope().find_var(average.params_grads[0][0].name).get_tensor()
    before = np.array(held)
    with again.apply(executor):
        assert np.isfinite(np.array(held)).all()
    assert np.array_equal(np.array(held), before)


def test_a_layer_that_runs_as_a_program_says_how_to_save_it():
    layer = paddle.jit.to_static(paddle.nn.Linear(3, 2))
    with pytest.raises(UnsupportedError, match=r"a Linear of to_static .*paddle.jit.save\(layer"):
        pickle.dumps(layer)
    copied = copy.deepcopy(layer)
    x = paddle.to_tensor(ROWS)
    assert np.array_equal(copied(x).numpy(), layer(x).numpy())
