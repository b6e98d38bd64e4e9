"""What surgery says of each operator."""

import re

import pytest

import fluidlite as fluid
from fluidlite import layers, transform

SITE = r" at \S*test_explaining\.py:\d+"


@pytest.fixture
def main():
    """x -> fc, relu -> h -> fc -> y -> mean; h -> tanh."""
    x = fluid.data("x", [None, 4])
    h = layers.relu(layers.fc(x, 3), name="h")
    y = layers.fc(h, 2)
    layers.tanh(h)
    layers.mean(y)
    fluid.Executor().run(fluid.default_startup_program())
    return fluid.default_main_program()


@pytest.fixture
def told(capsys):
    """What a call prints, line by line, without call sites."""

    def lines_of(function, *args, **more):
        capsys.readouterr()
        result = function(*args, explain=True, **more)
        lines = [re.sub(SITE, "", line) for line in capsys.readouterr().out.splitlines()]
        return result, lines

    return lines_of


def written(main, type, which=0):
    return [op for op in main.global_block().ops if op.type == type][which].output_arg_names[0]


def test_a_cut_says_what_is_left_out_with_its_line(main, capsys):
    transform.cut(
        main, [written(main, "relu")], [written(main, "elementwise_add", 1)], explain=True
    )
    lines = capsys.readouterr().out.splitlines()
    reason = "cut: left out: the outputs do not need it behind the inputs"
    assert re.fullmatch(rf"operator 0, mul{SITE}: {reason}", lines[0])
    assert len(lines) == 6 and lines[-1] == "5 of 7 operators changed"


def test_nothing_is_printed_unless_asked(main, capsys):
    transform.rename(main, {"x": "image"})
    assert capsys.readouterr().out == ""


def test_what_operators_read_write_and_have_is_told(main, told):
    _, lines = told(transform.rename, main, {"x": "image"})
    assert lines == ["operator 0, mul: rename: reads 'image', not 'x'", "1 of 7 operators changed"]
    _, lines = told(transform.set_attributes, main, "mean", {"op_device": "cpu"})
    assert lines[0] == "operator 6, mean: set_attributes: op_device is 'cpu', not ''"
    h, tanh = written(main, "relu"), written(main, "tanh")
    _, lines = told(transform.replace, transform.cut(main, ["x"], [h, tanh]), h, h)
    assert lines == ["0 of 4 operators changed"]


def test_operators_that_come_are_told_from_those_that_change(main, told):
    (grown, _), lines = told(
        transform.insert_after,
        (main, fluid.default_startup_program()),
        "relu",
        lambda h: layers.fc(h, 3),
    )
    ops, h = grown.global_block().ops, written(main, "relu")
    assert [line for line in lines if ", mul:" in line] == [
        f"operator 3, mul: insert_after: reads {ops[5].input('X')[0]!r}, not {h!r}",
        "operator 3, mul: insert_after: added",
    ]
    assert sum(line.endswith(": added") for line in lines) == 4


def test_operators_that_move_into_a_block_and_back_are_told(main, told):
    inside, lines = told(transform.outline, main, [0, 1, 2])
    moved = [
        f"operator {k}, {t}: outline: moved to block 1, operator {k}"
        for k, t in enumerate(["mul", "elementwise_add", "relu"])
    ]
    assert [line for line in lines if "moved" in line] == moved
    _, lines = told(transform.inline, inside, "conditional_block")
    assert "block 1, operator 2, relu: inline: moved to operator 2" in lines
    assert "operator 1, conditional_block: inline: left out" in lines


def test_constants_come_and_go(main, told):
    frozen, lines = told(transform.freeze, main)
    assert lines[-1] == "4 of 11 operators changed"
    assert all(line.endswith("freeze: added") for line in lines[:-1])
    _, lines = told(transform.unfreeze, frozen)
    assert lines[0].endswith("unfreeze: left out: its value is in the startup program")


def test_a_merge_tells_names_of_the_second_program(main, told):
    pair = (main, fluid.default_startup_program())
    _, lines = told(transform.merge, pair, tuple(p.clone() for p in pair), ["x"])
    (relu,) = [line for line in lines if ", relu: merge: " in line]
    h = written(main, "relu")
    assert relu.endswith(f"; writes '{h}_1', not {h!r}")
    assert not any("left out" in line for line in lines)
    _, lines = told(transform.merge, pair, tuple(p.clone() for p in pair))
    assert sum("left out: the first program does it" in line for line in lines) == 4


def test_an_extract_and_a_split_tell_theirs(main, told):
    _, lines = told(transform.extract, main, ["relu"])
    assert lines[0] == "operator 0, mul: extract: left out: it was not chosen"
    stages, lines = told(transform.split, main, 2)
    begin = len(stages[0].program.global_block().ops)
    assert (
        lines[1].startswith(f"operator {begin}, ") and "begins stage 1, <program with" in lines[1]
    )
