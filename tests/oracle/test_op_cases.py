"""Single operators give the values, sequences, shapes, dtypes and gradients of the real system."""

import contextlib
import functools

import numpy as np

from fluidlite.lod_tensor import create_lod_tensor
from oracle.golden import GRADIENT, OUTPUT, arrays, by_id, close, every, holds, load, same_lengths
from oracle.recorded import Recorded

CASES = by_id(load("op_cases.json.gz"))
BATCH_ORDER = ("BatchGate", "BatchHidden")  # their LoD is an order of rows: no lengths


@every("ops", "out")
def test_outputs_are_those_of_the_real_system(name):
    case = CASES[name]
    with holds("ops", case["id"], "out"):
        one = Recorded(case, arrays("op_cases.npz"))
        one.run()
        for variable, entry in one.recorded_outputs():
            if "key" in entry:
                held = one.scope.find_var(variable.name)
                if "selected_rows" in entry:
                    compare_rows(variable.name, held.value, one.value(entry))
                    continue
                tensor = held.get_tensor()
                close(variable.name, np.array(tensor), one.values[entry["key"]], OUTPUT)
                if slot_of(one, variable) not in BATCH_ORDER:
                    same_lengths(variable.name, tensor, entry.get("lod"))


def slot_of(one, variable):
    """The output slot of a variable."""
    named = ((slot, other.name) for slot, some in one.outputs.items() for other in some)
    return next(slot for slot, name in named if name == variable.name)


def compare_rows(name, mine, golden):
    mine, golden = mine.merged(), golden.merged()
    assert mine.rows() == golden.rows()
    assert mine.shape == golden.shape
    close(name, mine.value, golden.value, OUTPUT)


@every("ops", "infer")
def test_shapes_and_dtypes_are_inferred_as_the_real_system_does(name):
    case = CASES[name]
    declared, unknown = case["infer"]["declared"], case["infer"]["batch_unknown"]
    with holds("ops", case["id"], "infer"):
        check_inferred(Recorded(case, arrays("op_cases.npz")), declared)
        refused = "error" in unknown
        with contextlib.suppress(Exception) if refused else contextlib.nullcontext():
            one = Recorded(case, arrays("op_cases.npz"), batch_unknown=True)
        if not refused:
            check_inferred(one, declared if unknown == "same" else unknown)


def check_inferred(one, golden):
    """What is inferred is what was recorded, or the truth where that contradicts the recording."""
    for slot, entries in golden.items():
        truths = one.case["outputs"][slot]
        for entry, truth, variable in zip(entries, truths, one.outputs[slot]):
            name = variable.name
            assert str(variable.type).split(".")[-1] == entry["type"], name
            if "shape" not in entry:
                continue
            shape, true_shape = list(variable.shape), truth.get("shape", entry["shape"])
            better = agrees(shape, true_shape) and not agrees(entry["shape"], true_shape)
            assert shape == entry["shape"] or better, f"{name}: {shape}, want {entry['shape']}"
            dtype = np.dtype(variable.dtype).name
            assert dtype in (entry["dtype"], truth.get("dtype")), f"{name}: {dtype}"
            levels = (entry.get("lod_level", 0), len(truth.get("lod", ())))
            assert variable.lod_level in levels, f"{name}: {variable.lod_level}, want {levels[0]}"


def agrees(shape, true_shape):
    """Whether a shape with unknown sizes is that shape."""
    pairs = zip(shape, true_shape)
    return len(shape) == len(true_shape) and all(size in (-1, true) for size, true in pairs)


class Differentiated(Recorded):
    """A program of one operator and its gradients by all inputs that were recorded."""

    def __init__(self, case, values):
        super().__init__(case, values)
        self.forward = len(self.block.ops)
        targets = places(case["grad"]["out_grads"])
        self.wanted = places(case["grad"]["in_grads"])
        seeds = [values[entry["key"]] for entry in targets.values()]
        lods = [case["outputs"][slot][k].get("lod") for slot, k in targets]
        seeds = [create_lod_tensor(seed, lod) if lod else seed for seed, lod in zip(seeds, lods)]
        self.found = self.gradients(targets, self.wanted, seeds)
        self.found += [None] * (len(self.wanted) - len(self.found))


@functools.cache
def differentiated(name):
    return Differentiated(CASES[name], arrays("op_cases.npz"))


def places(slots):
    """Recorded entries by slot and position."""
    return {(slot, e["index"]): e for slot, entries in slots.items() for e in entries}


@every("ops", "grad")
def test_gradients_are_those_of_the_real_system(name):
    with holds("ops", name, "grad"):
        one = differentiated(name)
        recorded = []
        for (place, entry), gradient in zip(one.wanted.items(), one.found):
            assert gradient is not None or entry.get("none"), f"no gradient of {place}"
            if "key" in entry:
                recorded.append((gradient, np.array(one.value(entry))))
        fetched = one.run([gradient for gradient, _ in recorded])
        for (variable, golden), mine in zip(recorded, fetched):
            close(variable.name, mine, golden, GRADIENT)


@every("ops", "grad_ops")
def test_gradient_operators_are_those_of_the_real_system(name):
    with holds("ops", name, "grad_ops"):
        one = differentiated(name)
        appended = one.block.ops[one.forward :]
        mine = [
            {
                "type": op.type,
                "inputs": {slot: list(op.input(slot)) for slot in op.input_names},
                "outputs": {slot: list(op.output(slot)) for slot in op.output_names},
            }
            for op in appended
        ]
        golden = CASES[name]["grad"]["ops"]
        assert [filled(op) for op in mine] == [filled(op) for op in golden]


def filled(op):
    """An operator without its empty slots."""
    slots = {
        side: {slot: names for slot, names in sorted(op[side].items()) if any(names)}
        for side in ("inputs", "outputs")
    }
    return {"type": op["type"], **slots}
