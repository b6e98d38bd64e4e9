"""Ctrl-C ends the command quietly; ``tests/tools/interrupt_commands.py`` tries many moments."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from interrupt_commands import covered, files, own_folder, prepared, run, tried

from fluidlite.command_line.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are not sent signals there")

GOLDEN = 0.618034  #: moments lie apart by it, so that commands share them out


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """A job in the background ignores interrupts, and so would the commands that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def whole(words, folder, monkeypatch):
    """What a command does that nobody interrupts, as ``run`` says it: in this process, which has
    read all modules; so it takes less time.
    """
    with own_folder(words, folder) as own, monkeypatch.context() as within:
        within.chdir(own)
        start = time.monotonic()
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
        return status or 0, "", files(own / "out"), time.monotonic() - start


def test_every_command_ends_with_130_and_tears_no_file(tmp_path, monkeypatch):
    commands = prepared(tmp_path)
    assert covered(commands)
    sample = commands[1::4]
    moments = [[k * GOLDEN % 1] for k in range(1, len(sample) + 1)]
    *_, beginning = run(["--version"], tmp_path)  # what every command's process takes, too
    wholes = []
    for words in sample:
        *known, seconds = whole(words, tmp_path, monkeypatch)
        wholes.append((*known, beginning + seconds))

    def interrupted(words, parts, known):
        return tried(words, tmp_path, parts, known)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(interrupted, sample, moments, wholes))
    assert [wrong for _, wrong in found if wrong] == []
    assert any(130 in statuses for statuses, _ in found)


def ended(script, *words):
    """How a process ends that runs a script: the status and its output."""
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


INTERRUPTED = """\
import os, signal, sys
sys.argv = ["fluidlite", *sys.argv[1:]]
from fluidlite.__main__ import main
"""


def test_an_interrupt_while_the_package_is_imported_says_nothing():
    script = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name == 'fluidlite.ground.public_names':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\n"
    )
    assert ended(script + INTERRUPTED) == (130, "", "")


def test_an_interrupt_of_a_script_names_the_line(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(
        "import os, signal\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        print('heard')\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    status, out, said = ended(INTERRUPTED + "sys.exit(main())", "run", str(path))
    assert (status, out) == (130, "heard\nheard\n")
    assert said == f"fluidlite: interrupted at {str(path)!r}, line 7\n"


def test_a_command_that_is_done_ends_as_it_would():
    script = INTERRUPTED + "status = main()\nos.kill(os.getpid(), signal.SIGINT)\nsys.exit(status)"
    status, out, said = ended(script, "completion", "bash")
    assert (status, said, "fluidlite" in out) == (0, "", True)


def test_the_package_leaves_the_interrupts_of_other_programs_alone():
    script = (
        "import signal, fluidlite\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "from fluidlite.__main__ import main\n"
        "assert main(['completion', 'bash']) == 0\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    status, _, said = ended(script)
    assert (status, said) == (0, "")
