"""A million operators fit: what an operator and the variable it writes take."""

import gc
import tracemalloc

import pytest

from fluidlite import unique_name
from fluidlite.ir.program import Program

OPERATORS = 4_000
BUDGET = 1500  # bytes for an operator and its output


def chain(count):
    """A program of ``count`` operators, each of which reads what the one before it wrote."""
    program = Program()
    block = program.global_block()
    x = block.create_var(name="x", shape=[-1, 3], dtype="float32", is_data=True)
    for _ in range(count):
        y = block.create_var(name=unique_name.generate("tmp"))
        block.append_op("scale", {"X": x}, {"Out": y}, {"scale": 2.0})
        x = y
    return program


def taken(make, *arguments):
    """What a function makes, and the bytes that this takes."""
    gc.collect()
    tracemalloc.start(1)
    try:
        made = make(*arguments)
        return made, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def program():
    chain(10)  # what is made once
    return taken(chain, OPERATORS)


def test_an_operator_and_its_output_fit_the_budget(program):
    assert program[1] / OPERATORS < BUDGET


def test_a_clone_takes_no_more(program):
    _, size = taken(program[0].clone)
    assert size / OPERATORS < BUDGET / 2


def test_a_program_read_from_its_text_takes_no_more(program):
    again, size = taken(Program.parse, str(program[0]))
    assert len(again.global_block().ops) == OPERATORS
    assert size / OPERATORS < BUDGET
