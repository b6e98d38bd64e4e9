"""Mistakes of users are refused as the real system refuses them, and in the user's own terms."""

import functools
import inspect
import re
import tempfile
import traceback
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import fluidlite as fluid
from oracle.golden import GRADIENT, SLIPS, by_id, deviation, every, holds, load

CASES = by_id(load("errors.json.gz"))
SCRIPT = "users_script.py"

# What an exception of the real system's C++ side, which only is an Exception, may be here.
ENFORCE = (ValueError, TypeError, RuntimeError, LookupError, ArithmeticError, OSError)

# The user's names, and what else the message cannot do without.
MENTIONS = {
    "feed_missing": "x",
    "feed_wrong_rank": "x",
    "feed_wrong_shape_data": "x -1 4 5",
    "feed_wrong_dtype_data": "x float32 float64",
    "feed_wrong_shape_layers_data": "x 4 5",
    "feed_wrong_dtype_layers_data": "x float32 float64",
    "feed_python_list": "x list",
    "feed_not_a_dict": "list",
    "fetch_unknown_name": "nope",
    "fetch_wrong_type": "int",
    "startup_not_run": "fc_0.w_0 mul startup",
    "run_not_a_program": "str",
    "run_after_close": "closed",
    "executor_bad_place": "cpu",
    "ids_out_of_range": "lookup_table i 7 5",
    "ids_negative": "lookup_table i -1 5",
    "one_hot_out_of_range": "one_hot i 4 3",
    "nan_with_check": "log log_0.tmp_0",
    "batch_sizes_disagree": "elementwise_add x z 2 3",
    "topk_too_large": "top_k x 2 3",
    "squeeze_not_one": "squeeze2 x 3",
    "loss_not_variable": "str",
    "minimize_not_variable": "float",
    "gradients_wrong_target_gradient": "t fc_0.tmp_1",
    "gradients_target_counts_differ": "1 2",
    "no_grad_set_wrong_type": "str",
    "learning_rate_wrong_type": "str",
    "regularizer_wrong_type": "float",
    "grad_clip_wrong_type": "float",
    "fc_input_not_variable": "ndarray",
    "fc_int_input": "x int64",
    "fc_flatten_dims_too_large": "x 3",
    "unknown_activation": "nope",
    "parameter_other_shape": "w 2 3",
    "param_attr_wrong_type": "int",
    "op_missing_input": "elementwise_add Y",
    "op_unknown_type": "nope",
    "op_wrong_attr_type": "scale two",
    "op_two_inputs_in_a_single_slot": "relu X",
    "mul_shapes": "mul x w 4 5",
    "matmul_shapes": "matmul x w 4 5",
    "concat_shapes": "concat a b 2 4",
    "concat_axis": "concat a axis 2",
    "concat_not_list": "int",
    "elementwise_shapes": "elementwise_add a b 3 4",
    "elementwise_dtypes": "elementwise_add a b float32 int64",
    "reshape_size": "reshape2 a 2 3 4",
    "reshape_two_unknown": "-1",
    "transpose_perm_length": "a 3 2",
    "split_not_divisible": "a 5 2",
    "conv_channels_groups": "a 3 2",
    "conv_rank": "conv2d a 8",
    "pool_type": "median max avg",
    "cross_entropy_label_shape": "l 3",
    "cross_entropy_label_float": "l float32",
    "embedding_ids_shape": "lookup_table i 3",
    "embedding_ids_float": "i float32 int64",
    "cast_unknown_dtype": "float31 float32",
    "dropout_probability": "1.5",
    "block_var_missing": "nope",
    "create_var_same_name_other_shape": "v 2 3",
    "create_var_same_name_other_dtype": "v float32 int64",
    "program_guard_wrong_type": "str",
    "same_data_name_twice": "x 2 3",
    "variable_len": "a",
    "variable_float": "a",
    "variable_numpy_static": "a",
    "variable_plus_string": "a str",
    "variable_index_out_of_range": "a 5 2",
}

# Where the operator that a message speaks of was built: the line of the user's script.
BUILT_AT = {
    "startup_not_run": 2,
    "ids_out_of_range": 2,
    "ids_negative": 2,
    "one_hot_out_of_range": 2,
    "nan_with_check": 3,
    "batch_sizes_disagree": 3,
    "topk_too_large": 2,
    "squeeze_not_one": 2,
    "fc_flatten_dims_too_large": 2,
    "op_missing_input": 3,
    "op_wrong_attr_type": 3,
    "op_two_inputs_in_a_single_slot": 3,
    "mul_shapes": 3,
    "matmul_shapes": 3,
    "concat_shapes": 3,
    "concat_axis": 2,
    "elementwise_shapes": 3,
    "elementwise_dtypes": 3,
    "reshape_size": 2,
    "conv_rank": 2,
    "cross_entropy_label_shape": 3,
    "cross_entropy_label_float": 3,
    "embedding_ids_shape": 2,
    "variable_index_out_of_range": 2,
}

REFUSED_ALIKE = [
    name
    for name, case in CASES.items()
    if "at_line" in (case["raises"] or {}) and deviation("errors", name, "raises") is None
]


class Attempt(NamedTuple):
    """What came of running a user's script."""

    error: Exception | None
    in_run: bool  #: raised by the executor, not while building
    line: int | None  #: of the script, where it was raised
    out: object
    warned: set[str]


@functools.cache
def attempt(name):
    """Run the script of a case as a user would, in programs and a scope of its own."""
    main, startup = fluid.Program(), fluid.Program()
    code = compile(CASES[name]["code"], SCRIPT, "exec")
    error, in_run, line = None, False, None
    with (
        warnings.catch_warnings(record=True) as caught,
        tempfile.TemporaryDirectory() as folder,
        fluid.unique_name.guard(),
        fluid.program_guard(main, startup),
        fluid.scope_guard(fluid.Scope()),
    ):
        warnings.simplefilter("always")
        names = {
            "fluid": fluid,
            "layers": fluid.layers,
            "np": np,
            "main": main,
            "startup": startup,
            "exe": fluid.Executor(fluid.CPUPlace()),
            "tmp": folder,
        }
        try:
            exec(code, names)
        except Exception as e:
            error, in_run, line = e, *where(e)
        finally:
            if "set_flags" in CASES[name]["code"]:
                fluid.set_flags({"FLAGS_check_nan_inf": False})
    warned = {base.__name__ for w in caught for base in w.category.__mro__}
    return Attempt(error, in_run, line, names.get("out"), warned)


@pytest.fixture(autouse=True)
def whole_tracebacks(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_TRACEBACK", "full")


def where(error):
    """Whether an exception passed through the executor, and the line of the script it came from."""
    doors = fluid.Executor.__init__, fluid.Executor.run
    executor = {inspect.unwrap(door).__code__ for door in doors}
    frames = list(traceback.walk_tb(error.__traceback__))
    lines = [number for frame, number in frames if frame.f_code.co_filename == SCRIPT]
    return any(frame.f_code in executor for frame, _ in frames), lines[-1] if lines else None


def resembles(error, name):
    """Whether an exception may stand for the recorded class."""
    if name == "EnforceNotMet":
        return isinstance(error, ENFORCE) and not isinstance(error, SLIPS)
    return name is None or name in {base.__name__ for base in type(error).__mro__}


@every("errors", "raises")
def test_what_the_real_system_refuses_is_refused_by_the_same_family_at_the_same_time(name):
    golden, found = CASES[name]["raises"], attempt(name)
    with holds("errors", name, "raises"):
        if golden is None:
            assert found.error is None, repr(found.error)
        else:
            assert found.error is not None, f"expected {golden['class']}, nothing was raised"
            assert resembles(found.error, golden["class"]), repr(found.error)
            if "when" in golden:
                assert found.in_run == (golden["when"] == "run"), repr(found.error)


@every("errors", "out")
def test_what_the_real_system_lets_pass_has_its_result(name):
    found = attempt(name)
    with holds("errors", name, "out"):
        assert found.error is None, repr(found.error)
        assert same(found.out, CASES[name]["out"]), f"{found.out}, want {CASES[name]['out']}"


def same(mine, golden):
    """Floats within the tolerance, all else exactly; a tuple or an array for a list."""
    if isinstance(golden, list):
        mine = list(mine)
        return len(mine) == len(golden) and all(map(same, mine, golden))
    if isinstance(golden, float):
        return bool(np.isclose(mine, golden, *GRADIENT, equal_nan=True))
    return mine == golden


@every("errors", "warns")
def test_what_the_real_system_warns_of_is_warned_of(name):
    with holds("errors", name, "warns"):
        assert attempt(name).warned.issuperset(CASES[name]["warnings"])


@pytest.mark.parametrize("name", MENTIONS)
def test_message_names_what_the_user_knows(name):
    message = str(attempt(name).error)
    missing = [w for w in MENTIONS[name].split() if not mentions(message, w)]
    assert not missing, f"{missing} not in: {message}"


def mentions(message, word):
    """Whether a word stands in a message on its own."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", message) is not None


@pytest.mark.parametrize("name", BUILT_AT)
def test_message_tells_the_line_of_the_script_that_built_the_operator(name):
    message = str(attempt(name).error)
    assert f"{SCRIPT}:{BUILT_AT[name]}" in message


@pytest.mark.parametrize("name", REFUSED_ALIKE)
def test_mistake_is_refused_at_the_line_of_the_script_that_makes_it(name):
    found = attempt(name)
    assert found.line == CASES[name]["raises"]["at_line"], repr(found.error)
