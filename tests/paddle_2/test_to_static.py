"""Functions that run as programs give what they give at once: values, shapes, types, gradients."""

import copy
import gc
import weakref

import numpy as np
import pytest

from fluidlite import errors, paddle
from fluidlite.dygraph import ProgramTranslator

InputSpec = paddle.static.InputSpec
F = paddle.nn.functional


def rows():
    return paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3) - 2)


def chooses_late(x):
    if x.sum() > 10:
        return x * 2
    elif x.sum() > 0:
        return x * 3
    return -x


def chooses_numbers(x):
    if x.sum() > 0:
        a, b = x + 1, 2
    else:
        a, b = x, 3
    return a * b


def counts_up(x):
    i = paddle.zeros([1])
    while i < 3:
        x = x + i
        i = i + 1
    return x, i


def counts_without_dimensions(x):
    i, total = paddle.to_tensor(0), paddle.to_tensor(0.0)
    while i < 3:
        total = total + x.sum()
        i = i + 1
    return total, i


def breaks(x):
    i = paddle.zeros([1])
    while i < 10:
        i = i + 1
        if i > 4:
            break
    return i


def continues(x):
    i, total = paddle.zeros([1]), paddle.zeros([1])
    while i < 5:
        i = i + 1
        if i == 3:
            continue
        total = total + i
    return total


def goes_through_rows(x):
    total = paddle.zeros([3])
    for number, row in enumerate(x):
        total = total + row * number
    return total


def collects(x):
    found, i = [], paddle.to_tensor(0)
    while i < 3:
        found.append(x + i)
        i = i + 1
    return paddle.stack(found), paddle.concat(found)


def writes_items(x):
    y = paddle.zeros([2, 3])
    for i in range(2):
        y[i] = x[i] + i
    y[:, 0] = paddle.to_tensor([7.0, 8.0])
    return y


def writes_items_in_a_branch(x):
    x = x + 0
    if x.sum() > 0:
        x[0] = 1.0
    return x


def sums(x):
    return x.sum(), x.mean(), x[0, 0], x.max(), x.numel(), x.argmax(), x.std(), x.logsumexp()


def mixes(x):
    total = x.sum()
    return total * x, total + 1, -total, total**2, total > 1, paddle.stack([total, x.mean()])


def losses(x):
    label = paddle.to_tensor([0, 2])
    return F.cross_entropy(x, label), F.mse_loss(x, x * 2), F.softmax(x).sum()


def makes_tensors(x):
    return x + paddle.to_tensor(np.ones(3, "float32")), paddle.full([], 3.0), paddle.to_tensor(5)


def connects(x):
    if (x.sum() > 0 and not x.mean() > 100) or x.max() < 0:
        return x + 1
    return x if -100 < x.sum() < 100 else x * 0


def structures(x):
    return {"a": x, "b": [x + 1, 3]}, (x, None)


EXAMPLES = [
    *(chooses_late, chooses_numbers, counts_up, counts_without_dimensions, breaks, continues),
    *(goes_through_rows, collects, writes_items, writes_items_in_a_branch, sums, mixes, losses),
    *(makes_tensors, connects, structures),
]


def check_same(found, expected):
    if isinstance(expected, paddle.Tensor):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        check_same(list(found.values()), list(expected.values()))
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            check_same(one, other)
    else:
        assert found == expected


@pytest.mark.parametrize("function", EXAMPLES, ids=lambda f: f.__name__)
def test_a_function_gives_what_it_gives_at_once(function):
    translated = paddle.jit.to_static(function, full_graph=True)
    for x in (rows(), rows() * 10, -rows()):
        check_same(translated(x), function(x))


def test_gradients_of_a_sum_are_those_at_once():
    def cubes(x):
        return (x**3).sum() * x.max()

    x = rows()
    x.stop_gradient = False
    expected = paddle.grad(cubes(x), x)[0]
    check_same(paddle.grad(paddle.jit.to_static(cubes, full_graph=True)(x), x)[0], expected)


# -- what cannot be a program ----------------------------------------------------------------------


def gives_none_or_a_tensor(x):
    y = None
    if x.sum() > 0:
        y = x
    return y


def test_what_cannot_be_a_program_runs_as_it_is():
    translated = paddle.jit.to_static(gives_none_or_a_tensor)
    assert translated(-rows()) is None and translated(-rows()) is None
    check_same(translated(rows()), rows())
    with pytest.raises(errors.UnsupportedError, match="None where it does not"):
        paddle.jit.to_static(gives_none_or_a_tensor, full_graph=True)(rows())


def test_an_error_of_the_function_stays_one():
    def adds(x):
        return x + paddle.ones([7])

    with pytest.raises(errors.ShapeError):
        paddle.jit.to_static(adds)(rows())


class Chooses(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 2)

    def forward(self, x):
        y = gives_none_or_a_tensor(x)
        return self.linear(x) if y is None else self.linear(y) * 2


def test_a_layer_that_cannot_be_a_program_runs_as_it_is():
    net = Chooses()
    expected = net(rows()), net(-rows())
    net = paddle.jit.to_static(net)
    check_same((net(rows()), net(-rows())), expected)


# -- what a translated function knows --------------------------------------------------------------


def scaled(x, factor=2):
    return x * factor


def test_a_function_knows_its_last_program():
    translated = paddle.jit.to_static(scaled, full_graph=True)
    with pytest.raises(ValueError, match="scaled has no program yet"):
        _ = translated.concrete_program
    translated(rows())
    assert translated.concrete_program.inputs[0].shape == (2, 3)
    translated(paddle.ones([4]))
    assert translated.inputs[0].shape == (4,) and len(translated.outputs) == 1
    assert translated.main_program is translated.concrete_program.main_program
    assert translated.dygraph_function is translated.rollback() is scaled
    assert translated.__name__ == "scaled" and "factor" in translated.code
    with pytest.raises(RuntimeError, match="full_graph=True"):
        _ = paddle.jit.to_static(scaled).concrete_program


def test_a_specification_says_the_program():
    spec = [InputSpec([None, 3], name="image")]
    translated = paddle.jit.to_static(scaled, input_spec=spec, full_graph=True)
    assert [(v.name, v.shape) for v in translated.inputs] == [("image", (-1, 3))]
    program, _ = translated.get_concrete_program(InputSpec([7]), 3)
    assert [(v.name, v.shape) for v in program.inputs] == [("x", (7,))]
    check_same(translated(rows()), rows() * 2)


@pytest.mark.parametrize(
    "kind, options",
    [
        (TypeError, {"input_spec": 3}),
        (ValueError, {"input_spec": [3, 4, 5]}),
        (TypeError, {"build_strategy": 3}),
        (ValueError, {"backend": "abacus"}),
    ],
)
def test_options_of_another_kind_are_refused(kind, options):
    with pytest.raises(kind):
        paddle.jit.to_static(scaled, **options)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(3, 2)
        self.norm = paddle.nn.BatchNorm1D(2)

    @paddle.jit.to_static(full_graph=True, input_spec=[InputSpec([None, 3])])
    def forward(self, x):
        return self.norm(self.linear(x))

    @paddle.jit.to_static(full_graph=True, input_spec=[InputSpec([None, 3])])
    def infer(self, x):
        return self.linear(x) * 2


def test_methods_of_a_layer_are_programs_with_its_parameters(tmp_path):
    net, other = Net(), Net()
    net.eval()
    assert net.forward is net.forward is not other.forward
    assert len(net.forward.concrete_program.parameters) == 6
    check_same(net.infer(rows()), net.linear(rows()) * 2)
    paddle.jit.save(net, str(tmp_path / "net"), output_spec=[net.forward.outputs[0]])
    names = sorted(path.name for path in tmp_path.iterdir())
    models = ["net.infer.pdiparams", "net.infer.pdmodel", "net.pdiparams", "net.pdiparams.info"]
    assert names == [*models, "net.pdmodel"]
    loaded = paddle.jit.load(str(tmp_path / "net"))
    check_same((loaded(rows()), loaded.infer(rows())), (net(rows()), net.infer(rows())))
    before = loaded.infer(rows()).numpy()
    for parameter in loaded.parameters():
        parameter.set_value(parameter.numpy() * 0)
    assert np.any(before) and not np.any(loaded.infer(rows()).numpy())  # they are shared
    assert loaded.program("infer") is not loaded.program()
    with pytest.raises(ValueError, match="no method 'other'"):
        loaded.program("other")


def test_a_layer_is_trained_as_a_program():
    net = paddle.jit.to_static(Net(), full_graph=True)
    net(rows()).sum().backward()
    assert net.linear.weight.grad is not None
    assert len(net.forward.main_program.global_block().all_parameters()) == 6
    net.forward.rollback()
    assert not isinstance(net.forward, paddle.jit.api.StaticFunction)


def test_options_of_files_are_checked(tmp_path):
    with pytest.raises(ValueError, match="jit.save takes"):
        paddle.jit.save(Net(), str(tmp_path / "net"), compression=9)
    paddle.jit.save(Net(), str(tmp_path / "net"))
    with pytest.raises(ValueError, match="jit.load takes"):
        paddle.jit.load(str(tmp_path / "net"), compression=9)


def test_levels_are_numbers_and_the_translator_is_one():
    paddle.jit.set_verbosity(1)
    paddle.jit.set_code_level(1)
    for set_level in (paddle.jit.set_verbosity, paddle.jit.set_code_level):
        with pytest.raises(TypeError):
            set_level("all")
    translator = paddle.jit.dy2static.program_translator.ProgramTranslator
    assert translator() is translator.get_instance() is paddle.jit.api.ProgramTranslator()


def test_a_layer_is_traced(tmp_path):
    layer = paddle.nn.Linear(3, 2)
    at_once, traced = paddle.jit.api.TracedLayer.trace(layer, [rows()])
    traced.set_strategy(paddle.static.BuildStrategy(), paddle.static.ExecutionStrategy())
    np.testing.assert_allclose(traced([rows()])[0], layer(rows()).numpy(), rtol=1e-6)
    check_same(at_once, layer(rows()))
    traced.save_inference_model(str(tmp_path / "net"), feed=[0], fetch=[0])
    executor = paddle.static.Executor()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["net.pdiparams", "net.pdmodel"]
    program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "net"), executor)
    (found,) = executor.run(program, {feeds[0]: rows().numpy()}, fetches)
    np.testing.assert_allclose(found, layer(rows()).numpy(), rtol=1e-6)


def rows_in_a_list(x):
    return paddle.stack([row * 2 for row in x])


def rows_in_names(x):
    a, b, c = x
    return a + b * c


def numbers_one_by_one(x):
    total = paddle.zeros([])
    for place, (a, b) in enumerate(zip(x, x)):
        total = total + a * b * place
    return total


@pytest.mark.parametrize("function", [rows_in_a_list, rows_in_names, numbers_one_by_one])
def test_the_rows_of_a_tensor_are_gone_through_as_at_once(function):
    x = paddle.to_tensor(np.arange(3, dtype="float32"))
    if function is not numbers_one_by_one:
        x = paddle.stack([x, x + 1], axis=1)
    translated = paddle.jit.to_static(function, full_graph=True)(x)
    assert translated.shape == function(x).shape
    np.testing.assert_array_equal(translated.numpy(), function(x).numpy())


def test_a_function_whose_source_cannot_be_read_runs_at_once():
    names = {}
    exec("def signed(x):\n    if x.sum() > 0:\n        return x\n    return x * 2", names)
    static = paddle.jit.to_static(names["signed"])
    given = paddle.ones([2])
    with pytest.warns(UserWarning, match="cannot be read"):
        found = [static(x).tolist() for x in (given, -given)]
    assert found == [[1, 1], [-2, -2]]


def test_print_shows_values_at_each_call(capsys):
    @paddle.jit.to_static
    def doubled(x):
        print("x", x, len(x.shape), end="!\n")
        return x * 2

    for number in (1.0, 3.0):
        x = paddle.to_tensor([number])
        assert doubled(x).tolist() == [2 * number]
        assert capsys.readouterr().out == f"x {x} 1!\n"


def test_a_tensor_in_a_function_is_an_instance_of_tensor():
    @paddle.jit.to_static
    def doubled(x, by):
        if isinstance(x, paddle.Tensor) and not isinstance(by, (paddle.Tensor, str)):
            return x * by
        return x

    assert doubled(paddle.to_tensor([1.5]), 2).tolist() == [3.0]


def test_what_is_asserted_of_tensors_fails_as_an_assertion():
    @paddle.jit.to_static
    def checked(x):
        assert x.sum() > 0, "positive ones"
        return x

    assert checked(paddle.to_tensor([1.5])).tolist() == [1.5]
    with pytest.raises(AssertionError):
        checked(paddle.to_tensor([-1.5]))


def test_print_of_a_whole_program_is_an_operator(capsys):
    @paddle.jit.to_static(full_graph=True)
    def doubled(x):
        print(x)
        return x * 2

    doubled(paddle.to_tensor([1.0]))
    assert next(op.type for op in doubled.main_program.global_block().ops) == "print"
    assert "float32 [1]: 1" in capsys.readouterr().out


def test_a_layer_whose_method_ran_as_a_program_is_gone_when_it_is_dropped():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = paddle.nn.Linear(3, 2)

        @paddle.jit.to_static
        def forward(self, x):
            return self.fc(x)

    net = Net()
    assert net.forward is net.forward
    net(rows())
    copied = copy.deepcopy(net)
    assert copied.forward is not net.forward
    np.testing.assert_array_equal(copied(rows()).numpy(), net(rows()).numpy())
    dropped = weakref.ref(net)
    del net
    ProgramTranslator.reset()  # which keeps the last programs
    gc.collect()
    assert dropped() is None
