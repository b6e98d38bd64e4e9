"""Programs for inputs of known shapes or values, and constants that are computed now."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import ArgumentError, ShapeError, UnknownVariableError


def main():
    return fluid.default_main_program()


def run(program, fetch, **feed):
    return fluid.Executor().run(program, feed=feed, fetch_list=[getattr(fetch, "name", fetch)])[0]


def test_what_depends_on_known_values_alone_is_computed_now():
    x, n = fluid.data("x", [None, 2]), fluid.data("n", [2])
    y = x * fluid.layers.exp(n) + fluid.layers.reduce_sum(n)
    ones, value = np.ones([3, 2], "float32"), np.array([0.5, -1.0], "float32")
    known = transform.specialize(main(), feed={"n": value})
    assert [op.type for op in known.global_block().ops].count("exp") == 0
    assert "n" not in known.global_block().vars
    np.testing.assert_array_equal(run(known, y, x=ones), run(main(), y, x=ones, n=value))


def test_shapes_are_declared_and_inferred():
    x = fluid.data("x", [None, 2])
    y = fluid.layers.concat([x, x], axis=0)
    known = transform.specialize(main(), shapes={"x": [3, 2]})
    assert known.global_block().var(y.name).shape == (6, 2) and y.shape == (-1, 2)
    for wrong in ([3], [3, 4], [-2, 2]):
        with pytest.raises(ShapeError, match=r"that fit the declared shape \[-1, 2\]"):
            transform.specialize(main(), shapes={"x": wrong})


def test_what_cannot_be_known_is_refused():
    fluid.data("x", [2])
    fluid.data("s", [None, 1], lod_level=1)
    with pytest.raises(UnknownVariableError, match="no data variable 'y'.* it has x, s"):
        transform.specialize(main(), feed={"y": 1})
    with pytest.raises(ArgumentError, match="'s' holds sequences"):
        transform.specialize(main(), feed={"s": np.ones([2, 1], "float32")})
    with pytest.raises(ArgumentError, match="is float32, got an array of complex64"):
        transform.specialize(main(), feed={"x": np.ones(2, "complex64")})


def test_gradients_of_a_specialized_program_are_the_same():
    x, n = fluid.data("x", [2]), fluid.data("n", [2])
    x.stop_gradient = False
    loss = fluid.layers.reduce_sum(fluid.layers.tanh(x * fluid.layers.exp(n)))
    fluid.append_backward(loss)
    value = np.array([0.5, -1.0], "float32")
    known = transform.specialize(main(), feed={"n": value}, keep=["x@GRAD"])
    np.testing.assert_array_equal(
        run(known, "x@GRAD", x=value), run(main(), "x@GRAD", x=value, n=value)
    )


def test_constants_are_folded_bit_by_bit_and_random_values_are_not():
    c = fluid.layers.assign(np.array([0.1, 0.2, 0.3], "float32"))
    y = fluid.layers.exp(fluid.layers.sqrt(c)) + fluid.layers.uniform_random([3])
    i = fluid.layers.cast(c * 10.0, "int64")
    folded = transform.fold_constants(main())
    types = [op.type for op in folded.global_block().ops]
    assert sorted(types) == ["assign_value", "assign_value", "elementwise_add", "uniform_random"]
    np.testing.assert_array_equal(run(folded, i), run(main(), i))
    main().random_seed = folded.random_seed = 3
    np.testing.assert_array_equal(run(folded, y), run(main(), y))


def test_a_name_that_is_written_again_is_no_constant_behind_that():
    x = fluid.data("x", [1])
    c = fluid.layers.fill_constant([1], "float32", 2.0)
    a = fluid.layers.exp(c)
    fluid.layers.assign(x, c)
    b = fluid.layers.exp(c)
    folded = transform.fold_constants(main())
    one = np.ones(1, "float32")
    for name in (a.name, b.name):
        np.testing.assert_array_equal(run(folded, name, x=one), run(main(), name, x=one))
    assert [op.type for op in folded.global_block().ops] == ["assign_value", "assign", "exp"]


def test_large_constants_stay_operators_and_doubles_are_exact():
    fluid.layers.exp(fluid.layers.range(0, 70_000, 1, "float32"))
    d = fluid.layers.exp(fluid.layers.fill_constant([2], "float64", 0.1))
    h = fluid.layers.exp(fluid.layers.cast(d, "float16"))
    folded = transform.fold_constants(main(), keep=[d, h, "exp_0.tmp_0"])
    assert [op.type for op in folded.global_block().ops].count("exp") == 1
    for name in (d.name, h.name):
        np.testing.assert_array_equal(run(folded, name), run(main(), name))


def test_loops_keep_what_they_read():
    i = fluid.layers.fill_constant([1], "float32", 0.0)
    limit = fluid.layers.fill_constant([1], "float32", 2.0) + 1.0
    (out,) = fluid.layers.while_loop(lambda i: i < limit, lambda i: [i + 1.0], [i])
    folded = transform.fold_constants(main())
    np.testing.assert_array_equal(run(folded, out), [3.0])


def test_what_a_branch_may_leave_as_it_is_stays():
    x = fluid.data("x", [1])
    c = fluid.layers.fill_constant([1], "float32", 3.0)
    with fluid.layers.Switch() as switch, switch.case(x > 0.0):
        fluid.layers.assign(x, c)
    y = fluid.layers.scale(c, 2.0)
    for program in (transform.fold_constants(main()), transform.simplify(main(), y)):
        np.testing.assert_array_equal(run(program, y, x=-np.ones(1, "float32")), [6.0])


def test_constants_that_stand_in_the_program_stay_as_they_are():
    x = fluid.data("x", [2])
    _ = x + fluid.layers.fill_constant([2], "float32", 0.1)
    before = fluid.default_main_program()
    folded = transform.fold_constants(before)
    assert [op.type for op in folded.global_block().ops] == [
        op.type for op in before.global_block().ops
    ]


def test_variables_stand_for_their_names_and_sizes_are_integers():
    x = fluid.data("x", [None, None])
    y = fluid.layers.exp(x)
    program = fluid.default_main_program()
    known = transform.specialize(program, shapes={x: [2, None]})
    assert known.global_block().var("x").shape == (2, -1)
    fed = transform.specialize(program, feed={x: np.zeros([1, 2], "float32")}, keep=[y])
    assert not any(v.is_data for v in fed.list_vars())
    for sizes in (3, ["a", 2], [2.5, 2]):
        with pytest.raises(ArgumentError, match="sizes for 'x'"):
            transform.specialize(program, shapes={"x": sizes})
