"""How many examples of a library's documents end here as in the real library.

    python tests/tools/document_examples.py FOLDER [--list]

FOLDER has the examples, which are collected where the library is installed, and what became of
them: ``examples.json`` ("examples": name -> code), ``real.json``, ``again.json`` (a second run of
the real library, which tells whose output is firm) and ``ours.json``, in which a name has a list
of "ok" or something else, the error, and what was printed.

``tests/paddle_2/examples_to_come.txt`` has the rules that say which of them are not counted yet.
"""

import argparse
import ast
import collections
import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from paths import ROOT

RULES = ROOT / "tests" / "paddle_2" / "examples_to_come.txt"
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
_LAYOUT = re.compile(r"0x[0-9a-f]+|[\s,\[\]()]+")


def rules():
    """Reason -> patterns of names and expressions of the text."""
    lines = (line for line in RULES.read_text().splitlines() if not line.startswith("#"))
    rows = (line.split("|", 2) for line in lines)
    return {why.strip(): (names.split(), words.split()) for why, names, words in rows}


def names_used(code):
    """The whole names that a text uses, as far as its imports tell; of methods ``.name``."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set(re.findall(r"paddle(?:\.\w+)+", code))
    known, used = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                known[each.asname or each.name.split(".")[0]] = (
                    each.name if each.asname else each.name.split(".")[0]
                )
                used.add(each.name)
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                known[each.asname or each.name] = f"{node.module}.{each.name}"
                used.add(f"{node.module}.{each.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            start, *rest = ast.unparse(node).split(".")
            used.add(".".join([known[start], *rest]) if start in known else f".{node.attr}")
    return used


def left_to(name, code):
    """Why an example is not counted yet; None where it counts.

    Args:
        name: the whole name that it explains, ``#`` and which of its examples.
        code: its text.
    """
    names = {name.partition("#")[0]} | names_used(code)
    for why, (patterns, words) in rules().items():
        wanted = [*patterns, *(p.removesuffix(".*") for p in patterns)]
        if any(fnmatchcase(each, pattern) for each in names for pattern in wanted):
            return why
        if any(re.search(word, code) for word in words):
            return why
    return None


def alike(one, other):
    """Whether two outputs show the same words, and the same numbers to 1e-4."""
    one, other = (_LAYOUT.sub(" ", text) for text in (one, other))
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other))
    return all(abs(float(a) - float(b)) <= 1e-4 * max(1.0, abs(float(a))) for a, b in pairs)


def report(codes, real, again, ours, listed=False):
    """What became of the examples, as lines.

    Args:
        codes: name -> code.
        real, again, ours: name -> how it ended, the error, what was printed.
        listed: with a line for each that fails or prints otherwise.
    """
    ended = [name for name in codes if real.get(name, [""])[0] == "ok" and name in ours]
    left = {name: why for name in ended if (why := left_to(name, codes[name]))}
    counted = [name for name in ended if name not in left]
    good = [name for name in counted if ours[name][0] == "ok"]
    shown = [name for name in good if name in again and real[name][2].strip()]
    firm = [name for name in shown if alike(real[name][2], again[name][2])]
    same = [name for name in firm if alike(real[name][2], ours[name][2])]
    if listed:
        yield from (f"fails    {n}: {ours[n][1]}" for n in sorted({*counted} - {*good}))
        yield from (f"differs  {n}" for n in sorted({*firm} - {*same}))
    for why, count in collections.Counter(left.values()).most_common():
        yield f"{count:5} left: {why}"
    for what, part, whole in [("end well", good, counted), ("print alike", same, firm)]:
        rate = 100 * len(part) / max(len(whole), 1)
        yield f"{len(part):5} of {len(whole)} {what}: {rate:.1f} %"


def _read(folder, name):
    return json.loads((Path(folder) / f"{name}.json").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--list", action="store_true", dest="listed")
    options = parser.parse_args()
    results = [_read(options.folder, name) for name in ("real", "again", "ours")]
    codes = _read(options.folder, "examples")["examples"]
    sys.stdout.writelines(f"{line}\n" for line in report(codes, *results, options.listed))
