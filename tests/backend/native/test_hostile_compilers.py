"""Compilers and caches that do what they should not: NumPy computes, and nothing hangs."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from elementwise_graphs import results

from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native.library import Improvement

pytestmark = pytest.mark.skipif(
    sys.platform not in ("linux", "darwin"), reason="kernels are generated on Linux and macOS"
)

VERSION = '[ "$1" = --version ] && echo some compiler && exit 0\n'
RESULT = 'for each; do place="$each"; done\n'


class Kernel:
    """A source that is not looked at."""

    def __init__(self, name="f"):
        self.name, self.text = name, "int f;"


@pytest.fixture
def using(monkeypatch, tmp_path):
    """What makes a compiler of a script."""

    def make(script, name="cc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}")
        path.chmod(0o755)
        monkeypatch.setenv("FLUIDLITE_CC", str(path))
        made = compilers.Compiler()
        compilers.COMPILER.switch(made)
        return made

    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    return make


def asked(compiler):
    """What a compiler makes of a source, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compiler.compiled([Kernel()])
    return found["f"], [str(each.message) for each in said]


@pytest.mark.parametrize(
    "script",
    [
        "exit 0\n",
        "kill -9 $$\n",
        'printf "\\377\\376" >&2; exit 1\n',
        'rm -- "$0"; exit 1\n',
        f'{RESULT}echo no library > "$place"\n',
        f'{RESULT}: > "$place"\n',
        'rm -rf "$FLUIDLITE_CACHE"; exit 1\n',
    ],
    ids=["nothing", "killed", "garbage", "gone", "text", "empty", "no folder"],
)
def test_a_compiler_that_makes_nothing_of_use_means_numpy_and_one_warning(using, script):
    found, said = asked(using(VERSION + script))
    assert found is None
    assert len(said) == 1
    assert said[0].endswith("NumPy computes instead")


def test_a_version_that_is_no_text_is_taken_as_it_is(using, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "native")
    using('printf "\\377\\376\\n"\n')
    with pytest.warns(RuntimeWarning, match="could not be compiled: .*NumPy computes instead"):
        meant, found, source = results(3)
    assert ", native" not in source
    for a, b in zip(meant, found):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_compiler_that_does_not_say_its_version_in_time_is_not_used(using, monkeypatch):
    monkeypatch.setattr(compilers, "ANSWER", 0.1)
    compiler = using("sleep 30\n")
    with pytest.warns(RuntimeWarning, match="has not said its version in 0.1 s; NumPy"):
        assert compiler.version == ""


def test_a_compiler_that_hangs_is_ended_with_all_that_it_has_started(using, monkeypatch, tmp_path):
    monkeypatch.setattr(compilers, "PATIENCE", 0.3)
    compiler = using(f'{VERSION}sleep 30 &\necho $! > "{tmp_path}/started"\nwait\n')
    found, said = asked(compiler)
    assert found is None
    assert "has not come to an end in 0.3 s" in said[0]
    assert has_ended(int((tmp_path / "started").read_text()))


@pytest.mark.skipif(not hasattr(os, "setpriority"), reason="no priorities here")
def test_a_compiler_for_which_nobody_waits_has_the_lowest_priority(using, tmp_path):
    compiler = using(f'{VERSION}sleep 0.1\nnice > "{tmp_path}/priority"\nexit 1\n')
    priority = tmp_path / "priority"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (event,) = compiler.request([Kernel("f")])
        assert event.wait(60)
        assert int(priority.read_text()) == compilers.LOWEST
        compiler.compiled([Kernel("g")])
    assert int(priority.read_text()) == os.getpriority(os.PRIO_PROCESS, 0)


def has_ended(number):
    """Whether a process has ended, or does so soon."""
    for _ in range(100):
        try:
            os.kill(number, 0)
            stat = Path(f"/proc/{number}/stat")
            if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # which nobody has asked about
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_where_warnings_are_errors_nobody_waits_for_a_thread_that_has_ended(using):
    compiler = using(VERSION + "exit 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (event,) = compiler.request([Kernel()])
        assert event.wait(20)
    assert compiler.find([Kernel()]) == {"f": None}


@pytest.mark.parametrize("quotes", [False, True])
def test_the_path_of_a_compiler_may_have_spaces(using, monkeypatch, quotes):
    compiler = using("echo some compiler\n", "some folder/cc")
    if quotes:
        monkeypatch.setenv("FLUIDLITE_CC", f"'{os.environ['FLUIDLITE_CC']}' -O1")
    assert compiler.version == "some compiler"
    assert compiler.command[1:] == ["-O1"] * quotes


def test_a_quote_that_is_missing_is_no_compiler(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_CC", "'cc")
    assert compilers.Compiler().version == ""


def test_a_user_without_a_home_has_no_cache_in_the_current_folder(using, monkeypatch):
    compiler = using(VERSION)
    monkeypatch.delenv("FLUIDLITE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    with pytest.warns(RuntimeWarning, match="the user has no home folder"):
        assert compiler.cache.folder is None
    assert not Path("here").exists()


def test_a_folder_that_nobody_may_look_for_has_no_notes(using, monkeypatch):
    compiler = using(VERSION)
    monkeypatch.setenv("FLUIDLITE_CACHE", "x" * 300)  # more than a name has, so it is refused
    assert compiler.kept_notes() is None
    assert compiler.version == "some compiler"


def test_a_package_without_its_files_in_c_has_no_compiler(using, monkeypatch, tmp_path):
    monkeypatch.setattr(compilers, "_PRELUDE", tmp_path / "fluidlite.zip" / "prelude.h")
    compiler = using(VERSION)
    assert compiler.version == ""
    assert compiler.kept_notes() is None


def test_what_a_killed_process_has_left_is_removed_after_a_while(using):
    compiler = using(VERSION + f'{RESULT}echo no library > "$place"\n')
    old, new = (compiler.cache.folder / f"making-{age}" for age in ("old", "new"))
    for path in (old, new):
        path.mkdir()
    os.utime(old, (0, 0))
    asked(compiler)
    assert new.exists()
    assert not old.exists()


def test_python_ends_at_once_and_the_compiler_with_it(using, tmp_path):
    using(f'{VERSION}echo $$ > "{tmp_path}/begun"\nexec sleep 30\n')
    script = (
        "import sys, time\nfrom pathlib import Path\n"
        "from fluidlite.backend.native.compiler import COMPILER\n"
        "class Kernel:\n    name, text = 'f', 'int f;'\n"
        "COMPILER.get().request([Kernel()])\n"
        f"path = Path({str(tmp_path / 'begun')!r})\n"
        "while not (path.exists() and path.read_text()):\n    time.sleep(0.01)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=25)
    assert (done.returncode, done.stderr) == (0, b"")
    assert has_ended(int((tmp_path / "begun").read_text()))
    assert not list((tmp_path / "cache").iterdir())


def find_in_a_child(compiler):
    """The status of a forked process that looks for a kernel; None where it does not end."""
    child = os.fork()
    if not child:
        good = compiler.find([Kernel()]) == {}
        os._exit(0 if good and compiler is not compilers.COMPILER.get() else 1)
    for _ in range(200):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_compiler_that_it_does_not_have(using):
    compiler = using(VERSION + "sleep 30\n")
    compiler.request([Kernel()])
    with compiler._lock:  # as the thread may do in that moment
        status = find_in_a_child(compiler)
    compiler.close()
    assert status == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_is_forked_while_the_compiler_says_its_version_asks_it_again(using):
    compiler = using(f"sleep 0.5\n{VERSION}sleep 30\n")
    compiler.request([Kernel()])
    end = time.monotonic() + 20
    while compiler._process is None and time.monotonic() < end:
        time.sleep(0.001)
    status = find_in_a_child(compiler)
    compiler.close()
    assert status == 0


def test_a_plan_that_takes_long_is_worth_kernels_before_it_has_run_often(monkeypatch):
    now, asked_for = [100.0], []

    class Recorder:
        def request(self, sources):
            asked_for.extend(sources)
            return []

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    slow = Improvement(Recorder(), [Kernel()])
    for passed in (0.0, Improvement.SECONDS / 2, Improvement.SECONDS):
        assert not asked_for
        now[0] = 100.0 + passed
        slow.is_ready()
    assert len(asked_for) == 1
