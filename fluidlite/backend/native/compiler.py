"""The compiler behind generated kernels, which works in the background."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import platform
import re
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...ground import state
from ...ground.threading_support import started
from ..commands import Status
from .kernel import Kernel, opened
from .kernel_cache import KernelCache, place, processor
from .lazy import lazy

if TYPE_CHECKING:
    from .source import KernelSource

FLAGS = (
    *("-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fopenmp-simd", "-fno-strict-aliasing", "-shared", "-fPIC", "-w", "-x", "c"),
)
PATIENCE = 600  #: seconds for one call of the compiler
YIELDING = 6  #: times as many where it takes what time others leave
TOGETHER = 8  #: kernels that one call makes
ANSWER = 10  #: seconds for what the compiler says of itself, which a first run waits for
LOWEST = 19  #: priority of a compiler for which nobody waits
FAREWELL = 2  #: seconds for which Python's end waits for what has been ended
_CALLS = f"{__package__}.calls"  # read at its first use
#: files that are compilers by themselves
_COMPILERS = re.compile(r"(.*-)?(gcc|clang)(-[0-9.]+)?", re.ASCII)
_PRELUDE = Path(__file__).with_name("prelude.h")


class Compiler:
    """Makes libraries of kernels, one after the other, in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Kernel | None] = {}  # None for what could not be made
        self._pending: dict[str, threading.Event] = {}
        self._queue: list[KernelSource] = []
        self._hurried: set[str] = set()  # names of kernels that somebody waits for
        self._works = False  # whether there is a thread
        self._thread: threading.Thread | None = None  # the last one
        self._warned = False
        self._process: Any = None  # what compiles just now
        self._making: str | None = None  # and the folder where it does
        self._closed = False
        self.cache: KernelCache = KernelCache(self.warn)

    @lazy
    def command(self) -> list[str]:
        """What calls the compiler: ``FLUIDLITE_CC``, the system's, or that of the package ziglang;
        empty if there is none.
        """
        said = os.environ.get("FLUIDLITE_CC")
        if said is not None:
            if os.path.isfile(said):  # a path with spaces in it
                return [said]
            try:
                return list(_calls().split(said))
            except ValueError:  # of quotes, one is missing
                return []
        for name in ("cc", "gcc", "clang"):  # shutil is not read for this: see calls.py
            for folder in os.get_exec_path():
                path = os.path.join(folder, name)
                if os.path.isfile(path) and os.access(path, os.X_OK):
                    return [path]
        if importlib.util.find_spec("ziglang") is not None:
            return [sys.executable, "-m", "ziglang", "cc"]
        return []

    @lazy
    def version(self) -> str:
        """What the compiler says of itself; empty if there is none that works here.  Of a file that
        is a compiler it is kept, so that no later process waits for the answer.
        """
        if not self._may_work:
            return ""
        key = _key_of(self.command)
        notes = self.kept_notes() if key else None
        said = "" if notes is None else notes.noted(key)
        if not said:
            said = self._answer()
            if notes is not None and said and said.isascii():
                notes.note(key, said)
        return said

    def _answer(self) -> str:
        """The answer of the compiler itself."""
        try:
            status, said, _ = self._ran([*self.command, "--version"], b"", ANSWER)
        except _calls().TimeoutExpired:
            self.warn(f"the compiler {self.command[0]} has not said its version in {ANSWER} s")
            return ""
        except (OSError, ValueError):
            return ""
        lines = said.splitlines()
        return lines[0].strip() if status == 0 and lines else ""

    @property
    def _may_work(self) -> bool:
        """Whether kernels can be made on a system like this, and there is a compiler, and what they
        begin with: Python reads modules from archives, where C has no files.
        """
        if sys.platform not in ("linux", "darwin") or sys.maxsize < 2**32:
            return False
        if not os.path.isfile(_PRELUDE):
            return False
        return platform.python_implementation() == "CPython" and bool(self.command)

    def kept_notes(self) -> KernelCache | None:
        """What keeps notes, where there may be some: to look makes no folder, and may be
        forbidden.
        """
        there = self._may_work and os.path.isdir(place())
        return self.cache if there and self.cache.folder is not None else None

    def _ran(
        self,
        command: list[str],
        given: bytes,
        patience: float,
        folder: Path | None = None,
        yields: bool = False,
    ) -> tuple[int, str, str]:
        """Run the compiler: its status, and what it says and complains of.

        What it works with lies in the folder, which goes with it, not in the user's temporary one:
        where it is ended it removes nothing.

        One that yields works where nothing else does.

        Raises:
            subprocess.TimeoutExpired: it has not come to an end.
        """
        places = {} if folder is None else dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder))
        calls = _calls()
        process = self._process = calls.begun(command, places)
        try:
            if self._closed:
                raise ChildProcessError("Python ends")
            if yields:
                calls.lower_priority(process, LOWEST)
            said = process.communicate(given, timeout=patience)
        finally:
            self._process = None
            if process.poll() is None:
                calls.end(process)
                process.wait()
            for end in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    if end is not None:
                        end.close()
        out, complaints = (each.decode("utf-8", "replace") for each in said)
        return process.returncode, out, complaints

    def close(self) -> None:
        """Compile no more: end what compiles, and see what it has made so far removed."""
        self._closed = True
        del self._queue[:]
        thread, until = self._thread, time.monotonic() + FAREWELL
        while thread is not None and thread.is_alive() and time.monotonic() < until:
            if (process := self._process) is not None:
                _calls().end(process)
            thread.join(0.01)
        if (making := self._making) is not None:
            _calls().remove(making)

    def begin_anew(self) -> None:
        """Forget the thread that a forked process does not have, and what it was at."""
        self._lock, self._works, self._thread = threading.Lock(), False, None
        self._pending, self._queue, self._hurried = {}, [], set()
        self._process = self._making = None

    def warn(self, text: str) -> None:
        """Warn once in a process, unless it ends."""
        if not self._warned and not self._closed:
            self._warned = True
            warnings.warn(f"{text}; NumPy computes instead", RuntimeWarning, stacklevel=2)

    @lazy
    def _target(self) -> Any:
        """The digest of what all kernels have in common: generator, compiler and processor."""
        made = blake2b(digest_size=16)
        for text in (self._head, self.version, " ".join(FLAGS), processor()):
            made.update(text.encode() + b"\0")
        return made

    @property
    def target(self) -> str:
        """What tells what was made here from what another compiler or processor made."""
        digest: str = self._target.hexdigest()
        return digest

    def digest(self, source: KernelSource) -> str:
        """What tells a library from others: generator, compiler, processor and source."""
        made = self._target.copy()
        made.update(source.text.encode())
        digest: str = made.hexdigest()
        return digest

    def find(self, sources: Iterable[KernelSource]) -> dict[str, Kernel | None]:
        """The kernels that are there, by name, from memory or the disk; None for those that cannot
        be made.
        """
        kernels: dict[str, Kernel | None] = {}
        for source in sources:
            with self._lock:
                if source.name in self._known:
                    kernels[source.name] = self._known[source.name]
                    continue
                if source.name in self._pending:
                    continue
            if not self.version or self.cache.folder is None:
                kernels[source.name] = None
                continue
            if self.finds(source.name, self.digest(source)):
                kernels[source.name] = self._known[source.name]
        return kernels

    def finds(self, name: str, digest: str) -> bool:
        """Whether a kernel is there, in memory or in the library of a digest."""
        with self._lock:
            known = self._known.get(name)
        if known is None and self.version and self.cache.folder is not None:
            known = self.cache.load(digest, name)
            if known is not None:
                self._known[name] = known
        return known is not None

    def request(self, sources: Iterable[KernelSource]) -> list[threading.Event]:
        """Have kernels compiled in the time that others leave; what is set when each is done."""
        events = []
        for source in sources:
            with self._lock:
                if source.name in self._known:
                    continue
                event = self._pending.get(source.name)
                if event is None:
                    event = self._pending[source.name] = threading.Event()
                    self._queue.append(source)
                    self._start()
            events.append(event)
        return events

    def compiled(self, sources: Collection[KernelSource]) -> dict[str, Kernel | None]:
        """Have kernels compiled, and wait for them; None for those that cannot be made."""
        names = {source.name for source in sources}
        self._hurried |= names
        for event in self.request(sources):
            event.wait()
        self._hurried -= names
        return self.find(sources)

    def _start(self) -> None:
        if not self._works:
            self._thread = started(self._work, "the compiler")
            self._works = self._thread is not None
        if not self._works:  # NumPy computes instead
            for source in self._queue:
                self._known[source.name] = None
                self._pending.pop(source.name).set()
            self._queue.clear()

    def _work(self) -> None:
        """Compile the requested kernels until none is left."""
        while True:
            with self._lock:
                if not self._queue:
                    self._works = False
                    return
                sources = _first(self._queue)
                del self._queue[: len(sources)]
            kernels = self._made(sources)
            with self._lock:
                self._known.update(kernels)
                for source in sources:
                    self._pending.pop(source.name).set()

    def _made(self, sources: Sequence[KernelSource]) -> dict[str, Kernel | None]:
        """Kernels by name, made at once; where that fails, those that can be made alone."""
        try:
            return self._made_together(sources)
        except Exception as error:
            if len(sources) > 1 and not self._closed:
                return {s.name: self._made([s])[s.name] for s in sources}
            with contextlib.suppress(Warning):  # where warnings are errors: nobody is here
                self.warn(f"a kernel could not be compiled: {error}")
            return dict.fromkeys(source.name for source in sources)

    @lazy
    def _head(self) -> str:
        """What every kernel begins with."""
        statuses = ", ".join(f"{each.name} = {each.value}" for each in Status)
        return f"enum {{ {statuses} }};\n{_PRELUDE.read_text(encoding='utf-8')}"

    def together(self, sources: Sequence[KernelSource], level: str = "-O3") -> None:
        """Compile kernels as one library, which is not kept, at a level of optimization.

        Raises:
            RuntimeError: the compiler refuses them.
        """
        with _calls().TemporaryDirectory(prefix="fluidlite-") as made:
            place = Path(made) / "kernels.so"
            self._call("".join(source.text for source in sources), place, level)
            found = opened(place)
        if found is not None:
            self._known.update({s.name: Kernel(*found, s.name) for s in sources})

    def _call(self, text: str, place: Path, *more: str, yields: bool = False) -> None:
        """Compile kernels into a file.

        Raises:
            RuntimeError: the compiler refuses them.
        """
        command = [*self.command, *FLAGS, *more, "-", "-o", str(place)]
        patience = YIELDING * PATIENCE if yields else PATIENCE
        try:
            source = (self._head + text).encode()
            status, _, said = self._ran(command, source, patience, place.parent, yields)
        except _calls().TimeoutExpired:
            raise RuntimeError(f"the compiler has not come to an end in {patience} s") from None
        if status:
            lines = said.strip().splitlines() or ["no reason given"]
            raise RuntimeError(next((line for line in lines if "error" in line), lines[0]))

    def _made_together(self, sources: Sequence[KernelSource]) -> dict[str, Kernel | None]:
        cache = self.cache
        if cache.folder is None:
            return dict.fromkeys(source.name for source in sources)
        folder = self._making = cache.new_folder()
        bases = {source.name: self.digest(source) for source in sources}
        try:
            place = Path(folder) / "kernel.so"
            yields = self._hurried.isdisjoint(bases)
            self._call("".join(source.text for source in sources), place, yields=yields)
            cache.keep(place, bases.values())
        finally:
            _calls().remove(folder)
            self._making = None
        kernels = {name: cache.load(base, name) for name, base in bases.items()}
        if None in kernels.values():
            self.warn(f"a kernel that was compiled cannot be loaded from {cache.folder}")
        cache.make_room()
        return kernels


def _first(queue: Sequence[KernelSource]) -> list[KernelSource]:
    """The first of some kernels, and those behind it that are made with it: to start the compiler
    takes as long as a kernel does.  Those with macros are made alone.
    """
    count = next((k for k, s in enumerate(queue[:TOGETHER]) if "#define" in s.text), TOGETHER)
    return list(queue[: count or 1])


def _key_of(command: Sequence[str]) -> str:
    """By what the version of a compiler is kept; empty where its file does not say which it is: a
    script, or one that calls another.
    """
    if len(command) != 1:
        return ""
    path = os.path.realpath(command[0])
    try:
        with open(path, "rb") as file:
            about, is_script = os.stat(file.fileno()), file.read(2) == b"#!"
    except OSError:
        return ""
    if is_script or not _COMPILERS.fullmatch(os.path.basename(path)):
        return ""
    text = f"{command[0]}\0{path}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ino}"
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _calls() -> Any:
    """What calls compilers."""
    return import_module(_CALLS)


#: one for the process
COMPILER: state.StateSlot[Compiler] = state.slot("compiler", Compiler)


def _forked() -> None:
    """Plans hold on to the compiler that they had before; others take one of their own."""
    COMPILER.get().begin_anew()
    COMPILER.reset()


atexit.register(lambda: COMPILER.get().close())
if hasattr(os, "register_at_fork"):  # a forked process has no thread that compiles
    os.register_at_fork(after_in_child=_forked)
