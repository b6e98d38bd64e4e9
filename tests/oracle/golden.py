"""Golden data, the table of deviations from them, and comparisons.

A deviation is an entry ``KIND:ID`` or ``KIND:ID:PART`` with its reason: in
``data/deviations.json`` what fluidlite does otherwise on purpose, in
``data/wrong_in_real.json`` where the recording is wrong.
"""

import contextlib
import functools
import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parent.parent
DATA = TESTS / "data"

# relative and absolute tolerance
OUTPUT = (1e-5, 1e-6)  # values of operators
GRADIENT = (1e-4, 1e-5)
LOSS = (1e-4, 1e-5)  # over a training
FINAL = (1e-3, 1e-5)  # parameters and states after a training
START = (1e-6, 0.0)

# what a slip of the library raises: never a deviation on purpose
SLIPS = (AttributeError, NameError, RecursionError, ImportError, MemoryError)


@functools.cache
def load(name):
    """The JSON file of that name, packed or not."""
    data = (DATA / name).read_bytes()
    return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)


@functools.cache
def arrays(name):
    """The arrays of an ``.npz`` by key."""
    with np.load(DATA / name, allow_pickle=False) as packed:
        return {key: packed[key] for key in packed.files}


@functools.cache
def script(name):
    """A script of ``data/nets`` as a module of its own."""
    spec = importlib.util.spec_from_file_location(name, DATA / "nets" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def parts():
    """What is compared: kind -> id of a case -> its parts."""
    ops = {c["id"]: ["out", "infer"] for c in load("op_cases.json.gz")}
    for case in load("op_cases.json.gz"):
        ops[case["id"]] += ["grad", "grad_ops"] if case["grad"] else []
    ops.update({f"double_grad.{c['id']}": ["second"] for c in load("double_grad.json.gz")})
    nets = {
        name: [
            *("main", "startup", "names", *golden.get("extra_programs", {})),
            *(p for p in ("test", "params_grads") if p in golden),
        ]
        for name, golden in load("program_goldens.json.gz").items()
    }
    training = {}
    recorded = {
        "grad0": "grad0/",
        "states": "final_state/",
        "test": "test_fetch/",
        "average": "applied/",
    }
    for case in load("training_goldens/index.json"):
        found = {part for part, prefix in recorded.items() if under(case, prefix)}
        training[case["id"]] = ["start", "fetch", "params", *sorted(found)]
    errors = {}
    for case in load("errors.json.gz"):
        more = {"out": case["raises"] is None and "out" in case, "warns": "warnings" in case}
        errors[case["id"]] = ["raises", *(part for part, there in more.items() if there)]
    layers = {
        case["id"]: [
            *("program", "value"),
            *(["grad"] if gradients_of(case["id"]) or case["grad_none"] else []),
        ]
        for case in load("layer_cases.json.gz")
    }
    kinds = {"ops": ops, "nets": nets, "training": training, "errors": errors}
    dygraph = {case["id"]: ["out"] for case in load("dygraph_cases.json.gz")["cases"]}
    return {**kinds, "layers": layers, "dygraph": dygraph}


def every(kind, part, but=()):
    """Runs a test for every case of a kind that has this part, by the name of the case."""
    names = [n for n, there in parts()[kind].items() if part in there and n not in but]
    return pytest.mark.parametrize("name", names)


def by_kind(table, kind):
    """The entries of a table of deviations that are of that kind."""
    return [entry for entry in table if entry.startswith(kind + ":")]


def by_id(cases):
    """Cases by their ids."""
    return {case["id"]: case for case in cases}


def under(training, prefix):
    """The arrays of a training whose keys begin with the prefix, by the rest of their keys."""
    recorded = arrays(f"training_goldens/{training['npz']}")
    return {k[len(prefix) :]: v for k, v in recorded.items() if k.startswith(prefix)}


def gradients_of(layer):
    """The gradients that were recorded of a call of a layer, by variable."""
    prefix = f"{layer}:grad/"
    recorded = arrays("layer_cases.npz")
    return {k[len(prefix) :]: v for k, v in recorded.items() if k.startswith(prefix)}


@functools.cache
def deviations():
    """``KIND:ID`` or ``KIND:ID:PART`` -> why the library differs there, and has to."""
    listed = json.loads((DATA / "deviations.json").read_text())
    return {**load("wrong_in_real.json"), **listed}


def deviation(kind, name, part):
    """Why the library differs there, or None where it does not."""
    listed = deviations()
    return listed.get(f"{kind}:{name}") or listed.get(f"{kind}:{name}:{part}")


@contextlib.contextmanager
def holds(kind, name, part):
    """What is inside must hold, or fail where the table of deviations says that it does not."""
    reason = deviation(kind, name, part)
    if reason is None:
        yield
        return
    try:
        yield
    except SLIPS:
        raise
    except Exception:
        return
    if reason in load("wrong_in_real.json").values():
        return  # what is wrong there need not be wrong everywhere
    raise AssertionError(f"{kind}:{name}:{part} deviates no more; it was listed with: {reason}")


def same_lengths(what, tensor, golden):
    """The rows of a tensor form sequences of these lengths; None or no level: none."""
    mine = tensor.recursive_sequence_lengths()
    assert mine == (golden or []), f"{what}: sequences of lengths {mine}, want {golden or []}"


def close(what, mine, golden, tolerance):
    """Shape and dtype are equal, floats within the tolerance, all else exactly."""
    mine, golden = np.asarray(mine), np.asarray(golden)
    assert mine.shape == golden.shape, f"{what}: shape {mine.shape}, want {golden.shape}"
    assert mine.dtype == golden.dtype, f"{what}: dtype {mine.dtype}, want {golden.dtype}"
    if mine.dtype.kind == "f":
        same = np.isclose(
            mine.astype("float64"), golden.astype("float64"), *tolerance, equal_nan=True
        )
    else:
        same = np.asarray(mine == golden)
    if not same.all():
        first = tuple(np.argwhere(~same)[0].tolist())
        raise AssertionError(
            f"{what}: {(~same).sum()} of {same.size} values differ, "
            f"first at {list(first)}: {mine[first]}, want {golden[first]}"
        )
