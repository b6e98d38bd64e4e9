"""Programs of hostile text: whatever stands in it, generated source is that of a harmless one."""

import ast
import builtins
import re
import xml.etree.ElementTree
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from hostile_text import MODELS, TEXTS, Model, harmless, unusual
from hypothesis import assume, given, settings

import fluidlite as fluid
from fluidlite.backend.native import products
from fluidlite.backend.native import source as c_source
from fluidlite.ground.callsite import CallSite
from fluidlite.inspect import graph_text
from fluidlite.inspect.exports import to_dot, to_mermaid
from fluidlite.inspect.html import to_html
from fluidlite.inspect.notebook import html_of
from fluidlite.inspect.picture import to_svg
from fluidlite.inspect.planning import plan_of, stages
from fluidlite.ir.compare import differences
from fluidlite.runtime import bound, compile
from fluidlite.runtime.segment import segments_in


def alike(*sources):
    """Whether sources of Python have one syntax tree, names and strings numbered as they come."""
    trees = []
    for source in sources:
        tree = ast.parse(source)
        names, texts = {}, {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = texts.setdefault(node.value, len(texts))
            elif isinstance(node, ast.Name):
                node.id = names.setdefault(node.id, f"n{len(names)}")
            elif isinstance(node, ast.arg):
                node.arg = names.setdefault(node.arg, f"n{len(names)}")
        trees.append(ast.dump(tree))
    return len(set(trees)) == 1


def calls(source):
    """How often a source calls functions and methods of which names."""
    nodes = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return Counter(getattr(node, "attr", None) or node.id for node in nodes)


# -- what runs -------------------------------------------------------------------------------------


def generated(monkeypatch, text):
    """All Python and all C that is generated and run for a model."""
    found = {"Python": [], "C": []}

    def compiled(source, *more, **named):
        found["Python"].append(source)
        return builtins.compile(source, *more, **named)

    def named(lines, *more):
        found["C"].append("\n".join(lines))
        return into_kernel(lines, *more)

    into_kernel = c_source.named
    with monkeypatch.context() as patch:
        patch.setattr(bound, "compile", compiled, raising=False)
        patch.setattr(compile, "compile", compiled, raising=False)
        for module in (c_source, products):
            patch.setattr(module, "named", named)
        Model(text).run()
    return found


def test_hostile_text_changes_no_source_that_runs(monkeypatch):
    @MODELS
    @given(TEXTS)
    def holds(text):
        found, usual = (generated(monkeypatch, each) for each in (text, harmless(text)))
        assert len(usual["Python"]) >= 2  # a plan, and a bound call
        assert len(found["Python"]) == len(usual["Python"])
        assert all(map(alike, found["Python"], usual["Python"]))
        assert found["C"] == usual["C"]

    holds()


def test_a_saved_model_does_not_run_its_authors_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = Model("", trains=False)
    (op, *_) = given.main.global_block().ops
    stack = "  File \"x\r    __import__('os').system('id>PWNED')#\", line 7"
    op.callsite = CallSite("x", 7, (stack,))  # as it was read
    for program in (given.main, fluid.Program.parse_from_string(given.main.to_bytes())):
        given.main = program
        given.run()
        assert not (tmp_path / "PWNED").exists()
    assert program.global_block().ops[0].callsite is None
    # what no file says, a script's own path may
    op.callsite = CallSite("x\r    __import__('os').system('id>PWNED')#", 7)
    given.main = op.block.program
    given.run()
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("trains", [False, True])
def test_hostile_text_changes_no_written_source(tmp_path, trains):
    def written(text):
        given = Model(text, trains)
        path = tmp_path / "m.py"
        scope, feeds = given.run(1), {given.x: [2, 3]}
        fluid.export.numpy_source(given.main, path, scope, feeds, [given.loss])
        source = path.read_text(encoding="utf-8")
        space = {"__file__": str(path), "__name__": "m"}
        exec(builtins.compile(source, str(path), "exec"), space)
        function = space.get("train_step") or space["predict"]
        (found,) = [*function(space["load"](), np.ones([2, 3], "float32"))][:1]
        assert list(found if trains else [found]) == [given.loss]
        return source

    @settings(MODELS, max_examples=15)
    @given(TEXTS)
    def holds(text):
        assume("@" not in text and ".tmp_" not in text)  # names that layers make up are left out
        found, usual = written(text), written(harmless(text))
        assert calls(found) == calls(usual)
        assert trains or alike(found, usual)  # else lines that are too long become several

    holds()


# -- what is shown ---------------------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *attrs))

    def handle_endtag(self, tag):
        self.tags.append(("/", tag))

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.tags.append(("comment", data))

    handle_decl = handle_pi = unknown_decl = handle_comment


@MODELS
@given(TEXTS)
def test_a_page_has_no_other_tags(text):
    usual, found = (Tags(to_html(unusual(each), title=each)) for each in (harmless(text), text))
    assert found.tags == usual.tags
    assert len([each for each in found.text if each.startswith('{"ops":')]) == 1


@MODELS
@given(TEXTS)
def test_a_picture_has_no_other_elements(text):
    def elements(each):
        root = xml.etree.ElementTree.fromstring(to_svg(unusual(each)))
        return [(element.tag, *element.attrib) for element in root.iter()]

    assert elements(text) == elements(harmless(text))


@MODELS
@given(TEXTS)
def test_a_notebook_gets_known_tags_only(text):
    program = unusual(text)
    op = program.global_block().ops[1]
    for shown in (program, op, program.global_block(), next(iter(program.list_vars()))):
        tags = Tags(html_of(shown)).tags
        names = {tag[0] for tag in tags} - {"/"}
        assert names <= {"b", "code", "details", "div", "span", "summary"}
        assert {name for tag in tags if tag[0] != "/" for name, _ in tag[1:]} <= {"open", "style"}


DOT_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|->|[{}\[\]=;,]|[A-Za-z_]\w*|\d+|\s+')


@MODELS
@given(TEXTS)
def test_dot_has_no_other_tokens(text):
    def tokens(each):
        source = to_dot(unusual(each))
        assert all(line.isprintable() for line in source.split("\n"))
        found, at = [], 0
        while at < len(source):
            token = DOT_TOKENS.match(source, at)
            at = token.end()
            found.append('""' if token[0][0] == '"' else token[0])
        return "".join(found)

    assert tokens(text) == tokens(harmless(text))


@MODELS
@given(TEXTS)
def test_mermaid_has_no_other_lines(text):
    def lines(each):
        return [re.sub(r'"[\w .,:\-#;<>]*"', '""', line) for line in source(each).split("\n")]

    def source(each):
        return to_mermaid(unusual(each))

    assert lines(text) == lines(harmless(text))
    assert set(re.findall("<.*?>", source(text))) <= {"<br>"}


@MODELS
@given(TEXTS)
def test_the_text_of_a_program_is_read_back(text):
    program = unusual(text)
    for detail in (False, True):
        shown = program.to_string(with_details=detail)
        assert all(line.isprintable() for line in shown.split("\n"))
        assert not differences(program, fluid.Program.parse(shown))


@settings(MODELS, max_examples=10)
@given(TEXTS)
def test_the_text_of_a_graph_is_read_back(text):
    given = Model(text, trains=False)
    plan = plan_of(given.main, given.run(1), fetches=[given.loss])
    (segment,) = [each.last for each in segments_in(plan.items)]
    shown = graph_text.printed(segment.graph)
    assert all(line.isprintable() for line in shown.split("\n"))
    first = stages([segment])[0]
    assert graph_text.printed(graph_text.parsed(first.text)) == without_comments(first.text)


def without_comments(text):
    return re.sub("  # .*", "", text)
