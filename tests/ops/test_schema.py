"""Operators have the slots, attributes and gradient operators that they have in fluid 1.8."""

import numpy as np
import pytest
from oracle.golden import by_kind, deviations, holds, load

import fluidlite
from fluidlite.ir.operator import Operator
from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.definition import lookup, registered
from fluidlite.opdef.gradient import is_constant

SCHEMA = load("op_schema.json.gz")
SHARED = [op.type for op in registered() if op.type in SCHEMA]
CONSTANT = [name for name in SHARED if SCHEMA[name]["grad_maker"] == "empty"]
DIFFERENTIABLE = [name for name in SHARED if SCHEMA[name]["grad_maker"] == "real"]


def gradient_types(name):
    return [op["type"] for op in SCHEMA[name]["grad_ops"]]


def has_own_gradient(name):
    """Whether fluid has a gradient operator made for this operator, rather than others that do."""
    first = gradient_types(name)[:1]
    return any(type.startswith((name + "_grad", "cross_entropy_grad")) for type in first)


@pytest.mark.parametrize("name", SHARED)
def test_operator_has_the_slots_it_has_in_fluid(name):
    schema, definition = SCHEMA[name], lookup(name)
    with holds("schema", name, "slots"):
        for side in ("inputs", "outputs"):
            mine = {
                s.name: (s.many, s.optional)
                for s in getattr(definition, side)
                if s.name not in definition.fluid.newer
            }
            golden = {s["name"]: (s["duplicable"], s["dispensable"]) for s in schema[side]}
            assert mine == golden, side


@pytest.mark.parametrize("name", SHARED)
def test_operator_has_the_attributes_it_has_in_fluid(name):
    with holds("schema", name, "attributes"):
        mine = {
            attribute.name: (attribute.wire, as_recorded(attribute.default))
            for attribute in lookup(name).attributes.values()
            if not attribute.local
        }
        golden = {a["name"]: (a["type"], a.get("default", REQUIRED)) for a in SCHEMA[name]["attrs"]}
        assert mine == golden


def as_recorded(default):
    """A default as the recording writes it: lists, and floats in their shortest form."""
    if isinstance(default, tuple):
        return [as_recorded(item) for item in default]
    return float(str(np.float32(default))) if isinstance(default, float) else default


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if has_own_gradient(n)])
def test_gradient_operator_has_the_type_and_slots_it_has_in_fluid(name):
    """What a rule reads beyond that only comes with a second order, and may be absent."""
    with holds("schema", name, "gradient"):
        assert [lookup(name).grad_type] == gradient_types(name)
        derived, golden = lookup(lookup(name).grad_type), SCHEMA[name]["grad_ops"][0]
        mine = {slot.name for slot in derived.inputs if not slot.optional}
        allowed = {slot.name for slot in derived.inputs}
        assert mine <= set(golden["inputs"]) <= allowed
        assert {slot.name for slot in derived.outputs} == set(golden["outputs"])


@pytest.mark.parametrize("side", ["input", "output"])
def test_gradient_operators_list_the_slots_that_they_list_in_fluid_where_nothing_stands_in_them(
    side,
):
    block = fluidlite.Program().global_block()
    for name in filter(has_own_gradient, DIFFERENTIABLE):
        unmade = {s["name"] for s in SCHEMA[name]["outputs"] if s["dispensable"]}
        absent = {s["name"] for s in SCHEMA[name]["inputs"] if s["dispensable"]} | unmade
        golden = SCHEMA[name]["grad_ops"][0]
        inputs, outputs = (
            {slot: (slot,) for slot in golden[kind] if slot.split("@")[0] not in absent}
            for kind in ("inputs", "outputs")
        )
        op = Operator(block, golden["type"], inputs, outputs, {})
        listed = [slot for slot in golden[f"{side}s"] if slot not in unmade]
        assert getattr(op, f"{side}_names") == sorted(listed), name


def test_operators_that_backward_writes_list_the_slots_that_it_gave():
    main = fluidlite.Program()
    with fluidlite.program_guard(main):
        x = fluidlite.layers.create_parameter([2], "float32")
        fluidlite.backward.append_backward(fluidlite.layers.mean(x))
    given, begin = main.global_block().ops[:2]
    assert begin.input_names == [] and begin.output_names == ["Out"]
    assert given.input_names == ["X"]


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if not has_own_gradient(n)])
def test_rule_is_written_into_the_program_where_fluid_has_no_gradient_operator(name):
    with holds("schema", name, "gradient"):
        assert lookup(name).fluid.direct


@pytest.mark.parametrize("name", CONSTANT)
def test_gradient_stops_silently_where_it_does_in_fluid(name):
    with holds("schema", name, "gradient"):
        assert is_constant(lookup(name))


@pytest.mark.parametrize("entry", by_kind(deviations(), "schema"))
def test_every_deviation_names_an_operator_that_is_compared(entry):
    _, name, part = entry.split(":")
    assert name in SHARED
    assert part in ("slots", "attributes", "gradient")
