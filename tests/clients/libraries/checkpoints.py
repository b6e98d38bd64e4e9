"""paddletools takes parameters from programs to eager models and back."""

import os
import tempfile

import absent
import numpy as np
import paddle.fluid as fluid
from outcomes import outcome

absent.stand_in("colorlog", "docopt", "requests", "torch", "wxpy", "itchat")

from paddletools import checkpoints  # noqa: E402


def carried():
    """What is saved of a network, and what came back byte by byte."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        pictures = fluid.data("pictures", [None, 3, 8, 8], "float32")
        fluid.layers.fc(fluid.layers.batch_norm(fluid.layers.conv2d(pictures, 4, 3)), 2)
    exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
    there, back = tempfile.mkdtemp(), tempfile.mkdtemp()
    with fluid.scope_guard(scope):
        exe.run(startup)
        kept = sorted((each.name, each.shape) for each in main.list_vars() if each.persistable)
        for number, (name, shape) in enumerate(kept):
            draw = np.random.RandomState(number).randn(*shape).astype("float32")
            scope.find_var(name).get_tensor().set(draw, fluid.CPUPlace())
        fluid.io.save_persistables(exe, there, main)
    names = sorted(os.listdir(there))
    checkpoints.static2dynamic(there, os.path.join(there, "eager"))
    with fluid.dygraph.guard():
        model, _ = fluid.load_dygraph(os.path.join(there, "eager"))
    checkpoints.dynamic2static(os.path.join(there, "eager"), back)

    def read(folder, name):
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()

    return {
        "eager": {name: [list(value.shape), float(np.sum(value))] for name, value in model.items()},
        "same": {name: read(there, name) == read(back, name) for name in names},
    }


def results(_):
    """What it gives."""
    return outcome(carried)
