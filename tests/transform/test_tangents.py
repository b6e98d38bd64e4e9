"""Tangents of every operator, and of its gradient operator, against what its gradients say."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground.values import LoDTensor, SelectedRows, bare
from fluidlite.opdef.conjugation import is_complex
from fluidlite.opdef.definition import lookup, registered
from fluidlite.opdef.gradient import Tape, is_differentiable
from fluidlite.transform.linearity import inert_slots, linear_groups
from fluidlite.transform.tangents import Flow, push

from cases import Case, cases_of, is_float, listed
from gradcheck import evaluator, random_like
from samples.form import GENERATORS

DEFINITIONS = [
    op
    for op in registered()
    if op.execute is None and op.type in GENERATORS and is_differentiable(op)
]
#: of the gradient operators, every so many are looked at
SHARE = 20
#: samples of an operator that are looked at
MOST = 2


def differentiated_cases(definition):
    return [
        c for c in cases_of(definition) if isinstance(c, Case) and c.differentiated and c.targets
    ]


def whole(value):
    return value.to_dense() if isinstance(value, SelectedRows) else bare(value)


def places(slots, values):
    """Slots and positions of float arrays that are not constant."""
    return [
        (slot, k)
        for slot, value in values.items()
        if value is not None and not slots[slot].constant
        for k, array in enumerate(listed(value))
        if array is not None and is_float(array)
    ]


def put(values, at, parts):
    """The values with parts at some places."""
    changed = {slot: list(v) if isinstance(v, list) else v for slot, v in values.items()}
    for (slot, k), part in zip(at, parts, strict=True):
        if isinstance(changed[slot], list):
            changed[slot][k] = part
        else:
            changed[slot] = part
    return changed


def alone(values, at, parts):
    """Parts by slot, with None where a list has none."""
    empty = {
        slot: [None] * len(values[slot]) if isinstance(values[slot], list) else None
        for slot, _ in at
    }
    return put(empty, at, parts)


def check_tangents(op, ins, wanted, rng):
    """<u, J v> is <J'u, v>, for all inputs at once and for a half of them."""
    f = evaluator()
    outs = f.apply(op, ins)
    at = places(op.input_slots, ins)
    results = [
        (slot, k)
        for slot, k in wanted or places(op.output_slots, outs)
        if outs.get(slot) is not None and listed(outs[slot])[k] is not None
    ]
    weights = random_like(rng, [whole(listed(outs[slot])[k]) for slot, k in results])
    tape = Tape(evaluator())
    boxes = [tape.watch(listed(ins[slot])[k]) for slot, k in at]
    found = tape.apply(op, put(ins, at, boxes))
    pulled = tape.pull(
        [(listed(found[s])[k], w) for (s, k), w in zip(results, weights, strict=True)], boxes
    )
    for chosen in (at, [place for place in at if rng.random() < 0.5]):
        # of what only gives its form no tangent comes
        chosen = [(slot, k) for slot, k in chosen if slot not in inert_slots(type(op))]
        if not chosen:
            continue
        tangents = []
        for slot, k in chosen:
            like = listed(ins[slot])[k]
            (tangent,) = random_like(rng, [whole(like)])
            is_ragged = isinstance(like, LoDTensor)
            tangents.append(LoDTensor(tangent, like.offsets) if is_ragged else tangent)
        given = alone(ins, chosen, tangents)
        pushed = push(
            op,
            Flow(ins, outs, given, {s for s, _ in results}, f.fill_zeros_like),
            of_complex=is_complex([whole(listed(ins[slot])[k]) for slot, k in at]),
        )
        made = f.apply(pushed.op, pushed.ins)
        made = {slot: made.get(name) for name, slot in pushed.slots.items()}
        forward = 0.0
        for (slot, k), weight in zip(results, weights, strict=True):
            tangent = None if made.get(slot) is None else listed(made[slot])[k]
            if tangent is not None:
                assert whole(tangent).shape == weight.shape, slot
                forward += np.sum(np.real(np.conj(whole(tangent)) * weight))
        backward = sum(
            np.sum(np.real(np.conj(whole(g)) * whole(t)))
            for g, t in zip([pulled[at.index(place)] for place in chosen], tangents, strict=True)
            if g is not None
        )
        # attributes are single
        np.testing.assert_allclose(
            forward, backward, 1e-6, 1e-9, err_msg=str([s for s, _ in chosen])
        )


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda op: op.type)
@pytest.mark.filterwarnings("ignore:warpctc")
def test_tangents_of_an_operator_are_those_that_its_gradients_say(definition):
    for number, case in enumerate(differentiated_cases(definition)[:MOST]):
        check_tangents(case.op, case.inputs, case.targets, np.random.default_rng(number))


@pytest.mark.parametrize("definition", DEFINITIONS[::SHARE], ids=lambda op: op.type)
def test_tangents_of_a_gradient_operator_are_those_that_its_gradients_say(definition):
    for case in differentiated_cases(definition)[:1]:
        gradient = lookup(case.op.grad_type)(case.op.attr_values())
        given = case.gradient_inputs(dict(zip(case.targets, case.cotangents, strict=True)))
        ins = {slot: value for slot, value in given.items() if value is not None}
        check_tangents(gradient, ins, None, np.random.default_rng(1))


def test_an_operator_that_is_said_to_be_linear_is():
    looked_at = 0
    for definition in DEFINITIONS:
        for group in linear_groups(definition):
            for case in differentiated_cases(definition):
                at = [place for place in case.variable if place[0] in group]
                if {slot for slot, _ in at} != set(group) or case.inputs.get("Bias") is not None:
                    continue
                rng = np.random.default_rng(looked_at)
                values = [whole(listed(case.inputs[slot])[k]) for slot, k in at]
                others = random_like(rng, values)
                mixed = [2 * a - 3 * b for a, b in zip(values, others, strict=True)]
                a, b, c = (
                    [
                        whole(listed(found[slot])[k])
                        for found in [evaluator().apply(case.op, put(case.inputs, at, parts))]
                        for slot, k in case.targets
                    ]
                    for parts in (values, others, mixed)
                )
                for x, y, z in zip(a, b, c, strict=True):
                    np.testing.assert_allclose(2 * x - 3 * y, z, 1e-9, 1e-9, err_msg=case.op.type)
                looked_at += 1
    assert looked_at > 250


def test_a_gradient_operator_of_a_linear_one_does_not_depend_on_where_it_is_taken():
    looked_at = 0
    for definition in DEFINITIONS:
        for case in differentiated_cases(definition)[:2]:
            gradient = lookup(case.op.grad_type)(case.op.attr_values())
            ins = case.gradient_inputs(dict(zip(case.targets, case.cotangents, strict=True)))
            inert = [
                (slot, k)
                for slot, k in places(gradient.input_slots, ins)
                if slot in inert_slots(type(gradient))
            ]
            if inert:
                moved = [whole(listed(ins[slot])[k]) * 3 + 1 for slot, k in inert]
                before = evaluator().apply(gradient, ins)
                after = evaluator().apply(gradient, put(ins, inert, moved))
                for slot, value in before.items():
                    for x, y in zip(listed(value), listed(after[slot]), strict=True):
                        if x is not None:
                            np.testing.assert_array_equal(whole(x), whole(y), err_msg=gradient.type)
                looked_at += 1
    assert looked_at > 60


def test_tangents_of_doubles_are_as_exact_as_gradients():
    """Second derivatives multiply with numbers, too, and an attribute is single."""
    x = fluid.data("x", [3, 6], "float64")
    y = fluid.layers.reduce_sum(fluid.layers.tanh(fluid.layers.layer_norm(x, scale=False)))
    main, rng = fluid.default_main_program(), np.random.default_rng(0)
    forward, backward = fluid.transform.jvp(main, y, x), fluid.transform.vjp(main, y, x)
    feed, along = {"x": rng.normal(size=(3, 6))}, rng.normal(size=(3, 6))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (change,) = exe.run(forward.program, {**feed, "x@TANGENT": along}, forward.outputs)
    weight = {backward.inputs[0].name: np.ones([1])}
    (slope,) = exe.run(backward.program, {**feed, **weight}, backward.outputs)
    np.testing.assert_allclose(change, np.sum(slope * along), rtol=1e-12)
