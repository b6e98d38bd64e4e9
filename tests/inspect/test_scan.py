"""What ``fluid.inspect.scan`` and ``fluidlite scan`` say of a program, without running it."""

import json

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.inspect import bounds, scan
from fluidlite.ir.analysis import writes_of
from fluidlite.ir.program import copy_operator

PLAIN = """program (seed=0) {
  block 0 {
    data x: float32[-1, 3]
    var y: float32[-1, 3]
    y = relu(X=x)
  }
}"""
DOES = """program (seed=0) {
  block 0 {
    data x: float32[2]
    var y: float32[2]
    save(X=x, file_path="a/b")
    {Out=[y]} = py_func(X=[x], forward_callable_id=3)
    y = c_allreduce_sum(X=x)
    y = print(In=x, first_n=1, message="", summarize=1, print_tensor_name=true, \
print_tensor_type=true, print_tensor_shape=true, print_tensor_lod=true)
  }
  block 1 in 0 {
    {Out=[y]} = load_combine(file_path="c\\u001b")
  }
}"""
UNKNOWN = """program (seed=0) {
  block 0 {
    {Y=y} = flor(X=x)
    {Y=z} = send(X=y)
    {Y=z} = send(X=y)
  }
}"""


def counting(limit=10, step=1.0, compare="less_than"):
    """A program with a loop that counts from 0."""
    made = fluid.Program()
    with fluid.program_guard(made, fluid.Program()):
        i = fluid.layers.fill_constant([1], "int64", 0)
        n = fluid.layers.fill_constant([1], "int64", limit)
        compared = getattr(fluid.layers, compare)
        going = compared(i, n)
        loop = fluid.layers.While(going)
        with loop.block():
            fluid.layers.increment(i, step, in_place=True)
            compared(i, n, cond=going)
    return made


def waiting():
    """A program with a loop that goes on as long as what is fed says."""
    made = fluid.Program()
    with fluid.program_guard(made, fluid.Program()):
        x = fluid.data("x", [1], "float32")
        one = fluid.layers.fill_constant([1], "float32", 1.0)
        going = fluid.layers.less_than(x, one)
        loop = fluid.layers.While(going)
        with loop.block():
            fluid.layers.less_than(x, one, cond=going)
    return made


@pytest.fixture
def file(tmp_path):
    """A function that writes a text to a file and gives its path."""

    def write(text, name="program.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_program_that_computes_has_no_effect_and_the_status_is_0(file, capsys):
    found = scan(fluid.Program.parse(PLAIN))
    assert not found
    assert (found.effects, found.unknown, found.loops, found.nesting) == ((), (), (), 0)
    assert main(["scan", file(PLAIN)]) == 0
    assert "effects: none\nunknown operators: none" in capsys.readouterr().out


def test_effects_are_listed_with_kind_target_and_place():
    found = scan(fluid.Program.parse(DOES))
    assert found
    assert [(e.kind, e.operator, e.target, e.block, e.index, e.refused) for e in found.effects] == [
        ("files", "save", "a/b", 0, 0, True),
        ("python", "py_func", 3, 0, 1, True),
        ("processes", "c_allreduce_sum", None, 0, 2, True),
        ("files", "load_combine", "c\x1b", 1, 0, True),
    ]


def test_an_effect_that_was_allowed_is_listed_as_one_that_may_run():
    found = scan(fluid.Program.parse(DOES).allow("files"))
    assert [e.refused for e in found.effects] == [False, True, True, False]
    assert "save writes 'a/b' (operator 0 of block 0), may run" in str(found)


def test_the_command_lists_effects_escaped_and_ends_with_3(file, capsys):
    assert main(["scan", file(DOES)]) == 3
    out = capsys.readouterr().out
    assert "  files: save writes 'a/b' (operator 0 of block 0)\n" in out
    assert "load_combine reads 'c\\x1b' (operator 0 of block 1)" in out
    assert "\x1b" not in out


def test_all_operators_that_are_not_there_are_listed(file, capsys):
    found = scan(fluid.Program.parse(UNKNOWN))
    assert [(u.type, u.count, u.block, u.index) for u in found.unknown] == [
        ("flor", 1, 0, 0),
        ("send", 2, 0, 1),
    ]
    assert main(["scan", "--json", file(UNKNOWN)]) == 3
    assert [u["type"] for u in json.loads(capsys.readouterr().out)["unknown"]] == ["flor", "send"]


def test_show_summary_and_a_run_name_all_operators_that_are_not_there(file, capsys):
    path = file(UNKNOWN)
    said = "there are no operators 'flor' (did you mean 'floor'?), 'send'"
    for words in (["show", path], ["summary", path]):
        assert main(words) == 0
        assert said in capsys.readouterr().out
    assert main(["summary", "--json", path]) == 0
    assert json.loads(capsys.readouterr().out)["unknown"] == ["flor", "send"]
    assert main(["run", path]) == 1
    assert said in capsys.readouterr().err
    with pytest.raises(fluid.errors.UnknownOperatorError, match="operator 0 of block 0"):
        fluid.Executor().run(fluid.Program.parse(UNKNOWN))


def test_what_show_prints_of_a_program_with_unknown_operators_parses_back(capsys):
    program = fluid.Program.parse(UNKNOWN)
    fluid.inspect.show(program)
    assert str(fluid.Program.parse(capsys.readouterr().out)) == str(program)


def test_an_unknown_operator_that_a_run_does_not_need_is_not_in_its_way():
    text = PLAIN.replace("  }\n}", "    {Y=z} = flor(X=x)\n  }\n}")
    feed = {"x": np.ones([1, 3], "float32")}
    (found,) = fluid.Executor().run(
        fluid.Program.parse(text), feed=feed, fetch_list=["y"], use_prune=True
    )
    assert found.tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    "program, passes",
    [
        (counting(), 10),
        (counting(limit=10, step=4.0), 3),
        (counting(limit=10, compare="less_equal"), 11),
        (counting(limit=-1), 0),
        (counting(limit=10**15), 10**15),
        (counting(step=-1.0), None),
        (counting(step=0.0), None),
        (counting(limit=2**63 - 1, compare="less_equal"), None),
        (waiting(), None),
    ],
)
def test_the_passes_of_a_loop_are_bounded_where_it_counts_between_constants(program, passes):
    (loop,) = scan(program).loops
    assert (loop.operator, loop.body, loop.passes) == ("while", 1, passes)


def test_a_loop_whose_counter_is_written_elsewhere_has_no_known_bound():
    program = counting()
    body = program.block(1)
    body.append_op("assign", {"X": body.ops[0].output("Out")[0]}, {"Out": "fill_constant_0.tmp_0"})
    (loop,) = scan(program).loops
    assert loop.passes is None


def test_a_loop_whose_counter_is_fed_has_no_known_bound():
    program = counting()
    block = program.global_block()
    block.set_ops([op for op in block.ops if op.output_arg_names != ["fill_constant_0.tmp_0"]])
    (loop,) = scan(program).loops
    assert loop.passes is None


def test_the_largest_tensors_and_constants_come_first_whatever_their_size():
    program = fluid.Program()
    with fluid.program_guard(program):
        fluid.layers.fill_constant([3], "int64", 1)
        block = program.global_block()
        block.create_var(name="huge", shape=[2**40, 2**20], dtype="float64")
        block.append_op(
            "fill_constant", {}, {"Out": "huge"}, {"shape": [2**40, 2**20], "dtype": "float64"}
        )
    found = scan(program)
    assert (found.tensors[0].name, found.tensors[0].bytes) == ("huge", 2**63)
    assert (found.constants[0].name, found.constants[0].bytes) == ("huge", 2**63)
    assert found.constants[1].shape == (3,)


def test_nesting_is_how_deep_blocks_lie_in_each_other():
    program = fluid.Program()
    for parent in (0, 1, 0):
        program.add_block(parent)
    assert scan(program).nesting == 2


def test_scan_reads_what_show_reads_and_runs_nothing(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", big=np.zeros([10, 10]), small=np.zeros(1))
    assert main(["scan", "--json", str(tmp_path / "a.npz")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "npz"
    assert [(t["name"], t["bytes"]) for t in found["tensors"]] == [("big", 800), ("small", 8)]


@pytest.mark.parametrize("content", [b"", b"program (seed=0", b"\x0a\xff", b"\x80\x02c"])
def test_a_file_that_cannot_be_read_ends_with_1(content, tmp_path, capsys):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert main(["scan", str(path)]) == 1
    assert capsys.readouterr().err.startswith("fluidlite: ")
    assert main(["scan", str(tmp_path / "nothing")]) == 1


def test_each_operator_is_asked_a_fixed_number_of_times_however_many_loops_there_are(monkeypatch):
    def asked(count):
        program = counting()
        block = program.global_block()
        (loop,) = (op for op in block.ops if op.type == "while")
        block.set_ops([*block.ops, *[copy_operator(loop, block) for _ in range(count)]])
        calls = []
        counted = lambda op: calls.append(op) or writes_of(op)
        monkeypatch.setattr(bounds, "writes_of", counted)
        assert len(scan(program).loops) == count + 1
        return len(calls)

    assert asked(400) - asked(200) == 200


def test_scan_takes_programs_only():
    with pytest.raises(fluid.errors.ArgumentError, match="expected a Program"):
        scan("text")


def test_run_allows_an_effect_that_it_is_told(tmp_path, file, capsys):
    target = tmp_path / "y.bin"
    path = file(DOES.partition("    {Out=[y]} = py_func")[0].replace("a/b", str(target)) + "  }\n}")
    assert main(["run", path, "--feed", "x=ones"]) == 1
    assert "fluidlite run --allow files" in capsys.readouterr().err
    assert not target.exists()
    assert main(["run", path, "--feed", "x=ones", "--allow", "files"]) == 0
    assert target.exists()
    with pytest.raises(SystemExit, match="2"):
        main(["run", path, "--allow", "file"])
