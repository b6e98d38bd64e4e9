"""Who reads whose values, and which operator is whose gradient."""

import pytest

import fluidlite as fluid
from fluidlite.errors import ParseError
from fluidlite.inspect.folding import Folding, Group
from fluidlite.inspect.graph import ProgramGraph

from specimens import deep, evil, lenet, loop, parsed
from work import calls_in


def types(graph, numbers):
    return [graph.ops[number].type for number in numbers]


def test_an_operator_reads_the_last_value_of_a_name():
    program = parsed(
        "data x: float32[2]\nvar y: float32[2]\ny = scale(X=x)\ny = relu(X=y)\ny = tanh(X=y)"
    )
    graph = ProgramGraph(program)
    assert [(e.source, e.target) for e in graph.edges] == [(0, 1), (1, 2)]
    assert graph.given == [(0, 0)]
    assert graph.variables[1].writers == [0, 1, 2]


def test_each_gradient_operator_finds_its_forward_operator():
    lenet()
    graph = ProgramGraph(fluid.default_main_program())
    found = {g: f for g, f in graph.forward_of.items() if graph.ops[g].type != "fill_constant"}
    gradients = [n for n, op in enumerate(graph.ops) if op.definition.derived_from]
    assert sorted(found) == gradients and len(set(found.values())) == len(gradients)
    for gradient, forward in found.items():
        assert graph.ops[gradient].definition.derived_from is graph.ops[forward].definition
        assert graph.ops[gradient].callsite == graph.ops[forward].callsite


def test_the_seed_of_the_loss_belongs_to_what_makes_the_loss():
    lenet()
    graph = ProgramGraph(fluid.default_main_program())
    seed = next(n for n, op in enumerate(graph.ops) if op.type == "fill_constant" and op.role & 256)
    assert graph.ops[graph.forward_of[seed]].type == "mean"


def test_a_value_that_was_overwritten_belongs_to_the_operator_before():
    x = fluid.data("x", [2], "float32")
    x.stop_gradient = False
    y = fluid.layers.relu(x)
    z = fluid.layers.relu(y)
    fluid.backward.append_backward(fluid.layers.mean(z))
    graph = ProgramGraph(fluid.default_main_program())
    pairs = {g: f for g, f in graph.forward_of.items() if graph.ops[g].type == "relu_grad"}
    assert [pairs[g] for g in sorted(pairs)] == [1, 0]


def test_a_loop_stands_between_outside_and_its_block():
    loop()
    program = fluid.default_main_program()
    graph = ProgramGraph(program)
    (driver,) = (n for n, op in enumerate(graph.ops) if op.type == "while")
    assert graph.driver_of[1] == driver
    gradient = next(n for n, op in enumerate(graph.ops) if op.type == "while_grad")
    assert graph.forward_of[gradient] == driver
    inside = set(graph.numbers_of(program.blocks[1]))
    assert any(e.target in inside and e.source not in inside for e in graph.edges)


def test_operators_that_nobody_defined_and_names_that_nobody_declared_are_drawn():
    program = parsed(
        "var y: float32[2]\n{Out=y} = strange(X=nowhere, depth=3)\n{Out=z} = strange_grad(X=y)"
    )
    graph = ProgramGraph(program)
    assert types(graph, [e.source for e in graph.edges]) == ["strange"]
    assert Folding(graph).items() == [0, 1]


def test_a_name_holds_one_value_for_each_operator_that_writes_it():
    program = parsed("a = tanh(X=x)\nb = exp(X=a)\na = exp(X=b)\nx = exp(X=a)\nc = exp(X=x)")
    graph, block = ProgramGraph(program), program.global_block()

    def writers(name):
        return [graph.value(block, name, position).writer for position in range(6)]

    assert writers("a") == [None, 0, 0, 2, 2, 2]
    assert writers("b") == [1] * 6  # nothing reads what was there before
    assert writers("x") == [None, None, None, None, 3, 3]
    assert writers("y") == [None] * 6
    assert graph.first_value(block, "x").writer == 3
    assert graph.first_value(block, "y").writer is None


@pytest.mark.parametrize("body", ["", "var x: float32[2]"])
def test_an_empty_program_has_no_items(body):
    assert Folding(ProgramGraph(parsed(body))).items() == []


def test_a_text_with_blocks_that_drive_each_other_makes_no_graph():
    text = """program (seed=0) {
      block 0 {
        var x: float32[1]
        x = scale(X=x)
      }
      block 1 in 0 {
        {Out=x} = strange(X=x, sub_block=block 2)
      }
      block 2 in 0 {
        {Out=x} = strange(X=x, sub_block=block 1)
      }
    }"""
    with pytest.raises(ParseError, match="expected blocks in each other, found block 1"):
        ProgramGraph(fluid.Program.parse(text))


# -- folding ---------------------------------------------------------------------------------------


def test_every_operator_is_in_one_place_of_the_tree():
    lenet()
    for program in (fluid.default_main_program(), deep(5), evil()):
        graph = ProgramGraph(program)
        assert sorted(Folding(graph).root.ops()) == list(range(len(graph.ops)))


def test_layers_that_repeat_are_folded_to_one():
    graph = ProgramGraph(deep(40))
    folding = Folding(graph)
    labels = [item.label for item in folding.items() if isinstance(item, Group)]
    assert "40 × layer" in labels and any("adam" in label for label in labels)
    assert len(folding.items()) < 60


def test_a_layer_is_what_is_called_alike():
    lenet(train=False)
    graph = ProgramGraph(fluid.default_main_program())
    groups = Folding(graph).groups
    layers = {group.label: types(graph, group.ops()) for group in groups if group.kind == "layer"}
    assert layers["fc_0"] == ["mul", "elementwise_add", "tanh"]
    assert layers["conv2d_0"] == ["conv2d", "elementwise_add", "relu"]


def test_no_more_is_seen_at_first_than_was_asked_for():
    graph = ProgramGraph(deep(30))
    for most in (1, 3, 10, 50, 300):
        assert len(Folding(graph, most).items()) <= most


def test_the_operators_of_a_driven_block_stand_inside_the_one_that_drives_it():
    loop()
    graph = ProgramGraph(fluid.default_main_program())
    blocks = [group for group in Folding(graph).groups if group.kind == "block"]
    assert [group.label for group in blocks] == ["while (block 1)", "while_grad (block 2)"]
    assert graph.ops[blocks[0].children[0]].type == "while"


def test_a_block_that_no_operator_drives_is_shown_too():
    program = parsed("var x: float32[2]")
    program.create_block()
    program.current_block().append_op("scale", {"X": "x"}, {"Out": "x"})
    groups = Folding(ProgramGraph(program)).groups
    assert len(groups) == 1  # a group of one is no group
    assert list(groups[0].ops()) == [0]


def test_making_graph_and_groups_takes_work_in_proportion():
    small, large = (
        calls_in(lambda program: Folding(ProgramGraph(program)).groups, deep(layers))
        for layers in (10, 100)
    )
    assert large < 10.5 * small
