"""Layers made of the definitions of operators."""

import inspect
import pickle
import subprocess
import sys

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, DefinitionError
from fluidlite.ground.docstrings import Family
from fluidlite.layers.layer import completed
from fluidlite.layers.operator_layers import OperatorLayers, operator_layer


def test_a_signature_has_the_types_and_defaults_of_the_attributes():
    made = operator_layer("relu6(x, threshold, name)")
    assert str(inspect.signature(made)) == (
        "(x: 'Variable', threshold: 'float' = 6.0, name: 'str | None' = None) -> 'Variable'"
    )


def test_the_text_gives_other_names_and_defaults():
    made = operator_layer("soft(input: X, size=..., alpha: lambda = None) -> softshrink")
    input, size, alpha = inspect.signature(made).parameters.values()
    assert (input.annotation, alpha.annotation) == ("Variable", "float | None")
    assert (alpha.default, size.default) == (None, size.empty)
    x = fluid.data("x", [None, 4])
    made(x, 2, alpha=0.25)
    assert fluid.default_main_program().global_block().ops[-1].attr("lambda") == 0.25


def test_a_slot_beside_an_attribute_takes_variables():
    x, power = fluid.data("x", [None, 4]), fluid.layers.fill_constant([1], "float32", 2.0)
    fluid.layers.pow(x, 3.0)
    fluid.layers.pow(x, power)
    number, variable = fluid.default_main_program().global_block().ops[-2:]
    assert number.attr("factor") == 3.0 and number.input("FactorTensor") == []
    assert variable.input("FactorTensor") == [power.name] and power.stop_gradient


def test_the_docstring_is_that_of_the_operator_in_the_words_of_the_layer():
    made = completed(operator_layer("rows(input: X, places: Index) -> gather"))
    assert made.__doc__.startswith("The rows of ``input`` that ``places`` names: ``out[i] = input[")
    assert "    places: numbers of rows, int32 or int64" in made.__doc__


def test_what_the_text_says_goes_before_what_the_operator_and_the_family_say():
    family = OperatorLayers(Family({"x": "numbers."}, returns="As ``{x}``."))
    made = completed(family("sqrt(x)\n\nRoots.\n\nRaises:\n    OSError: never."))
    assert made.__doc__.split("\n\n") == [
        "Roots.",
        "Args:\n    x: numbers.",
        "Returns:\n    As ``x``.",
        "Raises:\n    OSError: never.",
    ]


def test_a_function_under_a_signature_gets_slots_attributes_and_its_own_arguments():
    calls = []

    @operator_layer.signature(
        "pooled(input: X, rois, more: int, few: int = 2, rois_lod) -> roi_pool"
    )
    def pooled(f, call) -> bool:
        """Pooled."""
        calls.append((f.layer_type, set(call.ins), dict(call.attrs), call.more, call.few))
        return call.rois_lod is None

    assert str(inspect.signature(pooled)) == (
        "(input: 'Variable', rois: 'Variable', more: 'int', few: 'int' = 2, "
        "rois_lod: 'Variable | None' = None) -> bool"
    )
    x = fluid.data("x", [None, 4])
    assert pooled(x, x, more=3)
    assert calls == [("roi_pool", {"X", "ROIs"}, {}, 3, 2)]
    with pytest.raises(ArgumentError, match="expected rois to be a variable, got 3"):
        pooled(x, 3, more=1)


def test_what_a_family_says_of_a_function_goes_before_what_the_operator_says():
    family = Family({"x": "a number."}, returns="A root.")

    @OperatorLayers(family).signature("sqrt(x)")
    def sqrt(f, call) -> int:
        """Roots."""

    assert completed(sqrt).__doc__ == "Roots.\n\nArgs:\n    x: a number.\n\nReturns:\n    A root."


def test_made_layers_are_pickled_and_known_by_their_module():
    assert fluid.layers.tanh.__module__ == "fluidlite.layers.activation"
    assert pickle.loads(pickle.dumps(fluid.layers.tanh)) is fluid.layers.tanh
    assert inspect.unwrap(fluid.layers.tanh).__name__ == "tanh"


def test_a_missing_argument_is_named():
    with pytest.raises(TypeError, match=r"tanh\(\) missing 1 required positional argument: 'x'"):
        fluid.layers.tanh()
    with pytest.raises(ArgumentError, match="expected x to be a variable, got 3"):
        fluid.layers.tanh(3)


def test_a_text_that_is_no_signature_is_refused():
    with pytest.raises(DefinitionError, match="expected the signature of a layer, got 'tanh'"):
        operator_layer("tanh")
    with pytest.raises(DefinitionError, match=r"tanh: expected a parameter of a layer, got '\*x'"):
        completed(operator_layer("tanh(*x)"))


def test_importing_fluidlite_reads_no_definition():
    code = "import sys, fluidlite; print('fluidlite.ops' in sys.modules, fluidlite.layers.exp)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False <function exp at")


def test_layers_are_made_where_python_leaves_docstrings_out():
    code = "import fluidlite; layer = fluidlite.layers.exp; print(layer.__doc__, layer.__name__)"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "None exp\n"
