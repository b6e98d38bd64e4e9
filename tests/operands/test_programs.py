"""What functions of tensors append to programs, and what they refuse to."""

import gc
import weakref

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import ArgumentError, InplaceError, ShapeError


def run(*fetched, **feed):
    """Run the default programs, the startup program where it does something."""
    executor = fluid.Executor()
    if fluid.default_startup_program().global_block().ops:
        executor.run(fluid.default_startup_program())
    return executor.run(feed=feed, fetch_list=list(fetched))


def size():
    """How many operators and variables the default programs have."""
    programs = fluid.default_main_program(), fluid.default_startup_program()
    return [(len(p.global_block().ops), len(p.global_block().vars)) for p in programs]


def test_numbers_and_arrays_stand_among_variables():
    x = fluid.data("x", [2], "float32")
    y = fluid.add(fluid.multiply(np.array([2.0, 3.0], "float32"), x), 1)
    z = np.array([1.0, 2.0], "float32") - x * np.array([2.0, 3.0], "float32")
    found, other = run(y, z, x=np.array([1.0, 10.0], "float32"))
    assert found.tolist() == [3.0, 31.0] and other.tolist() == [-1.0, -28.0]


@pytest.mark.parametrize("function", [fluid.add, flow.mul, fluid.concat, fluid.matmul])
def test_a_tensor_among_variables_is_to_be_fed(function):
    x, t = fluid.data("x", [2, 2], "float32"), fluid.ones([2, 2])
    given = [[x, t]] if function is fluid.concat else [x, t]
    with pytest.raises(ArgumentError, match=r"got a tensor among variables .*: feed it"):
        function(*given)
    with pytest.raises(ArgumentError, match="feed it"):
        x + t


def test_a_call_that_fails_appends_nothing():
    x = fluid.tanh(fluid.data("x", [2, 3], "float32"))
    before = size()
    with pytest.raises(ArgumentError, match=r"cross_entropy .*test_programs.*feed it"):
        fluid.nn.functional.cross_entropy(x, fluid.ones([2]))
    with pytest.raises(ShapeError):
        fluid.moveaxis(fluid.exp(x), 0, 7)
    assert size() == [(before[0][0] + 1, before[0][1] + 1), before[1]]  # that of exp stays


def test_a_program_is_freed_behind_a_call():
    program = fluid.Program()
    with fluid.program_guard(program):
        fluid.exp(fluid.data("x", [2], "float32"))
    seen = weakref.ref(program)
    del program
    gc.collect()
    assert seen() is None


def test_a_module_that_fails_appends_nothing():
    class Net(flow.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = flow.nn.Linear(3, 2)

        def forward(self, x):
            return fluid.unstack(self.linear(x))

    x = fluid.data("x", [None, 3], "float32")
    before = size()
    with pytest.raises(ArgumentError, match="unstack .* computes with a size of a variable"):
        Net()(x)
    assert size() == before


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda x: fluid.quantile(x, x), "quantile"),
        (lambda x: flow.is_nonzero(x), "is_nonzero"),
        (lambda x: fluid.full([2], x), "full"),
        (lambda x: fluid.flip(x, x), "flip"),
        (lambda x: fluid.linspace(0, 1, x), "linspace"),
    ],
)
def test_what_reads_elements_says_which_function_and_which_line(call, name):
    x = fluid.data("x", [1], "int64")
    with pytest.raises(ArgumentError, match=rf"{name} \(called at .*test_programs.py:\d+\) reads"):
        call(x)


def test_an_element_as_a_number_is_fetched():
    x = fluid.data("x", [1], "float32")
    with pytest.raises(AttributeError, match="item.*fetch it"):
        x.item()
    with pytest.raises(TypeError, match="fetch it"):
        float(x)


def test_a_parameter_is_not_written_in_place():
    w = fluid.layers.create_parameter([2], "float32")
    with pytest.raises(InplaceError, match=r"add_ .*writes in place to variable"):
        w.add_(1.0)
    with pytest.raises(InplaceError, match="cannot change the shape"):
        fluid.data("x", [2, 1], "float32").add_(fluid.data("y", [2, 3], "float32"))


def test_what_is_written_in_place_is_read_from_there_on_and_differentiated():
    def computed(x):
        y = x * 2.0
        z = y + x
        y.add_(1.0)
        y[0] = 5.0
        return fluid.sum(z) + fluid.sum(y * y)

    value = np.array([1.0, 2.0], "float32")
    t = fluid.to_tensor(value, stop_gradient=False)
    wanted = computed(t)
    wanted.backward()
    x = fluid.data("x", [2], "float32")
    x.stop_gradient = False
    loss = computed(x)
    found, gradient = run(loss, fluid.gradients(loss, x)[0], x=value)
    assert float(found[0]) == float(wanted) and gradient.tolist() == t.grad.tolist()


def test_a_function_appends_to_the_program_of_its_variable():
    other = fluid.Program()
    with fluid.program_guard(other):
        x = fluid.data("x", [2], "float32")
    y = fluid.exp(x) + fluid.max(x)
    assert y.block.program is other and not fluid.default_main_program().global_block().ops


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, 1 / 3, -2.5e-7, 1e10]),
        np.array([1e300, -1e-300, 5e-324, 0.0]),
        np.array([np.inf, -np.inf, 0.1]),
        np.array([0.1] * 3),
        np.array([1e300] * 2),
        np.array([[1, 2], [3, 4]], "int8"),
        np.array([250, 3], "uint8"),
        np.array([0.1, 0.2], "float16"),
        np.array([True, False]),
        np.array([2**40, -1]),
        np.zeros([0, 2]),
    ],
)
def test_a_constant_of_a_program_is_exactly_what_was_given(array):
    x = fluid.data("x", [1], "float32")
    (found,) = run(x.results(array), x=np.ones(1, "float32"))
    assert found.dtype == array.dtype and np.array_equal(found, array)


class Shared(flow.nn.Module):
    """A module whose parameters are used twice."""

    def __init__(self):
        super().__init__()
        self.linear = flow.nn.Linear(2, 2)
        self.norm = flow.nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.linear(self.linear(x))).relu().view(-1)


def test_parameters_and_statistics_of_a_module_become_the_programs_once():
    net, x = Shared(), fluid.data("x", [None, 2], "float32")
    first, second = net(x), net(x)
    program = fluid.default_main_program()
    assert len(program.all_parameters()) == 4
    kept = [v.name for v in program.list_vars() if v.persistable]
    assert len(kept) == len(set(kept)) == 7  # with a mean, a variance and a count
    assert first.shape == second.shape == (-1,)


def test_a_module_trains_in_a_program_as_on_tensors():
    rng = np.random.RandomState(0)
    data = rng.rand(8, 2).astype("float32")
    flow.manual_seed(0)
    net = Shared()
    state = {name: value.numpy() for name, value in net.state_dict().items()}
    optimizer = flow.optim.SGD(net.parameters(), lr=0.1)
    wanted = []
    for _ in range(3):
        loss = net(flow.tensor(data)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        wanted.append(loss.item())
    net.load_state_dict({name: flow.tensor(value) for name, value in state.items()})
    loss = fluid.sum(net(fluid.data("x", [None, 2], "float32")))
    fluid.optimizer.SGD(0.1).minimize(loss)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    found = [executor.run(feed={"x": data}, fetch_list=[loss])[0].item() for _ in range(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_two_parameters_of_one_name_are_refused():
    x, one, other = fluid.data("x", [2, 2], "float32"), fluid.nn.Linear(2, 2), fluid.nn.Linear(2, 2)
    other.weight.name = one.weight.name
    one(x)
    with pytest.raises(ArgumentError, match="two parameters called"):
        other(x)


def test_layers_of_fluid_given_tensors_run_at_once():
    assert fluid.layers.relu(fluid.to_tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("function", [fluid.log, fluid.sum, fluid.nn.functional.softmax, flow.relu])
def test_unknown_sizes_follow_from_the_operators(function):
    x = fluid.data("x", [None, 3], "float32")
    assert fluid.masked_select(x, x > 0.5).shape == (-1,)
    assert function(x).shape in ((-1, 3), (1,))


def test_sizes_and_bounds_that_a_program_computes():
    x, n = fluid.data("x", [2, 3], "float32"), fluid.data("n", [1], "int32")
    rows = fluid.layers.shape(x)[0]
    image = fluid.reshape(x, [1, 1, 2, 3])
    outs = [
        fluid.reshape(x, [n, -1]),
        fluid.reshape(x, [rows * n, 1]),
        fluid.tile(x, [1, n]),
        fluid.topk(x, n)[0],
        fluid.unsqueeze(x, n - 2),
        fluid.repeat_interleave(x, n, 1),
        fluid.roll(x, n, 0),
        fluid.broadcast_to(x[0], [n, 3]),
        fluid.broadcast_to(x, fluid.layers.shape(image)),
        fluid.arange(0, n),
        fluid.nn.functional.one_hot(fluid.arange(n), n),
        fluid.nn.functional.interpolate(image, [n, 6]),
    ]
    assert [out.shape for out in outs[:2]] == [(-1, -1), (-1, 1)]
    found = run(*outs, x=np.arange(6, dtype="float32").reshape(2, 3), n=np.array([3], "int32"))
    shapes = [value.shape for value in found]
    assert shapes[:5] == [(3, 2), (6, 1), (2, 9), (2, 3), (2, 1, 3)]
    assert shapes[5:9] == [(2, 9), (2, 3), (3, 3), (1, 1, 2, 3)]
    assert shapes[9:] == [(3,), (3, 3), (1, 1, 3, 6)]
    assert found[9].tolist() == [0, 1, 2] and np.array_equal(found[10], np.eye(3))


def test_transforms_of_unknown_sizes_have_the_sizes_that_are_named():
    x, value = fluid.data("x", [None, None], "float32"), np.eye(3, 4, dtype="float32")
    fft = fluid.paddle.fft
    outs = [fft.rfft(x, 6, 0), fft.fftshift(x), fft.ifftshift(x, 1), fluid.randint_like(x, 1)]
    found = run(*outs, x=value)
    wanted = [
        np.fft.rfft(value, 6, 0),
        np.fft.fftshift(value),
        np.fft.ifftshift(value, 1),
        0 * value,
    ]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
