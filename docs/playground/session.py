"""What the playground's interpreter does with a program: runs it, and answers with plain data."""

import contextlib
import io
import json
import traceback

import numpy as np

import fluidlite as fluid

LONGEST = 20_000  # letters of printed text
SHOWN = 200  # variables in the table
UNKNOWN = 3  # the size that stands for an unknown one


def answer(kind: str, source: str, wants_gradients: bool) -> str:
    """The page, values and printed text of a program, as JSON.

    Args:
        kind: "text" for the text format, else Python.
        source: the program; Python may set ``program``, ``feed`` and ``target``.
        wants_gradients: whether gradients of the last float variable are appended, if the program
            has none.
    """
    printed = io.StringIO()
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    found = dict(page="", rows=[], error="")
    try:
        with contextlib.redirect_stdout(printed), fluid.scope_guard(scope):
            with fluid.program_guard(main, startup), fluid.unique_name.guard():
                names = {"fluid": fluid, "np": np, "__name__": "__main__"}
                if kind == "text":
                    program = fluid.Program.parse(source)
                else:
                    exec(compile(source, "program.py", "exec"), names)
                    program = names.get("program", main)
            found |= shown(program, startup, scope, names, wants_gradients)
    except SyntaxError as error:
        found["error"] = "".join(traceback.format_exception_only(error))
    except fluid.errors.FluidError as error:
        found["error"] = f"{type(error).__name__}: {error}"
    except Exception:
        found["error"] = traceback.format_exc(limit=-4)
    return json.dumps({**found, "printed": printed.getvalue()[:LONGEST]})


def shown(program, startup, scope, names, wants_gradients):
    """The page of a program's run, and a row for each variable."""
    block = program.global_block()
    target = names.get("target") or last_float(block)
    has_gradients = any("@GRAD" in name for name in block.vars)
    own = [(name, block.vars[name]) for name in block.vars if "@GRAD" not in name][:SHOWN]
    if wants_gradients and target is not None and not has_gradients:
        append_gradients(program, target)
    executor, numbers = fluid.Executor(), np.random.default_rng(0)
    if startup.global_block().ops:
        executor.run(startup, scope=scope)
    feed = dict(names.get("feed") or {})
    for variable in block.vars.values():
        if variable.is_data and variable.name not in feed:
            feed[variable.name] = sample(variable, numbers)
        elif variable.persistable and is_missing(scope, variable.name):
            scope.var(variable.name).get_tensor().set(sample(variable, numbers))
    try:
        trace = executor.trace(program, feed=feed, scope=scope)
    except Exception as error:  # the program's page is of use all the same
        message = f"{type(error).__name__}: {error}"
        return dict(page=fluid.inspect.to_html(program), rows=rows(own, {}), error=message)
    values = {**feed}
    for record in trace.records:
        values |= record.outputs
    for name in block.vars:
        if name not in values and not is_missing(scope, name):
            values[name] = scope.find_var(name).get_tensor()
    page = fluid.inspect.to_html(program, title="program", trace=trace)
    return dict(page=page, rows=rows(own, values))


def last_float(block):
    """The last variable of floats that an operator writes."""
    for op in reversed(block.ops):
        for name in op.output_arg_names:
            variable = block.vars.get(name)
            if variable is not None and str(variable.dtype) in FLOATS and "@GRAD" not in name:
                return variable
    return None


FLOATS = ("float32", "float64")


def append_gradients(program, target):
    """Append the gradients of a target with respect to its parameters and data."""
    block = program.global_block()
    sources = [
        variable
        for variable in block.vars.values()
        if (variable.is_data or variable.persistable) and str(variable.dtype) in FLOATS
    ]
    for variable in sources:
        variable.stop_gradient = False
    if sources:
        with fluid.program_guard(program):
            fluid.gradients(target, sources)


def sample(variable, numbers):
    """Values for a variable that nobody gave any."""
    shape = [UNKNOWN if size is None or size < 0 else size for size in variable.shape or ()]
    if str(variable.dtype) in FLOATS:
        return numbers.normal(size=shape).astype(str(variable.dtype))
    return np.zeros(shape, str(variable.dtype))


def is_missing(scope, name):
    """Whether a scope has no value of a name."""
    variable = scope.find_var(name)
    return variable is None or not variable.get_tensor()._is_initialized()


def rows(variables, values):
    """Name, form, value and gradient of each variable, as text."""
    return [
        [
            name,
            "?" if variable.shape is None else str(list(variable.shape)),
            text_of(values, name),
            text_of(values, f"{name}@GRAD"),
        ]
        for name, variable in variables
    ]


def text_of(values, name):
    """A value in a few lines; empty if there is none."""
    if name not in values:
        return ""
    array = np.asarray(values[name])
    return np.array2string(array, precision=4, threshold=60, edgeitems=3)
