"""Frozen parameters are constants of the program, to the last bit, and come back."""

import numpy as np
import pytest
from recorded_models import MODELS, OF_PADDLE2, loaded

import fluidlite as fluid
from fluidlite import Program, layers
from fluidlite.errors import ArgumentError, NotInitializedError, UnknownVariableError
from fluidlite.transform import freeze, unfreeze

X = np.arange(6, dtype="float32").reshape(2, 3) / 5


@pytest.fixture(autouse=True)
def own_scope():
    with fluid.scope_guard(fluid.Scope()):
        yield


def constant(array):
    """A program whose parameter has these elements, and what it gives when that is frozen."""
    program = Program()
    block = program.global_block()
    dtype = array.dtype.name
    block.create_var(name="w", shape=array.shape, dtype=dtype, persistable=True)
    fluid.global_scope().var("w").get_tensor().set(array)
    frozen = freeze(program, names=["w"])
    for same in (frozen, Program.parse(str(frozen)), Program.parse_from_string(frozen.to_bytes())):
        with fluid.scope_guard(fluid.Scope()):
            (found,) = fluid.Executor().run(same, fetch_list=["w"])
        assert found.dtype == array.dtype and found.shape == array.shape
        assert np.array(found).tobytes() == array.tobytes()
    return [op.type for op in frozen.global_block().ops]


RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize(
    "array",
    [
        RANDOM.rand(3, 4).astype("float32"),
        RANDOM.rand(3, 4) - 0.5,
        RANDOM.rand(5).astype("float16"),
        RANDOM.rand(3) < 0.5,
        *(RANDOM.randint(-100, 100, (2, 3)).astype(t) for t in ("int8", "int16", "int32", "int64")),
        RANDOM.randint(0, 255, 4).astype("uint8"),
        np.array([2**53 + 1, -(2**62)], "int64"),
        np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], "float32"),
        np.array([np.inf, -np.inf, 1 / 3, 1e-30], "float64"),
        np.zeros((0, 3), "float32"),
        np.array(2.5, "float32"),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_constants_have_the_elements_of_the_parameters(array):
    constant(array)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "bool"])
def test_equal_elements_are_one_number(dtype):
    assert constant(np.ones((3, 4), dtype)) == ["fill_constant"]
    assert constant(np.zeros((3, 4), dtype)) == ["fill_constant"]


def test_zeros_of_both_signs_and_numbers_that_single_precision_lacks_are_listed():
    assert constant(np.array([0.0, -0.0], "float32")) == ["assign_value"]
    assert constant(np.array([2**24 + 1] * 2, "int32")) == ["assign_value"]


def net(act="relu"):
    x = fluid.data("x", [None, 3], "float32")
    y = layers.batch_norm(layers.fc(x, 4, act=act))
    fluid.Executor().run(fluid.default_startup_program())
    return y


def test_a_frozen_program_needs_no_scope_and_comes_back():
    y = net()
    program = fluid.default_main_program().clone(for_test=True)
    before = str(program)
    executor = fluid.Executor()
    expected = executor.run(program, {"x": X}, [y.name])
    frozen = freeze(program)
    main, startup = unfreeze(Program.parse_from_string(frozen.to_bytes()))
    some = freeze(program, names=["fc_0.w_0"])
    assert some.all_parameters()[0].name == "fc_0.b_0"
    with fluid.scope_guard(fluid.Scope()):
        np.testing.assert_array_equal(executor.run(frozen, {"x": X}, [y.name]), expected)
        executor.run(startup)
        np.testing.assert_array_equal(executor.run(main, {"x": X}, [y.name]), expected)
    assert str(program) == before and not any(v.persistable for v in frozen.list_vars())
    trained = {p.name for p in main.all_parameters()}
    assert trained == {"fc_0.w_0", "fc_0.b_0", "batch_norm_0.w_0", "batch_norm_0.b_0"}
    assert {v.name for v in main.list_vars() if v.persistable} - trained == {
        "batch_norm_0.w_1",
        "batch_norm_0.w_2",
    }
    assert [op.type for op in main.global_block().ops] == [
        op.type for op in program.global_block().ops
    ]


def test_an_unfrozen_program_is_trained_on():
    y = net("tanh")
    frozen = freeze(fluid.default_main_program().clone(for_test=True))
    main, startup = unfreeze(frozen)
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        loss = layers.mean(layers.square(main.global_block().var(y.name)))
        fluid.optimizer.SGD(0.1).minimize(loss)
        executor = fluid.Executor()
        executor.run(startup)
        losses = [executor.run(main, {"x": X}, [loss])[0].item() for _ in range(3)]
    assert losses[2] < losses[0]


def test_gradients_go_on_through_constants():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    y = layers.fc(x, 2, bias_attr=False)
    fluid.Executor().run(fluid.default_startup_program())
    frozen = freeze(fluid.default_main_program())
    block = frozen.global_block()
    fluid.gradients([block.var(y.name)], [block.var("x")])
    w = np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())
    with fluid.scope_guard(fluid.Scope()):
        (slope,) = fluid.Executor().run(frozen, {"x": X}, ["x@GRAD"])
    np.testing.assert_allclose(slope, np.tile(w.sum(1), (2, 1)), rtol=1e-6)


def test_what_is_no_constant_is_named():
    y = net()
    program = fluid.default_main_program()
    with pytest.raises(ArgumentError, match=r"'batch_norm_0.w_1': batch_norm \(op.*writes"):
        freeze(program)
    with pytest.raises(NotInitializedError, match="'fc_0.w_0' has no value"):
        freeze(program.clone(for_test=True), fluid.Scope())
    with pytest.raises(UnknownVariableError, match="'fc_0.w' to freeze.*'fc_0.w_0'"):
        freeze(program, names=["fc_0.w"])
    with pytest.raises(ArgumentError, match="stay between runs to freeze, 'x' is none"):
        freeze(program, names=["x"])
    with pytest.raises(ArgumentError, match="no constants that freeze made"):
        unfreeze(program)
    with pytest.raises(ArgumentError, match=r"(?s)is no constant.*'x', read by mul"):
        unfreeze(program, [y.name])
    with pytest.raises(UnknownVariableError, match="'zz' to unfreeze"):
        unfreeze(program, ["zz"])
    with pytest.raises(ArgumentError, match="'x' is written 0 times"):
        unfreeze(program, ["x"])


def test_any_constant_of_a_program_becomes_a_parameter():
    x = fluid.data("x", [None, 3], "float32")
    factor = layers.scale(layers.fill_constant([3], "float32", 2.0), 2.0)
    y = layers.elementwise_mul(x, factor)
    main, startup = unfreeze(fluid.default_main_program(), [factor])
    assert [op.type for op in startup.global_block().ops] == ["fill_constant", "scale"]
    assert [op.type for op in main.global_block().ops] == ["elementwise_mul"]
    executor = fluid.Executor()
    executor.run(startup)
    np.testing.assert_allclose(executor.run(main, {"x": X}, [y.name])[0], 4 * X)


@pytest.mark.filterwarnings("ignore:the model has no variables to be saved")
@pytest.mark.parametrize("model", [*MODELS[::2], *OF_PADDLE2])
def test_a_frozen_model_is_one_file(model, tmp_path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    frozen = freeze(program)
    again = Program.parse_from_string(frozen.to_bytes())
    targets = [n for op in again.global_block().ops if op.type == "fetch" for n in op.input("X")]
    with fluid.scope_guard(fluid.Scope()):
        found = executor.run(again, feed=feeds, fetch_list=targets, return_numpy=False)
    for mine, right in zip(found, outputs, strict=True):
        np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-4, atol=1e-5)
