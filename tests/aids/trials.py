"""Short scripts with odd arguments, and what building them comes to.

``tests/data/trials.json.gz`` holds the scripts, and what they come to in fluid 1.8.5.  With a
Python that has it, ``python tests/aids/trials.py FILE`` records them anew.
"""

import contextlib
import gzip
import json
import math
import os
import sys
import tempfile
import warnings

import numpy as np

_NUMBERS = 64


def load(path):
    """The trials of a recording: name -> script and outcome."""
    with gzip.open(path) as file:
        return json.loads(file.read().decode())


def attempt(fluid, code):
    """What a script comes to: what it is refused with, or its ``out`` and the operators it appends.

    Args:
        fluid: the module.
        code: the script, which knows ``fluid``, ``layers``, ``np``, ``main``, ``startup``, ``exe``
            and an empty folder ``tmp``.
    """
    main, startup = fluid.Program(), fluid.Program()
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(fluid.unique_name.guard())
        stack.enter_context(fluid.program_guard(main, startup))
        stack.enter_context(fluid.scope_guard(fluid.Scope()))
        names = {"fluid": fluid, "layers": fluid.layers, "np": np, "tmp": folder}
        names.update(main=main, startup=startup, exe=fluid.Executor(fluid.CPUPlace()))
        try:
            exec(compile(code, "trial.py", "exec"), names)
            out = _plain(fluid, names.get("out"))
        except Exception as error:
            return {"refused": type(error).__name__}
    programs = {"main": main, "startup": startup}
    ops = {name: [[op.type for op in b.ops] for b in p.blocks] for name, p in programs.items()}
    return dict(ops, out=out)


def _plain(fluid, value, depth=0):
    """A value as JSON data."""
    if depth > 6 or value is None or isinstance(value, (bool, int, str)):
        return value if depth <= 6 else "..."
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        numbers = [_plain(fluid, v, depth + 1) for v in value.ravel()[:_NUMBERS].tolist()]
        return {"array": numbers, "shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return _plain(fluid, value.item(), depth)
    if isinstance(value, dict):
        return {str(k): _plain(fluid, v, depth + 1) for k, v in sorted(value.items(), key=str)}
    if isinstance(value, (list, tuple)):
        return [_plain(fluid, v, depth + 1) for v in value]
    if isinstance(value, fluid.framework.Variable) and hasattr(value, "persistable"):
        dtype = str(value.dtype).split(".")[-1].replace("FP", "float").lower()
        return [value.name, list(value.shape), dtype, value.stop_gradient, value.persistable]
    return f"<{type(value).__name__}>"


def record(path):
    """Run the scripts of a recording in fluid 1.8.5, and write what they come to."""
    import paddle.fluid as fluid

    found = load(path)
    for trial in found.values():
        trial["came"] = attempt(fluid, trial["code"])
        fluid.framework._dygraph_tracer_ = None  # what a failing guard leaves behind
        fluid.framework._name_scope = fluid.framework.NameScope()
        fluid.framework._current_device = None
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    record(os.path.abspath(sys.argv[1]))
