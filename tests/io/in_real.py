"""Runs in the real system, a Python 3.7 with paddlepaddle 1.8.5: reads what fluidlite wrote.

    REAL_PYTHON in_real.py FOLDER

``FOLDER/tasks.json`` says what to read and how.  What the real system makes of it is written to
``FOLDER/results.npz``.
"""

import json
import os
import sys

import numpy as np
import paddle.fluid as fluid


def arrays(path):
    with np.load(path, allow_pickle=False) as packed:
        return {key: packed[key] for key in packed.files}


def serve(folder, task, results):
    """A model computes its outputs."""
    exe = fluid.Executor(fluid.CPUPlace())
    feeds = arrays(os.path.join(folder, task["name"] + ".npz"))
    program, names, targets = fluid.io.load_inference_model(
        os.path.join(folder, task["name"]), exe, **task["files"]
    )
    outputs = exe.run(program, feed={n: feeds[n] for n in names}, fetch_list=targets)
    for number, output in enumerate(outputs):
        results[f"{task['name']}/{number}"] = output


def train(folder, task, results):
    """A training goes on: the program and its state come from files."""
    exe = fluid.Executor(fluid.CPUPlace())
    path = os.path.join(folder, task["name"])
    with open(os.path.join(path, "model.pdmodel"), "rb") as file:
        program = fluid.Program.parse_from_string(file.read())
    if task["way"] == "save":
        state = fluid.load_program_state(os.path.join(path, "model"))
        for name, value in state.items():
            fluid.global_scope().var(name).get_tensor().set(value, fluid.CPUPlace())
    else:
        fluid.io.load_persistables(exe, path, program, filename=task["filename"])
    feeds = arrays(os.path.join(folder, task["name"] + ".npz"))
    losses = []
    for step in range(task["steps"]):
        feed = {name: feeds[f"{step}/{name}"] for name in task["feeds"]}
        losses.append(exe.run(program, feed=feed, fetch_list=[task["loss"]])[0].item())
    results[task["name"] + "/losses"] = np.array(losses)


def tensors(folder, task, results):
    """Tensors, sequences and rows are what they were."""
    exe = fluid.Executor(fluid.CPUPlace())
    program = fluid.Program()
    for name, (dtype, shape, kind) in sorted(task["variables"].items()):
        type = getattr(fluid.core.VarDesc.VarType, kind)
        var = program.global_block().create_var(
            name=name, dtype=dtype, shape=shape, persistable=True, type=type
        )
        fluid.io.load_vars(exe, os.path.join(folder, task["name"]), program, [var])
        found = fluid.global_scope().find_var(name)
        if kind == "SELECTED_ROWS":
            rows = found.get_selected_rows()
            results[f"{task['name']}/{name}/rows"] = np.array(list(rows.rows()))
            results[f"{task['name']}/{name}/height"] = np.array(rows.height())
            results[f"{task['name']}/{name}"] = np.array(rows.get_tensor())
            continue
        tensor = found.get_tensor()
        results[f"{task['name']}/{name}"] = np.array(tensor)
        for level, lengths in enumerate(tensor.recursive_sequence_lengths()):
            results[f"{task['name']}/{name}/lod{level}"] = np.array(lengths)


def dygraph(folder, task, results):
    """States of a layer and of an optimizer."""
    with fluid.dygraph.guard():
        layer, optimizer = fluid.load_dygraph(os.path.join(folder, task["name"], "net"))
        for name, value in list(layer.items()) + list(optimizer.items()):
            if isinstance(value, np.ndarray):
                results[f"{task['name']}/{name}"] = value


def main(folder):
    results = {}
    with open(os.path.join(folder, "tasks.json")) as file:
        tasks = json.load(file)
    for task in tasks:
        with fluid.scope_guard(fluid.Scope()):
            globals()[task["what"]](folder, task, results)
    np.savez(os.path.join(folder, "results.npz"), **results)


if __name__ == "__main__":
    main(sys.argv[1])
