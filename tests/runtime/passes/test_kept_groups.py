"""Groups that were found once are taken where the same is planned, if they are groups there."""

import json

import pytest

from fluidlite.backend import get
from fluidlite.backend.native import kernel_cache
from fluidlite.backend.native.library import NativeKernels
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
    """A library that has a kernel for each group, and counts what is looked at."""

    remembers = True

    def __init__(self, notes):
        super().__init__(None, False)
        self._notes, self.looks, self.texts = notes, 0, []

    def recalled(self, key):
        return self._notes.get(key, "")

    def remember(self, key, text):
        self._notes[key] = text

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


def fused(notes, text=TEXT):
    """What is left of a graph, the C of its groups, and how many groups were looked at."""
    graph = parsed(text, backend=get("numpy"))
    library = Remembering(notes)
    ELEMENTWISE_FUSION.run(graph, Context(graph.builder, [library]))
    verify(graph)
    return [repr(each) for each in graph], library.texts, library.looks


def test_what_was_found_is_not_looked_for_again(notes):
    *first, tries = fused(notes)
    *second, looks = fused(notes)
    assert second == first
    assert len(first[1]) == looks == 2 < tries


@pytest.mark.parametrize(
    "note",
    [
        "",
        "no note",
        "7",
        "[[0.5, []]]",
        "[[0.5, [0, 99]]]",
        "[[0.5, [0, 0]]]",
        "[[null, [0]]]",
        "[[0.5, [1, 0]]]",  # what is read before it is made
        "[[2.5, [0, 1]]]",  # behind what reads it
        "[[0.5, [0, 1]], [0.2, [3, 4, 5]]]",  # before what it reads
        "[[0.5, [0, 1, 3, 4, 5]]]",  # around a product
        "[[1.5, [2]]]",
    ],
)
def test_a_note_of_no_groups_changes_nothing(notes, note):
    *found, tries = fused(notes)
    for key in notes:
        notes[key] = note
    *again, looks = fused(notes)
    assert again == found and looks >= tries
    assert len(json.loads(*notes.values())) == 2  # and is replaced


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
