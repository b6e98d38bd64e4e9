"""The programs of ``examples/legacy``, in the style of 2018 and 2019, print what they print on
paddlepaddle 1.8.5 with the same start values and data.

``tests/clients/legacy_losses.py --record`` wrote what they printed there.
"""

import ast
import json
import sys
from pathlib import Path

import pytest

from fluidlite.__main__ import main

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "clients"))

import legacy_driver  # noqa: E402

PROGRAMS = sorted((ROOT / "examples" / "legacy").glob("*.py"))
RECORDED = json.loads((ROOT / "tests" / "data" / "legacy_losses.json").read_text())
BOUND = 1e-4


def test_every_program_has_been_recorded():
    assert [path.stem for path in PROGRAMS] == sorted(RECORDED) and len(PROGRAMS) == 12


@pytest.mark.filterwarnings("ignore::fluidlite.compat.CompatWarning")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_its_time_prints_what_it_printed_on_the_real_system(
    path, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    _, status, text = legacy_driver.captured(path, ["--enable_ce"])
    assert not status, text
    found = legacy_driver.printed(text)
    wanted = legacy_driver.printed("\n".join(RECORDED[path.stem]))
    assert [words for words, _ in found] == [words for words, _ in wanted]
    losses = [number for _, numbers in found for number in numbers]
    expected = [number for _, numbers in wanted for number in numbers]
    assert len(expected) > 8
    assert losses == pytest.approx(expected, rel=BOUND, abs=BOUND)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_check_finds_nothing_in_a_program_that_runs(path, capsys):
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: nothing to change\n"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_its_time_says_what_it_is_and_imports_no_fluidlite(path):
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)) and "fluidlite" not in source
