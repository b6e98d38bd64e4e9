"""bfloat16: what is kept, moved and computed in it, and what is refused."""

import builtins

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.errors import DTypeError
from fluidlite.ground import brain_float

ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 needs fluidlite[bfloat16]")
B = np.dtype(ml_dtypes.bfloat16)
VALUES = np.asarray([1.0, 2.0078125, 3.3, -0.7], "float32")


def narrow(values):
    return np.asarray(values, "float32").astype(B)


def test_numbers_are_rounded_to_the_nearest_and_back():
    x = paddle.to_tensor(VALUES).astype("bfloat16")
    assert x.dtype == paddle.bfloat16 and x.element_size() == 2 and x.is_floating_point()
    assert x.numpy().dtype == B and x.tolist() == narrow(VALUES).tolist()
    assert x.astype("float32").tolist() == narrow(VALUES).astype("float32").tolist()
    assert paddle.to_tensor([1.00390625], dtype="bfloat16").tolist() == [1.0]
    assert "dtype=bfloat16" in str(x) and int(fluid.bfloat16) == 22


@pytest.mark.parametrize(
    "function",
    [
        lambda x, m: x + x, lambda x, m: x - 1, lambda x, m: x * 2.5, lambda x, m: 1 - x,
        lambda x, m: x / x, lambda x, m: x * x, lambda x, m: -x, lambda x, m: x[1:],
        lambda x, m: m.reshape([2, 2]), lambda x, m: m.concat([x, x]), lambda x, m: m.stack([x, x]),
        lambda x, m: m.maximum(x, 1 - x), lambda x, m: x.sum(), lambda x, m: m.matmul(x, x),
        lambda x, m: x // 0.75, lambda x, m: x**2, lambda x, m: 2**x, lambda x, m: m.log1p(x),
    ],
)  # fmt: skip
def test_results_are_those_of_float32_rounded_once(function):
    class Functions:
        """Paddle's, of a tensor."""

        def __init__(self, x):
            self.x = x

        def reshape(self, shape):
            return paddle.reshape(self.x, shape)

        def __getattr__(self, name):
            return getattr(paddle, name)

    narrowed = paddle.to_tensor(narrow(VALUES))
    wide = narrowed.astype("float32")
    found, right = function(narrowed, Functions(narrowed)), function(wide, Functions(wide))
    assert found.dtype == paddle.bfloat16
    assert found.tolist() == right.astype("bfloat16").tolist()


def test_wider_types_go_before():
    x = paddle.to_tensor(narrow(VALUES))
    assert (x + paddle.ones([4])).dtype == paddle.float32
    assert (x + paddle.ones([4], "float16")).dtype == paddle.float32
    assert (x + paddle.ones([4], "int64")).dtype == paddle.bfloat16
    assert (x == x).all() and not (x < x).any()


def test_gradients_are_of_the_same_type():
    x = paddle.to_tensor([1.0, 2.0, 3.0], dtype="bfloat16", stop_gradient=False)
    for _ in range(5):  # also where rules are written out
        x.clear_grad()
        (x * x * 2.5 + x / 2.0 - x).sum().backward()
        assert x.grad.dtype == paddle.bfloat16 and x.grad.tolist() == [4.5, 9.5, 14.5]


def test_programs_hold_it_on_every_tier():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()):
        x = fluid.data("x", [-1, 3], "bfloat16")
        x.stop_gradient = False
        y = fluid.layers.concat([x * x * 2.5, fluid.layers.reshape(x, [-1, 3])], 1)
        wide = fluid.layers.cast(y, "float32")
        (slope,) = fluid.gradients(fluid.layers.reduce_sum(wide * wide), x)
    assert main.global_block().var("x").desc.dtype() == 22
    value = narrow([[1, 2, 3]])
    copies = (
        fluid.Program.parse(str(main)),
        fluid.Program.parse_from_string(main.desc.serialize_to_string()),
    )
    for program in (main, main, main, *copies):
        found = fluid.Executor().run(program, feed={"x": value}, fetch_list=[y.name, slope.name])
        assert found[0].dtype == found[1].dtype == B
        assert found[0].tolist() == [[2.5, 10.0, 22.5, 1.0, 2.0, 3.0]]
        assert found[1].tolist() == [[27.0, 204.0, 680.0]]


def test_other_operators_say_what_to_do():
    x = paddle.to_tensor(narrow(VALUES))
    with pytest.raises(DTypeError, match="bfloat16, which exp does not compute in; cast it to flo"):
        paddle.exp(x)


def test_files_keep_it(tmp_path):
    x = paddle.to_tensor(narrow(VALUES))
    paddle.save({"x": x}, str(tmp_path / "x.pdparams"))
    loaded = paddle.load(str(tmp_path / "x.pdparams"))["x"]
    assert loaded.dtype == paddle.bfloat16 and loaded.tolist() == x.tolist()

    layer = paddle.nn.Linear(2, 2).bfloat16()
    assert layer.weight.dtype == paddle.bfloat16
    main, exe, one = fluid.Program(), fluid.Executor(), fluid.initializer.Constant(1.0)
    with fluid.program_guard(main, fluid.Program()):
        w = fluid.layers.create_parameter([4], "bfloat16", default_initializer=one)
    fluid.global_scope().var(w.name).get_tensor().set(narrow(VALUES), fluid.CPUPlace())
    fluid.io.save_persistables(exe, str(tmp_path), main)
    fluid.global_scope().var(w.name).get_tensor().set(narrow(VALUES * 0), fluid.CPUPlace())
    fluid.io.load_persistables(exe, str(tmp_path), main)
    kept = np.asarray(fluid.global_scope().find_var(w.name).get_tensor())
    assert kept.dtype == B and kept.tolist() == narrow(VALUES).tolist()


def test_without_its_package_it_is_an_error_that_says_so(monkeypatch):
    plain = builtins.__import__

    def absent(name, *args, **named):
        if name == "ml_dtypes":
            raise ImportError(name)
        return plain(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    brain_float.bfloat16.cache_clear()
    try:
        with pytest.raises(DTypeError, match="needs the package ml_dtypes"):
            paddle.zeros([2], "bfloat16")
        assert fluid.data("x", [2], "bfloat16").dtype == fluid.bfloat16
    finally:
        monkeypatch.undo()
        brain_float.bfloat16.cache_clear()
