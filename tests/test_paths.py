"""Paths that no file can have, given to whatever takes one: an error of the package, no file."""

import inspect
import os
import re

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow, io
from fluidlite.command_line.cli import main
from fluidlite.errors import FluidError
from fluidlite.ground.files import Transaction, open_source, read_bytes, usable_path, write_text
from fluidlite.model.board import Board

#: what no file is called; the last is what file names have no room for
BAD = {"zero byte": "a\0b", "in a folder": "new/a\0b/c", "surrogate": "new/a\ud800"}


def net():
    """A network with values, its executor and its output."""
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.fc(x, 2)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe, y


def program():
    return fluid.default_main_program()


def eager(path):
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(2, 2)
        _, traced = fluid.dygraph.TracedLayer.trace(layer, [fluid.dygraph.to_variable(ONES)])
        traced.save_inference_model(path)


def model():
    with fluid.dygraph.guard():
        made = fluid.Model(fluid.dygraph.Linear(2, 2))
        made.prepare(fluid.optimizer.SGD(0.1, parameter_list=made.parameters()))
    return made


def from_files(path):
    data = fluid.DatasetFactory().create_dataset("InMemoryDataset")
    data.set_batch_size(1)
    data.set_use_var([fluid.data("words", [None, 1], "int64")])
    data.set_filelist([path])
    data.load_into_memory()


def run_op(type, slot, path):
    block = program().global_block()
    name = block.create_parameter([2], "float32", "p").name
    fluid.global_scope().var(name).value = ONES[0]
    sides = {"X": {}, "Out": {}, slot: {slot: name}}
    block.append_op(type, sides["X"], sides["Out"], {"file_path": path})
    fluid.Executor().run(program())


def profiled(path):
    exe, y = net()
    with fluid.profiler.profiler("CPU", profile_path=path):
        exe.run(program(), {"x": ONES}, [y])


def stopped(path):
    exe, y = net()
    fluid.profiler.start_profiler("CPU")
    exe.run(program(), {"x": ONES}, [y])
    fluid.profiler.stop_profiler(profile_path=path)


ONES = np.ones([1, 2], "float32")
#: name of a public function -> a call with a path
CALLS = {
    "save": lambda p: fluid.save(program(), p),
    "save of a dictionary": lambda p: fluid.save({"w": ONES}, p),
    "load": lambda p: fluid.load(program(), p),
    "load with an executor": lambda p: fluid.load(program(), p, fluid.Executor()),
    "load of a dictionary": lambda p: fluid.load(p),
    "save_dygraph": lambda p: fluid.save_dygraph({"w": ONES}, p),
    "load_dygraph": lambda p: fluid.load_dygraph(p),
    "load_program_state": lambda p: io.load_program_state(p),
    "save_vars": lambda p: io.save_vars(net()[0], p, program()),
    "save_vars, filename": lambda p: io.save_vars(net()[0], "d", program(), filename=p),
    "save_params": lambda p: io.save_params(net()[0], p),
    "save_params, filename": lambda p: io.save_params(net()[0], "d", filename=p),
    "save_persistables": lambda p: io.save_persistables(net()[0], p),
    "save_persistables, filename": lambda p: io.save_persistables(net()[0], "d", filename=p),
    "load_vars": lambda p: io.load_vars(net()[0], p, program()),
    "load_vars, filename": lambda p: io.load_vars(net()[0], "d", program(), filename=p),
    "load_params": lambda p: io.load_params(net()[0], p),
    "load_params, filename": lambda p: io.load_params(net()[0], "d", filename=p),
    "load_persistables": lambda p: io.load_persistables(net()[0], p),
    "load_persistables, filename": lambda p: io.load_persistables(net()[0], "d", filename=p),
    "save_inference_model": lambda p: saved(p),
    "save_inference_model, model_filename": lambda p: saved("d", model_filename=p),
    "save_inference_model, params_filename": lambda p: saved("d", params_filename=p),
    "load_inference_model": lambda p: io.load_inference_model(p, fluid.Executor()),
    "load_inference_model, model_filename": lambda p: io.load_inference_model(
        ".", fluid.Executor(), model_filename=p
    ),
    "load_inference_model, params_filename": lambda p: (
        saved("d"),
        io.load_inference_model("d", fluid.Executor(), params_filename=p),
    ),
    "read": lambda p: io.read(p),
    "convert, source": lambda p: io.convert(p, "d/"),
    "convert, target": lambda p: io.convert(npz(), f"{p}.npz"),
    "convert, folder": lambda p: io.convert(npz(), f"{p}/"),
    "convert, model": lambda p: (saved("d"), io.convert("d", f"{p}.pdmodel")),
    "checkpoint.save": lambda p: (net(), fluid.checkpoint.save(p, step=1)),
    "checkpoint.load": lambda p: fluid.checkpoint.load(p),
    "checkpoint.latest": lambda p: fluid.checkpoint.latest(p),
    "export.numpy_source": lambda p: (saved("d"), fluid.export.numpy_source("d", f"{p}.py")),
    "export.numpy_source, source": lambda p: fluid.export.numpy_source(p, "m.py"),
    "export.stablehlo": lambda p: (net(), fluid.export.stablehlo(program(), p)),
    "onnx.export": lambda p: (saved("d"), fluid.onnx.export("d", f"{p}.onnx")),
    "onnx.export, source": lambda p: fluid.onnx.export(p, "m.onnx"),
    "onnx.load": lambda p: fluid.onnx.load(p),
    "inspect.to_html": lambda p: (net(), fluid.inspect.to_html(program(), p)),
    "inspect.draw": lambda p: (net(), fluid.inspect.draw(program(), f"{p}.svg")),
    "inspect.draw, dot": lambda p: (net(), fluid.inspect.draw(program(), f"{p}.dot")),
    "flow.save": lambda p: flow.save({"w": flow.ones(2)}, p),
    "flow.load": lambda p: flow.load(p),
    "Model.save": lambda p: model().save(p),
    "Model.load": lambda p: model().load(p),
    "Model.fit, save_dir": lambda p: model().fit([(ONES, ONES)], epochs=1, save_dir=p, verbose=0),
    "TracedLayer.save_inference_model": eager,
    "DataFeedDesc": lambda p: fluid.DataFeedDesc(p),
    "set_filelist": from_files,
    "layers.load": lambda p: (
        fluid.layers.load(fluid.layers.create_tensor("float32"), p),
        fluid.Executor().run(program()),
    ),
    "operator save": lambda p: run_op("save", "X", p),
    "operator load": lambda p: run_op("load", "Out", p),
    "profiler.profiler": profiled,
    "profiler.stop_profiler": stopped,
    "Board": lambda p: Board(p),
    "files.open_source": lambda p: open_source(p).__enter__(),
    "files.read_bytes": read_bytes,
    "files.write_text": lambda p: write_text(p, "text"),
    "files.Transaction": lambda p: written(p),
}
COMMANDS = {
    "show": ["show", "{}"],
    "vars": ["vars", "{}"],
    "convert": ["convert", "{}", "d/"],
    "convert to": ["convert", "w.npz", "{}.npz"],
    "convert to folder": ["convert", "w.npz", "{}/"],
    "draw": ["draw", "{}", "-o", "net.svg"],
    "draw to": ["draw", "net.txt", "-o", "{}.html"],
    "draw dot": ["draw", "net.txt", "-o", "{}.dot"],
    "summary": ["summary", "{}"],
    "diff": ["diff", "{}", "net.txt"],
    "diff html": ["diff", "net.txt", "other.txt", "--html", "{}"],
    "run": ["run", "{}"],
    "run startup": ["run", "net.txt", "--startup", "{}"],
    "run feed": ["run", "net.txt", "--feed", "x=@{}"],
    "run save": ["run", "net.txt", "--feed", "x=ones", "--fetch", "y", "--save", "{}"],
    "plan": ["plan", "{}"],
}
#: parameters that are paths; functions that take them and need no call here, and why
_NAMES = re.compile(r"(model_)?path|dirname|.*_?file(name)?|.*file_?list|.*_dir|file_path|.*_path")
EXCUSED = {
    "set_printoptions": "its profile is a name of options",
    "show": "its file is open",
    "cuda_profiler": "reads nothing of it",
    "BuildStrategy": "reads nothing of it",
    "Executor": "a profile is no file",
    **dict.fromkeys(
        ("Checkpoint", "Contents", "Explanation", "Export", "NumpySource"), "it is a result"
    ),
}


def saved(folder, **files):
    exe, y = net()
    io.save_inference_model(folder, ["x"], [y], exe, **files)


def npz():
    np.savez("w.npz", w=ONES)
    return "w.npz"


def written(path):
    with Transaction() as files, files.open(path) as file:
        file.write(b"text")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_a_path_that_no_file_can_have_is_refused_by_name(call, bad):
    with pytest.raises(FluidError):
        call(bad)
    assert not os.path.exists("new")


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
@pytest.mark.parametrize("words", COMMANDS.values(), ids=list(COMMANDS))
def test_the_command_says_it_in_a_line(words, bad, capsys):
    npz()
    for name, scale in (("net.txt", 2.0), ("other.txt", 3.0)):
        made = fluid.Program()
        with fluid.program_guard(made, fluid.Program()), fluid.unique_name.guard():
            x = fluid.data("x", [1], "float32")
            made.global_block().create_var(name="y", shape=[1], dtype="float32")
            made.global_block().append_op("scale", {"X": x}, {"Out": "y"}, {"scale": scale})
        write_text(name, str(made))
    before = sorted(os.listdir())
    status = main([word.format(bad) for word in words])
    assert status in (1, 2)
    said = capsys.readouterr().err
    assert said.startswith("fluidlite: ") and said.count("\n") == 1
    assert sorted(os.listdir()) == before


def public():
    """Names of public functions and classes -> what they are."""
    for module in (fluid, io, fluid.checkpoint, fluid.export, fluid.inspect, fluid.onnx, flow):
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and callable(value):
                yield name, value
    for name in ("profiler", "stop_profiler", "cuda_profiler"):
        yield name, getattr(fluid.profiler, name)


def test_every_public_function_that_takes_a_path_is_called_here():
    called = {part for each in CALLS for part in re.split(r"\W+", each)}
    left = set()
    for name, value in public():
        try:
            parameters = inspect.signature(value).parameters
        except (TypeError, ValueError):
            continue
        if any(_NAMES.fullmatch(each) for each in parameters):
            left.add(name)
    assert len(left) > 25
    assert left - called - set(EXCUSED) == set()


def test_what_is_no_path_is_said():
    for wrong in (3, None, 1.5, ["a"]):
        with pytest.raises(FluidError, match="expected a path to write, got"):
            usable_path("write", wrong)
    assert usable_path("write", b"a") == "a"
    assert usable_path("write", os.fsdecode(b"\xff")) == "\udcff"
