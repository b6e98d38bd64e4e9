"""Models that the real thing saved: loaded, run, saved again, trained on."""

import filecmp
import os

import numpy as np
import pytest
from oracle.golden import script
from oracle.programs import assert_same_program

import fluidlite as fluid
from fluidlite.ir.program import Program
from fluidlite.opdef.definition import is_defined

import saved_models
from networks import assert_same, value

LISTED = saved_models.record("index.json")["models"]
MODELS = {name: saved_models.record(f"{name}/meta.json") for name in LISTED}
INFERENCE = [(n, kind) for n, meta in MODELS.items() for kind in meta["save"] if "inf" in kind]
NAMES = {"inference_combined": {"model_filename": "model", "params_filename": "params"}}


def unknown(name, kind):
    """Operators of a model that nobody has defined."""
    return sorted({op for op in MODELS[name][kind]["ops"] if not is_defined(op)})


def feed_of(arrays, prefix, names=None):
    """What is fed, from the recorded arrays."""
    feed = {}
    for key, array in arrays.items():
        name = key.removeprefix(f"{prefix}/")
        if key == f"{prefix}/{name}" and (names is None or name in names):
            lengths = arrays.get(f"{prefix}_lod/{name}")
            if lengths is not None:
                array = fluid.create_lod_tensor(array, [lengths.tolist()], None)
            feed[name] = array
    return feed


def check_outputs(name, program, targets):
    arrays = saved_models.arrays(f"{name}/io.npz")
    feed = feed_of(arrays, "infer_feed")
    found = fluid.Executor().run(program, feed=feed, fetch_list=targets, return_numpy=False)
    assert len(found) == sum(key.startswith("infer_out/") for key in arrays)
    for number, output in enumerate(found):
        wanted = arrays[f"infer_out/{number}"]
        np.testing.assert_allclose(np.array(output), wanted, rtol=1e-5, atol=1e-6)
        lengths = arrays.get(f"infer_out_lod/{number}")
        lod = [] if lengths is None else [lengths.tolist()]
        assert output.recursive_sequence_lengths() == lod


@pytest.mark.parametrize("name, kind", INFERENCE)
def test_the_program_is_the_one_that_was_saved(name, kind, tmp_path):
    folder = saved_models.unpack(tmp_path, f"{name}/{kind}/")
    exe = fluid.Executor()
    program, feeds, targets = fluid.io.load_inference_model(folder, exe, **NAMES.get(kind, {}))
    assert feeds == MODELS[name][kind]["feed_names"]
    assert [target.name for target in targets] == MODELS[name][kind]["fetch_names"]
    assert_same_program(program, saved_models.record(f"{name}/{kind}.program.json"))


@pytest.mark.parametrize("name, kind", INFERENCE)
def test_the_model_computes_what_it_did(name, kind, tmp_path):
    if missing := unknown(name, kind):
        pytest.skip(f"no operators {', '.join(missing)}")
    folder = saved_models.unpack(tmp_path, f"{name}/{kind}/")
    names = NAMES.get(kind, {})
    exe = fluid.Executor()
    program, feeds, targets = fluid.io.load_inference_model(folder, exe, **names)
    check_outputs(name, program, targets)
    again = tmp_path / "again"
    fluid.io.save_inference_model(again, feeds, targets, exe, program, **names)
    for file in os.listdir(folder):
        if file not in ("__model__", "model"):
            assert filecmp.cmp(folder / file, again / file, shallow=False)
    with fluid.scope_guard(fluid.Scope()):
        program, _, targets = fluid.io.load_inference_model(again, exe, **names)
        check_outputs(name, program, targets)


@pytest.mark.parametrize("name, kind", INFERENCE)
def test_the_model_prints_and_is_saved_as_it_was(name, kind):
    path = f"{name}/{kind}/{'model' if kind in NAMES else '__model__'}"
    program = Program.parse_from_string(saved_models.file(path))
    assert Program.parse(str(program)).global_block().ops
    assert program.to_bytes() == saved_models.file(path)


# -- parameters and training states ----------------------------------------------------------------


def network(name):
    """The network of a model, built here, with the optimizer it was trained with."""
    meta = MODELS[name]
    options = {}
    if "optimizer" in meta:
        options["make_opt"] = script("_optimizers").OPTIMIZERS[meta["optimizer"]]
    try:
        return script(meta["net"]).build(fluid, **options)
    except AttributeError as error:
        pytest.skip(str(error))


def saved_by(name, main, parameters_only):
    arrays = saved_models.arrays(f"{name}/io.npz")
    found = {key.removeprefix("saved/"): a for key, a in arrays.items() if key.startswith("saved/")}
    if parameters_only:
        found = {p.name: found[p.name] for p in main.all_parameters()}
    return found


@pytest.mark.parametrize("name", [n for n, meta in MODELS.items() if "params" in meta["save"]])
def test_parameters_are_loaded_and_saved_again(name, tmp_path):
    net = network(name)
    exe = fluid.Executor()
    exe.run(net["startup"])
    folder = saved_models.unpack(tmp_path, f"{name}/params/")
    fluid.io.load_params(exe, folder, net["main"])
    for variable, array in saved_by(name, net["main"], True).items():
        np.testing.assert_array_equal(value(variable), array)
    fluid.io.save_params(exe, tmp_path / "again", net["main"])
    for file in os.listdir(folder):
        assert filecmp.cmp(folder / file, tmp_path / "again" / file, shallow=False)


STATES = ("save", "persistables")
TRAINED = [(n, kind) for n, meta in MODELS.items() for kind in meta["save"] if kind in STATES]


@pytest.mark.parametrize("name, kind", TRAINED)
def test_training_goes_on_as_it_did(name, kind, tmp_path):
    net = network(name)
    main, exe = net["main"], fluid.Executor()
    exe.run(net["startup"])
    folder = saved_models.unpack(tmp_path, f"{name}/{kind}/")
    if kind == "save":
        fluid.load(main, folder / "model", exe)
    else:
        fluid.io.load_persistables(exe, folder, main)
    saved = saved_by(name, main, False)
    for left_out in MODELS[name].get("not_restored_by_load", []) if kind == "save" else []:
        del saved[left_out]
    assert_same({key: value(key) for key in saved}, saved)
    if kind == "save":
        fluid.save(main, tmp_path / "again" / "model")
        for ending in ("pdparams", "pdopt"):
            found = fluid.io.read(tmp_path / "again" / f"model.{ending}").variables
            assert_same(found, fluid.io.read(folder / f"model.{ending}").variables)
    arrays = saved_models.arrays(f"{name}/io.npz")
    for step, wanted in enumerate(arrays["resume_loss"]):
        feed = feed_of(arrays, f"resume_feed/{step}", net["feeds"])
        (loss,) = exe.run(main, feed=feed, fetch_list=[net["fetch"]["loss"]])
        np.testing.assert_allclose(loss, wanted, rtol=1e-4, atol=1e-5)


# -- Paddle 2 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dense", "image"])
@pytest.mark.parametrize("by_prefix", [True, False])
def test_a_model_of_paddle_2_computes_what_it_did(name, by_prefix, tmp_path):
    saved_models.unpack(tmp_path, name, saved_models.PADDLE2)
    exe = fluid.Executor()
    if by_prefix:
        program, feeds, targets = fluid.io.load_inference_model(tmp_path / name, exe)
    else:
        files = f"{name}.pdmodel", f"{name}.pdiparams"
        program, feeds, targets = fluid.io.load_inference_model(tmp_path, exe, *files)
    arrays = saved_models.arrays(f"{name}.npz", saved_models.PADDLE2)
    (found,) = exe.run(program, feed={feeds[0]: arrays["x"]}, fetch_list=targets)
    np.testing.assert_allclose(found, arrays["y"], rtol=1e-5, atol=1e-6)
