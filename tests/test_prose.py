"""The texts for users are plain English: short sentences, and no phrase of the word list."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: pages that are derived, or for those who work on the package
INSIDE = {
    "coverage.md", "rule-functions.md", "design.md", "passes.md", "life-of-a-run.md",
    "performance.md", "performance-amx.md",
}  # fmt: skip
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
WORDS = 35  # the most in a sentence


def paragraphs(text):
    """The running text of a page: no code, tables, headings or quotations."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "\n\n", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line if not re.match(r"\s*(\||#|>)", line) else "" for line in text.splitlines()]
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.)\s)", "\n".join(lines))
    return [" ".join(part.split()) for part in parts if part.strip()]


def sentences(text):
    """The sentences of a page; a piece of code and a link count as a word."""
    for part in paragraphs(text):
        plain = re.sub(r"`[^`]*`", "code", part)
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        yield from re.split(r"(?<=[.!?:])[\s*]+(?=[A-Z(]|code)", plain)


def listed_names(sentence):
    """Whether a sentence is mostly a list of names, which nobody reads as one."""
    return sentence.count(",") > len(sentence.split()) / 4


def banned():
    """The phrases of the word list in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| do not write |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    return [phrase.strip() for row in rows for phrase in row.split(",")]


@pytest.mark.parametrize("page", [each for each in PAGES if each.name not in INSIDE], ids=str)
def test_no_sentence_of_a_guide_is_long(page):
    text = page.read_text(encoding="utf-8")
    long = [
        sentence
        for sentence in sentences(text)
        if len(sentence.split()) > WORDS and not listed_names(sentence)
    ]
    assert not long


def test_the_word_list_is_kept():
    phrases = banned()
    assert len(phrases) > 15
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, phrases))})\b", re.IGNORECASE)
    found = [
        f"{page.relative_to(ROOT)}: {match[0]}"
        for page in PAGES
        if page.name not in ("coverage.md", "rule-functions.md")
        for part in paragraphs(page.read_text(encoding="utf-8"))
        for match in pattern.finditer(part)
    ]
    assert not found


def test_no_docstring_explains_a_parameter_by_it():
    empty = re.compile(r"^ +\w[\w, ]*: it\.$", re.MULTILINE)
    found = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("fluidlite/**/*.py"))
        if empty.search(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_each_line_of_arguments_names_them_or_is_indented_further():
    section = re.compile(r"^( *)Args:\n((?:\1 {4}.*\n)+)", re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted(ROOT.glob("fluidlite/**/*.py"))
        for indent, lines in section.findall(path.read_text(encoding="utf-8"))
        for line in lines.splitlines()
        if re.match(rf"{indent} {{4}}\S", line) and not re.match(r" +[*\w.`,() ]+:( |$)", line)
    ]
    assert not found


def texts_of_code(phrases):
    """The texts in the package's code that may hold phrases: docstrings, messages and others."""
    for path in sorted(ROOT.glob("fluidlite/**/*.py")):
        source = path.read_text(encoding="utf-8")
        words = " ".join(source.lower().replace('"', " ").replace("#", " ").split())
        if not any(phrase in words for phrase in phrases):
            continue  # quicker than to parse it; parts of a text stand in lines of their own
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield " ".join(node.value.split())


def test_docstrings_and_messages_keep_the_word_list():
    phrases = [*banned(), "first asked for", "the one that there is when none"]
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, phrases))})\b", re.IGNORECASE)
    texts = texts_of_code(phrases)
    assert not Counter(m[0].lower() for text in texts for m in pattern.finditer(text))
