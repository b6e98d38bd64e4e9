"""The programs of ``examples/paddle_2``, as they are, print what they print on paddle 2.6.2."""

import ast
import json

import pytest
from paddle_scripts import PROGRAMS, RECORDED, captured, distance, told

from fluidlite.__main__ import main

PRINTED = json.loads(RECORDED.read_text(encoding="utf-8"))
every_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def test_every_program_has_been_recorded():
    assert [path.stem for path in PROGRAMS] == [*PRINTED]


@every_program
def test_a_program_prints_what_it_printed_on_the_real_system(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, lines = captured(path)
    assert not status, lines
    recorded = PRINTED[path.stem]
    assert told(lines)[0] == told(recorded["lines"])[0]
    assert len(told(lines)[1]) > 20
    assert distance(lines, recorded["lines"]) <= max(1e-5, 3 * recorded["moved"])


@every_program
def test_a_program_says_what_it_is_and_nothing_needs_to_change(path, capsys):
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)) and "fluidlite" not in source
    assert 40 < source.count("\n") < 150
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: nothing to change\n"
