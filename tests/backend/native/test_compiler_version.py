"""What a compiler says of itself, which a process asks for and others find."""

import sys

import pytest

from fluidlite.backend.native import compiler as compilers

pytestmark = pytest.mark.skipif(
    sys.platform not in ("linux", "darwin"), reason="kernels are generated on Linux and macOS"
)


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """How often compilers were asked for their version."""
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    commands = []
    monkeypatch.setattr(
        compilers.Compiler, "_answer", lambda self: commands.append(self.command) or "gcc 12"
    )
    return commands


def compiler(monkeypatch, path, content=b"\x7fELF", more=""):
    """A compiler of a file."""
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    monkeypatch.setenv("FLUIDLITE_CC", f"{path}{more}")
    return compilers.Compiler()


def test_a_file_that_is_a_compiler_is_asked_once(monkeypatch, tmp_path, asked):
    for name in ("gcc", "x86_64-linux-gnu-gcc-12", "clang-14", "clang"):
        for _ in range(2):
            assert compiler(monkeypatch, tmp_path / name).version == "gcc 12"
    assert len(asked) == 4


def test_another_file_in_its_place_is_asked(monkeypatch, tmp_path, asked):
    assert compiler(monkeypatch, tmp_path / "gcc").version == "gcc 12"
    assert compiler(monkeypatch, tmp_path / "gcc", b"\x7fELF of a new one").version == "gcc 12"
    assert len(asked) == 2


@pytest.mark.parametrize(
    "name, content, more",
    [
        ("gcc", b"#!/bin/sh", ""),
        ("ccache", b"\x7fELF", ""),
        ("cc", b"\x7fELF", ""),
        ("gcc", b"\x7fELF", " -m32"),
    ],
    ids=["script", "calls another", "says nothing", "options"],
)
def test_what_does_not_say_which_compiler_it_is_is_asked_each_time(
    monkeypatch, tmp_path, asked, name, content, more
):
    for _ in range(2):
        assert compiler(monkeypatch, tmp_path / name, content, more).version == "gcc 12"
    assert len(asked) == 2


def test_a_compiler_that_says_nothing_is_asked_again(monkeypatch, tmp_path, asked):
    for said in ("", "gcc in \u00fc", ""):
        monkeypatch.setattr(
            compilers.Compiler, "_answer", lambda self, said=said: asked.append(1) or said
        )
        assert compiler(monkeypatch, tmp_path / "gcc").version == said
    assert len(asked) == 3


def test_no_folder_is_made_for_an_answer(monkeypatch, tmp_path, asked):
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "none"))
    assert compiler(monkeypatch, tmp_path / "gcc").version == "gcc 12"
    assert not (tmp_path / "none").exists()
