"""What notebooks and terminals show."""

import html.parser
import io
import re

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.inspect import show
from fluidlite.ir.highlight import spans
from fluidlite.runtime.plan import Plan

from specimens import evil, lenet, loop

ALLOWED = {"div", "b", "span", "details", "summary", "table", "tr", "td", "th", "code", "pre"}
DRAWN = {"svg", "rect", "path", "text"}


def main():
    return fluid.default_main_program()


def tags(text):
    """The tags of a piece of HTML; nothing in it may run, and all of it is closed."""
    found, opened = set(), []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.add(tag)
            assert not any(name.startswith("on") for name, _ in attributes)
            opened.append(tag)

        def handle_startendtag(self, tag, attributes):
            found.add(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(text)
    assert not opened
    return found


def shown_parts(program):
    block = program.global_block()
    return [program, block, *block.ops, *block.vars.values()]


def test_parts_of_a_program_are_html():
    lenet()
    for part in shown_parts(main()):
        assert tags(part._repr_html_()) <= ALLOWED
    text = main()._repr_html_()
    assert "&mdash; backward &mdash;" in text and "conv2d_grad" in text


@pytest.mark.parametrize("build", [lenet, loop])
def test_every_operator_is_listed(build):
    build()
    text = main()._repr_html_()
    for block in main().blocks:
        assert f"block {block.idx}: {len(block.vars)} variables" in text


def test_no_name_is_markup():
    program = evil()
    for part in shown_parts(program):
        assert tags(part._repr_html_()) <= ALLOWED


def test_a_scope_and_a_plan_are_html():
    lenet()
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    scope = fluid.global_scope()
    scope.var("<b>").value = np.zeros([2], "float32")
    scope.var("nothing")
    text = scope._repr_html_()
    assert tags(text) <= ALLOWED
    assert "&lt;b&gt;" in text and "no value" in text and "conv2d_0.w_0" in text
    assert tags(Plan(main(), [])._repr_html_()) <= ALLOWED | DRAWN


def test_a_long_block_is_cut():
    block = main().global_block()
    block.create_var(name="x", shape=[1], dtype="float32", is_data=True)
    for _ in range(1000):
        block.append_op("scale", {"X": "x"}, {"Out": "x"})
    assert "... and 940 more" in block._repr_html_()


# -- terminals -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_file_gets_the_plain_text():
    lenet()
    file = io.StringIO()
    show(main(), file)
    assert file.getvalue() == str(main())
    file = io.StringIO()
    show(main(), file, detail=True)
    assert file.getvalue() == main().to_string(with_details=True)


def test_a_terminal_gets_colours_that_change_no_letter(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    lenet()
    file = Terminal()
    show(main(), file)
    text = file.getvalue()
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert plain.rstrip("\n") == str(main()).rstrip("\n")


def test_what_has_a_colour_is_found():
    text = 'y = scale(X=x, scale=2.0, name="a # b")  # train.py:3'
    found = {(kind, text[a:b]) for kind, a, b in spans(text)}
    assert found == {
        ("call", "scale"),
        ("number", "2.0"),
        ("string", '"a # b"'),
        ("comment", "# train.py:3"),
    }


def test_what_is_shown_of_a_program_stays_small():
    block = main().global_block()
    for k in range(2000):
        block.create_var(name=f"a_rather_long_name_{k}", shape=[1], dtype="float32", is_data=True)
        block.append_op("scale", {"X": f"a_rather_long_name_{k}"}, {"Out": "a_rather_long_name_0"})
    block.create_var(name="s", shape=[1], dtype="float32")
    for _ in range(20):
        main().create_block(0)
        main().current_block().append_op(
            "sum", {"X": [f"a_rather_long_name_{k}" for k in range(500)]}, {"Out": "s"}
        )
        main().leave_block()
    text = main()._repr_html_()
    assert len(text) < 100_000
    assert "Page(program)" in text and text.count("... and 1 more") == 20
