"""A public name goes only after a warning of one minor release, as CONTRIBUTING.md promises.

The pages of releases (``docs/changes``) list such names under "Deprecated", by their full paths.
``python -m pytest tests/api/test_deprecation.py --update-golden`` records the names of a release,
on the day that its page is dated.
"""

import importlib
import re
from pathlib import Path

import pytest

from fluidlite.ground.deprecation import deprecated

from .test_public_names import LIST

ROOT = Path(__file__).resolve().parents[2]
#: the public names of the last release, under the heading of its page
RELEASED = ROOT / "tests" / "data" / "released_names.txt"


def full_names(text):
    """The names of a list of public names, by their full paths."""
    lines = [line.partition(": ") for line in text.splitlines() if not line.startswith("#")]
    return {f"{module}.{name}" for module, _, names in lines for name in names.split()}


def minor(version):
    """The numbers of a version but the last, by which minor releases are ordered."""
    return tuple(map(int, version.split(".")[:2]))


def pages():
    """Version -> text of its page, from the oldest on."""
    found = {path.stem: path.read_text("utf-8") for path in ROOT.glob("docs/changes/*.md")}
    return dict(sorted(found.items(), key=lambda item: [*map(int, item[0].split("."))]))


def listed(page, section):
    """The full names under a heading of a page."""
    parts = re.findall(rf"^#+ {section}\n(.*?)(?=^#|\Z)", page, re.M | re.S)
    return set(re.findall(r"`(fluidlite[\w.]*\.\w+)`", "".join(parts)))


def gone_too_soon(released, names, pages):
    """Names that were released and are missing, of which no earlier minor release warned.

    Args:
        released: the full names of the last release.
        names: those of today.
        pages: version -> text of its page, from the oldest on; the last one is today's.
    """
    *_, today = pages
    earlier = [page for version, page in pages.items() if minor(version) < minor(today)]
    warned = {name for page in earlier for name in listed(page, "Deprecated")}
    return sorted(released - names - (warned & listed(pages[today], "Removed")))


def test_no_released_name_goes_without_a_warning_of_one_minor_release(request):
    current = LIST.read_text(encoding="utf-8")
    headings = [page.splitlines()[0] for page in pages().values()]
    heading = [h for h in headings if not h.endswith("unreleased")][-1:] or headings[-1:]
    recorded = RELEASED.read_text(encoding="utf-8")
    new = heading != recorded.splitlines()[:1] or heading[0].endswith("unreleased")
    if new and request.config.getoption("--update-golden"):
        recorded = f"{heading[0]}\n{current}"
        RELEASED.write_text(recorded, encoding="utf-8")
    assert recorded.splitlines()[0] == heading[0], "record the names of the release"
    assert not gone_too_soon(full_names(recorded), full_names(current), pages())


def test_a_name_may_go_a_minor_release_after_its_warning_and_not_before():
    warned = "# 1.1.0, today\n\n### Deprecated\n\n- `fluidlite.layers.old`: use `new`.\n"
    removed = "# 1.2.0, unreleased\n\n### Removed\n\n- `fluidlite.layers.old`\n"
    released, names = {"fluidlite.layers.old", "fluidlite.nn.kept"}, {"fluidlite.nn.kept"}
    gone = ["fluidlite.layers.old"]
    assert gone_too_soon(released, names, {"1.1.0": warned, "1.2.0": removed}) == []
    assert gone_too_soon(released, names, {"1.1.0": warned, "1.1.1": removed}) == gone
    assert gone_too_soon(released, names, {"1.1.0": "", "1.2.0": removed}) == gone
    assert gone_too_soon(released, names, {"1.1.0": warned, "1.2.0": ""}) == gone


def test_deprecated_names_warn_until_they_go():
    names = full_names(LIST.read_text(encoding="utf-8"))
    for name in names & {n for page in pages().values() for n in listed(page, "Deprecated")}:
        module, _, last = name.rpartition(".")
        assert getattr(getattr(importlib.import_module(module), last), "__deprecated__", ""), name


def test_a_deprecated_function_works_warns_and_names_its_replacement():
    @deprecated("1.1", "fluidlite.layers.new")
    def old(x):
        return x + 1

    with pytest.warns(DeprecationWarning, match="old is deprecated since 1.1; use fluid"):
        assert old(1) == 2
    assert "fluidlite.layers.new" in old.__deprecated__
