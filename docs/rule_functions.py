"""Writes the list in ``rule-functions.md``: what ``f`` offers in a gradient rule.

python docs/rule_functions.py
"""

import inspect
import sys
from pathlib import Path

from fluidlite.opdef.attribute import REQUIRED
from fluidlite.opdef.gradient import is_constant
from fluidlite.ops import files  # noqa: F401  defines the operators

HERE = Path(__file__).resolve().parent
TARGET = HERE / "rule-functions.md"
sys.path.append(str(HERE / "pages"))

from operators import escaped, families  # noqa: E402  beside the pages of the site

#: what the script writes stands behind this line of the page
MARK = "## All functions\n"
LEGEND = """
Attributes stand behind `*`, with their defaults. Marks: `?` may be absent, `*` a list.
"""


def call(op):
    """How an operator is called."""
    slots = [f"{slot.name}{'?' * slot.optional}{'*' * slot.many}" for slot in op.inputs]
    attributes = [
        name if attribute.default is REQUIRED else f"{name}={attribute.default!r}"
        for name, attribute in op.attributes.items()
        if not attribute.inert
    ]
    return f"f.{op.type}({', '.join([*slots, *(['*'] if attributes else []), *attributes])})"


def summary(op):
    """The first paragraph of an operator's docstring, as Markdown."""
    first = inspect.cleandoc(op.__doc__ or "").partition("\n\n")[0]
    return escaped(" ".join(first.split()))


def offered(op):
    """Whether rules can use an operator: one that computes values, and updates no parameter."""
    return op.execute is None and bool(op.outputs) and "Param" not in op.input_slots


def page():
    """The page, with the list as the operators' definitions have it."""
    head, _, _ = TARGET.read_text(encoding="utf-8").partition(MARK)
    parts = [head + MARK + LEGEND]
    for name, _, definitions in families():
        rows = [
            f"* `{call(op)}`: {summary(op)}" + (" No gradient." if is_constant(op) else "")
            for op in definitions
            if offered(op)
        ]
        if rows:
            title = name.strip("_").replace("_", " ").capitalize()
            parts.append("\n".join([f"### {title}\n", *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8", newline="\n")
