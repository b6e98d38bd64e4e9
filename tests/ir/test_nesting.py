"""Blocks that cannot be gone through: refused before anything goes down into them."""

import pytest

import fluidlite as fluid
from fluidlite.command_line.cli import main
from fluidlite.errors import FileFormatError, ParseError, VerifyError
from fluidlite.ir.nesting import DEEPEST, TIMES, nesting_fault
from fluidlite.ir.operator import Operator
from fluidlite.opdef.attribute import BlockRef
from fluidlite.opdef.definition import find, registered

from work import calls_in

#: the operators that drive blocks -> the attributes that say which
DRIVERS = {each.type: each.block_attributes for each in registered() if each.block_attributes}
#: pairs of a block, and of one that an operator in it drives
WRONG = {
    "its own block": [(0, 1), (1, 1)],
    "the global block itself": [(0, 0)],
    "the block around it": [(0, 1), (1, 2), (2, 1)],
    "a circle": [(0, 1), (1, 2), (2, 0)],
    "a circle that nothing drives": [(1, 2), (2, 1)],
}


def driving(edges, type="while", attributes=("sub_block",)):
    """A program whose operators drive blocks; each of these lies in the one before."""
    program = fluid.Program()
    for number in range(max(max(pair) for pair in edges)):
        program.create_block(number)
    program.current_block_idx = 0
    outer = program.global_block()
    outer.create_var(name="x", shape=[1], dtype="bool", persistable=True)
    outer.append_op("assign", {"X": "x"}, {"Out": "x"})
    known = find(type)
    slots = [] if known is None else [known.input_slots, known.output_slots]
    inputs, outputs = [dict.fromkeys(side, ("x",)) for side in slots] or [{}, {}]
    for number, inner in edges:
        block = program.blocks[number]
        values = {name: BlockRef(inner) for name in attributes}
        if type.startswith("recurrent"):
            values |= {"ex_states": ("x",), "states": ("x",)}
        block.take_op(Operator(block, type, dict(inputs), dict(outputs), values))
    return program


def wrong_ones():
    for name, edges in WRONG.items():
        yield pytest.param(edges, "while", ("sub_block",), id=name)
    for type, attributes in DRIVERS.items():
        yield pytest.param(WRONG["its own block"], type, attributes, id=type)


@pytest.mark.parametrize("edges, type, attributes", [*wrong_ones()])
def test_a_file_whose_blocks_drive_each_other_in_a_circle_is_refused(edges, type, attributes):
    program = driving(edges, type, attributes)
    message = r"found block \d is driven by an operator that lies in it"
    with pytest.raises(FileFormatError, match=message):
        fluid.Program.parse_from_string(program.to_bytes())
    with pytest.raises(ParseError, match=message):
        fluid.Program.parse(str(program))


@pytest.mark.parametrize("edges", WRONG.values(), ids=list(WRONG))
def test_such_a_program_that_is_built_is_neither_run_nor_differentiated(edges):
    program = driving(edges)
    with pytest.raises(VerifyError, match="is driven by an operator that lies in it"):
        fluid.Executor().run(program)
    with fluid.program_guard(program):
        loss = fluid.layers.mean(fluid.layers.create_parameter([2], "float32"))
        before = str(program)
        with pytest.raises(VerifyError, match="is driven by an operator that lies in it"):
            fluid.append_backward(loss)
    assert str(program) == before


@pytest.mark.parametrize(
    "words",
    ["show {}", "summary {}", "run {}", "plan {}", "draw {} -o net.html", "draw {} -o net.dot"],
)
@pytest.mark.parametrize("ending", ["txt", "pdmodel"])
def test_the_command_says_it_in_a_line(words, ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program = driving(WRONG["its own block"])
    data = program.to_bytes() if ending == "pdmodel" else str(program).encode()
    (tmp_path / f"bad.{ending}").write_bytes(data)
    assert main(words.format(f"bad.{ending}").split()) == 1
    said = capsys.readouterr().err
    assert "block 1 is driven by an operator that lies in it" in said and said.count("\n") == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_block_that_is_not_there_is_refused():
    program = driving([(0, 1)])
    loop = program.blocks[0].ops[1]
    loop.attrs["sub_block"] = BlockRef(7)
    with pytest.raises(VerifyError, match="while drives block 7, which is missing"):
        fluid.Executor().run(program)


@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1), (1, 1)], [(0, 1), (1, 0)]])
def test_an_operator_that_nobody_knows_may_name_blocks_that_it_lies_in(edges, capsys):
    program = driving(edges, "unheard_of")
    again = fluid.Program.parse_from_string(program.to_bytes())
    assert again.to_bytes() == program.to_bytes()
    assert fluid.Program.parse(str(program)).num_blocks == program.num_blocks
    fluid.inspect.show(again)
    assert "unheard_of" in fluid.inspect.to_html(again)
    assert "unheard_of" in fluid.inspect.to_dot(again)
    assert "unheard_of" in str(fluid.inspect.summary(again))


def test_operators_that_nobody_knows_drive_each_other_in_no_circle():
    program = driving([(0, 1), (0, 2)], "unheard_of")
    program.blocks[2].parent_idx = 0
    for number, inner in ((1, 2), (2, 1)):
        block = program.blocks[number]
        block.take_op(Operator(block, "unheard_of", {}, {}, {"sub_block": BlockRef(inner)}))
    with pytest.raises(FileFormatError, match="is driven by an operator that lies in it"):
        fluid.Program.parse_from_string(program.to_bytes())


def test_blocks_lie_in_each_other_only_so_deep():
    chain = [(number, number + 1) for number in range(DEEPEST)]
    assert nesting_fault(driving(chain[:-1])) is None
    assert f"more than {DEEPEST} blocks in each other" in nesting_fault(driving(chain))
    with pytest.raises(FileFormatError, match="blocks in each other, from block"):
        fluid.Program.parse_from_string(driving(chain).to_bytes())


def test_blocks_that_operators_share_are_gone_through_only_so_often():
    doubled = [(number, number + 1) for number in range(60) for _ in range(2)]
    shared = driving(doubled)
    assert f"more than {TIMES * 61} from block" in nesting_fault(shared)
    assert calls_in(nesting_fault, shared) < 5_000
    assert nesting_fault(driving(doubled[:4])) is None


def test_the_work_is_linear_in_the_blocks():
    def calls(count):
        return calls_in(nesting_fault, driving([(0, number) for number in range(1, count)]))

    assert calls(400) < 2.2 * calls(200)
