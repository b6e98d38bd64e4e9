"""Whether the tests find faults that are made mechanically in the package.

    python tests/tools/mutate.py                                          # all of the list, again
    python tests/tools/mutate.py --only 'fluidlite/ops/*'                 # some of it
    python tests/tools/mutate.py --add 'fluidlite/runtime/passes/*.py' --count 40   # and more

Faults are chosen by a number that depends on each alone, and tried in forked processes: the
functions that exist get the changed code, and the tests that call them run until one fails.  The
list, ``tests/tools/mutations/list.json``, keeps each fault and its outcome; whoever finds that a
fault changes nothing that can be seen writes the reason there, as its "equivalent".
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import Counter
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutations.faults import ROOT, Fault, Site, fault_of, listed, sites, written
from mutations.trials import Outcome, Place, Trials

#: where the tests are that run in one process, and call what is changed
TESTS = [
    *("ops", "oracle", "eager", "backward", "runtime", "backend", "optimizer", "layers", "ir"),
    *("contrib", "dygraph", "opdef", "proto"),
]
EACH = 2  #: faults in one function at most


def called_by_imports() -> set[Place]:
    """The functions of the package that importing it calls; it must not be imported yet."""
    found: set[Place] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT / "fluidlite")):
            found.add((code.co_filename, code.co_name, code.co_firstlineno))

    sys.setprofile(note)
    for name in ("fluidlite", "fluidlite.ops"):
        importlib.import_module(name)
    sys.setprofile(None)
    return found


def files(pattern: str) -> list[str]:
    """The source files of a pattern, relative to the root."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


def chosen(
    pattern: str,
    count: int,
    seed: int,
    called: set[Place],
    at_import: set[Place],
    known: set[Fault],
) -> list[Site]:
    """Faults in functions that tests call or that importing does not, by their random numbers."""
    candidates = [site for file in files(pattern) for site in sites(file)]
    candidates.sort(key=lambda site: site.fault.rank(seed))
    found, each = [], Counter()
    for site in candidates:
        place = str(ROOT / site.fault.file), *site.inner
        function = site.fault.file, site.fault.function
        if site.fault in known or each[function] == EACH:
            continue
        if place not in called and place in at_import:
            continue
        each[function] += 1
        found.append(site)
        if len(found) == count:
            break
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="the faults of the list in these files")
    parser.add_argument("--survived", action="store_true", help="only those that no test found")
    parser.add_argument("--add", metavar="PATTERN", action="append", help="choose more from files")
    parser.add_argument("--count", type=int, default=20, help="how many for each pattern")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tests", nargs="*", help="in place of all that may call them")
    parser.add_argument(
        "--calls", type=Path, help="a file to keep what tests call in, so that it is noted once"
    )
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    at_import = called_by_imports()
    entries = {fault_of(entry): entry for entry in listed()}

    def choose(called: set[Place]) -> list[Site]:
        if given.add:
            return [
                site
                for pattern in given.add
                for site in chosen(
                    pattern, given.count, given.seed, called, at_import, set(entries)
                )
            ]
        wanted = {
            fault
            for fault, entry in entries.items()
            if fnmatch(fault.file, given.only)
            and not (given.survived and entry["outcome"] == "found")
        }
        there = {s.fault: s for file in {f.file for f in wanted} for s in sites_of(file)}
        for fault in wanted - set(there):
            print(f"is there no more: {fault}")
            del entries[fault]
        return [there[fault] for fault in there if fault in wanted]

    def tell(fault: Fault, outcome: Outcome) -> None:
        entry = entries.setdefault(fault, asdict(fault))
        entry["outcome"] = "found" if outcome.found else "survived"
        entry["by"] = (
            outcome.by.split("[")[0] if outcome.found else f"none of {outcome.tried} tests"
        )
        if outcome.found:
            entry.pop("equivalent", None)
        print(f"{entry['outcome']:<9}{fault}\n         {entry['by']}", flush=True)
        written(list(entries.values()))

    plugin = Trials(choose, tell, given.jobs, given.calls)
    tests = given.tests or [str(ROOT / "tests" / folder) for folder in TESTS]
    os.chdir(ROOT)
    pytest.main(["-qs", "-p", "no:xdist", "-p", "no:cacheprovider", *tests], plugins=[plugin])
    outcomes = Counter(
        "equivalent" if "equivalent" in entry else entry["outcome"] for entry in entries.values()
    )
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    return outcomes["survived"]


def sites_of(file: str) -> list[Site]:
    return sites(file) if (ROOT / file).exists() else []


if __name__ == "__main__":
    sys.exit(main())
