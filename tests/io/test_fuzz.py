"""Damaged files of every kind: refused, or accepted; never anything else."""

import contextlib
import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shares import share

import fluidlite as fluid
from fluidlite.errors import FileFormatError, ParseError
from fluidlite.ir.program import Program

import fuzzing

COUNT, SEED = share(20_000), 8  # inputs of all readers together
NAMES = ["program", "text", "tensor", "rows", "combined", "pickle", "description", "checkpoint"]
MORE = ["npy", "npz", "safetensors", "any"]


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    return fuzzing.readers(str(tmp_path_factory.mktemp("fuzz")))


@pytest.mark.parametrize("name", NAMES + MORE)
def test_damaged_files_are_refused_in_order(name, readers):
    assert set(readers) == {*NAMES, *MORE}
    every = 25  # measuring memory takes most of the time
    plain = COUNT // len(readers)
    with fuzzing.tracing(False):
        outcomes, _, _ = fuzzing.run(name, readers[name], plain, SEED, trace_every=0)
    assert outcomes["refused"] > plain / 4
    with fuzzing.tracing():
        fuzzing.run(name, readers[name], plain // every, SEED + 1)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_by_every_reader(readers, data):
    with fuzzing.tracing(False):
        for reader in readers.values():
            fuzzing.attempt(reader, data, trace=False)


@functools.cache
def network_text():
    return str(fuzzing.program())


@pytest.mark.filterwarnings("ignore:.*is left out", "ignore:.*it is kept")
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_to_a_text_is_an_error_of_the_parser(data):
    text = network_text()
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(at + 20, len(text))))
    damaged = text[:at] + data.draw(st.text(max_size=10)) + text[end:]
    with contextlib.suppress(ParseError):
        Program.parse(damaged)


def test_a_file_that_was_refused_names_the_byte(readers, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(fuzzing.program().to_bytes()[:-30])
    message = r"model: blocks\[0\]: expected .* at byte \d+, found"
    with pytest.raises(FileFormatError, match=message):
        fluid.io.read(path)
