"""What interpreters there are."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def interpreters():
    """The classes of the package that derive from Interpreter, and where they are."""
    bases, places = {}, {}
    for path in sorted((ROOT / "fluidlite").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Interpreter" not in text and "Eval" not in text and "Builder" not in text:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [ast.unparse(base) for base in node.bases]
                places[node.name] = path.relative_to(ROOT / "fluidlite").as_posix()

    def derives(name):
        return name == "Interpreter" or any(map(derives, bases.get(name, ())))

    return {name: places[name] for name in bases if derives(name) and name != "Interpreter"}


def test_the_page_lists_every_interpreter():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = page.partition("\n## Interpreters\n")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| [a-z ]+ \| `(\w+)` \| `([\w/.]+)` \|", table, re.MULTILINE))
    found = interpreters()
    del found["Asking"]  # what functions ask of values, which two of the others have
    private = {name for name in found if name.startswith("_")}
    assert private == {"_Watcher"}  # Eval that notes what it sees, in one file
    assert listed == {name: place for name, place in found.items() if name not in private}
