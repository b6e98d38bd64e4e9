"""Code is loaded only from folders to which nobody else can write."""

import os
from pathlib import Path

import pytest

from fluidlite.ground.private_folders import is_ours, private_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights are others here")


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def made(path, mode=0o700):
    path.mkdir()
    path.chmod(mode)
    return path


def test_a_folder_and_what_it_lies_in_are_made_for_the_user_alone(tmp_path):
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert folder == tmp_path / "a" / "b"
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700, 0o700]


def test_a_relative_path_counts_from_where_the_process_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = private_folder("here")
    monkeypatch.chdir("/")
    assert (folder, is_ours(folder)) == (tmp_path / "here", True)


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o1777])
def test_a_folder_to_which_others_may_write_is_refused(tmp_path, mode):
    with pytest.raises(PermissionError, match="others may write there"):
        private_folder(made(tmp_path / "cache", mode))


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702])
def test_so_is_one_that_lies_in_one(tmp_path, mode):
    outer = made(tmp_path / "outer", mode)
    inner = made(made(outer / "inner") / "cache")
    for path in (inner, inner / "new"):
        with pytest.raises(PermissionError, match=r"may write to .*outer, in which it lies"):
            private_folder(path)
    assert not (inner / "new").exists()


def test_a_folder_like_tmp_is_taken_since_nobody_moves_what_is_another_one_s(tmp_path):
    outer = made(tmp_path / "outer", 0o1777)
    assert private_folder(outer / "cache") == outer / "cache"


def test_a_link_is_judged_by_where_it_leads(tmp_path):
    safe, open_to_all = made(tmp_path / "safe"), made(tmp_path / "open", 0o777)
    (open_to_all / "link").symlink_to(safe)
    (tmp_path / "link").symlink_to(made(open_to_all / "inner"))
    assert private_folder(open_to_all / "link") == safe
    with pytest.raises(PermissionError, match="in which it lies"):
        private_folder(tmp_path / "link")


def test_what_the_home_lies_in_is_not_asked_about(tmp_path, monkeypatch):
    outer = made(tmp_path / "outer", 0o777)
    monkeypatch.setenv("HOME", str(made(outer / "me")))
    assert private_folder("~/.cache/x".replace("~", os.environ["HOME"])).is_dir()
    (outer / "me").chmod(0o777)
    with pytest.raises(PermissionError, match="in which it lies"):
        private_folder(outer / "me" / ".cache")


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    folder = made(tmp_path / "cache")
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(PermissionError):
        private_folder(folder)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    Path(tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        private_folder(tmp_path / "file" / "cache")
