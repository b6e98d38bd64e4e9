"""Pages of the site with every public name: what it takes, gives and raises, and its example."""

import importlib
import inspect

#: the modules whose names have pages, and what they hold
MODULES = {
    "fluidlite": "Programs, executors, eager tensors: what most scripts need.",
    "fluidlite.framework": "Programs with their blocks, operators, variables and parameters.",
    "fluidlite.layers": "Functions that append operators to a program.",
    "fluidlite.nets": "Networks of several layers.",
    "fluidlite.optimizer": "Optimizers, averages and what wraps them.",
    "fluidlite.initializer": "What parameters hold at first.",
    "fluidlite.regularizer": "Weight decay.",
    "fluidlite.clip": "Clipping of gradients.",
    "fluidlite.metrics": "Figures over many batches.",
    "fluidlite.io": "Files of programs and parameters, and readers.",
    "fluidlite.reader": "Functions on readers.",
    "fluidlite.dygraph": "Layers that run at once, in the spelling of fluid 1.8.",
    "fluidlite.nn": "Layers in the spelling of paddle 2.",
    "fluidlite.nn.functional": "Functions in the spelling of paddle 2.",
    "fluidlite.autograd": "Derivatives of functions.",
    "fluidlite.flow": "Eager tensors in the spelling of OneFlow.",
    "fluidlite.inspect": "Pages, pictures, costs and checks of programs.",
    "fluidlite.transform": "Programs to programs: rewriting, surgery, derivatives, batches.",
    "fluidlite.checkpoint": "Trainings that go on after a stop.",
    "fluidlite.onnx": "ONNX files.",
    "fluidlite.compat": "Programs of paddle.fluid 1.8, unchanged.",
    "fluidlite.contrib": "Mixed precision and further layers.",
    "fluidlite.profiler": "Where the time of a run goes.",
    "fluidlite.dataset": "Small data sets.",
    "fluidlite.unique_name": "Names of variables and parameters.",
    "fluidlite.errors": "Errors, and the built-in exceptions that they derive from.",
    "fluidlite.export": "NumPy source and StableHLO of a program.",
    "fluidlite.jax": "Programs as functions of JAX.",
    "fluidlite.distributed": "Training on several devices and processes.",
}


def public(module):
    """The names of a module that have a place on its page: functions and classes."""
    for name in sorted(set(module.__all__), key=lambda name: (name.lower(), name)):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield name


def pages():
    """Paths and texts of the pages: one a module, and an index."""
    index = ["# Reference\n"]
    for path, what in MODULES.items():
        module = importlib.import_module(path)
        if not getattr(module, "__all__", None):
            continue
        target = f"{path.removeprefix('fluidlite.')}.md"
        blocks = [f"::: {path}.{name}\n" for name in public(module)]
        yield f"reference/{target}", f"# {path}\n\n{what}\n\n" + "\n".join(blocks)
        index.append(f"* [`{path}`]({target}): {what}")
    yield "reference/index.md", "\n".join(index) + "\n"
