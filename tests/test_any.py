"""How much of what the faces take and give says ``Any``, which checkers take for known."""

import importlib
import inspect
import re
import types
from typing import Any

FACES = (
    "fluidlite", "fluidlite.autograd", "fluidlite.backward", "fluidlite.clip", "fluidlite.dygraph",
    "fluidlite.flow", "fluidlite.flow.nn", "fluidlite.flow.nn.functional", "fluidlite.flow.optim",
    "fluidlite.initializer", "fluidlite.io", "fluidlite.layers", "fluidlite.metrics",
    "fluidlite.nets", "fluidlite.nn", "fluidlite.nn.functional", "fluidlite.nn.initializer",
    "fluidlite.optimizer", "fluidlite.profiler", "fluidlite.reader", "fluidlite.regularizer",
)  # fmt: skip
#: of all parameters and results
MOST = 0.02
#: why something says Any -> the functions, and which of their parameters and results
REASONS = {
    "a function or a class of the user's takes it, or gives it": {
        "Layer.forward": "inputs kwargs return",
        "Layer.__call__": "inputs kwargs return",
        "Layer.call_with": "inputs kwargs return",
        "autograd.PyLayer.forward": "args kwargs return",
        "autograd.PyLayer.backward": "args return",
        "autograd.PyLayer.apply": "args kwargs return",
        "dygraph.DataParallel.forward": "inputs kwargs return",
        "dygraph.ProgramTranslator.get_output": "args kwargs return",
        "dygraph.ProgramTranslator.get_program": "args kwargs",
        "dygraph.Sequential.forward": "input return",
        "flow.nn.Graph.__call__": "args kwargs return",
        "flow.nn.Graph.build": "args kwargs return",
        "flow.nn.Graph.build_graph": "args kwargs",
        "flow.nn.Module.__call__": "inputs kwargs return",
        "flow.nn.Sequential.forward": "input return",
        "layers.BasicDecoder.step": "kwargs",
        "layers.BeamSearchDecoder.step": "kwargs",
        "layers.Decoder.initialize": "inits",
        "layers.Decoder.step": "inputs states kwargs",
        "layers.Decoder.finalize": "outputs final_states",
        "layers.RNNCell.call": "inputs states kwargs",
        "layers.RNNCell.__call__": "inputs states kwargs",
        "layers.dynamic_decode": "inits kwargs",
        "layers.rnn": "kwargs",
        "metrics.MetricBase.eval": "return",
        "nn.Layer.__call__": "inputs kwargs return",
    },
    "another function says what it takes": {
        "flow.nn.Module.to": "args kwargs",
        "optimizer.Optimizer.step_of": "given",
        "optimizer.Optimizer.gradients_of": "given",
    },
    "anything at all is taken": {
        "flow.nn.Identity.__init__": "args kwargs",
        "flow.save": "obj",
        "nn.Identity.__init__": "args kwargs",
    },
    "it has the form of something that the user gave: a value, or a structure of them": {
        "autograd.hessian": "return",
        "autograd.jacobian": "return",
        "flow.load": "return",
        "io.default_collate_fn": "return",
        "layers.DynamicRNN.__call__": "return",
        "layers.RNNCell.get_initial_states": "return",
        "layers.StaticRNN.__call__": "return",
        "nn.RNNCellBase.get_initial_states": "return",
    },
    "a variable in a program, a tensor, a list of such or a number where layers run at once": {
        "Layer.create_parameter": "return",
        "Layer.create_variable": "return",
        "dygraph.LinearLrWarmup.__call__": "return",
        "dygraph.ReduceLROnPlateau.__call__": "return",
        "layers.array_length": "return",
        "layers.array_read": "return",
        "layers.array_write": "return",
        "layers.create_array": "return",
    },
    "an array of NumPy or of JAX, or what a program keeps in its place": {
        "LoDTensor.data": "return",
        "LoDTensorArray.item": "return",
        "LoDTensorArray.with_item": "value",
        "Scope.value": "return",
        "Scope.host_value": "return",
    },
    "scripts know what is there, and do not ask": {"Scope.find_var": "return"},
}


def members(value):
    """The functions behind a public name: itself, or what users call of a class."""
    if not isinstance(value, type):
        return [("", value)]
    found = []
    for name, member in vars(value).items():
        if name[0] != "_" or name in ("__init__", "__call__"):
            found.append(("." + name, getattr(member, "fget", None) or member))
    return found


def functions():
    """The public functions and methods of the faces, each of them once: its name -> itself."""
    found, seen = {}, set()
    for face in FACES:
        module = importlib.import_module(face)
        for name in dir(module):
            if name[0] == "_":
                continue
            for behind, member in members(getattr(module, name)):
                function = inspect.unwrap(getattr(member, "__func__", member))
                if not isinstance(function, types.FunctionType) or function in seen:
                    continue
                if function.__module__.startswith("fluidlite"):
                    seen.add(function)
                    found[f"{face}.{name}{behind}"] = function
    return found


def says_any(annotation, function):
    """Whether an annotation is ``Any``, under another name or with others besides, too."""
    text = getattr(annotation, "__name__", None) or str(annotation)
    parts = [part.strip() for part in re.split(r"\|(?![^\[]*\])", text)]
    return any(part in ("Any", "typing.Any") for part in parts) or any(
        function.__globals__.get(part) is Any for part in parts
    )


def annotations():
    """Parameters and results of the faces: their name -> whether it says Any."""
    return {
        f"{name}: {parameter}": says_any(said, function)
        for name, function in functions().items()
        for parameter, said in function.__annotations__.items()
    }


def explained():
    """What the table says of them."""
    return [
        f"fluidlite.{name}: {parameter}"
        for names in REASONS.values()
        for name, parameters in names.items()
        for parameter in parameters.split()
    ]


def test_few_parameters_and_results_say_any():
    told = annotations()
    assert len(told) > 7000
    assert sum(told.values()) < MOST * len(told)


def test_each_that_says_any_has_its_reason():
    loose = {name for name, is_any in annotations().items() if is_any}
    listed = explained()
    assert len(listed) == len(set(listed))
    assert not loose - set(listed), "give it a type, or a reason in the table"
    assert not set(listed) - loose, "it has a type by now: take it out of the table"


def test_any_is_seen_under_other_names_and_among_others():
    def function(x):
        """Has the globals of this file."""

    assert says_any("Any", function) and says_any("int | Any", function)
    assert says_any("Any | None", function) and says_any(Any, function)
    assert says_any("Whatever", types.FunctionType(function.__code__, {"Whatever": Any}))
    assert not says_any("list[Any]", function) and not says_any("dict[str, int | Any]", function)
