"""Programs as networkx graphs: bottlenecks, critical paths, cuts of gradients, repeated layers."""

import networkx as nx
import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import inspect
from fluidlite.errors import ArgumentError, UnknownVariableError


def main():
    return fluid.default_main_program()


def perceptron(layers=3):
    h = fluid.data("x", [2, 4])
    for _ in range(layers):
        h = fluid.layers.fc(h, 4, act="relu")
    return fluid.layers.mean(h)


def test_a_name_that_is_written_twice_is_two_values():
    x = fluid.layers.fill_constant([1], "float32", 1.0)
    fluid.layers.increment(x)
    graph = main().graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert list(nx.topological_sort(graph)) == [("op", 0), (x.name, 1), ("op", 1), (x.name, 2)]
    assert graph.nodes[x.name, 2]["variable"] is x and graph.nodes["op", 1]["type"] == "increment"


def test_an_operator_reads_what_its_block_reads():
    x, y = fluid.data("x", [1]), fluid.data("y", [1])
    fluid.layers.cond(x > 0.0, lambda: y + 1.0, lambda: y)
    drivers = [n for n in main().graph().successors(("y", 0)) if n[0] == "op"]
    assert drivers
    assert len(main().graph(1)) >= 3
    with pytest.raises(ArgumentError, match="expected a block from 0 to"):
        main().graph(100)


def test_dominators_are_where_a_program_can_be_cut():
    loss = perceptron(2)
    names = [v.name for v in inspect.dominators(main(), loss)]
    assert names[-1] == "fc_1.tmp_2" and "fc_0.tmp_2" in names
    with pytest.raises(ArgumentError, match="'mean_0.tmp_0' does not depend on"):
        inspect.dominators(main(), loss, sources=[])
    with pytest.raises(UnknownVariableError, match="variable 'los'"):
        inspect.dominators(main(), "los")


def test_dominators_pass_by_a_residual():
    x = fluid.data("x", [2, 4])
    y = fluid.layers.relu(x)
    z = fluid.layers.tanh(y) + y
    assert [v.name for v in inspect.dominators(main(), fluid.layers.exp(z))] == [y.name, z.name]


def test_the_critical_path_is_the_longest_way():
    x = fluid.data("x", [2])
    a = fluid.layers.exp(fluid.layers.exp(x))
    fluid.layers.relu(x) + a
    ops = main().global_block().ops
    times = dict(zip(ops, (1.0, 1.0, 5.0, 1.0)))
    path = inspect.critical_path(main(), times)
    assert [op.type for op, _ in path.operators] == ["relu", "elementwise_add"]
    assert (path.seconds, path.total) == (6.0, 8.0)
    assert "75% of the time are left" in str(path)


def test_a_cut_of_gradients_stops_those_and_no_others():
    loss = perceptron(3)
    cut = inspect.gradient_cut(main(), loss, ["fc_0.w_0", "fc_0.b_0"])
    assert len(cut) == 1
    for variable in cut:
        variable.stop_gradient = True
    got = {p.name for p, _ in fluid.append_backward(loss)}
    assert got == {"fc_1.w_0", "fc_1.b_0", "fc_2.w_0", "fc_2.b_0"}


def test_a_cut_that_cannot_be_is_refused():
    x = fluid.data("x", [2, 4])
    w = fluid.layers.create_parameter([4, 4], "float32", name="w")
    v = fluid.layers.create_parameter([4, 4], "float32", name="v")
    loss = fluid.layers.mean(fluid.layers.matmul(x, fluid.layers.matmul(w, v)))
    with pytest.raises(ArgumentError, match="no variable on the way stops the gradients of 'w'"):
        inspect.gradient_cut(main(), loss, ["w"])
    assert inspect.gradient_cut(main(), loss, ["w", "v"])
    assert inspect.gradient_cut(main(), loss, ["x"]) == []


def test_layers_that_repeat_are_found():
    perceptron(6)
    (layers,) = inspect.repeated_layers(main())
    assert len(layers.times) == 6 and str(layers) == "6 times mul, elementwise_add, relu"


def twin(order=True, act="relu", prefix=""):
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()), fluid.unique_name.guard(prefix):
        x = fluid.data(prefix + "x", [2, 4])
        branches = [lambda: fluid.layers.fc(x, 4, act=act), lambda: fluid.layers.exp(x)]
        first, second = (b() for b in (branches if order else branches[::-1]))
        a, b = (first, second) if order else (second, first)
        fluid.layers.elementwise_sub(a, b)
    return program


def test_programs_correspond_without_names_and_order():
    same = inspect.correspondence(twin(), twin(order=False, prefix="other/"))
    assert (
        same and same.names["x"] == "other/x" and same.names["fc_0.w_0"] == "other/other/fc_0.w_0"
    )
    assert "fc_0.w_0 is other/other/fc_0.w_0" in str(same)


def test_programs_that_differ_say_in_what():
    other = inspect.correspondence(twin(), twin(act="tanh"))
    assert not other
    assert "only in the first: operator 2: relu" in str(other)
    assert "only in the second: operator 2: tanh" in str(other)


def test_operands_that_are_exchanged_are_no_correspondence():
    a = fluid.Program.parse(SUBTRACTION.format("x", "y"))
    assert inspect.correspondence(a, fluid.Program.parse(SUBTRACTION.format("y", "x")))
    other = SUBTRACTION.replace("y: float32[2]", "y: float32[1]")
    a, b = (fluid.Program.parse(other.format(*names)) for names in ("xy", "yx"))
    assert not inspect.correspondence(a, b)


SUBTRACTION = """
program (seed=0) {{
  block 0 {{
    data x: float32[2]
    data y: float32[2]
    var  z: float32[2]

    z = elementwise_sub(X={}, Y={})
  }}
}}
"""


def test_large_programs_are_compared_and_cut_in_time_that_grows_with_them():
    h = fluid.data("x", [2, 4])
    for _ in range(400):
        h = fluid.layers.relu(fluid.layers.scale(h, 2.0)) + h
    program = main()
    assert inspect.correspondence(program, program.clone()).names[h.name] == h.name
    assert len(inspect.dominators(program, h)) == 399
    np.testing.assert_equal(len(program.graph()), 3 * 400 * 2 + 1)


def test_a_cut_of_one_parameter_needs_no_list():
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [2, 4]), 1, param_attr="weight"))
    program = fluid.default_main_program()
    cut = inspect.gradient_cut(program, loss, "weight", kept=())
    assert cut
    assert cut == inspect.gradient_cut(program, loss, ["weight"], kept=[])
