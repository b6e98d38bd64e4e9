"""Models in other formats: whole, or refused; what the real systems compute with them."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.errors import ArgumentError, FileFormatError

import saved_models

RECORDED = Path(__file__).parents[1] / "data" / "converted_models.json"
#: variable of the environment -> what the Python that it names has
REAL = {"FLUIDLITE_PADDLE18": "paddlepaddle 1.8.5", "FLUIDLITE_PADDLE26": "paddlepaddle 2.6.2"}
SOURCES = {
    "a file each": "fc/inference",
    "its program": "fc/inference/__model__",
    "one file": "fc/inference_combined",
    "program of one file": "fc/inference_combined/model",
    "paddle 2": "dense",
    "program of paddle 2": "dense.pdmodel",
    "convolution": "convolution",
}
TARGETS = {"pdmodel": "{}/net.pdmodel", "model": "{}/__model__", "folder": "{}/"}
CASES = [(source, target) for source in SOURCES for target in TARGETS]


@pytest.fixture
def models(tmp_path, monkeypatch):
    """The models to convert, in the working directory."""
    saved_models.unpack(tmp_path, "fc/")
    saved_models.unpack(tmp_path, "dense.", saved_models.PADDLE2)
    save_convolution(tmp_path / "convolution")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_convolution(folder):
    """A model with a convolution and a normalization, always the same to the last bit."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [None, 1, 6, 6], "float32")
        hidden = fluid.layers.conv2d(x, 3, 3, act="relu")
        hidden = fluid.layers.batch_norm(hidden, is_test=True)
        hidden = fluid.layers.pool2d(hidden, 2, "max", 2)
        y = fluid.layers.fc(hidden, 2, act="softmax")
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        exe.run(startup)
        rng = np.random.default_rng(5)
        for variable in sorted(fluid.io.get_program_persistable_vars(main), key=lambda v: v.name):
            value = rng.random(variable.shape).astype("float32")
            fluid.global_scope().var(variable.name).value = value
        fluid.io.save_inference_model(folder, ["x"], [y], exe, main, params_filename="all")
    fluid.io.convert(folder, folder / "text.txt", call_sites=False)
    bare = fluid.io.read(folder / "text.txt").program.to_bytes(call_sites=False)
    (folder / "__model__").write_bytes(bare)
    (folder / "text.txt").unlink()


def served(folder):
    """A model that is loaded, what it is fed, and what it computes."""
    path = folder / "net" if (folder / "net.pdmodel").exists() else folder
    exe = fluid.Executor()
    with fluid.scope_guard(fluid.Scope()):
        program, (name,), fetches = fluid.io.load_inference_model(path, exe)
        sizes = [2, *program.global_block().var(name).shape[1:]]
        x = np.linspace(-1, 1, int(np.prod(sizes)), dtype="float32").reshape(sizes)
        (y,) = exe.run(program, {name: x}, fetches)
    return x, y


def digests(folder):
    """The files of a folder: name -> what tells their bytes apart."""
    files = sorted(
        path for path in folder.iterdir() if path.name not in ("input.npy", "output.npy")
    )
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def converted(case):
    """The folder of a converted model."""
    source, target = case
    folder = Path("converted") / f"{source} as {target}".replace(" ", "_")
    assert main(["convert", SOURCES[source], TARGETS[target].format(folder)]) == 0
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: ", ".join(case))
def test_a_model_is_converted_whole_and_computes_what_the_real_ones_did(case, models, capsys):
    folder = converted(case)
    assert capsys.readouterr().out.endswith(
        f": inference model, written to {TARGETS[case[1]].format(folder)}\n"
    )
    recorded = json.loads(RECORDED.read_text())[folder.name]
    assert digests(folder) == recorded["files"]
    _, found = served(folder)
    for variable in REAL:
        np.testing.assert_allclose(found, recorded[variable], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variable", REAL)
def test_the_real_ones_compute_the_same_with_what_is_converted(variable, models, request):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with {REAL[variable]}")
    wanted = {}
    for case in CASES:
        folder = converted(case)
        x, wanted[folder] = served(folder)
        np.save(folder / "input.npy", x)
    script = Path(__file__).with_name("serve_in_real.py")
    subprocess.run([python, "-W", "ignore", script, models / "converted"], check=True, cwd=models)
    found = {folder: np.load(folder / "output.npy") for folder in wanted}
    for folder, output in wanted.items():
        np.testing.assert_allclose(found[folder], output, rtol=1e-5, atol=1e-6)
    if request.config.getoption("--update-golden"):
        recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
        for folder, output in found.items():
            entry = recorded.setdefault(folder.name, {})
            entry |= {"files": digests(folder), variable: output.astype(float).round(7).tolist()}
        RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


def test_a_model_of_onnx_is_converted_whole(models, capsys):
    pytest.importorskip("onnx")
    assert main(["convert", "fc/inference", "net.onnx"]) == 0
    _, wanted = served(Path("fc/inference"))
    for target in TARGETS.values():
        folder = Path("of_onnx") / str(len(target))
        assert main(["convert", "net.onnx", target.format(folder)]) == 0
        np.testing.assert_allclose(served(folder)[1], wanted, rtol=1e-6)


def test_a_training_state_and_a_checkpoint_are_converted_with_all_values(models, capsys):
    x = fluid.data("x", [None, 2], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    fluid.optimizer.Adam().minimize(loss)
    fluid.Executor().run(fluid.default_startup_program())
    fluid.save(fluid.default_main_program(), "training/net")
    fluid.checkpoint.save("checkpoints", step=3)
    state = fluid.load_program_state("training/net")
    for source in ("training", "training/net", "training/net.pdmodel", "checkpoints"):
        for name, target in TARGETS.items():
            shutil.rmtree("made", ignore_errors=True)
            assert main(["convert", source, target.format("made")]) == 0
            without = capsys.readouterr().out.rpartition(", without ")[2]
            assert without == "step\n" if source == "checkpoints" else "made" in without
            path = "made/net" if name == "pdmodel" else "made"
            found = fluid.io.read(path)
            assert sorted(found.variables) == sorted(state)
            assert all(np.array_equal(found.variables[n], a) for n, a in state.items())
            assert len(found.program.global_block().ops) > 5


WITHOUT = [
    ("fc/inference", "w.npz", "the program"),
    ("fc/inference", "w.safetensors", "the program"),
    ("fc/inference", "w.pdparams", "the program"),
    ("fc/inference", "w.pdiparams", "the program"),
    ("dense", "net.txt", "the values of the variables"),
]


@pytest.mark.parametrize("source, target, lost", WITHOUT, ids=[target for _, target, _ in WITHOUT])
def test_what_a_format_has_no_room_for_is_said(source, target, lost, models, capsys):
    assert main(["convert", source, target]) == 0
    assert capsys.readouterr().out.endswith(f"written to {target}, without {lost}\n")


def test_a_text_of_a_program_becomes_a_program_without_values(models, capsys):
    main(["convert", "fc/inference", "net.txt"])
    assert main(["convert", "net.txt", "alone/__model__"]) == 0
    assert capsys.readouterr().out.endswith(
        "alone/__model__, without the values of the variables\n"
    )
    assert os.listdir("alone") == ["__model__"]


@pytest.mark.parametrize("target", ["made/net.pdmodel", "made/__model__", "made/", "made/w.npz"])
@pytest.mark.parametrize("source", ["fc/inference", "fc/inference/__model__"])
@pytest.mark.parametrize("lacking", [["fc_0.w_0"], ["fc_0.b_0", "fc_0.w_0"]], ids=len)
def test_a_model_without_some_of_its_values_is_refused(source, target, lacking, models, capsys):
    for name in lacking:
        os.unlink(f"fc/inference/{name}")
    assert main(["convert", source, target]) == 1
    said = capsys.readouterr().err
    assert ": expected values of all 2 variables of the program, found none of 'fc_0." in said
    assert all(name in said for name in lacking) and said.count("\n") == 1
    assert not os.path.exists("made")


def test_a_folder_that_is_there_keeps_its_other_files(models, capsys):
    os.makedirs("made")
    Path("made/readme").write_text("hello")
    assert main(["convert", "fc/inference_combined", "made"]) == 0
    assert sorted(os.listdir("made")) == ["__model__", "fc_0.b_0", "fc_0.w_0", "readme"]
    assert Path("made/readme").read_text() == "hello"
    np.testing.assert_array_equal(served(Path("made"))[1], served(Path("fc/inference"))[1])


def test_nothing_is_written_where_one_file_cannot_be(models, capsys):
    os.makedirs("made/fc_0.w_0")  # where a file is to be
    os.makedirs("beside/net.pdiparams")
    for target, folder in (("made/", "made"), ("beside/net.pdmodel", "beside")):
        before = sorted(os.listdir(folder))
        assert main(["convert", "fc/inference", target]) == 1
        assert "it is a folder, not a file" in capsys.readouterr().err
        assert sorted(os.listdir(folder)) == before


def test_a_variable_that_is_called_as_the_file_of_the_program_is_refused(models):
    program = fluid.Program()
    program.global_block().create_var(name="__model__", shape=[1], persistable=True)
    fluid.global_scope().var("__model__").value = np.ones(1, "float32")
    fluid.checkpoint.save("checkpoints", program, step=1)
    with pytest.raises(ArgumentError, match="is called '__model__', as the file of the program"):
        fluid.io.convert("checkpoints", "made/")
    fluid.io.convert("checkpoints", "made/net.pdmodel")
    assert sorted(os.listdir("made")) == ["net.pdiparams", "net.pdmodel"]


def test_files_beside_a_program_that_are_something_else_are_passed_over(models):
    os.makedirs("alone")
    text = fluid.io.read("fc/inference").program
    text.global_block().set_ops([op for op in text.global_block().ops if op.type != "fetch"])
    Path("alone/net").write_bytes(text.to_bytes())
    Path("alone/readme").write_text("hello")
    fluid.io.convert("alone/net", "made/net.pdmodel")
    assert os.listdir("made") == ["net.pdmodel"]
    with pytest.raises(FileFormatError, match="lone"):
        shutil.copy("fc/inference/__model__", "alone/net")
        fluid.io.convert("alone/net", "made/again.pdmodel")


def test_a_program_without_an_ending_is_read_with_the_values_beside_it(models):
    fluid.io.convert("fc/inference", "made/net", "program")
    assert sorted(os.listdir("made")) == ["net", "net.pdiparams"]
    names = fluid.io.read("made/net").variables.keys()
    assert names == fluid.io.read("fc/inference").variables.keys()


def test_a_model_of_fluid_that_paddle_2_cannot_run_is_converted_with_a_warning(tmp_path):
    layers, network, start = fluid.layers, fluid.Program(), fluid.Program()
    with fluid.program_guard(network, start):
        rows = layers.fc(layers.one_hot(fluid.data("x", [None, 1], "int64"), 5), 2)
    executor, folder = fluid.Executor(), str(tmp_path / "old")
    executor.run(start)
    fluid.io.save_inference_model(folder, ["x"], [rows], executor, network)
    with pytest.warns(fluid.errors.FluidWarning, match="no operator 'one_hot'.*cannot run this"):
        fluid.io.convert(folder, str(tmp_path / "new.pdmodel"))
