"""Nothing is left behind where Python ends, or is killed, while a kernel is compiled."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from fluidlite.backend.native import compiler as compilers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

#: leaves what compilers leave that are killed: it takes its time in between
SLOW = textwrap.dedent("""\
    #!/bin/sh
    [ "$1" = --version ] && echo some compiler && exit 0
    for each; do place="$each"; done
    for k in 1 2 3 4; do : > "${TMPDIR:-/tmp}/cc$$.$k.s"; sleep 0.02; done
    rm "${TMPDIR:-/tmp}"/cc$$.*.s
    echo no library > "$place"
""")

#: so many processes that each have a kernel compiled and end a moment later; 25 at a time
SCRIPT = textwrap.dedent("""
    import gc, os, pathlib, random, signal, sys, time, warnings
    from fluidlite.backend.native.compiler import COMPILER

    class Kernel:
        def __init__(self, number):
            self.name, self.text = f"f{number}", f"int f{number};"

    def run(number):
        warnings.simplefilter("ignore")
        events = COMPILER.get().request(map(Kernel, (number, -number)))
        if number == 1:  # has the time that it takes
            all(event.wait(20) for event in events)
        elif number == count and how == "killed":  # in the middle; nobody clears up behind it
            folder = pathlib.Path(os.environ["FLUIDLITE_CACHE"])
            while not list(folder.glob(f"making-{os.getpid()}-*/*")):
                time.sleep(0.001)
        else:
            time.sleep(random.Random(number).uniform(0, 0.25))
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)

    how, count, running = sys.argv[1], int(sys.argv[2]), 0
    COMPILER.get().version
    gc.freeze()  # a process that ends does not look through what all of them share
    for number in range(1, count + 1):
        while running == 25 or (running and number == count):  # the last one is alone
            os.wait()
            running -= 1
        if not os.fork():
            run(number)
            sys.exit()  # which Python does in its own way, with what was registered for that
        running += 1
    while running:
        os.wait()
        running -= 1
""")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The temporary folder and the cache, for processes whose compiler is slow."""
    (tmp_path / "cc").write_text(SLOW)
    (tmp_path / "cc").chmod(0o755)
    for name, variable in (("tmp", "TMPDIR"), ("cache", "FLUIDLITE_CACHE")):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setenv("FLUIDLITE_CC", str(tmp_path / "cc"))
    return tmp_path / "tmp", tmp_path / "cache"


def run_many(how, count=50):
    command = [sys.executable, "-c", SCRIPT, how, str(count)]
    done = subprocess.run(command, capture_output=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def unfinished(folder):
    whole = {path.with_suffix(end) for path in folder.glob("*.so") for end in (".so", ".sum")}
    return [path.name for path in folder.iterdir() if path not in whole]


def test_fifty_processes_that_end_at_random_moments_leave_nothing(places):
    temporary, cache = places
    run_many("ended")
    assert (list(temporary.iterdir()), unfinished(cache)) == ([], [])
    assert 2 <= len(list(cache.glob("*.so"))) < 100


def test_what_killed_processes_leave_lies_in_the_cache_and_goes_with_the_next_one(places):
    temporary, cache = places
    run_many("killed", 20)
    assert list(temporary.iterdir()) == []
    assert unfinished(cache)
    end = time.monotonic() + 20
    while unfinished(cache) and time.monotonic() < end:  # a compiler that is nobody's may go on
        assert compilers.Compiler().cache.folder == cache
        time.sleep(0.05)
    assert unfinished(cache) == []


def test_a_folder_of_a_process_that_is_there_or_elsewhere_is_not_touched(places):
    _, cache = places
    own = Path(compilers.Compiler().cache.new_folder())
    number, where, rest = own.name.removeprefix("making-").split("-")
    other = f"{int(where, 16) ^ 1:08x}"
    elsewhere = cache / f"making-{2**22 + 1}-{other}-{rest}"  # no process has this number
    elsewhere.mkdir()
    ended = cache / f"making-{2**22 + 1}-{where}-{rest}"
    ended.mkdir()
    assert compilers.Compiler().cache.folder == cache
    assert number == str(os.getpid())
    assert [path.exists() for path in (own, elsewhere, ended)] == [True, True, False]


def test_a_relative_cache_stays_where_it_was(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLUIDLITE_CACHE", "cache")
    cache = compilers.Compiler().cache
    assert cache.folder == tmp_path / "cache"
    monkeypatch.chdir(tmp_path / "other")
    assert Path(cache.new_folder()).parent == tmp_path / "cache"


def test_a_cache_in_a_folder_of_others_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer").chmod(0o777)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "outer" / "cache"))
    with pytest.warns(RuntimeWarning, match="cannot be kept.*outer, in which it lies"):
        assert compilers.Compiler().cache.folder is None
