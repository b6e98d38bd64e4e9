"""How much of what the faces take and give says ``Any``, which checkers take for known."""

import importlib
import inspect
import types

FACES = (
    "fluidlite", "fluidlite.autograd", "fluidlite.backward", "fluidlite.clip", "fluidlite.dygraph",
    "fluidlite.flow", "fluidlite.flow.nn", "fluidlite.flow.nn.functional", "fluidlite.flow.optim",
    "fluidlite.initializer", "fluidlite.io", "fluidlite.layers", "fluidlite.metrics",
    "fluidlite.nets", "fluidlite.nn", "fluidlite.nn.functional", "fluidlite.nn.initializer",
    "fluidlite.optimizer", "fluidlite.profiler", "fluidlite.reader", "fluidlite.regularizer",
)  # fmt: skip
#: of all parameters and results; 0.02 is the aim
MOST = 0.06
SAYING_NOTHING = {"Any", "typing.Any", "Any | None"}


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


def annotations():
    """What parameters and results of the faces are said to be: their name -> the text."""
    return {
        f"{name}: {parameter}": getattr(said, "__name__", None) or str(said)
        for name, function in functions().items()
        for parameter, said in function.__annotations__.items()
    }


def test_few_parameters_and_results_say_any():
    told = annotations()
    assert len(told) > 7000
    loose = [name for name, text in told.items() if text in SAYING_NOTHING]
    assert len(loose) < MOST * len(told), "\n".join(loose)
