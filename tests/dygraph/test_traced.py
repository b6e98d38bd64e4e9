"""Layers that are made programs of."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError


class Net(dygraph.Layer):
    def __init__(self):
        super().__init__()
        self.inner = dygraph.Linear(3, 4, act="relu")
        self.again = self.inner
        self.register_buffer("shift", dygraph.to_variable(np.full(4, 0.5, "float32")))

    def forward(self, x):
        y = self.inner(x) + self.shift
        return y, layers.dropout(y, 0.5) + layers.fill_constant([1], "float32", 1.0)


@pytest.fixture
def x():
    with dygraph.guard():
        yield dygraph.to_variable(np.arange(6).reshape(2, 3).astype("float32"))


def test_the_program_gives_what_the_layer_gives(x):
    net = Net()
    net.eval()
    outputs, traced = dygraph.TracedLayer.trace(net, [x])
    for size in (1, 2):
        part = x.numpy()[:size]
        for out, found in zip(outputs, traced([part]), strict=True):
            np.testing.assert_allclose(found, out.numpy()[:size])
    types = [op.type for op in traced.program.global_block().ops]
    assert types.count("matmul") == 1
    assert len(traced.program.all_parameters()) == 2
    assert [v.persistable for v in traced.program.list_vars()].count(True) == 3
    assert all(isinstance(p, dygraph.ParamBase) for p in net.parameters())
    assert fluid.in_dygraph_mode()


def test_the_program_is_saved(x, tmp_path):
    net = Net()
    net.eval()
    (_, second), traced = dygraph.TracedLayer.trace(net, [x])
    traced.set_strategy()
    traced.save_inference_model(str(tmp_path), fetch=[1])
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        program, feeds, fetches = fluid.io.load_inference_model(str(tmp_path), exe)
        (found,) = exe.run(program, feed={feeds[0]: x.numpy()}, fetch_list=fetches)
    np.testing.assert_allclose(found, second.numpy())
    with pytest.raises(IndexError, match="numbers below 2"):
        traced.save_inference_model(str(tmp_path), fetch=[2])


def test_what_cannot_be_traced_is_refused(x):
    class Counts(dygraph.Layer):
        def forward(self, x):
            return 3

    with pytest.raises(ArgumentError, match="to give tensors, got 3"):
        dygraph.TracedLayer.trace(Counts(), [x])
    with pytest.raises(ArgumentError, match="expected a layer to trace"):
        dygraph.TracedLayer.trace(3, [x])
    with pytest.raises(ArgumentError, match="list of tensors as inputs"):
        dygraph.TracedLayer.trace(Net(), [3])
    _, traced = dygraph.TracedLayer.trace(Net(), [x])
    with pytest.raises(ArgumentError, match="1 inputs, got 2"):
        traced([x, x])


def test_after_an_error_the_layer_has_its_tensors_again(x):
    class Fails(dygraph.Layer):
        def __init__(self):
            super().__init__()
            self.inner = dygraph.Linear(3, 4)

        def forward(self, x):
            return self.inner(x).numpy()

    net = Fails()
    with pytest.raises(ArgumentError, match="has no value of its own"):
        dygraph.TracedLayer.trace(net, [x])
    assert isinstance(net.inner.weight, dygraph.ParamBase)


def test_a_declarative_function_runs_at_once(x):
    @dygraph.jit.declarative
    def doubled(x):
        return x * 2.0 if float(layers.mean(x)) > 0 else x

    np.testing.assert_array_equal(doubled(x).numpy(), x.numpy() * 2)
    with pytest.raises(ArgumentError, match="function to decorate"):
        dygraph.declarative(3)
