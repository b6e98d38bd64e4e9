"""Every layer and every module computes in a program what it does on tensors, and trains."""

import numpy as np
import pytest
from shares import in_both_types

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import ArgumentError
from fluidlite.ground.public_names import public_names
from operands import calls
from operands.comparing import (
    CLOSE,
    AtOnce,
    Names,
    check_program,
    flows,
    leaves,
    same,
    strict_tensor,
    tensor,
    variable_of,
    weighted,
)

HOLDS = "holds others, and is not called"
BASE = "is a base of others"
ARRAYS_ONLY = "changes gradients, not operands"
LEFT_OUT = {
    **dict.fromkeys(["LayerDict", "LayerList", "ParameterList"], HOLDS),
    **dict.fromkeys(["ModuleDict", "ModuleList", "ParameterDict", "Parameter"], HOLDS),
    **dict.fromkeys(["Layer", "Module", "RNNCellBase", "Graph"], BASE),
    "BeamSearchDecoder": "is driven by dynamic_decode",
    **dict.fromkeys(["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"], ARRAYS_ONLY),
}
#: what reads elements, which variables have none of
AT_ONCE = {
    *("FakeQuantization", "MinMaxObserver", "MovingAverageMinMaxObserver", "Quantization"),
    *("QatConv1d", "QatConv2d", "QatConv3d"),
}
LIBRARIES = {
    "nn": (fluid.nn, calls.LAYERS, tensor),
    "flow.nn": (flow.nn, calls.MODULES, strict_tensor),
}
CASES = [
    (library, name)
    for library, (module, *_) in LIBRARIES.items()
    for name in sorted(public_names(vars(module)))
    if isinstance(getattr(module, name), type) and name not in {*LEFT_OUT, *AT_ONCE}
]


@pytest.fixture
def default_dtype():
    """Sets the default element type of both spellings; it is float32 again behind a test."""
    yield fluid.set_default_dtype
    fluid.set_default_dtype("float32")


def state_of(module):
    """Copies of what a module keeps, by name."""
    return {name: np.array(value.numpy()) for name, value in module.state_dict().items()}


def at_once(module, text, make, library, dtype):
    """What the call of a module gives on tensors, and gradients of operands and parameters."""
    names = Names(lambda _, value: make(value), dtype, f=module)
    names["nn"] = library
    results = leaves(eval(f"f({text})", names))
    chosen = [each for each in results if flows(each)]
    if chosen:
        weighted(chosen, chosen).backward()
    reads = {k: names[k] for k in names.floats()} | {p.name: p for p in module.parameters()}
    gradients = {k: None if v.grad is None else v.grad.numpy() for k, v in reads.items()}
    return AtOnce(results, gradients)


@pytest.mark.parametrize("library, name, dtype", in_both_types(CASES))
def test_a_module_computes_in_a_program_what_it_does_on_tensors(
    library, name, dtype, default_dtype
):
    lib, table, make = LIBRARIES[library]
    default_dtype(dtype)
    written = table[name]
    for arguments, text in written if isinstance(written, list) else [written]:
        for training in (False, True):
            names = Names(lambda _, value: make(value), dtype)
            names["nn"] = lib
            module = eval(f"nn.{name}({arguments})", names)
            module.train() if training else module.eval()
            before = state_of(module)
            wanted = at_once(module, text, make, lib, dtype)
            after = state_of(module)
            for key, value in module.state_dict().items():
                value.set_value(before[key])
            compare(module, text, lib, wanted, after, dtype)


def compare(module, text, library, wanted, after, dtype):
    """Check a module in a program: results, gradients, and what it keeps behind a run."""
    main, start = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, start), fluid.scope_guard(fluid.Scope()):
        feed = {}
        names = Names(variable_of(feed), dtype, f=module)
        names["nn"] = library
        outs = leaves(eval(f"f({text})", names))
        kept = main.global_block().vars
        parameters = {p.name: kept[p.name] for p in module.parameters() if p.name in kept}
        assert len(main.all_parameters()) == len(parameters)
        missing = [p.name for p in module.parameters() if p.name not in kept]
        assert all(wanted.gradients[k] is None or not np.any(wanted.gradients[k]) for k in missing)
        names.update(parameters)
        if start.global_block().ops:
            fluid.Executor().run(start)
        check_program(wanted, outs, names, feed, dtype)
        for key, value in module.state_dict().items():
            held = fluid.global_scope().find_var(value.name)
            if held is not None and value.name not in parameters:
                same(np.array(held.get_tensor()), after[key], CLOSE[dtype][0])


@pytest.mark.parametrize(
    "library, name",
    [(k, n) for k, (module, *_) in LIBRARIES.items() for n in LEFT_OUT if hasattr(module, n)],
)
def test_what_is_left_out_is_not_called(library, name):
    kind = getattr(LIBRARIES[library][0], name)
    bases = fluid.nn.Layer.forward, flow.nn.Module.forward
    assert getattr(kind, "forward", bases[0]) in bases


def test_what_reads_elements_refuses_variables():
    x = fluid.data("x", [2, 3], "float32")
    for name in AT_ONCE - {"FakeQuantization", "Quantization"}:
        arguments = (3, 2, 1) if name.startswith("Qat") else ()
        with pytest.raises(ArgumentError, match="not in programs"):
            getattr(flow.nn, name)(*arguments)(x, *[x] * name.startswith("Moving"))
    for name in ("FakeQuantization", "Quantization"):
        with pytest.raises(ArgumentError, match="not in programs"):
            getattr(flow.nn, name)()(x, flow.ones(1), flow.zeros(1))
