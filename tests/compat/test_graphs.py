"""``core.Graph`` and ``framework.IrGraph``: programs as passes of fluid 1.8 see them."""

import importlib

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, UnknownVariableError
from fluidlite.ir.compare import differences

#: the numbers of operators' nodes and of what orders them, as fluid 1.8.5 gives them
OPERATORS_OF_FLUID = [
    0,
    4,
    7,
    9,
    11,
    14,
    17,
    19,
    24,
    26,
    28,
    30,
    32,
    34,
    37,
    40,
    42,
    44,
    47,
    49,
    52,
]
OPERATORS_OF_FLUID += [54, 56]
CONTROLS_OF_FLUID = [
    ("__control_var@58", "elementwise_add"),
    ("__control_var@59", "conv2d"),
    ("__control_var@60", "elementwise_add"),
    ("__control_var@61", "mul"),
]
FP32, TENSOR = fluid.core.VarDesc.VarType.FP32, fluid.core.VarDesc.VarType.LOD_TENSOR


@pytest.fixture(autouse=True)
def served(alias):
    return importlib.import_module("paddle.fluid")


def graph_of(program, **options):
    framework = importlib.import_module("paddle.fluid.framework")
    core = importlib.import_module("paddle.fluid.core")
    return framework.IrGraph(core.Graph(program.desc), **options)


def trained_network():
    x, y = fluid.data("x", [None, 1, 8, 8], "float32"), fluid.data("y", [None, 1], "int64")
    convolved = fluid.layers.conv2d(x, 2, 3, act="relu")
    out = fluid.layers.fc(fluid.layers.pool2d(convolved, 2, "max", 2), 4, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(out, y))
    fluid.optimizer.SGD(0.1).minimize(loss)
    return fluid.default_main_program(), loss


def named(nodes, name):
    (found,) = [node for node in nodes if node.name() == name]
    return found


def test_nodes_have_the_numbers_and_links_of_fluid():
    graph = graph_of(trained_network()[0])
    assert [node.id() for node in graph.topology_sort()] == OPERATORS_OF_FLUID
    controls = sorted((n for n in graph.all_var_nodes() if n.is_ctrl_var()), key=lambda n: n.id())
    assert [(n.name(), n.inputs[0].name()) for n in controls] == CONTROLS_OF_FLUID
    assert all(n.outputs[0].name() == "sgd" and n.var() is None for n in controls)
    assert len(graph.all_nodes()) == 62 and graph.graph_num() == 1 and not graph.has_circle()
    assert len(graph.all_persistable_nodes()) == 9


def test_a_graph_gives_its_program_again_and_leaves_it_alone():
    program, _ = trained_network()
    before = program.to_string(True)
    graph = graph_of(program)
    assert [op.type for op in graph.to_program().global_block().ops] == [
        op.type for op in program.global_block().ops
    ]
    assert not differences(graph.to_program(), graph.clone().to_program())
    graph.safe_remove_nodes(graph.all_op_nodes())
    assert not graph.to_program().global_block().ops
    assert program.to_string(True) == before


def test_a_graph_of_a_trained_network_is_compiled_and_trains():
    program, loss = trained_network()
    compiled = fluid.CompiledProgram(graph_of(program).graph)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    feed = {"x": np.ones([3, 1, 8, 8], "float32"), "y": np.zeros([3, 1], "int64")}
    losses = [executor.run(compiled, feed, [loss])[0].item() for _ in range(3)]
    assert losses[0] > losses[1] > losses[2]


def test_an_operator_is_put_between_two_others():
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.relu(fluid.layers.scale(x, -1.0))
    graph = graph_of(fluid.default_main_program(), for_test=True)
    relu, old = named(graph.all_op_nodes(), "relu"), named(graph.all_var_nodes(), "scale_0.tmp_0")
    new = graph.create_var_node("twice", old.type(), old.shape(), old.dtype())
    op = graph.create_op_node("scale", {"scale": 2.0, "op_role": 0}, {"X": old}, {"Out": [new]})
    graph.link_to(old, op)
    graph.link_to(op, new)
    graph.update_input_link(old, new, relu)
    program = graph.to_program()
    assert [op.type for op in program.global_block().ops] == ["scale", "scale", "relu"]
    assert relu.input("X") == relu.input_arg_names() == ["twice"] and graph.is_test()
    out = fluid.Executor().run(program, {"x": -np.ones([1, 2], "float32")}, [y.name])
    assert out[0].tolist() == [[2.0, 2.0]]
    relu.set_type("tanh")
    relu.set_attr("note", 3)
    renamed = graph.create_persistable_node("out", TENSOR, [-1, 2], FP32)
    graph.update_output_link(relu.outputs[0], renamed, relu)
    assert renamed.persistable() and relu.output("Out") == ["out"]
    last = graph.to_program().global_block().ops[-1]
    assert (last.type, last.attr("note"), last.output("Out")) == ("tanh", 3, ["out"])


def test_blocks_within_stay():
    n = fluid.layers.fill_constant([1], "int64", 0)
    y = fluid.layers.while_loop(lambda n: n < 3, lambda n: [n + 1], [n])[0]
    program = graph_of(fluid.default_main_program()).to_program()
    assert program.num_blocks == fluid.default_main_program().num_blocks
    assert fluid.Executor().run(program, fetch_list=[y.name])[0].tolist() == [3]


def test_nodes_that_do_not_fit_are_refused():
    graph = graph_of(trained_network()[0])
    op, variable = named(graph.all_op_nodes(), "conv2d"), named(graph.all_var_nodes(), "x")
    with pytest.raises(ArgumentError, match="expected a variable, but node 'conv2d'"):
        op.var()
    with pytest.raises(ArgumentError, match="expected an operator, but node 'x'"):
        variable.op()
    with pytest.raises(ArgumentError, match="no node 'nope'"):
        graph._find_node_by_name(graph.all_var_nodes(), "nope")
    other = graph_of(fluid.default_main_program())
    with pytest.raises(ArgumentError, match="is not in the graph"):
        other.link_to(variable, op)
    with pytest.raises(ArgumentError, match="the graph has no node"):
        other.safe_remove_nodes(variable)
    with pytest.raises(ArgumentError, match="expected core.Graph"):
        type(graph)(fluid.default_main_program())


def test_operators_that_need_each_other_are_a_circle():
    x = fluid.data("x", [2], "float32")
    fluid.layers.relu(fluid.layers.scale(x, 2.0))
    graph = graph_of(fluid.default_main_program())
    last = named(graph.all_var_nodes(), "relu_0.tmp_0")
    graph.link_to(last, named(graph.all_op_nodes(), "scale"))
    assert graph.has_circle()
    with pytest.raises(ArgumentError, match="need each other"):
        graph.to_program()
    assert graph.build_adjacency_list()[named(graph.all_op_nodes(), "scale")]


def test_notes_are_kept_until_they_are_erased():
    graph = graph_of(fluid.default_main_program()).graph
    graph.set("a", 3)
    assert graph.has("a") and graph.get_int("a") == 3
    graph.erase("a")
    with pytest.raises(UnknownVariableError, match="nothing was noted"):
        graph.get_bool("a")


def test_a_picture_has_each_node_and_quotes_names(tmp_path, capsys):
    fluid.layers.scale(fluid.data('x"]', [2], "float32"), 2.0)
    graph = graph_of(fluid.default_main_program())
    graph.draw(str(tmp_path / "new"), "a", graph.all_op_nodes())
    text = (tmp_path / "new" / "a.dot").read_text()
    assert "fillcolor=yellow" in text and text.count("->") == 2 and '\\"]' in text
    assert "a.dot" in capsys.readouterr().out
