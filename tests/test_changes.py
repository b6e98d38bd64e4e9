"""Which tests ``pytest --changed`` keeps."""

import subprocess

import pytest

import changes
from changes import ROOT, changed_files, is_needed


def needed(*files):
    """The test files of the repository that a change of some files needs."""
    tests = (ROOT / "tests").rglob("test_*.py")
    return {p.relative_to(ROOT).as_posix() for p in tests if is_needed(p, set(files))}


def test_a_changed_test_and_the_checks_of_the_whole_tree_are_needed():
    assert needed("tests/ops/test_conv.py") == {"tests/ops/test_conv.py", *changes.ALWAYS}


def test_a_module_needs_the_tests_of_its_folder_and_those_that_import_it():
    found = needed("fluidlite/proto/wire.py")
    assert {"tests/proto/test_program.py", *changes.ALWAYS} <= found
    assert "tests/ops/test_conv.py" not in found
    assert "tests/readers/test_loader.py" not in found


def test_a_module_of_the_top_level_needs_the_tests_that_are_called_after_it():
    assert "tests/test_metrics.py" in needed("fluidlite/metrics.py")


def test_a_helper_needs_the_tests_that_import_it_through_other_helpers():
    users = needed("tests/aids/one_operator.py")
    assert needed("tests/aids/hostile.py") <= users  # hostile imports one_operator
    assert len(users) > len(changes.ALWAYS) + 1


def test_a_page_needs_the_tests_that_read_it():
    assert "tests/ir/test_parse.py" in needed("docs/text-format.md")


@pytest.mark.parametrize("file", changes.EVERYWHERE)
def test_settings_need_every_test(file):
    assert len(needed(file)) == len(list((ROOT / "tests").rglob("test_*.py")))


def test_untracked_files_are_changes(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "kept.py").write_text("")
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-qm", "begin"], cwd=tmp_path, check=True)
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    assert changed_files("HEAD") == set()
    (tmp_path / "kept.py").write_text("x = 1\n")
    (tmp_path / "new file.py").write_text("")
    assert changed_files("HEAD") == {"kept.py", "new file.py"}
