"""In what programs differ."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.inspect import diff

from specimens import EVIL, evil, lenet, loop, parsed


def main():
    return fluid.default_main_program()


def test_equal_programs_do_not_differ():
    lenet()
    found = main().diff(main().clone())
    assert not found and str(found) == found.headline == "no differences"


def test_minimize_adds_backward_and_optimizer_operators():
    loss = lenet(train=False)
    before = main().clone()
    fluid.optimizer.SGD(0.1).minimize(loss)
    found = before.diff(main())
    assert found and found.select("-", "operator") == []
    types = [text.partition("= ")[2].partition("(")[0] for text in found.select("+", "operator")]
    assert types.count("sgd") == 6 and "conv2d_grad" in types
    assert f"{len(types)} operators added (" in found.headline
    assert dict(found.roles)["optimize"] == 6
    assert any("learning_rate" in text for text in found.select("+", "variable"))


def test_clone_for_test_leaves_out_and_changes():
    lenet()
    found = main().diff(main().clone(for_test=True))
    assert found.select("+", "operator") == []
    (dropout,) = (text for text in found.select("~", "operator") if " dropout(" in text)
    assert dropout.endswith("(is_test: False -> True)")


def test_a_change_of_inputs_is_told_by_slot():
    before = parsed(
        "data x: float32[2]\ndata z: float32[2]\nvar y: float32[2]\ny = scale(X=x, scale=2.0)"
    )
    after = before.clone()
    after.global_block().ops[0].rename_input("x", "z")
    after.global_block().ops[0].set_attr("scale", 3.0)
    after.global_block().var("y").persistable = True
    after.random_seed = 4
    assert str(before.diff(after)).splitlines() == [
        "1 operator changed; 1 variable changed; random seed 0 -> 4",
        "  ~ random seed 0 -> 4",
        "block 0",
        "  ~ var y: float32[2]  ->  var y: float32[2] persistable",
        "  ~ y = scale(X=z, scale=3.0)  (X: x -> z; scale: 2.0 -> 3.0)",
    ]


def test_what_is_the_same_is_left_out_but_for_what_stands_beside():
    lines = [f"y = scale(X=x, scale={k}.0)" for k in range(2, 12)]
    head = "data x: float32[2]\nvar y: float32[2]\n"
    before = parsed(head + "\n".join(lines))
    after = parsed(head + "\n".join([*lines[:5], "y = relu(X=x)", *lines[5:]]))
    text = str(before.diff(after)).splitlines()
    assert text[0] == "1 operator added (1 forward)"
    assert text[2:] == [
        "    ... 3 operators that are the same",
        *(f"    {line}" for line in lines[3:5]),
        "  + y = relu(X=x)",
        *(f"    {line}" for line in lines[5:7]),
        "    ... 3 operators that are the same",
    ]


def test_new_blocks_and_lost_ones_are_told():
    loop()
    test = main().clone(for_test=True)
    assert "block 2, which is left out" in str(main().diff(test))
    assert "block 2, which is new" in str(test.diff(main()))


def test_the_order_of_operators_counts_and_their_lines_do_not():
    a = parsed("data x: float32[2]\nvar y: float32[2]\ny = relu(X=x)\ny = tanh(X=x)")
    b = parsed("data x: float32[2]\nvar y: float32[2]\ny = tanh(X=x)\ny = relu(X=x)  # other.py:1")
    assert a.diff(b)


def test_the_colours_say_no_more_than_the_marks():
    program = evil()
    html = fluid.Program().diff(program)._repr_html_()
    assert "<script" not in html and "<img" not in html
    assert html.count("+ var") + html.count("+ data") == len(EVIL)


def test_what_is_no_program_is_refused():
    with pytest.raises(ArgumentError, match="two programs to compare, got None"):
        diff(fluid.Program(), None)
