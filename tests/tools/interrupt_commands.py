"""Ctrl-C at many moments of every command of ``fluidlite``.

    python tests/tools/interrupt_commands.py --moments 50

Each time the command is interrupted at another moment between the first line of its script, which
imports the package, and its end.  It has to end with 130, or as it would have where it was done
already; with a line at most on standard error; and each file is the whole one, or as before.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import fluidlite as fluid
from fluidlite.command_line.cli import COMMANDS
from fluidlite.io.contents import read

import paths  # noqa: F401  the tests' folders

#: what the script of an installed command does, once it has said that it begins
SCRIPT = """\
import os, sys
mark = int(sys.argv.pop())
sys.argv[0] = "fluidlite"
os.close(mark); from fluidlite.__main__ import main
sys.exit(main())
"""
OLD = b"what was there before"

TRAINS = """\
import numpy as np
import paddle.fluid as fluid

x = fluid.layers.data("x", [4])
loss = fluid.layers.mean(fluid.layers.fc(x, 3))
fluid.optimizer.SGD(0.1).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
for _ in range(100):
    exe.run(feed={"x": np.ones([2, 4], "float32")}, fetch_list=[loss])
"""


def prepared(folder):
    """Files for the commands, in a folder.

    Returns:
        the words of commands.
    """
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        image = fluid.data("image", [None, 64], "float32")
        hidden = fluid.layers.fc(image, 32, act="relu")
        scores = fluid.layers.fc(hidden, 10, act="softmax")
    exe, scope = fluid.Executor(), fluid.Scope()
    with fluid.scope_guard(scope):
        exe.run(startup)
        model = str(folder / "model")
        fluid.io.save_inference_model(model, ["image"], [scores], exe, main_program=main)
    np.save(folder / "image.npy", np.ones([3, 64], "float32"))
    (folder / "script.py").write_text(TRAINS)
    saved = read(model).program
    changed = fluid.transform.set_attributes(saved, "relu", {"op_device": "cpu"})
    (folder / "x.patch").write_text(str(fluid.transform.make_patch(saved, changed)))
    with fluid.program_guard(main, startup):
        fluid.append_backward(fluid.layers.mean(scores))
    (folder / "train.txt").write_text(str(main))
    fed = ["--feed", "image=@image.npy"]
    return [
        *(["--version"], ["--help"], ["completion", "bash"], ["cache"]),
        ["check", "script.py"],
        *(["show", "model"], ["scan", "model"], ["vars", "model"], ["summary", "model"]),
        *(["diff", "model", "model"], ["plan", "model"], ["run", "model", *fed]),
        *(["run", "script.py"], ["draw", "model", "-o", "out/d.dot"]),
        *(["draw", "model", "-o", "out/d.svg"], ["convert", "model", "out/m.npz"]),
        *(
            ["convert", "model", "out/m.py", "--shape", "image=3,64"],
            ["convert", "model", "out/m/"],
        ),
        ["convert", "model", "out/m.onnx", "--shape", "image=3,64"],
        ["cut", "model", "--inputs", "image", "--outputs", hidden.name, "-o", "out/part/"],
        ["rename", "model", "image=picture", "-o", "out/renamed/"],
        ["transform", "model", "simplify", "-o", "out/simple/"],
        ["set-attr", "model", "softmax", "axis=-1", "-o", "out/set/"],
        ["replace", "model", "fc_0.tmp_2", "fc_0.tmp_1", "-o", "out/replaced/"],
        ["merge", "model", "model", "--shared", "image", "-o", "out/both/"],
        *(["diff", "--patch", "model", "model"], ["apply", "x.patch", "model", "-o", "out/p/"]),
        *(["verify", "model"], ["certify", "train.txt", "-o", "out/report.txt"]),
    ]


def covered(commands):
    """Whether there are words for every command."""
    return {words[0] for words in commands} >= COMMANDS.keys()


def files(folder):
    """The contents of files, by name."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@contextlib.contextmanager
def own_folder(words, folder):
    """A folder for one run of a command, with what it reads and old files where it writes some.

    Args:
        words: of the command.
        folder: has what :func:`prepared` makes.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        own = Path(name)
        for path in folder.iterdir():
            if path.suffix or path.name == "model":
                (own / path.name).symlink_to(path)
        (own / "out").mkdir()
        for target in [word for word in words if word.startswith("out/") and word[-1] != "/"]:
            (own / target).write_bytes(OLD)
        yield own


def run(words, folder, moment=None):
    """Run a command in a folder of its own.

    Args:
        words: of the command.
        folder: has what :func:`prepared` makes.
        moment: when to interrupt it, in seconds from its first line on; never when None.

    Returns:
        the exit status, what it writes to standard error, what it leaves, and its seconds.
    """
    with own_folder(words, folder) as own:
        begun, mark = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *words, str(mark)],
            cwd=own,
            pass_fds=[mark],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        os.close(mark)
        os.read(begun, 1)  # until it is closed there
        os.close(begun)
        start = time.monotonic()
        if moment is not None:
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        return process.returncode, said.decode(), files(own / "out"), time.monotonic() - start


def faults(whole, found):
    """What is wrong with an interrupted command, in words.

    Args:
        whole, found: what :func:`run` gives without and with an interrupt.
    """
    status, said, left, _ = found
    if status not in (130, whole[0]):
        yield f"ended with {status}"
    if said.count("\n") > 1 or "Traceback" in said:
        yield f"wrote to standard error:\n{said}"
    for name in left.keys() - whole[2].keys():
        yield f"left {name}"
    torn = [n for n, content in left.items() if content not in (OLD, whole[2].get(n))]
    if torn or (left and OLD not in left.values() and left.keys() != whole[2].keys()):
        yield f"tore {', '.join(torn or sorted(left))}"


def tried(words, folder, moments, whole=None):
    """Interrupt a command at some moments.

    Args:
        words, folder: of the command.
        moments: as parts of its time.
        whole: what :func:`run` gives without an interrupt, where it is known.

    Returns:
        the exit statuses, and what is wrong.
    """
    whole = whole or run(words, folder)
    statuses, wrong = [], []
    for part in moments:
        found = run(words, folder, part * whole[3])
        statuses.append(found[0])
        wrong += [f"{' '.join(words)} at {part:.3f}: {each}" for each in faults(whole, found)]
    return statuses, wrong


def main():
    # A job in the background ignores interrupts, and so would the commands that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    draw, wrong = random.Random(0), []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(given.jobs) as pool:
        commands = prepared(Path(name))
        assert covered(commands)
        parts = [
            [(k + draw.random()) / given.moments for k in range(given.moments)] for _ in commands
        ]
        for words, (statuses, found) in zip(
            commands, pool.map(lambda w, p: tried(w, Path(name), p), commands, parts), strict=True
        ):
            counts = {status: statuses.count(status) for status in sorted(set(statuses))}
            print(f"{' '.join(words):40} {counts}", *found, sep="\n    ", flush=True)
            wrong += found
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
