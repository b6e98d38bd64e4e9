"""Every test begins with fresh programs, names and seeds; golden programs are kept in files."""

import gc
import importlib
import inspect
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.ground import seeding, state
from fluidlite.ir.compare import differences
from fluidlite.ir.program import Program, default_main_program, default_startup_program
from fluidlite.ir.text import program_text

from changes import changed_files, is_needed

# Threads that wait leave the processor to other tests; said before a library reads it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # 2 to the power of 4 cycles
# Kernels are generated where a test asks for them: compiling those of every plan takes long.
os.environ.setdefault("FLUIDLITE_CC", "")
importlib.import_module("fluidlite.ops")  # so that there are operators, whatever a test imports

TESTS = Path(__file__).parent
GOLDEN = TESTS / "programs"
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")  # "gw0", "gw1", ...; empty in the first process
ENTROPY = 20200601  # so that what programs without a seed draw is the same each time
CHANGED = pytest.StashKey()
#: options that are about more than calls of tests, or about parts of them
NEED_EVERY_MESSAGE = ("xmlpath", "durations", "setuponly", "setupshow", "usepdb")
if WORKER:  # there are as many as cores: products on all of these would wait for other tests
    threadpool_limits(1, "blas")
LONGEST = 4000  # operators and variables; longer programs are not read back after every test


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write tests/programs anew from what tests build",
    )
    parser.addoption(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="REVISION",
        help="only test files that the change since a revision needs, as imports show it",
    )


def pytest_ignore_collect(collection_path, config):
    """Leave out test files that the change does not need."""
    since = config.getoption("--changed")
    if since is None or collection_path.suffix != ".py":
        return None
    if config.stash.get(CHANGED, None) is None:
        config.stash[CHANGED] = changed_files(since)
    return True if not is_needed(collection_path, config.stash[CHANGED]) else None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """The whole suite runs on all cores, unless ``-n`` says otherwise; parts run in one process."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    first = not WORKER and not hasattr(config, "workerinput")
    if whole and first and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses = "auto"
        config.option.dist = "worksteal"  # neighbours share what a process has made for them
    if first:
        keep_bytecode(config)
        share_cache(config)


def keep_bytecode(config):
    """The processes of this run keep what they compile, for each other: where Python is told to
    keep nothing, in a folder that goes at the end of the run.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) and not sys.pycache_prefix:
        folder = tempfile.TemporaryDirectory(prefix="fluidlite-bytecode-")
        os.environ["PYTHONPYCACHEPREFIX"] = folder.name
        config.add_cleanup(folder.cleanup)


def share_cache(config):
    """The processes of this run share a cache of kernels and plans, which begins empty: what
    programs have left in the user's decides no test.
    """
    folder = tempfile.TemporaryDirectory(prefix="fluidlite-cache-")
    os.environ["FLUIDLITE_CACHE"] = folder.name
    config.add_cleanup(folder.cleanup)


def pytest_collection(session):
    """Tests are made and kept by the thousand: looking for garbage among them takes long.

    Every second process reads the files of tests from the last one on, so that two of them compile
    half of the files each, and find the bytecode of the others.
    """
    gc.disable()
    whole = session.config.args == session.config.getini("testpaths")
    if whole and int(WORKER.removeprefix("gw") or 0) % 2:
        files = sorted(TESTS.rglob("test_*.py"), key=lambda path: path.parts, reverse=True)
        session.config.args = [str(path) for path in files]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Put the tests into the one order that all processes have."""
    draw_no_constants_of_sources()
    if WORKER:
        items.sort(key=lambda item: item.path.parts)


def draw_no_constants_of_sources():
    """Have Hypothesis leave the sources of modules alone: from 6.131 on it reads all 1,600 of them
    in each process, and draws constants that they have, too.
    """
    drawing = sys.modules.get("hypothesis.internal.conjecture.providers")
    if hasattr(drawing, "is_local_module_file"):
        drawing.is_local_module_file = lambda path: False


def pytest_collection_finish():
    """What there is by now stays, so that later searches for garbage, which are rarer than Python's
    own, leave it out.
    """
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)
    gc.enable()


def pytest_runtest_protocol(item, nextitem):
    """What goes well before and after a test is not sent to the first process, which counts tests:
    messages about it take longer than many tests do.
    """
    if not WORKER or any(map(item.config.getoption, NEED_EVERY_MESSAGE)):
        return None
    for report in reports_of(item, nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def reports_of(item, nextitem):
    """Run a test as pytest does.

    Returns:
        what came of its setup, of its call if that was ready, and of its teardown.
    """

    def report_of(when, **more):
        run = getattr(item.ihook, f"pytest_runtest_{when}")
        endings = (pytest.exit.Exception, KeyboardInterrupt)  # of the session
        call = pytest.CallInfo.from_call(lambda: run(item=item, **more), when, endings)
        return item.ihook.pytest_runtest_makereport(item=item, call=call)

    reports = [report_of("setup")]
    if reports[0].passed:
        reports.append(report_of("call"))
    ends = item.session.shouldfail or item.session.shouldstop
    reports.append(report_of("teardown", nextitem=None if ends else nextitem))
    item.funcargs.clear()  # the values of fixtures are not needed any more
    return reports


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """What generates kernels: a compiler that works, with an empty cache."""
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FLUIDLITE_KERNELS", "native")
    made = Compiler()
    if not made.version:
        pytest.skip("no C compiler")
    COMPILER.switch(made)
    return made


@pytest.fixture(autouse=True)
def fresh_state():
    """What a process starts with; afterwards, what was built is read back from its text."""
    state.reset()
    seeding.seeds.switch(seeding.Seed(ENTROPY))
    np.random.seed(0)
    yield
    for program in (default_main_program(), default_startup_program()):
        held = sum(len(block.ops) + len(block.vars) for block in program.blocks)
        if 0 < held <= LONGEST:
            assert not differences(program, Program.parse(str(program)))
    state.reset()


@pytest.fixture
def several_blas_threads():
    """NumPy's products have a thread for each core, as without ``-n``."""
    with threadpool_limits(os.cpu_count(), "blas"):
        yield


@pytest.fixture
def check_program(request):
    """A function that compares a program with ``tests/programs/NAME.txt``, or writes that file."""

    def check(program, name):
        path = GOLDEN / f"{name}.txt"
        text = program_text(program, call_sites=False)
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"no {path.name} in tests/programs; write it with --update-golden"
        assert text == path.read_text(encoding="utf-8")
        assert not differences(program, Program.parse(text))

    return check


@pytest.fixture
def recursion_limit():
    """A function that sets how deep Python may recurse from here on, until the test ends."""
    before = sys.getrecursionlimit()
    depth = len(inspect.stack(0))
    yield lambda limit: sys.setrecursionlimit(depth + limit)
    sys.setrecursionlimit(before)
