"""Groups that were found once are taken where the same is planned, if they are groups there."""

import json
import os

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backend import get
from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native import kernel_cache
from fluidlite.backend.native import library as native_library
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.backend.native.library import NativeKernels
from fluidlite.backend.native.source import kernel_source
from fluidlite.backend.native.symbols import XP, ArraySymbol, Expression
from fluidlite.inspect.graph_text import parsed
from fluidlite.opdef.prepared import Prepared
from fluidlite.runtime.graph import verify
from fluidlite.runtime.passes import kept_groups
from fluidlite.runtime.passes.elementwise_fusion import ELEMENTWISE_FUSION
from fluidlite.runtime.passes.form import Context

TEXT = """\
%0: float32[4, 4] = input "x"
%1: float32[4, 4] = tanh(X=%0)
%2: float32[4, 4] = scale(X=%1) {scale=0.5}
%3: float32[4, 4] = matmul(X=%2, Y=%0)
%4: float32[4, 4] = exp(X=%3)
%5: float32[4, 4] = elementwise_add(X=%1, Y=%4)
%6: float32[4, 4] = sigmoid(X=%5)
return "y"=%6
"""


class Remembering(NativeKernels):
    """A library that has a kernel for each group, and counts what is looked at.

    Args:
        notes: texts by their keys.
        disk: sources by name, whose kernels are compiled; None where none is.
    """

    remembers = True

    def __init__(self, notes, disk):
        super().__init__(None, False)
        self._notes, self._disk, self.looks, self.texts = notes, disk, 0, []

    def recalled(self, key):
        return self._notes.get(key, "")

    def remember(self, key, text):
        self._notes[key] = text

    def as_kept(self, source):
        if self._disk is not None:
            self._disk[source.name] = source
        return None if self._disk is None else [source.name]

    def kept(self, description):
        return (self._disk or {}).get(description[0])

    def group(self, *given):
        self.looks += 1
        return super().group(*given)

    def kernels(self, sources, specs, team=None):
        self.texts = [each.text for each in sources]
        return [Prepared(print) for _ in sources]


@pytest.fixture
def notes(monkeypatch):
    monkeypatch.setattr(kept_groups, "FEWEST", 0)
    return {}


def fused(notes, text=TEXT, disk=None):
    """What is left of a graph, the C of its groups, and how many groups were looked at."""
    graph = parsed(text, backend=get("numpy"))
    library = Remembering(notes, disk)
    ELEMENTWISE_FUSION.run(graph, Context(graph.builder, [library]))
    verify(graph)
    return [repr(each) for each in graph], library.texts, library.looks


def test_what_was_found_is_not_looked_for_again(notes):
    *first, tries = fused(notes)
    *second, looks = fused(notes)
    assert second == first
    assert len(first[1]) == looks == 2 < tries


def test_what_was_compiled_is_not_looked_at_again(notes):
    disk = {}
    *first, _ = fused(notes, disk=disk)
    assert len(disk) == 2
    assert fused(notes, disk=disk) == (*first, 0)


def test_a_note_is_completed_when_kernels_are_compiled(notes):
    *first, _ = fused(notes)
    assert [kernel for _, _, _, kernel, _, _ in json.loads(*notes.values())] == [None, None]
    disk = {}
    *_, looks = fused(notes, disk=disk)
    assert looks == 2 and len(disk) == 2
    assert fused(notes, disk=disk) == (*first, 0)


def test_where_a_kernel_is_missing_its_group_alone_is_looked_at(notes):
    disk = {}
    *first, _ = fused(notes, disk=disk)
    del disk[next(iter(disk))]
    assert fused(notes, disk=disk) == (*first, 1)
    assert fused(notes, disk=disk) == (*first, 0)


TWO_SIZES = """\
%0: float32[4, 4] = input "x"
%1: float32[16, 4] = input "z"
%2: float32[4, 4] = tanh(X=%0)
%3: float32[4, 4] = square(X=%2)
%4: float32[16, 4] = tanh(X=%1)
%5: float32[16, 4] = square(X=%4)
return "y"=%3, "w"=%5
"""


def test_a_kernel_is_kept_with_the_work_that_each_group_has_for_it(notes):
    class Working(Remembering):
        def as_kept(self, source):
            return [source.name, source.work]

    graph = parsed(TWO_SIZES, backend=get("numpy"))
    ELEMENTWISE_FUSION.run(graph, Context(graph.builder, [Working(notes, {})]))
    (first, work), (second, other) = [kernel for *_, kernel, _, _ in json.loads(*notes.values())]
    assert first == second and other == 4 * work


def altered(place, change):
    """The change of an item of the first group that is kept."""

    def alter(groups):
        groups[0][place] = change(groups[0][place])

    return alter


@pytest.mark.parametrize(
    "alter",
    [
        altered(3, lambda kernel: None),
        altered(3, lambda kernel: ["another"]),
        altered(4, lambda inputs: []),
        altered(4, lambda inputs: [99]),
        altered(4, lambda inputs: [-1]),
        altered(4, lambda inputs: [*inputs, *inputs]),
        altered(4, lambda inputs: ["no number"]),
        altered(4, lambda inputs: [3]),  # what the group does not read
        altered(5, lambda outputs: []),
        altered(5, lambda outputs: outputs[::-1]),
        altered(5, lambda outputs: [99]),
        altered(1, lambda members: [*members, 2]),
        altered(0, lambda place: 99.0),
        lambda groups: groups[0].pop(),
        lambda groups: groups.append(groups[0]),
        lambda groups: groups[0].__setitem__(3, groups[1][3]),  # another number of inputs
    ],
)
def test_kernels_that_do_not_fit_their_groups_are_not_taken(notes, alter):
    disk = {}
    *found, _ = fused(notes, disk=disk)
    for key, text in notes.items():
        groups = json.loads(text)
        alter(groups)
        notes[key] = json.dumps(groups)
    *again, looks = fused(notes, disk=disk)
    assert again == found and looks > 0
    assert fused(notes, disk=disk) == (*found, 0)  # and the note is replaced


@pytest.mark.parametrize(
    "note",
    [
        "",
        "no note",
        "7",
        "[[0.5, [0, 1]]]",
        "[[0.5, [], true, null, [], []]]",
        "[[0.5, [0, 99], true, null, [], []]]",
        "[[0.5, [0, 0], true, null, [], []]]",
        "[[null, [0], true, null, [], []]]",
        "[[0.5, [1, 0], true, null, [], []]]",  # what is read before it is made
        "[[2.5, [0, 1], true, null, [], []]]",  # behind what reads it
        # before what it reads
        "[[0.5, [0, 1], true, null, [], []], [0.2, [3, 4, 5], true, null, [], []]]",
        "[[0.5, [0, 1, 3, 4, 5], true, null, [], []]]",  # around a product
        "[[1.5, [2], true, null, [], []]]",
    ],
)
def test_a_note_of_no_groups_changes_nothing(notes, note):
    *found, tries = fused(notes)
    for key in notes:
        notes[key] = note
    *again, looks = fused(notes)
    assert again == found and looks >= tries
    assert len(json.loads(*notes.values())) == 2  # and is replaced


def test_operators_of_users_are_looked_at_anew(notes, monkeypatch):
    monkeypatch.setattr(kept_groups, "is_users", lambda definition: definition.type == "exp")
    fused(notes)
    assert not notes


@pytest.mark.parametrize(
    "old, new", [("0.5", "0.25"), ("4, 4", "6, 6"), ("tanh", "exp"), ('"y"=%6', '"y"=%6, "z"=%5')]
)
def test_graphs_that_differ_have_notes_of_their_own(notes, old, new):
    fused(notes)
    fused(notes, TEXT.replace(old, new))
    assert len(notes) == 2


def test_graphs_of_few_instructions_are_looked_at_anew(notes, monkeypatch):
    monkeypatch.setattr(kept_groups, "FEWEST", 100)
    fused(notes)
    assert not notes


def test_the_last_notes_are_kept_in_the_folder_of_kernels(compiler, monkeypatch):
    monkeypatch.setattr(kernel_cache, "NOTES_KEPT", 2)
    for number in range(4):
        compiler.cache.note(f"{number:032}", f"[{number}]")
    assert [compiler.cache.noted(f"{number:032}") for number in (0, 3)] == ["", "[3]"]
    assert len(list(compiler.cache.folder.iterdir())) == 2


def test_a_note_that_others_may_write_to_is_not_taken(compiler):
    compiler.cache.note("a", "[]")
    (compiler.cache.folder / "a.note").chmod(0o666)
    assert compiler.cache.noted("a") == ""


@pytest.mark.parametrize(
    "spoil",
    [
        lambda note, other: note.write_text(note.read_text()[:-1]),
        lambda note, other: note.write_text(note.read_text().replace("[1]", "[2]")),
        lambda note, other: note.write_text(""),
        lambda note, other: note.write_bytes(b"\xff" + note.read_bytes()),
        lambda note, other: note.write_text(other.read_text()),
    ],
)
def test_a_note_that_is_torn_or_of_another_key_is_not_taken(compiler, spoil):
    cache = compiler.cache
    cache.note("a", "[1]")
    cache.note("b", "[3]")
    spoil(*(cache.folder / f"{key}.note" for key in "ab"))
    assert [cache.noted(key) for key in "ab"] == ["", "[3]"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_would_wait_for_a_writer_is_no_note(compiler):
    os.mkfifo(compiler.cache.folder / "a.note", 0o600)
    assert compiler.cache.noted("a") == ""


def test_a_note_of_another_package_or_numpy_is_not_taken(compiler, monkeypatch, tmp_path):
    compiler.cache.note("a", "[1]")
    assert kernel_cache.KernelCache(print).noted("a") == "[1]"
    with monkeypatch.context() as changed:
        changed.setattr(kernel_cache.np, "__version__", "0.1")
        assert kernel_cache.KernelCache(print).noted("a") == ""
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "relu.py").write_text("another one")
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    assert kernel_cache.KernelCache(print).noted("a") == ""


def test_notes_of_another_processor_are_not_taken(compiler, monkeypatch):
    library = NativeKernels(compiler, False)
    library.remember("a", "[1]")
    compiler.cache.note("b", "[2]")
    assert library.recalled("a") == "[1]" == NativeKernels(Compiler(), False).recalled("a")
    monkeypatch.setattr(compilers, "processor", lambda: "another one")
    assert NativeKernels(Compiler(), False).recalled("a") == ""
    assert kernel_cache.KernelCache(print).noted("b") == "[2]"
    monkeypatch.setattr(kernel_cache, "processor", lambda: "another one")
    assert kernel_cache.KernelCache(print).noted("b") == ""


def test_the_last_notes_are_kept_where_they_are_too_long(compiler, monkeypatch):
    monkeypatch.setattr(kernel_cache, "NOTES_BYTES", 2000)
    for number in range(4):
        compiler.cache.note(f"{number:032}", "x" * 900)
    assert [bool(compiler.cache.noted(f"{number:032}")) for number in range(4)] == [
        *(False, False, True, True)
    ]


def test_descriptions_of_kernels_are_checked(compiler):
    x = Expression("input", (), (70,), np.dtype("float32"))
    source = kernel_source([x], [XP.tanh(ArraySymbol(x)).node])
    library = NativeKernels(compiler, True)
    assert library.as_kept(source) is None
    library.kernels([source], [[((70,), np.dtype("float32"))]])
    good = json.loads(json.dumps(library.as_kept(source)))
    later = NativeKernels(Compiler(), True)
    assert later.kept(good) == source._replace(text="")
    (kernel,) = later.kernels([later.kept(good)], [[((70,), np.dtype("float32"))]])
    array = np.linspace(0, 1, 70, dtype="float32")
    np.testing.assert_allclose(kernel.function(array), np.tanh(array), rtol=1e-6)
    spoiled = [None, 7, "text", [], good[:-1], [*good, 1]]
    for place, wrong in enumerate([
        *("../" + good[0], "k" * 21, 0, -1, 1 << 40, 3, "no number", [5]),
    ]):  # fmt: skip
        if place != 2:  # the text
            spoiled += [[*good[:place], each, *good[place + 1 :]] for each in (wrong, None, [[]])]
    assert not [each for each in spoiled if NativeKernels(Compiler(), True).kept(each)]


def chain():
    """A program of 120 operators, and what it is fed."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = hidden = fluid.data("x", [6, 5])
        for k in range(40):
            hidden = fluid.layers.tanh(hidden * (1.0 + k) + x)
        fluid.layers.softmax(hidden)
    return main, hidden.name


def test_a_later_process_traces_nothing_and_computes_the_same(compiler, monkeypatch):
    feed = {"x": np.linspace(-1, 1, 30, dtype="float32").reshape(6, 5)}

    def run():
        main, name = chain()
        exe = fluid.Executor()
        found = [exe.run(main, feed=feed, fetch_list=[name])[0] for _ in range(3)]
        return exe.plan(main, [name]).source, found[-1]

    source, first = run()
    assert ", native" in source
    COMPILER.switch(Compiler())

    def refuse(*given):
        raise AssertionError("it was kept")

    monkeypatch.setattr(native_library, "_traced", refuse)
    again, second = run()
    assert again == source
    np.testing.assert_array_equal(second, first)
