"""What goes to terminals and streams: escaped, and with one line where they are closed."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hostile_text import Model, unusual

import fluidlite as fluid
from fluidlite import errors
from fluidlite.command_line.cli import main
from fluidlite.ground.callsite import CallSite, warn
from fluidlite.ground.console import say
from fluidlite.ir.compare import differences

ESCAPES = "\x1b[31m\r\x9b\u2028\udcff\x7f"
NOT_UTF8 = "not-\udcff"


def is_plain(text):
    """Whether no line has anything that a terminal obeys."""
    return all(line.replace("\t", "").isprintable() for line in text.split("\n"))


# -- printing --------------------------------------------------------------------------------------


def test_what_is_said_has_no_control_characters():
    file = io.StringIO()
    say(f"{ESCAPES}\n\tb", file)
    assert file.getvalue() == "\\x1b[31m\\r\\x9b\\u2028\\udcff\\x7f\n\tb\n"


def test_what_a_stream_cannot_encode_is_escaped():
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, "latin-1")
    say("é名", file, flush=True)
    assert raw.getvalue() == "é\\u540d\n".encode("latin-1")


def test_where_there_is_no_stream_nothing_is_said(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    say("a")
    fluid.inspect.show(fluid.Program())


# -- errors and warnings ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [errors.FluidError, errors.FileError, errors.ShapeError])
def test_errors_are_shown_without_control_characters(kind):
    error = kind(f"no {ESCAPES}\nat x")
    assert str(error) == "no \\x1b[31m\\r\\x9b\\u2028\\udcff\\x7f\nat x"
    assert is_plain(str(errors.with_context(error, f"in {ESCAPES}")))


def test_warnings_are_shown_without_control_characters():
    with pytest.warns(errors.FluidWarning) as found:
        warn(f"doubtful {ESCAPES}", CallSite(f"{ESCAPES}.py", 3))
    assert is_plain(str(found[0].message)) and is_plain(found[0].filename)


# -- what inspection shows -------------------------------------------------------------------------


def test_what_inspection_shows_is_text_only():
    given = Model(ESCAPES)
    program, other = unusual(ESCAPES), Model("usual").main
    feed = {given.x: np.ones([2, 3], "float32")}
    scope = given.run(1)
    trace = fluid.Executor().trace(given.main, feed=feed, scope=scope)
    op = given.main.global_block().ops[1]
    shown = [
        fluid.inspect.summary(program),
        fluid.inspect.diff(other, program),
        fluid.inspect.diff(program, other),
        fluid.inspect.explain(op),
        fluid.inspect.memory_timeline(given.main),
        fluid.inspect.scan(program),
        trace,
        *trace.records,
        op.callsite,
        program,
        *program.list_vars(),
        *program.global_block().ops,
    ]
    for each in shown:
        assert is_plain(str(each)), each


# -- commands --------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The text of a hostile program, and a saved model, in the working folder."""
    monkeypatch.chdir(tmp_path)
    made = Model(ESCAPES, trains=False)
    scope, block = made.run(1), made.main.global_block()
    with fluid.scope_guard(scope):
        target = [block.var(made.loss)]
        fluid.io.save_inference_model("m", [made.x], target, fluid.Executor(), made.main, None, "p")
    (tmp_path / "net.txt").write_text(unusual(ESCAPES).to_string())
    return made


@pytest.mark.parametrize(
    "words",
    [
        ["show", "m"],
        ["show", "--detail", "net.txt"],
        ["vars", "m"],
        ["vars", "net.txt"],
        ["summary", "net.txt"],
        ["summary", "m", "--json"],
        ["diff", "m", "net.txt"],
        ["diff", "m", "net.txt", "--json"],
        ["scan", "net.txt"],
        ["scan", "net.txt", "--json"],
        ["show", f"none{ESCAPES}"],
        ["run", "net.txt"],
        ["plan", "m"],
        ["run", "m", "--trace", "--feed", f"v0{ESCAPES}v=ones"],
        ["run", "m", "--json", "--feed", f"v0{ESCAPES}v=ones"],
        ["vars", "m", "nobody"],
        ["convert", "m", "n.npz"],
    ],
    ids=" ".join,
)
def test_commands_show_text_only(words, model, capsys):
    assert main(words) in (0, 1, 2, 3)
    out, err = capsys.readouterr()
    assert out or err
    assert is_plain(out) and is_plain(err)
    if "--json" in words:
        json.loads(out)


def test_what_show_prints_is_read_as_the_same_program(model, capsys):
    assert main(["show", "net.txt"]) == 0
    text = capsys.readouterr().out.partition("\n")[2]
    assert not differences(fluid.Program.parse(text), unusual(ESCAPES))


ENDINGS = ["d.dot", "d.mmd", "d.svg", "d.html", "d.png"]
FORMATS = ["m.py", "m.npz", "m.safetensors", "m.txt", "served.pdmodel", "folder/", "m.onnx"]


@pytest.mark.parametrize("target", ENDINGS)
def test_names_that_are_not_utf8_are_drawn(target, model):
    if target.endswith("png"):
        pytest.importorskip("matplotlib")
    for source in ("m", "net.txt"):
        assert main(["draw", source, "-o", target]) == 0
        assert os.path.getsize(target)


@pytest.mark.parametrize("target", FORMATS)
def test_names_that_are_not_utf8_are_converted(target, model, capsys):
    words = ["--shape", f"{model.x}=2,3"] if target.endswith((".py", ".onnx")) else []
    if target.endswith(".onnx"):
        pytest.importorskip("onnx")
    assert main(["convert", "m", target, *words]) == 0, capsys.readouterr().err
    if not target.endswith((".py", ".txt", ".onnx")):
        found = fluid.io.read(target.removesuffix(".pdmodel"))
        assert {*found.variables} == {*fluid.io.read("m").variables}


# -- streams ---------------------------------------------------------------------------------------


def command(*words, **options):
    """Run a command in a shell: what the shell does with its streams stands in ``words[0]``."""
    python = [sys.executable, "-m", "fluidlite"]
    shell, *rest = words
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *python, *rest],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        **options,
    )


@pytest.mark.parametrize("words", [["show", "net.txt"], ["summary", "net.txt"], ["check", "a.py"]])
def test_a_closed_output_ends_with_one_line_and_status_1(words, model, tmp_path):
    (tmp_path / "a.py").write_text("import paddle.fluid as fluid\nfluid.layers.nothing\n")
    found = command(">&-", *words)
    assert (found.returncode, found.stderr) == (1, "fluidlite: standard output is closed\n")
    assert command(">&- 2>&-", *words).returncode == 1


def test_a_full_output_ends_with_one_line_and_status_1(model):
    found = command(">/dev/full", "show", "net.txt")
    assert found.returncode == 1
    assert found.stderr == (
        "fluidlite: standard output cannot be written: No space left on device\n"
    )


def test_an_error_without_standard_error_has_its_status_and_no_other_output(model):
    found = command("2>&-", "show", "nothing")
    assert (found.returncode, found.stdout) == (1, "")


def test_an_output_that_is_no_longer_read_ends_silently(model, tmp_path):
    program = Model("x").main
    for _ in range(3000):
        program.global_block().create_var(shape=[1], dtype="float32")
    (tmp_path / "long.txt").write_text(program.to_string())
    found = command('| head -1; exit "${PIPESTATUS[0]}"', "show", "long.txt")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.count("\n") == 1


def test_names_that_the_locale_cannot_encode_are_escaped(tmp_path):
    program = Model("名").main
    (tmp_path / "net.txt").write_text(program.to_string(), "utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    script = """
from fluidlite.__main__ import main
for word in "show", "vars", "summary":
    print(word, main([word, "net.txt"]))
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=tmp_path, env=ascii_only, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    shown, _, rest = done.stdout.partition("show 0\n")
    variables, _, rest = rest.partition("vars 0\n")
    assert "v0\\u540dv" in shown and "v0\\u540dv" in variables and rest.endswith("summary 0\n")


SCRIPT = """
import numpy as np, fluidlite as fluid
x = fluid.data("x", [None, 2], "float32")
y = fluid.layers.relu(x)
exe = fluid.Executor()
for _ in range(4):
    exe.run(feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])
(segment,) = exe.plan(fluid.default_main_program(), [y]).items
print(segment.last.is_ready, segment.last.source.count(".py:"))
"""


def test_a_script_whose_path_is_not_utf8_keeps_its_compiled_plan(tmp_path):
    path = os.fsencode(tmp_path / f"{NOT_UTF8}.py")
    with open(path, "w") as file:
        file.write(SCRIPT)
    words = [sys.executable, "-W", "error", path]
    found = subprocess.run(words, capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.split() == ["True", "1"]
