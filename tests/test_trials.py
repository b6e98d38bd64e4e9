"""What building takes in fluid 1.8 is taken here, and comes to the same operators and variables."""

import itertools
import json
import re
from pathlib import Path

import pytest
import trials

import fluidlite as fluid
from fluidlite.ground import state

TRIALS = trials.load(Path(__file__).parent / "data" / "trials.json.gz")
#: where it comes to something else: names of trials -> why
DIFFERENCES = {
    r"dt\d+_11|dt1[56]_13|misc_[78]|int4_7|var_9": "no kernel of fluid's takes it when it is run",
    r"dt(4|5|6|23)_10": "uniform_random of float64 is that, not float32",
    r"dt24_\d+|pb_[45]": "without an element type it is what the layer says, or not known yet",
    r"aot_2[235689]|misc_90": "an operator's output has the element type that it writes",
    r"gr_1[125]": "every input has its gradient, or None, in its place",
    r"gr_[89]": "the gradient of a target that another one depends on is added to its own",
    r"int7_\d+|var_20": "a text is no number",
    r"lr1[56]_\w+|opt_1[79]|init_4|init_12|init_21": "it makes no step or no value",
    r"nm7_1[34]": "the name of a layer is a text",
    r"nm6_14": "what creates a variable gives the one that is there",
    r"sched_2": "a number of NumPy is a number: the same rates by fewer operators",
    r"seq6_\d+": "an iterator of sizes is used up by the first look at it",
    r"aop_18": "an operator names variables that are declared",
    r"block_rename_var_taken": "two variables do not become one",
    r"pb_9": "declaring a variable again, alike, gives the variable itself",
    r"pb_21|init_29": "a parameter has the shape that it is given, of positive sizes",
    r"bw_12|recompute_inputs": "no blocks are left over from building",
    r"op_unknown_slot_\w+|op_attr_after_remove|op_misc|op_attr_type|op_rename": "operators are "
    "plain data: their parts come in the order of the definition, and what is taken out of an "
    "operator has its default",
    r"op_set_attr_wrong": "an attribute has its type",
    r"op_set_attr_public|block_prepend_op_public|paramattr_clip": "there are more names here",
    r"clip_global_all_none": "pairs without a gradient are left out by every clip",
    r"layer_helper_bias|helper_inputs|var_5[89]|vardesc|tensor_get_dims": "types are of other "
    "classes",
    r"helper_param_kinds": "stop_gradient of a parameter that a helper makes is what was asked for",
    r"misc_112": "the shape of the grid is that of the result",
    r"opdesc|framework_misc|tensor_set_dims|scope_\w+": "names that no program was seen to use",
    r"program_misc": "the description of a program is a view, made when it is asked for",
    r"save_inference_\w+": "the program that is saved stays as it is",
    r"variable_static_refused": "a variable and an array are added: the array is a constant",
    r"var_31|var_34": "other operators to the same result",
    r"var_69": "a variable cannot be iterated over",
    r"vardesc_name": "a renamed variable is found under its name",
    r"warn_ema": "the counter of steps is set once",
    r"warn_metrics": "a metric is a number",
    r"warn_twice_minimize": "copies of overwritten parameters are kept for the second sweep",
}
_DIFFERS = re.compile("|".join(f"(?:{names})" for names in DIFFERENCES))


def group(name):
    return re.sub(r"_?\d+(_\w*)?$", "", name) if name[-1].isdigit() or "_" not in name else name[:6]


GROUPS = {
    key: list(names) for key, names in itertools.groupby(sorted(TRIALS, key=group), key=group)
}


def same(name):
    """Whether a trial comes to what it comes to in fluid."""
    state.reset()
    came = json.loads(json.dumps(trials.attempt(fluid, TRIALS[name]["code"]), default=str))
    return "refused" in TRIALS[name]["came"] or came == TRIALS[name]["came"]


@pytest.mark.parametrize("names", GROUPS.values(), ids=GROUPS)
def test_odd_arguments_are_taken_as_fluid_takes_them(names):
    differ = [n for n in names if not same(n)]
    assert not [n for n in differ if not _DIFFERS.fullmatch(n)]


def test_every_listed_difference_is_one():
    listed = [name for name in TRIALS if _DIFFERS.fullmatch(name)]
    equal = {name for name in listed if same(name)}
    for names, why in DIFFERENCES.items():
        assert why.strip()
        found = [name for name in listed if re.fullmatch(names, name)]
        assert found and not equal.issuperset(found), f"{names} differs no more"
