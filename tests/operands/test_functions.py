"""Every public function of tensors computes the same on variables of programs."""

import inspect

import numpy as np
import pytest
from shares import in_both_types

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import ArgumentError
from fluidlite.functions import exports
from fluidlite.ground.public_names import public_names
from operands import calls
from operands.comparing import Spelling, at_once, compare_with, strict_tensor, tensor

NOTHING = "takes no operand"
STATE = "reads or sets a state"
RANDOM = "draws random numbers: compared below"
GRADIENTS = "fluid.gradients differentiates programs"
FILES = "is about files"
PYTHON = "gives what Python decides by"
PROCESSES = "says which processes have a tensor"
AT_ONCE = "reads elements at once"

#: what is decided by a size that nobody knows: a dimension that goes, one that is stretched
AMBIGUOUS = {
    ("gather_nd", calls.PADDLE["gather_nd"]),
    *(("squeeze", "ROW"), ("squeeze", "ROW, 0"), ("kthvalue", "X, 1, 0")),
    ("masked_select", "X, ROW > 0.5"),
}

LEFT_OUT = {
    **dict.fromkeys(
        ["create_parameter", "empty", "eye", "full", "linspace", "logspace", "ones"]
        + [
            "rand",
            "randint",
            "randn",
            "randperm",
            "standard_normal",
            "tril_indices",
            "triu_indices",
        ]
        + ["uniform", "zeros", "to_tensor", "broadcast_shape"],
        NOTHING,
    ),
    **dict.fromkeys(
        ["enable_grad", "no_grad", "set_grad_enabled", "is_grad_enabled", "get_default_dtype"]
        + ["seed", "set_default_dtype", "set_printoptions"],
        STATE,
    ),
    **dict.fromkeys(["bernoulli", "multinomial", "normal", "poisson", "randint_like"], RANDOM),
    "grad": GRADIENTS,
    "is_tensor": PYTHON,
}
LEFT_OUT_OF_FLOW = {
    **{k: v for k, v in LEFT_OUT.items() if hasattr(flow, k)},
    **dict.fromkeys(["as_tensor", "from_numpy", "tensor"], NOTHING),
    **dict.fromkeys(
        ["autocast_decorator", "broadcast_shapes", "convert_oneflow_dtype_to_numpy_dtype", "dtypes"]
        + ["from_dlpack", "hann_window", "ignore", "to_dlpack"],
        NOTHING,
    ),
    **dict.fromkeys(
        ["clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_gpu_dtype"]
        + ["get_rng_state", "inference_mode", "initial_seed", "is_autocast_cache_enabled"]
        + ["is_autocast_enabled", "manual_seed", "set_autocast_cache_enabled"]
        + ["set_autocast_cpu_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]
        + ["set_default_tensor_type", "set_num_threads", "set_rng_state"],
        STATE,
    ),
    **dict.fromkeys(["global_to_global", "local_to_global", "to_global", "to_local"], PROCESSES),
    **dict.fromkeys(["nms", "roc_auc_score"], AT_ONCE),
    **dict.fromkeys(["rand_like", "randn_like", "randint_like"], RANDOM),
    **dict.fromkeys(["load", "save"], FILES),
    "is_nonzero": PYTHON,
}


def functions_of(module):
    """The public functions of a module."""
    found = {name: getattr(module, name) for name in sorted(public_names(vars(module)))}
    return {k: v for k, v in found.items() if callable(v) and not isinstance(v, type)}


SPELLINGS = {
    "fluid": Spelling(
        {**functions_of(exports), "create_parameter": fluid.create_parameter},
        calls.PADDLE,
        tensor,
        LEFT_OUT,
    ),
    "fluid.nn.functional": Spelling(
        functions_of(fluid.nn.functional),
        calls.FUNCTIONAL,
        tensor,
        {
            **dict.fromkeys(["gumbel_softmax", "class_center_sample"], RANDOM),
            "sparse_attention": "is refused",
        },
    ),
    "flow": Spelling(
        functions_of(flow), calls.PADDLE | calls.FLOW, strict_tensor, LEFT_OUT_OF_FLOW
    ),
    "flow.nn.functional": Spelling(
        functions_of(flow.nn.functional),
        calls.FUNCTIONAL | calls.FLOW_FUNCTIONAL,
        strict_tensor,
        {"ctc_greedy_decoder": AT_ONCE, "gumbel_softmax": RANDOM},
    ),
}
CASES = [
    (spelling, name)
    for spelling, table in SPELLINGS.items()
    for name in table.functions
    if name not in table.left_out
]


def texts_of(function, written):
    """Sample arguments: those that are written, or what parameters are called."""
    if written is None:
        required = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        written = ", ".join(calls.BY_PARAMETER[p.name] for p in required)
    return [written] if isinstance(written, str) else written


@pytest.mark.filterwarnings("ignore:divide. that of int64")
@pytest.mark.parametrize("spelling, name, dtype", in_both_types(CASES))
def test_a_function_of_variables_computes_what_that_of_tensors_does(spelling, name, dtype):
    """... and where sizes are unknown, too, or it says that it needs them."""
    table = SPELLINGS[spelling]
    function = table.functions[name]
    unknown = 1 if dtype == "float32" else None  # the first size, or all of them
    for text in texts_of(function, table.calls.get(name)):
        wanted = at_once(function, text, table.make, dtype)
        compare_with(wanted, function, text, dtype)
        if (name, text) in AMBIGUOUS:
            continue
        try:
            compare_with(wanted, function, text, dtype, unknown)
        except ArgumentError as error:
            assert "computes with a size of a variable that is unknown" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "spelling, name", [(s, name) for s, table in SPELLINGS.items() for name in table.left_out]
)
def test_a_name_that_is_left_out_takes_no_variable(spelling, name):
    table = SPELLINGS[spelling]
    function, why = table.functions[name], table.left_out[name]
    if why == RANDOM:
        return
    x = fluid.data("x", [2, 2], "float32")
    required = [
        x
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    try:
        found = function(*required or [x])
    except Exception:
        return
    assert not isinstance(found, fluid.Variable)


X = np.linspace(0.1, 0.9, 6).reshape(2, 3).astype("float32")
DRAWN = {
    "bernoulli": lambda x: fluid.bernoulli(x),
    "multinomial": lambda x: fluid.multinomial(x, 2),
    "multinomial again": lambda x: fluid.multinomial(x, 5, replacement=True),
    "normal": lambda x: fluid.normal(x, 2.0),
    "gumbel_softmax": lambda x: fluid.nn.functional.gumbel_softmax(x),
    "gumbel_softmax hard": lambda x: fluid.nn.functional.gumbel_softmax(x, hard=True),
    "dropout": lambda x: fluid.nn.functional.dropout(x),
    "dropout of rows": lambda x: fluid.nn.functional.dropout(x, axis=0),
    "alpha_dropout": lambda x: fluid.nn.functional.alpha_dropout(x),
    "rrelu": lambda x: fluid.nn.functional.rrelu(x - 0.5),
    "uniform_": lambda x: (x * 1.0).uniform_(),
    "normal_": lambda x: (x * 1.0).normal_(1.0, 2.0),
    "exponential_": lambda x: (x * 1.0).exponential_(),
    "cauchy_": lambda x: (x * 1.0).cauchy_(1.0, 2.0),
    "geometric_": lambda x: (x * 1.0).geometric_(0.3),
    "geometric_ of tensors": lambda x: (x * 1.0).geometric_(x),
    "poisson": lambda x: fluid.poisson(x * 100.0),
    "randint_like": lambda x: fluid.randint_like(x, 1000, dtype="int64"),
    "flow.bernoulli": lambda x: flow.bernoulli(x),
    "flow.bernoulli of one": lambda x: flow.bernoulli(x, 0.5),
    "flow.multinomial": lambda x: flow.multinomial(x, 2),
    "flow.normal": lambda x: flow.normal(x, 2.0),
    "flow.rand_like": lambda x: flow.rand_like(x),
    "flow.randn_like": lambda x: flow.randn_like(x),
    "flow.randint_like": lambda x: flow.randint_like(x, 0, 1000),
    "flow.dropout": lambda x: flow.nn.functional.dropout(x),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_numbers_of_a_program_are_drawn_in_every_run(name):
    like = DRAWN[name]((flow.tensor if name.startswith("flow") else fluid.to_tensor)(X))
    x = fluid.data("x", [None, 3], "float32")
    out = DRAWN[name](x)
    main, executor = fluid.default_main_program(), fluid.Executor()
    runs = [executor.run(main, feed={"x": X}, fetch_list=[out])[0] for _ in range(8)]
    assert all(run.shape == tuple(like.shape) and run.dtype == like.numpy().dtype for run in runs)
    assert any(not np.array_equal(run, runs[0]) for run in runs[1:])


def test_random_numbers_of_a_program_have_the_distribution_that_was_asked_for():
    x = fluid.data("x", [None, 4], "float32")
    chances = np.tile(np.array([0.1, 0.2, 0.3, 0.4], "float32"), (4000, 1))
    drawn = [fluid.bernoulli(x), fluid.multinomial(x), fluid.multinomial(x, 1, True)]
    drawn += [fluid.normal(x, 2.0), flow.randint_like(x, 2, 6)]
    fluid.default_main_program().random_seed = 5
    coins, once, again, normal, whole = fluid.Executor().run(feed={"x": chances}, fetch_list=drawn)
    np.testing.assert_allclose(coins.mean(0), chances[0], atol=0.03)
    for places in (once, again):
        np.testing.assert_allclose(np.bincount(places[:, 0]) / 4000, chances[0], atol=0.03)
    np.testing.assert_allclose((normal.mean(0), normal.std(0)), (chances[0], [2.0] * 4), atol=0.15)
    counts = np.bincount(whole.astype(int).ravel())
    np.testing.assert_allclose(counts / 16000, [0, 0, *[0.25] * 4], atol=0.02)
