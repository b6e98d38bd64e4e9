"""Hostile and damaged files through every command: nothing acts, litters, crashes or grows.

    python tests/tools/fuzz_files.py --minutes 60

Takes saved models of fluid 1.8 and Paddle 2, texts, ONNX and safetensors files; puts hostile names,
call sites, attributes, effects and damage into them; gives each to the commands of ``fluidlite``,
and runs it.  A finding is an effect outside of the temporary folder (Python's audit events tell), a
marker that hostile source would set, an error that is not the package's, a process above 1 GiB, or
an input that takes longer than a minute.
"""

import paths  # noqa: F401  the tests' folders

# isort: split
import argparse
import builtins
import contextlib
import functools
import importlib.util
import io
import itertools
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import fluidlite as fluid
from fluidlite.__main__ import main as main_of_command
from fluidlite.errors import FluidError
from fluidlite.proto.program import program_from_bytes

import fuzzing
import saved_models
from protobuf_messages import message_classes

LIMIT = 1 << 30  #: bytes of a process
SECONDS = 60  #: of the processor for one input; ten times as long by the clock, where others work
PER_PROCESS = 100  #: inputs, before a fresh process begins
LARGEST = 200_000  #: bytes of a program to begin with
MOST_FED = 1 << 22  #: elements
MARK = "mark_of_hostile_source"
ACT = f"__import__('builtins').__dict__.__setitem__('{MARK}', 1)"
#: texts that end a comment, a string, a tag or a line in one of the languages that are written
HOSTILE = [
    f"x\r    {ACT}#",
    f"x\n{ACT}\n",
    f"x\x0c{ACT}",
    f"x\x85{ACT}\u2028{ACT}\u2029",
    f"'); {ACT}; ('",
    f'"""); {ACT}; ("""',
    "{" + ACT + "}",
    "*/ #error */ /*",
    "</script><script>alert(1)</script>",
    '"]; evil -> "',
    "\x1b]0;title\x07\x1b[31m",
    "\\",
    "not UTF-8 \udcff\udc80",
    "../../escaped",
    "%s%n{0}{x.__class__}",
]
READING = (
    ["show"],
    ["show", "--detail"],
    ["vars"],
    ["summary"],
    ["summary", "--json"],
    ["scan"],
    ["plan"],
    ["run"],
    ["run", "--trace"],
)
CONVERTED = (".txt", ".npz", ".pdmodel", ".onnx", ".py", ".safetensors", ".pdparams", "/")
DRAWN = (".svg", ".html", ".dot", ".mmd")
#: audit events that change something -> the arguments that are paths
WRITING = {
    "os.chmod": (0,),
    "os.link": (1,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "shutil.rmtree": (0,),
}
#: events that no file may cause
NEVER = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect", "pty.spawn")


class Finding(BaseException):
    """What must not happen; no error that a library may handle."""


class Watch:
    """Watches what Python does to the system, by its audit events.

    Args:
        folder: where everything may be written.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, args: tuple) -> None:
        if not self.on:
            return
        if event == "open":
            path, mode, flags = args
            writes = isinstance(mode, str) and set(mode) & set("wax+")
            writes = writes or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if writes and not isinstance(path, int):
                self.check(event, path)
        elif event == "os.mkdir" and os.path.isdir(args[0]):
            pass  # makes sure that there is one
        elif event in WRITING:
            for at in WRITING[event]:
                self.check(event, args[at])
        elif event in NEVER or (event == "subprocess.Popen" and not compiles(args)):
            self.seen.append(f"{event}: {args!r:.200}")

    def check(self, event: str, path: object) -> None:
        if isinstance(path, int):
            return
        place = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]
        if not place.startswith((self.folder + os.sep, "/dev/null")) and place != self.folder:
            self.seen.append(f"{event}: {place!r:.200}")


def compiles(args: tuple) -> bool:
    """Whether a process is the C compiler that makes kernels."""
    words = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
    return any(os.path.basename(str(word)) in ("cc", "gcc", "clang") for word in words[:2])


# -- files -----------------------------------------------------------------------------------------


def messages() -> list[tuple[str, bytes]]:
    """Programs to begin with, as bytes: of saved models, and some of our own."""
    samples = [("small", fuzzing.program().to_bytes(True)), ("loop", fuzzing.loop().to_bytes(True))]
    samples.append(("effects", effects().to_bytes(True)))
    for archive, path in saved_models.programs():
        data = saved_models.file(path, archive)
        if len(data) < LARGEST:
            samples.append((path, data))
    return samples


def effects() -> fluid.Program:
    """A program that would write and read files wherever it is run."""
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        x = fluid.layers.fill_constant([1], "float32", 1.0)
        block = main.global_block()
        target = os.path.join(os.path.expanduser("~"), "fluidlite_fuzz_written")
        block.append_op("save", {"X": x}, {}, {"file_path": target})
        out = block.create_var(name="read", dtype="float32", shape=[1])
        block.append_op("load", {}, {"Out": out}, {"file_path": os.path.abspath(__file__)})
        fluid.layers.Print(x)
    return main


def hostile_program(rng: random.Random, data: bytes) -> bytes:
    """A program whose names, types, attributes and call sites are hostile texts here and there."""
    message = message_classes()["ProgramDesc"].FromString(data)
    renamed: dict[bytes, bytes] = {}
    one_in = rng.choice([2, 5, 20])
    for block in message.blocks:
        for var in block.vars:
            if rng.randrange(one_in) == 0:
                renamed[var.name] = hostile_text(rng)
            var.name = renamed.get(var.name, var.name)
        for op in block.ops:
            for slot in (*op.inputs, *op.outputs):
                slot.arguments[:] = [renamed.get(name, name) for name in slot.arguments]
            if rng.randrange(10 * one_in) == 0:
                op.type = hostile_text(rng)
            for attr in op.attrs:
                if attr.name == b"op_callstack":
                    attr.strings[:] = [b'  File "%s", line 7, in f' % hostile_text(rng), b"    g()"]
                elif attr.HasField("s") and rng.randrange(one_in) == 0:
                    attr.s = hostile_text(rng)
    return message.SerializeToString()


def hostile_text(rng: random.Random) -> bytes:
    """A text that acts where it is pasted into a source as it is."""
    text = rng.choice(HOSTILE) + (str(rng.randrange(9)) if rng.random() < 0.5 else "")
    return text.encode("utf-8", "surrogateescape")


class Files:
    """Writes inputs into a folder, one after the other.

    Args:
        folder: where they go.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.programs = messages()
        self.damaged = {name: reader.samples for name, reader in fuzzing.readers(folder).items()}
        if importlib.util.find_spec("onnx"):
            self.damaged["onnx"] = list(self._onnx())
        self.models = sorted({os.path.dirname(path) for _, path in saved_models.programs()} - {""})

    def _onnx(self) -> Iterator[bytes]:
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            x = fluid.data("x", [None, 3], "float32")
            y = fluid.layers.softmax(fluid.layers.fc(x, 2, act="relu"))
        path = os.path.join(self.folder, "sample.onnx")
        with fluid.scope_guard(fluid.Scope()):
            fluid.Executor().run(startup)
            fluid.onnx.export(main, path, ["x"], [y])
        yield Path(path).read_bytes()

    def write(self, rng: random.Random) -> str:
        """Write an input; its path."""
        kind = rng.choice(["program", "program", "text", "model", "damaged", "damaged"])
        path = os.path.join(self.folder, "input")
        if kind == "damaged":
            name = rng.choice(sorted(self.damaged))
            data = fuzzing.mutated(rng, rng.choice(self.damaged[name]), self.damaged[name])
            path += {"onnx": ".onnx", "safetensors": ".safetensors", "text": ".txt"}.get(name, "")
            Path(path).write_bytes(data)
            return path
        data = hostile_program(rng, rng.choice(self.programs)[1])
        if kind == "text":
            path += ".txt"
            with contextlib.suppress(FluidError):  # an unknown operator's text, say
                text = str(program_from_bytes(data))
                data = fuzzing.mutated(rng, text.encode("utf-8", "surrogateescape"), [data])
            Path(path).write_bytes(data)
        elif kind == "model":
            folder = saved_models.unpack(self.folder, rng.choice(self.models))
            names = [p for p in Path(folder).iterdir() if p.is_file()]
            model = [p for p in names if p.name in ("__model__", "model")]
            for file in model or names[:1]:
                file.write_bytes(
                    hostile_program(rng, file.read_bytes())
                    if model
                    else fuzzing.mutated(rng, file.read_bytes(), [data])
                )
            return str(folder)
        else:
            Path(path).write_bytes(data)
        return path


# -- what is done with a file ----------------------------------------------------------------------


def journey(rng: random.Random, path: str, out: str) -> Iterator[list[str]]:
    """The commands that a file goes through."""
    yield from ([*command, path] for command in READING)
    yield ["diff", path, path]
    yield ["convert", path, os.path.join(out, "o" + rng.choice(CONVERTED))]
    yield ["draw", path, "-o", os.path.join(out, "o" + rng.choice(DRAWN))]


def may_run_forever(path: str) -> bool:
    """Whether a program of a file has a loop whose passes nobody knows before it runs."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        status = main_of_command(["scan", path, "--json"])
    loops = json.loads(said.getvalue())["loops"] if status in (0, 3) else ()
    return any(loop["passes"] is None for loop in loops)


def run_thrice(path: str) -> None:
    """Load a model, or the program of a file, and run it until a compiled plan would be bound."""
    exe, scope = fluid.Executor(), fluid.Scope()
    with fluid.scope_guard(scope), contextlib.suppress(FluidError):
        if os.path.isdir(path):
            program, feeds, fetches = fluid.io.load_inference_model(path, exe)
        else:
            with open(path, "rb") as file:
                program = program_from_bytes(file.read(), path)
            feeds = [v.name for v in program.global_block().vars.values() if v.is_data]
            fetches = [op.output_arg_names[0] for op in program.global_block().ops[-1:]]
        block = program.global_block()
        shapes = {name: [2 if n < 0 else n for n in block.var(name).shape] for name in feeds}
        if sum(map(math.prod, shapes.values())) > MOST_FED:
            return
        feed = {name: np.zeros(s, block.var(name).dtype.dtype) for name, s in shapes.items()}
        for _ in range(3):
            exe.run(program, feed=feed, fetch_list=fetches)


def attempt(rng: random.Random, path: str, out: str, watch: Watch) -> Counter[str]:
    """Take a file through everything.

    Raises:
        Finding: something happened that must not.
    """
    outcomes: Counter[str] = Counter()
    steps: list[tuple[str, Callable[[], object]]] = [
        (" ".join(words[:2]), functools.partial(main_of_command, words))
        for words in journey(rng, path, out)
    ]
    endless = may_run_forever(path)
    for name, step in [*steps, ("run thrice", functools.partial(run_thrice, path))]:
        if endless and name.startswith(("run", "plan")):
            continue
        said = io.StringIO()
        watch.seen.clear()
        watch.on = True
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                status = step()
        except SystemExit as error:
            status = error.code
        except Exception as error:
            raise Finding(f"{name}: {type(error).__name__}: {error!r:.300}") from error
        finally:
            watch.on = False
        if watch.seen:
            raise Finding(f"{name}: {'; '.join(watch.seen[:3])}")
        if hasattr(builtins, MARK):
            raise Finding(f"{name}: text of the file was executed")
        if "\x1b" in said.getvalue():
            raise Finding(f"{name}: an escape sequence was printed")
        if "Traceback (most recent" in said.getvalue():
            raise Finding(f"{name}: printed a traceback")
        outcomes[f"{name.split()[0]} {status}"] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if peak > LIMIT:
        raise Finding(f"{peak >> 20} MiB of memory")
    return outcomes


def work(task: tuple[range, str, float]) -> tuple[Counter[str], list[str]]:
    """Try inputs in a process of their own: outcomes, and findings with their seeds."""
    seeds, keep, end = task
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True  # modules that a command reads first
    outcomes: Counter[str] = Counter()
    findings: list[str] = []

    def too_long(*_: object) -> None:
        raise Finding(f"longer than {SECONDS} s of the processor, or ten times as long in all")

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGPROF, too_long)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FLUIDLITE_CACHE"] = os.path.join(folder, "cache")
        tempfile.tempdir = folder
        files, watch = Files(folder), Watch(folder)
        for seed in seeds:
            if time.time() > end:
                break
            rng, here = random.Random(seed), os.path.join(folder, "here")
            shutil.rmtree(here, ignore_errors=True)
            os.makedirs(here)
            os.chdir(here)
            path = files.write(rng)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(10 * SECONDS)
            try:
                outcomes += attempt(rng, path, here, watch)
            except (Finding, MemoryError) as error:
                findings.append(f"seed {seed}: {error}")
                if keep and os.path.isfile(path):
                    shutil.copy(path, os.path.join(keep, f"{seed}{Path(path).suffix}"))
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
            outcomes["inputs"] += 1
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
    return outcomes, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--inputs", type=int, help="so many, in place of minutes")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", default="", help="a folder for inputs with findings")
    given = parser.parse_args()
    end = math.inf if given.inputs else time.time() + 60 * given.minutes
    last = given.seed + given.inputs if given.inputs else sys.maxsize
    outcomes: Counter[str] = Counter()
    count = 0

    firsts = itertools.count(given.seed, PER_PROCESS)
    # a fresh process for each task: what one input leaves behind meets no other task
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as pool:
        while time.time() < end and outcomes["inputs"] < last - given.seed:
            begins = itertools.islice(firsts, given.jobs)
            tasks = [(range(n, min(n + PER_PROCESS, last)), given.keep, end) for n in begins]
            for done, findings in pool.imap_unordered(work, tasks, chunksize=1):
                outcomes += done
                count += len(findings)
                print("".join(f"{finding}\n" for finding in findings), end="", flush=True)
            print(f"{outcomes['inputs']} inputs, {count} findings", flush=True)
    print(dict(sorted(outcomes.items())))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
