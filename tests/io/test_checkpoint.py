"""Checkpoints: whole, described by themselves, and read by other tools."""

import json
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, FileError, FileFormatError, NotInitializedError
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.values import LoDTensor, SelectedRows
from fluidlite.ir.compare import differences

from networks import assert_same, regression, started, state


@pytest.fixture
def exe():
    regression(optimizer=fluid.optimizer.Adam(0.1))
    return started()


def change():
    for variable in fluid.global_scope():
        if isinstance(variable.value, np.ndarray):
            variable.value = variable.value + 1


def rewritten(path, changes):
    """A checkpoint whose members a function changes: name -> bytes to the same."""
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    changes(members)
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in members.items():
            packed.writestr(name, data)


def described(path, change):
    """A checkpoint whose description a function changes."""

    def changes(members):
        meta = json.loads(members["fluidlite.json"])
        change(meta)
        members["fluidlite.json"] = json.dumps(meta).encode()

    rewritten(path, changes)


# -- what it holds ---------------------------------------------------------------------------------


def test_numpy_reads_the_variables(exe, tmp_path):
    path = fluid.checkpoint.save(tmp_path, step=7)
    with np.load(path) as packed:
        for name, array in state().items():
            np.testing.assert_array_equal(packed[name], array)


def test_it_describes_itself(exe, tmp_path):
    path = fluid.checkpoint.save(tmp_path, step=7)
    with zipfile.ZipFile(path) as packed:
        meta = json.loads(packed.read("fluidlite.json"))
        assert packed.read("program.txt").startswith(b"program (seed=0) {")
    assert meta["step"] == 7 and meta["format"] == 1
    said = meta["variables"]["fc_0.w_0"]
    assert (said["dtype"], said["shape"], len(said["sha256"])) == ("float32", [4, 2], 64)


def test_the_program_comes_back(exe, tmp_path):
    found = fluid.checkpoint.load(fluid.checkpoint.save(tmp_path))
    assert not differences(found.program, fluid.default_main_program())


def test_it_holds_no_paths_of_this_machine(exe, tmp_path):
    data = Path(fluid.checkpoint.save(tmp_path)).read_bytes()
    assert os.path.basename(__file__).encode() not in data


def test_it_is_loaded_into_any_scope(exe, tmp_path):
    wanted = state()
    fluid.checkpoint.save(tmp_path, step=7)
    change()
    scope = fluid.Scope()
    found = fluid.checkpoint.load(tmp_path, fluid.default_main_program(), scope)
    assert found.step == 7
    with fluid.scope_guard(scope):
        assert_same(state(), wanted)
    fluid.checkpoint.load(tmp_path)
    assert_same(state(), wanted)


def test_sequences_rows_and_odd_names_survive(tmp_path):
    block = fluid.default_main_program().global_block()
    block.create_var(name="a/../b c\n", dtype="int64", persistable=True)
    block.create_var(name="rows", type=Kind.SELECTED_ROWS, persistable=True)
    scope = fluid.global_scope()
    scope.var("a/../b c\n").value = LoDTensor(np.arange(3), ((0, 1, 3),))
    scope.var("rows").value = SelectedRows([2], 5, np.ones([1, 2], "float32"))
    path = fluid.checkpoint.save(tmp_path)
    with zipfile.ZipFile(path) as packed:
        assert not [name for name in packed.namelist() if ".." in name.split("/") or "\n" in name]
    scope.erase(["a/../b c\n", "rows"])
    fluid.checkpoint.load(tmp_path)
    assert scope.value("a/../b c\n").offsets == ((0, 1, 3),)
    assert scope.value("rows").rows() == [2] and scope.value("rows").height() == 5


# -- going on --------------------------------------------------------------------------------------


def test_random_numbers_go_on_as_they_would_have(tmp_path):
    x = fluid.data("x", [4, 100], "float32")
    y = fluid.layers.dropout(x, 0.5)
    exe = fluid.Executor()
    feed = {"x": np.ones([4, 100], "float32")}

    def draw(exe):
        return exe.run(feed=feed, fetch_list=[y])[0].tolist(), random.random(), np.random.rand()

    draw(exe)
    fluid.checkpoint.save(tmp_path, executor=exe)
    wanted = [draw(exe), draw(exe)]
    other = fluid.Executor()
    other.run(feed=feed)
    fluid.checkpoint.load(tmp_path, fluid.default_main_program(), executor=other)
    assert [draw(other), draw(other)] == wanted


def test_the_newest_ones_are_kept(exe, tmp_path):
    for step in (1, 2, 3, 10, 4):
        fluid.checkpoint.save(tmp_path, step=step, keep=2)
    assert sorted(os.listdir(tmp_path)) == [f"checkpoint-{n:012d}.npz" for n in (4, 10)]
    assert fluid.checkpoint.latest(tmp_path).endswith("000010.npz")
    for step in (11, 12):
        fluid.checkpoint.save(tmp_path, step=step, keep=0)
    assert {"checkpoint-000000000011.npz", "checkpoint-000000000012.npz"} <= {*os.listdir(tmp_path)}


def test_there_may_be_none(exe, tmp_path):
    assert fluid.checkpoint.latest(tmp_path) is None
    with pytest.raises(FileError, match="cannot read a checkpoint in .*: it holds none"):
        fluid.checkpoint.load(tmp_path)
    with pytest.raises(FileError, match="no such file or folder"):
        fluid.checkpoint.latest(tmp_path / "nope")


def test_where_the_newest_is_damaged_the_one_before_is_taken(exe, tmp_path):
    fluid.checkpoint.save(tmp_path, step=1)
    wanted = state()
    change()
    path = fluid.checkpoint.save(tmp_path, step=2)
    with open(path, "r+b") as file:
        file.seek(200)
        file.write(b"damage")
    with pytest.warns(UserWarning, match="an older checkpoint is taken"):
        assert fluid.checkpoint.load(tmp_path).step == 1
    assert_same(state(), wanted)


# -- what is wrong ---------------------------------------------------------------------------------


def refused(match, load, error=FileFormatError):
    before = state()
    with pytest.raises(error, match=match):
        load()
    assert_same(state(), before)


DAMAGE = {
    "no step": (lambda meta: meta.pop("step"), "step, variables, random state and program"),
    "step": (lambda meta: meta.update(step="x"), "step, variables, random state and program"),
    "format": (lambda meta: meta.update(format=9), "version 1 of the format at byte 0, found ver"),
    "program": (lambda meta: meta["program"].update(sha256="0"), "the program that was saved"),
    "place": (lambda meta: meta["variables"].update(w=3), "the place of variable 'w'"),
    "member": (
        lambda meta: meta["variables"]["fc_0.w_0"].update(member="nope"),
        "a member 'nope' at byte 0",
    ),
    "shape": (
        lambda meta: meta["variables"]["fc_0.w_0"].update(shape=[8]),
        r"variable 'fc_0.w_0' to be 'float32\[8\]' at byte 0, found float32\[4, 2\]",
    ),
    "checksum": (
        lambda meta: meta["variables"]["fc_0.w_0"].update(sha256="0"),
        "the values of variable 'fc_0.w_0' that were saved",
    ),
    "lod": (
        lambda meta: meta["variables"]["fc_0.w_0"].update(lod=[[0, 9]]),
        "rows or LoD that fit variable 'fc_0.w_0'",
    ),
    "random": (
        lambda meta: meta["random"].update(python=[3, [1], None]),
        "the state of the random numbers",
    ),
}


@pytest.mark.parametrize("change, message", DAMAGE.values(), ids=DAMAGE)
def test_a_description_that_is_wrong_is_refused(change, message, exe, tmp_path):
    path = fluid.checkpoint.save(tmp_path)
    described(path, change)
    refused(message, lambda: fluid.checkpoint.load(path))


LONG = "what stands in a file and no error shows"


def _renamed(meta, **wrong):
    meta["variables"][LONG] = {**meta["variables"].pop("fc_0.w_0"), **wrong}


TELLING = {
    "member": lambda meta: _renamed(meta, member=LONG),
    "place": lambda meta: _renamed(meta, member=3),
    "shape": lambda meta: _renamed(meta, shape=LONG),
    "element type": lambda meta: _renamed(meta, dtype=LONG),
    "checksum": lambda meta: _renamed(meta, sha256=LONG),
    "lod": lambda meta: _renamed(meta, lod=[[LONG]]),
    "rows": lambda meta: _renamed(meta, rows=[LONG], height=LONG),
    "random": lambda meta: meta["random"].update(python=[LONG, [LONG], LONG]),
    "random of NumPy": lambda meta: meta["random"].update(numpy=[LONG]),
}


@pytest.mark.parametrize("change", TELLING.values(), ids=TELLING)
def test_an_error_of_a_checkpoint_shows_little_of_what_it_holds(change, exe, tmp_path):
    path = fluid.checkpoint.save(tmp_path)
    described(path, change)
    with pytest.raises(FileFormatError) as caught:
        fluid.checkpoint.load(path)
    told = str(caught.value)
    assert not [k for k in range(len(LONG) - 16) if LONG[k : k + 17] in told], told


def test_an_error_of_a_zip_file_shows_little_of_its_names(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{LONG}.npy", b"no array")
    errors = []
    for old, new in ((b"", b""), (b"what", b"That")):  # the name differs in the directory
        data = path.read_bytes()
        path.write_bytes(data.replace(old, new, 1) if old else data)
        with pytest.raises(FileFormatError) as caught:
            fluid.io.read(path)
        errors.append(str(caught.value))
    assert LONG[:10] in errors[0]
    assert not [e for e in errors for k in range(len(LONG) - 16) if LONG[k : k + 17] in e], errors


def test_a_file_that_is_cut_is_refused(exe, tmp_path):
    path = Path(fluid.checkpoint.save(tmp_path))
    data = path.read_bytes()
    for size in range(0, len(data), 97):
        path.write_bytes(data[:size])
        refused(rf"{path}: expected", lambda: fluid.checkpoint.load(path))


def test_another_archive_is_refused(exe, tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(1))
    refused("a member 'fluidlite.json'", lambda: fluid.checkpoint.load(tmp_path / "other.npz"))


def test_members_that_are_packed_are_refused(exe, tmp_path):
    path = fluid.checkpoint.save(tmp_path)
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data + bytes(100_000) if name.endswith(".txt") else data)
    refused("member 'fluidlite.json' of at most", lambda: fluid.checkpoint.load(path))


def test_a_checkpoint_of_another_network_is_refused(exe, tmp_path):
    fluid.checkpoint.save(tmp_path)
    other = fluid.Program()
    with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
        regression(inputs=5)
    refused(
        r"variable 'fc_0.w_0': expected float32\[5, 2\], as the program declares it",
        lambda: fluid.checkpoint.load(tmp_path, other),
    )
    other.global_block().create_parameter([1], "float32", name="more")
    other.global_block().vars.pop("fc_0.w_0")
    other.global_block().vars.pop("fc_0.b_0")
    missing = "expected variable 'more', found 11 others"
    refused(missing, lambda: fluid.checkpoint.load(tmp_path, other))


def test_arguments_of_another_kind_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="the number of steps done, got -1"):
        fluid.checkpoint.save(tmp_path, step=-1)
    regression()
    with pytest.raises(NotInitializedError, match="run the startup program first"):
        fluid.checkpoint.save(tmp_path / "folder")
    assert not os.listdir(tmp_path)


def test_names_that_are_not_utf8_are_saved_and_read_back(tmp_path):
    name = "w-\udcff"
    fluid.layers.create_parameter([2], "float32", name=name)
    fluid.Executor().run(fluid.default_startup_program())
    scope = fluid.global_scope()
    saved = np.array(scope.host_value(name))
    fluid.checkpoint.save(tmp_path, step=1)
    scope.find_var(name).value = np.zeros(2, "float32")
    fluid.checkpoint.load(tmp_path)
    np.testing.assert_array_equal(scope.host_value(name), saved)
