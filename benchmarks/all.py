"""All tables of ``docs/performance.md``, measured anew on a quiet machine.

    python benchmarks/all.py                                    every benchmark that writes a table
    python benchmarks/all.py --only steps large                 two of them
    python benchmarks/all.py --list                             their commands
    python benchmarks/all.py --python /opt/torch/bin/python     with what other interpreters have
    python benchmarks/all.py --page docs/performance-amx.md --only steps    into another page

Before the first one the machine has to be quiet for a minute: a load below 0.3, and no foreign
process that takes more than 5 % of a processor.  While each runs, the processor time of the machine
is compared with that of the benchmark.  Where foreign work took more than 5 % of a processor, or
the benchmark failed, its table stays as it was.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import machine
from page import PAGE

HERE = Path(__file__).resolve().parent
LOAD, SHARE = 0.3, 0.05  # what a quiet machine has at most: its load, and foreign processor time
SLACK = 2.0  # seconds of foreign work that a short benchmark allows, which systems do themselves
#: options beside --write, for each table of a benchmark
OPTIONS = {
    "large": [[], ["--threads", "2"]],
    "memory_budget": [["--measure", "12"]],
    "steps": [[], ["--beside"]],
}


def commands(
    only: Sequence[str] = (), pythons: Sequence[str] = (), page: str | None = None
) -> dict[str, list[str]]:
    """By name, the commands of the benchmarks that write tables; a second table of one has its
    options behind the name, as in "steps --beside".

    Args:
        only: names of those to take; all if there are none.
        pythons: interpreters for those that compare libraries.
        page: the page to write to; docs/performance.md when None.
    """
    found = {}
    for path in sorted(HERE.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if '"--write"' not in text or path.name == Path(__file__).name:
            continue
        others = ["--python", *pythons] if pythons and '"--python"' in text else []
        for options in OPTIONS.get(path.stem, [[]]):
            name = " ".join([path.stem, *options]) if path.stem in found else path.stem
            found[name] = [
                str(path),
                *options,
                *others,
                "--write",
                *([] if page is None else [page]),
            ]
    return {name: command for name, command in found.items() if not only or name in only}


def disturbance(seconds: float) -> str:
    """What keeps the machine from being quiet; empty where nothing does.

    Args:
        seconds: for which processes are watched.
    """
    loads = [machine.load()]
    share, process = machine.busiest_process(seconds)
    loads.append(machine.load())
    if share > SHARE:
        return f"the process {process} takes {share:.0%} of a processor"
    if max(loads) >= LOAD:
        return f"the load of the last minute is {max(loads):.2f}, expected less than {LOAD}"
    return ""


def measured(command: Sequence[str], page: Path = PAGE) -> str:
    """Run a benchmark: why the page was left as it was; empty where its table was written."""
    text = page.read_text(encoding="utf-8")
    begin, busy, own = time.monotonic(), machine.busy_seconds(), _own_seconds()
    status = subprocess.run([sys.executable, *command], check=False).returncode
    seconds = time.monotonic() - begin
    foreign = machine.busy_seconds() - busy - (_own_seconds() - own)
    reason = ""
    if status:
        reason = f"it ended with {status}"
    elif foreign > SHARE * seconds + SLACK:
        reason = f"foreign work took {foreign / seconds:.0%} of a processor"
    if reason:
        page.write_text(text, encoding="utf-8", newline="\n")
    return reason


def _own_seconds() -> float:
    """Of processor time, in this process and in those that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Measure what was asked for, and say what was written."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    add = parser.add_argument
    add("--only", nargs="+", default=[], choices=list(commands()), help="which benchmarks")
    add("--python", nargs="+", default=[], help="interpreters to look for libraries in")
    add("--page", help="the page that takes the tables; docs/performance.md if left out")
    add("--list", action="store_true", help="print the commands, and run nothing")
    add("--watch", type=float, default=60, help="seconds for which the machine is watched before")
    args = parser.parse_args()
    chosen = commands(args.only, args.python, args.page)
    if args.list:
        for command in chosen.values():
            print("python", Path(command[0]).relative_to(HERE.parent), *command[1:])
        return
    if reason := disturbance(args.watch):
        sys.exit(f"the machine is not quiet: {reason}; nothing was measured")
    left = {}
    for name, command in chosen.items():
        begin = time.monotonic()
        reason = left[name] = measured(command, Path(args.page or PAGE))
        told = f"left as it was: {reason}" if reason else "written"
        print(f"{name}: {told}, {time.monotonic() - begin:.0f} s", flush=True)
    if any(left.values()):
        sys.exit(f"not written: {', '.join(name for name, reason in left.items() if reason)}")


if __name__ == "__main__":
    main()
