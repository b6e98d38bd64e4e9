"""The command ``fluidlite cache``."""

import os

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.__main__ import main

KERNELS, NOTES = "0123456789abcdef" * 2, "f" * 32


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a library under two names, a note, and what is somebody else's."""
    path = tmp_path / "cache"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(path))
    for base in (KERNELS, "0" * 32):
        (path / f"{base}.sum").write_bytes(b"d" * 10)
    (path / f"{KERNELS}.so").write_bytes(b"l" * 100)
    os.link(path / f"{KERNELS}.so", path / f"{'0' * 32}.so")
    (path / f"{NOTES}.note").write_bytes(b"n" * 7)
    return path


def said(capsys, *words, status=0):
    assert main(["cache", *words]) == status
    out, err = capsys.readouterr()
    assert bool(err) == bool(status)
    return err or out


def test_the_folder_is_described(folder, capsys):
    assert said(capsys) == f"{folder}: 2 kernels (120 bytes), 1 note (7 bytes)\n"
    assert len(list(folder.iterdir())) == 5


def test_what_is_kept_is_removed(folder, capsys):
    assert said(capsys, "--empty") == f"{folder}: removed 2 kernels (120 bytes), 1 note (7 bytes)\n"
    assert list(folder.iterdir()) == []
    assert said(capsys) == f"{folder}: 0 kernels (0 bytes), 0 notes (0 bytes)\n"


def test_what_else_lies_there_stays(folder, tmp_path, capsys):
    (tmp_path / "own.so").write_text("somebody's own")
    others = ["thesis.so", f"{NOTES}.txt", f"{'F' * 32}.note", f"{NOTES}0.note", f"x{NOTES}.so"]
    for name in others:
        (folder / name).write_text("somebody's own")
    linked = folder / f"{'1' * 32}.so"
    linked.symlink_to(tmp_path / "own.so")
    inner = folder / f"{'2' * 32}.so"
    inner.mkdir()
    (inner / f"{NOTES}.note").write_text("deeper")
    assert "removed 2 kernels (120 bytes), 1 note" in said(capsys, "--empty")
    assert {path.name for path in folder.iterdir()} == {*others, linked.name, inner.name}
    assert (tmp_path / "own.so").read_text() == "somebody's own"
    assert (inner / f"{NOTES}.note").exists()


def test_a_folder_that_does_not_exist_is_not_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "none"))
    for words in ([], ["--empty"]):
        assert said(capsys, *words) == f"{tmp_path / 'none'}: no such folder, so nothing is kept\n"
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are not looked at")
@pytest.mark.parametrize("which", ["cache", "."])
def test_a_folder_of_others_is_refused(folder, tmp_path, which, capsys):
    (tmp_path / which).chmod(0o777)
    for words in ([], ["--empty"]):
        assert f"cannot be kept in {folder} (" in said(capsys, *words, status=1)
    assert len(list(folder.iterdir())) == 5
    (tmp_path / which).chmod(0o700)


def test_a_file_that_cannot_be_removed_is_said(folder, monkeypatch, capsys):
    def refuse(path, missing_ok=False):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    assert "cannot remove" in said(capsys, "--empty", status=1)


def test_kernels_that_were_compiled_are_counted(compiler, capsys):
    x = fluid.data("x", [4, 5])
    y = fluid.layers.tanh(x * 2.0 + 1.0)
    exe, feed = fluid.Executor(), {"x": np.ones([4, 5], "float32")}
    for _ in range(2):
        exe.run(feed=feed, fetch_list=[y])
    assert "1 kernel (" in said(capsys)
    assert "removed 1 kernel (" in said(capsys, "--empty")
    assert list(compiler.cache.folder.iterdir()) == []
