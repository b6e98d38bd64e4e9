"""Random whole programs compute the same, however they are run.

``python tests/tools/fuzz_programs.py`` does this for as many programs as one likes.
"""

import warnings

import numpy as np
import pytest
from shares import share

import fluidlite as fluid
from fluidlite.backend.native.compiler import Compiler
from fluidlite.backend.onednn import description
from fluidlite.opdef import prepared
from fluidlite.opdef.prepared import Prepared

from . import ways
from .program import build, recipe
from .real import PYTHON, unexplained
from .shrinking import shrunk

PROGRAMS = share(200)
WERE_WRONG = (9178, 9213)  #: seeds of programs whose generated kernels were wrong once
needs_library = pytest.mark.skipif(
    description() is None, reason="oneDNN is not installed: pip install onednn-cpu-gomp"
)
needs_real = pytest.mark.skipif(
    not PYTHON, reason="FLUIDLITE_PADDLE18 names no Python with paddlepaddle 1.8.5"
)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "1")


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_plans_of_a_random_program_compute_what_it_means(seed):
    found, _ = ways.compared(recipe(seed), ["numpy"])
    assert not found


@pytest.mark.parametrize("seed", range(1, PROGRAMS, 4))
def test_buffers_and_parts_of_large_values_change_nothing(seed):
    found, _ = ways.compared(recipe(seed), ["numpy/large"])
    assert not found


@needs_library
@pytest.mark.parametrize("seed", range(3, PROGRAMS, 8))
def test_onednn_computes_large_values_right(seed):
    found, _ = ways.compared(recipe(seed), ["onednn/large"])
    assert not found


@pytest.mark.parametrize("way", ["native", "native/large", "native/large/recorded"])
def test_generated_kernels_compute_what_random_programs_mean(monkeypatch, way):
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "2")
    if not Compiler().version:
        pytest.skip("no C compiler")
    fluid.kernels.threads._pool.reset()
    recipes = [recipe(seed) for seed in (*range(2, PROGRAMS, 40), *WERE_WRONG)]
    ways.compile_kernels(recipes, way, level="-O0")
    assert not [found for each in recipes for found in ways.compared(each, [way])[0]]


@needs_library
@pytest.mark.parametrize("seed", range(0, PROGRAMS, 8))
def test_onednn_computes_what_a_random_program_means(seed):
    found, _ = ways.compared(recipe(seed), ["onednn"])
    assert not found


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 40))
def test_the_same_program_is_built_for_a_seed(seed):
    one, other = [build(fluid, recipe(seed)) for _ in range(2)]
    assert one._replace(main=None, startup=None) == other._replace(main=None, startup=None)
    for mine, again in zip(one.main.blocks, other.main.blocks, strict=True):
        assert [o.type for o in mine.ops] == [o.type for o in again.ops]
        assert list(mine.vars) == list(again.vars)


def test_programs_have_twenty_operators_at_least_before_gradients():
    counts = []
    for seed in range(0, PROGRAMS, 4):
        ops = build(fluid, recipe(seed)).main.global_block().ops
        counts.append(sum("_grad" not in op.type for op in ops))
    assert min(counts) >= 20


def test_a_wrong_kernel_is_found_named_and_the_program_made_smaller(monkeypatch):
    def wrong(op, X):
        return Prepared(lambda x, **_: np.tanh(x) + np.float32(0.01))

    monkeypatch.setitem(prepared._preparations, "tanh", wrong)
    whole = next(r for r in map(recipe, range(50)) if ways.compared(r, ["numpy"])[0])

    def is_wrong(given):
        return bool(ways.compared(given, ["numpy"])[0])

    small = shrunk(whole, is_wrong, most=30)
    assert len(small.pieces) < len(whole.pieces)
    (finding,) = ways.compared(small, ["numpy"])[0]
    assert finding.way == "numpy"
    assert " = tanh(" in finding.operator


def test_a_sum_that_cancels_is_rounding_where_each_operator_computes_what_it_means():
    cancelling = recipe(202414)  # the gradient of a bias before a normalisation
    found, rounded = ways.compared(cancelling, ["numpy"])
    assert not found
    assert rounded == 1


def test_a_small_fault_of_an_operator_is_no_rounding(monkeypatch):
    def wrong(op, X):
        return Prepared(lambda x, **_: np.tanh(x) * x.dtype.type(1.01))

    given = recipe(202414)
    built = build(fluid, given)
    mine = ways.compiled("numpy", built, given.seed, ways.started(built, given.seed))
    assert ways.agrees_by_operator(given, "numpy", mine, "float32")
    monkeypatch.setitem(prepared._preparations, "relu", wrong)
    monkeypatch.setitem(prepared._preparations, "tanh", wrong)
    mine = ways.compiled("numpy", built, given.seed, ways.started(built, given.seed))
    assert not ways.agrees_by_operator(given, "numpy", mine, "float32")


def test_a_difference_in_what_stays_is_found():
    wanted = ways.Found([[np.ones(2)]], {"w": np.ones(3)})
    same = ways.Found([[np.ones(2) + 1e-12]], {"w": np.ones(3)})
    other = ways.Found([[np.ones(2)]], {"w": np.array([1.0, 2.0, 1.0])})
    less = ways.Found([[np.ones(2)]], {})
    assert ways.difference(same, wanted, [["a"]], 1e-9) is None
    assert ways.difference(other, wanted, [["a"]], 1e-9).where == "state: w"
    assert ways.difference(less, wanted, [["a"]], 1e-9).where == "state"
    assert ways.difference(wanted, same, [["a"]], 1e-15).where == "run 0: a"


@needs_real
def test_random_programs_compute_what_they_do_in_the_real_system():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, said = unexplained([recipe(seed, whole=False) for seed in range(20)])
    assert not said
