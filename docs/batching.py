"""Writes the table in ``transform/batching.md``: how each operator is batched.

python docs/batching.py
"""

import sys
from pathlib import Path

from fluidlite.ops import files  # noqa: F401  defines the operators
from fluidlite.transform.batching_rules import rule_of

HERE = Path(__file__).resolve().parent
TARGET = HERE / "transform" / "batching.md"
sys.path.append(str(HERE / "pages"))

from operators import families  # noqa: E402  beside the pages of the site

#: what the script writes stands behind this line of the page
MARK = "## All operators\n"
WAYS = {
    "derived": "Their definitions say all",
    "rule": "There is a rule",
    "expanded": "They are made of others",
    "looped": "They run for one example after the other",
    "refused": "They are refused: their results have sequences, or they update parameters",
}


def way(op):
    """How an operator is batched where its inputs allow it."""
    if op.is_update or any(slot.ragged for slot in op.outputs):
        return "refused"
    rule = rule_of(op)
    if rule is not None:
        return rule.way
    return "looped" if op.expand is None or op.host else "expanded"


def page():
    """The page, with the table as the rules have it."""
    head, _, _ = TARGET.read_text(encoding="utf-8").partition(MARK)
    ways = {name: [] for name in WAYS}
    for _, _, definitions in families():
        for op in definitions:
            is_batched = op.execute is None and not op.communicates
            if is_batched and (op.inputs or op.random):
                ways[way(op)].append(op.type)
    parts = [head + MARK]
    for name, text in WAYS.items():
        listed = ", ".join(f"`{type}`" for type in sorted(ways[name]))
        parts.append(f"\n{text} ({len(ways[name])}): {listed}.\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8", newline="\n")
