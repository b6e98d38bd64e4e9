"""What programs compute, as formulas in text and in LaTeX."""

import pytest

import fluidlite as fluid
from fluidlite.errors import UnknownVariableError
from fluidlite.transform import formula


def main():
    return fluid.default_main_program()


def test_a_value_that_is_read_once_stands_where_it_is_read():
    x, y = fluid.data("x", [2]), fluid.data("y", [2])
    z = -(x + 2.0) * (y - 1.0) / (x / y)
    assert str(formula(main(), z)) == f"{z.name} = -(x + 2.0) * (y - 1.0) / (x / y)"


def test_a_value_that_is_read_twice_has_an_equation_of_its_own():
    x = fluid.data("x", [2])
    h = fluid.layers.exp(x)
    z = h * h
    assert str(formula(main(), z)) == f"{z.name} = {h.name} * {h.name}\nwhere\n  {h.name} = exp(x)"


def test_products_powers_and_transposes_have_signs():
    x, w = fluid.data("x", [2, 3]), fluid.data("w", [2, 3])
    y = fluid.layers.matmul(x, w, transpose_y=True, alpha=2.0)
    z = fluid.layers.matmul(fluid.layers.transpose(x, [1, 0]), fluid.layers.pow(y, 3.0))
    found = formula(main(), z)
    assert str(found) == f"{z.name} = xᵀ @ (2.0 * (x @ wᵀ))^3.0"
    assert r"x^{\top} \, \left(2.0 \, \left(x \, w^{\top}\right)\right)^{3.0}" in found.latex
    assert found._repr_latex_().startswith("$$\n\\begin{aligned}")


def test_latex_writes_fractions_roots_and_names():
    x, y = fluid.data("x", [2]), fluid.data("some_name", [2])
    z = fluid.layers.sqrt(fluid.layers.abs(x)) / fluid.layers.log(y)
    assert (
        r"\frac{\sqrt{\left|x\right|}}{\ln\left(\mathit{some\_name}\right)}"
        in formula(main(), z).latex
    )


def test_a_name_cannot_leave_its_place_in_latex():
    block = main().global_block()
    block.create_var(name=r"a}\input{b}$", shape=[1], dtype="float32", is_data=True)
    block.create_var(name="z", shape=[1], dtype="float32")
    block.append_op("exp", {"X": r"a}\input{b}$"}, {"Out": "z"})
    latex = formula(main(), "z").latex
    assert r"\mathit{a\}\backslash input\{b\}\$}" in latex


def test_a_name_that_is_written_twice_is_two_values():
    x = fluid.layers.fill_constant([1], "float32", 3.0)
    fluid.layers.increment(x, 2.0)
    y = fluid.layers.exp(x)
    assert "exp(increment(3.0, step=2.0))" in str(formula(main(), y))


def test_outputs_of_one_operator_say_which_they_are():
    x = fluid.data("x", [4])
    values, places = fluid.layers.topk(x, 2)
    parts = fluid.layers.split(x, 2, dim=0)
    text = str(formula(main(), [values, places, parts[1]]))
    assert "Out of(top_k(x, k=2))" in text and "Indices of(" in text and "Out[1] of(split(x" in text


def test_variables_may_stand_for_themselves():
    x = fluid.data("x", [2])
    h = fluid.layers.exp(x)
    z = fluid.layers.tanh(h)
    assert str(formula(main(), z, inputs=[h])) == f"{z.name} = tanh({h.name})"
    with pytest.raises(UnknownVariableError, match="no variable 'zz'"):
        formula(main(), "zz")


def test_long_chains_are_cut_into_lines():
    x = fluid.data("x", [2])
    for _ in range(3000):
        x = fluid.layers.tanh(x)
    lines = str(formula(main(), x)).splitlines()
    assert len(lines) > 100 and max(map(len, lines)) < 120


def test_what_an_operator_writes_in_place_is_read_as_it_was():
    program = fluid.Program.parse("""
program (seed=0) {
  block 0 {
    data x: float32[4]
    data n: float32[4]
    var  y: float32[4]

    {Out=n, Mask=y} = dropout(X=n)
    y = elementwise_add(X=y, Y=n)
  }
}
""")
    assert str(formula(program, ["y"])).split("\n")[0] == ("y = Mask of(dropout(n)) + dropout(n)")


def test_hidden_outputs_are_not_taken_for_the_result():
    x = fluid.data("x", [4, 3])
    label = fluid.data("label", [4, 1], "int64")
    loss, soft = fluid.layers.softmax_with_cross_entropy(x, label, return_softmax=True)
    text = str(formula(main(), [loss, soft]))
    assert text.count("Softmax of(") == 1


def test_sums_say_over_what_they_go():
    x = fluid.data("x", [4, 3])
    whole, columns = fluid.layers.reduce_sum(x), fluid.layers.reduce_sum(x, dim=0)
    assert str(formula(main(), [whole, columns])) == (
        f"{whole.name} = sum(x)\n{columns.name} = sum(x, dim=[0])"
    )


def test_conversions_that_change_values_are_shown():
    x = fluid.data("x", [4])
    whole = fluid.layers.cast(x, "int64")
    back = fluid.layers.cast(whole, "float32")
    assert str(formula(main(), back)) == (f"{back.name} = cast(x, int64)")


def test_what_a_saved_model_is_fed_stands_for_itself(tmp_path):
    w = fluid.layers.create_parameter([2], "float32", name="w")
    y = fluid.layers.exp(fluid.data("x", [2]) * w)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], exe)
    program, _, outs = fluid.io.load_inference_model(str(tmp_path), exe)
    assert str(formula(program, outs)) == f"{outs[0].name} = exp(x * w)"
