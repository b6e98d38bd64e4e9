"""Kernels that are functions of a file in C, not made for a plan; compiled when first needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...kernels import threads
from ..commands import Status
from .built_in import built_in, lines_of_call
from .compiler import COMPILER
from .kernel import Kernel
from .library import LONG
from .source import KernelSource, entries, named


def kernel_of_function(
    file: str,
    call: str,
    count: int,
    written: int,
    *,
    blocks: int | str = 1,
    macros: Mapping[str, str] | None = None,
) -> KernelSource:
    """The kernel that calls a function of a file beside this one.

    Args:
        file: the name of the file, in C.
        call: the call, of ``args`` and ``block``, which gives a status.
        count: how many arrays the kernel takes.
        written: the first of them that it writes.
        blocks: how many there are, or the C that says it.
        macros: what the file needs defined, by name.
    """
    lines = [
        *(f"#define {name} {text}" for name, text in (macros or {}).items()),
        Path(__file__).with_name(file).read_text(encoding="utf-8"),
        f"int NAME_part(PyObject *args, i64 block) {{ return {call}; }}",
        "int NAME_end(PyObject *args) { return 0; }",
        *entries(count, written, blocks),
        *lines_of_call(),
    ]
    return named(lines, written, 0, 1, 0)


class NativeFunctions:
    """The functions of a file that are there; each is loaded at its first use.

    They are compiled in the background, and meanwhile there are none; where ``FLUIDLITE_KERNELS``
    asks for generated kernels, they are waited for.

    Args:
        source: the kernel of a function, by its name and the character of an element type.
    """

    def __init__(self, source: Callable[[str, str], KernelSource]) -> None:
        chosen = os.environ.get("FLUIDLITE_KERNELS") or "auto"
        self._are_used, self._waits = chosen in ("auto", "native"), chosen == "native"
        self._known: dict[tuple[str, str], Kernel | None] = {}
        self._source = source

    def computed(self, name: str, kind: str, arrays: tuple[Any, ...], parts: int = 1) -> bool:
        """Have a function computed; whether it is there, and has not declined.

        Args:
            name: of the function.
            kind: the character of the element type.
            arrays: that it reads and writes, their elements in order.
            parts: how many there are, which threads share.
        """
        key = name, kind
        kernel = self._known[key] if key in self._known else self._find(*key)
        if kernel is None:
            return False
        if parts > 1:
            return not kernel.check(arrays) and _in_parts(kernel, arrays, parts)
        run = kernel.run
        for array in arrays:  # a generator takes longer
            if array.size >= LONG:
                run = kernel.run_free
                break
        return bool(run(arrays) == Status.DONE)

    def caller(
        self, name: str, kind: str, is_long: bool
    ) -> Callable[[tuple[Any, ...]], int] | None:
        """The function itself, of a tuple of arrays, which gives a status; None while it is
        missing.

        Args:
            name, kind: as of :meth:`computed`.
            is_long: whether Python's lock is let go of meanwhile.
        """
        key = name, kind
        kernel = self._known[key] if key in self._known else self._find(*key)
        if kernel is None or is_long:
            return None if kernel is None else kernel.run_free
        return built_in(kernel.library, self._source(*key).name)

    def _find(self, name: str, kind: str) -> Kernel | None:
        compiler = COMPILER.get()
        if not self._are_used or not compiler.version:
            self._known[name, kind] = None
            return None
        source = self._source(name, kind)
        there = compiler.find([source])
        if source.name not in there:
            if not self._waits:
                compiler.request([source])
                return None
            there = compiler.compiled([source])
        self._known[name, kind] = there.get(source.name)
        return self._known[name, kind]


def _in_parts(kernel: Kernel, arrays: tuple[Any, ...], parts: int) -> bool:
    statuses = [int(Status.DONE)] * parts

    def run(part: int, _: int) -> None:
        statuses[part] = kernel.part(arrays, part)

    threads.each(run, parts)
    return all(status == Status.DONE for status in statuses)
