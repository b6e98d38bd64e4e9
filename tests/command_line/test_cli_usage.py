"""The command ``fluidlite`` as a user meets it: help, version, mistakes, completion."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.__main__ import main as command
from fluidlite.command_line.cli import COMMANDS, command_parser, main
from fluidlite.command_line.completion import SHELLS, commands_of, script

import saved_models

ROOT = Path(__file__).parents[2]


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A saved model that infers, in the working directory."""
    saved_models.unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    return "fc/inference"


def failed(capsys, *words):
    """The exit status, and the one line that says what was wrong."""
    try:
        status = command(list(words))
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    assert not out and err.startswith("fluidlite: ") and err.count("\n") == 1
    return status, err


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"fluidlite {fluid.__version__}\n"


def test_every_command_is_in_the_help_and_in_the_texts():
    text = command_parser().format_help()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    guide = (ROOT / "docs/inspecting.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert re.search(rf"^    {name}\s", text, re.M)
        assert f"`{name}`" in readme
        assert f"fluidlite {name} " in guide


def test_a_command_reads_its_own_module_and_help_reads_none():
    shown = """
import contextlib, sys
from fluidlite.__main__ import main
for words in [], ["--help"], ["--version"], ["cache"]:
    with contextlib.suppress(SystemExit):
        main(words)
    print(*sys.modules, file=sys.stderr)
"""
    words = [sys.executable, "-c", shown]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    *early, late = (set(line.split()) for line in done.stderr.splitlines())
    modules = {f"fluidlite.{each.module}" for each in COMMANDS.values()}
    assert len(early) == 3 and not any(loaded & modules for loaded in early)
    assert late & modules == {f"fluidlite.{COMMANDS['cache'].module}"}


@pytest.mark.parametrize(
    "words, says",
    [
        (["paint"], "invalid choice: 'paint'"),
        (["draw", "x"], "required: -o/--output"),
        (["convert", "x", "y.onnx", "--shape", "3"], "expected --shape NAME=2,3"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        (["show", "x", "--sizes", "2"], "arguments: --sizes 2; see fluidlite show --help"),
        (["--sizes", "show", "x"], "arguments: --sizes; see fluidlite --help"),
    ],
)
def test_words_that_are_not_understood_end_with_two(words, says, capsys):
    status, text = failed(capsys, *words)
    assert status == 2 and says in text


@pytest.mark.parametrize(
    "words", [["show", "nope"], ["run", "nope"], ["vars", "."], ["summary", "bad"]]
)
def test_files_that_cannot_be_read_end_with_one(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bad").write_bytes(b"\x00\x01" * 40)
    assert failed(capsys, *words)[0] == 1


def test_what_is_not_fed_is_said_as_the_line_that_works(model, capsys):
    status, text = failed(capsys, "run", model)
    assert status == 2
    line = f"fluidlite run {model} --feed x=zeros"
    assert text.endswith(f"needs --feed for: x; for example: {line}\n")
    assert command(line.split()[1:]) == 0
    assert "float32[1, 1]" in capsys.readouterr().out


def test_a_feed_of_random_numbers_has_the_declared_shape(model, capsys):
    assert main(["run", model, "--feed", "x=random", "--json"]) == 0
    assert '"shape": [1, 1]' in capsys.readouterr().out
    assert failed(capsys, "run", model, "--feed", "x=noise")[0] == 1


def test_the_parameters_of_a_loaded_model_are_counted(model):
    program, _, _ = fluid.io.load_inference_model(model, fluid.Executor())
    found = fluid.inspect.summary(program)
    assert found.parameters == found.trainable == 14
    assert sum(row.parameters for row in found.rows) == 14
    assert found.parameter_bytes == 56 and found.state_bytes == 0
    assert "2 parameters" in repr(program)


def test_variables_that_are_no_parameters_are_not_counted_in_a_program_that_has_some():
    x = fluid.data("x", [None, 3])
    fluid.layers.batch_norm(fluid.layers.fc(x, 2))
    fluid.layers.create_global_var([5], 0.0, "float32", persistable=True)
    found = fluid.inspect.summary(fluid.default_main_program())
    assert found.parameters == 3 * 2 + 2 + 4 * 2


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_has_every_command_and_its_options(shell, capsys):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for each in commands_of(command_parser()):
        assert each.name in text
        for option, _ in each.options:
            assert option in text or f"-l {option[2:]}" in text or f"-s {option[1:]}" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True, timeout=60)


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    "words, offered",
    [
        (["dr"], {"draw"}),
        (["completion", ""], set(SHELLS) | {"-h", "--help"}),
        (["draw", "--max"], {"--max-nodes"}),
        (["convert", "--to", "o"], {"onnx"}),
    ],
)
def test_bash_completes_words(words, offered, tmp_path):
    asked = " ".join(f"'{word}'" for word in ["fluidlite", *words])
    asks = f"COMP_WORDS=({asked}); COMP_CWORD={len(words)}; _fluidlite"
    text = script("bash", command_parser()) + asks + "; printf '%s\\n' ${COMPREPLY[*]}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=60)
    assert set(done.stdout.split()) == offered


def test_words_of_fish_are_quoted():
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_subparsers().add_parser("one", help="it's \\ one")
    assert "-d 'it\\'s \\\\ one'" in script("fish", parser)


def test_a_sequence_is_fed_where_the_variable_has_some(tmp_path, capsys):
    x = fluid.data("x", [None, 2], lod_level=1)
    y = fluid.layers.sequence_pool(x, "sum")
    path = tmp_path / "net.txt"
    path.write_text(str(fluid.default_main_program()), encoding="utf-8")
    assert main(["run", str(path), "--feed", "x=ones", "--fetch", y.name]) == 0
    assert str(np.ones([1, 2], "float32")) in capsys.readouterr().out
