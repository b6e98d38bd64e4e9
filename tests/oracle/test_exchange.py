"""Training programs that the real system saved run here, and ours have the slots that it needs."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.opdef.definition import lookup

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads(gzip.decompress((DATA / "exchanged_gradients.json.gz").read_bytes()))
TRAININGS = json.loads(gzip.decompress((DATA / "exchanged_trainings.json.gz").read_bytes()))


def array(entry):
    return np.array(entry["values"], entry["dtype"]).reshape(entry["shape"])


def run(program, case, fetch):
    """Fetched values of a program, with what a case feeds in the scope."""
    scope, exe = fluid.Scope(), fluid.Executor()
    for name, entry in case["feed"].items():
        tensor = scope.var(name).get_tensor()
        tensor.set(array(entry), fluid.CPUPlace())
        if name in case["lod"]:
            tensor.set_recursive_sequence_lengths(case["lod"][name])
    for _ in range(4):  # interpreted first, then specialised
        found = exe.run(program, fetch_list=fetch, scope=scope, return_numpy=False)
    return [np.asarray(value) for value in found]


def gradient_of(program):
    return next(op for op in program.global_block().ops if op.type.endswith("_grad"))


@pytest.mark.parametrize("name", CASES)
def test_a_gradient_that_the_real_system_wrote_gives_what_it_gave_there(name):
    case = CASES[name]
    program = fluid.Program.parse_from_string(base64.b64decode(case["program"]))
    fetch = list(case["fetch"])
    for found, key in zip(run(program, case, fetch), fetch, strict=True):
        expected = array(case["fetch"][key])
        scale = np.abs(expected).max(initial=1e-6)
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5 * scale)


@pytest.mark.parametrize("name", CASES)
def test_gradients_that_are_written_here_have_the_slots_that_the_real_system_reads(name):
    case = CASES[name]
    theirs = fluid.Program.parse_from_string(base64.b64decode(case["program"]))
    ours, block = fluid.Program(), theirs.global_block()
    forward = block.ops[0]
    for var in block.vars.values():
        if "@GRAD" not in var.name:
            ours.global_block().create_var(
                name=var.name, shape=var.shape, dtype=var.dtype, lod_level=var.lod_level
            ).stop_gradient = var.stop_gradient
    mine = ours.global_block()
    slots = [
        {slot: [mine.var(n) for n in names] for slot, names in side.items()}
        for side in (forward.inputs, forward.outputs)
    ]
    mine.append_op(forward.type, *slots, dict(forward.attrs))
    of = [mine.var(n.removesuffix("@GRAD")) for n in case["fetch"]]
    (target,) = [n for n in case["feed"] if n.endswith("@TG")]
    fluid.gradients([mine.var(target.removesuffix("@TG"))], of, [mine.var(target)])
    read, made = gradient_of(theirs), gradient_of(ours)
    assert read.type == made.type
    assert {**made.inputs, **read.inputs} == made.inputs
    idle = lookup(read.type).fluid.idle
    assert set(made.outputs) - set(idle) == set(read.outputs) - set(idle)
    assert (
        made.attr("functor_list") == read.attr("functor_list")
        if made.has_attr("functor_list")
        else True
    )


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_that_the_real_system_wrote_goes_on_as_it_did_there(name):
    """Loops count back in their gradients there, and leave out gradients that are zero."""
    case = TRAININGS[name]
    program = fluid.Program.parse_from_string(base64.b64decode(case["program"]))
    scope, exe = fluid.Scope(), fluid.Executor()
    for each, entry in case["begin"].items():
        scope.var(each).get_tensor().set(array(entry), fluid.CPUPlace())
    feed = {each: array(entry) for each, entry in case["feed"].items()}
    feed |= {each: fluid.create_lod_tensor(feed[each], lod) for each, lod in case["lod"].items()}
    losses = [
        exe.run(program, feed, [case["fetch"]], scope=scope)[0].item() for _ in case["losses"]
    ]
    np.testing.assert_allclose(losses, case["losses"], rtol=1e-4)
    assert losses[-1] < losses[0]


def test_recurrent_networks_and_their_gradients_are_written_with_what_the_real_system_reads():
    x = fluid.data("x", [2, 4, 3], "float32")
    rnn = fluid.layers.StaticRNN()
    with rnn.step():
        before = rnn.memory(shape=[-1, 3], batch_ref=rnn.step_input(x))
        rnn.update_memory(before, fluid.layers.fc(before, 3))
        rnn.step_output(before)
    fluid.backward.append_backward(fluid.layers.mean(rnn()))
    written = fluid.default_main_program().desc.serialize_to_string()
    theirs = base64.b64decode(TRAININGS["static_rnn"]["program"])
    for attribute in (b"skip_eager_deletion_vars", b"ex_states", b"is_train"):
        assert written.count(attribute) == theirs.count(attribute) == 2
