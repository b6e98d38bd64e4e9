"""Faults that are made mechanically, and the list of those that the tests were tried on."""

import importlib.util
import re
from types import FunctionType

import pytest

from mutations.faults import ROOT, changed_code, code_objects, fault_of, listed, sites

SOURCE = '''
"""A text is left alone: 1 + 1."""

LIMIT = 3


def bounded(value, limit=LIMIT):
    """Is 2 < 3?"""
    if value < limit and value is not None:
        return value - 1
    if value > 100:
        raise ValueError(f"expected at most {50 + 50}, got {value}")
    return max(value, limit)


def maker(step):
    return lambda x: x * step
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text(SOURCE)
    return str(path)


def load(path):
    """The module of that file."""
    spec = importlib.util.spec_from_file_location("sample", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_faults_are_in_code_that_runs_and_in_no_text(source):
    found = {(s.fault.function, s.fault.kind, s.fault.before, s.fault.after) for s in sites(source)}
    assert found == {
        ("bounded", "condition negated", COND, "if not (value < limit and value is not None):"),
        ("bounded", "condition removed", COND, "if True:"),
        ("bounded", "condition removed", COND, "if False:"),
        ("bounded", "and for or, or for and", COND[3:-1], "value < limit or value is not None"),
        ("bounded", "condition dropped", COND[3:-1], "value is not None"),
        ("bounded", "condition dropped", COND[3:-1], "value < limit"),
        ("bounded", "other comparison", "value < limit", "value <= limit"),
        ("bounded", "other comparison", "value is not None", "value is None"),
        ("bounded", "nothing returned", "return value - 1", "return None"),
        ("bounded", "other operator", "value - 1", "value + 1"),
        ("bounded", "operands swapped", "value - 1", "1 - value"),
        ("bounded", "second operand dropped", "value - 1", "value"),
        ("bounded", "off by one", "1", "2"),
        ("bounded", "condition negated", "if value > 100:", "if not value > 100:"),
        ("bounded", "condition removed", "if value > 100:", "if True:"),
        ("bounded", "condition removed", "if value > 100:", "if False:"),
        ("bounded", "other comparison", "value > 100", "value >= 100"),
        ("bounded", "off by one", "100", "101"),
        ("bounded", "nothing returned", "return max(value, limit)", "return None"),
        ("bounded", "arguments swapped", "max(value, limit)", "max(limit, value)"),
        ("bounded", "other function", "max(value, limit)", "min(value, limit)"),
        ("maker", "nothing returned", "return lambda x: x * step", "return None"),
        ("maker", "other operator", "x * step", "x / step"),
        ("maker", "second operand dropped", "x * step", "x"),
        ("maker", "first operand dropped", "x * step", "step"),
    }


COND = "if value < limit and value is not None:"


def test_a_fault_is_made_in_functions_that_exist_already(source):
    module = load(source)
    made = module.maker(2)
    for fault, function, argument, right, wrong in [
        ("min(value, limit)", module.bounded, 7, 7, 3),
        ("x / step", made, 8, 16, 4),
    ]:
        assert function(argument) == right
        (site,) = [s for s in sites(source) if s.fault.after == fault]
        for good, bad in changed_code(site):
            if function.__code__ == good:
                function.__code__ = bad
        assert function(argument) == wrong


def test_compiled_functions_are_told_apart(source):
    code = compile(SOURCE, source, "exec")
    names = [name for name, _ in code_objects(code)]
    assert len(set(names)) == len(names) == 3
    assert isinstance(load(source).bounded, FunctionType)


def test_a_fault_keeps_its_name_when_lines_move(source, tmp_path):
    moved = tmp_path / "moved.py"
    moved.write_text("import math\n" + SOURCE.replace("LIMIT = 3", "LIMIT = 3\n\nMORE = 4"))
    before, after = ([s.fault for s in sites(path)] for path in (source, str(moved)))
    assert [vars(f) | {"file": ""} for f in before] == [vars(f) | {"file": ""} for f in after]


def test_the_list_has_faults_enough_and_a_reason_for_each_that_nothing_finds():
    entries = listed()
    assert len(entries) == len({fault_of(entry) for entry in entries}) >= 200
    assert {entry["outcome"] for entry in entries} <= {"found", "survived"}
    unexplained = [
        str(fault_of(entry))
        for entry in entries
        if entry["outcome"] == "survived" and not entry.get("equivalent", "").strip()
    ]
    assert not unexplained


def test_the_functions_of_the_list_are_there_but_for_a_few_that_changed_since():
    entries = listed()
    paths = {e["file"]: ROOT / e["file"] for e in entries if (ROOT / e["file"]).exists()}
    texts = {file: path.read_text(encoding="utf-8") for file, path in paths.items()}
    gone = [
        f"{e['file']}, {e['function']}"
        for e in entries
        if not re.search(rf"\b{e['function'].split('.')[-1]}\b", texts.get(e["file"], ""))
    ]
    # python tests/tools/mutate.py --only names what is there no more
    assert len(gone) < len(entries) / 20, gone
