"""Programs of hostile text: whatever stands in it, generated source is that of a harmless one."""

import ast
import builtins
import re
import xml.etree.ElementTree
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fluidlite as fluid
from fluidlite.backend.native import products
from fluidlite.backend.native import source as c_source
from fluidlite.inspect import graph_text
from fluidlite.inspect.exports import to_dot, to_mermaid
from fluidlite.inspect.html import to_html
from fluidlite.inspect.notebook import html_of
from fluidlite.inspect.picture import to_svg
from fluidlite.inspect.planning import plan_of, stages
from fluidlite.ir.callsite import CallSite
from fluidlite.ir.compare import differences
from fluidlite.ir.operator import Operator
from fluidlite.runtime import bound, compile
from fluidlite.runtime.segment import segments_in

#: beside what Hypothesis makes up: what ends lines, strings, comments and tags somewhere
ATTACKS = (
    "x\r    __import__('os').system('id>PWNED')#",
    "\n    raise SystemExit\n",
    '"); raise SystemExit  #',
    "'); raise SystemExit  #",
    '"""\nraise SystemExit\n"""',
    "\\",
    'a\\"',
    "*/ int x; /*",
    "</script><script>alert(1)</script>",
    "]]>--><b onclick='x'>",
    '"]; } digraph {"',
    "{}{0}{{%s%d",
    "\x85\u2028\u2029\v\f\x1c\x1d\x1e\x1f\0\x7f\x9b\x1b[31m",
    "\udcff\ud800\ufffe\uffff\u202e",
)
#: but two surrogates that are one character in JSON
TEXTS = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.characters(codec=None), min_size=1, max_size=30),
    st.text("\n\r\"'\\#{}()<>&/*;`\u2028\x85\0 ", min_size=1, max_size=12),
).filter(
    lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text)
)  # one character in JSON
MODELS = settings(deadline=None, max_examples=40)


def harmless(text):
    """A text as long, whose letters, digits, dots and so on are the same, and mean the same."""
    return re.sub(r"[^A-Za-z0-9_.@/]", "u", text)


class Model:
    """A program of a small net, all of whose names and places are made of one text."""

    def __init__(self, text, trains=True):
        self.main, self.startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(self.main, self.startup), fluid.unique_name.guard():
            x = fluid.data("x", [None, 3], "float32")
            h = fluid.layers.fc(x, 4, act="relu")
            loss = h
            if trains:
                loss = fluid.layers.reduce_mean(fluid.layers.dropout(h, 0.5))
                fluid.optimizer.Adam(0.1).minimize(loss)
        names = {}
        for program in (self.main, self.startup):
            block = program.global_block()
            for name in list(block.vars):
                new = names.setdefault(name, f"v{len(names)}{text}v")
                block.rename_var(name, new)
            for op in block.ops:
                op.callsite = CallSite(f"{text}/{text}.py", 7)
                op.namescope = f"/{text}/"
        self.x, self.loss = x.name, loss.name

    def run(self, times=4):
        """Run it until it is bound."""
        scope, exe = fluid.Scope(), fluid.Executor()
        exe.run(self.startup, scope=scope)
        feed = {self.x: np.ones([2, 3], "float32")}
        for _ in range(times):
            exe.run(self.main, feed=feed, fetch_list=[self.loss], scope=scope)
        return scope


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


def unusual(text):
    """A model, one of whose operators nobody has defined."""
    made = Model(text)
    block = made.main.global_block()
    attrs = {f"name{text}": f"value{text}", "names": (text, text)}
    slots = {f"X{text}": (made.x,)}, {f"Out{text}": (made.loss,)}
    op = Operator(block, f"type{text}", *slots, attrs, callsite=CallSite(text, 7))
    block.ops.insert(1, op)
    return made.main


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
