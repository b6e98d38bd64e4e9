"""The page of a program: what it holds, and that nothing of a program runs in it."""

import html.parser
import json
import re

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.ground.callsite import CallSite
from fluidlite.inspect import Page, to_html
from fluidlite.inspect.html import source_line

from specimens import EVIL, deep, evil, lenet, lenet_feed, loop
from work import calls_in


class Reader(html.parser.HTMLParser):
    """What a browser makes of a page: tags, and the texts of scripts."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self._inside = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = dict(attributes) if tag == "script" else None

    def handle_data(self, data):
        if self._inside is not None:
            self.scripts.append((self._inside, data))
            self._inside = None


def held(page):
    """The program that a page holds."""
    return json.loads(next(t for a, t in Reader(page).scripts if a.get("id") == "program"))


def test_the_page_holds_operators_variables_and_where_they_come_from():
    lenet()
    data = held(to_html(fluid.default_main_program()))
    program = fluid.default_main_program()
    assert [op["t"] for op in data["ops"]] == [op.type for op in program.global_block().ops]
    assert [v["n"] for v in data["vars"]] == list(program.global_block().vars)
    first = data["ops"][0]
    assert first["t"] == "conv2d" and first["c"].endswith(".py:" + first["c"].rpartition(":")[2])
    assert "simple_img_conv_pool" in first["l"] or "fluid." in first["l"]
    assert data["docs"]["relu"].startswith("X where it is positive")
    gradient = next(op for op in data["ops"] if op["t"] == "conv2d_grad")
    assert data["ops"][gradient["f"]]["t"] == "conv2d"


def test_the_page_needs_nothing_from_outside():
    lenet()
    page = to_html(fluid.default_main_program())
    for tag, attributes in Reader(page).tags:
        assert not {"src", "href"} & attributes.keys(), tag
    policy = next(a["content"] for t, a in Reader(page).tags if "http-equiv" in a)
    assert "default-src 'none'" in policy and "unsafe" not in policy


@pytest.mark.parametrize("title", ["", *EVIL])
def test_names_are_text_wherever_they_stand(title, tmp_path):
    ordinary = Reader(to_html(fluid.Program())).tags
    path = tmp_path / "evil.html"
    page = to_html(evil(), path, title=title)
    assert [tag for tag, _ in Reader(page).tags] == [tag for tag, _ in ordinary]
    assert not any(key.startswith("on") for _, a in Reader(page).tags for key in a)
    raw = re.search(r'id="program">(.*?)</script>', page, re.S)[1]
    assert not set("<>&") & set(raw)
    assert [v["n"] for v in json.loads(raw)["vars"]] == EVIL
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_source_line_of_a_program_file_is_not_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret\n")
    lenet(train=False)
    op = fluid.default_main_program().global_block().ops[0]
    op.callsite = CallSite(str(secret), 1, ("File x",))
    assert source_line(op) == ""
    assert "the secret" not in to_html(fluid.default_main_program())


def test_a_traced_run_is_shown_with_its_values():
    lenet()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    program = fluid.default_main_program()
    data = held(to_html(program, trace=exe.trace(program, lenet_feed())))
    steps = data["steps"]
    assert steps["at"] == len(steps["ran"]) == len(program.global_block().ops)
    written = [pair for _, results in steps["ran"] for pair in results]
    values = {data["vars"][n]["n"]: value for n, value in [*steps["given"], *written]}
    assert values["conv2d_0.tmp_0"]["shape"] == [6, 4, 12, 12]
    assert values["conv2d_0.tmp_0"]["image"][:2] == [12, 12]
    assert sum(values["fc_0.tmp_0"]["histogram"]) == 6 * 20
    assert values["label"]["max"] <= 9


def test_a_long_run_is_shown_from_its_last_steps_on(monkeypatch):
    monkeypatch.setattr("fluidlite.inspect.html._MOST_STEPS", 2)
    x = fluid.data("x", [1], "float32")
    for _ in range(4):
        fluid.layers.increment(x)
    program = fluid.default_main_program()
    trace = fluid.Executor().trace(program, {"x": np.zeros(1, "float32")})
    steps = held(to_html(program, trace=trace))["steps"]
    assert steps["before"] == 2 and [op for op, _ in steps["ran"]] == [2, 3]
    assert [value["max"] for _, value in steps["given"]] == [2.0]
    assert [results[0][1]["max"] for _, results in steps["ran"]] == [3.0, 4.0]
    assert held(to_html(program, trace=trace, step=1))["steps"]["at"] == 0
    assert held(to_html(program, trace=trace, step=3))["steps"]["at"] == 1
    with pytest.raises(ArgumentError, match="a step from 0 to 4, .* got 5"):
        to_html(program, trace=trace, step=5)
    with pytest.raises(ArgumentError, match="a step from 0 to 0"):
        to_html(program, step=1)


def test_the_trace_of_another_program_is_refused():
    x = fluid.data("x", [1], "float32")
    fluid.layers.relu(x)
    trace = fluid.Executor().trace(feed={"x": np.ones(1, "float32")})
    with pytest.raises(ArgumentError, match="of another program"):
        to_html(fluid.Program(), trace=trace)


def test_what_is_no_program_is_refused():
    with pytest.raises(ArgumentError, match="expected a Program to draw, got 'x' of type str"):
        to_html("x")


def test_loops_and_empty_programs_become_pages():
    loop()
    data = held(to_html(fluid.default_main_program()))
    assert [g[0] for g in data["groups"] if g[1] == "block"] == [
        "while (block 1)",
        "while_grad (block 2)",
    ]
    assert held(to_html(fluid.Program()))["ops"] == []


def test_a_page_takes_work_in_proportion_to_the_operators(tmp_path):
    small, large = (calls_in(to_html, deep(layers), tmp_path / "page.html") for layers in (10, 100))
    assert large < 10.5 * small


def test_a_notebook_shows_the_page_in_a_frame():
    text = Page(evil())._repr_html_()
    ((tag, attributes),) = Reader(text).tags
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"].startswith("<!DOCTYPE html>")
