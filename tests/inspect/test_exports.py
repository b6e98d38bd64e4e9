"""Graphs for other tools."""

import re

import networkx as nx
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.inspect import to_dot, to_mermaid, to_networkx

from specimens import deep, evil, lenet, loop, parsed

MAKERS = [to_dot, to_mermaid, to_networkx]


def main():
    return fluid.default_main_program()


def test_networkx_has_a_node_for_each_operator_and_variable():
    lenet()
    graph = to_networkx(main())
    block = main().global_block()
    kinds = nx.get_node_attributes(graph, "kind")
    assert sum(kind == "operator" for kind in kinds.values()) == len(block.ops)
    assert sum(kind == "variable" for kind in kinds.values()) == len(block.vars)
    node = graph.nodes["op", 0, 0]
    assert node["type"] == "conv2d" and node["role"] == "forward" and node["attrs"]["use_cudnn"]
    assert node["callsite"].rpartition(":")[0].endswith("specimens.py")
    assert graph.nodes["var", 0, "fc_0.w_0"]["is_parameter"]


def test_networkx_edges_say_slots_and_gradients():
    lenet()
    graph = to_networkx(main())
    (data,) = graph.get_edge_data(("var", 0, "image"), ("op", 0, 0)).values()
    assert data == {"kind": "data", "slot": "Input"}
    gradients = [(a, b) for a, b, kind in graph.edges(data="kind") if kind == "gradient"]
    types = {(graph.nodes[a]["type"], graph.nodes[b]["type"]) for a, b in gradients}
    assert ("conv2d", "conv2d_grad") in types
    order = nx.ancestors(graph, ("op", 0, 5))
    assert ("op", 0, 0) in order


def test_dot_has_every_operator_and_clusters_for_blocks():
    loop()
    text = to_dot(main())
    count = sum(len(block.ops) for block in main().blocks)
    assert len(re.findall(r"^ *o\d+ \[", text, re.M)) == count
    assert 'label="while (block 1)"' in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("most", [1, 4, 20, 500])
def test_mermaid_shows_no_more_nodes_than_asked_for(most):
    text = to_mermaid(deep(20), max_nodes=most)
    nodes = re.findall(r"^ +n\d+[\[({]", text, re.M)
    fed = 2
    assert 1 <= len(nodes) <= most + fed


def test_mermaid_marks_roles():
    lenet()
    text = to_mermaid(main())
    for role in ("forward", "backward", "optimize", "data"):
        assert f":::{role}" in text and f"classDef {role} " in text


def test_names_break_out_of_no_language():
    program = evil()
    text = to_mermaid(program)
    labels = re.findall(r'^  n\d+\S*"(.*)"\S*:::', text, re.M)
    assert labels and not any(set(label.replace("<br>", "")) & set('<>"`{}') for label in labels)
    for line in to_dot(program).splitlines():
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert '"' not in bare and "<" not in bare
    assert len(to_networkx(program)) > 5


@pytest.mark.parametrize("make", MAKERS)
def test_empty_programs_are_drawn_and_other_things_refused(make):
    make(fluid.Program())
    make(parsed("var x: float32[2]\n{Out=x} = strange(X=nowhere)"))
    with pytest.raises(ArgumentError, match="expected a Program, got 3 of type int"):
        make(3)


def test_no_nodes_at_all_are_refused():
    with pytest.raises(ArgumentError, match="at least one node, got max_nodes=0"):
        to_mermaid(fluid.Program(), max_nodes=0)
