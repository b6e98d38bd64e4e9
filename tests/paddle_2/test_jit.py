"""Functions and layers as programs, and models of them in files."""

import types

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, ForeignEffectError
from fluidlite.ir.foreign import mark_all
from fluidlite.paddle.jit.models import TranslatedLayer, _Loaded

X = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")
SPEC = [paddle.static.InputSpec([None, 3], "float32", "x")]
PAIR = [*SPEC, paddle.static.InputSpec([None, 3], "float32", "y")]


class Net(paddle.nn.Layer):
    """A layer whose call depends on values."""

    def __init__(self):
        super().__init__()
        self.line = paddle.nn.Linear(3, 2)
        self.norm = paddle.nn.BatchNorm1D(2)

    def forward(self, x):
        y = self.norm(self.line(x))
        if paddle.sum(x) > 0:
            y = y * 2.0
        return y


@pytest.fixture
def net():
    made = Net()
    made.eval()
    return made


def test_a_saved_layer_gives_the_same_numbers_on_batches_of_any_size(net, tmp_path):
    paddle.jit.save(net, tmp_path / "net", SPEC)
    files = ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]
    assert sorted(p.name for p in tmp_path.iterdir()) == files
    loaded = paddle.jit.load(tmp_path / "net")
    for array in (X, X[:1], X + 1):
        x = paddle.to_tensor(array)
        np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    assert [v.name for v in loaded.program().list_vars() if v.is_data] == ["x"]


def test_a_loaded_layer_is_trained_further(net, tmp_path):
    paddle.jit.save(net, tmp_path / "net", SPEC)
    loaded = paddle.jit.load(tmp_path / "net")
    assert [each.stop_gradient for each in loaded.parameters()].count(False) == 4
    assert len(loaded.parameters()) == 6 and not loaded.buffers()
    sgd = paddle.optimizer.SGD(0.1, parameters=loaded.parameters())
    same = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        for layer, optimizer in ((loaded, sgd), (net, same)):
            paddle.mean(paddle.square(layer(paddle.to_tensor(X)))).backward()
            optimizer.step()
            optimizer.clear_grad()
    np.testing.assert_allclose(loaded(X).numpy(), net(paddle.to_tensor(X)).numpy(), 1e-6)


@pytest.mark.parametrize("decorate", [False, True])
def test_a_layer_that_runs_as_a_program_is_saved_as_it_was_declared(tmp_path, decorate):
    class Line(Net):
        forward = paddle.jit.to_static(input_spec=SPEC)(Net.forward)

    layer = Line() if decorate else paddle.jit.to_static(Net(), input_spec=SPEC)
    layer.eval()
    x = paddle.to_tensor(X)
    expected = layer(x).numpy()
    paddle.jit.save(layer, tmp_path / "net")
    np.testing.assert_array_equal(paddle.jit.load(tmp_path / "net")(x).numpy(), expected)


class Shifted(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = paddle.nn.Linear(3, 2), paddle.nn.BatchNorm1D(2)
        self.still = self.create_parameter([2])
        self.still.stop_gradient = True
        self.register_buffer("shift", paddle.ones([2]), persistable=False)

    def forward(self, x, y):
        return self.norm(self.linear(x - y)) + self.still + self.shift


def test_a_model_says_where_its_layer_had_what_and_what_is_trained(tmp_path):
    layer, path = Shifted(), tmp_path / "net"
    paddle.jit.save(layer, path, PAIR)
    loaded = paddle.jit.load(path)
    stops = {name: each.stop_gradient for name, each in loaded.named_parameters()}
    assert list(stops) == [f"param_{n}" for n in range(7)]
    assert [*stops.values()].count(True) == 3  # the statistics, and what stands still
    assert [name for name, _ in loaded.named_buffers()] == ["buffer_0"]
    state = paddle.load(path)
    assert sorted(state) == sorted([*layer.state_dict(), "shift"])
    other = Shifted()
    other.set_state_dict(state)
    layer.eval(), other.eval(), loaded.eval()
    x, y = paddle.to_tensor(X), paddle.to_tensor(X[:, ::-1].copy())
    np.testing.assert_allclose(other(x, y).numpy(), layer(x, y).numpy(), 1e-6)
    np.testing.assert_allclose(loaded(x, y).numpy(), layer(x, y).numpy(), 1e-6)
    (tmp_path / "net.pdiparams.info").unlink()
    assert "linear.weight" not in paddle.load(path)


def test_the_last_input_is_fed_first_as_loaders_of_paddle_expect(tmp_path):
    paddle.jit.save(Shifted(), tmp_path / "net", PAIR)
    program = paddle.load(str(tmp_path / "net.pdmodel"))
    fed = [op.attr("col") for op in program.global_block().ops if op.type == "feed"]
    assert fed == [1, 0]


def test_a_function_is_saved(tmp_path):
    w = paddle.create_parameter([3, 2])

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 3])])
    def product(x, twice=True):
        y = paddle.matmul(x, w)
        return y * 2 if twice else y

    paddle.jit.save(product, tmp_path / "f")
    x = paddle.to_tensor(X)
    np.testing.assert_allclose(paddle.jit.load(tmp_path / "f")(x).numpy(), X @ w.numpy() * 2, 1e-6)


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_several_outputs_come_back_as_a_list_and_can_be_chosen(tmp_path):
    @paddle.jit.to_static
    def both(x, y):
        return x + y, x - y

    spec = [paddle.to_tensor(X), paddle.to_tensor(X)]
    paddle.jit.save(both, tmp_path / "all", spec)
    added, subtracted = paddle.jit.load(tmp_path / "all")(X, X[:, ::-1].copy())
    np.testing.assert_allclose(added.numpy(), X + X[:, ::-1], 1e-6)
    np.testing.assert_allclose(subtracted.numpy(), X - X[:, ::-1], 1e-6)
    paddle.jit.save(both, tmp_path / "one", spec, output_spec=[0])
    np.testing.assert_allclose(paddle.jit.load(tmp_path / "one")(X, X).numpy(), X + X, 1e-6)


def test_what_is_called_with_must_be_known(net, tmp_path):
    with pytest.raises(ArgumentError, match="jit.save does not know what Net is called with; give"):
        paddle.jit.save(net, tmp_path / "net")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("chosen", [[5], ["y"], [-1]])
def test_an_output_that_is_not_there_is_refused(net, tmp_path, chosen):
    with pytest.raises(ArgumentError, match="to be numbers below 1, or outputs, got"):
        paddle.jit.save(net, tmp_path / "net", SPEC, output_spec=chosen)
    assert not list(tmp_path.iterdir())


def test_too_many_declared_inputs_are_refused(net, tmp_path):
    with pytest.raises(ArgumentError, match="cannot be called with the 2 entries of input_spec"):
        paddle.jit.save(net, tmp_path / "net", SPEC * 2)


def test_the_number_of_inputs_is_checked(net, tmp_path):
    paddle.jit.save(net, tmp_path / "net", SPEC)
    with pytest.raises(ArgumentError, match="the model takes 1 inputs, got 2"):
        paddle.jit.load(tmp_path / "net")(X, X)


def test_a_model_that_would_write_files_is_refused(tmp_path):
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [None, 3])
        attrs = {"file_path": str(tmp_path / "written")}
        program.global_block().append_op("save", inputs={"X": [x]}, outputs={}, attrs=attrs)
        y = x * 2.0
    mark_all(program)
    layer = TranslatedLayer(_Loaded(program, ["x"], [y], {}, {}))
    with pytest.raises(ForeignEffectError, match="written"):
        layer(X)
    assert not (tmp_path / "written").exists()


def test_functions_that_shall_run_as_they_are_are_not_translated():
    calls = []

    @paddle.jit.not_to_static
    def plain(x):
        calls.append(type(x).__name__)
        return x + 1

    @paddle.jit.to_static
    def outer(x):
        return plain(x) * 2

    assert outer(paddle.to_tensor([1.0])).tolist() == [4.0]
    assert len(calls) == 1


def test_modules_can_be_left_as_they_are():
    module = types.ModuleType("others")
    exec("def f(x):\n    return x if x.shape[0] > 1 else -x", vars(module))
    paddle.jit.ignore_module([module])
    assert paddle.jit.to_static(lambda x: x)(paddle.to_tensor([2.0])).tolist() == [2.0]
    assert module.f.__runs_as_it_is__


def test_programs_can_be_switched_off():
    calls = []

    @paddle.jit.to_static
    def f(x):
        calls.append(1)
        return x * 2

    x = paddle.to_tensor([1.0])
    f(x), f(x)
    assert len(calls) == 1
    paddle.jit.enable_to_static(False)
    try:
        f(x), f(x)
    finally:
        paddle.jit.enable_to_static(True)
    assert len(calls) == 3
