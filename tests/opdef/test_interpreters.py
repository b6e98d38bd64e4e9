"""What interpreters there are, and numbers beside the values of one."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.opdef.gradient import Tape

from gradcheck import evaluator

ROOT = Path(__file__).resolve().parents[2]


def interpreters():
    """The classes of the package that derive from Interpreter, and where they are."""
    bases, places = {}, {}
    for path in sorted((ROOT / "fluidlite").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Interpreter" not in text and "Eval" not in text and "Builder" not in text:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [ast.unparse(base) for base in node.bases]
                places[node.name] = path.relative_to(ROOT / "fluidlite").as_posix()

    def derives(name):
        return name == "Interpreter" or any(map(derives, bases.get(name, ())))

    return {name: places[name] for name in bases if derives(name) and name != "Interpreter"}


def test_the_page_lists_every_interpreter():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = page.partition("\n## Interpreters\n")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| [a-z ]+ \| `(\w+)` \| `([\w/.]+)` \|", table, re.MULTILINE))
    found = interpreters()
    del found["Asking"]  # what functions ask of values, which two of the others have
    private = {name for name in found if name.startswith("_")}
    assert private == {"_Watcher"}  # Eval that notes what it sees, in one file
    assert listed == {name: place for name, place in found.items() if name not in private}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_numbers_beside_doubles_on_a_tape_are_doubles(dtype):
    tape, one = Tape(evaluator(0)), np.array([3.0, 0.7], dtype)
    x = tape.watch(one)
    y = 0.1 / (x * (1 / 3) + 0.3) - x / 7.0
    np.testing.assert_allclose(y.value, 0.1 / (one / 3 + 0.3) - one / 7, rtol=1e-14)
    (slope,) = tape.pull([(y, np.ones(2, dtype))], [x])
    np.testing.assert_allclose(slope, -0.1 / 3 / (one / 3 + 0.3) ** 2 - 1 / 7, rtol=1e-14)


def test_a_variable_leaves_arithmetic_to_a_value_that_a_tape_watches():
    x = fluid.data("x", [2], "float64")
    tape = Tape(x.block.builder("part"))
    watched = tape.watch(x)
    y = x / watched - watched * x
    (slope,) = tape.pull([(y, fluid.layers.ones_like(x))], [watched])
    feed = np.array([2.0, 5.0])
    (found,) = fluid.Executor().run(feed={"x": feed}, fetch_list=[slope])
    np.testing.assert_allclose(found, -feed / feed**2 - feed)


def test_rules_round_no_numbers_beside_doubles():
    f, x = evaluator(0), np.array([[0.3, 2.0, 0.7], [0.4, 1.1, 0.2]])
    images = x.reshape(1, 2, 1, 3)
    products = np.einsum("cp,dp->cd", x, x)[None] / 3
    np.testing.assert_allclose(f.fsp(images, images), products, rtol=1e-15)
    lengths = np.sum(x**1.3, axis=1, keepdims=True) ** (1 / 1.3)
    shrunk = x * np.where(lengths > 0.3, 0.3 / (lengths + 1e-7), 1)
    np.testing.assert_allclose(f.renorm(x, p=1.3, axis=0, max_norm=0.3), shrunk, rtol=1e-15)
    tape = Tape(f)
    watched = tape.watch(x)
    power = np.float64(np.float32(0.3))
    (slope,) = tape.pull([(tape.pow(watched, factor=power), np.ones_like(x))], [watched])
    np.testing.assert_allclose(slope, power * x ** (power - 1), rtol=1e-15)
