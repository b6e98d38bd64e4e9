"""What layers write into the default programs, and what comes out when these run."""

import contextlib

import pytest

import fluidlite as fluid


def data(name="x", shape=(None, 4), dtype="float32", **more):
    return fluid.data(name, list(shape), dtype, **more)


def written(program=None):
    """The operators of block 0 of a program, the main program when None; a line each."""
    program = fluid.default_main_program() if program is None else program
    return [str(op) for op in program.global_block().ops]


def started():
    """The operators of the startup program; a line each."""
    return written(fluid.default_startup_program())


def declared():
    """The names of all variables of both programs."""
    programs = fluid.default_main_program(), fluid.default_startup_program()
    return [[list(block.vars) for block in program.blocks] for program in programs]


@contextlib.contextmanager
def refused(error, match):
    """What is inside must fail, and leave both programs as they were."""
    before = written(), started(), declared()
    with pytest.raises(error, match=match):
        yield
    assert (written(), started(), declared()) == before


def run(*fetched, **feed):
    """Values of variables after one run; the only one as it is."""
    exe = fluid.Executor()
    if started():
        exe.run(fluid.default_startup_program())
    values = exe.run(feed=feed, fetch_list=list(fetched))
    return values[0] if len(values) == 1 else values
