"""Text in generated source, over all of Unicode."""

import ast
import json
import sys
import xml.etree.ElementTree
from html import unescape

import pytest

from fluidlite.ground.quoting import (
    dot_string,
    encodable,
    has_controls,
    json_in_markup,
    markup,
    mermaid_string,
    printable,
    python_comment,
    python_docstring,
    python_string,
    terminal_text,
)

#: all of the first plane, and many of the others
UNICODE = "".join(map(chr, [*range(1 << 16), *range(1 << 16, sys.maxunicode, 257)]))
ENDS = "\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029\0\x1b\x7f\x9b"


def test_a_string_of_python_is_read_back_and_has_no_other_quotes_and_backslashes():
    found = python_string(UNICODE)
    assert found.isascii() and found.isprintable() and found.count('"') == 2
    assert ast.literal_eval(found) == UNICODE
    assert [python_string(c) for c in ('"', "\\", "'", "\udcff")] == [
        r'"\x22"',
        r'"\x5c"',
        '"\'"',
        r'"\udcff"',
    ]


def test_a_comment_of_python_is_one_line():
    tree = ast.parse(f"a = 1  # {python_comment(UNICODE)}\nb = 2\n")
    assert ast.unparse(tree) == "a = 1\nb = 2"
    assert python_comment("a\nraise 1 # é") == r"a\nraise 1 # é"
    assert len(python_comment("x" * 200, 82)) == 82


@pytest.mark.parametrize("text", [UNICODE, '"""', "\\", 'a"', "x\\"])
def test_a_docstring_of_python_ends_where_it_should(text):
    tree = ast.parse(f'"""A {python_docstring(text)}"""\nb = 2\n')
    assert ast.unparse(tree).endswith("\nb = 2") and len(tree.body) == 2


def test_a_string_of_dot_has_no_quote_that_ends_it():
    inner = dot_string(UNICODE)[1:-1]
    assert inner.isprintable()
    assert '"' not in inner.replace("\\\\", "").replace('\\"', "")
    assert not inner.replace("\\\\", "").endswith("\\")
    assert dot_string('a"\\\n&lt;') == r'"a\"\\\n&amp;lt;"'


def test_a_string_of_mermaid_has_letters_and_numbers_only():
    inner = mermaid_string(UNICODE)[1:-1].replace("<br>", "")
    assert all(c.isalnum() or c in " _.,:-#;" for c in inner)
    assert mermaid_string('a"}\n<') == '"a#34;#125;<br>#60;"'


def test_markup_holds_the_same_text_and_no_tag():
    found = xml.etree.ElementTree.fromstring(f"<a b='{markup(ENDS)}'>{markup(UNICODE)}</a>")
    assert len(found) == 0 and list(found.attrib) == ["b"]
    assert found.text == terminal_text(UNICODE) == unescape(markup(UNICODE))
    found.text.encode("utf-8")


def test_json_in_markup_holds_the_same_data_and_no_tag():
    data = {" ".join(UNICODE): ["</script>", "<!--"]}  # apart: two surrogates are one character
    found = json_in_markup(json.dumps(data))
    assert json.loads(found) == data
    assert not {"<", ">", "&"} & set(found)


def test_what_a_terminal_obeys_is_escaped():
    assert terminal_text(UNICODE).replace("\n", "").replace("\t", "").isprintable()
    assert printable("\x1b[31m\r\udcff\u202e") == r"\x1b[31m\r\udcff\u202e"
    assert terminal_text("a\n\tb\r") == "a\n\tb\\r"
    assert printable("名 é") == "名 é"


def test_all_ends_of_lines_and_escapes_are_control_characters():
    assert all(map(has_controls, ENDS))
    assert not any(map(has_controls, ("a b", "é", "\udcff", "名", "\xa0", "C:\\x")))
    assert len((ENDS + "a").splitlines()) > 10  # of which these are all that Python knows
    assert all(has_controls(c) for c in UNICODE if len(f"a{c}b".splitlines()) == 2)


def test_what_an_encoding_lacks_is_escaped():
    assert encodable("é名\udcff", "latin-1") == r"é\u540d\udcff"
    assert encodable("é\udcff", None) == r"é\udcff"
