"""The code and the models that x2paddle writes compute the same."""

import contextlib
import importlib
import io
import os
import sys

import numpy as np
import paddle.fluid as fluid


def converted(call, feed, merged):
    """What is computed by a model that x2paddle writes, and by its code."""
    sys.modules.pop("model", None)  # the code of another net
    sys.path = [each for each in sys.path if "model_with_code" not in each]
    made, exe = os.path.abspath("made"), fluid.Executor(fluid.CPUPlace())
    code, served = os.path.join(made, "model_with_code"), os.path.join(made, "inference_model")
    with contextlib.redirect_stdout(io.StringIO()):
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
            with fluid.scope_guard(fluid.Scope()):
                call(made)
    net = importlib.import_module("model").x2paddle_net
    with fluid.scope_guard(fluid.Scope()):
        names = "__params__" if merged else None
        program, given, fetched = fluid.io.load_inference_model(served, exe, params_filename=names)
        of_model = exe.run(program, {name: feed[name] for name in given}, fetched)
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        _, outputs = net()
        with fluid.scope_guard(fluid.Scope()):
            exe.run(startup)
            kept = set(os.listdir(code))
            fluid.io.load_vars(exe, code, main, predicate=lambda each: each.name in kept)
            of_code = exe.run(main, {name: feed[name] for name in given}, outputs)
    return {
        "operators": [op.type for op in program.global_block().ops],
        "files": sorted(os.listdir(served)),
        "sizes": [list(np.shape(each)) for each in of_model],
        "numbers": [np.ravel(each).astype("float64")[:60].tolist() for each in of_model],
        "code": [float(np.abs(a - b).max()) for a, b in zip(of_model, of_code)],
    }
