"""What fluidlite writes, the real system reads: the same outputs, the same training.

``FLUIDLITE_PADDLE18`` names a Python with paddlepaddle 1.8.5; without it all this is skipped.
``-s`` shows the figures.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from oracle.golden import script

import fluidlite as fluid
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.values import LoDTensor, SelectedRows

PYTHON = os.environ.get("FLUIDLITE_PADDLE18")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="FLUIDLITE_PADDLE18 names no Python with paddlepaddle 1.8.5"
)
SERVED = ["fit_a_line", "lenet", "mlp", "resnet_block", "while_loop_train", "cond_branches"]
TRAINED = [("fit_a_line", "momentum"), ("mlp", "adam"), ("resnet_block", None)]
STEPS = 5


def built(name, optimizer=None):
    """A network, with values of its variables in the scope, and an executor."""
    options = {}
    if optimizer is not None:
        options["make_opt"] = script("_optimizers").OPTIMIZERS[optimizer]
    net = script(name).build(fluid, **options)
    net["startup"].random_seed = 3
    exe = fluid.Executor()
    exe.run(net["startup"])
    return net, exe


def batch(program, names, seed, data=None):
    """Random values for data variables; ``data`` says the bounds of integers."""
    rng = np.random.default_rng(seed)
    feed = {}
    for name in names:
        variable = program.global_block().var(name)
        shape = [4 if size == -1 else size for size in variable.shape]
        if str(variable.dtype).startswith("int"):
            bound = data[name][2]
            feed[name] = rng.integers(0, bound, shape).astype(str(variable.dtype))
        else:
            feed[name] = rng.random(shape).astype(str(variable.dtype))
    return feed


def serve(folder, name, combined):
    net, exe = built(name)
    feeds, targets = net["infer"]
    files = {"model_filename": "model", "params_filename": "params"} if combined else {}
    path = folder / (name + ("_combined" if combined else ""))
    main = net.get("test", net["main"])
    fluid.io.save_inference_model(path, feeds, targets, exe, main, **files)
    program, names, fetched = fluid.io.load_inference_model(path, exe, **files)
    feed = batch(program, names, 0)
    np.savez(f"{path}.npz", **feed)
    outputs = exe.run(program, feed=feed, fetch_list=fetched)
    task = {"what": "serve", "name": path.name, "files": files}
    return task, {f"{path.name}/{k}": output for k, output in enumerate(outputs)}


def train(folder, name, optimizer, way):
    net, exe = built(name, optimizer)
    module = script(name)
    loss = net["fetch"]["loss"]
    loss = getattr(loss, "name", loss)
    path = folder / f"train_{name}_{way}"
    feeds = [batch(net["main"], net["feeds"], k, module.DATA) for k in range(2 * STEPS)]
    for feed in feeds[:STEPS]:
        exe.run(net["main"], feed=feed)
    fluid.save(net["main"], path / "model")
    filename = "all" if way == "combined" else None
    if way != "save":
        fluid.io.save_persistables(exe, path, net["main"], filename)
    later = feeds[STEPS:]
    np.savez(f"{path}.npz", **{f"{k}/{n}": a for k, f in enumerate(later) for n, a in f.items()})
    losses = [exe.run(net["main"], feed=f, fetch_list=[loss])[0].item() for f in later]
    task = {
        "what": "train",
        "name": path.name,
        "way": way,
        "filename": filename,
        "feeds": list(net["feeds"]),
        "loss": loss,
        "steps": STEPS,
    }
    return task, {f"{path.name}/losses": np.array(losses)}


def tensors(folder):
    rng = np.random.default_rng(0)
    values = {
        "f4": rng.random([2, 3]).astype("float32"),
        "f8": rng.random([5]),
        "i4": np.arange(6, dtype="int32").reshape(6, 1),
        "i8": np.arange(4),
        "i1": np.arange(-3, 3).astype("int8"),
        "sequences": LoDTensor(rng.random([6, 2]).astype("float32"), ((0, 2, 3), (0, 3, 4, 6))),
        "rows": SelectedRows([1, 7, 4], 9, rng.random([3, 2]).astype("float32")),
    }
    block = fluid.default_main_program().global_block()
    variables, wanted, said = [], {}, {}
    for name, value in values.items():
        data, kind = value, Kind.LOD_TENSOR
        if isinstance(value, LoDTensor):
            data = value.data
            for level, lengths in enumerate(value.recursive_sequence_lengths()):
                wanted[f"tensors/{name}/lod{level}"] = np.array(lengths)
        elif isinstance(value, SelectedRows):
            data, kind = value.value, Kind.SELECTED_ROWS
            wanted[f"tensors/{name}/rows"] = value.numbers
            wanted[f"tensors/{name}/height"] = np.array(value.height())
        wanted[f"tensors/{name}"] = data
        said[name] = [str(data.dtype), list(data.shape), kind.name]
        made = block.create_var(name=name, dtype=data.dtype, shape=data.shape, type=kind)
        variables.append(made)
        fluid.global_scope().var(name).value = value
    fluid.io.save_vars(fluid.Executor(), folder / "tensors", vars=variables)
    return {"what": "tensors", "name": "tensors", "variables": said}, wanted


def states(folder):
    rng = np.random.default_rng(1)
    layer = {name: rng.random([2, 3]).astype("float32") for name in ("l1.weight", "l2.weight")}
    moments = {"linear_0.w_0_moment1_0": rng.random([2, 3]).astype("float32")}
    fluid.save_dygraph(layer, folder / "dygraph" / "net.pdparams")
    fluid.save_dygraph(moments, folder / "dygraph" / "net.pdopt")
    wanted = {f"dygraph/{name}": array for name, array in (layer | moments).items()}
    return {"what": "dygraph", "name": "dygraph"}, wanted


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the real system made of every file, and what it should: name -> (found, wanted)."""
    folder = tmp_path_factory.mktemp("real")
    makers = [lambda n=n, c=c: serve(folder, n, c) for n in SERVED for c in (False, True)]
    for name, optimizer in TRAINED:
        for way in ("save", "separate", "combined"):
            makers.append(lambda n=name, o=optimizer, w=way: train(folder, n, o, w))
    makers += [lambda: tensors(folder), lambda: states(folder)]
    tasks, wanted = [], {}
    for make in makers:
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            with fluid.scope_guard(fluid.Scope()):
                task, values = make()
        tasks.append(task)
        wanted |= values
    (folder / "tasks.json").write_text(json.dumps(tasks))
    subprocess.run(
        [PYTHON, "-W", "ignore", Path(__file__).with_name("in_real.py"), folder],
        check=True,
        cwd=folder,
    )
    with np.load(folder / "results.npz", allow_pickle=False) as packed:
        found = {key: packed[key] for key in packed.files}
    assert found.keys() == wanted.keys()
    return {key: (found[key], wanted[key]) for key in wanted}


def check(results, begin, rtol, atol):
    chosen = {key: pair for key, pair in results.items() if key.startswith(begin)}
    assert chosen
    for key, (found, wanted) in chosen.items():
        assert found.dtype == wanted.dtype or key.endswith("losses")
        error = np.abs(np.asarray(found, float) - np.asarray(wanted, float)).max(initial=0)
        print(f"{key:<40} {list(np.shape(wanted))!s:<16} largest difference {error:.1e}")
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=key)


@pytest.mark.parametrize("name", SERVED)
def test_models_compute_the_same(name, results):
    check(results, name, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name, _ in TRAINED])
def test_training_goes_on_with_the_same_losses(name, results):
    check(results, f"train_{name}", rtol=1e-4, atol=1e-5)


def test_tensors_are_the_same_to_the_last_bit(results):
    check(results, "tensors/", rtol=0, atol=0)


def test_states_are_the_same_to_the_last_bit(results):
    check(results, "dygraph/", rtol=0, atol=0)
