"""What the command line says of itself, and of what it runs."""

import argparse
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.__main__ import main
from fluidlite.command_line.cli import command_parser
from fluidlite.compat import check, script
from fluidlite.io.conversion import FORMATS


def parsers(parser):
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action.choices.values():
                yield from parsers(choice)


ALL = [*parsers(command_parser()), check.parser(), script.parser()]


@pytest.mark.parametrize("parser", ALL, ids=lambda parser: parser.prog)
def test_every_command_and_option_is_described(parser):
    assert re.fullmatch(r"[A-Z].*\.", parser.description.strip(), re.DOTALL)
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            assert action.help, action.dest
            assert len(action.help.split()) > 1, action.dest
        else:
            assert all(choice.help for choice in action._choices_actions)
            assert {choice.dest for choice in action._choices_actions} == {*action.choices}


def test_the_command_alone_lists_the_commands(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    for name in [
        "show",
        "scan",
        "vars",
        "convert",
        "draw",
        "summary",
        "diff",
        "run",
        "plan",
        "cut",
        "rename",
        "set-attr",
        "replace",
        "merge",
        "apply",
        "verify",
        "check",
        "cache",
        "completion",
    ]:
        assert re.search(rf"^    {name}\s+\S", text, re.MULTILINE)


def test_the_help_of_convert_lists_all_formats(capsys):
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    text = capsys.readouterr().out
    for name in (*FORMATS, "onnx", "numpy"):
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE)


@pytest.fixture
def model(tmp_path):
    """A saved model that is fed sequences and a batch."""
    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        words = fluid.data("words", [None, 1], "int64", lod_level=1)
        more = fluid.data("more", [None, 4])
        pooled = fluid.layers.sequence_pool(fluid.layers.embedding(words, [10, 4]), "max")
        out = fluid.layers.fc(pooled + more, 2)
    executor = fluid.Executor()
    executor.run(startup)
    fluid.io.save_inference_model(
        str(tmp_path / "model"), ["words", "more"], [out], executor, program
    )
    return tmp_path / "model"


def test_sequences_for_onnx_are_said_on_the_command_line(model, tmp_path, capsys):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    target = tmp_path / "model.onnx"
    assert main(["convert", str(model), str(target), "--sequences", "words=2,3"]) == 0
    assert "words, more ->" in capsys.readouterr().out
    words = np.arange(5).reshape(5, 1)
    more = np.ones([2, 4], "float32")
    session = runtime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"words": words, "more": more})
    executor = fluid.Executor()
    program, _, fetches = fluid.io.load_inference_model(str(model), executor)
    rows = fluid.create_lod_tensor(words, [[2, 3]], fluid.CPUPlace())
    (expected,) = executor.run(program, {"words": rows, "more": more}, fetches)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "sequences, said",
    [
        ("nothing=2", "the model is fed no 'nothing'; it is fed words, more"),
        ("words=x", "expected --sequences NAME=2,3, got 'words=x'"),
        ("2,3", "expected --sequences NAME=2,3, got '2,3'"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(model, tmp_path, capsys, sequences, said):
    target = tmp_path / "model.onnx"
    assert main(["convert", str(model), str(target), "--sequences", sequences]) == 2
    assert said in capsys.readouterr().err
    assert not target.exists()


@pytest.mark.parametrize(
    "words, said",
    [
        (["words=[[1],[2]]"], "variable 'words' is fed rows of sequences: .*--sequences words=2"),
        (["words=[[1.5]]"], "'words' is of int64; expected numbers of that type, got 1.5"),
        (["words=zeros"], "model needs --feed for: more; for example: .*--feed more=zeros"),
        (["words=zeros", "more=zeros", "--sequences=words=1,2"], ""),
        (["words=[[1],[2],[3]]", "more=ones", "--sequences=words=3"], ""),
        (["words=ones", "more=ones"], ""),
    ],
)
def test_run_is_fed_sequences_and_exact_numbers(model, capsys, words, said):
    feeds = [text if text[:2] == "--" else f"--feed={text}" for text in words]
    status = main(["run", str(model), *feeds])
    output = capsys.readouterr()
    assert (status != 0) == bool(said) and re.search(said, output.err)
    assert said or output.out.startswith("save_infer_model/scale_0.tmp_0 float32[")


def test_plan_is_fed_sequences(model, capsys):
    assert main(["plan", str(model), "--batch-size", "2", "--sequences", "words=2,3"]) == 0
    assert main(["plan", str(model)]) == 0
    assert "== kernels" in capsys.readouterr().out


def test_convert_does_not_write_over_its_source(model, capsys):
    before = (model / "__model__").read_bytes()
    assert main(["convert", str(model), str(model / "__model__"), "--strip"]) == 2
    assert "is what was read; write it elsewhere" in capsys.readouterr().err
    assert (model / "__model__").read_bytes() == before


def test_a_picture_without_matplotlib_is_refused_in_one_line(model, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["draw", str(model), "-o", str(tmp_path / "net.png")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "pip install matplotlib" in said


def test_a_refused_conversion_names_options_of_the_command(model, tmp_path, capsys):
    assert main(["convert", str(model), str(tmp_path / "model.py")]) == 1
    said = capsys.readouterr().err
    assert "give the lengths of sequences (--sequences NAME=2,3)" in said
    assert "--shape words=2,1 --shape more=2,4" in said and "feeds=" not in said


@pytest.mark.parametrize("file", ["model", "__model__.bin", "a.pdmodel", "net.program"])
def test_a_folder_is_shown_whatever_its_program_is_called(tmp_path, capsys, file):
    program, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(program, startup):
        out = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    executor = fluid.Executor()
    executor.run(startup)
    params = "a.pdiparams" if file == "a.pdmodel" else "params"
    fluid.io.save_inference_model(
        str(tmp_path / "m"), ["x"], [out], executor, program, file, params
    )
    assert main(["show", str(tmp_path / "m")]) == 0
    assert "inference model" in capsys.readouterr().out


NET = """program (seed=0) {
  block 0 {
    data x: float32[3, 1]
    data y: float32[1, 4]
    var z: float32[3, 4]
    z = matmul(X=x, Y=y)
  }
}
"""


@pytest.mark.parametrize("strict", ["", "1"])
def test_what_is_said_of_a_run_names_no_line(tmp_path, strict):
    """Neither one of fluidlite's nor the one that started it, as the user's."""
    (tmp_path / "net.txt").write_text(NET)
    feeds = ["--feed", "x=[[[1],[2],[3]]]", "--feed", "y=[[[1,2,3,4]]]", "--fetch", "z"]
    done = subprocess.run(
        [sys.executable, "-m", "fluidlite", "run", "net.txt", *feeds],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "FLUIDLITE_STRICT": strict},
    )
    lines = done.stderr.splitlines()
    assert lines[0].startswith("fluidlite: " + ("" if strict else "warning: ") + "variable 'x' is")
    assert not any(".py" in line or "called at" in line or "runpy" in line for line in lines)
    assert done.returncode == (1 if strict else 0)
