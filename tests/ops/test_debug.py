"""Printing, checking and calling Python functions, in programs.

The mechanical tests cannot run these operators: they need names and declarations.
"""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import (
    ArgumentError,
    AttributeValueError,
    DTypeError,
    NoGradientError,
    OpError,
    ShapeError,
)
from fluidlite.ground.dtypes import Kind
from fluidlite.opdef.definition import lookup

from infer import infer

EXE = fluid.Executor


def data(name="x", shape=(2, 3), dtype="float32", **more):
    made = fluid.data(name, list(shape), dtype, **more)
    made.stop_gradient = False
    return made


def variable(name, shape=(2, 3), dtype="float32"):
    block = fluid.default_main_program().current_block()
    return block.create_var(name=name, shape=list(shape), dtype=dtype)


def operators(type):
    return [op for op in fluid.default_main_program().global_block().ops if op.type == type]


X = np.arange(6, dtype="float32").reshape(2, 3)


def run(*fetched, feed=None):
    return EXE().run(feed={"x": X} if feed is None else feed, fetch_list=list(fetched))


# -- print -----------------------------------------------------------------------------------------


def test_a_line_tells_all_about_a_value(capsys):
    shown = layers.Print(data(), message="look:", summarize=4)
    (found,) = run(shown)
    np.testing.assert_array_equal(found, X)
    assert capsys.readouterr().out == "look: x float32 [2, 3]: 0, 1, 2, 3, ...\n"
    assert (shown.name, shown.shape, shown.dtype) == ("print_x_0.tmp_0", (2, 3), data().dtype)


@pytest.mark.parametrize(
    "flag, line",
    [
        ("print_tensor_name", "int64 [2, 1] lod [[0, 2]]: 7, 8"),
        ("print_tensor_type", "x [2, 1] lod [[0, 2]]: 7, 8"),
        ("print_tensor_shape", "x int64 lod [[0, 2]]: 7, 8"),
        ("print_tensor_lod", "x int64 [2, 1]: 7, 8"),
    ],
)
def test_parts_of_the_line_can_be_left_out(capsys, flag, line):
    x = data(shape=(None, 1), dtype="int64", lod_level=1)
    shown = layers.Print(x, **{flag: False})
    assert shown.lod_level == 1
    value = fluid.create_lod_tensor(np.array([[7], [8]]), [[2]])
    (found,) = EXE().run(feed={"x": value}, fetch_list=[shown], return_numpy=False)
    assert found.lod() == [[0, 2]]
    assert capsys.readouterr().out == line + "\n"


@pytest.mark.parametrize("summarize, text", [(-1, "0, 1, 2, 3, 4, 5"), (0, "..."), (1, "0, ...")])
def test_so_many_elements_are_shown(capsys, summarize, text):
    run(layers.Print(data(), summarize=summarize))
    assert capsys.readouterr().out == f"x float32 [2, 3]: {text}\n"


@pytest.mark.parametrize(
    "phase, lines",
    [
        ("forward", ["x: 0, ..."]),
        ("backward", ["print_x_0.tmp_0@GRAD: 0, ..."]),
        ("BOTH", ["x: 0, ...", "print_x_0.tmp_0@GRAD: 0, ..."]),
    ],
)
def test_a_value_or_its_gradient_is_printed(capsys, phase, lines):
    x = data()
    more = dict(print_tensor_type=False, print_tensor_shape=False, summarize=1)
    shown = layers.Print(x, print_phase=phase, **more)
    (gradient,) = fluid.gradients(layers.reduce_sum(shown * shown), x)
    (found,) = run(gradient)
    np.testing.assert_array_equal(found, 2 * X)
    assert capsys.readouterr().out.splitlines() == lines
    forward, backward = operators("print")
    assert (forward.attr("is_forward"), backward.attr("is_forward")) == (True, False)
    assert set(backward.attr_names) >= {"print_phase", "summarize", "first_n", "message"}


def test_an_operator_prints_so_often_whatever_is_fetched(capsys):
    x = data()
    shown = layers.Print(x, first_n=2)
    total = shown + 1.0
    for fetched in (shown, total, shown):
        run(fetched)
    assert len(capsys.readouterr().out.splitlines()) == 2
    clone = fluid.default_main_program().clone()
    EXE().run(clone, feed={"x": X}, fetch_list=[shown])
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_rows_and_arrays_are_printed_and_stay_what_they_are(capsys):
    table = fluid.ParamAttr("table", initializer=fluid.initializer.Constant(1.0))
    e = fluid.embedding(
        fluid.data("ids", [None], "int64"), [3, 2], is_sparse=True, param_attr=table
    )
    ((_, gradient),) = fluid.append_backward(layers.reduce_sum(e))
    shown = layers.Print(gradient, print_tensor_name=False)
    assert shown.type is Kind.SELECTED_ROWS
    array = layers.array_write(e, layers.fill_constant([1], "int64", 1))
    block = fluid.default_main_program().global_block()
    copy = block.create_var("copy", type=Kind.LOD_TENSOR_ARRAY)
    attrs = {a.name: a.default for a in lookup("print").attributes.values()}
    attrs.update(first_n=-1, message="", summarize=1)
    attrs.update({n: True for n in attrs if n.startswith("print_tensor")})
    block.append_op("print", {"In": array}, {"Out": copy}, attrs)
    exe = EXE()
    exe.run(fluid.default_startup_program())
    exe.run(feed={"ids": np.array([1])}, fetch_list=[shown, copy])
    assert capsys.readouterr().out.splitlines() == [
        "float32 [3, 2]: 0, 0, 1, 1, 0, 0",
        f"{array.name} array of 2 tensors",
    ]


def test_a_phase_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="'forward', 'backward' or 'both', got 'never'"):
        layers.Print(data(), print_phase="never")
    attrs = {a.name: True for a in lookup("print").attributes.values()}
    attrs.update(first_n=1, summarize=1, message="", print_phase="both")
    with pytest.raises(AttributeValueError, match="FORWARD, BACKWARD or BOTH, got 'both'"):
        infer("print", attrs, In=([2], "float32"))


# -- assert ----------------------------------------------------------------------------------------


def test_nothing_happens_while_the_condition_holds():
    x = data()
    layers.Assert(layers.reduce_all(layers.less_than(x, x + 1.0)), [x])
    (found,) = run(x * 2.0)
    np.testing.assert_array_equal(found, 2 * X)


def test_a_condition_that_fails_stops_the_run_and_shows_data():
    x, y = data(), data("y", [1], "int64")
    small = layers.reduce_all(layers.less_than(x, x * 0.0 + 3.0))
    layers.Assert(small, [x, y], summarize=4)
    with pytest.raises(OpError) as caught:
        run(feed={"x": X, "y": np.array([7])})
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        f"assert: expected {small.name} to hold, it is False",
        "  x float32[2, 3]: 0, 1, 2, 3, ...",
        "  y int64[1]: 7",
    ]
    assert "test_debug.py" in lines[-1]


def test_a_check_without_data_survives_text_and_stops_no_gradient():
    x = data()
    op = layers.Assert(layers.reduce_all(layers.less_than(x, x * 0.0)))
    assert (op.type, op.outputs) == ("assert", {})
    (gradient,) = fluid.gradients(layers.reduce_sum(x * x), x)
    read = fluid.Program.parse(str(fluid.default_main_program()))
    with pytest.raises(OpError, match="to hold, it is False"):
        EXE().run(read, feed={"x": X}, fetch_list=[gradient.name])


def test_conditions_are_truths():
    with pytest.raises(ArgumentError, match="'x' of type float32; compare it first"):
        layers.Assert(data())
    with pytest.raises(DTypeError, match="Cond to be bool, got float32"):
        infer("assert", Cond=([1], "float32"), Data=[])
    with pytest.raises(ShapeError, match=r"one number, got shape \[2\]"):
        infer("assert", Cond=([2], "bool"), Data=[])
    with pytest.raises(ArgumentError, match="expected data to be a variable"):
        layers.Assert(data("c", [1], "bool"), ["x"])


# -- py_func ---------------------------------------------------------------------------------------


def test_a_function_gets_tensors_and_gives_arrays():
    x, y = data(), variable("y")

    def cubed(a):
        seen.append((type(a), a.shape()))
        return np.asarray(a) ** 3

    seen = []
    assert layers.py_func(cubed, x, y) is y
    (found,) = run(y)
    np.testing.assert_array_equal(found, X**3)
    assert seen == [(fluid.LoDTensor, [2, 3])]


def test_several_inputs_and_outputs_and_sequences():
    x = data(shape=(None, 1), lod_level=1)
    y = data("y", [1])
    outs = [variable("a", [-1, 1]), variable("b", [1])]

    def function(a, b):
        return fluid.create_lod_tensor(np.array(a) * 2, a.recursive_sequence_lengths()), b

    assert layers.py_func(function, [x, y], outs) is outs
    feed = {"x": fluid.create_lod_tensor(np.ones([3, 1], "float32"), [[1, 2]])}
    feed["y"] = np.ones(1, "float32")
    a, b = EXE().run(feed=feed, fetch_list=outs, return_numpy=False)
    assert a.lod() == [[0, 1, 3]]
    assert np.array(b).tolist() == [1]


def test_a_function_without_inputs_or_outputs():
    calls = []
    made = variable("made", [2])
    assert layers.py_func(lambda: np.ones(2, "float32"), None, made) is made
    assert layers.py_func(lambda a: calls.append(np.array(a).sum()), made, None) is None
    run(feed={})
    assert calls == [2.0]


def test_what_a_function_is_given_and_returns_is_its_own():
    x, y, z = data(), variable("y"), variable("z")
    kept = np.ones([2, 3], "float32")

    def function(a):
        np.asarray(a)[:] = 7
        a.set(np.zeros(1), None)
        return kept

    layers.py_func(function, x, y)
    layers.py_func(lambda a: kept.fill(5.0), y, None)
    layers.py_func(lambda a: np.array(a), y, z)
    found, other = run(x * 1.0, z)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(other, np.ones([2, 3]))


def test_gradients_come_from_the_backward_function():
    x, y = data(), variable("y")
    given = []

    def backward(a, b, g):
        given.append([np.array(v)[1, 2] for v in (a, b, g)])
        return np.array(g) * 3 * np.array(a) ** 2

    layers.py_func(lambda a: np.array(a) ** 3, x, y, backward_func=backward)
    (gradient,) = fluid.gradients(layers.reduce_sum(y * 2.0), x)
    (found,) = run(gradient)
    np.testing.assert_allclose(found, 6 * X**2)
    assert given == [[5.0, 125.0, 2.0]]
    assert [op.type for op in operators("py_func")] == ["py_func"] * 2
    assert operators("py_func")[1].input("X") == ["x", "y", "y@GRAD"]
    assert set(operators("py_func")[1].attr_names) >= {"forward_callable_id"}


def test_variables_that_backward_does_not_need_are_skipped():
    x, y, a, b = data(), data("y"), variable("a"), variable("b")
    count = []

    def backward(*given):
        count.append(len(given))
        return given[-2], given[-1]

    layers.py_func(lambda x, y: (x, y), [x, y], [a, b], backward, [y, a])
    gradients = fluid.gradients(layers.reduce_sum(a + 2.0 * b), [x, y])
    found = run(*gradients, feed={"x": X, "y": X})
    assert operators("py_func")[1].input("X") == ["x", "b", "a@GRAD", "b@GRAD"]
    assert count == [4]
    for value, slope in zip(found, (1.0, 2.0)):
        np.testing.assert_array_equal(value, np.full([2, 3], slope))


def test_an_output_that_is_overwritten_is_skipped_all_the_same():
    x, y = data(), variable("y")
    layers.py_func(lambda a: np.array(a), x, y, lambda a, g: np.array(g) * 2, y)
    total = layers.reduce_sum(y * y)
    layers.assign(x * 0.0, y)
    (gradient,) = fluid.gradients(total, x)
    np.testing.assert_array_equal(run(gradient)[0], 4 * X)


def test_none_is_a_gradient_of_zeros():
    x, y, z = data(), data("y", [None, 2]), variable("z")
    layers.py_func(lambda a, b: a, [x, y], z, lambda a, b, z, g: (g, None))
    gradients = fluid.gradients(layers.reduce_sum(z), [x, y])
    a, b = run(*gradients, feed={"x": X, "y": np.ones([4, 2], "float32")})
    np.testing.assert_array_equal(a, np.ones([2, 3]))
    np.testing.assert_array_equal(b, np.zeros([4, 2]))


def test_gradients_that_nobody_wants_are_left_out():
    x, y, z = data(), data("y"), variable("z")
    y.stop_gradient = True
    layers.py_func(lambda a, b: a, [x, y], z, lambda a, b, z, g: (g, "not looked at"))
    gradients = fluid.gradients(layers.reduce_sum(z), [x, y])
    assert gradients[1] is None
    assert operators("py_func")[1].output("Out") == ["x@GRAD", "@EMPTY@"]
    np.testing.assert_array_equal(run(gradients[0], feed={"x": X, "y": X})[0], np.ones([2, 3]))


def test_nothing_flows_through_a_function_without_a_backward_function():
    x, y = data(), variable("y")
    layers.py_func(lambda a: np.array(a), x, y)
    (gradient,) = fluid.gradients(layers.reduce_sum(x * y), x)
    np.testing.assert_array_equal(run(gradient)[0], X)


def test_a_backward_function_has_no_gradient_of_its_own():
    x, y = data(), variable("y")

    def slope(a, b, g):
        return np.array(g)

    layers.py_func(lambda a: np.array(a), x, y, slope)
    (gradient,) = fluid.gradients(layers.reduce_sum(y), x)
    with pytest.raises(NoGradientError, match="the function slope computes gradients in Python"):
        fluid.gradients(layers.reduce_sum(gradient * gradient), x)


def fails(function, error, match, shape=(2, 3)):
    layers.py_func(function, data(), variable("y", shape))
    with pytest.raises(error, match=match) as caught:
        run()
    assert "{Out=[y]} = py_func(X=[x])" in str(caught.value)
    assert "test_debug.py" in str(caught.value)
    return caught.value


def test_an_exception_of_a_function_says_which_operator_called_it():
    def halve(a):
        return 1 / 0

    error = fails(halve, OpError, "the function halve raised ZeroDivisionError: division by zero")
    causes = []
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert causes[-1] is ZeroDivisionError


def test_an_error_of_the_library_keeps_its_class():
    fails(lambda a: a.set_lod([[1]]), ArgumentError, "ascend from 0")


@pytest.mark.parametrize(
    "result, error, match, shape",
    [
        (np.ones(7, "float32"), ShapeError, r"shape \[2, 3\] for 'y', .*; got \[7\]", (2, 3)),
        (np.ones([2, 4], "float32"), ShapeError, r"shape \[-1, 3\] for 'y'", (-1, 3)),
        (np.ones([2, 3]), DTypeError, "float32 for 'y', as it is declared; got float64", (2, 3)),
        (None, OpError, "to return an array for 'y', got None", (2, 3)),
        ((X, X), OpError, "to return 1 arrays, got 2", (2, 3)),
    ],
)
def test_a_result_that_does_not_fit_is_refused(result, error, match, shape):
    fails(lambda a: result, error, match, shape)


def test_a_shape_that_is_not_declared_is_any():
    block = fluid.default_main_program().current_block()
    y = block.create_var(name="y")
    layers.py_func(lambda a: np.ones([5, 1], "float64"), data(), y)
    assert run(y)[0].shape == (5, 1)


def test_a_result_that_is_not_finite_is_found():
    layers.py_func(lambda a: np.array(a) * np.nan, data(), variable("y"))
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(ArithmeticError, match="'y' holds NaN"):
        run()


def test_a_program_that_was_read_calls_functions_of_this_process_only():
    layers.py_func(lambda a: np.array(a) + 1, data(), variable("y"))
    text = str(fluid.default_main_program())
    (found,) = EXE().run(fluid.Program.parse(text), feed={"x": X}, fetch_list=["y"])
    np.testing.assert_array_equal(found, X + 1)
    fluid.default_main_program().global_block().ops[0].set_attr("forward_callable_id", 9)
    with pytest.raises(ArgumentError, match="registered in this process, got 9"):
        run()


def test_arguments_of_another_kind_are_refused_and_nothing_is_kept():
    x, y = data(), variable("y")
    wrong = [
        (dict(func=3, x=x, out=y), "func to be a function, got 3"),
        (dict(func=len, x=x, out=y, backward_func=3), "backward_func to be a function, got 3"),
        (dict(func=len, x="x", out=y), "x to be a variable, got 'x'"),
        (dict(func=len, x=x, out=[y, 1]), "out to be a variable or a list of them, got 1"),
        (
            dict(func=len, x=x, out=y, backward_func=len, skip_vars_in_backward_input=data("z")),
            "among x and out, got 'z'",
        ),
    ]
    for arguments, match in wrong:
        with pytest.raises(ArgumentError, match=match):
            layers.py_func(**arguments)
    layers.py_func(len, x, y)
    assert operators("py_func")[0].attr("forward_callable_id") == 0


def test_programs_run_in_functions():
    inner = fluid.Program()
    with fluid.program_guard(inner):
        doubled = data() * 2.0
    y = variable("y")
    layers.py_func(
        lambda a: EXE().run(inner, feed={"x": np.array(a)}, fetch_list=[doubled])[0], data(), y
    )
    np.testing.assert_array_equal(run(y)[0], 2 * X)


# -- seed ------------------------------------------------------------------------------------------


def test_a_seed_is_the_given_number_or_a_random_one():
    block = fluid.default_main_program().global_block()
    names = ["given", "first", "second"]
    for name in names:
        made = block.create_var(name)
        attrs = {"seed": 7} if name == "given" else {}
        block.append_op("seed", outputs={"Out": made}, attrs=attrs)
        assert (made.shape, str(made.dtype)) == ((1,), "int32")
    given, first, second = run(*names, feed={})
    assert given.tolist() == [7]
    assert len({given.item(), first.item(), second.item()}) == 3
    fluid.default_main_program().random_seed = 3
    assert [v.item() for v in run(*names, feed={})] == [v.item() for v in run(*names, feed={})]
