"""Generated kernels on the samples of all operators: what interpretation computes."""

import numpy as np
import pytest
from elementwise_graphs import Recording
from shares import share, shared

import fluidlite as fluid
from fluidlite.backend.native import tracing
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.errors import FetchTypeError
from fluidlite.ground.dtypes import as_dtype
from fluidlite.opdef.definition import registered
from fluidlite.opdef.interpreter import takes_rng
from fluidlite.opdef.spec import Spec

from cases import parameters
from samples.form import GENERATORS

TOLERANCE = 1e-5


def form(value):
    """The spec of an array, or a list of them."""
    if value is None or isinstance(value, list):
        return None if value is None else [form(v) for v in value]
    return Spec(value.shape, as_dtype(value.dtype))


def is_traced(case):
    """Whether the kernel of a sample has an expression."""
    op = case.op
    if case.sample.lods or op.is_control or (op.run is not None and takes_rng(op.run)):
        return False
    try:
        ins = {k: form(v) for k, v in case.inputs.items()}
        outs = {k: form(v) for k, v in case.outputs.items() if v is not None}
        return tracing.traced(op, list(ins), list(ins.values()), outs) is not None
    except (TypeError, AttributeError):
        return False


def results(case):
    """What a program of the operator and its gradients gives when interpreted, and planned."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        one = case.program(but=("ReserveSpace",), program=main)
        found = []
        if case.differentiated:
            found = one.gradients(case.targets, case.variable, case.cotangents)
        fetches = [*one.all_outputs, *(g for g in found if g is not None)]
        exe, scope = fluid.Executor(), fluid.Scope()
        made = [exe.run(main, one.feed, fetches, scope=scope) for _ in range(3)]
    return made[0], made[-1], exe.plan(main, fetches).source


@pytest.mark.filterwarnings("ignore")
def test_samples_agree_with_interpretation(monkeypatch):
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "native")
    if not Compiler().version:
        pytest.skip("no C compiler")
    types = sorted((op for op in registered() if op.type in GENERATORS), key=lambda op: op.type)
    cases = [p.values[0].in_single_precision() for p in parameters(types)]
    cases = shared(case for case in cases if is_traced(case))
    recording = Recording()
    COMPILER.switch(recording)
    plain = []
    for case in cases:
        try:
            results(case)
        except FetchTypeError:  # what is given back are sequences
            continue
        plain.append(case)
    recording.together(list(recording.seen.values()), "-O0")
    fused = 0
    for case in plain:
        meant, found, source = results(case)
        fused += ", native" in source
        for want, mine in zip(meant, found, strict=True):
            if want is None:
                assert mine is None
                continue
            is_float = want.dtype.kind == "f"
            scale = np.abs(want[np.isfinite(want)]).max(initial=1e-30) if is_float else 0
            near = dict(rtol=0, atol=TOLERANCE * scale)
            np.testing.assert_allclose(mine, want, **near, err_msg=repr(case.op))
    assert fused > share(200)
