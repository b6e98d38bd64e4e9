"""Commands that only look at a program do no more than it justifies."""

import os
from itertools import pairwise

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.errors import WorkLimitError
from fluidlite.inspect.planning import plan_of
from fluidlite.scope import Scope

HUGE = ", ".join(["4611686018427387904"] * 400)


def program_text(declared, *lines):
    """A program with variables and operators."""
    inner = "\n".join(f"    {line}" for line in (*declared, *lines))
    return f"program (seed=0) {{\n  block 0 {{\n{inner}\n  }}\n}}\n"


def growing(operator, attribute, count=30):
    """A program each of whose operators gives four times what it takes."""
    names = ["x", *(f"v{k}" for k in range(count))]
    declared = ["data x: float32[2]", *(f"var {name}: float32[-1]" for name in names[1:])]
    lines = [f"{y} = {operator}(X={x}, {attribute}=[4])" for x, y in pairwise(names)]
    return program_text(declared, *lines)


HOSTILE = {
    "expand": growing("expand", "expand_times"),
    "fill_constant": program_text(
        ["var v: float32[-1]"], "v = fill_constant(shape=[100000, 100000], value=1.0)"
    ),
    "pad": program_text(
        ["data x: float32[2]", "var y: float32[-1]"], "y = pad(X=x, paddings=[0, 2000000000])"
    ),
    "data": program_text(
        ["data x: float32[1000000, 1000000]", "var y: float32[-1]"], "y = relu(X=x)"
    ),
    "absurd": program_text([f"data x: float32[{HUGE}]", "var y: float32[-1]"], "y = relu(X=x)"),
    "all at once": program_text(
        ["data x: float32[100000, 1]", "data y: float32[1, 100000]", "var z: float32[-1]"],
        "z = mul(X=x, Y=y)",
    ),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_plan_refuses_what_would_be_larger_than_its_limit(text):
    with pytest.raises(WorkLimitError, match="--limit"):
        plan_of(fluid.Program.parse(text), Scope(), most=1 << 26)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_other_commands_count_without_running(text, tmp_path, capsys):
    path = tmp_path / "p.txt"
    path.write_text(text)
    page = str(tmp_path / "page.html")
    for words in (["scan"], ["scan", "--json"], ["summary"], ["summary", "--json"], ["show"]):
        assert main([words[0], str(path), *words[1:]]) == 0, words
    assert main(["draw", str(path), "-o", page]) == 0


def test_the_limit_can_be_raised_and_the_error_says_how(tmp_path, capsys):
    path = tmp_path / "p.txt"
    path.write_text(growing("expand", "expand_times", 6))
    assert main(["plan", str(path), "--limit", "0.00001"]) == 1
    message = capsys.readouterr().err
    assert "at most 10.5 KB together" in message and "v1 = expand" in message
    assert "--limit 1 " in message
    assert main(["plan", str(path), "--limit", "1", "--fetch", "v5"]) == 0
    assert main(["plan", str(path), "--limit", "-1"]) == 2


def test_plan_ends_in_front_of_a_loop_that_does_not():
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        one = fluid.layers.fill_constant([1], "float32", 1.0)
        going = fluid.layers.less_equal(one, one)
        loop = fluid.layers.While(going)
        with loop.block():
            fluid.layers.less_equal(one, one, cond=going)
    with pytest.raises(WorkLimitError, match="together"):
        plan_of(program, Scope(), most=1 << 20)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell")
def test_sizes_that_come_from_values_are_limited_by_memory(tmp_path, capsys):
    import resource

    path = tmp_path / "p.txt"
    ends = [f"{n} = fill_constant(shape=[1], value={v})" for n, v in zip("set", (0.0, 1e11, 1.0))]
    declared = [*(f"var {n}: float32[1]" for n in "set"), "var y: float32[-1]"]
    path.write_text(program_text(declared, *ends, "y = range(Start=s, End=e, Step=t)"))
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert main(["plan", str(path)]) == 1
    assert "range: " in capsys.readouterr().err
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_both_runs_of_a_plan_do_what_the_observed_one_did():
    """What a run leaves in parameters would let the next one do more."""
    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        counter = fluid.layers.create_global_var([1], 0, "int32", persistable=True, name="n")
        fluid.layers.increment(counter, 1000.0)
        times = fluid.layers.elementwise_add(
            counter, fluid.layers.fill_constant([1], "int32", -999)
        )
        one = fluid.layers.fill_constant([1], "float32", 1.0)
        made = fluid.layers.expand(one, [times])
    scope = Scope()
    scope.var("n").value = np.zeros(1, "int32")
    plan_of(program, scope, fetches=[made.name], most=1 << 18)
    assert scope.value("n").tolist() == [0]
