"""Functions and layers as programs, and models of them in files."""

import types
from pathlib import Path

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import ArgumentError, FileFormatError, ForeignEffectError, UnsupportedError
from fluidlite.ir.foreign import mark_all
from fluidlite.paddle.jit.models import TranslatedLayer, _Loaded

X = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")
MODEL = Path(__file__).parents[1] / "data" / "paddle26_model" / "twice"
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


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_saved_averages_count_padding_as_paddle_2_does(tmp_path):
    spec = paddle.static.InputSpec([None, 1, None, None], "float32", "x")
    layer = paddle.nn.AvgPool2D(3, 2, 1, ceil_mode=True, exclusive=False)
    paddle.jit.save(layer, tmp_path / "pool", [spec])
    loaded = paddle.jit.load(tmp_path / "pool")
    along = np.array([2 / 3, 1, 1, 1 / 2])  # numbers of paddle 2.6.2
    found = loaded(paddle.ones([1, 1, 6, 6])).numpy()[0, 0]
    np.testing.assert_allclose(found, np.multiply.outer(along, along), rtol=1e-6)


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


class Doubling(paddle.nn.Layer):
    """A layer with two methods that run as programs."""

    def __init__(self):
        super().__init__()
        self.line = paddle.nn.Linear(3, 2)

    @paddle.jit.to_static
    def forward(self, x):
        return self.line(x)

    @paddle.jit.to_static
    def second(self, x):
        return x * 2


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_what_was_called_is_saved_as_it_was_called(tmp_path):
    layer, x = Doubling(), paddle.to_tensor(X)
    with pytest.raises(ArgumentError, match="what Doubling is called with; give input_spec"):
        paddle.jit.save(layer, tmp_path / "net")
    expected = layer(x).numpy()
    with pytest.raises(ArgumentError, match=r"Doubling\.second is called with; call it first, or"):
        paddle.jit.save(layer, tmp_path / "net")
    assert not [*tmp_path.iterdir()]
    layer.second(x)
    paddle.jit.save(layer, tmp_path / "net")
    loaded = paddle.jit.load(tmp_path / "net")
    np.testing.assert_array_equal(loaded(x).numpy(), expected)
    np.testing.assert_array_equal(loaded.second(x).numpy(), X * 2)
    assert not loaded.training


def test_a_model_of_paddle_26_with_two_methods_is_read_whole():
    loaded = paddle.jit.load(MODEL)
    x = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    np.testing.assert_allclose(loaded(x).numpy(), [[0, 3.2], [-1.8, 5]], 1e-5, 1e-6)
    np.testing.assert_array_equal(loaded.second(x).numpy(), x.numpy() * 2)
    assert [*loaded.state_dict()] == ["param_0", "param_1"]
    state = paddle.load(MODEL)
    assert {name: value.shape for name, value in state.items()} == {
        "a.bias": (2,),
        "a.weight": (3, 2),
    }


def test_values_of_a_model_are_read_by_their_names_in_the_layer(net, tmp_path):
    paddle.jit.save(net, tmp_path / "net", SPEC)
    state, again = paddle.load(tmp_path / "net"), Net()
    assert {*state} == {*net.state_dict()}
    again.set_state_dict(state)
    again.eval()
    np.testing.assert_array_equal(
        again(paddle.to_tensor(X)).numpy(), net(paddle.to_tensor(X)).numpy()
    )
    (tmp_path / "net.pdiparams.info").unlink()
    arrays = paddle.load(tmp_path / "net", return_numpy=True)
    assert {*arrays} == {tensor.name for tensor in net.state_dict().values()}
    assert paddle.jit.load(tmp_path / "net")(X).shape == [4, 2]
    (tmp_path / "net.pdiparams.info").write_bytes(b"nonsense")
    with pytest.raises(FileFormatError, match="net.pdiparams.info"):
        paddle.load(tmp_path / "net")


def test_a_loaded_layer_is_saved_again_and_is_part_of_another_one(tmp_path):
    layer = paddle.nn.Sequential(paddle.nn.Linear(3, 2), paddle.nn.BatchNorm1D(2))
    layer.eval()
    paddle.jit.save(layer, tmp_path / "once", SPEC)
    loaded = paddle.jit.load(tmp_path / "once")
    paddle.jit.save(loaded, tmp_path / "twice", SPEC)
    around = paddle.nn.Sequential(loaded, paddle.nn.ReLU())
    paddle.jit.save(around, tmp_path / "part", SPEC)
    expected = layer(paddle.to_tensor(X)).numpy()
    np.testing.assert_array_equal(paddle.jit.load(tmp_path / "twice")(X).numpy(), expected)
    found = paddle.jit.load(tmp_path / "part")(X).numpy()
    np.testing.assert_array_equal(found, np.maximum(expected, 0))


def test_a_loaded_layer_with_branches_is_no_part_of_another_program(net, tmp_path):
    paddle.jit.save(net, tmp_path / "net", SPEC)
    loaded = paddle.jit.load(tmp_path / "net")
    with pytest.raises(UnsupportedError, match="a model with branches or loops"):
        paddle.jit.save(loaded, tmp_path / "again", SPEC)


@pytest.mark.filterwarnings("ignore:the model has no variables")
def test_an_output_that_is_given_twice_is_saved_once(tmp_path):
    @paddle.jit.to_static
    def twice(x):
        y = x + 1
        return {"a": y, "b": [y, x * 2]}

    found = twice(paddle.to_tensor(X))
    assert found["a"] is found["b"][0]
    paddle.jit.save(twice, tmp_path / "twice", SPEC)
    loaded = paddle.jit.load(tmp_path / "twice")
    assert [v.shape for v in loaded._output_spec()] == [(-1, 3)] * 2
    assert len(loaded(X)) == 2


def test_truth_values_of_a_read_model_follow_its_other_results(tmp_path):
    class Signs(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.factor = self.create_parameter(
                [2], default_initializer=paddle.nn.initializer.Constant(1.0)
            )

        def forward(self, x):
            x = x * self.factor
            return x > 0, x.sum(-1), x < 1, (x * 3).astype("int32")

    spec = [paddle.static.InputSpec([None, 2], "float32")]
    paddle.jit.save(Signs(), str(tmp_path / "signs"), input_spec=spec)
    x = paddle.to_tensor([[2.0, -1.0]])
    results = [each.tolist() for each in paddle.jit.load(str(tmp_path / "signs"))(x)]
    assert results == [[1.0], [[6, -3]], [[True, False]], [[False, True]]]
