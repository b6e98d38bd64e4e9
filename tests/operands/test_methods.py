"""Every method of tensors is one of variables, and computes the same."""

import pytest
from shares import in_both_types

import fluidlite as fluid
from fluidlite import flow, symbolic
from operands import calls
from operands.comparing import compare, strict_tensor, tensor
from operands.test_functions import texts_of

HANDLES = "is for what writes in place"
RANDOM = "draws random numbers: compared with the functions"
SEVERAL = "takes a list of tensors: compared with the functions"
PROCESSES = "says which processes have a tensor"
OBJECT = "gives an object that is no tensor"

LEFT_OUT = {
    **dict.fromkeys(["alias", "write", "write_shape", "write_type"], HANDLES),
    **dict.fromkeys(["uniform_", "normal_", "exponential_", "bernoulli_", "multinomial"], RANDOM),
    **dict.fromkeys(["cauchy_", "geometric_"], RANDOM),
    **dict.fromkeys(["add_n", "broadcast_tensors", "concat", "multiplex", "stack"], SEVERAL),
    "broadcast_shape": "takes shapes",
    **dict.fromkeys(["device", "is_eager", "is_global", "is_lazy", "is_local"], OBJECT),
    **dict.fromkeys(["global_to_global", "local_to_global", "to_global", "to_local"], PROCESSES),
    "backward": "is for the losses of a graph",
    "cuda": "there is one place",
}


def methods_of(kind):
    """The methods that variables have where the tensors of a module are of some class."""
    with symbolic.appending(kind, fluid.data("any", [1], "float32")):
        return dict(sorted(symbolic.methods().items()))


TABLES = {
    "fluid": (fluid.Tensor, tensor, calls.PADDLE | calls.METHODS),
    "flow": (
        flow.Tensor,
        strict_tensor,
        calls.PADDLE | calls.FLOW | calls.METHODS | calls.FLOW_METHODS,
    ),
}
CASES = [
    (spelling, name)
    for spelling, (kind, *_) in TABLES.items()
    for name in methods_of(kind)
    if name not in LEFT_OUT
]


#: what the tests need where a method gives an element type that NumPy has from elsewhere
NEEDS = {"bfloat16": "ml_dtypes"}


def function_of(name, member, kind):
    """A method, or a property, as a function; what writes in place gets a copy to write to."""

    def function(x, *arguments, **named):
        with symbolic.appending(kind, x):
            x = x.clone() if name.endswith("_") else x
            found = getattr(x, name)
            return found if isinstance(member, property) else found(*arguments, **named)

    return function


@pytest.mark.filterwarnings("ignore:divide. that of int64")
@pytest.mark.parametrize("spelling, name, dtype", in_both_types(CASES))
def test_a_method_of_a_variable_computes_what_that_of_a_tensor_does(spelling, name, dtype):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    kind, make, table = TABLES[spelling]
    member = methods_of(kind)[name]
    written = table.get(name) or table.get(name.rstrip("_"))
    if isinstance(member, property):
        written = "X"
    for text in texts_of(member, written):
        if text[0].isdigit():  # of two operands the first is a number
            continue
        compare(function_of(name, member, kind), text, make, dtype)
