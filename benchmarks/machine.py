"""What machine this is, and how busy."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import time
from datetime import date
from pathlib import Path


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def flags() -> frozenset[str]:
    """The instruction sets that the processor tells about; none where it cannot be asked."""
    return frozenset(_told("flags").split())


def load() -> float:
    """How many processes wanted to run in the last minute; nan where nobody tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def busiest_process(seconds: float) -> tuple[float, str]:
    """The largest share of a processor that another process takes, and that process by number and
    name; no share where there is no /proc.

    Args:
        seconds: for which processes are watched.
    """
    before = _processes()
    time.sleep(seconds)
    spent = {n: (t - before.get(n, ("", 0.0))[1], name) for n, (name, t) in _processes().items()}
    spent.pop(os.getpid(), None)
    number = max(spent, key=lambda n: spent[n], default=0)
    took, name = spent.get(number, (0.0, ""))
    return took / seconds, f"{number} ({name})"


def busy_seconds() -> float:
    """Of processor time that all processes together have taken; nan where nobody tells."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return math.nan
    user, nice, system, _, _, interrupts, soft, *_ = map(int, words[1:])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def _processes() -> dict[int, tuple[str, float]]:
    """By number, the name of each process and its seconds of processor time."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:  # it has ended
            continue
        words = tail.split()
        seconds = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        found[int(path.parent.name)] = head.partition("(")[2], seconds
    return found


def description() -> str:
    """Processor, memory and system, in a line."""
    name = _told("model name") or platform.processor() or platform.machine()
    wide = next((f for f in ("avx512f", "avx2", "avx") if f in flags()), "")
    parts = [
        f"{name} ({wide})" if wide else name,
        f"{processors()} of {os.cpu_count()} cores",
        _memory(),
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
        date.today().isoformat(),
    ]
    return ", ".join(part for part in parts if part)


def accelerator() -> str:
    """The first GPU, with its driver, as NVIDIA's tool names it; empty if there is none."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    name, _, driver = answer.stdout.partition("\n")[0].partition(", ")
    return f"{name} (driver {driver})" if driver else name


def _told(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def _memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return ""
    return f"{size / 2**30:.0f} GiB"
