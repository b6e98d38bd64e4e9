"""Rewriting parts of ``docs/performance.md`` that are measured."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


def replace_part(page: Path, name: str, text: str) -> None:
    """Put a text between the two marks of a part of a page.

    Args:
        page: the file.
        name: of the part; its marks are ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.
        text: Markdown.

    Raises:
        ValueError: the page has no such part, or several.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise ValueError(f"expected one part {name!r} in {page}, between {begin!r} and {end!r}")
    head, tail = old.partition(begin)[0], old.partition(end)[2]
    page.write_text(f"{head}{begin}\n{text.strip()}\n\n{end}{tail}", encoding="utf-8", newline="\n")


def block(lines: list[str]) -> str:
    """Lines as a block that is shown as it is."""
    return "\n".join(["```text", *(line.rstrip() for line in lines), "```"])
