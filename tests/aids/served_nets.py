"""Nets that are saved to be served, and what predictors give of them."""

import numpy as np
from backend.agreement import sources

import fluidlite as fluid


def save_net(folder, make, then=lambda exe: None):
    """Write a net, whose batch norms have statistics that are not those at first.

    Args:
        folder: where the model is written.
        make: builds it; gives what is fetched.
        then: called with the executor, where the scope has the parameters.
    """
    main, startup, scope = fluid.Program(), fluid.Program(), fluid.Scope()
    main.random_seed = startup.random_seed = 7
    exe = fluid.Executor()
    with fluid.scope_guard(scope), fluid.unique_name.guard():
        with fluid.program_guard(main, startup):
            out = make()
        exe.run(startup)
        for variable in main.list_vars():
            if variable.persistable and variable.name.startswith("batch_norm"):
                tensor = scope.find_var(variable.name).get_tensor()
                more = np.arange(np.asarray(tensor).size, dtype="float32") / 20
                tensor.set(np.asarray(tensor) + more)
        fluid.io.save_inference_model(str(folder), ["x"], [out], exe, main)
        then(exe)


def third_run(config, x):
    """What a predictor gives in its third run, which is planned, and the predictor."""
    predictor = fluid.core.create_paddle_predictor(config)
    for _ in range(3):
        (out,) = predictor.run([fluid.core.PaddleTensor(x, "x")])
    return out.as_ndarray(), predictor


def plan_source(predictor):
    """The source of a predictor's plans."""
    served = predictor._serving.served
    return sources(served.executor, served.program)


def types_of(predictor):
    """The types of a served program's operators."""
    return [op.type for op in predictor.program().global_block().ops]
