"""Every operator computes on JAX what it computes on NumPy, in both precisions, with gradients of
two orders; or it runs on the host, and ``docs/coverage.md`` says why.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from fluidlite.ground.dtypes import as_dtype
from fluidlite.ground.values import LoDTensor, LoDTensorArray, SelectedRows
from fluidlite.opdef.definition import registered
from fluidlite.opdef.rank_table import RankTable

from cases import Case, cases_of, listed
from gradcheck import evaluator, gradient_of, pull_back, random_like
from samples.form import GENERATORS

ROOT = Path(__file__).parents[2]
NO_TENSORS = (LoDTensor, LoDTensorArray, RankTable, SelectedRows)
TYPES = [op.type for op in registered() if op.execute is None and op.type in GENERATORS]
#: of the largest element, by element type
NEAR = {"float64": 1e-10, "float32": 1e-5}


def coverage_page():
    spec = importlib.util.spec_from_file_location("coverage_of_jax", ROOT / "docs" / "coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ON_HOST = coverage_page().on_host()


def dense_cases(type):
    """The cases of an operator without sequences and stored rows."""
    cases = cases_of(next(op for op in registered() if op.type == type))
    return [
        case
        for case in cases
        if isinstance(case, Case)
        and not case.sample.lods
        and not any(
            isinstance(v, NO_TENSORS)
            for x in (*case.inputs.values(), *case.outputs.values())
            for v in listed(x)
        )
    ]


class Computed:
    """A case as a function of its arrays: what it computes, and gradients of two orders."""

    def __init__(self, case):
        self.case = case
        self.arrays = {
            (slot, k): np.asarray(v)
            for slot, value in case.inputs.items()
            for k, v in enumerate(listed(value))
            if v is not None and hasattr(v, "dtype")
        }
        self.order = case.sample.order if case.differentiated else 0
        rng = np.random.default_rng(1)
        self.first = random_like(rng, [listed(case.outputs[s])[k] for s, k in case.targets])
        self.second = None

    def __call__(self, f, arrays):
        case = self.with_arrays(arrays)
        outs = f.apply(case.op, case.inputs)
        found = [v for slot in self.case.outputs for v in listed(outs.get(slot)) if v is not None]
        if not self.order or not self.case.targets:
            return found
        pulled = pull_back(f, case.function, case.values, self.first)
        found += [v for v in pulled if v is not None]
        if self.order < 2 or all(v is None for v in pulled):
            return found
        if self.second is None:
            rng = np.random.default_rng(2)
            self.second = random_like(rng, [v for v in pulled if v is not None])
        function = gradient_of(case.function, len(case.values))
        again = pull_back(f, function, [*case.values, *self.first], self.second)
        return found + [v for v in again if v is not None]

    def with_arrays(self, arrays):
        """The case on other arrays."""

        def there(slot, value):
            changed = [arrays.get((slot, k), v) for k, v in enumerate(listed(value))]
            return changed if isinstance(value, list) else changed[0]

        made = Case(self.case.op, self.case.sample)
        made.__dict__["inputs"] = {s: there(s, v) for s, v in self.case.inputs.items()}
        made.__dict__["outputs"] = self.case.outputs
        made.__dict__["variable"], made.__dict__["targets"] = self.case.variable, self.case.targets
        return made


def single(case):
    return case.in_single_precision()


@pytest.mark.parametrize("type", TYPES)
def test_an_operator_computes_what_it_computes_on_numpy(type, jax):
    from fluidlite.backend import jax_, numpy_
    from fluidlite.runtime.xla.interpreter import TracedEval

    failed, functions = [], []
    for case in dense_cases(type):
        for variant in (case, single(case)):
            functions.append((Computed(variant), variant))

    def traced(computed, arrays):
        with jax_.checks.guard([]):
            draws = jax_.drawing(jax_.run_key(7))
            return computed(TracedEval(jax_, numpy_, draws), arrays)

    with jax_.wide(), jax.default_matmul_precision("highest"):
        right, jitted = [], []
        for computed, _ in functions:
            right.append(computed(evaluator(), computed.arrays))
            try:
                jax.eval_shape(lambda a, c=computed: traced(c, a), computed.arrays)
            except Exception as error:
                failed.append(error)
                jitted.append(None)
            else:
                jitted.append(computed)
        chosen = [c for c in jitted if c is not None]
        together = jax.jit(
            lambda given: [traced(c, a) for c, a in zip(chosen, given)],
            compiler_options={"xla_backend_optimization_level": 0},
        )
        found = iter(together([c.arrays for c in chosen]) if chosen else [])
    for computed, want in zip(jitted, right):
        if computed is not None:
            compare(next(found), want, computed.case.sample, computed.case.op.random)
    assert bool(failed or not functions) == (type in ON_HOST), failed


def compare(found, right, sample, draws):
    assert len(found) == len(right)
    for mine, want in zip(found, right):
        mine, want = np.asarray(mine), np.asarray(want)
        assert (mine.shape, as_dtype(mine.dtype)) == (want.shape, as_dtype(want.dtype))
        if not sample.values_matter or draws or not want.size:
            continue
        if want.dtype.kind not in "fc":
            np.testing.assert_array_equal(mine, want)
            continue
        finite = np.abs(want[np.isfinite(want)])
        near = NEAR[want.real.dtype.name] * (finite.max() if finite.size else 1.0)
        np.testing.assert_allclose(mine, want, 0, near)
