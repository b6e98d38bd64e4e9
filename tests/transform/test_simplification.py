"""Simpler programs by laws of algebra."""

import numpy as np
import pytest
from shares import share
from surgery_trials import Subject

import fluidlite as fluid
from fluidlite import transform
from fluidlite.errors import ArgumentError, UnknownVariableError
from fluidlite.transform.laws import LAWS

L = fluid.layers


def main():
    return fluid.default_main_program()


def run(program, names, **feed):
    return fluid.Executor().run(program, feed=feed, fetch_list=names)


#: the left side of each law -> x, y, z
EXAMPLES = {
    "1 x + 0 = x": lambda x, y, z: L.scale(x, 1.0) + y,
    "x + x = 2 x": lambda x, y, z: x + x,
    "relu(relu(x)) = relu(x)": lambda x, y, z: L.relu(L.relu(x)),
    "||x|| = |x|": lambda x, y, z: L.abs(L.abs(x)),
    "max(x, x) = x": lambda x, y, z: L.elementwise_max(x, x) + y,
    "min(x, x) = x": lambda x, y, z: L.elementwise_min(x, x) + y,
    "-x + y = y - x": lambda x, y, z: -x + y,
    "x - (-y) = x + y": lambda x, y, z: x - (-y),
    "x - x = 0": lambda x, y, z: (x - x) + y,
    "b (a x + c) + d = (a b) x + (b c + d)": lambda x, y, z: L.scale(
        L.scale(x, 2.0, 1.0), 3.0, 5.0
    ),
    "(a x) y = a (x y)": lambda x, y, z: (2.5 * x) * y,
    "constant(c) x = c x": lambda x, y, z: L.fill_constant([3, 3], "float32", 2.0) * x,
    "1 / (1 / x) = x": lambda x, y, z: L.reciprocal(L.reciprocal(x)) + y,
    "log(exp(x)) = x": lambda x, y, z: L.log(L.exp(x)) + y,
    "exp(log(x)) = x": lambda x, y, z: L.exp(L.log(x)) + y,
    "sqrt(x)^2 = x": lambda x, y, z: L.square(L.sqrt(x)) + y,
    "exp(x) exp(y) = exp(x + y)": lambda x, y, z: L.exp(x) * L.exp(y),
    "x y + x z = x (y + z)": lambda x, y, z: x * y + x * z,
    "(xᵀ)ᵀ = x": lambda x, y, z: L.transpose(L.transpose(x, [1, 0]), [1, 0]) + y,
    "xᵀ @ y": lambda x, y, z: L.matmul(L.transpose(x, [1, 0]), y),
    "x @ yᵀ": lambda x, y, z: L.matmul(x, L.transpose(y, [1, 0])),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_each_law_holds(law):
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 2.0, [3, 3]).astype("float32") for _ in range(3)]
    x, y, z = (fluid.data(name, [3, 3]) for name in "xyz")
    out = EXAMPLES[law.name](x, y, z)
    done = transform.simplification(main(), out, laws=[law], exact=law.exact)
    names = [name for name, _ in done.steps if name != "what is constant, computed"][1:]
    assert set(names) <= {law.name}  # none where formulas do not show it
    before, after = ([op.type for op in p.global_block().ops] for p in (main(), done.program))
    assert before != after
    feed = dict(zip("xyz", arrays))
    (before,), (after,) = (
        run(
            program,
            [out.name],
            **{n: v for n, v in feed.items() if n in program.global_block().vars},
        )
        for program in (main(), done.program)
    )
    if law.exact:
        np.testing.assert_array_equal(before, after)
    np.testing.assert_allclose(before, after, rtol=1e-5)


def test_a_gradient_becomes_the_formula_that_one_writes_by_hand():
    x = fluid.data("x", [4, 3])
    x.stop_gradient = False
    (gradient,) = fluid.gradients(L.reduce_sum(L.exp(2.0 * x)), x)
    simple = transform.simplify(main(), gradient)
    assert str(transform.formula(simple, gradient)) == "x@GRAD = 2.0 * exp(2.0 * x)"
    (a,), (b,) = (run(p, ["x@GRAD"], x=np.ones([4, 3], "float32")) for p in (main(), simple))
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_the_derivation_is_printed(capsys):
    x = fluid.data("x", [3])
    y = L.log(L.exp(x)) + L.log(L.exp(x))
    transform.simplify(main(), y, explain=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("= log(exp(x)) + log(exp(x))")
    assert "-- x + x = 2 x" in lines
    assert lines[-2:] == ["-- log(exp(x)) = x", f"{y.name} = 2.0 * x"]


def test_exact_laws_alone_keep_every_bit():
    x = fluid.data("x", [3])
    y = L.scale(L.scale(x, 3.0), 7.0) + L.relu(L.relu(x))
    simple = transform.simplify(main(), y, exact=True)
    assert [op.type for op in simple.global_block().ops] == [
        "scale",
        "scale",
        "relu",
        "elementwise_add",
    ]
    value = np.random.default_rng(0).normal(size=3).astype("float32")
    np.testing.assert_array_equal(*(run(p, [y.name], x=value)[0] for p in (main(), simple)))


def test_training_programs_train_on():
    x = fluid.data("x", [8, 4])
    loss = L.mean(L.square(L.fc(x, 3, act="tanh", name="f")))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    simple = transform.simplify(main())
    assert simple.clone(for_test=True).global_block().ops
    value = np.random.default_rng(0).normal(size=[8, 4]).astype("float32")
    rows = []
    for program in (main(), simple):
        with fluid.scope_guard(fluid.Scope()):
            fluid.default_startup_program().random_seed = 3
            fluid.Executor().run(fluid.default_startup_program())
            rows.append([run(program, [loss.name], x=value)[0] for _ in range(4)])
    np.testing.assert_allclose(*rows, rtol=1e-5)


def test_what_is_no_law_is_refused():
    x = fluid.data("x", [3])
    with pytest.raises(ArgumentError, match="expected laws, got 'x . 0 = x'"):
        transform.simplify(main(), x, laws=["x + 0 = x"])


def test_random_programs_compute_what_they_did():
    for seed in range(share(4)):
        subject = Subject(seed)
        simple = transform.simplify(subject.main, subject.fetch)
        subject.check(subject.computed(simple, subject.startup))


def test_a_constant_that_makes_a_value_larger_is_no_factor():
    x = fluid.data("x", [3])
    larger = L.fill_constant([2, 3], "float32", 2.0) * x
    unknown = L.fill_constant([2, 3], "float32", 2.0) * fluid.data("u", [None, 3])
    simple = transform.simplify(main(), [larger, unknown])
    assert [op.type for op in simple.global_block().ops].count("elementwise_mul") == 2


@pytest.mark.parametrize("keeping", ["simplify", "share", "fold_constants", "formula"])
def test_variables_that_are_not_there_are_named(keeping):
    fluid.layers.exp(fluid.data("x", [2]))
    with pytest.raises(UnknownVariableError, match="block 0 has no variable 'nope'"):
        getattr(transform, keeping)(main(), ["nope"])
    with pytest.raises(ArgumentError, match="expected variables or their names, got 3"):
        getattr(transform, keeping)(main(), 3)


def test_factors_that_cut_integers_are_not_multiplied():
    x = fluid.data("x", [3], "int64")
    twice = L.scale(L.scale(x, 2.5), 2.0)
    product = L.scale(x, 0.5) * x
    whole = L.scale(L.scale(x, 3.0), 2.0)
    fetches = [twice.name, product.name, whole.name]
    simple = transform.simplify(main(), fetches)
    assert len(simple.global_block().ops) == len(main().global_block().ops) - 1
    values = np.array([1, 3, 5])
    for before, after in zip(run(main(), fetches, x=values), run(simple, fetches, x=values)):
        np.testing.assert_array_equal(before, after)


def test_numbers_beside_doubles_are_not_rounded():
    x = fluid.data("x", [6], "float64")
    x.stop_gradient = False
    third = L.fill_constant([1], "float64", 1 / 3)
    loss = L.mean(L.scale(L.scale(third * x, 0.1), 0.7) * x)
    gradient = fluid.gradients(loss, x)[0]
    fed = np.linspace(1.0, 2.0, 6)
    wanted = run(main(), [loss, gradient], x=fed)
    simple = transform.simplify(main(), [loss, gradient])
    for mine, right in zip(run(simple, [loss.name, gradient.name], x=fed), wanted, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-14)


def test_a_constant_whose_number_is_a_text_is_that_number():
    x = fluid.data("x", [3])
    out = L.assign(x)
    half = main().global_block().create_var(name="half", shape=[1], dtype="float32")
    attrs = {"shape": [1], "dtype": "float32", "str_value": "0.5"}
    main().global_block().append_op("fill_constant", {}, {"Out": half}, attrs)
    product = half * out
    simple = transform.simplify(main(), product)
    assert [op.attr("scale") for op in simple.global_block().ops if op.type == "scale"] == [0.5]
    assert "0.5" in str(transform.formula(main(), product))
