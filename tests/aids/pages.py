"""The fenced blocks of documents."""

import importlib.util
import re
from dataclasses import dataclass

DRAWS = re.compile(r"^(import|from) matplotlib", re.MULTILINE)
MARK = re.compile(r"<!-- (no-run|needs \w+) -->")
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+|~~~+) *(?P<language>[\w+-]*)[^\n]*$")


@dataclass(frozen=True)
class CodeBlock:
    language: str
    line: int  # of the first line of code, from 1
    code: str
    mark: str = ""  # what the comment before it says

    @property
    def runs(self):
        return self.mark != "no-run"

    @property
    def missing(self):
        """Whether it needs a package that is not installed: what the mark names, or matplotlib."""
        wanted = [self.mark.removeprefix("needs ")] if self.mark.startswith("needs ") else []
        wanted += ["matplotlib"] * bool(DRAWS.search(self.code))
        return not all(map(importlib.util.find_spec, wanted))


def split(text):
    """The fenced blocks of a page, and its other lines with fenced ones left blank."""
    blocks, prose, opened, mark = [], [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened, start, code = fence, number + 1, []
            prose.append("")
        elif opened is None:
            prose.append(line)
            if line.strip():
                found = MARK.fullmatch(line.strip())
                mark = found[1] if found else ""
        elif fence and fence["ticks"].startswith(opened["ticks"]) and not fence["language"]:
            blocks.append(CodeBlock(opened["language"], start, "\n".join(code) + "\n", mark))
            opened, mark = None, ""
            prose.append("")
        else:
            code.append(line.removeprefix(opened["indent"]))
            prose.append("")
    assert opened is None, f"the block opened in line {start - 1} is not closed"
    return blocks, prose


def python_blocks(page):
    blocks, _ = split(page.read_text(encoding="utf-8"))
    return [block for block in blocks if block.language in ("python", "py", "pycon")]


def compiled(block, page):
    """The block as code whose tracebacks show the page's own lines."""
    return compile("\n" * (block.line - 1) + block.code, str(page), "exec", dont_inherit=True)
