"""The programs of the documents of Paddle 2 and OneFlow print what they print on the real ones."""

from pathlib import Path

import pytest

from fluidlite.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples" / "documents").glob("*.py"))
#: recorded with paddlepaddle 2.6.2 and oneflow 0.9.0
RECORDED = ROOT / "tests" / "data" / "documents"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_the_documents_prints_what_it_prints_on_the_real_system(path, here, capsys):
    assert main(["run", "--force", str(path)]) == 0
    assert capsys.readouterr().out == (RECORDED / f"{path.stem}.txt").read_text(encoding="utf-8")


def test_there_are_four_of_them():
    assert len(PROGRAMS) == 4
