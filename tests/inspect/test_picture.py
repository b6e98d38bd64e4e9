"""Pictures in files."""

import re
import xml.etree.ElementTree as ET

import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.inspect import draw, to_svg
from fluidlite.inspect.graph import ProgramGraph
from fluidlite.inspect.layout import Placing
from fluidlite.inspect.scene import Scene

from specimens import deep, evil, lenet, loop, parsed

SVG = "{http://www.w3.org/2000/svg}"


def main():
    return fluid.default_main_program()


def texts(svg):
    return [each.text for each in ET.fromstring(svg).iter(SVG + "text")]


def test_the_picture_names_operators_shapes_and_parameters():
    lenet()
    shown = texts(to_svg(main()))
    assert "conv2d" in shown and "conv2d_grad" in shown
    assert "→ conv2d_0.tmp_0 [-1, 4, 12, 12]" in shown
    assert "Filter conv2d_0.w_0 [4, 1, 5, 5]" in shown
    assert "6 × momentum" in shown


def test_no_boxes_lie_on_each_other():
    lenet()
    programs = [main(), deep(6), evil()]
    loop()
    for program in [*programs, main()]:
        boxes = Placing(Scene(ProgramGraph(program))).boxes
        for k, a in enumerate(boxes):
            for b in boxes[:k]:
                beside = abs(a.x - b.x) >= (a.width + b.width) / 2 - 1e-6
                above = a.y + a.height <= b.y or b.y + b.height <= a.y
                assert beside or above, (a, b)


def test_forward_runs_down_and_backward_up():
    lenet()
    placing = Placing(Scene(ProgramGraph(main())))
    for link in placing.links:
        a, b = placing.boxes[link.source], placing.boxes[link.target]
        if link.kind == "back":
            assert a.y > b.y
        elif a.node.role == b.node.role == "forward":
            assert a.y < b.y


def test_roles_differ_in_shape_and_not_in_colour_alone():
    lenet()
    svg = to_svg(main())
    assert "<polygon" in svg and 'rx="14"' in svg and 'rx="4"' in svg


@pytest.mark.parametrize("name", ["net.svg", "net.SVG", "net.png"])
def test_files_are_written(tmp_path, name):
    if name.endswith("png"):
        pytest.importorskip("matplotlib")
    lenet()
    draw(main(), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert data.startswith((b"<svg", b"\x89PNG"))


def test_names_are_text_in_a_picture(tmp_path):
    draw(evil(), tmp_path / "evil.svg")
    root = ET.parse(tmp_path / "evil.svg").getroot()
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "defs", "marker", "path", "rect", "text", "polygon")
    }
    assert not re.search(r"\son\w+=", ET.tostring(root, encoding="unicode").split("<text")[0])
    pytest.importorskip("matplotlib")
    draw(evil(), tmp_path / "evil.png")


def test_a_large_program_is_folded():
    svg = to_svg(deep(60), max_nodes=40)
    assert svg.count("<text") < 120 and "60 × layer" in texts(svg)


def test_empty_and_broken_programs_are_drawn():
    assert texts(to_svg(fluid.Program())) == []
    assert "strange" in texts(to_svg(parsed("{Out=x} = strange(X=nowhere)")))


def test_other_endings_and_other_things_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"in .svg, .png, .html, .dot or .mmd, got '.*net.gif'"):
        draw(fluid.Program(), tmp_path / "net.gif")
    with pytest.raises(ArgumentError, match="expected a Program to draw"):
        draw([], "net.svg")
    with pytest.raises(ArgumentError, match="max_nodes=0"):
        draw(fluid.Program(), "net.svg", max_nodes=0)


@pytest.mark.parametrize(
    "ending, start",
    [("html", "<!DOCTYPE html>"), ("dot", "digraph"), ("mmd", "flowchart"), ("svg", "<svg")],
)
def test_the_ending_of_a_file_says_what_is_drawn(tmp_path, ending, start):
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    path = tmp_path / f"net.{ending}"
    fluid.inspect.draw(program, path)
    text = path.read_text(encoding="utf-8")
    assert start in text[:200]
    assert "fc_0" in text
