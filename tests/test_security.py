"""Each promise of SECURITY.md, held."""

import io
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.errors import FileError, FileFormatError, FluidError, ForeignEffectError
from fluidlite.ground.callsite import CallSite, warn

ROOT = Path(__file__).parents[1]
#: in the file that must not be told
SECRET = "thequickbrownfoxjumpsoverthelazydog0123456789" * 3
FEED = {"x": np.ones(2, "float32")}
PROGRAM = """program (seed=0) {
  block 0 {
    data x: float32[2]
    var y: float32[2]
    LINE
  }
}"""
_kept = []  # promises that a test holds


def promise(sentence):
    """A decorator of the tests behind a sentence of SECURITY.md."""
    _kept.append(sentence)
    return lambda test: test


def promises():
    """The sentences of the lists in SECURITY.md."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    return [line.replace("\n  ", " ") for line in re.findall(r"(?m)^\* (.*(?:\n  .*)*)$", text)]


def test_a_test_stands_behind_each_promise_and_no_other():
    assert sorted(_kept) == sorted(promises())


def foreign(line):
    """A program from elsewhere, of one line."""
    return fluid.Program.parse(PROGRAM.replace("LINE", line))


def run(program, **how):
    return fluid.Executor(**how).run(program, feed=FEED)


# -- reading ---------------------------------------------------------------------------------------


class Hostile:
    """What a pickle would do."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@promise(
    "Reading executes nothing that is in a file: programs, parameters, checkpoints, ONNX models, "
    "data sets of arrays."
)
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_that_calls_a_function_calls_none(protocol, tmp_path):
    made = str(tmp_path / "made")
    (tmp_path / "m.pdparams").write_bytes(pickle.dumps({"w": Hostile(made)}, protocol))
    np.save(tmp_path / "m.npy", np.array([Hostile(made)], object), allow_pickle=True)
    for name in ("m.pdparams", "m.npy"):
        with pytest.raises(FileFormatError):
            fluid.io.read(tmp_path / name)
    assert not os.path.exists(made)


def huge_npy():
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }".ljust(117)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + b"\n" + bytes(8)


def huge_zip():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(10**9 // 2))
    return made.getvalue()


def huge_safetensors():
    header = {"a": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}}
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw


def huge_tensor():
    desc = b"\x08\x05" + b"\x10\xff\xff\xff\xff\xff\x3f" * 1
    return struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc + bytes(8)


def huge_lod():
    return struct.pack("<IQQ", 0, 1, 2**40) + bytes(8)


def huge_list():
    return b"\x80\x02]" + b"K\x01" * 3 + b"\x8e\xff\xff\xff\xff\xff\x00\x00\x00"


@promise("Reading allocates no more than the length of a file justifies.")
@promise("Reading ends in bounded time.")
@promise("A file that is not what it should be fails with an error of fluidlite's.")
@pytest.mark.parametrize(
    "make", [huge_npy, huge_zip, huge_safetensors, huge_tensor, huge_lod, huge_list]
)
def test_a_file_that_says_it_is_huge_is_refused_in_little_time_and_memory(make, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(make())
    begin = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises((FileFormatError, FileError)):
            fluid.io.read(path)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 5


def with_header(raw):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw


def in_safetensors(header):
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + bytes(16)


def named_twice():
    program = fluid.Program()
    for name in ("a", "b"):
        program.global_block().create_var(name=name + SECRET, shape=[1], dtype="float32")
    return program.to_bytes().replace(b"b" + SECRET.encode(), b"a" + SECRET.encode())


def numbers():
    """A tensor whose sizes are the secret."""
    packed = b"".join(b"\x10" + bytes([c]) for c in SECRET.encode())
    desc = b"\x08\x05" + packed
    return struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc


TELLING = {
    "text": PROGRAM.replace("LINE", f"y = {SECRET}(").encode(),
    "attribute": PROGRAM.replace("LINE", f'y = scale(X=x, scale="{SECRET}")').encode(),
    "slot": PROGRAM.replace("LINE", f"y = scale(X=x, X={SECRET})").encode(),
    "declaration": PROGRAM.replace("LINE", f"var {SECRET}: {SECRET}[1]").encode(),
    "twice": PROGRAM.replace(
        "LINE", f"var {SECRET}: float32[1]\n    var {SECRET}: float32[1]"
    ).encode(),
    "section": PROGRAM.replace("LINE", f"-- {SECRET} --").encode(),
    "quote": PROGRAM.replace("LINE", f"'{SECRET}'").encode(),
    "npy": with_header(SECRET.encode()),
    "dtype": with_header(
        f"{{'descr': '{SECRET}', 'fortran_order': False, 'shape': (1,), }}".encode()
    ),
    "shape": with_header(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 60 + b",), }"
    ),
    "safetensors": in_safetensors({SECRET: {"dtype": SECRET}}),
    "gap": in_safetensors({SECRET: {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}}),
    "short": in_safetensors({SECRET: {"dtype": "U8", "shape": [99], "data_offsets": [0, 99]}}),
    "json": struct.pack("<Q", 60) + b'{"' + SECRET.encode()[:58] + bytes(16),
    "global": b"\x80\x02c" + SECRET.encode() + b"\n" + SECRET.encode() + b"\n.",
    "number": b"\x80\x02I" + SECRET.encode() + b"\n.",
    "reduce": b"\x80\x02cnumpy\ndtype\nX"
    + struct.pack("<I", 60)
    + SECRET.encode()[:60]
    + b"\x85R.",
    "program": named_twice(),
    "tensor": numbers(),
    "other": SECRET.encode(),
    "bytes": b"\x0a" + SECRET.encode(),
}


@promise("An error about a file that you name shows at most 16 bytes of it.")
@pytest.mark.parametrize("name", TELLING)
def test_an_error_of_reading_tells_little_of_the_file(name, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(TELLING[name])
    with pytest.raises(FluidError) as caught:
        fluid.io.read(path)
    told = str(caught.value).replace(str(path), "")
    secret = "9" * 60 if name == "shape" else SECRET
    pieces = {secret[k : k + 17] for k in range(len(secret) - 16)}
    assert not [piece for piece in pieces if piece in told], told
    packed = [str(c) for c in SECRET.encode()[:17]]
    assert ", ".join(packed) not in told
    assert len(told) < 400


# -- running ---------------------------------------------------------------------------------------


EFFECTS = {
    "save": 'save(X=x, file_path="made")',
    "save_combine": 'save_combine(X=[x], file_path="made")',
    "load": 'y = load(file_path="there")',
    "load_combine": '{Out=[y]} = load_combine(file_path="there")',
    "read_file": 'y = read_file(filename="there")',
    "py_func": "{Out=[y]} = py_func(X=[x])",
    "c_allreduce_sum": "y = c_allreduce_sum(X=x)",
    "c_broadcast": "y = c_broadcast(X=x)",
    "broadcast": "y = broadcast(X=x)",
    "c_comm_init": "c_comm_init(X=x, nranks=1, rank=0)",
}


@promise(
    "It reads and writes no file, calls no Python function and exchanges no value with other "
    "processes until you allow that kind of effect."
)
@promise("A run that would is refused before any operator runs.")
@pytest.mark.parametrize("line", EFFECTS.values(), ids=EFFECTS)
def test_a_program_from_elsewhere_computes_and_does_nothing_else(
    line, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_bytes(b"x")
    called = []
    x = fluid.data("a", [2], "float32")
    y = x.block.create_var(name="b", shape=[2], dtype="float32")
    fluid.layers.py_func(lambda given: called.append(given) or given, x, y)
    says = "print(In=x, first_n=-1, message='', summarize=-1, print_tensor_name=true, \
print_tensor_type=true, print_tensor_shape=true, print_tensor_lod=true)"
    program = foreign(f"y = {says}\n    {line}".replace("''", '""'))
    with pytest.raises(ForeignEffectError):
        run(program)
    assert (os.listdir(tmp_path), called, capsys.readouterr().out) == (["there"], [], "")


def test_every_operator_that_opens_files_or_calls_python_says_so():
    kinds = {d.type: d.effect.kind for d in fluid.opdef.definition.registered() if d.effect}
    assert {t for t, kind in kinds.items() if kind == "files"} == {
        "save",
        "save_combine",
        "load",
        "load_combine",
        "read_file",
    }
    assert {t for t, kind in kinds.items() if kind == "python"} == {"py_func"}
    communicating = {d.type for d in fluid.opdef.definition.registered() if d.communicates}
    assert {t for t, kind in kinds.items() if kind == "processes"} == communicating | {
        "c_comm_init"
    }


def test_no_operator_but_those_that_say_so_names_a_file():
    word = re.compile(r"path|file|dir(name)?$|endpoint|command|callable")
    for definition in fluid.opdef.definition.registered():
        known = definition.attributes.values()
        named = [a.name for a in known if word.search(a.name) and not a.inert]
        assert not named or definition.effect is not None, (definition.type, named)


def test_modules_of_operators_that_open_nothing_import_nothing_that_does():
    for path in (ROOT / "fluidlite" / "ops").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        # bytes in memory are no file
        opens = r"(?m)\bopen\((?!io\.BytesIO)|^import (os|subprocess|socket|shutil|pathlib)"
        assert not re.search(opens, text), path


@promise(
    "The mark that an operator came from elsewhere goes along with copies of it, into other "
    "programs, bytes, texts and pickles."
)
def test_the_mark_goes_along(tmp_path):
    # tests/ir/test_foreign.py goes through the ways one by one
    program = foreign(f"save(X=x, file_path={json.dumps(str(tmp_path / 'made'))})")
    again = pickle.loads(pickle.dumps(fluid.Program.parse(str(program.clone()))))
    again = fluid.Program.parse_from_string(again.to_bytes())
    fresh = fluid.Program()
    fresh.global_block().create_var(name="x", shape=[2], dtype="float32")
    (op,) = again.global_block().ops
    fresh.global_block().append_op(op.type, {"X": "x"}, {}, op.all_attrs())
    with pytest.raises(ForeignEffectError):
        run(fresh)


def test_a_pickle_keeps_the_mark_in_another_process(tmp_path):
    (tmp_path / "p.pickle").write_bytes(pickle.dumps(foreign('save(X=x, file_path="made")')))
    code = (
        "import pickle, numpy as np, fluidlite as fluid\n"
        "program = pickle.load(open('p.pickle', 'rb'))\n"
        "fluid.Executor().run(program, feed={'x': np.ones(2, 'float32')})\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=env,
    )
    assert "ForeignEffectError" in found.stderr
    assert os.listdir(tmp_path) == ["p.pickle"]


@promise("Only bytes and texts that this process wrote itself are taken for its own.")
def test_one_changed_byte_makes_a_program_foreign(tmp_path):
    target = tmp_path / "made"
    own = fluid.Program()
    own.global_block().create_var(name="x", shape=[2], dtype="float32")
    own.global_block().append_op("save", {"X": "x"}, {}, {"file_path": str(target)})
    data = own.to_bytes()
    run(fluid.Program.parse_from_string(data))
    assert target.exists()
    place = data.index(str(target).encode()) + len(str(target)) - 1
    for other in (data[:place] + b"f" + data[place + 1 :], data + b"\x20\x00"):
        with pytest.raises(ForeignEffectError):
            run(fluid.Program.parse_from_string(other))


SECRETS = {
    "text": SECRET.encode(),
    "version": b"root:x:0:0:root",
    "tensor": TELLING["tensor"],
    "shape": b"\0" * 12 + b"\0\0\0\0\x06\0\0\0\x08\x05\x10\x41\x10\x42" + bytes(4 * 0x41 * 0x42),
}


@promise("An error of a run shows nothing of a file that the program names.")
@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("line", ["y = load", "{Out=[y]} = load_combine"])
def test_an_error_of_a_run_tells_nothing_of_a_file(name, line, tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRETS[name])
    program = foreign(f"{line}(file_path={json.dumps(str(path))})")
    program.allow("files", "python", "processes")
    with pytest.raises(FileFormatError) as caught:
        run(program)
    error, told = caught.value, ""
    while error is not None:
        told += str(error)
        error = error.__cause__ or error.__context__
    assert "does not hold the variables" in told
    told = told.replace(str(path), "")
    for piece in (b"".join([SECRETS[name]])[:4].decode("latin-1"), "version", "byte", "65", "66"):
        assert piece not in told or piece == "\0" * 4


@promise(
    "Names, types, attributes and call sites of a program are text in all source that is generated "
    "from it (Python, C, DOT, Mermaid, HTML, SVG): none of them changes what that source does."
)
@pytest.mark.parametrize("end", ["\r", "\f", "\x0b", "\x1c", "\x85", "\u2028", "\0"])
def test_a_call_site_is_no_code_of_a_plan(end, tmp_path, monkeypatch):
    # tests/test_generated_source.py goes through all languages and all characters
    monkeypatch.chdir(tmp_path)
    own = fluid.Program()
    with fluid.program_guard(own):
        fluid.layers.relu(fluid.data("x", [2], "float32"))
    site = f"File \"a{end}    __import__('os').mkdir('made')#\", line 7"
    own.global_block().ops[0].callsite = CallSite("a", 7, (site,))
    program = fluid.Program.parse_from_string(own.to_bytes(call_sites=True))
    exe = fluid.Executor()
    for _ in range(4):
        exe.run(program, feed=FEED, fetch_list=["relu_0.tmp_0"])
    assert os.listdir(tmp_path) == []


@promise("What a program prints has no control characters.")
def test_what_a_program_prints_is_escaped(capsys):
    line = (
        '`y\\u001b[2J` = print(In=x, first_n=1, message="\\u001b]0;owned\\u0007\\r\\n", '
        "summarize=-1, "
        "print_tensor_name=true, print_tensor_type=true, print_tensor_shape=true, "
        "print_tensor_lod=true)"
    )
    program = foreign(f"var `y\\u001b[2J`: float32[2]\n    {line}")
    run(program)
    out = capsys.readouterr().out
    assert out.endswith("\n") and out[:-1].isprintable()
    assert out.startswith("\\x1b]0;owned\\x07\\r\\n ")


# -- looking ---------------------------------------------------------------------------------------


@promise("`fluidlite scan`, `show`, `summary`, `diff`, `vars` and `draw` run nothing of it.")
@pytest.mark.parametrize("command", ["scan", "show", "summary", "diff", "vars", "draw"])
def test_a_command_that_looks_runs_nothing(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = "\n    ".join(EFFECTS.values())
    (tmp_path / "program.txt").write_text(PROGRAM.replace("LINE", lines))
    more = {"diff": ["program.txt"], "draw": ["-o", "picture.svg"]}.get(command, [])
    assert main([command, "program.txt", *more]) == {"scan": 3}.get(command, 0)
    assert set(os.listdir(tmp_path)) <= {"program.txt", "picture.svg"}
    capsys.readouterr()


@promise(
    "`fluidlite plan`, which runs it on zeros, stops in front of an operator that would make more "
    "than 1 GiB with those before it, or more than `--limit` says, and names it."
)
@pytest.mark.parametrize(
    "limit, times, named",
    [
        ([], 1 << 27, "y = expand"),
        (["--limit", "0.001"], 1 << 18, "y = expand"),
        (["--limit", "0.001"], 1 << 17, "z = relu"),
    ],
)
def test_a_plan_stops_in_front_of_what_passes_its_limit(limit, times, named, tmp_path, capsys):
    path = tmp_path / "program.txt"
    expanded = f"y = expand(X=x, expand_times=[{times}])\n    z = relu(X=y)"
    path.write_text(PROGRAM.replace("LINE", f"var z: float32[-1]\n    {expanded}"))
    tracemalloc.start()
    try:
        assert main(["plan", str(path), "--fetch", "z", *limit]) == 1
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    message = capsys.readouterr().err
    assert named in message and "--limit" in message


@promise(
    "Pages made by `fluid.inspect` show names and attributes as text and forbid their browser "
    "every script but their own."
)
def test_a_page_shows_names_as_text():
    program = fluid.Program()
    block = program.global_block()
    name = "</script><script>alert(1)</script>"
    block.create_var(name=name, shape=[1], dtype="float32")
    block.append_op("relu", {"X": name}, {"Out": name})
    page = fluid.inspect.to_html(program)
    assert "<script>alert" not in page
    assert re.search(r"Content-Security-Policy[^>]*default-src 'none'", page)


@promise(
    "Commands, errors and warnings show names, types and call sites without control characters."
)
def test_nothing_that_is_shown_moves_the_terminal(tmp_path, capsys):
    site, escapes = CallSite("x\x1b[2J\r.py", 7), "\x1b]0;title\x07\x9b\r"
    program = foreign("y = relu(X=x)")
    program.global_block().rename_var("y", f"y{escapes}")
    program.global_block().ops[0].callsite = site
    (tmp_path / "net").write_bytes(program.to_bytes(call_sites=True))
    for command in ("show", "vars", "summary", "scan"):
        assert main([command, str(tmp_path / "net")]) == 0
    shown = capsys.readouterr().out + str(FluidError(f"{site}: {escapes}"))
    with pytest.warns(UserWarning, match="doubtful") as found:
        warn(f"doubtful {escapes}", site)
    shown += f"{found[0].filename}{found[0].message}"
    assert "y\\u001b]0;title" in shown
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(shown)
